#include "tessera/program/evaluate_all.hpp"

#include <cstring>
#include <sstream>
#include <string>

#include "tessera/base/together.hpp"

namespace tessera::program {
namespace {

/// Reasons may have any characters: their length goes before them.
void put(std::ostream& text, const Evaluation& one) {
  text << one.feasible << ' ' << one.time << ' ' << one.peak_memory << ' ' << one.reason.size() << ' ' << one.reason;
}

Evaluation take(std::istream& text) {
  Evaluation one;
  std::size_t size = 0;
  text >> one.feasible >> one.time >> one.peak_memory >> size;
  text.get();  // the blank
  one.reason.resize(size);
  text.read(one.reason.data(), static_cast<std::streamsize>(size));
  return one;
}

/// What every rank says, in the order of ranks, on all of them.
std::string said_by_all(Communicator& comm, const std::string& own) {
  std::vector<std::byte> bytes(own.size());
  std::memcpy(bytes.data(), own.data(), own.size());
  std::string all;
  for (const std::vector<std::byte>& part : comm.gather(bytes))
    all.append(reinterpret_cast<const char*>(part.data()), part.size());
  return comm.broadcast(all);
}

}  // namespace

std::vector<Evaluation> evaluate_all(Evaluator& evaluator, Communicator& comm, std::size_t count,
                                     const std::function<Program(std::size_t candidate)>& make) {
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  std::ostringstream own;
  together(comm, [&] {
    for (std::size_t i = rank; i < count; i += ranks) put(own, evaluator.evaluate(make(i)));
  });
  std::istringstream all(said_by_all(comm, own.str()));
  std::vector<Evaluation> found(count);
  for (std::size_t first = 0; first < ranks; ++first) {
    for (std::size_t i = first; i < count; i += ranks) found[i] = take(all);
  }
  return found;
}

}  // namespace tessera::program
