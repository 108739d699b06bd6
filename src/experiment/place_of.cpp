// From the path of a key to where it stands.
#include "tessera/experiment/experiment.hpp"

namespace tessera::experiment {

config::Location place_of(const config::Table& resolved, const std::string& key) {
  const config::Table* table = &resolved;
  config::Location where = resolved.where();
  for (std::size_t begin = 0; table != nullptr && begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const config::Value* value = table->find(key.substr(begin, end - begin));
    if (value == nullptr) break;
    if (value->where().line > 0 || !value->where().file.empty()) where = value->where();
    table = value->table();
    begin = end + 1;
  }
  return where;
}

config::Location place_of_datatype(const config::Table& resolved, std::size_t node) {
  const config::Location otherwise = place_of(resolved, "model.graph.nodes");
  const config::Value* model = resolved.find("model");
  const config::Value* graph = model == nullptr || model->table() == nullptr ? nullptr : model->table()->find("graph");
  const config::Value* nodes = graph == nullptr || graph->table() == nullptr ? nullptr : graph->table()->find("nodes");
  if (nodes == nullptr || nodes->array() == nullptr || node >= nodes->array()->size()) return otherwise;
  const config::Value& entry = (*nodes->array())[node];
  const config::Value* datatype = entry.table() == nullptr ? nullptr : entry.table()->find("datatype");
  const config::Location& where = datatype == nullptr ? entry.where() : datatype->where();
  return where.file.empty() ? otherwise : where;
}

}  // namespace tessera::experiment
