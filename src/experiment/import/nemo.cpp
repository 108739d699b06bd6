// A YAML configuration of NeMo's launcher, of Megatron Bridge, or of Megatron-LM itself: its leaves are options.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "../foreign_files.hpp"
#include "launch.hpp"
#include "yaml.hpp"

namespace tessera::experiment::importing {
namespace {

/// Sections that say nothing of the computation.
constexpr std::array passed_over{
    "run",           "exp_manager",    "nsys_profile", "sched",   "scheduler",    "logger",
    "checkpoint",    "resume",         "log",          "data",    "dataset",      "tokenizer",
    "env_vars",      "ENV_VARS",       "defaults",     "hydra",   "profiling",    "validation",
    "rng",           "dist",           "ft",           "METRICS", "SCRIPT_SETUP", "AFTER_SCRIPT",
    "BEFORE_SCRIPT", "nvrx_straggler", "straggler"};

/// Values that name others, as OmegaConf and NeMo's own resolvers write them: "${.hidden_size}",
/// "${multiply:4, ${.hidden_size}}", "${training.model.num_layers}".
class Interpolation {
 public:
  Interpolation(const config::Table& root, std::vector<const config::Table*> path)
      : root_(root), path_(std::move(path)) {}

  /// The text with what it names put in; as it is where that is not known.
  [[nodiscard]] std::string resolved(const std::string& text, int depth = 0) const {
    const std::size_t begin = text.rfind("${");
    if (begin == std::string::npos || depth > 16) return text;
    const std::size_t end = text.find('}', begin);
    if (end == std::string::npos) return text;
    const auto value = value_of(text.substr(begin + 2, end - begin - 2));
    if (!value) return text;
    return resolved(text.substr(0, begin) + *value + text.substr(end + 1), depth + 1);
  }

 private:
  [[nodiscard]] std::optional<std::string> value_of(const std::string& inside) const {
    const std::size_t colon = inside.find(':');
    return colon == std::string::npos ? named(inside) : computed(inside.substr(0, colon), inside.substr(colon + 1));
  }

  static std::optional<std::string> computed(const std::string& function, std::string_view arguments) {
    const std::size_t comma = arguments.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const auto left = number(arguments.substr(0, comma)), right = number(arguments.substr(comma + 1));
    std::int64_t result = 0;
    if (!left || !right) return std::nullopt;
    if (function == "multiply" && !__builtin_mul_overflow(*left, *right, &result)) return std::to_string(result);
    if ((function == "divide_floor" || function == "divide") && *right > 0) return std::to_string(*left / *right);
    if ((function == "add" || function == "sum") && !__builtin_add_overflow(*left, *right, &result))
      return std::to_string(result);
    return std::nullopt;
  }

  static std::optional<std::int64_t> number(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    std::int64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [parsed, problem] = std::from_chars(text.data(), end, value);
    return problem == std::errc{} && parsed == end ? std::optional(value) : std::nullopt;
  }

  /// ".key" beside the value, "..key" one level up, "a.b" from the top, which launchers call "training".
  [[nodiscard]] std::optional<std::string> named(std::string name) const {
    const std::size_t dots = std::min(name.find_first_not_of('.'), name.size());
    if (dots > path_.size()) return std::nullopt;
    const config::Table* table = dots > 0 ? path_[path_.size() - dots] : &root_;
    name.erase(0, dots);
    if (dots == 0 && name.starts_with("training.") && root_.find("training") == nullptr) name.erase(0, 9);
    for (std::size_t dot = name.find('.'); dot != std::string::npos && table != nullptr; dot = name.find('.')) {
      const config::Value* next = table->find(name.substr(0, dot));
      table = next == nullptr ? nullptr : next->table();
      name.erase(0, dot + 1);
    }
    const config::Value* value = table == nullptr ? nullptr : table->find(name);
    if (value == nullptr) return std::nullopt;
    if (const auto* text = value->string()) return *text;
    if (const auto* whole = std::get_if<std::int64_t>(&value->content())) return std::to_string(*whole);
    return std::nullopt;
  }

