// A transformer by its dimensions, from TOML or from a Hugging Face config.json.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::workload {

enum class PositionEmbedding { learned, rotary, alibi, none };
enum class Norm { layernorm, rmsnorm };

/// Norms of queries and of keys, before rotary positions: over each head, or over all of them.
enum class QueryKeyNorm {
  none,
  shared,      ///< one weight for each element of a head, which all heads share (Qwen3, Gemma 3)
  per_head,    ///< each head has its own weights (Command R+)
  unweighted,  ///< none (Llama 4)
  /// One norm over the elements of all heads, each with its own weight (OLMo 2): tensor ranks sum its statistics.
  whole_width,
};
/// Where norms stand about attention and MLP.
enum class SublayerNorms {
  input,   ///< what they read is normed (pre-norm); or, where a layer ends with one (BERT), the sum behind them
  output,  ///< what they make is, before it is added to the residual
  both,    ///< Gemma 2 and 3, GLM-4-0414
};
/// Attention and MLP that read the layer's input both, and whose sum is added to it once (Wang and Komatsuzaki 2021;
/// Chowdhery et al. 2022, section 2).
enum class ParallelBlock {
  none,       ///< the MLP reads what attention has been added to
  one_norm,   ///< both read the same norm of it (PaLM, Falcon 7B, Command R)
  two_norms,  ///< each reads a norm of its own (GPT-NeoX, Falcon 40B)
};
enum class ProjectionBias { as_bias, yes, no };
/// What of a layer mixes the tokens of a sequence.
enum class Mixer {
  attention,
  mamba,            ///< selective state spaces (Gu and Dao 2023, arXiv 2312.00752)
  mamba2,           ///< state-space duality (Dao and Gu 2024, arXiv 2405.21060)
  gated_delta_net,  ///< the gated delta rule (Yang et al. 2024, arXiv 2412.06464)
  hstu,             ///< pointwise attention without a softmax, gated (Zhai et al. 2024, arXiv 2402.17152)
};

/// What layers have that may differ from layer to layer. Dimensions as in the model's own configuration; nothing is
/// sharded here.
struct LayerFields {
  Mixer mixer = Mixer::attention;
  std::int64_t heads = 0;         ///< a, query heads; of another mixer those of its state
  std::int64_t kv_heads = 0;      ///< grouped-query attention: < heads; in a file 0 stands for `heads`
  std::int64_t head_dim = 0;      ///< in a file 0 stands for h/a
  std::int64_t state_size = 0;    ///< other mixers: a head's state has head_dim x state_size elements
  std::int64_t state_groups = 0;  ///< other mixers: of heads that share what writes their states and reads them
  std::int64_t conv_width = 0;    ///< other mixers: tokens that the causal convolution before the state sees
  bool conv_bias = false;         ///< it has a bias
  std::int64_t scan_chunk = 0;    ///< other mixers: tokens within which products stand in the place of the recurrence
  std::int64_t step_rank = 0;     ///< Mamba: elements of a token that the steps of all channels are made from
  bool state_norms = false;       ///< Mamba: norms of those, and of what writes states and reads them
  std::int64_t time_buckets = 0;  ///< HSTU: of the time between two tokens, each of which adds a bias to their score
  bool output_gate = false;     ///< attention's output is multiplied by a sigmoid of as many columns beside the queries
  bool mlp = true;              ///< an MLP or experts follow; false: the layer ends with its mixer
  std::int64_t value_dim = 0;   ///< size of a head of values; 0: head_dim, as of queries and keys
  std::int64_t query_rank = 0;  ///< latent attention: what queries are made from; 0: from the h elements
  std::int64_t kv_rank = 0;     ///< latent attention: what keys and values are made from; 0: plain attention
  bool scaled_queries = false;  ///< queries are multiplied by a function of their position (Llama 4)
  std::int64_t rotary_dim = 0;  ///< latent attention: the part of head_dim that positions turn
  std::int64_t sliding_window = 0;   ///< a token sees this many tokens before it, itself among them; 0: all
  std::int64_t attention_chunk = 0;  ///< a token sees those before it in its own chunk of so many; 0: all
  bool attention_sinks = false;      ///< one more logit a head in the softmax, which is learnt
  double rotary_fraction = 1;        ///< of a head's elements, turned where positions are rotary; 0: the layer has none
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  double attention_softcap = 0;  ///< c of c tanh(score / c); 0: scores have no cap
  SublayerNorms sublayer_norms = SublayerNorms::input;
  ParallelBlock parallel_block = ParallelBlock::none;
  std::int64_t ffn_hidden = 0;         ///< width of the MLP (of one expert); in a file 0 stands for 4h
  bool gated_mlp = false;              ///< SwiGLU: three matrices instead of two
  std::int64_t experts = 0;            ///< MoE: experts of a layer; 0 dense
  std::int64_t experts_per_token = 0;  ///< top-k
  std::int64_t shared_experts = 0;     ///< MoE: experts that every token takes besides
  std::int64_t shared_ffn_hidden = 0;  ///< width of one of those; 0: ffn_hidden
  bool shared_gate = false;            ///< their sum is weighted by a number a token, from a gate of its own
  bool router_bias = false;            ///< a learnt bias on the router's logits
  std::int64_t expert_groups = 0;      ///< MoE: equal groups of experts of which a token takes a few; 0: no groups
  std::int64_t groups_per_token = 0;   ///< as many of them
  bool text_ends = false;  ///< diffusion: the text's tokens are read by attention, and nothing is made of them
};

