// Mesh: an all-reduce of the whole buffer over every row, then over every column, each a ring snaked over the row
// (rectangle.hpp).
#include "algorithms.hpp"
#include "rectangle.hpp"

namespace tessera::program {
namespace {

class Mesh final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "mesh"; }
  std::string help() const override {
    return "rows, then columns of a mesh or torus, each all-reduces the whole buffer on a snaked ring";
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
    const bool in_row = index < 2 * ring_pass(at.columns);
    const RingPlace ring = in_row ? at.row_ring() : at.column_ring();
    const auto data_of = [&](std::uint32_t chunk) { return chunk_of(*call.collective, ring.size, chunk); };
    ring_all_reduce(ring, in_row ? index : index - 2 * ring_pass(at.columns), data_of, step);
  }
};

}  // namespace

AlgorithmPointer make_mesh() { return std::make_shared<Mesh>(); }

}  // namespace tessera::program
