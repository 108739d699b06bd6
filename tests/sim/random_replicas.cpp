#include "random_replicas.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "random_sites.hpp"
#include "tessera/base/random.hpp"

namespace tessera::test {
namespace {

using program::CollectiveKind;
using program::DeviceId;

enum Slot : std::uint32_t {
  whole_replica,
  half_replica,
  same_part,
  same_part_beside,
  everybody,
  run_of_replicas,
  run_beside,
  slots
};

constexpr std::array go_by_links{"ring-bi-odd", "multitree", "synthesised"};

/// Which algorithms half of the collectives have, where their groups can.
enum class Drawn : std::uint8_t { various, by_rectangles, by_links, by_runs };

const char* stream_of(Drawn drawn) {
  if (drawn == Drawn::by_links) return "replicas by links";
  if (drawn == Drawn::by_runs) return "runs of replicas";
  return drawn == Drawn::by_rectangles ? "replicas by rectangles" : "replicas on a site";
}

class ReplicaMaker {
 public:
  explicit ReplicaMaker(std::uint64_t index) : random_(index, random_stream("replicas")), made_(machine_of(network())) {
    lay_out();
  }
  /// On a cluster; by_runs: collectives over runs of replicas, and no links that several devices share.
  ReplicaMaker(std::uint64_t index, Drawn drawn)
      : random_(index, random_stream(stream_of(drawn))), made_(machine_of(network_of_own_links())), drawn_(drawn) {
    lay_out();
  }
  ReplicaMaker(std::uint64_t index, Site site, Drawn drawn = Drawn::various)
      : random_(index, random_stream(stream_of(drawn))), made_(std::move(site.machine)), drawn_(drawn) {
    lay_out(std::move(site.replicas));
    // Where replicas stand at edges, what is sent from one to the next takes other ways than from the last to the
    // first.
    meets_ = site.is_even ? below(6) > 0 : below(3) == 0;
  }

  ProgramCase make() {
    make_groups();
    for (std::uint32_t part = 0; part < width_; ++part) {
      main_.push_back(made_.block("main"));
      beside_.push_back(made_.block("beside"));
    }
    const std::uint64_t operations = 4 + below(14);
    for (std::uint64_t i = 0; i < operations; ++i) add_operation();
    if (below(3) == 0) add_collective(everybody);
    for (std::uint64_t i = below(4); i > 0; --i) add_operation();
    bind();
    return std::move(made_);
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }

  machine::Network network() {
    constexpr std::array<machine::NodeId, 3> sizes{1, 2, 4};
    const machine::NodeId gpus = sizes[below(3)];
    machine::ClusterShape shape = small_cluster(static_cast<machine::NodeId>(2 + below(gpus == 4 ? 5 : 8)), gpus);
    shape.inside =
        std::array{machine::Inside::nvswitch, machine::Inside::ring, machine::Inside::fully_connected}[below(3)];
    if (below(2) == 0) shape.nics_per_node = 1;
    if (below(3) == 0) {
      shape.nodes_per_leaf = static_cast<machine::NodeId>(1 + below(3));
      shape.spines = static_cast<machine::NodeId>(1 + below(2));
      shape.uplink_bandwidth = BytesPerSecond{below(2) == 0 ? 1'000'000'000 : 3'000'000'000};
      shape.uplink_latency = Duration{700};
    }
    machine::Machine machine;
    machine::build_cluster(shape, machine);
    places_ = machine.places;
    machine.network.packet = Bytes{100};
    return machine.network;
  }

  machine::Network network_of_own_links() {
    const machine::NodeId gpus = std::array<machine::NodeId, 3>{1, 2, 4}[below(3)];
    machine::ClusterShape shape = small_cluster(static_cast<machine::NodeId>(2 + 2 * below(4)), gpus);
    shape.inside = below(2) == 0 ? machine::Inside::nvswitch : machine::Inside::fully_connected;
    machine::Machine machine;
    machine::build_cluster(shape, machine);
    places_ = machine.places;
    machine.network.packet = Bytes{100};
    return machine.network;
  }

  void lay_out(std::vector<std::vector<DeviceId>> replicas) {
    made_.machine.device.cores = 8;
    made_.program.channels = below(4) == 0 ? 3 : 0;
    replicas_ = static_cast<std::uint32_t>(replicas.size());
    width_ = static_cast<std::uint32_t>(replicas.front().size());
    made_.program.alike = {{"replicas", std::move(replicas)}};
    for (program::DeviceProgram& device : made_.program.devices) device.groups.assign(slots, program::no_group);
  }

