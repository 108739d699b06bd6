// The operators of a transformer on one tensor-parallel rank, as Megatron-LM (2022) launches them, and the
// activations that they keep (Korthikanti et al. 2022, section 4).
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/workload/model.hpp"
#include "tessera/workload/operator.hpp"
#include "tessera/workload/stack.hpp"

namespace tessera::workload {

/// What an iteration is. Layers run in one of the first three; the last one is of jobs: prompts, and then generation
/// behind them.
enum class Phase { training, prompt, generation, prompt_and_generation };
enum class Recomputation { none, selective, full };

/// How the ranks that share sequences (context parallelism) get at each other's keys and values.
enum class ContextExchange {
  ring,        ///< keys and values go round under the attention of those that have come (Liu et al. 2023)
  all_to_all,  ///< heads for tokens before the core, and back behind it (DeepSpeed Ulysses, Jacobs et al. 2023)
  all_gather,  ///< all keys and values are gathered (Llama 3, Dubey et al. 2024, section 3.3.2)
};

/// How one layer is cut and run on a device.
struct LayerShape {
  std::int64_t sequence = 0;     ///< s: new tokens per sequence (1 in generation)
  std::int64_t context = 0;      ///< keys and values per sequence, the new ones included; 0: equal to `sequence`
  std::int64_t micro_batch = 1;  ///< b: sequences
  std::int64_t tensor = 1;       ///< t: tensor-parallel ranks
  /// r: the linear layers are cut in both of their dimensions, the inner one of column-parallel layers and the outer
  /// one of row-parallel ones over r ranks, the other over t / r. Each rank's share is as large as with 1.
  std::int64_t tensor_rows = 1;
  /// Norms, dropouts and residuals are cut along the sequence too: ceil(s / t) tokens of it, of those that have the
  /// most.
  bool sequence_parallel = false;
  std::int64_t heads_per_rank =
      0;  ///< query heads on this rank (ceil with uneven_heads = "pad"); 0: heads / t, exactly
  std::int64_t kv_heads_per_rank = 0;  ///< at least 1; 0: kv_heads / t, or 1 where t > kv_heads (replicated)
  bool pad_width =
      false;  ///< MLPs and experts have ceil(width / ranks) columns a rank, if need be of zeros; false: exactly
  bool flash_attention = false;
  /// c: ranks that share each sequence. `sequence` is then the part of one of them, `context` all of it. Under a causal
  /// mask a rank has two pieces, numbers i and 2 c - 1 - i of 2 c, so that all have as much to do.
  std::int64_t context_parallel = 1;
  std::int64_t context_rank = 0;  ///< i
  ContextExchange context_exchange = ContextExchange::ring;
  Phase phase = Phase::training;    ///< dropout and its masks exist in training alone
  std::string datatype = "fp16";    ///< of weights and activations
  std::string cache_datatype;       ///< of cached keys and values; empty: `datatype`
  std::int64_t gradient_bytes = 4;  ///< per element of the buffer that weight gradients are added to
  bool fused_accumulation = true;   ///< the weight-gradient GEMM adds to that buffer itself; else an extra kernel does
  bool adds_gradients = true;       ///< to what is in the buffer; false: each pass writes gradients anew
  /// MoE: per element of the buffer that gradients of experts are added to; 0: theirs are as the others.
  std::int64_t expert_gradient_bytes = 0;
  std::uint32_t kind = 0;            ///< of the model's kinds of layers
  std::int64_t expert_parallel = 1;  ///< MoE: ranks over which experts are spread
  std::int64_t expert_tensor = 0;    ///< MoE: ranks over which each expert is cut; 0: the tensor-parallel ones
  /// MoE: tokens that this rank's experts process for the micro-batch (capacity and imbalance applied);
  /// 0: s b experts_per_token, an even load.
  std::int64_t expert_tokens = 0;
  /// MoE: shared experts run beside the tokens' way to the others and back. Their tensor ranks then gather what they
  /// read and sum what they make outside of their products, as activations, and keep the whole input.
  bool shared_beside = false;
  bool caches_keys = true;       ///< outside training new keys and values are kept for the tokens to come
  bool casts_weights = false;    ///< for products, in each forward pass; false: once an iteration, behind the update
  const Stack* stack = nullptr;  ///< null: as Megatron-LM of 2022 does
};

/// A step of that, or what tensor ranks sum or gather, amid a section's operators.
struct ExchangeStep {
  enum class Kind { to_next, to_previous, all_to_all, all_gather, reduce_scatter, tensor_sum, tensor_gather };
  Kind kind = Kind::to_next;
  std::int64_t bytes = 0;  ///< of the message to a neighbour; of collectives as program::Collective counts them
  /// It begins in front of one operator of the list, and has to be over in front of another one; where these are the
  /// same, nothing runs beside it.
  std::size_t begin = 0, end = 0;
  std::int64_t element = 0;  ///< of tensor ranks: B of what is summed or gathered as one
};

/// Operators between two points at which a strategy may have to communicate. The backward part runs all of
/// `input_gradient` first, then `weight_gradient`, each in order: a tensor-parallel collective of the input gradient
/// can run beside the weight gradient, as in Megatron-LM.
struct OperatorSet {
  std::vector<Operator> forward;
  std::vector<Operator> input_gradient;   ///< empty outside training
  std::vector<Operator> weight_gradient;  ///< empty outside training
  std::int64_t kept_input = 0;            ///< activation bytes: the section's own input, kept until its backward part
  std::int64_t kept_inside = 0;  ///< activation bytes kept by the operators inside; free when the section is recomputed
  /// Activation bytes of its input before any cast, which it keeps in the place of `kept_input` where it runs again;
  /// -1: the same.
  std::int64_t input_to_run_again = -1;
  /// Of a parallel block's MLP: its input is that of `qkv`, and kept there where `qkv` runs again too.
  bool shares_input = false;
  /// Of linear layers that share their input: without sequence parallelism each sums its own over the tensor ranks.
  int input_gradients = 1;
  /// Elements of a token that a column-parallel section takes whole: gathered before it under sequence parallelism, and
  /// their gradient summed behind its backward part; 0: an earlier section has them whole, and sums both gradients.
  std::int64_t whole_input = 0;
  /// B of an element of them on the way, where it is not that of an activation; 0: it is. Their gradient's always is.
  std::int64_t gathered_element = 0;
  /// The same of the backward part alone: elements that are gathered again for the weight gradient, and whose gradient
  /// is summed; -1: whole_input. Of sections that share an input the last one gathers, and the first one sums.
  std::int64_t gathered_again = -1;
  std::int64_t summed_gradient = -1;
  /// Elements of a token that a row-parallel section makes as a sum over the tensor ranks; 0: a later section sums them
  /// along with its own.
  std::int64_t summed_output = 0;
  std::vector<ExchangeStep> exchange_steps;           ///< amid `forward`, in order of their beginning and of their end
  std::vector<ExchangeStep> gradient_exchange_steps;  ///< amid `input_gradient`
  /// Bytes that the exchanges and what they bring take while the section runs: forward, and backward.
  std::int64_t exchange_buffers = 0, gradient_exchange_buffers = 0;

