// Graphs as tables: from TOML, from JSON, and into a resolved experiment.
#include "tessera/workload/graph_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "../json_keys.hpp"
#include "onnx/onnx.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

/// What a file says of a tensor; its bytes follow from its datatype where they are not given.
struct TensorEntry {
  std::string name, kind = "made";
  std::int64_t elements = 0, bytes = -1;
};

/// The same of a node; what it reads and writes in memory follows from its tensors.
struct NodeEntry {
  std::string name, kind, datatype;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t bytes_read = -1, bytes_written = -1;
  std::vector<std::string> reads, writes;
};

struct GraphEntry {
  std::string name, datatype = "fp16";
  std::vector<TensorEntry> tensors;
  std::vector<NodeEntry> nodes;
};

const std::vector<std::pair<std::string, TensorKind>>& tensor_kinds() {
  static const std::vector<std::pair<std::string, TensorKind>> kinds{{"input", TensorKind::input},
                                                                     {"made", TensorKind::made},
                                                                     {"parameter", TensorKind::parameter},
                                                                     {"constant", TensorKind::constant}};
  return kinds;
}

/// Those that a node of a file can be: what is counted by its operands.
const std::vector<std::pair<std::string, OperatorKind>>& node_kinds() {
  static const std::vector<std::pair<std::string, OperatorKind>> kinds = [] {
    std::vector<std::pair<std::string, OperatorKind>> all;
    for (const OperatorKind kind :
         {OperatorKind::gemm, OperatorKind::norm, OperatorKind::elementwise, OperatorKind::fused, OperatorKind::dropout,
          OperatorKind::softmax, OperatorKind::embedding, OperatorKind::reduction, OperatorKind::copy})
      all.emplace_back(name_of(kind), kind);
    return all;
  }();
  return kinds;
}

template <class Kinds>
std::vector<std::string> names_in(const Kinds& kinds) {
  std::vector<std::string> names;
  for (const auto& [name, kind] : kinds) names.push_back(name);
  return names;
}

constexpr const char* most_bytes = "1000000000000000";
constexpr double most_flops = 1e18;

const config::Schema<TensorEntry>& tensor_schema() {
  static const config::Schema<TensorEntry> schema = [] {
    config::Schema<TensorEntry> s("graph.tensors", "What goes from one node to another, or is there from the start.");
    s.text("name", &TensorEntry::name, "unique in the graph");
    s.choice("kind", &TensorEntry::kind, names_in(tensor_kinds()),
             "made by a node; or there from the start: a batch's input, trained, or a constant of the model")
        .otherwise("made");
    s.integer("elements", &TensorEntry::elements, "numbers in it").at_least("0").at_most(most_bytes);
    s.integer("bytes", &TensorEntry::bytes, "-1: as many as its elements take in the graph's datatype")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    return s;
  }();
  return schema;
}

const config::Schema<NodeEntry>& node_schema() {
  static const config::Schema<NodeEntry> schema = [] {
    config::Schema<NodeEntry> s("graph.nodes", "One operator.");
    s.text("name", &NodeEntry::name, "unique in the graph");
    s.choice("kind", &NodeEntry::kind, names_in(node_kinds()), "what is computed; all but gemm stream through memory");
    s.text("datatype", &NodeEntry::datatype, "of its operands; empty: the graph's").otherwise("");
    s.integer("batch", &NodeEntry::batch, "gemm: products").at_least("1").at_most(most_bytes).otherwise("1");
    for (const auto& [key, member] :
         {std::pair{"m", &NodeEntry::m}, std::pair{"n", &NodeEntry::n}, std::pair{"k", &NodeEntry::k}})
      s.integer(key, member, "gemm: (m x k) (k x n)").at_least("0").at_most(most_bytes).otherwise("0");
    s.integer("bytes_read", &NodeEntry::bytes_read, "from memory; -1: all that it reads")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    s.integer("bytes_written", &NodeEntry::bytes_written, "to memory; -1: all that it writes")
        .at_least("-1")
        .at_most(most_bytes)
        .otherwise("-1");
    s.texts("reads", &NodeEntry::reads, "names of tensors").optional();
    s.texts("writes", &NodeEntry::writes, "names of tensors");
    return s;
  }();
  return schema;
}

