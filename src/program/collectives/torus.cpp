// Torus: rings along x, then along y, then along z, over less and less data: the bucket algorithm of Chan, Heimlich,
// Purkayastha and van de Geijn, "Collective communication: theory, practice, and experience", Concurrency and
// Computation 19(13), 2007, section 7, on grids of more than one dimension.
//
// A reduce-scatter adds up along x what belongs to whole columns, along y what belongs to the members that share column
// and row, along z what belongs to single members. An all-gather goes back, z, y, x, and an all-reduce is one after the
// other. Each member sends S (1 - 1/N) both ways. A dimension comes the earlier the more it carries, so links between
// planes, which may be slower, carry the least.
#include "algorithms.hpp"
#include "box.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

/// What belongs to the part of the box at a position of a member's ring along a dimension: all members of a column, all
/// that share the member's column and a row, or one.
Data part_of(const CollectiveCall& call, const BoxPlace& place, std::size_t dimension, std::uint32_t position) {
  const Box& box = *place.box;
  std::array<std::uint32_t, 3> at = place.at;
  at[dimension] = box.order(dimension).die_at(position);
  if (dimension == 0) return chunks_of(*call.collective, call.size, box.in_column(at[0]));
  if (dimension == 1) return chunks_of(*call.collective, call.size, box.in_line(at[0], at[1]));
  return chunk_of(*call.collective, call.size, box.rank_at(at));
}

class Torus final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "torus"; }
  std::string help() const override {
    return "rings along x, then y, then z of a mesh or torus, each over the share that the one before has left; an "
           "all-gather the other way round";
  }
  bool supports(CollectiveKind kind) const override { return has_rectangle_steps(kind); }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    return check_box(name(), group, machine);
  }
  std::shared_ptr<const GroupPlan> plan(const Group& group, const machine::Machine& machine) const override {
    return box_of(group, machine);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return (call.collective->kind == CollectiveKind::all_reduce ? 2 : 1) * steps_of_pass(BoxPlace(call));
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const BoxPlace at(call);
    const CollectiveKind kind = call.collective->kind;
    const std::uint32_t pass = steps_of_pass(at);
    if (kind == CollectiveKind::reduce_scatter || (kind == CollectiveKind::all_reduce && index < pass))
      return reduce_scatter(call, at, index, step);
    all_gather(call, at, kind == CollectiveKind::all_reduce ? index - pass : index, step);
  }

  // All lines along a dimension begin together, since those before take as long as each other.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto box = box_of(group, machine);
    double sum = 0;
    for (std::size_t dimension = 0; dimension < 3; ++dimension)
      sum += time_along(*box, dimension, collective, group, machine);
    return (collective.kind == CollectiveKind::all_reduce ? 2 : 1) * sum;
  }

 private:
  static std::uint32_t steps_of_pass(const BoxPlace& at) {
    return ring_pass(at.size(0)) + ring_pass(at.size(1)) + ring_pass(at.size(2));
  }

  static void reduce_scatter(const CollectiveCall& call, const BoxPlace& at, std::uint32_t index, Step& step) {
    std::size_t dimension = 0;
    while (index >= ring_pass(at.size(dimension))) index -= ring_pass(at.size(dimension++));
    const auto part = [&](std::uint32_t position) { return part_of(call, at, dimension, position); };
    ring_reduce_scatter(at.ring(dimension), index, part, step);
  }

  static void all_gather(const CollectiveCall& call, const BoxPlace& at, std::uint32_t index, Step& step) {
    std::size_t dimension = 2;
    while (index >= ring_pass(at.size(dimension))) index -= ring_pass(at.size(dimension--));
    const auto part = [&](std::uint32_t position) { return part_of(call, at, dimension, position); };
    ring_all_gather(at.ring(dimension), index, part, step);
  }

  /// Of one pass along a dimension: the slowest line, with the largest part.
  static double time_along(const Box& box, std::size_t dimension, const Collective& collective, const Group& group,
                           const machine::Machine& machine) {
    const std::uint32_t size = box.size(dimension);
    if (size < 2) return 0;
    const auto members = static_cast<std::uint32_t>(group.members.size());
    const std::uint32_t parts = dimension == 0 ? size : dimension == 1 ? box.size(0) * size : members;
    const std::int64_t largest = largest_part(box, dimension, collective, members, parts);
    const RingOrder order = box.order(dimension);
    std::vector<double> edges(size);
    double slowest = 0;
    for (std::uint32_t cell = 0; cell < members; ++cell) {
      std::array<std::uint32_t, 3> at{cell % box.size(0), cell / box.size(0) % box.size(1),
                                      cell / (box.size(0) * box.size(1))};
      if (at[dimension] != 0) continue;  // a line by its first member
      const auto member = [&](std::uint32_t position) {
        at[dimension] = order.die_at(position);
        return group.members[box.rank_at(at)];
      };
      for (std::uint32_t i = 0; i < size; ++i) {
        const DeviceId from = member(i), to = member((i + 1) % size);
        edges[i] = message_time(machine, from, to, Bytes{largest});
      }
      slowest = std::max(slowest, longest_run(edges, ring_pass(size)));
    }
    return slowest;
  }

  static std::int64_t largest_part(const Box& box, std::size_t dimension, const Collective& collective,
                                   std::uint32_t members, std::uint32_t parts) {
    std::int64_t largest = chunk_of(collective, members, 0).bytes;
    for (std::uint32_t part = 0; dimension < 2 && part < parts; ++part) {
      const auto ranks = dimension == 0 ? box.in_column(part) : box.in_line(part / box.size(1), part % box.size(1));
      largest = std::max(largest, chunks_of(collective, members, ranks).bytes);
    }
    return largest;
  }
};

}  // namespace

AlgorithmPointer make_torus() { return std::make_shared<Torus>(); }

}  // namespace tessera::program