  [[nodiscard]] std::int64_t backward_gathers() const { return gathered_again < 0 ? whole_input : gathered_again; }
  [[nodiscard]] std::int64_t backward_sums() const { return summed_gradient < 0 ? whole_input : summed_gradient; }
  [[nodiscard]] std::int64_t kept_to_run_again() const {
    return input_to_run_again < 0 ? kept_input : input_to_run_again;
  }
  [[nodiscard]] std::int64_t kept() const { return kept_input + kept_inside; }
  [[nodiscard]] bool empty() const { return forward.empty(); }

  /// Here the tensor ranks sum so many bytes of numbers, each of `element` B, which what follows waits for: behind the
  /// operators that `forward` has so far, or before those that `input_gradient` has so far.
  void sum_over_tensor(std::int64_t bytes, std::int64_t element);
  void sum_gradient_over_tensor(std::int64_t bytes, std::int64_t element);
  /// Or they gather so many.
  void gather_over_tensor(std::int64_t bytes, std::int64_t element);
  void gather_gradient_over_tensor(std::int64_t bytes, std::int64_t element);
  /// Operators before all others of `input_gradient`; exchanges stay where they are among those.
  void put_before_gradient(const std::vector<Operator>& operators);
};

/// A layer in the order in which it runs; backward runs the sections in reverse. Tensor parallelism communicates
/// - forward: before `qkv` and before `fc1` (all-gather of the input under sequence parallelism, nothing otherwise),
///   after `projection` and after `fc2` (all-reduce, or reduce-scatter under sequence parallelism);
/// - backward, mirrored: before the backward part of `fc2` and `projection` (all-gather under sequence parallelism),
/// and
///   after the input_gradient of `fc1` and `qkv` (all-reduce, or reduce-scatter), which runs beside their
///   weight_gradient. Under sequence parallelism the kept input of `qkv` and `fc1` is gathered again for the
///   weight_gradient.
/// A parallel block has a sum behind `fc2` alone; where attention and MLP read one norm, one gather before `qkv`, and
/// backward one before that of `fc1` and one sum behind that of `qkv`.
/// Each moves OperatorSet::whole_input or summed_output elements of each token: the whole activation, 2 s b h bytes,
/// where a section does not say less. Sums of few numbers amid a section (ExchangeStep::Kind::tensor_sum) come besides.
/// Expert parallelism has an all-to-all after `dispatch` and one before `combine`, in both directions, of
/// expert_tokens h elements.
struct LayerOperators {
  OperatorSet attention_norm;  ///< cut along the sequence under sequence parallelism
  OperatorSet qkv;             ///< column-parallel linear
  OperatorSet
      attention_core;  ///< rotary embedding, scores, softmax, dropout, context: what selective recomputation repeats
  OperatorSet projection;          ///< row-parallel linear
  OperatorSet attention_residual;  ///< bias, dropout, residual: cut along the sequence under sequence parallelism
  OperatorSet mlp_norm;            ///< as attention_norm
  OperatorSet router;              ///< MoE: gate of every token; empty when dense
  OperatorSet dispatch;            ///< MoE: tokens put into the order of their experts; empty when dense
  OperatorSet fc1;                 ///< column-parallel linear, or those of the local experts
  OperatorSet activation;          ///< bias and GeLU, or SwiGLU
  OperatorSet fc2;                 ///< row-parallel linear, or those of the local experts
  OperatorSet combine;             ///< MoE: weighted sum of a token's experts; empty when dense
  OperatorSet mlp_residual;        ///< as attention_residual

