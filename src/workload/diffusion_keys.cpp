#include "diffusion_keys.hpp"

#include <fmt/format.h>

namespace tessera::workload {
namespace {

using Report = std::function<void(const std::string& field, const std::string& what)>;

/// Keys that speak of a vocabulary.
void check_words(const Model& model, const Report& report) {
  if (model.tied_embeddings) report("tied_embeddings", "there is no vocabulary, allowed: false");
  if (model.masked_lm_head) report("masked_lm_head", "there is no vocabulary, allowed: false");
  if (model.embedding_norm) report("embedding_norm", "there is no vocabulary, allowed: false");
  if (model.embedding_scaling) report("embedding_scaling", "there is no vocabulary, allowed: false");
  if (model.token_types > 0) report("token_types", "there is no vocabulary, allowed: 0");
  if (model.logits_softcap > 0) report("logits_softcap", "there is no vocabulary, allowed: 0");
  if (model.prediction_depth > 0) report("prediction_depth", "there is no vocabulary, allowed: 0");
  if (model.position == PositionEmbedding::learned)
    report("position", "no table of positions stands beside a vocabulary, allowed: rotary, alibi, none");
  if (has_vision(model)) report("vision.layers", "a tower stands in front of a model that predicts the next token");
}

/// Layers of two streams are attention without a mask and an MLP, both behind a norm without weights.
void check_joint_layer(const LayerFields& kind, const Report& report) {
  const auto refuse = [&](bool is_given, const char* field, const char* allowed) {
    if (is_given) report(field, fmt::format("layers of [model.diffusion] have none, allowed: {}", allowed));
  };
  refuse(!has_attention(kind), "mixer", "attention");
  refuse(!kind.mlp, "mlp", "true");
  refuse(is_moe(kind), "experts", "0");
  refuse(is_latent(kind), "kv_rank", "0");
  refuse(is_parallel(kind), "parallel_block", "none");
  refuse(kind.sublayer_norms != SublayerNorms::input, "sublayer_norms", "input");
  refuse(kind.output_gate, "output_gate", "false");
  refuse(kind.attention_sinks, "attention_sinks", "false");
  refuse(kind.scaled_queries, "scaled_queries", "false");
  refuse(kind.query_key_norm == QueryKeyNorm::whole_width, "query_key_norm", "none, shared, per-head, unweighted");
}

void check_diffusion(const Model& model, const Report& report) {
  if (model.vocabulary > 0)
    report("vocabulary",
           fmt::format("{} beside [model.diffusion], whose patches stand in its place, allowed: 0", model.vocabulary));
  if (model.causal) report("causal", "each token of [model.diffusion] sees all others, allowed: false");
  if (model.position != PositionEmbedding::none)
    report("position", "patches of [model.diffusion] have fixed positions, which are added once, allowed: none");
  if (model.dropout || model.attention_dropout)
    report("dropout", "layers of [model.diffusion] have no dropout, allowed: false");
  if (model.final_norm) report("final_norm", "the norm behind them has no weights, allowed: false");
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind) check_joint_layer(layer_kind(model, kind), report);
  if (!layer_kind(model, kind_of(model, model.layers - 1)).text_ends && model.layers > 0)
    report("text_ends", "the last layer makes nothing of the text's tokens, allowed: true");
  for (std::int64_t layer = 0; layer + 1 < model.layers; ++layer)
    if (layer_kind(model, kind_of(model, layer)).text_ends)
      return report("text_ends", "the text ends with the last layer, and not before it, allowed: false");
}

void check_no_text(const Model& model, const Report& report) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (layer_kind(model, kind).text_ends)
      return report("text_ends", "of tokens of a text that a model without [model.diffusion] has not, allowed: false");
}

/// Biases of scores stand in a table by distance.
void check_distances(const Model& model, const Report& report) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (layer_kind(model, kind).mixer == Mixer::hstu && model.max_positions == 0)
      return report("max_positions", "0, and HSTU layers have a bias for each distance, allowed: 1 or more");
}

void add_width(config::Schema<Diffusion>& s, const char* key, std::int64_t Diffusion::*member, const char* help) {
  s.integer(key, member, help).at_least("1").at_most("1000000");
}

}  // namespace

const config::Schema<Diffusion>& diffusion_schema() {
  static const config::Schema<Diffusion> schema = [] {
    config::Schema<Diffusion> s("model.diffusion", "A diffusion transformer over patches of an image and a text.");
    add_width(s, "text_tokens", &Diffusion::text_tokens,
              "tokens of a sequence that are the text's; all others are patches");
    add_width(s, "text_width", &Diffusion::text_width, "elements of a token as text encoders make it");
    add_width(s, "pooled_width", &Diffusion::pooled_width, "elements of a text's pooled vector");
    add_width(s, "time_width", &Diffusion::time_width, "sines and cosines of the timestep");
    add_width(s, "patch_numbers", &Diffusion::patch_numbers, "numbers of a patch: channels x pixels of the latent");
    s.integer("output_numbers", &Diffusion::output_numbers, "numbers that a patch comes out as; 0: patch_numbers")
        .at_least("0")
        .at_most("1000000")
        .otherwise("0");
    return s;
  }();
  return schema;
}

void settle_ends(Model& model, const Report& report) {
  if (is_diffusion(model)) {
    if (model.diffusion.output_numbers == 0) model.diffusion.output_numbers = model.diffusion.patch_numbers;
    check_diffusion(model, report);
  } else {
    check_no_text(model, report);
  }
  check_distances(model, report);
  if (model.vocabulary == 0) check_words(model, report);
}

}  // namespace tessera::workload