  const config::Table& root_;
  std::vector<const config::Table*> path_;  ///< from the root to the table that the value stands in
};

/// Leaves of a configuration, each as an option of the name of its key.
class Leaves {
 public:
  explicit Leaves(const config::Table& root) : root_(root) { add(root, {}); }
  [[nodiscard]] Flags flags() && { return std::move(flags_); }

 private:
  void add(const config::Table& table, std::vector<const config::Table*> path) {
    path.push_back(&table);
    for (const auto& [key, value] : table.entries()) {
      const bool is_left_out = std::ranges::find(passed_over, key) != passed_over.end();
      if (value.table() != nullptr) {
        if (!is_left_out)
          add(*value.table(), path);
        else if (key == "tokenizer" || key == "data" || key == "dataset")
          add_sizes(*value.table(), path);
      } else if (!is_left_out) {
        flags_.push_back(make_flag(key, Interpolation(root_, path).resolved(text_of(value)), value.key_where()));
      }
    }
  }

  /// Of the tokenizer its name, which may stand for a vocabulary; of data what NeMo 2 says there of batches.
  void add_sizes(const config::Table& table, const std::vector<const config::Table*>& path) {
    for (const char* key : {"type", "tokenizer_type", "tokenizer_name", "tokenizer_model", "vocab_size", "seq_length",
                            "micro_batch_size", "global_batch_size"})
      if (const config::Value* value = table.find(key); value != nullptr && find(flags_, key) == nullptr)
        flags_.push_back(make_flag(key, Interpolation(root_, path).resolved(text_of(*value)), value->key_where()));
  }

  static std::string text_of(const config::Value& value) {
    if (const std::string* text = value.string()) return *text;
    if (const auto* is_true = std::get_if<bool>(&value.content())) return *is_true ? "true" : "false";
    if (const auto* whole = std::get_if<std::int64_t>(&value.content())) return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&value.content())) return fmt::format("{}", *number);
    std::string all;
    if (const config::Array* list = value.array())
      for (const config::Value& item : *list) all += (all.empty() ? "" : " ") + text_of(item);
    return all;
  }

  const config::Table& root_;
  Flags flags_;
};

bool recognises_yaml(const Sources& files) {
  if (files.size() != 1) return false;
  const std::string kind = kind_of_foreign_file(files[0].text, files[0].path);
  return kind == "a YAML file";
}

/// A list of everything that a run was given is named "MODEL_ARGS" there, with options as keys.
bool is_of_megatron(const config::Table& root) {
  return root.find("MODEL_ARGS") != nullptr || root.find("language_model") != nullptr;
}

void read_yaml(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics) {
  const SourceFile& file = files.front();
  if (files.size() != 1) return diagnostics.error({files[1].path, 1, 1}, "one configuration at a time");
  const auto root = parse_yaml(file.text, file.path, diagnostics);
  if (root == nullptr) return;
  Flags flags = Leaves(*root).flags();
  const bool names_model = std::ranges::any_of(request.settings, [](const Setting& one) { return one.key == "model"; });
  if (find(flags, "num_layers") == nullptr && !names_model)
    return diagnostics.error({file.path, 1, 1},
                             "no \"num_layers\" in this configuration; where a class stands for the model, --set "
                             "model=NAME names it (tessera list models)");
  draft.title = std::filesystem::path(file.path).stem().string();
  SourceSize size;
  size.nodes = count_in(flags, "num_nodes", diagnostics).value_or(0);
  size.devices_per_node = count_in(flags, "devices", diagnostics).value_or(0);
  // Apex's distributed Adam is what cuts optimizer state over the replicas in NeMo's launcher.
  const Flag* optimizer = find(flags, "name");
  if (optimizer != nullptr && optimizer->value.find("distributed") != std::string::npos)
    flags.push_back(
        {"use_distributed_optimizer", optimizer->given + ": " + optimizer->value, "true", {}, optimizer->where});
  const bool megatron = is_of_megatron(*root);
  read_launch(request, files, flags, size, {megatron ? "megatron-core-0.8" : "nemo-2024", true, !megatron}, draft,
              diagnostics);
}

}  // namespace

ImportFormat nemo() {
  return {"nemo", "a YAML configuration of NeMo's launcher, Megatron Bridge or Megatron-LM", recognises_yaml,
          read_yaml};
}

}  // namespace tessera::experiment::importing
