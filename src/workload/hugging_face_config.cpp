// Keys of a Hugging Face config.json: which of them were asked for, and what is wrong with their values.
#include "hugging_face.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "json_keys.hpp"

namespace tessera::workload {

struct HuggingFaceConfig::State {
  State(std::string text_in, std::string file_in, config::Diagnostics& diagnostics_in)
      : text(std::move(text_in)), file(std::move(file_in)), diagnostics(diagnostics_in) {}

  /// The value, which counts as read; null where it is absent or null. "rope_parameters.rope_theta" is one within an
  /// object.
  const nlohmann::json* take(const std::string& path) {
    const std::size_t dot = path.find('.');
    const std::string key = path.substr(0, dot);
    known.insert(key);
    auto found = content.find(key);
    if (found == content.end()) return nullptr;
    const nlohmann::json* value = &*found;
    if (dot != std::string::npos) {
      if (!value->is_object() || !value->contains(path.substr(dot + 1))) return nullptr;
      value = &value->at(path.substr(dot + 1));
    }
    return value->is_null() ? nullptr : value;
  }
  [[nodiscard]] config::Location where(const std::string& key) const {
    const auto found = positions.find(key);
    if (found == positions.end()) return {file, 1, 1};
    return {file, found->second.line, found->second.column};
  }
  void wrong_type(const std::string& key, const nlohmann::json& value, const std::string& expected) {
    diagnostics.error(where(key), fmt::format("\"{}\": expected {}, not {}", key, expected, value.dump()));
  }

  std::string text, file;
  config::Diagnostics& diagnostics;
  const config::Table* over = nullptr;
  nlohmann::json content;  ///< the configuration, or the one within it that is read
  std::map<std::string, KeyPosition> positions;
  std::set<std::string> known;
  std::string field_of;                        ///< before the names of fields: "vision."
  std::map<std::string, FieldOrigin> origins;  ///< by field of Model

