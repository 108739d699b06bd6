// Keys of a model and of a kind of layers alike, and what a file leaves out of a kind.
#pragma once

#include "tessera/workload/model.hpp"

namespace tessera::workload {

/// Choices of the key `mixer`.
[[nodiscard]] std::vector<std::pair<std::string, Mixer>> mixer_choices();

/// Declares them. A kind of a file has no defaults of its own: what it leaves out is as the model says.
template <class T>
class LayerKeys {
 public:
  LayerKeys(config::Schema<T>& schema, bool has_defaults) : schema_(schema), has_defaults_(has_defaults) {}

  void add_mixer() const {
    or_default(schema_.template choice<Mixer>(
                   "mixer", &T::mixer, mixer_choices(),
                   "what mixes the tokens of a sequence: attention, a state that is carried along it, or HSTU's "
                   "pointwise attention"),
               "attention");
    count("state_size", &T::state_size, "other mixers: a head's state has head_dim x state_size elements", "1000000");
    count("state_groups", &T::state_groups,
          "other mixers: groups of heads that share what writes their states and what reads them", "1000000");
    count("conv_width", &T::conv_width, "other mixers: tokens that the causal convolution sees", "1000000");
    flag("conv_bias", &T::conv_bias, "other mixers: the convolution has a bias");
    count("scan_chunk", &T::scan_chunk, "other mixers: tokens of a chunk of the scan", "1000000000");
    count("step_rank", &T::step_rank, "mamba: elements of a token that the steps of all channels are made from",
          "1000000");
    flag("state_norms", &T::state_norms, "mamba: norms of those, and of what writes states and reads them");
    count("time_buckets", &T::time_buckets,
          "hstu: buckets of the time between two tokens, each of which adds a learnt bias to their score", "1000000");
    or_default(schema_.boolean("mlp", &T::mlp, "an MLP or experts behind the mixer"), "true");
  }
  void add_attention() const {
    count("kv_heads", &T::kv_heads, "heads of keys and values (grouped-query attention); 0: as many as heads",
          "1000000");
    count("head_dim", &T::head_dim, "size of a head; 0: hidden / heads", "1000000");
    count("value_dim", &T::value_dim, "size of a head of values; 0: head_dim", "1000000");
    count("query_rank", &T::query_rank,
          "latent attention: elements of a token that queries are made from; 0: the hidden ones", "1000000");
    count("kv_rank", &T::kv_rank,
          "latent attention: elements of a token that keys and values of all heads are made from, and that a cache "
          "holds; 0: plain attention",
          "1000000");
    count("rotary_dim", &T::rotary_dim,
          "latent attention: elements of head_dim that positions turn, whose keys all heads share", "1000000");
    flag("scaled_queries", &T::scaled_queries, "queries are multiplied by a function of their position: another pass");
    count("sliding_window", &T::sliding_window, "tokens that a token attends to, itself among them; 0: all before it",
          "1000000000");
    or_default(schema_
                   .number("rotary_fraction", &T::rotary_fraction,
                           "share of a head that rotary positions turn; 0: layers without positions")
                   .at_least("0")
                   .at_most("1"),
               "1");
    or_default(schema_.template choice<QueryKeyNorm>(
                   "query_key_norm", &T::query_key_norm,
                   {{"none", QueryKeyNorm::none},
                    {"shared", QueryKeyNorm::shared},
                    {"per-head", QueryKeyNorm::per_head},
                    {"unweighted", QueryKeyNorm::unweighted},
                    {"whole-width", QueryKeyNorm::whole_width}},
                   "norms of each head of queries and keys: weights that heads share, or of each head, or none; or one "
                   "norm over all heads"),
               "none");
    softcap("attention_softcap", &T::attention_softcap, "soft cap of the scores: c tanh(score / c); 0: none");
    count(
        "attention_chunk", &T::attention_chunk,
        "the sequence is cut into chunks of so many tokens, and a token attends to those before it in its own; 0: one",
        "1000000000");
    flag("output_gate", &T::output_gate, "what attention makes is multiplied by a sigmoid of columns beside queries");
    flag("attention_sinks", &T::attention_sinks, "a learnt logit of each head stands in its softmax besides");
  }
  void add_block() const {
    or_default(schema_.template choice<SublayerNorms>(
                   "sublayer_norms", &T::sublayer_norms,
                   {{"input", SublayerNorms::input}, {"output", SublayerNorms::output}, {"both", SublayerNorms::both}},
                   "norms of what attention and MLP read, of what they make, or both"),
               "input");
    or_default(schema_.template choice<ParallelBlock>(
                   "parallel_block", &T::parallel_block,
                   {{"none", ParallelBlock::none},
                    {"one-norm", ParallelBlock::one_norm},
                    {"two-norms", ParallelBlock::two_norms}},
                   "attention and MLP side by side, from one norm of the layer's input or each from its own"),
               "none");
  }
  void add_mlp() const {
    count("ffn_hidden", &T::ffn_hidden, "width of the MLP, or of one expert; 0: 4 hidden", "100000000");
    flag("gated_mlp", &T::gated_mlp, "three matrices (SwiGLU) instead of two");
    count("experts", &T::experts, "experts of a mixture-of-experts layer; 0: dense", "1000000");
    count("experts_per_token", &T::experts_per_token, "experts that the router picks for a token", "1000000");
    count("shared_experts", &T::shared_experts, "experts that every token takes besides", "1000000");
    count("shared_ffn_hidden", &T::shared_ffn_hidden, "width of one shared expert; 0: ffn_hidden", "100000000");
    flag("shared_gate", &T::shared_gate, "what shared experts make is weighted by a gate, one number a token");
    flag("router_bias", &T::router_bias, "a learnt bias on the router's logits");
    count("expert_groups", &T::expert_groups, "equal groups of experts, of which a token takes a few; 0: no groups",
          "1000000");
    count("groups_per_token", &T::groups_per_token, "as many of them", "1000000");
  }

  void add_diffusion() const {
    flag("text_ends", &T::text_ends,
         "diffusion: attention reads the text's tokens, of which nothing is made behind it");
  }

  void softcap(const char* key, double T::*member, const char* help) const {
    or_default(schema_.number(key, member, help).at_least("0").at_most("1000000"), "0");
  }

 private:
  void or_default(config::FieldHandle field, const char* fallback) const {
    if (has_defaults_)
      field.otherwise(fallback);
    else
      field.optional();
  }
  void count(const char* key, std::int64_t T::*member, const char* help, const char* most) const {
    or_default(schema_.integer(key, member, help).at_least("0").at_most(most), "0");
  }
  void flag(const char* key, bool T::*member, const char* help) const {
    or_default(schema_.boolean(key, member, help), "false");
  }

  config::Schema<T>& schema_;
  bool has_defaults_;
};

/// A kind as a file writes it.
[[nodiscard]] const config::Schema<LayerKind>& layer_kind_schema();
/// Makes the kinds of a file whole.
void complete_kinds(const config::Table& table, Model& model, config::Diagnostics& diagnostics);

}  // namespace tessera::workload
