// The computation graph of what an experiment would name as its model.
#include "tessera/workload/graph_file.hpp"
#include "tree.hpp"

namespace tessera::experiment {

namespace {
constexpr std::int64_t usual_sequence = 2048;
}  // namespace

workload::Graph model_graph(const std::string& model, std::int64_t sequence,
                            const std::vector<std::filesystem::path>& folders, config::Diagnostics& diagnostics) {
  config::Table root;
  root.set("model", {model, {}});
  InputFiles files;
  inline_model(root, {"", folders, files}, diagnostics);
  if (!diagnostics.ok() || root.find("model") == nullptr) return {};
  const auto completed = complete(root, {});
  const config::Table& table = *completed->find("model")->table();
  if (const config::Value* graph = table.find("graph"); graph != nullptr && graph->table() != nullptr)
    return workload::read_graph(*graph->table(), diagnostics);
  workload::Model read = workload::read_model(table, diagnostics);
  if (!diagnostics.ok()) return {};
  if (has_vision(read)) {
    read.name += " without its vision tower";
    read.vision = {};
  }
  workload::LayerShape shape;
  shape.sequence = sequence > 0 ? sequence : read.max_positions > 0 ? read.max_positions : usual_sequence;
  shape.phase = workload::Phase::prompt;
  return workload::transformer_graph(read, shape);
}

}  // namespace tessera::experiment
