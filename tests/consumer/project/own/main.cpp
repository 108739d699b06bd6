// An experiment that names a topology and a collective algorithm of this program's own.
#include <iostream>

#include "own.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/experiment/run.hpp"

using namespace tessera;

namespace {

int run(const char* file) {
  experiment::Parts parts;
  parts.topologies.push_back(own::hub_topology());
  parts.collectives.add(own::star_collective());
  config::Diagnostics diagnostics;
  const experiment::Source source = experiment::load(file, {}, {}, diagnostics, {}, parts);
  diagnostics.throw_if_errors();
  const auto experiment = experiment::build(*source.table, diagnostics, parts, source.files);
  diagnostics.throw_if_errors();
  const auto comm = make_serial_communicator();
  const results::RunResults results = experiment::run(*experiment, *comm).results;
  // Three members send 4,096,000 B each to the first: its link carries 12,288,000 B in 122.88 us, from the moment at
  // which the first packet of 4,096 B (40.96 ns) has come to the hub (250 ns), and 250 ns more; and the same back.
  // Twice over: once by the step's own name of the algorithm, once by that of [collectives]. Answers go out packet by
  // packet in turn, so that one member has its own two packets before the last one, and begins the second time so much
  // earlier.
  const Time packet = 40'960, one_way = 122'880'000 + packet + 2 * 250'000;
  const std::string& algorithm = results.algorithms.at(results.collective_rows.at(0).algorithm);
  std::cout << results.iteration_time << " ps on a " << experiment->machine.topology << ", by " << algorithm << '\n';
  return results.iteration_time == 4 * one_way - 2 * packet && algorithm == "star" ? 0 : 1;
}

}  // namespace

int main(int, char** values) {
  try {
    return run(values[1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
