#include "layer_blocks.hpp"

#include "experts.hpp"
#include "parallel_linear.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerOperators;
using workload::OperatorSet;
using workload::Recomputation;

/// Bytes that a layer holds between its forward and its backward pass, and what it holds besides during the latter.
struct LayerMemory {
  LayerMemory(const LayerOperators& layer, Recomputation recomputation)
      : kept(workload::activation_bytes(layer, recomputation)),
        core(recomputation == Recomputation::selective ? layer.attention_core.kept_inside : 0),
        recomputed(workload::activation_bytes(layer, Recomputation::none) - core - kept) {}
  std::int64_t kept;
  std::int64_t core;        ///< selective: made again for the backward pass of the attention core
  std::int64_t recomputed;  ///< full: made again for the backward pass of the layer
};

void mlp_forward(Writer& writer, const LayerOperators& layer, bool moe, Activity activity) {
  if (moe) return experts_forward(writer, layer, activity);
  column_forward(writer, layer.fc1, activity);
  writer.run(layer.activation.forward, activity);
  row_forward(writer, layer.fc2, activity);
}

void mlp_backward(Writer& writer, const LayerOperators& layer, bool moe) {
  if (moe) return experts_backward(writer, layer);
  row_backward(writer, layer.fc2);
  plain_backward(writer, layer.activation);
  column_backward(writer, layer.fc1);
}

void layer_forward(Writer& writer, const LayerOperators& layer, bool moe, Activity activity) {
  writer.run(layer.attention_norm.forward, activity);
  column_forward(writer, layer.qkv, activity);
  writer.run(layer.attention_core.forward, activity);
  row_forward(writer, layer.projection, activity);
  writer.run(layer.attention_residual.forward, activity);
  writer.run(layer.mlp_norm.forward, activity);
  mlp_forward(writer, layer, moe, activity);
  writer.run(layer.mlp_residual.forward, activity);
}

void layer_backward(Writer& writer, const LayerOperators& layer, bool moe, const LayerMemory& memory) {
  plain_backward(writer, layer.mlp_residual);
  mlp_backward(writer, layer, moe);
  plain_backward(writer, layer.mlp_norm);
  plain_backward(writer, layer.attention_residual);
  row_backward(writer, layer.projection);
  if (memory.core > 0) {
    writer.builder().allocate(MemoryCategory::activations, memory.core);
    writer.run(layer.attention_core.forward, Activity::recomputation);
  }
  plain_backward(writer, layer.attention_core);
  writer.builder().release(MemoryCategory::activations, memory.core);
  column_backward(writer, layer.qkv);
  plain_backward(writer, layer.attention_norm);
}

program::BlockId backward_block(program::Program& program, const Cut& cut, const LayerOperators& layer, bool moe,
                                const std::string& name) {
  const LayerMemory memory(layer, cut.options.recomputation);
  Writer writer(program, cut, name + " backward");
  if (cut.options.recomputation == Recomputation::full) {
    writer.builder().allocate(MemoryCategory::activations, memory.recomputed);
    layer_forward(writer, layer, moe, Activity::recomputation);
  }
  layer_backward(writer, layer, moe, memory);
  writer.builder().release(MemoryCategory::activations, memory.kept + memory.recomputed);
  return writer.builder().done();
}

}  // namespace

LayerBlocks add_layer(program::Program& program, const Cut& cut, bool moe, std::uint32_t expert_rank,
                      std::int64_t keys) {
  const LayerOperators layer = cut.layer(moe, expert_rank, keys);
  const std::string name = moe ? "MoE layer" : "layer";
  LayerBlocks blocks;
  Writer writer(program, cut, name + " forward");
  layer_forward(writer, layer, moe, Activity::forward);
  if (cut.training()) {
    writer.builder().allocate(MemoryCategory::activations, LayerMemory(layer, cut.options.recomputation).kept);
  }
  blocks.forward = writer.builder().done();
  if (cut.training()) blocks.backward = backward_block(program, cut, layer, moe, name);
  return blocks;
}

}  // namespace tessera::strategy::megatron