/// Size of a head of values.
[[nodiscard]] inline std::int64_t value_dim(const LayerFields& kind) {
  return kind.value_dim > 0 ? kind.value_dim : kind.head_dim;
}
/// Multi-head latent attention (DeepSeek-AI 2024, arXiv 2405.04434, section 2.1): queries are made from query_rank
/// elements of a token, keys and values of all heads from kv_rank elements, which are what a cache holds, with
/// rotary_dim elements that all heads' keys share.
[[nodiscard]] inline bool is_latent(const LayerFields& kind) { return kind.kv_rank > 0; }
/// Columns of all shared experts together.
[[nodiscard]] inline std::int64_t shared_width(const LayerFields& kind) {
  return kind.shared_experts * (kind.shared_ffn_hidden > 0 ? kind.shared_ffn_hidden : kind.ffn_hidden);
}

/// [[model.layer_kinds]]: one kind of layers, where a model has several.
struct LayerKind : LayerFields {
  std::string name;
};

/// [model.vision]: a vision tower in front of the language model, and the projector behind it, which makes tokens of
/// the language model of what the tower makes of patches of an image (Liu et al. 2023, arXiv 2310.03744, section 3.2).
/// Each layer is attention without a mask and an MLP, both behind a norm.
struct Vision {
  std::int64_t layers = 0;      ///< that it has; 0: there is no tower
  std::int64_t layers_run = 0;  ///< the first so many, whose output is taken; in a file 0 stands for all
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn_hidden = 0;  ///< width of the MLP; in a file 0 stands for 4 hidden
  bool gated_mlp = false;
  Norm norm = Norm::layernorm;             ///< with a bias where it is a layernorm
  bool bias = true;                        ///< in the output projection and in the MLP
  bool qkv_bias = true;                    ///< in the QKV projection
  bool rotary = false;                     ///< positions turn queries and keys
  std::int64_t position_rows = 0;          ///< of a learned position embedding; 0: there is none
  std::int64_t image_height = 0;           ///< pixels of what passes at once, a whole image or a tile of one
  std::int64_t image_width = 0;            ///< in a file 0 stands for image_height
  std::int64_t patch = 0;                  ///< pixels of a side
  std::int64_t patch_channels = 3;         ///< numbers of a pixel of a patch: colours x frames
  bool patch_bias = false;                 ///< the linear layer that takes a patch to `hidden` elements has a bias
  bool class_token = false;                ///< stands beside the patches, and is dropped behind the last layer
  bool input_norm = false;                 ///< before the first layer
  bool final_norm = false;                 ///< behind the last layer
  std::int64_t window = 0;                 ///< patches of a side of the window that a layer sees; 0: the whole image
  std::vector<std::int64_t> whole_layers;  ///< layers that see it all the same, from 0
  std::int64_t pool = 1;                   ///< so many x so many patches are averaged
  bool projector_norm = false;             ///< of each of what comes of that, with the tower's kind of norm
  Norm projector_norm_kind = Norm::layernorm;
  std::int64_t merge = 1;               ///< so many x so many of these become one token, side by side
  std::vector<std::int64_t> projector;  ///< columns of its linear layers, with an activation between each two
  bool projector_bias = true;
  std::int64_t images = 1;             ///< of a sequence; in a file 0 stands for no tower
  std::int64_t tiles = 1;              ///< of an image, which pass through the tower one beside the other
  std::int64_t separators = 0;         ///< tokens of an image that are one learnt vector
  std::int64_t unused_parameters = 0;  ///< that files hold and that never run, beside layers
  bool frozen = false;                 ///< the tower is not trained: no gradients, no optimizer state, no backward pass
};

