#include "random_shared_nics.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "tessera/base/random.hpp"

namespace tessera::test {
namespace {

using program::CollectiveKind;
using program::DeviceId;

class SharedNicMaker {
 public:
  SharedNicMaker(std::uint64_t index, const char* what) : random_(index, random_stream(what)) {}

  ProgramCase rings() {
    constexpr std::array<machine::NodeId, 4> sizes{2, 3, 4, 8};
    const machine::NodeId gpus = sizes[below(4)];
    machine::ClusterShape shape = odd(small_cluster(static_cast<machine::NodeId>(2 + below(5)), gpus));
    shape.nics_per_node = gpus > 3 && below(3) == 0 ? 2 : 1;
    begin(shape);
    for (DeviceId gpu = 0; gpu < gpus; ++gpu) {
      std::vector<DeviceId> members;
      for (DeviceId node = 0; node < shape.nodes; ++node) members.push_back(node * gpus + gpu);
      made_->group(members);
    }
    const std::uint64_t operations = 1 + below(3);
    for (std::uint64_t i = 0; i < operations; ++i) add_rings(shape);
    return end();
  }

  ProgramCase exchanges() {
    constexpr std::array<machine::NodeId, 4> sizes{1, 2, 4, 8};
    const machine::NodeId gpus = sizes[below(4)];
    const std::uint64_t more = below(12) == 0 ? 80 / gpus : 0;
    machine::ClusterShape shape = odd(small_cluster(static_cast<machine::NodeId>(2 + below(4) + more), gpus));
    if (below(2) == 0) shape.nics_per_node = 1;
    begin(shape);
    std::vector<DeviceId> all(shape.devices());
    for (DeviceId device = 0; device < all.size(); ++device) all[device] = device;
    made_->group(all);
    const std::uint64_t operations = 1 + below(3);
    for (std::uint64_t i = 0; i < operations; ++i) {
      const auto message = static_cast<std::int64_t>(1 + below(3) * packet_bytes + (below(3) == 0 ? 99 : below(100)));
      program::Collective asked =
          collective(CollectiveKind::all_to_all, message * shape.devices(), below(4) == 0 ? "ring" : "direct");
      asked.element = Bytes{1};
      add(asked, all);
    }
    return end();
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }

  /// With other speeds, of which many are equal; in some a fat tree.
  machine::ClusterShape odd(machine::ClusterShape shape) {
    constexpr std::array<std::int64_t, 5> speeds{1'000'000'000, 1'000'000'000, 2'000'000'000, 1'333'333'333,
                                                 700'000'001};
    shape.nic_bandwidth = BytesPerSecond{speeds[below(speeds.size())]};
    shape.pcie_bandwidth = BytesPerSecond{speeds[below(speeds.size())]};
    if (below(4) != 0) return shape;
    shape.nodes_per_leaf = 2;
    shape.spines = static_cast<machine::NodeId>(1 + below(2));
    shape.uplink_bandwidth = BytesPerSecond{speeds[below(speeds.size())]};
    shape.uplink_latency = Duration{static_cast<Time>(1 + below(2000))};
    return shape;
  }

  void begin(const machine::ClusterShape& shape) {
    machine::Machine made;
    machine::build_cluster(shape, made);
    machine::Machine machine = machine_of(std::move(made.network));
    machine.network.packet = Bytes{packet_bytes};
    machine.places = std::move(made.places);
    made_.emplace(std::move(machine));
    for (DeviceId device = 0; device < shape.devices(); ++device) blocks_.push_back(made_->block());
  }

  /// One on each group, of one size or of sizes of their own.
  void add_rings(const machine::ClusterShape& shape) {
    static constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather};
    static constexpr std::array<std::uint64_t, 4> lengths{3, 20, 100, 400};
    const CollectiveKind kind = kinds[below(kinds.size())];
    const std::uint64_t length = lengths[below(lengths.size())] * packet_bytes;
    const bool alike = below(3) != 0;
    const bool whole = below(4) == 0;
    std::uint64_t message = 1 + below(length);
    for (std::uint32_t group = 0; group < made_->program.groups.size(); ++group) {
      if (!alike) message = 1 + below(length);
      if (whole) message += packet_bytes - message % packet_bytes;
      // A remainder makes messages that differ by a byte.
      const auto bytes = static_cast<std::int64_t>(message * shape.nodes + (whole ? 0 : below(shape.nodes)));
      program::Collective asked = collective(kind, bytes, "ring", group);
      asked.element = Bytes{1};
      add(asked, made_->program.groups[group].members);
    }
    if (below(2) == 0) add_message(shape);
  }

  void add(const program::Collective& asked, const std::vector<DeviceId>& members) {
    const bool late = below(3) == 0;
    for (const DeviceId device : members) {
      if (late && below(2) == 0) blocks_[device].compute(work(static_cast<Time>(1 + below(3'000'000))));
      blocks_[device].collective(asked);
    }
  }

  void add_message(const machine::ClusterShape& shape) {
    const auto from = static_cast<DeviceId>(below(shape.devices()));
    const auto to = static_cast<DeviceId>(below(shape.devices()));
    if (from == to) return;
    const Bytes bytes{static_cast<std::int64_t>(below(5'000))};
    blocks_[from].send(to, bytes);
    blocks_[to].receive(from, bytes);
  }

  ProgramCase end() {
    for (DeviceId device = 0; device < blocks_.size(); ++device) made_->bind(device, {blocks_[device].done()});
    return std::move(*made_);
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  std::optional<ProgramCase> made_;
  std::vector<program::BlockBuilder> blocks_;
};

}  // namespace

ProgramCase random_shared_nics(std::uint64_t index) { return SharedNicMaker(index, "shared nics").rings(); }

ProgramCase random_exchanges(std::uint64_t index) { return SharedNicMaker(index, "exchanges").exchanges(); }

}  // namespace tessera::test
