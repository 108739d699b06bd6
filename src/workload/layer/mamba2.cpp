// Mamba-2 (Dao and Gu 2024, arXiv 2405.21060) on one tensor rank: heads with states of P x N elements, whose decay is a
// number a token and head; groups of heads share what writes them (B) and what reads them (C).
//
// Training and prompts take the chunks of section 6: with chunks of Q tokens, products within a chunk (scores of C and
// B, as of attention, times x), the states that each chunk adds, a recurrence over chunks, and what their states give
// its tokens. Kernels and what they keep are those of mamba-ssm (mamba_ssm/ops/triton/ssd_combined.py,
// mamba_split_conv1d_scan_combined): states and scores in FP32; the backward pass has what the in-projection made and
// what the scan did, and makes the convolution, scores and states again. Tensor ranks have whole groups, as in Megatron
// core (megatron/core/ssm/mamba_mixer.py), so that none of it communicates.
#include <algorithm>

#include "state_space.hpp"

namespace tessera::workload::layer {
namespace mamba2 {
namespace {

/// Sizes of the scan on this rank.
struct Scan {
  explicit Scan(const Context& context)
      : chunks(context),
        tokens(context.tokens),
        heads(context.shape.heads_per_rank),
        groups(context.state_groups),
        head(context.layer.head_dim),
        state(context.layer.state_size),
        x(context.element * tokens * heads * head),
        shared(context.element * tokens * groups * state),
        steps(2 * fp32 * tokens * heads),
        scores(fp32 * groups * chunks.square),
        states(chunks.count * heads * head * state),
        state_flops(2 * tokens * heads * head * state),
        causal_flops(2 * chunks.causal * heads * head) {}
  Chunks chunks;
  std::int64_t tokens, heads, groups, head, state;
  std::int64_t x;             ///< B of what the heads read, and of what they make
  std::int64_t shared;        ///< B of what writes states (B), and of what reads them (C)
  std::int64_t steps;         ///< B of each token's step and summed decay
  std::int64_t scores;        ///< B of all pairs of a chunk, of each group
  std::int64_t states;        ///< elements of the states of all chunks
  std::int64_t state_flops;   ///< between tokens and states of their chunk
  std::int64_t causal_flops;  ///< between tokens of a chunk, of which half are masked
};

std::int64_t channels(const Context& context) {
  return context.output_width + 2 * context.state_groups * context.layer.state_size;
}
/// Of the in-projection: gate, what is convolved, and a step of each head.
std::int64_t columns(const Context& context) {
  return context.output_width + channels(context) + context.shape.heads_per_rank;
}

Operator product(const Context& context, const Scan& scan, const std::string& name, std::int64_t m, std::int64_t n,
                 std::int64_t k, std::int64_t flops, std::int64_t read, std::int64_t written) {
  return SharedProduct{name, scan.chunks.count * scan.heads, m, n, k, flops, read, written}.on(context);
}

Operator bytes(const Context& context, const std::string& name, std::int64_t read, std::int64_t written) {
  return streaming(OperatorKind::fused, name, Bytes{read}, Bytes{written}, context.shape.datatype);
}

Operator scores(const Context& context, const Scan& scan, const std::string& name) {
  const std::int64_t q = scan.chunks.length;
  return SharedProduct{name,
                       scan.chunks.count * scan.groups,
                       q,
                       q,
                       scan.state,
                       2 * scan.chunks.square * scan.groups * scan.state,
                       2 * scan.shared,
                       scan.scores}
      .on(context);
}

/// What comes before the outputs, forward and once more for the backward pass.
std::vector<Operator> until_states(const Context& context, const Scan& scan, const std::string& again) {
  const std::int64_t q = scan.chunks.length;
  return {bytes(context, "chunk decay" + again, context.element * scan.tokens * scan.heads, scan.steps),
          product(context, scan, "chunk states" + again, scan.head, scan.state, q, scan.state_flops,
                  scan.x + scan.shared + scan.steps, fp32 * scan.states),
          bytes(context, "state passing" + again, fp32 * scan.states, context.element * scan.states),
          scores(context, scan, "chunk scores" + again)};
}

/// What the tokens of a chunk give each other, and the state before it gives them.
Operator outputs_of_chunks(const Context& context, const Scan& scan, const std::string& name) {
  return product(context, scan, name, scan.chunks.length, scan.head, scan.state + half_of(scan.chunks),
                 scan.state_flops + scan.causal_flops,
                 scan.x + scan.shared + scan.steps + scan.scores + context.element * scan.states, scan.x);
}

void add_scan_gradient(const Context& context, const Scan& scan, OperatorSet& set) {
  const std::int64_t q = scan.chunks.length, states = context.element * scan.states;
  const std::int64_t group_heads = scan.heads / scan.groups, half = half_of(scan.chunks);
  std::vector<Operator>& backward = set.input_gradient;
  backward.push_back(convolution_again(context, channels(context)));
  for (const Operator& op : until_states(context, scan, " again")) backward.push_back(op);
  const std::int64_t group_chunks = scan.chunks.count * scan.groups;
  const auto of_groups = [&](const std::string& name, std::int64_t n, std::int64_t k, std::int64_t flops,
                             std::int64_t read, std::int64_t written) {
    backward.push_back(SharedProduct{name, group_chunks, q, n, k, flops, read, written}.on(context));
  };
  backward.push_back(product(context, scan, "chunk scan dgrad states", scan.head, scan.state, q, scan.state_flops,
                             scan.x + scan.shared + scan.steps, fp32 * scan.states));
  backward.push_back(bytes(context, "state passing dgrad", fp32 * scan.states + states, states));
  Operator inputs = outputs_of_chunks(context, scan, "chunk dgrad x");
  inputs.bytes_read += scan.x;  // the inputs too, for the gradient of the steps
  backward.push_back(inputs);
  const std::int64_t shared = fp32 * scan.tokens * scan.groups * scan.state;
  for (const char* name : {"chunk states dgrad B", "chunk scan dgrad C"})
    of_groups(name, scan.state, group_heads * scan.head, scan.state_flops, scan.x + scan.shared + scan.steps + states,
              shared);
  of_groups("chunk scan dgrad scores", half, group_heads * scan.head, scan.causal_flops, 2 * scan.x + scan.steps,
            scan.scores);
  const std::int64_t of_scores = 2 * scan.chunks.square * scan.groups * scan.state;
  for (const char* name : {"chunk scores dgrad B", "chunk scores dgrad C"})
    of_groups(name, scan.state, q, of_scores, scan.scores + scan.shared + shared, scan.shared);
  backward.push_back(product(context, scan, "chunk dgrad decay", q, half, scan.head, scan.causal_flops,
                             2 * scan.x + scan.scores + scan.steps, scan.steps / 2));
  backward.push_back(
      bytes(context, "chunk decay dgrad", scan.steps + scan.steps / 2, context.element * scan.tokens * scan.heads));
}

/// A step, a decay and a skip of each head.
std::int64_t head_parameters(const Context& context) { return 3 * context.shape.heads_per_rank; }

OperatorSet core(const Context& context) {
  OperatorSet set;
  add_convolution(context, channels(context), set);
  if (context.shape.phase == Phase::generation) {
    const std::int64_t inputs = channels(context) + context.shape.heads_per_rank;
    set.forward.push_back(state_update(context, context.element, inputs, context.output_width));
    add_gated_norm(context, context.output_width, set);
    return set;
  }
  const Scan scan(context);
  for (const Operator& op : until_states(context, scan, "")) set.forward.push_back(op);
  set.forward.push_back(outputs_of_chunks(context, scan, "chunk scan"));
  add_gated_norm(context, context.output_width, set);
  if (!context.training) {
    add_state_copy(context, channels(context), context.element, set);
    return set;
  }
  add_scan_gradient(context, scan, set);
  add_convolution_gradient(context, channels(context), set);
  const std::int64_t parameters = head_parameters(context);
  set.weight_gradient.push_back(context.bias_gradient("scan wgrad", parameters, parameters));
  set.kept_input = context.element * context.tokens * columns(context);
  return set;
}

void add_parameters(const Context& context, ParameterShare& share) {
  add_projection_weights(context, share);
  share.sharded += convolution_parameters(context.layer, channels(context)) + head_parameters(context) +
                   context.output_width;  // of the norm
}

std::int64_t cached_bytes(const Context& context) { return cached_state(context, channels(context), context.element); }

Int128 weights(const Model& model, const LayerFields& kind) {
  const Int128 inner = kind.heads * kind.head_dim;
  return model.hidden * (3 * inner + 2 * kind.state_groups * kind.state_size + kind.heads);
}

/// A token writes its head's state and reads it (equation 1); within chunks, as papers count them, no half is left out.
Int128 core_flops(const LayerFields& kind, std::int64_t sequence, std::int64_t, Phase phase) {
  const Int128 recurrence = recurrence_flops(kind, sequence, 4);
  if (phase == Phase::generation) return recurrence;
  const std::int64_t chunk = std::min(sequence, kind.scan_chunk);
  return recurrence + Int128{2} * sequence * chunk * (kind.state_groups * kind.state_size + kind.heads * kind.head_dim);
}

}  // namespace
}  // namespace mamba2

MixerKind mamba2_mixer() {
  using namespace mamba2;
  return {.mixer = Mixer::mamba2,
          .key = "mamba2",
          .words = "Mamba-2",
          .needs = {{"state_size", &LayerFields::state_size},
                    {"state_groups", &LayerFields::state_groups},
                    {"conv_width", &LayerFields::conv_width},
                    {"scan_chunk", &LayerFields::scan_chunk}},
          .input_columns = columns,
          .input = input_section,
          .core = core,
          .output = projection_section,
          .add_parameters = add_parameters,
          .add_products = add_projection_weights,
          .cached_bytes = cached_bytes,
          .weights = weights,
          .core_flops = core_flops};
}

}  // namespace tessera::workload::layer
