#include "random_islands.hpp"

#include <algorithm>

#include "tessera/base/random.hpp"

namespace tessera::test {
namespace {

using program::CollectiveKind;
using program::DeviceId;

class IslandMaker {
 public:
  IslandMaker(std::uint64_t index, machine::Machine machine, std::vector<std::vector<DeviceId>> parts)
      : random_(index, random_stream("islands")), made_(std::move(machine)), parts_(std::move(parts)) {
    std::vector<DeviceId> all;
    for (const std::vector<DeviceId>& part : parts_) {
      made_.group(part);
      all.insert(all.end(), part.begin(), part.end());
    }
    std::ranges::sort(all);
    made_.group(all);
    for (const std::vector<DeviceId>& part : parts_) made_.group(part);  // for the streams beside
  }

  ProgramCase make() {
    for (std::vector<DeviceId>& part : parts_) {
      const double speed = std::array{1.0, 1.0, 0.9, 0.5}[below(4)];
      for (const DeviceId device : part) made_.machine.speed[device] = below(8) == 0 ? 0.75 : speed;
    }
    begin();
    for (std::uint64_t phase = 1 + below(3); phase > 0; --phase) {
      go_round();
      if (below(4) > 0) meet();
    }
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      for (std::size_t member = 0; member < parts_[part].size(); ++member) {
        std::vector<program::BlockId> streams{main_[part][member].done()};
        if (has_beside_) streams.push_back(beside_[part][member].done());
        made_.bind(parts_[part][member], std::move(streams), 2);
      }
    }
    return std::move(made_);
  }

 private:
  using Blocks = std::vector<std::vector<program::BlockBuilder>>;  // by part and member

  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  [[nodiscard]] std::uint32_t everybody() const { return static_cast<std::uint32_t>(parts_.size()); }

  Blocks blocks(const std::string& name) {
    Blocks blocks(parts_.size());
    for (std::size_t part = 0; part < parts_.size(); ++part)
      for (std::size_t member = 0; member < parts_[part].size(); ++member) blocks[part].push_back(made_.block(name));
    return blocks;
  }

  void begin() {
    has_beside_ = below(3) == 0;
    main_ = blocks("main");
    if (has_beside_) beside_ = blocks("beside");
  }

  /// Each part a loop of its own: of the same steps, and mostly as many rounds.
  void go_round() {
    const std::uint64_t steps = 1 + below(3), rounds = 4 + below(60), inner = below(3) == 0 ? 2 + below(9) : 1;
    const bool is_beside = has_beside_ && below(2) == 0, is_even = below(3) > 0;
    const std::uint64_t first = draws_;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      draws_ = first;
      const std::uint64_t times = is_even ? rounds : 1 + rounds * (part + 1) / 2;
      add_loop(part, steps, static_cast<std::uint32_t>(times), static_cast<std::uint32_t>(inner), is_beside);
    }
  }

  void add_loop(std::size_t part, std::uint64_t steps, std::uint32_t rounds, std::uint32_t inner, bool is_beside) {
    const std::vector<DeviceId>& members = parts_[part];
    std::vector<program::BlockBuilder> round, side;
    for (std::size_t member = 0; member < members.size(); ++member) {
      round.push_back(made_.block("round"));
      side.push_back(made_.block("round beside"));
    }
    for (std::uint64_t step = 0; step < steps; ++step) add_step(part, round);
    if (is_beside) add_side(part, round, side);
    for (std::size_t member = 0; member < members.size(); ++member) {
      program::BlockBuilder loop = made_.block("loop"), side_loop = made_.block("loop beside");
      loop.call(round[member].done(), inner).compute(work(1'000));
      main_[part][member].call(loop.done(), rounds);
      if (!is_beside) continue;
      side_loop.call(side[member].done(), inner);
      beside_[part][member].call(side_loop.done(), rounds);
    }
  }

  void add_step(std::size_t part, std::vector<program::BlockBuilder>& round) {
    const std::vector<DeviceId>& members = parts_[part];
    const std::uint64_t kind = below(3);
    const auto bytes = static_cast<std::int64_t>(1 + below(900));
    const auto time = static_cast<Time>(1'000 * (1 + below(3'000)));
    const bool is_even = below(2) == 0;
    const CollectiveKind reduces =
        std::array{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather}[below(3)];
    for (std::size_t member = 0; member < members.size(); ++member) {
      round[member].compute(work(is_even ? time : time + 700 * static_cast<Time>(member)));
      if (members.size() == 1) continue;
      if (kind == 0) {
        round[member].collective(collective(reduces, bytes, "ring", static_cast<std::uint32_t>(part)));
      } else if (kind == 1) {  // down a pipeline
        if (member > 0) round[member].receive(members[member - 1], Bytes{bytes});
        if (member + 1 < members.size()) round[member].send(members[member + 1], Bytes{bytes});
      }
    }
  }

