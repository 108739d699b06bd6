// Runs the toy strategy on all ranks of an mpirun, from an experiment file to a result file.
#include <iostream>

#include "tessera/base/comm.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/results/results.hpp"
#include "toy.hpp"

using namespace tessera;

namespace {

/// Rank 0 reads; a mistake in the files ends all ranks alike.
experiment::Source load(const char* file, const experiment::Parts& parts, Communicator& comm) {
  experiment::Source source;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    config::Diagnostics diagnostics;
    source = experiment::load(file, {}, {}, diagnostics, {}, parts);
    diagnostics.throw_if_errors();
  });
  return experiment::shared(std::move(source), comm);
}

int run(const char* file, const char* output, Communicator& comm) {
  experiment::Parts parts;
  parts.strategies.push_back(toy::kind());
  config::Diagnostics diagnostics;
  const experiment::Source source = load(file, parts, comm);
  const auto experiment = experiment::build(*source.table, diagnostics, parts, source.files);
  diagnostics.throw_if_errors();
  experiment::search(*source.table, *experiment, comm, {}, diagnostics);
  diagnostics.throw_if_errors();
  const results::RunResults results = experiment::run(*experiment, comm).results;
  results::Provenance provenance;
  provenance.ranks = comm.size();
  results::write(output, results, provenance, comm);
  // Six products of 2 us each with 1 MB of weights, 10 us to load: three chips take two each, 24 us an input. The first
  // of four inputs has passed all three and two messages of 100 kB (1 us, 100 ns on the link) when the others are 24 us
  // apart behind it: 3 x 24 + 2 x 1.1 + 3 x 24 us.
  if (comm.rank() == 0)
    std::cout << results.iteration_time << " ps, cuts " << results.plan.at(0).second << ", "
              << results.activities.back() << ", " << results.categories.back() << '\n';
  const bool is_right = results.iteration_time == 146'200 * nanosecond && results.plan.at(0).second == "2 4" &&
                        results.activities.back() == "weight_reload" && results.categories.back() == "staging" &&
                        results.search.size() > 50;
  return is_right ? 0 : 1;
}

}  // namespace

int main(int count, char** values) {
  MpiSession session(count, values);
  try {
    return run(values[1], values[2], session.world());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    session.abort(1);  // the other ranks may wait for this one
  }
}
