#include "tessera/workload/model.hpp"

#include <fmt/format.h>

#include "model_fields.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tessera/workload/network.hpp"
#include "tessera/workload/operator.hpp"

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

void check_heads(const Model& model, const Checker& checker) {
  if (model.head_dim == 0 && model.hidden % model.heads != 0) {
    checker.report("heads", fmt::format("{} does not divide {}, which is {}; give head_dim where a model means it so",
                                        model.heads, checker.name("hidden"), model.hidden));
  }
  if (model.kv_heads > 0 && model.heads % model.kv_heads != 0) {
    checker.report("kv_heads", fmt::format("{} does not divide {}, which is {}", model.kv_heads, checker.name("heads"),
                                           model.heads));
  }
}

void check_experts(const Model& model, const Checker& checker) {
  if (model.experts == 0) {
    for (const auto& [field, value] :
         {std::pair{"experts_per_token", model.experts_per_token}, std::pair{"shared_experts", model.shared_experts}}) {
      if (value != 0) checker.report(field, fmt::format("{} in a model without experts, allowed: 0", value));
    }
    return;
  }
  if (model.experts_per_token < 1 || model.experts_per_token > model.experts) {
    checker.report("experts_per_token", fmt::format("{} is out of range, allowed: 1 to {} ({})",
                                                    model.experts_per_token, model.experts, checker.name("experts")));
  }
  if (model.moe_layer_interval > model.layers) {
    checker.report("moe_layer_interval", fmt::format("{} is out of range, allowed: 1 to {} ({})",
                                                     model.moe_layer_interval, model.layers, checker.name("layers")));
  }
}

void check_size(const Model& model, const Checker& checker) {
  const double h = static_cast<double>(model.hidden);
  const double attention = 4.0 * h * static_cast<double>(model.heads) * static_cast<double>(model.head_dim);
  const double experts = static_cast<double>(1 + model.experts + model.shared_experts);
  const double mlp = 3.0 * h * static_cast<double>(model.ffn_hidden) * experts;
  const double tables = 2.0 * h * static_cast<double>(model.vocabulary + model.max_positions + model.token_types);
  if (static_cast<double>(model.layers) * (attention + mlp) + tables > most_parameters) {
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
  s.integer("kv_heads", &Model::kv_heads, "heads of keys and values (grouped-query attention); 0: as many as heads")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("head_dim", &Model::head_dim, "size of a head; 0: hidden / heads")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("ffn_hidden", &Model::ffn_hidden, "width of the MLP, or of one expert; 0: 4 hidden")
      .at_least("0")
      .at_most("100000000")
      .otherwise("0");
  s.boolean("gated_mlp", &Model::gated_mlp, "three matrices (SwiGLU) instead of two").otherwise("false");
  s.integer("vocabulary", &Model::vocabulary, "tokens of the vocabulary").at_least("1").at_most("100000000");
  s.integer("max_positions", &Model::max_positions,
            "rows of a learned position embedding; otherwise the longest sequence, 0: any")
      .at_least("0")
      .at_most("1000000000")
      .otherwise("0");
  s.integer("sliding_window", &Model::sliding_window,
            "tokens that a token attends to; longer sequences are refused, 0: no window")
      .at_least("0")
      .at_most("1000000000")
      .optional();
  s.choice("position", &Model::position,
           {{"learned", PositionEmbedding::learned},
            {"rotary", PositionEmbedding::rotary},
            {"alibi", PositionEmbedding::alibi},
            {"none", PositionEmbedding::none}},
           "how positions enter")
      .otherwise("learned");
  s.choice("norm", &Model::norm, {{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}}, "kind of norm")
      .otherwise("layernorm");
  s.boolean("causal", &Model::causal, "a token sees only the tokens before it").otherwise("true");
  s.boolean("bias", &Model::bias, "biases in the output projection and in the MLP").otherwise("true");
  s.boolean("qkv_bias", &Model::qkv_bias, "biases in the QKV projection").otherwise("true");
  s.boolean("tied_embeddings", &Model::tied_embeddings, "the output weight is the word embedding").otherwise("true");
  s.boolean("dropout", &Model::dropout, "dropout layers, with their masks, in training").otherwise("true");
  s.boolean("embedding_norm", &Model::embedding_norm, "a norm behind the embedding").otherwise("false");
  s.boolean("final_norm", &Model::final_norm, "a norm behind the last layer").otherwise("true");
  s.boolean("masked_lm_head", &Model::masked_lm_head, "BERT's linear layer and norm before the logits")
      .otherwise("false");
  s.integer("token_types", &Model::token_types, "rows of a token type embedding")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("experts", &Model::experts, "experts of a mixture-of-experts layer; 0: dense")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("experts_per_token", &Model::experts_per_token, "experts that the router picks for a token")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("shared_experts", &Model::shared_experts, "experts that every token takes besides")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("moe_layer_interval", &Model::moe_layer_interval, "every n-th layer has experts, the others a dense MLP")
      .at_least("1")
      .at_most("100000")
      .otherwise("1");
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

}  // namespace

const config::Schema<Model>& model_schema() {
  static const config::Schema<Model> schema = make_schema();
  return schema;
}

void settle_model(Model& model, const FieldOrigins& origin, config::Diagnostics& diagnostics) {
  const Checker checker(origin, diagnostics);
  check_heads(model, checker);
  if (model.kv_heads == 0) model.kv_heads = model.heads;
  if (model.head_dim == 0) model.head_dim = model.hidden / model.heads;
  if (model.ffn_hidden == 0) model.ffn_hidden = 4 * model.hidden;
  check_experts(model, checker);
  check_size(model, checker);
  if (model.position == PositionEmbedding::learned && model.max_positions == 0) {
    checker.report("max_positions", "0 is out of range where positions are learned, allowed: at least 1");
  }
}

Model read_model(const config::Table& table, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  Model model = model_schema().read(table, diagnostics);
  if (diagnostics.errors().size() != before) return model;
  const auto origin = [&](const std::string& field) {
    const config::Value* value = table.find(field);
    return FieldOrigin{field, value != nullptr ? value->where() : table.where()};
  };
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
  std::vector<const config::SchemaBase*> all = {&model_schema(), &graph_schema()};
  for (const CostModelKind& kind : cost_model_kinds()) all.push_back(&kind.schema());
  for (const NetworkFamily& family : network_families()) all.push_back(&family.schema());
  return all;
}

}  // namespace tessera::workload
