// Mesh: an all-reduce of the whole buffer over every row, then over every column, each a ring snaked over the row
// (rectangle.hpp). An all-gather goes the same way: rows gather the chunks of their members, then columns pass on what
// whole rows have gathered. A reduce-scatter is its mirror image: columns scatter the sums of whole rows, then rows
// those of single members.
#include "algorithms.hpp"
#include "rectangle.hpp"

namespace tessera::program {
namespace {

class Mesh final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "mesh"; }
  std::string help() const override {
    return "rows, then columns of a mesh or torus on snaked rings, each all-reduces the whole buffer; reduce-scatter "
           "the other way round";
  }
  bool supports(CollectiveKind kind) const override { return has_rectangle_steps(kind); }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    return check_rectangle(name(), group, machine);
  }
  std::shared_ptr<const GroupPlan> plan(const Group& group, const machine::Machine& machine) const override {
    return rectangle_of(group, machine, Lines::rows);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return RectanglePlace(call).steps(call.collective->kind);
  }

  // Every column begins when its dies have done their rows, all at once.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto rectangle = rectangle_of(group, machine, Lines::rows);
    const RectangleTimes times(*rectangle, group, machine);
    if (collective.kind != CollectiveKind::all_reduce) return times.by_lines(collective, Lines::rows);
    const auto both_ways = [&](Lines lines, std::uint32_t dies) {
      return times.in_lines(lines, 2 * ring_pass(dies), chunk_of(collective, dies, 0).bytes);
    };
    return both_ways(Lines::rows, rectangle->columns) + both_ways(Lines::columns, rectangle->rows);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const RectanglePlace at(call);
    const CollectiveKind kind = call.collective->kind;
    if (kind == CollectiveKind::reduce_scatter) return lines_reduce_scatter(call, at, Lines::rows, index, step);
    if (kind == CollectiveKind::all_gather) return lines_all_gather(call, at, Lines::rows, index, step);
    const bool in_row = index < 2 * ring_pass(at.columns);
    const RingPlace ring = in_row ? at.row_ring() : at.column_ring();
    const auto data_of = [&](std::uint32_t chunk) { return chunk_of(*call.collective, ring.size, chunk); };
    ring_all_reduce(ring, in_row ? index : index - 2 * ring_pass(at.columns), data_of, step);
  }
};

}  // namespace

AlgorithmPointer make_mesh() { return std::make_shared<Mesh>(); }

}  // namespace tessera::program
