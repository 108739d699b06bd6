// The computation graph of what an experiment would name as its model.
#include <nlohmann/json.hpp>

#include "tessera/base/error.hpp"
#include "tessera/workload/graph_file.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t usual_sequence = 2048;

/// Whether a file lists nodes, and is no transformer by its dimensions.
bool lists_nodes(const std::string& file, const std::string& text) {
  if (file.ends_with(".onnx")) return true;
  if (file.ends_with(".json")) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    return json.is_object() && json.contains("nodes");
  }
  config::Diagnostics ignored;
  const auto table = config::parse_toml(text, file, ignored);
  return table != nullptr && table->find("nodes") != nullptr;
}

bool is_file(const std::string& name) {
  for (const char* extension : {".toml", ".json", ".onnx"})
    if (name.ends_with(extension)) return true;
  return false;
}

}  // namespace

workload::Graph model_graph(const std::string& model, std::int64_t sequence, const std::vector<fs::path>& folders,
                            config::Diagnostics& diagnostics) {
  if (is_file(model)) {
    const auto text = read_file(model);
    if (!text) throw InputError(model + ": there is no such file");
    if (lists_nodes(model, *text)) return workload::read_graph_file(*text, model, diagnostics);
  }
  config::Table root;
  root.set("model", {model, {}});
  inline_model(root, {"", folders}, diagnostics);
  const config::Value* found = root.find("model");
  if (!diagnostics.ok() || found == nullptr) return {};
  const workload::Model read = workload::read_model(*complete(root, {})->find("model")->table(), diagnostics);
  if (!diagnostics.ok()) return {};
  workload::LayerShape shape;
  shape.sequence = sequence > 0 ? sequence : read.max_positions > 0 ? read.max_positions : usual_sequence;
  shape.phase = workload::Phase::prompt;
  return workload::transformer_graph(read, shape);
}

}  // namespace tessera::experiment
