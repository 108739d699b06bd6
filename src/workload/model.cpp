#include "tessera/workload/model.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "diffusion_keys.hpp"
#include "layer/mixer.hpp"
#include "layer_keys.hpp"
#include "model_fields.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tessera/workload/network.hpp"
#include "tessera/workload/operator.hpp"
#include "vision_keys.hpp"

namespace tessera::workload {
namespace {

/// Largest model whose counts stay far from 2^63.
constexpr double most_parameters = 1e16;

class Checker {
 public:
  Checker(const FieldOrigins& origin, config::Diagnostics& diagnostics) : origin_(origin), diagnostics_(diagnostics) {}
  [[nodiscard]] std::string name(const std::string& field) const { return origin_(field).key; }
  void report(const std::string& field, const std::string& what) const {
    const FieldOrigin origin = origin_(field);
    diagnostics_.error(origin.where, fmt::format("\"{}\": {}", origin.key, what));
  }

 private:
  const FieldOrigins& origin_;
  config::Diagnostics& diagnostics_;
};

/// Of the fields that layers of one kind have; `where` says how the kind's own origins are called.
void check_heads(const Model& model, const LayerFields& kind, const Checker& checker) {
  if (kind.head_dim == 0 && model.hidden % kind.heads != 0) {
    checker.report("heads", fmt::format("{} does not divide {}, which is {}; give head_dim where a model means it so",
                                        kind.heads, checker.name("hidden"), model.hidden));
  }
  if (kind.kv_heads > 0 && kind.heads % kind.kv_heads != 0) {
    checker.report("kv_heads",
                   fmt::format("{} does not divide {}, which is {}", kind.kv_heads, checker.name("heads"), kind.heads));
  }
}

void check_no_experts(const LayerFields& kind, const Checker& checker) {
  for (const auto& [field, value] :
       {std::pair{"experts_per_token", kind.experts_per_token}, std::pair{"shared_experts", kind.shared_experts},
        std::pair{"shared_ffn_hidden", kind.shared_ffn_hidden}, std::pair{"expert_groups", kind.expert_groups},
        std::pair{"groups_per_token", kind.groups_per_token}})
    if (value != 0) checker.report(field, fmt::format("{} in a model without experts, allowed: 0", value));
  for (const auto& [field, value] :
       {std::pair{"shared_gate", kind.shared_gate}, std::pair{"router_bias", kind.router_bias}})
    if (value) checker.report(field, "true in a model without experts, allowed: false");
}

/// A token's experts come from few enough groups, and these have enough of them.
void check_groups(const LayerFields& kind, const Checker& checker) {
  const std::int64_t groups = kind.expert_groups, taken = kind.groups_per_token;
  if (groups == 0) {
    if (taken > 0) checker.report("groups_per_token", "of experts that are in no groups, allowed: 0");
    return;
  }
  if (kind.experts % groups != 0)
    return checker.report("expert_groups", fmt::format("{} does not divide {}, which is {}", groups,
                                                       checker.name("experts"), kind.experts));
  if (taken < 1 || taken > groups || taken * (kind.experts / groups) < kind.experts_per_token)
    checker.report("groups_per_token",
                   fmt::format("{} is out of range, allowed: 1 to {}, with {} experts or more in them", taken, groups,
                               kind.experts_per_token));
}

void check_experts(const LayerFields& kind, const Checker& checker) {
  if (kind.experts == 0) return check_no_experts(kind, checker);
  if (kind.experts_per_token < 1 || kind.experts_per_token > kind.experts) {
    checker.report("experts_per_token", fmt::format("{} is out of range, allowed: 1 to {} ({})", kind.experts_per_token,
                                                    kind.experts, checker.name("experts")));
  }
  if (kind.shared_experts == 0 && kind.shared_ffn_hidden > 0)
    checker.report("shared_ffn_hidden", "a width of shared experts, of which there are none, allowed: 0");
  if (kind.shared_experts == 0 && kind.shared_gate)
    checker.report("shared_gate", "a gate of shared experts, of which there are none, allowed: false");
  check_groups(kind, checker);
}

/// Heads of latent attention are all made from the same elements.
void check_latent(const Model& model, const LayerFields& kind, const Checker& checker) {
  if (!is_latent(kind)) {
    for (const auto& [field, value] :
         {std::pair{"query_rank", kind.query_rank}, std::pair{"rotary_dim", kind.rotary_dim}})
      if (value != 0)
        checker.report(field,
                       fmt::format("{} without latent attention ({} = 0), allowed: 0", value, checker.name("kv_rank")));
    return;
  }
  if (kind.kv_heads > 0 && kind.kv_heads != kind.heads)
    checker.report("kv_heads", fmt::format("{}, and latent attention has keys and values for each head, allowed: {}",
                                           kind.kv_heads, kind.heads));
  if (kind.rotary_dim >= kind.head_dim)
    checker.report("rotary_dim", fmt::format("{} is out of range, allowed: less than {}, which is {}", kind.rotary_dim,
                                             checker.name("head_dim"), kind.head_dim));
  if ((kind.rotary_dim > 0) != (model.position == PositionEmbedding::rotary && kind.rotary_fraction > 0))
    checker.report("rotary_dim", "elements that positions turn: more than 0 with rotary positions, and 0 without");
  if (kind.query_key_norm != QueryKeyNorm::none)
    checker.report("query_key_norm", "latent attention norms what it compresses, allowed: \"none\"");
  if (kind.output_gate) checker.report("output_gate", "latent attention has no gate on its output, allowed: false");
  if (model.qkv_bias) checker.report("qkv_bias", "latent attention has no biases of its own, allowed: false");
  if (is_parallel(kind))
    checker.report("parallel_block",
                   "latent attention gathers what it compresses, and an MLP beside it all of a token,"
                   " allowed: none");
  if (kind.scaled_queries) checker.report("scaled_queries", "latent attention has no such kernel, allowed: false");
  if (kind.rotary_fraction != 0 && kind.rotary_fraction != 1)
    checker.report("rotary_fraction", "rotary_dim says what positions turn in latent attention, allowed: 0, 1");
}

void check_sight(const Model& model, const LayerFields& kind, const Checker& checker) {
  for (const auto& [field, tokens] :
       {std::pair{"sliding_window", kind.sliding_window}, std::pair{"attention_chunk", kind.attention_chunk}}) {
    if (tokens > 0 && !model.causal) checker.report(field, "a token sees those before it: causal = true, or 0");
  }
  if (kind.sliding_window > 0 && kind.attention_chunk > 0)
    checker.report("attention_chunk", "a token has a window or a chunk, and not both: one of them is 0");
}

/// Of how attention and MLP stand to each other.
void check_block(const Model& model, const LayerFields& kind, const Checker& checker) {
  if (kind.rotary_fraction != 1 && model.position != PositionEmbedding::rotary)
    checker.report("rotary_fraction", "positions are not rotary, allowed: 1");
  if (!is_parallel(kind)) return;
  if (is_moe(kind)) checker.report("parallel_block", "experts are not beside attention, allowed: none");
  if (kind.sublayer_norms != SublayerNorms::input)
    checker.report("parallel_block", "what is side by side is summed as it is: none, or sublayer_norms = \"input\"");
  if (model.embedding_norm && !model.final_norm)
    checker.report("parallel_block", "layers that end with a norm have one behind each sum, allowed: none");
}

/// Of a layer whose mixer is not attention, or that ends with it.
void check_mixer(const LayerFields& kind, const Checker& checker) {
  if (!kind.mlp && is_moe(kind)) checker.report("mlp", "experts are an MLP, allowed: true, or experts = 0");
  if (!kind.mlp && is_parallel(kind)) checker.report("parallel_block", "there is no MLP, allowed: none");
  if (has_attention(kind)) return;
  const layer::MixerKind& mixer = layer::mixer_kind(kind.mixer);
  for (const auto& [field, member] : mixer.needs)
    if (kind.*member < 1)
      checker.report(field, fmt::format("{} of {} layers, allowed: 1 or more", kind.*member, mixer.words));
  if (kind.state_groups > 0 && kind.heads % kind.state_groups != 0)
    checker.report("state_groups", fmt::format("{} does not divide {}, which is {}", kind.state_groups,
                                               checker.name("heads"), kind.heads));
  if (is_parallel(kind))
    checker.report("parallel_block", fmt::format("{} layers have an MLP behind them, allowed: none", mixer.words));
}

/// Fields that layers with this mixer do not have: a kind of layers takes them over from its model, and they are left
/// out; without kinds somebody gave them, and hears of it.
class OtherFields {
 public:
  OtherFields(const Model& model, LayerFields& kind, const Checker& checker)
      : kind_(kind), checker_(checker), mixer_(layer::mixer_kind(kind.mixer)), were_given_(model.layer_kinds.empty()) {}

