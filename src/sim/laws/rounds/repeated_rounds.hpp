// What repeats itself is simulated once: when a simulation stands as it stood one round of a loop before, but for the
// time, then all rounds that are left but the last one are as the one between. They are added up and left out.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "sim/execution/device.hpp"
#include "sim/laws/rings/ring_laws.hpp"
#include "sim/laws/rounds/state_list.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::sim {

/// The parts of a simulation on one rank, all of it; `rings` may be null.
struct RoundsParts {
  const NetworkTables* tables = nullptr;
  const std::vector<Device*>* devices = nullptr;
  const std::vector<Device*>* device_at = nullptr;  ///< by id
  const std::vector<SwitchOutput*>* outputs = nullptr;
  const std::vector<NetworkNode*>* nodes = nullptr;  ///< by component
  CollectiveAccount* collectives = nullptr;
  RingLaws* rings = nullptr;
};

class RepeatedRounds {
 public:
  /// The device whose loops say when to look; no_device: the program has none.
  [[nodiscard]] static program::DeviceId device_of(const program::Program& program, const ProgramFacts& facts);

  /// All outlive it.
  explicit RepeatedRounds(const RoundsParts& parts) : parts_(parts) {}
  /// A loop of that device has begun another round.
  void look(pdes::Pause& pause, const LoopRound& round);
  /// Whether any has been.
  [[nodiscard]] bool has_left_out() const { return has_left_out_; }

 private:
  /// A loop of the program, whoever calls it.
  struct Loop {
    std::uint32_t failures = 0;  ///< looks in vain, since the last one that was not
    std::uint32_t rests = 0;     ///< turns since the last look
    [[nodiscard]] bool is_worth_a_look() const;
  };
  struct Kept {
    std::vector<Frame> position;  ///< of the device that is looked at
    ListedState standing;
  };
  [[nodiscard]] ListedState standing(const pdes::Pause& pause);
  void list(StateList& list, const std::vector<pdes::Event*>& pending);
  void list_pending(StateList& list, const std::vector<pdes::Event*>& pending);
  [[nodiscard]] bool matters(const pdes::Event& event) const;
  [[nodiscard]] bool skip(pdes::Pause& pause, const ListedState& from, const ListedState& to);
  void keep(Kept kept);

  RoundsParts parts_;
  std::map<std::pair<std::size_t, program::BlockId>, Loop> loops_;  // by depth and block
  std::deque<Kept> kept_;                                           // the latest first
  std::size_t kept_words_ = 0;
  bool has_left_out_ = false;
};

}  // namespace tessera::sim