const config::Schema<GraphEntry>& entry_schema() {
  static const config::Schema<GraphEntry> schema = [] {
    config::Schema<GraphEntry> s("graph", "A computation graph, operator by operator.");
    s.text("name", &GraphEntry::name, "of the graph");
    s.choice("datatype", &GraphEntry::datatype, datatype_names(), "of tensors and operands").otherwise("fp16");
    s.tables("tensors", &GraphEntry::tensors, tensor_schema(), "all tensors");
    s.tables("nodes", &GraphEntry::nodes, node_schema(), "all operators, in any order");
    return s;
  }();
  return schema;
}

class GraphReader {
 public:
  GraphReader(const config::Table& table, config::Diagnostics& diagnostics)
      : where_(table.where()), entry_(entry_schema().read(table, diagnostics)), diagnostics_(diagnostics) {}

  Graph read() {
    graph_.name = entry_.name;
    for (const TensorEntry& tensor : entry_.tensors) add(tensor);
    for (const NodeEntry& node : entry_.nodes) add(node);
    return std::move(graph_);
  }

 private:
  void problem(const std::string& what) { diagnostics_.error(where_, what); }

  void add(const TensorEntry& entry) {
    const auto id = static_cast<TensorId>(graph_.tensors.size());
    if (!ids_.emplace(entry.name, id).second) problem(fmt::format("tensor \"{}\" is there twice", entry.name));
    Tensor tensor{entry.name, TensorKind::made, entry.elements, entry.bytes};
    for (const auto& [name, kind] : tensor_kinds())
      if (name == entry.kind) tensor.kind = kind;
    if (tensor.bytes < 0) tensor.bytes = saturating_product(entry.elements, bytes_per_element(entry_.datatype));
    graph_.tensors.push_back(tensor);
  }

  void add(const NodeEntry& entry) {
    GraphNode node{entry.name, {}, tensors(entry, entry.reads), tensors(entry, entry.writes)};
    const std::string datatype = entry.datatype.empty() ? entry_.datatype : entry.datatype;
    if (std::ranges::find(datatype_names(), datatype) == datatype_names().end())
      return problem("node " + entry.name + ": " + config::unknown("datatype", datatype, datatype_names()));
    const bool is_gemm = entry.kind == "gemm", has_sides = entry.m > 0 && entry.n > 0 && entry.k > 0;
    if (is_gemm && !has_sides) return problem("node " + entry.name + ": a gemm needs m, n and k of at least 1");
    if (!is_gemm && entry.m + entry.n + entry.k > 0)
      return problem("node " + entry.name + ": m, n and k are those of a gemm, and this is " + entry.kind);
    double flops = 2 * static_cast<double>(entry.batch);
    for (const std::int64_t side : {entry.m, entry.n, entry.k}) flops *= static_cast<double>(side);
    if (flops > most_flops) return problem("node " + entry.name + ": a product of more than 10^18 FLOP");
    Operator op = is_gemm ? gemm(entry.name, entry.batch, entry.m, entry.n, entry.k, datatype) : Operator{};
    op.name = entry.name;
    op.datatype = datatype;
    for (const auto& [name, kind] : node_kinds())
      if (name == entry.kind) op.kind = kind;
    op.bytes_read = entry.bytes_read < 0 ? bytes(node.reads) : entry.bytes_read;
    op.bytes_written = entry.bytes_written < 0 ? bytes(node.writes) : entry.bytes_written;
    node.work.forward = {op};
    graph_.nodes.push_back(std::move(node));
  }

  std::vector<TensorId> tensors(const NodeEntry& node, const std::vector<std::string>& names) {
    std::vector<TensorId> found;
    for (const std::string& name : names) {
      const auto id = ids_.find(name);
      if (id == ids_.end())
        problem(fmt::format("node {}: there is no tensor \"{}\"", node.name, name));
      else
        found.push_back(id->second);
    }
    return found;
  }

  [[nodiscard]] std::int64_t bytes(const std::vector<TensorId>& tensors) const {
    std::int64_t sum = 0;
    for (const TensorId id : tensors) sum = saturating_sum(sum, graph_.tensors[id].bytes);
    return sum;
  }

