// Graphs as tables: from TOML, from JSON, and into a resolved experiment.
#include "tessera/workload/graph_file.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "../json_keys.hpp"
#include "entries.hpp"
#include "onnx/onnx.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/workload/json_table.hpp"

namespace tessera::workload {
namespace {

constexpr double most_flops = 1e18;

/// Where an entry of a list stands, or a key of it that is given, or an element of that key's list; where the table
/// begins, if they stand nowhere.
config::Location place_in(const config::Table& table, const char* list, std::size_t index, const std::string& key = {},
                          std::size_t element = 0) {
  const config::Value& entry = (*table.find(list)->array())[index];
  const config::Value* found = entry.table()->find(key);
  if (found != nullptr && found->array() != nullptr && element < found->array()->size())
    found = &(*found->array())[element];
  const config::Location& where = found == nullptr ? entry.where() : found->where();
  return where.file.empty() ? table.where() : where;
}

class GraphReader {
 public:
  GraphReader(const config::Table& table, config::Diagnostics& diagnostics)
      : table_(table), entry_(entry_schema().read(table, diagnostics)), diagnostics_(diagnostics) {}

  Graph read() {
    graph_.name = entry_.name;
    for (const TensorEntry& tensor : entry_.tensors) add(tensor);
    for (at_ = 0; at_ < entry_.nodes.size(); ++at_) add(entry_.nodes[at_]);
    return std::move(graph_);
  }

 private:
  void problem(const NodeEntry& node, const std::string& key, const std::string& what) {
    diagnostics_.error(place_in(table_, "nodes", at_, key), fmt::format("node {}: {}", node.name, what));
  }

  void add(const TensorEntry& entry) {
    const auto id = static_cast<TensorId>(graph_.tensors.size());
    if (!ids_.emplace(entry.name, id).second)
      diagnostics_.error(place_in(table_, "tensors", id, "name"),
                         fmt::format("tensor \"{}\" is there twice, allowed: once", entry.name));
    Tensor tensor{entry.name, TensorKind::made, entry.elements, entry.bytes};
    for (const auto& [name, kind] : tensor_kinds())
      if (name == entry.kind) tensor.kind = kind;
    if (tensor.bytes < 0) tensor.bytes = saturating_product(entry.elements, bytes_per_element(entry_.datatype));
    graph_.tensors.push_back(tensor);
  }

  void add(const NodeEntry& entry) {
    GraphNode node{entry.name, {}, tensors(entry, "reads", entry.reads), tensors(entry, "writes", entry.writes)};
    const std::string datatype = entry.datatype.empty() ? entry_.datatype : entry.datatype;
    if (std::ranges::find(datatype_names(), datatype) == datatype_names().end())
      return problem(entry, "datatype", config::unknown("datatype", datatype, datatype_names()));
    const bool is_gemm = entry.kind == "gemm", has_sides = entry.m > 0 && entry.n > 0 && entry.k > 0;
    if (is_gemm && !has_sides) return problem(entry, "", "a gemm needs m, n and k of at least 1");
    if (!is_gemm && entry.m + entry.n + entry.k > 0)
      return problem(entry,
                     entry.m > 0   ? "m"
                     : entry.n > 0 ? "n"
                                   : "k",
                     "m, n and k are those of a gemm, and this is " + entry.kind);
    const Convolution& convolution = entry.convolution;
    if (convolution.is_one() && !is_gemm)
      return problem(entry, "convolution", "a convolution is that of a gemm, and this is " + entry.kind);
    if (convolution.is_one() && !agrees(convolution, entry))
      return problem(
          entry, "convolution",
          fmt::format("a gemm of {} x {} x {}, allowed: m in whole outputs of {} x {}, k in whole windows of "
                      "{} x {}",
                      entry.m, entry.n, entry.k, convolution.out_height, convolution.out_width,
                      convolution.window_height, convolution.window_width));
    double flops = 2 * static_cast<double>(entry.batch);
    for (const std::int64_t side : {entry.m, entry.n, entry.k}) flops *= static_cast<double>(side);
    if (flops > most_flops) return problem(entry, "", "a product of more than 10^18 FLOP");
    Operator op = is_gemm ? gemm(entry.name, entry.batch, entry.m, entry.n, entry.k, datatype) : Operator{};
    op.name = entry.name;
    op.convolution = convolution;
    op.datatype = datatype;
    for (const auto& [name, kind] : node_kinds())
      if (name == entry.kind) op.kind = kind;
    op.bytes_read = entry.bytes_read < 0 ? bytes(node.reads) : entry.bytes_read;
    op.bytes_written = entry.bytes_written < 0 ? bytes(node.writes) : entry.bytes_written;
    node.work.forward = {op};
    graph_.nodes.push_back(std::move(node));
  }

  [[nodiscard]] static bool agrees(const Convolution& of, const NodeEntry& entry) {
    return entry.m % (of.out_height * of.out_width) == 0 && entry.k % (of.window_height * of.window_width) == 0;
  }