/// [model.diffusion]: a diffusion transformer, whose sequences are patches of a noisy image and tokens of a text. Both
/// have weights of their own and meet in attention (MM-DiT: Esser et al. 2024, arXiv 2403.03206, section 4); norms are
/// shifted and scaled, and outputs gated, by linear layers of a vector that a sample's timestep and pooled text make
/// (adaLN: Peebles and Xie 2023, arXiv 2212.09748, section 3.2).
struct Diffusion {
  std::int64_t text_tokens = 0;     ///< of a sequence, behind its patches; 0: the model is another one
  std::int64_t text_width = 0;      ///< elements of a token as text encoders make it
  std::int64_t pooled_width = 0;    ///< elements of a text's pooled vector
  std::int64_t time_width = 0;      ///< sines and cosines of the timestep
  std::int64_t patch_numbers = 0;   ///< of a patch that goes in: channels x patch^2
  std::int64_t output_numbers = 0;  ///< of a patch that comes out; in a file 0 stands for patch_numbers
};

/// One decoder (or encoder) stack. Its own LayerFields are those of all layers, or what kinds of layers have where they
/// do not say otherwise.
struct Model : LayerFields {
  std::string name;
  std::string family;  ///< "gpt2", "opt", "bloom", "llama", "bert", "megatron", ...: for people, not computed with
  std::int64_t layers = 0;
  std::int64_t hidden = 0;         ///< h
  std::int64_t vocabulary = 0;     ///< v; 0: there is none, and activations come from elsewhere and go there
  std::int64_t max_positions = 0;  ///< rows of a learned position embedding; the longest sequence otherwise (0: any)
  PositionEmbedding position = PositionEmbedding::learned;
  Norm norm = Norm::layernorm;
  bool norm_bias = true;  ///< layernorms have biases; RMS norms never do
  bool causal = true;     ///< a token sees the tokens before it alone
  bool bias = true;       ///< biases in the linear layers (the QKV projection apart)
  bool qkv_bias = true;
  ProjectionBias projection_bias = ProjectionBias::as_bias;  ///< attention's output projection, where it differs
  bool tied_embeddings = true;                               ///< the output weight is the word embedding
  bool dropout = true;                                       ///< dropout layers (and their masks) exist in training
  bool attention_dropout = false;  ///< that of the attention's probabilities does where no other one does
  bool embedding_norm = false;     ///< BLOOM, BERT: a norm after the embedding
  bool embedding_scaling = false;  ///< Gemma, Granite: a factor on the embedding
  double logits_softcap = 0;       ///< c of c tanh(logit / c); 0: logits have no cap
  bool final_norm = true;
  /// In training, modules behind the last layer of which each predicts a token further ahead: from what the layer or
  /// module before made and the embedding of the next token, by one more layer of the last one's kind (DeepSeek-AI
  /// 2024, arXiv 2412.19437, section 2.2). Embedding and output weight are the model's.
  std::int64_t prediction_depth = 0;
  bool masked_lm_head = false;   ///< BERT: linear layer, activation and norm before the logits, and a bias on them
  std::int64_t token_types = 0;  ///< BERT's segment embedding
  std::vector<LayerKind> layer_kinds;        ///< complete, each with all of its fields; empty: layers are alike
  std::vector<std::string> layer_sequence;   ///< kinds of the layers in order, "dense * 3", from the first one again
                                             ///< until all layers have one; empty where layers are alike
  std::vector<std::uint32_t> kind_of_layer;  ///< which of layer_kinds each layer is; empty where layers are alike
  Vision vision;                             ///< without layers: none
  Diffusion diffusion;                       ///< without text tokens: none
  std::int64_t extra_parameters = 0;         ///< what the fields above do not count (a pooler); stated in the file
  std::int64_t published_parameters = 0;     ///< what the source states; 0 when it states none
  std::string source;                        ///< paper or repository that the numbers come from
};

