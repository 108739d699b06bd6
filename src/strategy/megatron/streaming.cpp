#include "streaming.hpp"

namespace tessera::strategy::megatron {
namespace {

class LayerByLayer {
 public:
  LayerByLayer(program::Program& program, const Cut& cut, StageBlocks& blocks, std::uint32_t expert_rank,
               std::uint32_t micro_batches)
      : program_(program),
        cut_(cut),
        blocks_(blocks),
        adding_cut_(adding(cut)),
        adding_(program, adding_cut_),
        at_{0, 0, expert_rank},
        micro_batches_(micro_batches) {}

  void write(program::BlockBuilder& main) {
    const std::vector<LayerRun> runs = blocks_.runs(at_);
    main.call(forward(blocks_.embedding().forward));
    for (const LayerRun& run : runs) main.call(forward(blocks_.layer(at_, run).forward), run.layers);
    main.call(head());
    if (!cut_.training()) return;
    for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
      const Unit unit = layer_unit(run->kind);
      main.call(backward(unit, blocks_.layer(at_, *run).backward, adding_.layer(at_, *run).backward), run->layers);
    }
    main.call(backward(Unit::embedding, blocks_.embedding().backward, adding_.embedding().backward));
  }

 private:
  /// Gradients of the first micro-batch are written, those of the others are added to them.
  static Cut adding(Cut cut) {
    cut.adds_gradients = true;
    return cut;
  }

  program::BlockId forward(program::BlockId pass) {
    Writer unit(program_, cut_, "unit forward, all micro-batches");
    take_unit(unit);
    unit.builder().call(pass, micro_batches_);
    give_up_unit(unit);
    return unit.builder().done();
  }

  program::BlockId backward(Unit which, program::BlockId first, program::BlockId others) {
    Writer unit(program_, cut_, "unit backward, all micro-batches");
    take_unit(unit);
    take_gradient_room(unit);
    unit.builder().call(first).call(others, micro_batches_ - 1);
    give_up_unit(unit);
    convert_part(unit, which);
    return unit.builder().done();
  }

  /// Forward and backward pass of each micro-batch together, so that logits of one are kept.
  program::BlockId head() {
    const EdgeBlocks& once = blocks_.head();
    if (!cut_.training()) return forward(once.forward);
    Writer both(program_, cut_, "head forward and backward");
    both.builder().call(once.forward).call(once.backward);
    Writer again(program_, cut_, "head forward and backward");
    again.builder().call(once.forward).call(adding_.head().backward);
    return backward(Unit::head, both.builder().done(), again.builder().done());
  }

  /// Where the sum of gradients stays on the device in another precision than it was summed in. Behind the unit rather
  /// than behind its sum: nobody else computes on the device.
  void convert_part(Writer& unit, Unit which) const {
    const Options& options = cut_.options;
    if (options.weights_on_hosts() || options.bytes_to_reduce() == options.gradient_bytes) return;
    const std::int64_t part = part_of_unit(cut_, which);
    const auto op = workload::streaming(workload::OperatorKind::elementwise, "gradients' part converted",
                                        Bytes{options.bytes_to_reduce() * part}, Bytes{options.gradient_bytes * part},
                                        cut_.workload->datatype);
    unit.run({op}, Activity::backward);
  }

  program::Program& program_;
  const Cut& cut_;
  StageBlocks& blocks_;
  Cut adding_cut_;
  StageBlocks adding_;
  ChunkPlace at_;
  std::uint32_t micro_batches_;
};

}  // namespace

UnitUses uses_by_layer(const Cut& cut) {
  UnitUses uses;
  for (const Unit unit : units_of(cut, 0, 0)) {
    const bool is_reduced = cut.training() && unit == Unit::head;
    uses.push_back({unit, true, is_reduced, is_reduced});
  }
  if (!cut.training()) return uses;
  const UnitUses forward(uses.begin(), uses.end() - 1);  // without the head
  for (auto use = forward.rbegin(); use != forward.rend(); ++use) uses.push_back({use->unit, true, true, true});
  return uses;
}

void write_layer_by_layer(program::Program& program, Writer& main, StageBlocks& blocks, std::uint32_t expert_rank,
                          std::uint32_t micro_batches) {
  LayerByLayer(program, main.cut(), blocks, expert_rank, micro_batches).write(main.builder());
}

}  // namespace tessera::strategy::megatron