  std::vector<TensorId> tensors(const NodeEntry& node, const char* key, const std::vector<std::string>& names) {
    std::vector<TensorId> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto id = ids_.find(names[i]);
      if (id != ids_.end())
        found.push_back(id->second);
      else
        diagnostics_.error(place_in(table_, "nodes", at_, key, i),
                           fmt::format("node {}: there is no tensor \"{}\"", node.name, names[i]));
    }
    return found;
  }

  [[nodiscard]] std::int64_t bytes(const std::vector<TensorId>& tensors) const {
    std::int64_t sum = 0;
    for (const TensorId id : tensors) sum = saturating_sum(sum, graph_.tensors[id].bytes);
    return sum;
  }

  const config::Table& table_;
  GraphEntry entry_;
  config::Diagnostics& diagnostics_;
  Graph graph_;
  std::map<std::string, TensorId> ids_;
  std::size_t at_ = 0;  ///< the node that is being read
};

std::shared_ptr<config::Table> parse_entries(const std::string& content, const std::string& file,
                                             config::Diagnostics& diagnostics) {
  return file.ends_with(".json") ? parse_json(content, file, {"an object with tensors and nodes"}, diagnostics)
                                 : config::parse_toml(content, file, diagnostics);
}

}  // namespace

const config::SchemaBase& graph_schema() { return entry_schema(); }

Graph read_graph(const config::Table& table, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  GraphReader reader(table, diagnostics);
  if (diagnostics.errors().size() != before) return {};
  Graph graph = reader.read();
  if (diagnostics.errors().size() != before) return graph;
  for (const auto& [what, node] : check_graph(graph))
    diagnostics.error(node ? place_in(table, "nodes", *node) : table.where(), what);
  return graph;
}

std::shared_ptr<config::Table> graph_table(const Graph& graph, const config::Location& where) {
  GraphEntry entry{graph.name, "fp16", {}, {}};
  for (const Tensor& tensor : graph.tensors) {
    TensorEntry one{tensor.name, "", tensor.elements, tensor.bytes};
    for (const auto& [name, kind] : tensor_kinds())
      if (kind == tensor.kind) one.kind = name;
    entry.tensors.push_back(one);
  }
  for (const GraphNode& node : graph.nodes) {
    if (node.work.forward.size() != 1 || !node.work.input_gradient.empty())
      throw InternalError("node " + node.name + " has more than one operator: it cannot stand in a table");
    const Operator& op = node.work.forward.front();
    NodeEntry one{node.name, name_of(op.kind), op.datatype,      op.batch, op.m, op.n,
                  op.k,      op.bytes_read,    op.bytes_written, {},       {},   op.convolution};
    for (const TensorId id : node.reads) one.reads.push_back(graph.tensors[id].name);
    for (const TensorId id : node.writes) one.writes.push_back(graph.tensors[id].name);
    entry.nodes.push_back(std::move(one));
  }
  auto table = std::make_shared<config::Table>(where);
  entry_schema().write(entry, *table);
  return std::get<std::shared_ptr<config::Table>>(config::relocated({table, where}, where).content());
}

bool lists_nodes(const std::string& content, const std::string& file) {
  if (file.ends_with(".onnx")) return true;
  if (file.ends_with(".json")) {
    if (problem_of_json(content, config::most_levels)) return false;  // whoever reads it says so
    const auto json = nlohmann::json::parse(content);
    return json.is_object() && json.contains("nodes") && !json["nodes"].is_null();
  }
  config::Diagnostics ignored;
  const auto table = config::parse_toml(content, file, ignored);
  return ignored.ok() && table != nullptr && table->find("nodes") != nullptr;
}

Graph read_graph_file(const std::string& content, const std::string& file, config::Diagnostics& diagnostics,
                      const OnnxKeys& keys) {
  const std::size_t before = diagnostics.errors().size();
  if (file.ends_with(".onnx")) {
    Graph graph = read_onnx(content, file, keys, diagnostics);
    if (diagnostics.errors().size() != before) return graph;
    for (const GraphProblem& problem : check_graph(graph)) diagnostics.error({file, 0, 0}, problem.what);
    return graph;
  }
  const auto table = parse_entries(content, file, diagnostics);
  return table == nullptr || diagnostics.errors().size() != before ? Graph{} : read_graph(*table, diagnostics);
}

std::shared_ptr<config::Table> read_graph_table(const std::string& content, const std::string& file,
                                                config::Diagnostics& diagnostics, const OnnxKeys& keys) {
  const std::size_t before = diagnostics.errors().size();
  const bool is_onnx = file.ends_with(".onnx");
  auto table = is_onnx ? nullptr : parse_entries(content, file, diagnostics);
  if (diagnostics.errors().size() != before) return nullptr;
  const Graph graph = is_onnx ? read_graph_file(content, file, diagnostics, keys) : read_graph(*table, diagnostics);
  if (diagnostics.errors().size() != before) return nullptr;
  return is_onnx ? graph_table(graph, {file, 1, 1}) : table;
}

}  // namespace tessera::workload
