#include "user_buffers.hpp"

#include <algorithm>

#include "beside_count.hpp"
#include "section_run.hpp"

namespace tessera::strategy::megatron::user_buffers {
namespace {

using workload::LayerOperators;
using workload::Operator;

/// A product in chunks of rows, each a kernel of its own: the first ones have a row more where they are not even.
class Chunks {
 public:
  Chunks(Writer& writer, const Operator& product, Activity activity)
      : writer_(writer), product_(product), activity_(activity), chunks_(writer.cut().options.tensor) {}

  /// Those from `first` to before `end`.
  void run(std::int64_t first, std::int64_t end) const {
    const std::int64_t larger = product_.m % chunks_, turn = std::clamp(larger, first, end);
    compute(product_.m / chunks_ + 1, turn - first);
    compute(product_.m / chunks_, end - turn);
  }
  [[nodiscard]] std::int64_t count() const { return chunks_; }

 private:
  void compute(std::int64_t rows, std::int64_t times) const {
    if (rows == 0 || times == 0) return;
    Operator one = product_;  // whose operands and result may be of different datatypes
    one.m = rows;
    one.flops = product_.flops / product_.m * rows;
    one.bytes_read += left_operand(rows) - left_operand(product_.m);
    one.scale_bytes += scales(rows) - scales(product_.m);
    one.bytes_written = product_.bytes_written / product_.m * rows;
    writer_.builder().label(one.name).activity(activity_).compute(one, static_cast<std::uint32_t>(times));
  }

  /// B, with their scales.
  [[nodiscard]] std::int64_t left_operand(std::int64_t rows) const {
    return operand(rows, writer_.cut().workload->scaling);
  }
  [[nodiscard]] std::int64_t scales(std::int64_t rows) const {
    return left_operand(rows) - operand(rows, workload::Scaling::delayed);
  }
  [[nodiscard]] std::int64_t operand(std::int64_t rows, workload::Scaling scaling) const {
    return workload::operand_bytes(product_.batch * rows * product_.k, product_.datatype, scaling);
  }