  /// Another stream reduces while the main one goes on, which waits for it at the end of the round.
  void add_side(std::size_t part, std::vector<program::BlockBuilder>& round, std::vector<program::BlockBuilder>& side) {
    const auto bytes = static_cast<std::int64_t>(1 + below(900));
    const auto time = static_cast<Time>(1'000 * (1 + below(3'000)));
    for (std::size_t member = 0; member < round.size(); ++member) {
      round[member].signal(0).compute(work(time)).wait(1);
      side[member].wait(0);
      if (round.size() > 1)
        side[member].collective(
            collective(CollectiveKind::all_reduce, bytes, "ring", everybody() + 1 + static_cast<std::uint32_t>(part)));
      side[member].signal(1);
    }
  }

  void meet() {
    const std::uint64_t kind = below(3), from = below(parts_.size()), to = below(parts_.size());
    const auto bytes = static_cast<std::int64_t>(1 + below(2'000));
    if (kind == 0 && from != to) {  // in its midst, perhaps
      main_[from][0].send(parts_[to][0], Bytes{bytes});
      main_[to].back().compute(work(1'000));
      main_[to][0].receive(parts_[from][0], Bytes{bytes});
      return;
    }
    for (std::vector<program::BlockBuilder>& part : main_)
      for (program::BlockBuilder& member : part)
        member.collective(collective(CollectiveKind::all_reduce, bytes, kind == 1 ? "ring" : "direct", everybody()));
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  ProgramCase made_;
  std::vector<std::vector<DeviceId>> parts_;
  Blocks main_, beside_;
  bool has_beside_ = false;
};

}  // namespace

ProgramCase random_islands(std::uint64_t index) {
  const KeyedRandom random(index, random_stream("islands on a cluster"));
  const auto nodes = static_cast<machine::NodeId>(2 + random.below(0, 4));
  const auto gpus = static_cast<machine::NodeId>(1 + random.below(1, 4));
  machine::ClusterShape shape = small_cluster(nodes, gpus);
  if (random.below(2, 2) == 0) shape.nics_per_node = 1;
  if (gpus == 3) shape.inside = machine::Inside::ring;
  std::vector<std::vector<DeviceId>> parts(nodes);
  for (DeviceId device = 0; device < nodes * gpus; ++device) parts[device / gpus].push_back(device);
  machine::Machine machine;
  machine::build_cluster(shape, machine);
  machine.network.packet = Bytes{100};
  return IslandMaker(index, machine_of(std::move(machine.network)), std::move(parts)).make();
}

ProgramCase random_islands_on(SiteKind kind, std::uint64_t index) {
  Site site = random_site(kind, index);
  std::vector<std::vector<DeviceId>> parts = std::move(site.replicas);
  if (parts.size() == 1 && parts[0].size() > 1) {
    const auto half = parts[0].begin() + static_cast<std::ptrdiff_t>(parts[0].size() / 2);
    parts.emplace_back(half, parts[0].end());
    parts[0].erase(half, parts[0].end());
  }
  return IslandMaker(index, std::move(site.machine), std::move(parts)).make();
}

}  // namespace tessera::test