  /// Replica by replica, part by part, or some parts of a replica together and then those of the next one.
  void lay_out() {
    made_.machine.places = places_;
    made_.machine.devices_per_node = 1;
    made_.machine.device.cores = 8;
    made_.program.channels = below(4) == 0 ? 3 : 0;
    const DeviceId devices = made_.machine.devices();
    std::vector<std::uint32_t> counts;
    for (std::uint32_t count = 2; count <= devices; ++count)
      if (devices % count == 0) counts.push_back(count);
    replicas_ = counts[below(counts.size())];
    width_ = devices / replicas_;
    std::vector<std::uint32_t> together;
    for (std::uint32_t count = 1; count <= width_; ++count)
      if (width_ % count == 0) together.push_back(count);
    const std::uint32_t inner = together[below(together.size())];
    made_.program.alike = {{"replicas", {}}};
    made_.program.alike[0].parts.resize(replicas_);
    for (std::uint32_t replica = 0; replica < replicas_; ++replica) {
      for (std::uint32_t part = 0; part < width_; ++part)
        made_.program.alike[0].parts[replica].push_back(part % inner + inner * (replica + replicas_ * (part / inner)));
    }
    if (below(10) == 0) made_.machine.speed[below(devices)] = 0.5;
    for (program::DeviceProgram& device : made_.program.devices) device.groups.assign(slots, program::no_group);
  }

  void add_group(Slot slot, std::vector<DeviceId> members) {
    for (const DeviceId member : members)
      made_.program.devices[member].groups[slot] = static_cast<program::GroupId>(made_.program.groups.size());
    made_.group(std::move(members));
  }

  /// As they stand; of programs by rectangles or links at random.
  std::vector<std::uint32_t> order_of_parts() {
    std::vector<std::uint32_t> order(width_);
    std::iota(order.begin(), order.end(), 0);
    for (std::uint32_t left = width_; left > 1 && drawn_ != Drawn::various; --left)
      std::swap(order[left - 1], order[below(left)]);
    return order;
  }

  void make_groups() {
    const auto& replicas = made_.program.alike[0].parts;
    const std::vector<std::uint32_t> order = order_of_parts();
    for (const std::vector<DeviceId>& replica : replicas) {
      std::vector<DeviceId> whole;
      for (const std::uint32_t part : order) whole.push_back(replica[part]);
      add_group(whole_replica, whole);
      add_group(half_replica, {replica.begin(), replica.begin() + static_cast<std::ptrdiff_t>((width_ + 1) / 2)});
    }
    std::vector<DeviceId> all;
    for (std::uint32_t part = 0; part < width_; ++part) {
      std::vector<DeviceId> same;
      for (const std::vector<DeviceId>& replica : replicas) same.push_back(replica[part]);
      add_group(same_part, same);
      add_group(same_part_beside, same);
    }
    for (const std::vector<DeviceId>& replica : replicas) all.insert(all.end(), replica.begin(), replica.end());
    if (below(2) == 0) std::sort(all.begin(), all.end());
    add_group(everybody, all);
    if (drawn_ == Drawn::by_runs) make_runs();
  }

  /// As many replicas each, one after another, or at equal distances.
  void make_runs() {
    const auto& replicas = made_.program.alike[0].parts;
    std::vector<std::uint32_t> lengths;
    for (std::uint32_t length = 2; length < replicas_; ++length)
      if (replicas_ % length == 0) lengths.push_back(length);
    if (lengths.empty()) return;
    length_ = lengths[below(lengths.size())];
    const bool is_spread = below(4) == 0;
    for (const Slot slot : {run_of_replicas, run_beside}) {
      for (std::uint32_t part = 0; part < width_; ++part) {
        for (std::uint32_t run = 0; run < replicas_ / length_; ++run) {
          std::vector<DeviceId> members;
          for (std::uint32_t i = 0; i < length_; ++i)
            members.push_back(replicas[is_spread ? run + i * (replicas_ / length_) : run * length_ + i][part]);
          add_group(slot, std::move(members));
        }
      }
    }
  }

  program::AlgorithmId draw_algorithm(CollectiveKind kind) {
    if (drawn_ == Drawn::by_links && kind != CollectiveKind::all_to_all)
      return program::algorithm_index(go_by_links[below(go_by_links.size())]);
    if (drawn_ == Drawn::by_rectangles && kind != CollectiveKind::all_to_all) {
      if (made_.machine.grid.stacked) return program::algorithm_index("torus");
      return program::algorithm_index(below(2) == 0 ? "mesh" : "mesh-scatter");
    }
    std::vector<std::string> names = program::built_in_collectives().names_for(kind);
    // Programs of which tests know the index were drawn before the mesh algorithms had other kinds, before there were
    // some that go by links, and before "torus".
    std::erase_if(names, [&](const std::string& name) {
      return (kind != CollectiveKind::all_reduce && name.starts_with("mesh")) || name == "torus" ||
             std::ranges::find(go_by_links, name) != go_by_links.end();
    });
    return program::algorithm_index(names[below(names.size())]);
  }

