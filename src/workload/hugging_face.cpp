// Which family reads a Hugging Face config.json, and what all of them have in common.
#include "hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tessera/base/text.hpp"

namespace tessera::workload {

/// What every family treats alike.
void read_common(HuggingFaceConfig& config) {
  config.ignore({"_attn_implementation_autoset",
                 "_name_or_path",
                 "architectures",
                 "bos_token_id",
                 "dtype",
                 "eos_token_id",
                 "gradient_checkpointing",
                 "id2label",
                 "initializer_range",
                 "label2id",
                 "layer_norm_eps",
                 "layer_norm_epsilon",
                 "model_type",
                 "output_attentions",
                 "output_hidden_states",
                 "pad_token_id",
                 "prefix",
                 "problem_type",
                 "return_dict",
                 "rms_norm_eps",
                 "task_specific_params",
                 "torch_dtype",
                 "transformers_version",
                 "unk_token_id",
                 "use_cache"});
  config.must_be_off({"add_cross_attention", "is_encoder_decoder", "pruned_heads"});
}

namespace {

/// The key that says the family: diffusers names a class.
const char* type_key(const HuggingFaceConfig& config) {
  return config.has("model_type") || !config.has("_class_name") ? "model_type" : "_class_name";
}

const Family* find_family(HuggingFaceConfig& config, const std::string& file, config::Diagnostics& diagnostics) {
  const std::string key = type_key(config), type = config.text_or(key, "");
  std::vector<std::string> types;
  for (const Family& family : families()) {
    for (const std::string& known : family.model_types) {
      if (known == type) return &family;
      types.push_back(known);
    }
  }
  std::sort(types.begin(), types.end());
  if (type.empty()) {
    diagnostics.error({file, 1, 1}, "missing key \"model_type\", expected one of " + config::listed(types));
  } else {
    diagnostics.error(config.where(key), fmt::format("\"{}\": {}", key, config::unknown("choice", type, types)));
  }
  return nullptr;
}

Model read_config(HuggingFaceConfig& config, const std::string& file, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  const Family* family = find_family(config, file, diagnostics);
  if (family == nullptr) return {};
  read_common(config);
  const std::string type = config.text_or(type_key(config), ""), name = config.text_or("_name_or_path", "");
  Model model = family->read(config);
  model.family = type;
  model.source = "Hugging Face configuration " + escaped(std::filesystem::path(file).filename().string());
  model.name = name.empty() ? escaped(std::filesystem::path(file).stem().string()) : name;
  config.refuse_other_code();
  config.warn_of_the_rest();
  if (diagnostics.errors().size() != before) return model;
  settle_model(
      model, [&](const std::string& field) { return config.origin(field); }, diagnostics);
  return model;
}

}  // namespace

Model read_hugging_face(const std::string& json, const std::string& file, config::Diagnostics& diagnostics) {
  HuggingFaceConfig config(json, file, diagnostics);
  return config.valid() ? read_config(config, file, diagnostics) : Model{};
}

std::shared_ptr<config::Table> read_hugging_face_table(const std::string& json, const std::string& file,
                                                       config::Diagnostics& diagnostics, const config::Table* over) {
  const std::size_t before = diagnostics.errors().size();
  HuggingFaceConfig config(json, file, diagnostics, over);
  if (!config.valid()) return nullptr;
  const Model model = read_config(config, file, diagnostics);
  if (diagnostics.errors().size() != before) return nullptr;
  config::Table fields;
  write_model(model, fields);
  auto placed = std::make_shared<config::Table>(config::Location{file, 1, 1});
  for (const auto& [field, value] : fields.entries()) {
    placed->set(field, config::relocated(value, config.origin(field).where));
  }
  return placed;
}

}  // namespace tessera::workload
