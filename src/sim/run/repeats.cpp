#include "sim/run/repeats.hpp"

#include <algorithm>

#include "tessera/program/steady.hpp"

namespace tessera::sim {

Time interval_of(const std::deque<OwnRecord>& records, Communicator& comm) {
  Time slowest = 0;
  for (const OwnRecord& record : records) slowest = std::max(slowest, program::steady_interval(record.get().marks));
  return comm.max(slowest);
}

std::vector<results::PhaseRow> phases_of(const program::Program& program, const std::deque<OwnRecord>& records,
                                         Communicator& comm) {
  std::vector<results::PhaseRow> phases;
  for (const std::string& name : program.phases) phases.push_back({name, 0});
  for (const OwnRecord& record : records) {
    for (const auto& [phase, end] : record.get().phase_ends) phases[phase].end = std::max(phases[phase].end, end);
  }
  for (results::PhaseRow& phase : phases) phase.end = comm.max(phase.end);
  return phases;
}

}  // namespace tessera::sim
