// Whether a result file can be relied on, without a word about what is wrong with it.
#include "h5/reader.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::results {

bool is_whole_result(const std::string& path) {
  try {
    const h5::Reader file(path, Checking::all);
    return file.coverage().without.empty();
  } catch (const Error&) {
    return false;
  }
}

}  // namespace tessera::results