  program::Collective draw_collective(Slot slot) {
    static constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                      CollectiveKind::all_gather, CollectiveKind::all_to_all};
    const std::array<std::int64_t, 3> even{120, 840, 5040};
    const std::int64_t bytes = even[below(3)] * replicas_ + (slot >= same_part && below(16) == 0 ? 1 : 0);
    const CollectiveKind kind = kinds[below(kinds.size())];
    program::Collective drawn = collective(kind, bytes, "ring", slot);
    if (below(2) == 0) drawn.algorithm = draw_algorithm(kind);
    for (program::GroupId id = 0; id < made_.program.groups.size(); ++id) {
      const program::Group& group = made_.program.groups[id];
      // Links differ from group to group: those that do not take part do not count.
      if (drawn_ == Drawn::by_links && made_.program.devices[group.members.front()].groups[slot] != id) continue;
      if (!program::check_collective(drawn, group, made_.machine).empty())
        drawn.algorithm = program::algorithm_index(kind == CollectiveKind::all_to_all ? "direct" : "ring");
    }
    return drawn;
  }

  void add_collective(Slot slot) {
    program::Collective drawn = draw_collective(slot);
    if (slot >= run_of_replicas && below(2) == 0) {
      drawn.kind = CollectiveKind::all_to_all;
      drawn.algorithm = program::algorithm_index("direct");
    }
    const std::uint32_t members = slot == half_replica ? (width_ + 1) / 2 : width_;
    const bool one_alone = slot != whole_replica && slot != half_replica && slot != everybody && below(3) == 0;
    const std::uint64_t chosen = below(members);
    for (std::uint32_t part = 0; part < members; ++part) {
      if (one_alone && part != chosen) continue;
      (slot == same_part_beside || slot == run_beside ? beside_ : main_)[part].collective(drawn);
    }
  }

  void add_operation() {
    const std::uint64_t kind = below(12);
    if (length_ > 0 && kind % 2 == 0) return add_collective(below(3) == 0 ? run_beside : run_of_replicas);
    if (kind < 4) return add_collective(below(3) == 0 ? half_replica : whole_replica);
    if (kind < 7 && meets_) return add_collective(below(3) == 0 ? same_part_beside : same_part);
    const auto part = static_cast<std::uint32_t>(below(width_)), other = static_cast<std::uint32_t>(below(width_));
    if (kind < 10) {
      (below(3) == 0 ? beside_ : main_)[part].compute(work(static_cast<Time>(1 + below(3'000'000))));
      return;
    }
    if (part == other) return;
    const Bytes bytes{static_cast<std::int64_t>(below(3'000))};
    main_[part].send(other, bytes);
    main_[other].receive(part, bytes);
  }

  void bind() {
    for (std::uint32_t part = 0; part < width_; ++part) {
      const std::vector<program::BlockId> both{main_[part].done(), beside_[part].done()};
      for (const std::vector<DeviceId>& replica : made_.program.alike[0].parts) {
        made_.program.devices[replica[part]].streams = both;
        made_.program.devices[replica[part]].peers = replica;
      }
    }
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  std::vector<machine::DevicePlace> places_;
  ProgramCase made_;
  std::uint32_t replicas_ = 1, width_ = 1;
  std::uint32_t length_ = 0;  // replicas in a run; 0: there are no runs
  Drawn drawn_ = Drawn::various;
  bool meets_ = true;                                 // replicas send to each other before the end
  std::vector<program::BlockBuilder> main_, beside_;  // by part
};

}  // namespace

ProgramCase random_replicas(std::uint64_t index) { return ReplicaMaker(index).make(); }

ProgramCase random_runs(std::uint64_t index) { return ReplicaMaker(index, Drawn::by_runs).make(); }

ProgramCase random_replicas_on(SiteKind kind, std::uint64_t index) {
  return ReplicaMaker(index, random_site(kind, index)).make();
}

ProgramCase random_rectangles(SiteKind kind, std::uint64_t index) {
  return ReplicaMaker(index, random_site(kind, index), Drawn::by_rectangles).make();
}

ProgramCase random_by_links(SiteKind kind, std::uint64_t index) {
  return ReplicaMaker(index, random_site(kind, index), Drawn::by_links).make();
}

std::uint64_t collectives_by_plan(const ProgramCase& made) {
  std::uint64_t count = 0;
  for (const program::Collective& one : made.program.collectives) {
    const auto& slots_of_first = made.program.devices[made.program.alike[0].parts[0][0]].groups;
    const program::Group& first = made.program.groups[slots_of_first[one.group_slot]];
    count += program::lowering_of(one, first, made.machine).plan != nullptr ? 1 : 0;
  }
  return count;
}

}  // namespace tessera::test
