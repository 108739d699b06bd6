// Mesh with scattering: reduce-scatter over every row, all-reduce of the share over every column, all-gather over every
// row. Columns carry 1/columns of the data that `mesh` sends over them. Rings as in rectangle.hpp.
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
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }
  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    return check_rectangle(name(), group, machine);
  }

  std::uint32_t steps(const CollectiveCall& call) const override {
    const RectanglePlace at(call);
    return 2 * ring_pass(at.columns) + 2 * ring_pass(at.rows);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const RectanglePlace at(call);
    const RingPlace in_row = at.row_ring();
    const RingPlace in_column = at.column_ring();
    const Bytes element = call.collective->element;
    const auto share = [&](std::uint32_t chunk) {
      return chunk_of(whole_of(*call.collective), element, in_row.size, chunk);
    };
    const auto part = [&](std::uint32_t chunk) {
      return chunk_of(share(in_row.position), element, in_column.size, chunk);
    };
    if (index < ring_pass(in_row.size)) return ring_reduce_scatter(in_row, index, share, step);
    index -= ring_pass(in_row.size);
    if (index < 2 * ring_pass(in_column.size)) return ring_all_reduce(in_column, index, part, step);
    ring_all_gather(in_row, index - 2 * ring_pass(in_column.size), share, step);
  }
};

}  // namespace

AlgorithmPointer make_mesh_scatter() { return std::make_shared<MeshScatter>(); }

}  // namespace tessera::program