/// The kind of layer that is in modules that predict tokens further ahead: the last one's.
[[nodiscard]] std::uint32_t prediction_kind(const Model& model);
/// Kinds of layers, numbered from 0: at least one.
[[nodiscard]] std::uint32_t layer_kinds(const Model& model);
[[nodiscard]] const LayerFields& layer_kind(const Model& model, std::uint32_t kind);
/// The kind of layer 0 .. layers-1.
[[nodiscard]] std::uint32_t kind_of(const Model& model, std::int64_t layer);
/// Finds Model::kind_of_layer from layer_kinds and layer_sequence. Returns what is wrong with the sequence; empty:
/// nothing.
[[nodiscard]] std::string number_layers(Model& model);
/// "layer", "MoE layer" where they are alike, or "dense layer" of a kind with that name.
[[nodiscard]] std::string kind_name(const Model& model, std::uint32_t kind);
[[nodiscard]] inline bool has_attention(const LayerFields& kind) { return kind.mixer == Mixer::attention; }
[[nodiscard]] inline bool is_moe(const LayerFields& kind) { return kind.experts > 0; }
[[nodiscard]] inline bool is_parallel(const LayerFields& kind) { return kind.parallel_block != ParallelBlock::none; }
/// Whether tensor ranks sum statistics of the norms of queries and keys. A sum amid a mixer is its own.
[[nodiscard]] bool sums_norm_statistics(const LayerFields& kind);
[[nodiscard]] bool has_projection_bias(const Model& model);
[[nodiscard]] inline bool has_vision(const Model& model) { return model.vision.layers > 0; }
[[nodiscard]] inline bool is_diffusion(const Model& model) { return model.diffusion.text_tokens > 0; }
/// Patches of an image in so many tokens of a diffusion model; the rest is text. KeyError: there are none.
[[nodiscard]] std::int64_t patches_of(const Model& model, std::int64_t sequence);
/// What stands at the ends of a model without a vocabulary, in words ("patches of images in the place of a
/// vocabulary"); empty: it has one.
[[nodiscard]] std::string without_vocabulary(const Model& model);
/// Parameters of a norm for each element: its weight, and its bias where it has one.
[[nodiscard]] std::int64_t norm_vectors(const Model& model);
/// Norms of h elements in a layer.
[[nodiscard]] std::int64_t norms_of(const LayerFields& kind);
/// Whether some layers of the model have experts.
[[nodiscard]] bool has_experts(const Model& model);
/// Layers of the first mixer that is not attention, in words ("Mamba-2 layers"); empty: all layers attend.
[[nodiscard]] std::string other_mixer(const Model& model);
/// Query heads of the kind of layer that has most of them.
[[nodiscard]] std::int64_t most_heads(const Model& model);

/// What the model has beyond layers that are alike, each plain attention and then an MLP or experts, in words; empty:
/// nothing. For strategies and graphs that know of no more.
[[nodiscard]] std::string beyond_plain(const Model& model);

/// Trainable parameters of the whole model, its predictions included, derived from the dimensions.
[[nodiscard]] std::int64_t parameter_count(const Model& model);
/// Those that one token uses: top-k experts instead of all. Equal to parameter_count when dense.
[[nodiscard]] std::int64_t active_parameter_count(const Model& model);

[[nodiscard]] const config::Schema<Model>& model_schema();
/// The fields as a [model] table.
void write_model(const Model& model, config::Table& table);
/// A [model] table by fields. Fills in what a file may leave 0 and checks that the dimensions fit together.
[[nodiscard]] Model read_model(const config::Table& table, config::Diagnostics& diagnostics);
/// A Hugging Face config.json as it is. Ignored keys are documented (docs/model-families.md); keys that change the
/// computation and are not modelled and unknown model types are errors that name the choices; other unknown keys warn.
[[nodiscard]] Model read_hugging_face(const std::string& json, const std::string& file,
                                      config::Diagnostics& diagnostics);
/// The same as a [model] table whose values stand where their keys do; null after an error. `over`: the keys of the
/// experiment's own [model], which are not read, but need no warnings; null: none.
[[nodiscard]] std::shared_ptr<config::Table> read_hugging_face_table(const std::string& json, const std::string& file,
                                                                     config::Diagnostics& diagnostics,
                                                                     const config::Table* over = nullptr);
/// Text of a model file: `*.json` is a Hugging Face configuration, anything else the TOML fields of model_schema.
[[nodiscard]] Model read_model_file(const std::string& text, const std::string& file, config::Diagnostics& diagnostics);
/// Schemas of this layer, for `tessera help`: the model and every cost model.
[[nodiscard]] std::vector<const config::SchemaBase*> schemas();

}  // namespace tessera::workload
