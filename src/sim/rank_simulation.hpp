// The components of one rank and what they share.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "sim/execution/combined_blocks.hpp"
#include "sim/execution/device.hpp"
#include "sim/fold/usage.hpp"
#include "sim/model.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::sim {

class Periods;

/// What is simulated: of a fold what stands for others; null: everything.
struct FoldedPart {
  const Fold* fold = nullptr;
  Witness* witness = nullptr;  ///< null: nobody wants to know
  Splits* splits = nullptr;    ///< of a fold, never null
  Usage* usage = nullptr;      ///< null: nobody wants to know
};

class RankSimulation {
 public:
  /// All outlive it. With a fold, what stands for others is simulated, on one rank: `comm` has one.
  RankSimulation(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                 Communicator& comm, const SimulationOptions& options, const FoldedPart& part = {});
  /// All components go on from where those have come to that stood for them: each device from where that split off, and
  /// `usage` may not meet that of the other one, nor `splits` fail. Devices that have not split off by `now` have
  /// nothing to do before: then join() has to follow, when this one has run up to there. The other one outlives it, and
  /// is of no other use any more.
  RankSimulation(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                 Communicator& comm, const SimulationOptions& options, RankSimulation& folded, Splits& splits,
                 Usage* usage, Time now = never);
  ~RankSimulation();
  RankSimulation(const RankSimulation&) = delete;
  RankSimulation& operator=(const RankSimulation&) = delete;
  /// What the folded simulation was in the midst of goes on here; both have run_before() `now`.
  /// False: it was in the way of what is going on here.
  [[nodiscard]] bool join(RankSimulation& folded, Time now);

  /// From now on; a simulation that goes on from another one begins with every round. See Periods.
  void leave_out_rounds();

  /// All of it: statistics, results and events.
  void run(const SimulationOptions& options, SimulationResult& result);
  pdes::RunStatistics run(pdes::RunOptions options);
  /// All events before `end`; run() goes on.
  pdes::RunStatistics run_before(Time end, pdes::RunOptions options);
  /// What is in use is told to whoever wants to know.
  void tell_use(Time now) const;
  /// What comes after the run of simulation().
  void finish(const pdes::RunOptions& options);

  [[nodiscard]] pdes::Simulation& simulation() { return *simulation_; }
  [[nodiscard]] Time finished() const;
  [[nodiscard]] WorkDone work_done() const;
  /// Of this rank's components.
  [[nodiscard]] results::RunResults results();
  /// Behind results(): links are finished then.
  [[nodiscard]] std::vector<results::NamedCount> events() const;

 private:
  enum class Promises { given, none };
  RankSimulation(const machine::Machine& machine, const program::Program& program, const workload::CostModel& cost,
                 Communicator& comm, const SimulationOptions& options, const FoldedPart& part, Promises promises);
  void set_environment(const SimulationOptions& options);
  void add_ring_laws();
  void add_foresight();
  pdes::RunStatistics run_with_periods(pdes::RunOptions options);
  // sim/fold/unfold_state.cpp:
  void take_over_component(RankSimulation& folded, pdes::ComponentId id);
  void take_over_event(const Fold& fold, const pdes::Event& event);
  void begin_apart(const Fold& fold, const Splits& splits, Time now);
  void take_over_rings(const RankSimulation& folded);
  [[nodiscard]] bool join_node(RankSimulation& folded, pdes::ComponentId id, Time now);
  void hand_over(Time now, RingLaws* goes_on);
  void settle_ports(const pdes::Context& context);
  [[nodiscard]] bool passes_on() const;
  void watch();
  std::unique_ptr<pdes::Component> create(pdes::ComponentId id);
  [[nodiscard]] results::RunResults names() const;
  void make_room(results::RunResults& results) const;
  void add_links(NetworkNode& node, results::RunResults& results) const;

  const machine::Machine& machine_;
  const program::Program& program_;
  Communicator& comm_;
  const Fold* fold_;            // null: none
  bool may_leave_out_ = false;  // rounds
  program::Lowerings lowerings_;
  NetworkModel network_;
  ProgramFacts facts_;
  CombinedBlocks combined_;
  CostTables costs_;
  CollectiveAccount collectives_;
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
  std::unique_ptr<Periods> periods_;  // from the first run on
};

}  // namespace tessera::sim
