#include "edge_blocks.hpp"

#include <algorithm>

#include "section_run.hpp"
#include "sharding.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::OperatorSet;

program::BlockId embedding_forward(program::Program& program, const Cut& cut,
                                   const workload::EmbeddingOperators& embedding) {
  Writer writer(program, cut, "embedding forward");
  begin_forward(writer, Unit::embedding);
  writer.run(embedding.lookup.forward, Activity::forward);
  if (cut.model->vocabulary > 0)
    writer.tensor_collective(CollectiveKind::all_reduce, cut.model->hidden, "embedding all-reduce");
  writer.run(embedding.combine.forward, Activity::forward);
  if (cut.training()) {
    writer.builder().allocate(MemoryCategory::activations, Bytes{embedding.lookup.kept() + embedding.combine.kept()});
  }
  end_forward(writer);
  return writer.builder().done();
}

program::BlockId embedding_backward(program::Program& program, const Cut& cut,
                                    const workload::EmbeddingOperators& embedding, bool is_beside = false) {
  Writer writer(program, cut, "embedding backward");
  if (is_beside) writer.beside_main();
  begin_backward(writer, Unit::embedding);
  if (cut.uses_sequence_parallelism() && cut.model->vocabulary > 0) {
    // The cut along the sequence is made behind the embedding; its gradient is gathered before it.
    writer.tensor_collective(CollectiveKind::all_gather, cut.model->hidden, "embedding all-gather");
  }
  plain_backward(writer, embedding.combine);
  plain_backward(writer, embedding.lookup);
  writer.builder().release(MemoryCategory::activations, Bytes{embedding.lookup.kept() + embedding.combine.kept()});
  end_backward(writer, Unit::embedding);
  return writer.builder().done();
}

std::int64_t kept(const workload::HeadOperators& head) {
  std::int64_t bytes = head.norm.kept() + head.logits.kept();
  for (const OperatorSet& set : head.loss) bytes += set.kept();
  return bytes;
}

program::BlockId head_forward(program::Program& program, const Cut& cut, const workload::HeadOperators& head) {
  Writer writer(program, cut, "head forward");
  begin_forward(writer, Unit::head);
  run_forward(writer, head.norm, Activity::forward);
  if (!cut.training()) {
    // The last token of each sequence alone, which is on one tensor rank under sequence parallelism.
    const std::int64_t bytes = cut.element() * cut.options.micro_batch * cut.model->hidden;
    if (cut.uses_sequence_parallelism()) {
      writer.collective(CollectiveKind::all_reduce, tensor_group, bytes, cut.tensor_element(),
                        Activity::tensor_communication, "head all-reduce");
    }
    writer.run(head.logits.forward, Activity::forward);
    end_forward(writer);
    return writer.builder().done();
  }
  column_forward(writer, head.logits, Activity::forward);
  if (cut.workload->loss == workload::Loss::gathered && cut.model->vocabulary > 0) {
    const std::int64_t logits = cut.tokens() * workload::padded_vocabulary(*cut.model, cut.options.tensor);
    writer.collective(CollectiveKind::all_gather, tensor_group, cut.element() * logits, cut.element(),
                      Activity::tensor_communication, "logits all-gather");
  }
  // FP32: the maximum, the target's logit and the sum of exponentials of every token.
  for (std::size_t i = 0; i < head.loss.size() && !head.loss[i].empty(); ++i) {
    if (i > 0) {
      writer.collective(CollectiveKind::all_reduce, tensor_group, 4 * cut.tokens(), 4, Activity::tensor_communication,
                        "loss all-reduce");
    }
    writer.run(head.loss[i].forward, Activity::forward);
  }
  writer.builder().allocate(MemoryCategory::activations, Bytes{kept(head)});
  end_forward(writer);
  return writer.builder().done();
}

program::BlockId head_backward(program::Program& program, const Cut& cut, const workload::HeadOperators& head,
                               bool is_beside = false) {
  Writer writer(program, cut, "head backward");
  if (is_beside) writer.beside_main();
  begin_backward(writer, Unit::head);
  for (auto set = head.loss.rbegin(); set != head.loss.rend(); ++set) plain_backward(writer, *set);
  column_backward(writer, head.logits);
  plain_backward(writer, head.norm);
  writer.builder().release(MemoryCategory::activations, Bytes{kept(head)});
  end_backward(writer, Unit::head);
  return writer.builder().done();
}

/// Without the weight gradient of the logits.
program::BlockId head_input_gradient(program::Program& program, const Cut& cut, const workload::HeadOperators& head) {
  Writer writer(program, cut, "head input gradient");
  for (auto set = head.loss.rbegin(); set != head.loss.rend(); ++set) plain_backward(writer, *set);
  column_input_gradient(writer, head.logits);
  plain_backward(writer, head.norm);
  writer.leave_activations(kept(head), needed_by_weights(cut, head.logits));
  return writer.builder().done();
}

program::BlockId head_weight_gradient(program::Program& program, const Cut& cut, const workload::HeadOperators& head) {
  Writer writer(program, cut, "head weight gradient");
  column_weight_gradient(writer, head.logits);
  writer.builder().release(MemoryCategory::activations, Bytes{needed_by_weights(cut, head.logits)});
  return writer.builder().done();
}

}  // namespace

BesideWidths head_widths(const Cut& cut) {
  return {cut.uses_sequence_parallelism() ? cut.model->hidden : 0, cut.model->hidden};
}

EdgeBlocks add_embedding(program::Program& program, const Cut& cut) {
  const auto embedding = workload::embedding_operators(*cut.model, cut.layer_shape(0, 0));
  EdgeBlocks blocks;
  blocks.forward = embedding_forward(program, cut, embedding);
  if (cut.training()) blocks.backward = embedding_backward(program, cut, embedding);
  if (cut.goes_both_ways()) blocks.backward_beside = embedding_backward(program, cut, embedding, true);
  return blocks;
}

EdgeBlocks add_head(program::Program& program, const Cut& cut) {
  const auto head = workload::head_operators(*cut.model, cut.layer_shape(0, 0));
  EdgeBlocks blocks;
  blocks.forward = head_forward(program, cut, head);
  if (cut.training()) blocks.backward = head_backward(program, cut, head);
  if (cut.goes_both_ways()) blocks.backward_beside = head_backward(program, cut, head, true);
  if (!cut.splits_backward()) return blocks;
  blocks.input_gradient = head_input_gradient(program, cut, head);
  blocks.weight_gradient = head_weight_gradient(program, cut, head);
  return blocks;
}

}  // namespace tessera::strategy::megatron
