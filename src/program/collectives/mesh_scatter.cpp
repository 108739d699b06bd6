// Mesh with scattering: reduce-scatter over every row, all-reduce of the share over every column, all-gather over every
// row. Columns carry 1/columns of the data that `mesh` sends over them. Rings as in rectangle.hpp. A reduce-scatter and
// an all-gather are the two halves, but that the share of a column is the chunks of its members: rows scatter the sums
// of whole columns, then columns those of single members; and back.
#include "algorithms.hpp"
#include "rectangle.hpp"

namespace tessera::program {
namespace {

class MeshScatter final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "mesh-scatter"; }
  std::string help() const override {
    return "reduce-scatter in rows, all-reduce of the share in columns, all-gather in rows of a mesh or torus";
  }
  bool supports(CollectiveKind kind) const override { return has_rectangle_steps(kind); }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    return check_rectangle(name(), group, machine);
  }
  std::shared_ptr<const GroupPlan> plan(const Group& group, const machine::Machine& machine) const override {
    return rectangle_of(group, machine, Lines::columns);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    return RectanglePlace(call).steps(call.collective->kind);
  }

  // The rings in rows rest, all members of a row as long as each other, while the columns reduce.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    const auto rectangle = rectangle_of(group, machine, Lines::columns);
    const RectangleTimes times(*rectangle, group, machine);
    if (collective.kind != CollectiveKind::all_reduce) return times.by_lines(collective, Lines::columns);
    const Data share = chunk_of(collective, rectangle->columns, 0);
    return times.in_lines(Lines::rows, 2 * ring_pass(rectangle->columns), share.bytes) +
           times.in_lines(Lines::columns, 2 * ring_pass(rectangle->rows),
                          chunk_of(share, collective.element, rectangle->rows, 0).bytes);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const RectanglePlace at(call);
    const CollectiveKind kind = call.collective->kind;
    if (kind == CollectiveKind::reduce_scatter) return lines_reduce_scatter(call, at, Lines::columns, index, step);
    if (kind == CollectiveKind::all_gather) return lines_all_gather(call, at, Lines::columns, index, step);
    all_reduce(call, at, index, step);
  }

 private:
  static void all_reduce(const CollectiveCall& call, const RectanglePlace& at, std::uint32_t index, Step& step) {
    const auto share = [&](std::uint32_t chunk) { return chunk_of(*call.collective, at.columns, chunk); };
    const auto part = [&, own = share(at.position_in_row())](std::uint32_t chunk) {
      return chunk_of(own, call.collective->element, at.rows, chunk);
    };
    if (index < ring_pass(at.columns)) return ring_reduce_scatter(at.row_ring(), index, share, step);
    index -= ring_pass(at.columns);
    if (index < 2 * ring_pass(at.rows)) return ring_all_reduce(at.column_ring(), index, part, step);
    ring_all_gather(at.row_ring(), index - 2 * ring_pass(at.rows), share, step);
  }
};

}  // namespace

AlgorithmPointer make_mesh_scatter() { return std::make_shared<MeshScatter>(); }

}  // namespace tessera::program