  /// The configuration under a key of this one is read from here on.
  bool go_into(const std::string& key) {
    const nlohmann::json* inner = take(key);
    if (inner == nullptr || !inner->is_object()) {
      diagnostics.error(where(key), fmt::format("\"{}\": expected an object, {{...}}", key));
      return false;
    }
    content = nlohmann::json(*inner);
    positions = key_positions(text, key);
    for (const auto& [again, at] : repeated_keys(text, key))
      diagnostics.error({file, at.line, at.column}, fmt::format("the key \"{}\" is given twice", again));
    known.clear();
    return true;
  }
  void set_origin(const std::string& field, const std::string& key) { origins[field_of + field] = {key, where(key)}; }
};

namespace {

bool is_off(const nlohmann::json& value) {
  if (value.is_null()) return true;
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0.0;
  return value.empty();  // a text, an array or an object
}

/// Whether a key that no family here reads is one of those that say what layers compute, by the words that families
/// name such things with. Losses, first values and factors are none.
bool names_computation(const std::string& key) {
  constexpr std::array harmless{"loss", "coef", "jitter", "init", "std", "dtype"};
  constexpr std::array words{"expert",      "moe",        "_rank",          "softcap",      "window",
                             "qk_norm",     "qk_layer",   "index_topk",     "index_n_head", "sparse",
                             "linear_attn", "linear_num", "_interval",      "_attn_every",  "parallel_",
                             "mlp_bias",    "qkv_bias",   "attention_bias", "mamba",        "ssm",
                             "conv_kernel", "state_size", "mrope",          "chunk_size",   "layer_types",
                             "nextn",       "cross_attn", "cross_layer",    "shared_layer", "kv_shared"};
  const auto is_in = [&](const char* word) { return key.find(word) != std::string::npos; };
  return std::ranges::none_of(harmless, is_in) && std::ranges::any_of(words, is_in);
}

}  // namespace

HuggingFaceConfig::HuggingFaceConfig(const std::string& json_text, std::string file, config::Diagnostics& diagnostics,
                                     const config::Table* over)
    : state_(std::make_unique<State>(without_infinities(json_text), std::move(file), diagnostics)) {
  state_->over = over;
  const std::string& json = state_->text;
  if (const auto problem = problem_of_json(json, config::most_levels)) {
    diagnostics.error({state_->file, problem->at.line, problem->at.column}, problem->what);
    return;
  }
  state_->content = nlohmann::json::parse(json);
  if (!state_->content.is_object()) {
    diagnostics.error({state_->file, 1, 1}, "a Hugging Face configuration is one JSON object, {...}");
    state_->content = nlohmann::json();
    return;
  }
  state_->positions = key_positions(json);
  for (const auto& [key, again] : repeated_keys(json))
    diagnostics.error({state_->file, again.line, again.column}, fmt::format("the key \"{}\" is given twice", key));
}

HuggingFaceConfig::~HuggingFaceConfig() = default;

bool HuggingFaceConfig::reads(const std::string& key) const { return state_->known.count(key) != 0; }

bool HuggingFaceConfig::valid() const { return state_->content.is_object(); }

bool HuggingFaceConfig::gives(const std::string& key) const { return state_->content.contains(key); }

bool HuggingFaceConfig::has(const std::string& key) const {
  const auto found = state_->content.find(key);
  return found != state_->content.end() && !found->is_null();
}

std::int64_t HuggingFaceConfig::integer_or(const std::string& field, const std::vector<std::string>& keys,
                                           std::int64_t fallback, std::int64_t least) {
  std::int64_t result = fallback;
  bool found = false;
  state_->set_origin(field, keys.front());
  for (const std::string& key : keys) {
    const nlohmann::json* value = state_->take(key);
    if (value == nullptr || found) continue;
    found = true;
    state_->set_origin(field, key);
    const bool fits = value->is_number_integer() && *value >= least && *value <= 1'000'000'000;
    if (fits) {
      result = value->get<std::int64_t>();
    } else {
      state_->wrong_type(key, *value, fmt::format("a whole number from {} to 1000000000", least));
    }
  }
  return result;
}

std::int64_t HuggingFaceConfig::integer(const std::string& field, const std::vector<std::string>& keys) {
  const bool present = std::any_of(keys.begin(), keys.end(), [&](const std::string& key) { return has(key); });
  if (!present) {
    std::string names;
    for (const std::string& key : keys) names += (names.empty() ? "\"" : " or \"") + key + "\"";
    state_->diagnostics.error({state_->file, 1, 1}, "missing key " + names + ", expected a whole number");
  }
  return integer_or(field, keys, 1);
}

bool HuggingFaceConfig::boolean_or(const std::string& key, bool fallback) {
  const nlohmann::json* value = state_->take(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  state_->wrong_type(key, *value, "true or false");
  return fallback;
}

std::string HuggingFaceConfig::text_or(const std::string& key, const std::string& fallback) {
  const nlohmann::json* value = state_->take(key);
  if (value == nullptr) return fallback;
  if (value->is_string()) return value->get<std::string>();
  state_->wrong_type(key, *value, "a text");
  return fallback;
}

double HuggingFaceConfig::number_or(const std::string& field, const std::vector<std::string>& keys, double fallback,
                                    double most) {
  double result = fallback;
  state_->set_origin(field, keys.front());
  for (const std::string& key : keys) {
    const nlohmann::json* value = state_->take(key);
    if (value == nullptr) continue;
    state_->set_origin(field, key);
    const bool fits = value->is_number() && value->get<double>() >= 0 && value->get<double>() <= most;
    if (fits) return value->get<double>();
    state_->wrong_type(key, *value, fmt::format("a number from 0 to {}", most));
  }
  return result;
}

std::vector<std::string> HuggingFaceConfig::texts_or(const std::string& key) {
  const nlohmann::json* value = state_->take(key);
  if (value == nullptr) return {};
  const auto is_text = [](const nlohmann::json& one) { return one.is_string(); };
  if (value->is_array() && std::ranges::all_of(*value, is_text)) return value->get<std::vector<std::string>>();
  state_->wrong_type(key, *value, "a list of texts");
  return {};
}

void HuggingFaceConfig::otherwise(const std::string& key, std::int64_t value) {
  if (!has(key)) state_->content[key] = value;
}

std::vector<std::int64_t> HuggingFaceConfig::integers_or(const std::string& key) {
  const nlohmann::json* value = state_->take(key);
  if (value == nullptr) return {};
  const auto is_whole = [](const nlohmann::json& one) { return one.is_number_integer(); };
  if (value->is_array() && std::ranges::all_of(*value, is_whole)) return value->get<std::vector<std::int64_t>>();
  state_->wrong_type(key, *value, "a list of whole numbers");
  return {};
}

bool HuggingFaceConfig::truth_or(const std::string& key, bool fallback) {
  const nlohmann::json* value = state_->take(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean() || value->is_number()) return !is_off(*value);
  state_->wrong_type(key, *value, "true or false");
  return fallback;
}

void HuggingFaceConfig::accept_quantization() {
  const char* key = "quantization_config";
  if (state_->take(key) == nullptr) return;
  const nlohmann::json* method = state_->take("quantization_config.quant_method");
  const std::string name = method != nullptr && method->is_string() ? escaped(method->get<std::string>()) : "quantised";
  state_->diagnostics.warn(
      where(key),
      fmt::format("\"{}\": published weights are {}; here they have the datatype of the workload", key, name));
}

void HuggingFaceConfig::leave_out(const std::string& key, const std::string& what) {
  if (state_->take(key) != nullptr)
    state_->diagnostics.warn(where(key), fmt::format("\"{}\": {} are left out", key, what));
}

bool HuggingFaceConfig::enter(const std::string& key) {
  refuse_other_code();
  state_->known.insert(key);
  warn_of_the_rest();
  if (!state_->go_into(key)) return false;
  read_common(*this);
  return true;
}

bool HuggingFaceConfig::within(const std::string& key, const std::string& field, const std::function<void()>& act) {
  const config::Location at = where(key);
  const nlohmann::json content = state_->content;
  const auto positions = state_->positions;
  auto known = state_->known;
  known.insert(key);
  if (!state_->go_into(key)) return false;
  state_->origins[field] = {key, at};
  state_->field_of = field + ".";
  read_common(*this);
  act();
  refuse_other_code();
  warn_of_the_rest();
  state_->field_of.clear();
  state_->content = content;
  state_->positions = positions;
  state_->known = known;
  return true;
}

void HuggingFaceConfig::accept_code(const std::string& configuration) {
  const nlohmann::json* code = state_->take("auto_map");
  if (code == nullptr) return;
  const std::string own = code->is_object() ? code->value("AutoConfig", "") : "";
  if (!own.ends_with("." + configuration))
    refuse("auto_map", fmt::format("null, or the code of {}, which transformers has since", configuration));
}

void HuggingFaceConfig::refuse_other_code() {
  for (const char* key : {"auto_map", "quantization_config"})
    if (!reads(key)) must_be_off({key});
}

bool HuggingFaceConfig::dropout(const std::vector<std::string>& keys, double fallback) {
  std::size_t active = 0;
  for (const std::string& key : keys) {
    const nlohmann::json* value = state_->take(key);
    if (value != nullptr && !value->is_number()) state_->wrong_type(key, *value, "a probability");
    const double probability = value != nullptr && value->is_number() ? value->get<double>() : fallback;
    if (probability != 0.0) ++active;
  }
  if (active != 0 && active != keys.size()) {
    state_->diagnostics.warn(where(keys.front()),
                             "dropout layers are modelled all or none; here some are 0, and all are counted");
  }
  return active != 0;
}

void HuggingFaceConfig::ignore(std::initializer_list<const char*> keys) {
  state_->known.insert(keys.begin(), keys.end());
}

void HuggingFaceConfig::ignore_all() {
  for (const auto& item : state_->content.items()) state_->known.insert(item.key());
}

void HuggingFaceConfig::refuse(const std::string& key, const std::string& allowed) {
  const auto found = state_->content.find(key);
  const std::string value = found == state_->content.end() ? "null" : found->dump();
  state_->diagnostics.error(
      where(key),
      fmt::format("\"{}\": {} changes the computation and is not modelled, allowed: {}", key, value, allowed));
}

void HuggingFaceConfig::must_be_off(std::initializer_list<const char*> keys) {
  for (const char* key : keys) {
    const nlohmann::json* value = state_->take(key);
    if (value == nullptr || is_off(*value)) continue;
    refuse(key, value->is_boolean() ? "false" : value->is_number() ? "null or 0" : "null");
  }
}

void HuggingFaceConfig::report(const std::string& key, const std::string& what) {
  state_->diagnostics.error(where(key), fmt::format("\"{}\": {}", key, what));
}

bool HuggingFaceConfig::is_laid_over(const std::string& table, const std::string& key) const {
  const config::Value* found = state_->over == nullptr ? nullptr : state_->over->find(table);
  return found != nullptr && found->table() != nullptr && found->table()->find(key) != nullptr;
}

void HuggingFaceConfig::warn(const std::string& key, const std::string& what) {
  state_->diagnostics.warn(where(key), fmt::format("\"{}\": {}", key, what));
}

std::string HuggingFaceConfig::text_within(const std::string& key, const std::string& inner) const {
  const auto found = state_->content.find(key);
  if (found == state_->content.end() || !found->is_object()) return {};
  const auto value = found->find(inner);
  return value != found->end() && value->is_string() ? value->get<std::string>() : std::string();
}

void HuggingFaceConfig::must_be(const std::string& key, const std::string& text) {
  const nlohmann::json* value = state_->take(key);
  if (value != nullptr && *value != text) refuse(key, "\"" + text + "\"");
}

void HuggingFaceConfig::warn_of_the_rest() {
  for (const auto& item : state_->content.items()) {
    if (item.value().is_null() || state_->known.count(item.key()) != 0) continue;  // null is as if it were not there
    if (names_computation(item.key()) && !is_off(item.value())) {
      refuse(item.key(), "null, since this family does not read it");
      continue;
    }
    state_->diagnostics.warn(
        where(item.key()),
        fmt::format("unknown key \"{}\" is not read (docs/model-families.md lists those that are)", item.key()));
  }
}

FieldOrigin HuggingFaceConfig::origin(const std::string& path) const {
  const auto whole = state_->origins.find(path);
  if (whole != state_->origins.end()) return whole->second;
  const std::string field = path.substr(path.rfind('.') + 1);  // of a kind of layers too
  const bool is_of_vision = path.starts_with("vision.");
  const auto found = state_->origins.find(is_of_vision ? "vision" : field);
  if (found == state_->origins.end()) return {field, {state_->file, 1, 1}};
  return found->second;
}

config::Location HuggingFaceConfig::where(const std::string& key) const { return state_->where(key); }

}  // namespace tessera::workload
