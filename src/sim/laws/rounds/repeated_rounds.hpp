// What repeats itself is simulated once: when a simulation stands as it stood one round of a loop before, but for the
// time, then all rounds that are left but the last one are as the one between. They are added up and left out. Parts of
// it that have nothing to do with each other for a while, as replicas before their gradients are reduced, have rounds
// of their own: see islands.hpp and docs/laws/rounds.md.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/execution/device.hpp"
#include "sim/laws/rings/ring_laws.hpp"
#include "sim/laws/rounds/islands.hpp"
#include "sim/laws/rounds/round_history.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::sim {

/// The parts of a simulation on one rank, all of it; `rings` may be null.
struct RoundsParts {
  const NetworkTables* tables = nullptr;
  const std::vector<Device*>* devices = nullptr;
  const std::vector<Device*>* device_at = nullptr;  ///< by id
  const std::vector<SwitchOutput*>* outputs = nullptr;
  const std::vector<NetworkNode*>* nodes = nullptr;  ///< by component
  RingLaws* rings = nullptr;
  pdes::Simulation* simulation = nullptr;
  ExecutionEnvironment* environment = nullptr;
  bool is_whole = true;  ///< nothing stands for others
};

class RepeatedRounds final : public pdes::SendWatch, public RingMeetings {
 public:
  /// Devices of a program whose loops may say when to look: of all of it the first one does.
  [[nodiscard]] static std::vector<program::DeviceId> in_loops(const program::Program& program,
                                                               const ProgramFacts& facts);

  /// All outlive it. `in_loops`: those that are simulated.
  RepeatedRounds(const RoundsParts& parts, std::vector<program::DeviceId> in_loops);
  /// Something has asked for a pause: a loop that has begun another round (LoopRound), or sends().
  void look(pdes::Pause& pause);
  /// Whether any has been.
  [[nodiscard]] bool has_left_out() const { return has_left_out_; }

  [[nodiscard]] bool sends(pdes::ComponentId source, pdes::ComponentId destination) override;
  void meet(const std::vector<pdes::ComponentId>& parts) override;

 private:
  using Root = pdes::ComponentId;
  /// What is looked at by itself.
  struct Island {
    std::vector<Device*> devices;
    std::vector<NetworkNode*> outputs;  ///< of switches
    RoundHistory history;
    std::optional<AlikeRounds> ahead;  ///< it stands so many rounds later than now, or did
    [[nodiscard]] Time stands_at() const { return ahead ? ahead->period().to.now + ahead->period().skipped() : 0; }
  };
  [[nodiscard]] LoopRound& round() { return parts_.environment->loop_round; }
  [[nodiscard]] static std::uint64_t likeness(const pdes::Pause& pause, const Island& island);
  [[nodiscard]] ListedState standing(const pdes::Pause& pause, Island& island);
  void list(StateList& list, Island& island, const std::vector<pdes::Event*>& pending);
  void list_pending(StateList& list, const Island& island, const std::vector<pdes::Event*>& pending);
  [[nodiscard]] bool matters(const pdes::Event& event) const;
  [[nodiscard]] bool is_on(const Island& island, const pdes::Event& event);
  void move(pdes::Pause& pause, Island& island, const Period& period);
  void look_at(pdes::Pause& pause, Island& island);

  // Islands (island_rounds.cpp):
  void consider_islands(pdes::Pause& pause);
  void begin_watch(pdes::Pause& pause);
  void end_watch(pdes::Pause& pause);
  void find_islands(pdes::Pause& pause);
  [[nodiscard]] Island island_of(const std::vector<pdes::ComponentId>& parts) const;
  [[nodiscard]] bool bring_back(pdes::Pause& pause, Root root);
  void join(pdes::Pause& pause, pdes::ComponentId a, pdes::ComponentId b);
  void look_at_first_in_loop(const Island& island);

  RoundsParts parts_;
  std::vector<program::DeviceId> in_loops_;
  Island whole_;
  bool has_left_out_ = false;
  std::unique_ptr<Islands> watched_;                                  // null: nobody looks who meets whom
  std::map<Root, Island> islands_;                                    // that have loops; empty: not found yet
  std::vector<std::pair<pdes::ComponentId, pdes::ComponentId>> met_;  // in the event that is handled
  std::uint32_t patience_ = 3;     // with the whole, in looks at a loop, before islands are looked for
  std::uint32_t watched_for_ = 0;  // rounds
};

}  // namespace tessera::sim
