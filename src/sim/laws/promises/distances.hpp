// How far a stream is, at least, from what another rank may see of it: the compute time before its next message that
// can cross ranks. Devices promise it to the engine (Component::earliest_output), which lets ranks run apart for whole
// compute phases.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "sim/execution/cost_table.hpp"
#include "sim/execution/stream.hpp"
#include "sim/network/network_tables.hpp"
#include "tessera/pdes/partition.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

/// What a device's program can do to other ranks, by peer slot and by collective. Of a peer that has bound ways, what
/// any way to it can.
struct Reach {
  std::vector<bool> peers_cross;        ///< a message to this peer crosses ranks on its way, or passes others that may
  std::vector<bool> collectives_cross;  ///< one that this collective makes the device send does
  std::vector<bool> peers_share;        ///< it leaves over a port over which messages that cross leave too
  std::vector<bool> collectives_share;
  std::vector<bool> collectives_span;  ///< its group has members on several ranks
  std::vector<bool> ports_cross;       ///< of the device
  auto operator<=>(const Reach&) const = default;
};

/// Least times from a point in a program to the first ...
struct Distance {
  Time crossing = never;  ///< ... message that may cross ranks
  Time sharing = never;   ///< ... message that leaves over a port over which messages that cross leave
  Time signal = never;    ///< ... signal to another stream
  Time joining = never;   ///< ... collective of a group with members on several ranks
  Time end = 0;           ///< ... end of the block; of all code, once it is added up
};

/// `distance` from `time` on.
[[nodiscard]] inline Distance later(const Distance& distance, Time time) {
  return {saturating_add(distance.crossing, time), saturating_add(distance.sharing, time),
          saturating_add(distance.signal, time), saturating_add(distance.joining, time),
          saturating_add(distance.end, time)};
}

/// Distances within all blocks that one kind of device runs.
class DistanceTable {
 public:
  DistanceTable(const program::Program& program, const CostTable& costs, const program::DeviceProgram& device,
                const Reach& reach);

  /// From a stream's place: behind its present instruction, or from it on.
  [[nodiscard]] Distance from(const Stream& stream, bool behind_present) const;
  [[nodiscard]] bool collective_crosses(std::size_t index) const { return reach_.collectives_cross[index]; }
  [[nodiscard]] bool collective_shares(std::size_t index) const { return reach_.collectives_share[index]; }
  [[nodiscard]] bool collective_spans(std::size_t index) const { return reach_.collectives_span[index]; }
  [[nodiscard]] bool port_crosses(std::size_t port) const { return reach_.ports_cross[port]; }

 private:
  void add(const program::Program& program, const CostTable& costs, program::BlockId block);
  [[nodiscard]] Distance before(const CostTable& costs, const program::Instruction& instruction,
                                const Distance& behind) const;

  Reach reach_;
  std::vector<std::uint32_t> first_;  // of a block, in at_; none where it is not run
  std::vector<Distance> at_;          // by instruction, and one at the end of each block
};

/// The tables of a rank's devices, one a kind.
class Distances {
 public:
  /// `transits`: find_transits(). All outlive it.
  Distances(program::Lowerings& lowerings, const NetworkTables& network, const std::vector<bool>& transits,
            const pdes::Partition& partition, CostTables& costs);
  /// Null where nothing can be promised: the program has kernels.
  [[nodiscard]] const DistanceTable* of(program::DeviceId device, const machine::KindAndSpeed& is);
  /// Whether messages of others that come to a device may cross ranks afterwards.
  [[nodiscard]] bool is_transit(program::DeviceId device) const { return (*transits_)[device]; }
  [[nodiscard]] bool has_kernels() const { return !program_->kernels.empty(); }

 private:
  [[nodiscard]] Reach reach_of(program::DeviceId device) const;
  [[nodiscard]] bool spans(program::GroupId group) const;
  /// Calls act(connection) for the machine's way to another device and for those that are bound; for none where there
  /// is nobody else.
  template <class Act>
  void for_each_way(program::DeviceId from, program::DeviceId to, Act&& act) const;
  [[nodiscard]] bool crosses(const machine::Connection& way) const;
  /// Whether any way to a device does; the ports over which it does become ports that cross.
  [[nodiscard]] bool cross(program::DeviceId from, program::DeviceId to, Reach& reach) const;
  [[nodiscard]] bool shares(program::DeviceId from, program::DeviceId to, const Reach& reach) const;

  struct Key {
    std::vector<program::BlockId> streams;
    machine::KindAndSpeed is;
    Reach reach;
    auto operator<=>(const Key&) const = default;
  };
  const program::Program* program_;
  program::Lowerings* lowerings_;
  const NetworkTables* network_;
  const std::vector<bool>* transits_;
  const pdes::Partition* partition_;
  CostTables* costs_;
  std::map<Key, std::unique_ptr<DistanceTable>> tables_;
};

}  // namespace tessera::sim
