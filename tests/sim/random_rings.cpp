#include "random_rings.hpp"

#include <algorithm>
#include <array>

#include "machine/networks/grid_network.hpp"
#include "machine/networks/host_network.hpp"
#include "machine/networks/ring_network.hpp"
#include "machine/networks/side_by_side_network.hpp"
#include "random_traffic.hpp"

namespace tessera::test {
namespace {

using program::CollectiveKind;
using program::DeviceId;

constexpr std::uint32_t streams = 2;

/// Networks on which rings of some kind share no link: those of random traffic, clusters, tori and rings both ways, and
/// devices with a link to each other one. One in seven has hosts, or is of several meshes.
class MachineMaker {
 public:
  explicit MachineMaker(std::uint64_t index) : random_(index, random_stream("ring machines")), index_(index) {}

  /// With more devices than ranks by far.
  machine::Machine make_large() {
    machine::Machine made;
    if (below(2) == 0) {
      build_wires(7 + below(12), made);
    } else {
      machine::ClusterShape shape = small_cluster(static_cast<machine::NodeId>(2 + below(5)), 3);
      if (below(2) != 0) shape.nvlink_bandwidth = BytesPerSecond{3'333'333'333};
      machine::build_cluster(shape, made);
    }
    return plain(std::move(made));
  }

  machine::Machine make() {
    if (index_ % 7 != 1) return make_accelerators();
    machine::Machine made = below(2) == 0 ? side_by_side() : make_accelerators();
    if (below(4) > 0) add_hosts(made);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }

  machine::Machine make_accelerators() {
    switch (below(6)) {
      case 0:
      case 1:
        return cluster();
      case 2:
        return torus();
      case 3:
        return in_nodes(connected_machine(static_cast<machine::NodeId>(2 + 2 * below(4))));
      default:
        return in_nodes(machine_of(random_case(index_).network));
    }
  }

  /// One or two, each linked to some devices or to a switch, by itself or over a bridge.
  void add_hosts(machine::Machine& made) {
    machine::DeviceSpec memory;
    memory.name = "host";
    memory.memory_bandwidth = BytesPerSecond{1'000'000'000};
    memory.memory_capacity = Bytes{1'000'000};
    made.host_kinds = {memory};
    std::vector<machine::HostShape> hosts(1 + below(2));
    const machine::NodeId devices = made.devices();
    const KeyedRandom bridges(index_, random_stream("bridges"));
    for (machine::HostShape& host : hosts) {
      const std::uint64_t bridge = bridges.below(static_cast<std::uint64_t>(&host - hosts.data()), 4);
      if (bridge > 1) host.bridge_bandwidth = BytesPerSecond{bridge == 2 ? 1'200'000'000 : 5'000'000'000};
      host.bandwidth = BytesPerSecond{below(2) == 0 ? 1'000'000'000 : 3'000'000'000};
      host.latency = Duration{below(2) == 0 ? 500 : 1301};
      if (made.network.switches > 0 && below(4) == 0) {
        host.ends = {devices + static_cast<machine::NodeId>(below(made.network.switches))};
        continue;
      }
      for (machine::NodeId device = 0; device < devices; ++device)
        if (below(3) == 0) host.ends.push_back(device);
      if (host.ends.empty()) host.ends.push_back(static_cast<machine::NodeId>(below(devices)));
    }
    machine::link_hosts(hosts, made);
  }

  /// The network as a machine of random ones.
  [[nodiscard]] static machine::Machine plain(machine::Machine made) {
    machine::Machine machine = machine_of(std::move(made.network));
    machine.network.packet = Bytes{100};
    machine.places = std::move(made.places);
    machine.grid = made.grid;
    return machine;
  }

  /// A ring both ways round.
  static void build_wires(std::uint64_t devices, machine::Machine& made) {
    machine::build_ring(static_cast<machine::NodeId>(devices), {BytesPerSecond{1'500'000'000}, Duration{500}, true},
                        "wire", made);
  }

  machine::Machine cluster() {
    constexpr std::array<machine::NodeId, 4> sizes{1, 2, 2, 4};
    const machine::NodeId gpus = sizes[below(4)];
    machine::ClusterShape shape = small_cluster(static_cast<machine::NodeId>(1 + below(gpus == 4 ? 3 : 5)), gpus);
    if (shape.devices() == 1) shape.nodes = 2;
    shape.inside =
        std::array{machine::Inside::nvswitch, machine::Inside::ring, machine::Inside::fully_connected}[below(3)];
    if (below(2) != 0) shape.nvlink_bandwidth = BytesPerSecond{3'333'333'333};
    if (below(4) == 0) shape.nics_per_node = 1;
    machine::Machine made;
    machine::build_cluster(shape, made);
    return plain(std::move(made));
  }

  machine::Machine torus() {
    machine::Machine made;
    if (below(2) == 0) {
      build_wires(3 + below(6), made);
    } else {
      made.grid = {static_cast<int>(2 + below(3)), static_cast<int>(1 + below(3)), below(2) == 0};
      machine::build_grid(made.grid, BytesPerSecond{1'500'000'000}, Duration{500}, "wire", made);
    }
    return in_nodes(plain(std::move(made)));
  }

  /// Two or three small meshes, joined edge to edge or through a switch.
  machine::Machine side_by_side() {
    const machine::Grid grid{static_cast<int>(1 + below(2)), static_cast<int>(1 + below(2)), false,
                             static_cast<int>(2 + below(2))};
    const machine::LinkSort inside{BytesPerSecond{1'500'000'000}, Duration{500}},
        outside{BytesPerSecond{1'000'000'000}, Duration{701}};
    machine::Machine made;
    below(2) == 0 ? machine::build_joined(grid, inside, outside, made)
                  : machine::build_switched(grid, inside, outside, made);
    return plain(std::move(made));
  }

  /// Devices side by side in nodes, with a NIC each or none.
  machine::Machine in_nodes(machine::Machine machine) {
    std::vector<int> counts;
    const auto devices = static_cast<int>(machine.devices());
    for (int count = 1; count <= devices; ++count)
      if (devices % count == 0) counts.push_back(count);
    const int together = devices % 2 == 0 && below(2) == 0 ? 2 : counts[below(counts.size())];
    const bool has_nics = below(3) > 0;
    for (int device = 0; device < devices; ++device) {
      machine.places[static_cast<std::size_t>(device)].node = device / together;
      machine.places[static_cast<std::size_t>(device)].nic = has_nics ? device : -1;
    }
    return machine;
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  std::uint64_t index_;
};

class RingMaker {
 public:
  /// `rarely`: one in so many programs, operations or members that disturb rings does where it would otherwise.
  RingMaker(std::uint64_t index, std::string only, machine::Machine machine, std::uint64_t rarely = 1)
      : random_(index, random_stream("rings")),
        library_random_(index, random_stream("library")),
        only_(std::move(only)),
        made_(std::move(machine)),
        rarely_(rarely) {}

  ProgramCase make() {
    const DeviceId devices = made_.machine.devices();
    made_.machine.device.cores = 8;
    made_.program.channels = below(3) == 0 ? 3 : 0;
    make_library();
    for (DeviceId device = 0; device < devices; ++device) {
      made_.machine.speed[device] = below(4) == 0 ? 0.5 : 1;
      for (std::uint32_t stream = 0; stream < streams; ++stream) blocks_.push_back(made_.block());
    }
    make_groups();
    const std::uint64_t operations = 3 + below(20);
    for (std::uint64_t i = 0; i < operations; ++i) add_operation();
    for (DeviceId device = 0; device < devices; ++device) {
      std::vector<program::BlockId> bound;
      for (std::uint32_t stream = 0; stream < streams; ++stream) bound.push_back(at(device, stream).done());
      made_.bind(device, bound);
    }
    return std::move(made_);
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }

  /// In one of three programs collectives have protocols, in one of four a host launches them.
  void make_library() {
    if (library_random_.below(0, 4) == 0)
      made_.program.issue_interval = library_random_.below(1, 2) == 0 ? 70'001 : 3'000'000;
    if (library_random_.below(2, 3) > 0) return;
    program::Protocols protocols(2);
    protocols[0] = {"quick", "", 0.5, BytesPerSecond{}, BytesPerSecond{}, 1000, 700, 4001};
    protocols[1] = {"wide", "", 0.92, BytesPerSecond{}, BytesPerSecond{}, 2500, 33'000, 90'000};
    library_ = std::make_shared<const program::Protocols>(protocols);
  }
  program::BlockBuilder& at(DeviceId device, std::uint32_t stream) { return blocks_[device * streams + stream]; }

  /// Group g is called by stream g % streams alone.
  void make_groups() {
    const std::uint64_t groups = 1 + below(4) / rarely_;
    for (std::uint64_t group = 0; group < groups; ++group) {
      std::vector<DeviceId> all(made_.machine.accelerators());
      for (DeviceId device = 0; device < all.size(); ++device) all[device] = device;
      const std::uint64_t kind = below(4);
      if (kind == 0) shuffle(all, KeyedRandom(draws_, below(1000)));
      if (kind < 2) all.resize(std::max<std::size_t>(2, all.size() - below(all.size())));
      made_.group(all);
    }
  }

  void add_operation() {
    const std::uint64_t kind = below(10);
    if (kind < 6 || (kind < 8 && (is_quiet_ || below(rarely_) != 0))) return add_collective();
    if (kind < 8) return add_message();
    const auto device = static_cast<DeviceId>(below(made_.machine.accelerators()));
    at(device, static_cast<std::uint32_t>(below(streams))).compute(work(static_cast<Time>(1 + below(40'000'000))));
  }

  void add_collective() {
    static constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather};
    static constexpr std::array<std::int64_t, 6> sizes{0, 3, 1000, 7777, 40'000, 65'536};
    const auto group = static_cast<std::uint32_t>(below(made_.program.groups.size()));
    program::Collective asked =
        collective(kinds[below(kinds.size())], sizes[below(sizes.size())], algorithm(group), group);
    if (below(6 * rarely_) == 0)
      asked = collective(CollectiveKind::all_to_all, 6000, below(2) == 0 ? "ring" : "direct", group);
    if (below(6 * rarely_) == 0) asked = collective(CollectiveKind::all_reduce, 6000, "direct", group);
    asked.element = Bytes{1};
    asked.protocols = library_;
    const std::uint64_t late = below(3);
    const std::uint64_t times = 1 + below(3);
    for (std::uint64_t i = 0; i < times; ++i) {
      for (const DeviceId device : made_.program.groups[group].members) {
        program::BlockBuilder& block = at(device, group % streams);
        if (late == 1 && below(2) == 0) block.compute(work(static_cast<Time>(1 + below(30'000'000))));
        block.collective(asked);
      }
    }
  }

  /// A group that carries out collectives in several ways changes them in one program of four.
  std::string algorithm(std::uint32_t group) {
    static const std::array<std::string, 4> names{"ring", "bidirectional-ring", "hierarchical", "ring"};
    const std::string name = !only_.empty() ? only_ : names[below(4 * rarely_) == 0 ? below(4) : (group + kinds_) % 4];
    const program::Collective asked = collective(CollectiveKind::all_reduce, 8, name, group);
    return check_collective(asked, made_.program.groups[group], made_.machine).empty() ? name : "ring";
  }

  void add_message() {
    const auto from = static_cast<DeviceId>(below(made_.machine.devices()));
    const auto to = static_cast<DeviceId>(below(made_.machine.devices()));
    if (from == to) return;
    const Bytes bytes{static_cast<std::int64_t>(below(30'000))};
    program::BlockBuilder& sender = at(from, 0);
    if (below(2) == 0 && made_.machine.computes(from)) sender.compute(work(static_cast<Time>(1 + below(20'000'000))));
    sender.send(to, bytes);
    if (below(3) == 0) sender.wait_sends();
    at(to, 1).receive(from, bytes);
  }

  std::shared_ptr<const program::Protocols> library_;
  KeyedRandom random_, library_random_;
  std::uint64_t draws_ = 0;
  std::uint64_t kinds_ = below(4);  // of collectives: which group has which
  bool is_quiet_ = below(3) == 0;   // no messages come between
  std::string only_;
  ProgramCase made_;
  std::uint64_t rarely_;
  std::vector<program::BlockBuilder> blocks_;
};

}  // namespace

ProgramCase random_rings(std::uint64_t index, const std::string& algorithm) {
  return RingMaker(index, algorithm, MachineMaker(index).make()).make();
}

ProgramCase random_large_rings(std::uint64_t index, const std::string& algorithm) {
  return RingMaker(index, algorithm, MachineMaker(index).make_large(), 3).make();
}

}  // namespace tessera::test
