// What all devices of a rank promise other ranks together, as long as nothing comes from there.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "sim/execution/promises.hpp"
#include "sim/laws/promises/device_promise.hpp"
#include "sim/laws/promises/transit.hpp"
#include "tessera/pdes/foresight.hpp"
#include "tessera/pdes/partition.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// A stream that waits in a collective for members on other ranks is woken by a message of a collective across ranks:
/// by one that is under way on this rank, or by one that a device of this rank sends when it carries on such a
/// collective. As long as none is under way, the stream does nothing before the first device joins one of itself.
/// Where messages pass through components of the rank, those on their way to one count by the time at which they come.
class RankForesight final : public pdes::Foresight, public Promises {
 public:
  /// `transits`: find_transits(). All outlive it.
  RankForesight(const program::Program& program, const std::vector<bool>& transits, const pdes::Partition& partition,
                int rank);

  /// All devices of the rank, in order, and its outputs of switches that are transits.
  void watch(const std::vector<Device*>& devices, const machine::Machine& machine, Distances& distances,
             std::vector<const NetworkNode*> outputs);
  [[nodiscard]] ForwardedTimes& passing() { return passing_; }
  [[nodiscard]] Time earliest_output(program::DeviceId device, Time from, Time latency) const override {
    return promises_[index_of_[device]].earliest_output(from, latency);
  }
  void posted(const MessageName& name, machine::NodeId destination) override;
  void delivered(const Delivered& message, machine::NodeId destination) override;
  void told(const Delivered& message, machine::NodeId destination, Time at) override;
  void changes(program::DeviceId device) override {
    const std::uint32_t index = index_of_[device];
    if (at_rest_[index]) [[unlikely]]
      wake(index);
  }

  void comes(const pdes::Event& event) override;
  [[nodiscard]] Time earliest_unprompted(Time from, Time latency) override;

 private:
  struct Coming {
    MessageName name;
    machine::NodeId destination = 0;
    Time at = 0;             ///< not delivered before
    std::uint32_t told = 0;  ///< Delivered::generation, where a takeover has told of it
  };
  void comes(const Coming& coming);
  [[nodiscard]] std::vector<Coming>::iterator find(const MessageName& name, machine::NodeId destination,
                                                   std::uint32_t told = 0);
  [[nodiscard]] bool is_here(machine::NodeId device) const { return partition_->rank_of[device] == rank_; }
  /// Whether a message belongs to a collective whose group has members on several ranks.
  [[nodiscard]] bool spans(const MessageName& name) const;

  void wake(std::uint32_t index);
  void let_rest(Time from);
  [[nodiscard]] Time earliest_answer(Time from) const;

  const program::Program* program_;
  const pdes::Partition* partition_;
  int rank_;
  TransitTimes passing_;
  std::vector<bool> spans_;              // by group
  std::vector<DevicePromise> promises_;  // of all devices, in order
  std::vector<std::uint32_t> index_of_;  // by device: in promises_
  // Where thousands wait for an answer, only those that something happens to are looked at in every window.
  std::vector<char> at_rest_;                     // by index: it has a DevicePromise::crossing_behind_answer(),
  std::vector<Time> behind_answer_;               // this one
  std::map<Time, std::uint32_t> at_rest_behind_;  // how many have which
  std::vector<std::uint32_t> awake_;              // the others' indices
  std::vector<const NetworkNode*> outputs_;
  std::int64_t under_way_ = 0;  // messages of such collectives from devices of this rank to devices of this rank
  std::vector<Coming> coming_;  // the same, from other ranks, or told by a takeover of this one
};

}  // namespace tessera::sim