  void leave_out() const {
    for (const layer::MixerKind& other : layer::mixer_kinds())
      for (const auto& [field, member] : other.needs)
        if (!needs(member)) leave_out_one(field, member);
    if (!needs(&LayerFields::conv_width)) leave_out_one("conv_bias", &LayerFields::conv_bias);
    if (!needs(&LayerFields::step_rank)) leave_out_one("state_norms", &LayerFields::state_norms);
    if (!has_attention(kind_)) leave_out_attention();
  }

 private:
  [[nodiscard]] bool needs(std::int64_t LayerFields::*member) const {
    return std::ranges::any_of(mixer_.needs, [&](const auto& need) { return need.second == member; });
  }
  void leave_out_one(const char* field, auto LayerFields::*member) const {
    const LayerFields none;
    if (were_given_ && kind_.*member != none.*member)
      checker_.report(field, fmt::format("layers of mixer \"{}\" have none", mixer_.key));
    kind_.*member = none.*member;
  }
  void leave_out_attention() const {
    leave_out_one("value_dim", &LayerFields::value_dim);
    leave_out_one("query_rank", &LayerFields::query_rank);
    leave_out_one("kv_rank", &LayerFields::kv_rank);
    leave_out_one("rotary_dim", &LayerFields::rotary_dim);
    leave_out_one("output_gate", &LayerFields::output_gate);
    leave_out_one("scaled_queries", &LayerFields::scaled_queries);
    leave_out_one("sliding_window", &LayerFields::sliding_window);
    leave_out_one("attention_chunk", &LayerFields::attention_chunk);
    leave_out_one("attention_sinks", &LayerFields::attention_sinks);
    leave_out_one("query_key_norm", &LayerFields::query_key_norm);
    leave_out_one("attention_softcap", &LayerFields::attention_softcap);
    if (kind_.kv_heads != kind_.heads) leave_out_one("kv_heads", &LayerFields::kv_heads);
    kind_.kv_heads = kind_.heads;
    kind_.rotary_fraction = 1;
  }