  static constexpr std::size_t section_count = 13;
  [[nodiscard]] std::array<const OperatorSet*, section_count> in_order() const;
};

using LayerSection = OperatorSet LayerOperators::*;

/// The sections of a layer in the order in which they run: their only list.
inline constexpr std::array<LayerSection, LayerOperators::section_count> layer_sections = {
    &LayerOperators::attention_norm,
    &LayerOperators::qkv,
    &LayerOperators::attention_core,
    &LayerOperators::projection,
    &LayerOperators::attention_residual,
    &LayerOperators::mlp_norm,
    &LayerOperators::router,
    &LayerOperators::dispatch,
    &LayerOperators::fc1,
    &LayerOperators::activation,
    &LayerOperators::fc2,
    &LayerOperators::combine,
    &LayerOperators::mlp_residual};
static_assert(sizeof(LayerOperators) == LayerOperators::section_count * sizeof(OperatorSet), "a section is not listed");

/// What the section at each place of layer_sections is called in input files.
inline constexpr std::array<const char*, LayerOperators::section_count> section_names = {"attention_norm",
                                                                                         "qkv",
                                                                                         "attention_core",
                                                                                         "projection",
                                                                                         "attention_residual",
                                                                                         "mlp_norm",
                                                                                         "router",
                                                                                         "dispatch",
                                                                                         "fc1",
                                                                                         "activation",
                                                                                         "fc2",
                                                                                         "combine",
                                                                                         "mlp_residual"};

/// Where a section stands in layer_sections.
[[nodiscard]] constexpr std::size_t place_of(LayerSection section) {
  std::size_t place = 0;
  while (layer_sections.at(place) != section) ++place;  // none that is listed runs into the end
  return place;
}
static_assert(place_of(&LayerOperators::mlp_residual) + 1 == LayerOperators::section_count,
              "a section is listed twice");

/// Sections that run together, by their places.
struct LayerPart {
  std::size_t first = 0, last = 0;
};
/// Parts that leave out a section which does something, or have it twice or in another order, would keep and repeat
/// the wrong ones: InternalError.
void refuse_other_parts(const LayerOperators& layer, const std::vector<LayerPart>& parts);

/// The sections of one layer. A cut that does not fit the model (heads, MLP width, vocabulary, sequence): InputError.
[[nodiscard]] LayerOperators transformer_layer(const Model& model, const LayerShape& shape);

/// What the shared experts of a layer run, where they do so by themselves.
struct SharedExperts {
  OperatorSet gate;                  ///< of their output, on a rank's own tokens; empty: there is none
  OperatorSet fc1, activation, fc2;  ///< of all of them together, on whole tokens
  OperatorSet scale;                 ///< of their output by that gate
  OperatorSet sum;                   ///< of their output and that of the other experts: forward alone
};
/// The experts of a MoE layer with LayerShape::shared_beside: its sections from `router` to `combine`, without what
/// shared experts do, and that. Both together are the operators of transformer_layer, whose sections count what is
/// kept.
struct ApartExperts {
  LayerOperators routed;
  SharedExperts shared;
};
[[nodiscard]] ApartExperts apart_experts(const Model& model, const LayerShape& shape);

/// Sections of a layer, by their place in layer_sections.
using LayerSections = std::bitset<LayerOperators::section_count>;

/// What of a layer runs again for the backward pass (WATOS, figures 7 and 10: checkpoints by operator).
struct Recomputed {
  LayerSections again;
  /// What such a section makes is not kept for the section behind it either, which waits for it in the backward pass.
  /// False, of Megatron-LM's selective recomputation: of a section that runs again its inside alone is not kept.
  bool drops_outputs = false;
  friend bool operator==(const Recomputed&, const Recomputed&) = default;
};
/// None, the attention core (selective), or all (full).
[[nodiscard]] Recomputed recomputed_by(Recomputation recomputation);
/// "fc1, activation", or "none", "selective", "full" where it is one of those.
[[nodiscard]] std::string name_of(const Recomputed& recomputed);
/// Why a layer cannot run these again; empty: it can. The experts of a MoE layer run together; a residual connection
/// runs again along with the section whose output it adds, and the second one with all from the first one on, or
/// without that. Of a parallel block, what stands between the norms and the sums runs again, or all of it.
[[nodiscard]] std::string problem_of(const Recomputed& recomputed, const LayerFields& kind);

/// Bytes of activations that each section keeps per micro-batch on this rank. One that runs again keeps nothing, but
/// for its input, as it comes, where the section before it does not run again. Behind one that drops its output,
/// another one keeps no input.
[[nodiscard]] std::array<std::int64_t, LayerOperators::section_count> kept_bytes(const LayerOperators& layer,
                                                                                 const Recomputed& recomputed);
/// Bytes of activations that each section makes again before the backward pass, beside those.
[[nodiscard]] std::array<std::int64_t, LayerOperators::section_count> made_again_bytes(const LayerOperators& layer,
                                                                                       const Recomputed& recomputed);
/// The sum: everything; without the inside of the attention core (selective); the input of the layer alone (full; 1/t
/// of it under sequence parallelism).
[[nodiscard]] std::int64_t activation_bytes(const LayerOperators& layer, Recomputation recomputation);

/// The first stage. Between `lookup` and `combine`: all-reduce of 2 s b h bytes over the tensor ranks
/// (vocabulary-parallel).
struct EmbeddingOperators {
  OperatorSet lookup;   ///< rows of this rank's share of the vocabulary
  OperatorSet combine;  ///< position (and token type) embedding, norm where the model has one, dropout
};
[[nodiscard]] EmbeddingOperators embedding_operators(const Model& model, const LayerShape& shape);

using LossSections = std::array<OperatorSet, 4>;

/// The last stage. Tensor parallelism communicates around `logits` as around `qkv`.
struct HeadOperators {
  OperatorSet norm;    ///< final norm; empty where the model has none
  OperatorSet logits;  ///< this rank's share of the vocabulary
  /// Vocabulary-parallel cross entropy in FP32: maximum | logit of the target | sum of exponentials | quotient. Each |
  /// is an all-reduce of 4 s b bytes over the tensor ranks. Other losses (Stack::loss) have fewer such sets; a gathered
  /// one has one, before which logits are all-gathered. Empty outside training.
  LossSections loss;
};
[[nodiscard]] HeadOperators head_operators(const Model& model, const LayerShape& shape);

/// A module that predicts a token further ahead, beside its layer (prediction_kind), the embedding of the token before
/// (EmbeddingOperators) and its norm, logits and loss (HeadOperators). As Megatron core has it
/// (MultiTokenPredictionLayer): tensor ranks gather what `projection` makes, h elements of each token, and under
/// sequence parallelism its gradient.
struct PredictionOperators {
  OperatorSet
      combination;         ///< norms of the embedding and of what was made before, side by side; cut along the sequence
  OperatorSet projection;  ///< column-parallel linear from 2 h to h elements, which takes 2 h whole
};
[[nodiscard]] PredictionOperators prediction_operators(const Model& model, const LayerShape& shape);

/// Elements that a kernel of a layer reads and makes on this rank, of the kernel with most of them: the attention core
/// (scores apart), or the linear layer before another mixer, the first linear layer of MLP or experts.
[[nodiscard]] std::int64_t widest_pair(const Model& model, const LayerShape& shape);

/// Bytes of the keys and values that so many layers cache on this rank, for `context` tokens of micro_batch sequences;
/// of context ranks, on the one that has most of what a window leaves.
/// KeyError where they are more than 2^63.
[[nodiscard]] std::int64_t kv_cache_bytes(const Model& model, const LayerShape& shape, std::int64_t layers = 1);

/// Parameters on one tensor rank.
struct ParameterShare {
  std::int64_t sharded = 0;     ///< cut over the tensor ranks
  std::int64_t replicated = 0;  ///< the same on each tensor rank (norms, biases of row-parallel layers); their
                                ///< gradients are summed over the tensor ranks under sequence parallelism
  std::int64_t partial = 0;     ///< of the replicated, those that see the heads of a rank alone: their gradients are
                                ///< summed over the tensor ranks in any case
  std::int64_t expert = 0;      ///< of experts: data-parallel over other ranks than the rest
  [[nodiscard]] std::int64_t total() const { return sharded + replicated + expert; }
};
[[nodiscard]] ParameterShare layer_parameters(const Model& model, const LayerShape& shape);
/// Of those the weights of linear layers, whose products Precision speaks of.
[[nodiscard]] ParameterShare product_weights(const Model& model, const LayerShape& shape);
/// Word (padded vocabulary), position and token type embedding and the norm behind them.
[[nodiscard]] ParameterShare embedding_parameters(const Model& model, const LayerShape& shape);
/// Final norm and output weight; where embeddings are tied, the output weight is a copy of the word embedding that the
/// last stage holds when it is not the first one too (`own_weight`): count it in memory, and all-reduce its gradient
/// with the first stage.
[[nodiscard]] ParameterShare head_parameters(const Model& model, const LayerShape& shape, bool own_weight);
/// Of one module that predicts a token further ahead, its layer and final norm included; embedding and output weight
/// are the model's.
[[nodiscard]] ParameterShare prediction_parameters(const Model& model, LayerShape shape);
/// Of those the weights of linear layers, as product_weights.
[[nodiscard]] ParameterShare prediction_products(const Model& model, LayerShape shape);
/// The vocabulary padded to a multiple of 128 t, as Megatron-LM pads it.
[[nodiscard]] std::int64_t padded_vocabulary(const Model& model, std::int64_t tensor);

/// What an update keeps of a weight beside the one that layers use.
enum class MasterWeights {
  fp32,       ///< a copy in FP32; none of weights that are stored so anyway
  remainder,  ///< the 16 bits that make FP32 of a BF16 weight
  none,       ///< nothing: weights are updated in their own datatype
};

/// Whose kernels update weights.
enum class Update {
  megatron,  ///< Megatron-LM's: copies in FP32, then Apex's fused Adam
  fused,     ///< Apex's DistributedFusedAdam: one kernel from gradients as they lie to weights; the collective averages
  eager,     ///< PyTorch's single operations of AdamW, and of the clipping before
};

/// Weight updates of one device.
struct OptimizerShape {
  std::int64_t parameters = 0;      ///< weights that the device holds
  std::int64_t updated = 0;         ///< those whose optimizer state it holds (fewer with a distributed optimizer)
  std::string datatype = "fp16";    ///< of the weights
  std::int64_t gradient_bytes = 4;  ///< per element of the gradient buffer
  std::int64_t moment_bytes = 4;    ///< per element of each of the two moments
  MasterWeights master_weights = MasterWeights::fp32;
  Update update = Update::megatron;