  Writer& writer_;
  const Operator& product_;
  Activity activity_;
  std::int64_t chunks_;
};

/// Bytes of the chunk of a reduce-scatter that is sent when all is computed.
std::int64_t last_chunk(const Cut& cut) {
  return cut.activation_bytes() / cut.tensor_element() / cut.options.tensor * cut.tensor_element();
}

void wait_for(Writer& writer, Event event, const char* label) {
  writer.builder().label(label).activity(Activity::tensor_communication).wait(event);
}

/// Operators of which the first product reads what is gathered, with what is exchanged amid them. Where a cast is
/// gathered, each rank makes its own first.
void run_gathered(Writer& writer, const std::vector<Operator>& operators,
                  const std::vector<workload::ExchangeStep>& exchanges, bool gathers_casts, Activity activity) {
  bool is_gathering = !gathers_casts, is_gathered = false;
  if (is_gathering) writer.builder().signal(chunks_gather_go);
  const SectionRun run(writer, exchanges);
  for (std::size_t at = 0; at < operators.size(); ++at) {
    run.exchange_before(at);
    const Operator& op = operators[at];
    const bool is_product = op.kind == workload::OperatorKind::gemm;
    if (is_product && !is_gathering) writer.builder().signal(chunks_gather_go);
    is_gathering = is_gathering || is_product;
    if (is_gathered || !is_product) {
      writer.run({op}, activity);
      continue;
    }
    const Chunks chunks(writer, op, activity);
    chunks.run(0, chunks.count() - 1);
    wait_for(writer, chunks_gather_done, "tensor all-gather");
    chunks.run(chunks.count() - 1, chunks.count());
    is_gathered = true;
  }
  run.exchange_before(operators.size());
}

/// By section, as often as it runs forward.
std::int64_t forward_runs(const Cut& cut, std::uint32_t stage, const LayerRun& run, workload::LayerSection section) {
  return 1 + (cut.repeated(stage, run.repeat).again[workload::place_of(section)] ? 1 : 0);
}

struct Uses {
  std::int64_t gathers = 0, scatters = 0;
};

/// Of a layer and a micro-batch. Experts communicate in turn.
Uses uses_of_layer(const Cut& cut, std::uint32_t stage, const LayerRun& run) {
  const auto runs = [&](workload::LayerSection section) { return forward_runs(cut, stage, run, section); };
  Uses uses{runs(&LayerOperators::qkv) + 1, runs(&LayerOperators::projection)};
  if (is_moe(cut.kind(run.kind)) || !cut.kind(run.kind).mlp) return uses;
  uses.gathers += runs(&LayerOperators::fc1) + 1;
  uses.scatters += runs(&LayerOperators::fc2);
  return uses;
}

Uses uses_of_stage(const Cut& cut, const StageBlocks& blocks, std::uint32_t stage) {
  Uses uses;
  for (std::uint32_t chunk = 0; chunk < cut.chunks(); ++chunk) {
    for (const LayerRun& run : blocks.runs({stage, chunk, 0})) {
      const Uses of_layer = uses_of_layer(cut, stage, run);
      uses.gathers += run.layers * of_layer.gathers;
      uses.scatters += run.layers * of_layer.scatters;
    }
  }
  return uses;
}

program::BlockId beside_block(program::Program& program, const Cut& cut, CollectiveKind kind) {
  const bool gathers = kind == CollectiveKind::all_gather;
  Writer writer(program, cut, gathers ? "all-gather beside its product" : "reduce-scatter beside its product");
  const std::int64_t element = gathers ? cut.layer(0, 0).qkv.gathered_element : 0;  // of all sections alike
  const std::int64_t bytes = cut.token_bytes(cut.model->hidden, element) - (gathers ? 0 : last_chunk(cut));
  writer.builder().label("").activity(Activity::tensor_communication);
  writer.builder().wait(gathers ? chunks_gather_go : chunks_scatter_go);
  writer.collective(kind, gathers ? tensor_gather_group : tensor_scatter_group, bytes,
                    cut.tensor_element(cut.model->hidden, element), Activity::tensor_communication,
                    gathers ? "tensor all-gather" : "tensor reduce-scatter");
  writer.builder().signal(gathers ? chunks_gather_done : chunks_scatter_done);
  return writer.builder().done();
}

}  // namespace

void column_forward(Writer& writer, const workload::OperatorSet& set, Activity activity) {
  run_gathered(writer, set.forward, set.exchange_steps, set.gathered_element > 0, activity);
}

void row_forward(Writer& writer, const workload::OperatorSet& set, Activity activity) {
  for (const Operator& op : set.forward) {
    if (op.kind != workload::OperatorKind::gemm) {
      writer.run({op}, activity);
      continue;
    }
    const Chunks chunks(writer, op, activity);
    chunks.run(0, 1);
    writer.builder().signal(chunks_scatter_go);
    chunks.run(1, chunks.count());
  }
  wait_for(writer, chunks_scatter_done, "tensor reduce-scatter");
  const Cut& cut = writer.cut();
  writer.collective(CollectiveKind::reduce_scatter, tensor_group, last_chunk(cut), cut.tensor_element(),
                    Activity::tensor_communication, "tensor reduce-scatter");
}

void row_input_gradient(Writer& writer, const workload::OperatorSet& set) {
  run_gathered(writer, set.input_gradient, set.gradient_exchange_steps, set.gathered_element > 0, Activity::backward);
}

std::vector<program::BlockId> beside_blocks(program::Program& program, const Cut& cut) {
  return {beside_block(program, cut, CollectiveKind::all_gather),
          beside_block(program, cut, CollectiveKind::reduce_scatter)};
}

void add_streams(program::Program& program, const Cut& cut, const StageBlocks& blocks, std::uint32_t stage,
                 std::int64_t micro_batches, std::vector<program::BlockId>& streams) {
  const std::vector<program::BlockId> once = beside_blocks(program, cut);
  const Uses uses = uses_of_stage(cut, blocks, stage);
  const auto add = [&](program::BlockId block, std::int64_t times, const char* name) {
    program::BlockBuilder builder(program, name);
    streams.push_back(builder.call(block, beside_count(times, micro_batches)).done());
  };
  add(once[0], uses.gathers, "all-gathers beside products");
  add(once[1], uses.scatters, "reduce-scatters beside products");
}

}  // namespace tessera::strategy::megatron::user_buffers
