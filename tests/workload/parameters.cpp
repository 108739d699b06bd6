// Parameters: every file of inputs/models against what its source states, and the shares of tensor ranks.
#include <filesystem>
#include <map>

#include "models_from.hpp"

namespace tessera::workload {
namespace {

/// Published counts of the *.json files: the table of inputs/models/README.md, | `file` | parameters | source |.
std::map<std::string, std::int64_t> counts_of_readme() {
  std::map<std::string, std::int64_t> counts;
  std::istringstream text(text_of(models_folder + "README.md"));
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    const auto end = line.find('`', 3);
    counts[line.substr(3, end - 3)] = std::stoll(line.substr(line.find('|', end) + 1));
  }
  return counts;
}

TEST_CASE("every model has the published number of parameters within 1 %, its config.json to the last, and a source") {
  const auto readme = counts_of_readme();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder)) {
    const std::string file = entry.path().filename().string();
    if (entry.path().extension() == ".md") continue;
    CAPTURE(file);
    ++files;
    const Model model = model_named(file);
    CHECK(!model.source.empty());
    if (file == "mega-gpt2.toml") continue;  // its source states none: below
    const bool json = entry.path().extension() == ".json";
    REQUIRE(readme.count(file) == (json ? 1 : 0));
    const std::int64_t published = json ? readme.at(file) : model.published_parameters;
    REQUIRE(published > 0);
    if (json) CHECK(parameter_count(model) == published);  // files that were published state it to the last one
    CHECK(static_cast<double>(parameter_count(model)) == Approx(static_cast<double>(published)).epsilon(0.01));
  }
  CHECK(files >= 25);
}

TEST_CASE("Mega-GPT-2 with T3's 74 layers: by hand") {
  // A layer: 12 h^2 + 13 h (biases: QKV 3h, projection h, MLP 4h + h; norms 4h). Tables (v + s) h. Final norm 2h.
  const std::int64_t h = 3072;
  CHECK(parameter_count(model_named("mega-gpt2.toml")) == 74 * (12 * h * h + 13 * h) + (51200 + 1024) * h + 2 * h);
}

TEST_CASE("counts that are known to the last parameter") {
  CHECK(parameter_count(model_named("llama2-70b.toml")) == 68'976'648'192);
  CHECK(parameter_count(model_named("llama3-70b.toml")) == 70'553'706'496);
  CHECK(parameter_count(model_named("bloom-176b.toml")) == 176'247'271'424);
  // Jiang et al. 2024: a token uses 12.9 of 46.7 billion.
  CHECK(static_cast<double>(active_parameter_count(model_named("mixtral-8x7b.toml"))) == Approx(12.9e9).epsilon(0.01));
}

TEST_CASE("Hugging Face and TOML describe the same models") {
  for (const auto& [json, toml] :
       {std::pair{"llama-2-7b-hf.json", "llama2-7b.toml"}, std::pair{"mixtral-8x7b-v0.1.json", "mixtral-8x7b.toml"},
        std::pair{"bert-large-uncased.json", "bert-large.toml"}}) {
    CAPTURE(json);
    Model a = model_named(json);
    Model b = model_named(toml);
    for (Model* model : {&a, &b}) {
      model->name.clear();
      model->source.clear();
      model->published_parameters = 0;
    }
    config::Table fields_a;
    config::Table fields_b;
    model_schema().write(a, fields_a);
    model_schema().write(b, fields_b);
    CHECK(config::to_toml(fields_a) == config::to_toml(fields_b));
  }
}

TEST_CASE("the shares of the tensor ranks add up to the model") {
  for (const char* file : {"megatron-22b.toml", "llama2-70b.toml", "bloom-176b.toml", "bert-large.toml"}) {
    CAPTURE(file);
    const Model model = model_named(file);
    LayerShape shape;
    shape.sequence = 1;
    const ParameterShare whole = layer_parameters(model, shape);
    shape.tensor = 8;
    const ParameterShare share = layer_parameters(model, shape);
    CHECK(8 * share.sharded == whole.sharded);
    CHECK(share.replicated == whole.replicated);
    CHECK(share.expert == 0);
  }
}

TEST_CASE("a layer of 22B on 8 ranks, by hand") {
  // Cut: QKV 3 h^2 + 3h, projection h^2, MLP 8 h^2 + 4h. On every rank: two norms 4h, biases of the outputs 2h.
  LayerShape shape = shape_of_paper(1, true);
  const ParameterShare share = layer_parameters(model_named("megatron-22b.toml"), shape);
  const std::int64_t h = 6144;
  CHECK(share.sharded == (12 * h * h + 7 * h) / 8);
  CHECK(share.replicated == 6 * h);
}

TEST_CASE("embedding and head: padded vocabulary, tied weight") {
  const Model gpt3 = model_named("gpt3-175b.toml");
  // 50,257 rows are padded to a multiple of 128 x 8 = 1024: 50 x 1024 = 51,200.
  CHECK(padded_vocabulary(gpt3, 8) == 51200);
  CHECK(padded_vocabulary(gpt3, 1) == 50304);
  const LayerShape shape = shape_of_paper(1, true);
  const std::int64_t h = 12288;
  CHECK(embedding_parameters(gpt3, shape).sharded == 6400 * h);
  CHECK(embedding_parameters(gpt3, shape).replicated == 2048 * h);
  CHECK(head_parameters(gpt3, shape, true).sharded == 6400 * h);
  CHECK(head_parameters(gpt3, shape, false).sharded == 0);
  CHECK(head_parameters(gpt3, shape, false).replicated == 2 * h);
}

TEST_CASE("experts are counted apart: their gradients are averaged over other ranks") {
  const Model model = model_named("mixtral-8x7b.toml");
  LayerShape shape;
  shape.sequence = 1;
  shape.expert_parallel = 4;
  const ParameterShare share = layer_parameters(model, shape);
  CHECK(share.expert == 2LL * 3 * 4096 * 14336);
  CHECK(share.replicated == 4096LL * 8 + 2LL * 4096);  // router, two norms
}

TEST_CASE("every second layer has experts") {
  Model model = model_named("mixtral-8x7b.toml");
  CHECK(layer_kinds(model) == 1);
  LayerKind moe{model, "moe"}, dense{model, "dense"};
  dense.experts = dense.experts_per_token = 0;
  model.layer_kinds = {dense, moe};
  model.layer_sequence = {"dense", "moe"};
  CHECK(number_layers(model).empty());
  CHECK(kind_of(model, 0) == 0);
  CHECK(kind_of(model, 31) == 1);
  CHECK(kind_name(model, 1) == "moe layer");
  // 16 layers with 8 experts and a router, 16 with one MLP.
  const std::int64_t mlp = 3LL * 4096 * 14336;
  const std::int64_t all = parameter_count(model_named("mixtral-8x7b.toml"));
  CHECK(parameter_count(model) == all - 16 * (7 * mlp + 4096LL * 8));
}

}  // namespace
}  // namespace tessera::workload
