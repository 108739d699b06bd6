#include "tessera/program/evaluate_all.hpp"

#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

namespace tessera::program {
std::vector<Evaluation> evaluate_all(Evaluator& evaluator, Communicator& comm, std::size_t count,
                                     const std::function<Program(std::size_t candidate)>& make) {
  const auto rank = static_cast<std::size_t>(comm.rank()), ranks = static_cast<std::size_t>(comm.size());
  std::vector<Evaluation> own;
  together(comm, [&] {
    for (std::size_t i = rank; i < count; i += ranks) own.push_back(evaluator.evaluate(make(i)));
  });
  const std::vector<std::vector<Evaluation>> all = all_gather(comm, own);
  std::vector<Evaluation> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(all[i % ranks][i / ranks]);
  return found;
}

}  // namespace tessera::program