  config::Location where_;
  GraphEntry entry_;
  config::Diagnostics& diagnostics_;
  Graph graph_;
  std::map<std::string, TensorId> ids_;
};

/// JSON's values where the file begins: its parser tells no places.
config::Value value_of(const nlohmann::json& json, const config::Location& where);

std::shared_ptr<config::Table> table_of(const nlohmann::json& json, const config::Location& where) {
  auto table = std::make_shared<config::Table>(where);
  for (const auto& [key, value] : json.items()) table->set(key, value_of(value, where));
  return table;
}

config::Value value_of(const nlohmann::json& json, const config::Location& where) {
  if (json.is_object()) return {table_of(json, where), where};
  if (json.is_boolean()) return {json.get<bool>(), where};
  // Beyond what is counted with it is no whole number any more, and so refused where one is expected.
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    return {json.get<double>(), where};
  if (json.is_number_integer()) return {json.get<std::int64_t>(), where};
  if (json.is_number()) return {json.get<double>(), where};
  if (json.is_array()) {
    config::Array all;
    for (const nlohmann::json& one : json) all.push_back(value_of(one, where));
    return {all, where};
  }
  return {json.is_string() ? json.get<std::string>() : std::string(), where};
}

std::shared_ptr<config::Table> parse_json(const std::string& text, const std::string& file,
                                          config::Diagnostics& diagnostics) {
  if (const auto deep = too_deep(text, config::most_levels)) {
    diagnostics.error({file, deep->line, deep->column},
                      fmt::format("more than {} levels of objects and arrays within each other", config::most_levels));
    return nullptr;
  }
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (json.is_object()) {
    for (const auto& [key, place] : repeated_keys(text))
      diagnostics.error({file, place.line, place.column}, fmt::format("\"{}\" is there twice", key));
  }
  if (json.is_object()) return table_of(json, {file, 1, 1});
  diagnostics.error({file, 1, 1}, "invalid JSON, expected an object with tensors and nodes");
  return nullptr;
}

void check(const Graph& graph, const config::Location& where, config::Diagnostics& diagnostics) {
  for (const std::string& problem : check_graph(graph)) diagnostics.error(where, problem);
}

}  // namespace

const config::SchemaBase& graph_schema() { return entry_schema(); }

Graph read_graph(const config::Table& table, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  GraphReader reader(table, diagnostics);
  if (diagnostics.errors().size() != before) return {};
  Graph graph = reader.read();
  if (diagnostics.errors().size() == before) check(graph, table.where(), diagnostics);
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
                  op.k,      op.bytes_read,    op.bytes_written, {},       {}};
    for (const TensorId id : node.reads) one.reads.push_back(graph.tensors[id].name);
    for (const TensorId id : node.writes) one.writes.push_back(graph.tensors[id].name);
    entry.nodes.push_back(std::move(one));
  }
  auto table = std::make_shared<config::Table>(where);
  entry_schema().write(entry, *table);
  return table;
}

bool lists_nodes(const std::string& content, const std::string& file) {
  if (file.ends_with(".onnx")) return true;
  if (file.ends_with(".json")) {
    if (too_deep(content, config::most_levels)) return false;
    const auto json = nlohmann::json::parse(content, nullptr, false);
    return json.is_object() && json.contains("nodes");
  }
  config::Diagnostics ignored;
  const auto table = config::parse_toml(content, file, ignored);
  return ignored.ok() && table != nullptr && table->find("nodes") != nullptr;
}

Graph read_graph_file(const std::string& content, const std::string& file, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.errors().size();
  if (file.ends_with(".onnx")) {
    Graph graph = read_onnx(content, file, diagnostics);
    if (diagnostics.errors().size() == before) check(graph, {file, 0, 0}, diagnostics);
    return graph;
  }
  const auto table =
      file.ends_with(".json") ? parse_json(content, file, diagnostics) : config::parse_toml(content, file, diagnostics);
  return table == nullptr || diagnostics.errors().size() != before ? Graph{} : read_graph(*table, diagnostics);
}

}  // namespace tessera::workload
