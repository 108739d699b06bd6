// The components of one rank and what they share.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/execution/device.hpp"
#include "sim/laws/fold/fold.hpp"
#include "sim/laws/promises/foresight.hpp"
#include "sim/laws/rings/ring_laws.hpp"
#include "sim/run/combined_blocks.hpp"
#include "sim/run/model.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

class RepeatedRounds;

/// What is simulated: of a fold what stands for others; null: everything.
struct FoldedPart {
  const Fold* fold = nullptr;
  SentMessages* witness = nullptr;  ///< null: nobody wants to know
  Arrivals* ties = nullptr;         ///< the same
};

class RankSimulation {
 public:
  /// All outlive it. With a fold, what stands for others is simulated, on one rank: `comm` has one.
  RankSimulation(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                 Communicator& comm, const SimulationOptions& options, const FoldedPart& part = {});
  ~RankSimulation();
  RankSimulation(const RankSimulation&) = delete;
  RankSimulation& operator=(const RankSimulation&) = delete;

  /// All of it: statistics, results and events.
  void run(const SimulationOptions& options, SimulationResult& result);
  pdes::RunStatistics run(pdes::RunOptions options);
  /// All events before `end`; run() goes on.
  pdes::RunStatistics run_before(Time end, pdes::RunOptions options);
  /// What comes after the run of simulation().
  void finish(const pdes::RunOptions& options);

  [[nodiscard]] pdes::Simulation& simulation() { return *simulation_; }
  [[nodiscard]] Time finished() const;
  [[nodiscard]] WorkDone work_done() const;
  [[nodiscard]] bool rounds_left_out() const;
  /// Names without rows.
  [[nodiscard]] results::RunResults names() const;
  /// Of this rank's components.
  [[nodiscard]] results::RunResults results();
  /// Behind results(): links are finished then.
  [[nodiscard]] std::vector<results::NamedCount> events() const;

 private:
  void set_environment(const SimulationOptions& options);
  void add_ring_laws();
  void add_foresight();
  void add_rounds();
  pdes::RunStatistics run_with_rounds(pdes::RunOptions options);
  [[nodiscard]] bool passes_on() const;
  void watch();
  std::unique_ptr<pdes::Component> create(pdes::ComponentId id);
  void make_room(results::RunResults& results) const;
  void add_links(NetworkNode& node, results::RunResults& results) const;

  const machine::Machine& machine_;
  const program::Program& program_;
  Communicator& comm_;
  const Fold* fold_;  // null: none
  program::Lowerings lowerings_;
  NetworkModel network_;
  ProgramFacts facts_;
  CombinedBlocks combined_;
  CostTables costs_;
  program::Step step_;
  RankParts parts_;
  std::unique_ptr<RingLaws> rings_;  // null: none are taken
  EventCounts counts_{};
  ExecutionEnvironment environment_;
  std::deque<OwnRecord> records_;  // a device each
  std::vector<Device*> devices_;
  std::vector<Device*> device_at_;  // by id; null: on another rank, or not simulated
  std::vector<SwitchOutput*> outputs_;
  PartitionedModel model_;
  std::vector<bool> transits_;  // by component; on several ranks
  std::unique_ptr<Distances> distances_;
  std::unique_ptr<RankForesight> foresight_;
  std::unique_ptr<pdes::Simulation> simulation_;
  bool leaves_out_rounds_ = false;
  std::unique_ptr<RepeatedRounds> rounds_;  // from the first run on
};

}  // namespace tessera::sim
