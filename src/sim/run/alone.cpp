#include "sim/run/alone.hpp"

#include <chrono>

#include "sim/run/rank_simulation.hpp"
#include "tessera/base/together.hpp"

namespace tessera::sim {
namespace {

using Clock = std::chrono::steady_clock;

/// Seconds that the first rank has for itself whatever is left, and seconds left that are worth sharing: the share that
/// has been simulated by then is simulated again.
constexpr double for_itself = 0.5, worth_sharing = 2.0;

/// Of all that is to be done; 0: not known.
double share_of(const WorkDone& done, const WorkDone& all) {
  if (all.flops > 0) return done.flops / all.flops;
  return all.bytes_sent > 0 ? done.bytes_sent / all.bytes_sent : 0;
}

class Attempt {
 public:
  Attempt(RankSimulation& simulation, const SimulationOptions& options) : simulation_(simulation), options_(options) {}

  void run(SimulationResult& result) {
    SimulationOptions own = options_;
    own.run.is_over = [this] { return is_over(); };
    simulation_.run(own, result);
  }

 private:
  // Where rounds have been left out, all ranks together would have to simulate each of them.
  [[nodiscard]] bool is_over() {
    const double seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    if (seconds < next_look_) return false;
    next_look_ = seconds + for_itself;
    if (simulation_.rounds_left_out()) return false;
    const double share = share_of(simulation_.work_done(), options_.all_work);
    return share == 0 || seconds * (1 - share) > worth_sharing * share;
  }

  RankSimulation& simulation_;
  const SimulationOptions& options_;
  Clock::time_point began_ = Clock::now();
  double next_look_ = for_itself;
};

}  // namespace

bool simulate_alone(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                    Communicator& comm, const SimulationOptions& options, SimulationResult& result) {
  const auto alone = make_serial_communicator();
  const bool is_first = comm.rank() == 0;
  Time iteration = 0, interval = 0;
  together(comm, [&] {
    RankSimulation simulation(machine, program, cost, *alone, options);
    if (is_first) {
      Attempt(simulation, options).run(result);
      iteration = result.results.iteration_time;
      interval = result.results.interval;
    } else {
      result.results = simulation.names();
      result.events = simulation.events();  // of each kind none
      for (auto* names : {&result.results.node_names, &result.results.groups}) names->clear();
      result.results.stream_names.clear();
    }
  });
  const bool is_cut_off = comm.max(result.statistics.cut_off ? 1 : 0) != 0;
  if (is_cut_off) {
    result = {};
    return false;
  }
  result.results.iteration_time = comm.max(iteration);
  result.results.interval = comm.max(interval);
  for (results::PhaseRow& phase : result.results.phases) phase.end = comm.max(phase.end);
  result.ranks_used = 1;
  return true;
}

}  // namespace tessera::sim