  /// Per parameter that is updated: what is kept of the weight, and two moments.
  [[nodiscard]] std::int64_t state_bytes() const { return master_bytes() + 2 * moment_bytes; }
  [[nodiscard]] std::int64_t master_bytes() const;
};

/// Mixed-precision Adam (Kingma and Ba 2014; Micikevicius et al. 2017).
struct OptimizerOperators {
  std::vector<Operator> zero;     ///< clears the gradient buffer, before the first micro-batch
  std::vector<Operator> average;  ///< divides the gradient buffer by the data-parallel size, before its all-reduce
  std::vector<Operator> unscale;  ///< undoes the loss scale, looks for infinities; an all-reduce of one number follows
  std::vector<Operator> norm;     ///< of all gradients, for clipping; an all-reduce of one number follows
  std::vector<Operator> step;     ///< Adam; FP32 weights copied back in the datatype of those that layers use
};
[[nodiscard]] OptimizerOperators optimizer_operators(const OptimizerShape& shape);

/// FLOP of one forward pass of one sequence through the whole language model, uncut: GEMMs, attention and logits.
/// Forward and backward take three times that (model FLOPs); recomputation comes on top (hardware FLOPs).
struct ForwardFlops {
  Int128 attention_core = 0;  ///< scores and context of all layers: what selective recomputation repeats
  Int128 layers = 0;          ///< all layers, attention_core included: what full recomputation repeats
  Int128 logits = 0;          ///< of a diffusion transformer what stands at its ends
  [[nodiscard]] Int128 total() const { return layers + logits; }
};
[[nodiscard]] ForwardFlops forward_flops(const Model& model, std::int64_t sequence, std::int64_t context, Phase phase);

}  // namespace tessera::workload