  LayerFields& kind_;
  const Checker& checker_;
  const layer::MixerKind& mixer_;
  bool were_given_;
};

void settle_kind(const Model& model, LayerFields& kind, const Checker& checker) {
  OtherFields(model, kind, checker).leave_out();
  check_mixer(kind, checker);
  check_heads(model, kind, checker);
  if (kind.kv_heads == 0) kind.kv_heads = kind.heads;
  if (kind.head_dim == 0) kind.head_dim = model.hidden / kind.heads;
  if (kind.ffn_hidden == 0) kind.ffn_hidden = 4 * model.hidden;
  check_latent(model, kind, checker);
  check_sight(model, kind, checker);
  check_experts(kind, checker);
  check_block(model, kind, checker);
}

/// Parameters of a layer, roughly and rather too many.
double largest_layer(const Model& model) {
  const double h = static_cast<double>(model.hidden);
  double most = 0;
  for (std::uint32_t i = 0; i < layer_kinds(model); ++i) {
    const LayerFields& kind = layer_kind(model, i);
    const double head = static_cast<double>(std::max(kind.head_dim, value_dim(kind)));
    const double from = std::max(h, static_cast<double>(kind.query_rank + 2 * kind.kv_rank + kind.rotary_dim));
    // Of each channel, and of what groups share of a state.
    const double of_channel = static_cast<double>(3 * kind.state_size + 2 * kind.step_rank + kind.conv_width);
    const double of_groups = 2.0 * static_cast<double>(kind.state_size) * static_cast<double>(kind.state_groups);
    const double states =
        static_cast<double>(kind.heads) * head * of_channel + of_groups * (h + static_cast<double>(kind.conv_width));
    const double attention = 4.0 * from * (static_cast<double>(kind.heads) * head + h) + states;
    const double widths = static_cast<double>(1 + kind.experts) * static_cast<double>(kind.ffn_hidden) +
                          static_cast<double>(shared_width(kind));
    most = std::max(most, attention + 3.0 * h * widths);
  }
  return most;
}

void check_size(const Model& model, const Checker& checker) {
  const double h = static_cast<double>(model.hidden);
  const Diffusion& ends = model.diffusion;
  const std::int64_t of_diffusion = ends.text_width + ends.pooled_width + ends.patch_numbers + ends.output_numbers;
  const double tables =
      2.0 * h * static_cast<double>(model.vocabulary + model.max_positions + model.token_types + of_diffusion);
  if (static_cast<double>(model.layers) * largest_layer(model) + tables > most_parameters) {
    checker.report("hidden", fmt::format("a model of more than 10^16 parameters ({} layers, hidden {}, {} experts)",
                                         model.layers, model.hidden, model.experts));
  }
}

config::Schema<Model> make_schema() {
  config::Schema<Model> s("model", "A transformer by its dimensions; or model = \"NAME\" for one of inputs/models.");
  s.text("name", &Model::name, "name of the model, for tables and figures");
  s.text("family", &Model::family, "architecture, for people").otherwise("transformer");
  s.integer("layers", &Model::layers, "number of layers").at_least("1").at_most("100000");
  s.integer("hidden", &Model::hidden, "hidden size h").at_least("1").at_most("10000000");
  s.integer("heads", &Model::heads, "query heads a").at_least("1").at_most("1000000");
  const LayerKeys keys(s, true);
  keys.add_mixer();
  keys.add_attention();
  keys.add_block();
  keys.add_mlp();
  keys.add_diffusion();
  s.integer("vocabulary", &Model::vocabulary, "tokens of the vocabulary; 0: none, as in [model.diffusion] or HSTU")
      .at_least("0")
      .at_most("100000000");
  s.integer("max_positions", &Model::max_positions,
            "rows of a learned position embedding; otherwise the longest sequence, 0: any")
      .at_least("0")
      .at_most("1000000000")
      .otherwise("0");
  s.choice("position", &Model::position,
           {{"learned", PositionEmbedding::learned},
            {"rotary", PositionEmbedding::rotary},
            {"alibi", PositionEmbedding::alibi},
            {"none", PositionEmbedding::none}},
           "how positions enter")
      .otherwise("learned");
  s.choice("norm", &Model::norm, {{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}}, "kind of norm")
      .otherwise("layernorm");
  s.boolean("norm_bias", &Model::norm_bias, "layernorms have a bias").otherwise("true");
  s.boolean("causal", &Model::causal, "a token sees only the tokens before it").otherwise("true");
  s.boolean("bias", &Model::bias, "biases in the output projection and in the MLP").otherwise("true");
  s.boolean("qkv_bias", &Model::qkv_bias, "biases in the QKV projection").otherwise("true");
  s.choice("projection_bias", &Model::projection_bias,
           {{"as-bias", ProjectionBias::as_bias}, {"yes", ProjectionBias::yes}, {"no", ProjectionBias::no}},
           "biases in attention's output projection, where it is not as \"bias\" says")
      .otherwise("as-bias");
  s.boolean("tied_embeddings", &Model::tied_embeddings, "the output weight is the word embedding").otherwise("true");
  s.boolean("dropout", &Model::dropout, "dropout layers, with their masks, in training").otherwise("true");
  s.boolean("attention_dropout", &Model::attention_dropout, "dropout of attention's probabilities, if no other")
      .otherwise("false");
  s.boolean("embedding_norm", &Model::embedding_norm, "a norm behind the embedding").otherwise("false");
  s.boolean("embedding_scaling", &Model::embedding_scaling, "a factor on the embedding").otherwise("false");
  keys.softcap("logits_softcap", &Model::logits_softcap, "soft cap of the logits: c tanh(logit / c); 0: none");
  s.boolean("final_norm", &Model::final_norm, "a norm behind the last layer").otherwise("true");
  s.integer("prediction_depth", &Model::prediction_depth,
            "in training, modules behind the last layer that each predict a token further ahead (multi-token "
            "prediction, as DeepSeek-V3 is trained)")
      .at_least("0")
      .at_most("16")
      .otherwise("0");
  s.boolean("masked_lm_head", &Model::masked_lm_head, "BERT's linear layer and norm before the logits")
      .otherwise("false");
  s.integer("token_types", &Model::token_types, "rows of a token type embedding")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.tables("layer_kinds", &Model::layer_kinds, layer_kind_schema(), "kinds of layers, where a model has several")
      .optional();
  s.texts(
       "layer_sequence", &Model::layer_sequence,
       "the kind of each layer in order, such as [\"dense * 3\", \"moe * 58\"]; a shorter list begins anew until all "
       "layers have one")
      .optional();
  s.table("vision", &Model::vision, vision_schema(), "a vision tower in front").optional();
  s.table("diffusion", &Model::diffusion, diffusion_schema(), "patches of images, and a text beside them").optional();
  s.integer("extra_parameters", &Model::extra_parameters,
            "parameters that the other keys do not count, such as a pooler")
      .at_least("0")
      .at_most("1000000000000")
      .otherwise("0");
  s.integer("published_parameters", &Model::published_parameters, "what the source states; 0: nothing")
      .at_least("0")
      .otherwise("0");
  s.text("source", &Model::source, "where the dimensions come from").otherwise("");
  return s;
}

/// Of "heads", of "vision.heads", or of "layer_kinds.1.heads".
FieldOrigin origin_in(const config::Table& table, const std::string& field) {
  const std::size_t list = field.find('.'), own = field.rfind('.');
  if (list == std::string::npos) {
    const config::Value* value = table.find(field);
    return {field, value != nullptr ? value->where() : table.where()};
  }
  if (list == own) {
    const FieldOrigin inner = origin_in(*table.find(field.substr(0, list))->table(), field.substr(own + 1));
    return {field, inner.where};
  }
  const auto number = std::stoul(field.substr(list + 1));
  return origin_in(*table.find("layer_kinds")->array()->at(number).table(), field.substr(own + 1));
}

}  // namespace

const config::Schema<Model>& model_schema() {
  static const config::Schema<Model> schema = make_schema();
  return schema;
}

void settle_model(Model& model, const FieldOrigins& origin, config::Diagnostics& diagnostics) {
  const Checker checker(origin, diagnostics);
  if (has_projection_bias(model) == model.bias) model.projection_bias = ProjectionBias::as_bias;
  for (std::size_t i = 0; i < model.layer_kinds.size(); ++i) {
    const FieldOrigins of_kind = [&](const std::string& field) {
      return origin(fmt::format("layer_kinds.{}.{}", i, field));
    };
    settle_kind(model, model.layer_kinds[i], Checker(of_kind, diagnostics));
  }
  // Beside kinds the model's own are nothing but what kinds leave out.
  config::Diagnostics unheard;
  settle_kind(model, model, model.layer_kinds.empty() ? checker : Checker(origin, unheard));
  if (const std::string problem = number_layers(model); !problem.empty()) checker.report("layer_sequence", problem);
  check_size(model, checker);
  if (model.prediction_depth > 0 && (!model.causal || model.masked_lm_head))
    checker.report("prediction_depth", fmt::format("{} in a model that does not predict the next token, allowed: 0",
                                                   model.prediction_depth));
  const auto report = [&](const std::string& field, const std::string& what) { checker.report(field, what); };
  settle_vision(model, report);
  settle_ends(model, report);
  if (model.position == PositionEmbedding::learned && model.max_positions == 0) {
    checker.report("max_positions", "0 is out of range where positions are learned, allowed: at least 1");
  }
}

Model read_model(const config::Table& table, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  Model model = model_schema().read(table, diagnostics);
  if (diagnostics.errors().size() != before) return model;
  complete_kinds(table, model, diagnostics);
  const auto origin = [&](const std::string& field) { return origin_in(table, field); };
  settle_model(model, origin, diagnostics);
  return model;
}

Model read_model_file(const std::string& text, const std::string& file, config::Diagnostics& diagnostics) {
  if (file.ends_with(".json")) return read_hugging_face(text, file, diagnostics);
  const std::size_t before = diagnostics.errors().size();
  const auto table = config::parse_toml(text, file, diagnostics);
  if (table == nullptr || diagnostics.errors().size() != before) return {};
  return read_model(*table, diagnostics);
}

std::vector<const config::SchemaBase*> schemas() {
  std::vector<const config::SchemaBase*> all = {&model_schema(), &layer_kind_schema(), &vision_schema(),
                                                &diffusion_schema(), &graph_schema()};
  for (const CostModelKind& kind : cost_model_kinds()) all.push_back(&kind.schema());
  for (const NetworkFamily& family : network_families()) all.push_back(&family.schema());
  return all;
}

}  // namespace tessera::workload
