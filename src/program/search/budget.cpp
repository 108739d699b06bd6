#include <chrono>

#include "tessera/program/search/searches.hpp"

namespace tessera::program::search {

Budget within(double seconds, std::int64_t evaluations, Communicator& comm) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  return {evaluations, [end, &comm] { return comm.max(std::chrono::steady_clock::now() < end ? 0 : 1) != 0; }, true};
}

}  // namespace tessera::program::search
