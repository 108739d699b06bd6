// Graphs of operators: orders, cuts, cycles, and those that a transformer makes.
#include "tessera/workload/graph.hpp"

#include <filesystem>

#include "models_from.hpp"

namespace tessera::workload {
namespace {

/// A node that makes a tensor of its own name from those of others; "" stands for the graph's input.
void add(Graph& graph, const std::string& name, const std::vector<std::string>& reads) {
  GraphNode node{name, {}, {}, {}};
  for (const std::string& from : reads) {
    const auto found = std::ranges::find(graph.tensors, from, &Tensor::name);
    if (found == graph.tensors.end()) {
      node.reads.push_back(static_cast<TensorId>(graph.tensors.size()));
      graph.tensors.push_back({from, from.empty() ? TensorKind::input : TensorKind::made, 10, 20});
    } else {
      node.reads.push_back(static_cast<TensorId>(found - graph.tensors.begin()));
    }
  }
  const auto made = std::ranges::find(graph.tensors, name, &Tensor::name);
  node.writes.push_back(static_cast<TensorId>(made - graph.tensors.begin()));
  if (made == graph.tensors.end()) graph.tensors.push_back({name, TensorKind::made, 10, 20});
  graph.nodes.push_back(node);
}

std::vector<std::string> names(const Graph& graph, const std::vector<GraphNodeId>& nodes) {
  std::vector<std::string> all;
  for (const GraphNodeId node : nodes) all.push_back(graph.nodes[node].name);
  return all;
}

using Names = std::vector<std::string>;

TEST_CASE("graph: a diamond written from its end has one order and three segments") {
  // a feeds b and c, both feed d, d feeds e; d stands first in the file. What runs first among b and c is b.
  Graph graph;
  add(graph, "d", {"b", "c"});
  add(graph, "a", {""});
  add(graph, "b", {"a"});
  add(graph, "c", {"a"});
  add(graph, "e", {"d"});
  CHECK(check_graph(graph).empty());
  CHECK(names(graph, topological_order(graph)) == Names{"a", "b", "c", "d", "e"});
  CHECK(graph.edges().size() == 5);
  // Behind a only its tensor goes on, and behind d only d's; behind b both a's and b's.
  const auto cut = segments(graph);
  REQUIRE(cut.size() == 3);
  CHECK(names(graph, cut[0]) == Names{"a"});
  CHECK(names(graph, cut[1]) == Names{"b", "c", "d"});
  CHECK(names(graph, cut[2]) == Names{"e"});
}

TEST_CASE("graph: a second output is no place to cut") {
  // What "a" makes is on its way to "c" behind "b", which makes an output that nobody reads.
  Graph graph;
  add(graph, "a", {""});
  add(graph, "b", {""});
  add(graph, "c", {"a"});
  const auto cut = segments(graph);
  REQUIRE(cut.size() == 2);
  CHECK(names(graph, cut[1]) == Names{"b", "c"});
}

/// What is wrong, with the node that it is said of.
Names problems_of(const Graph& graph) {
  Names all;
  for (const auto& [what, node] : check_graph(graph))
    all.push_back((node ? std::to_string(*node) + ": " : "").append(what));
  return all;
}

TEST_CASE("graph: what is wrong is said of a node, cycles by name") {
  CHECK(problems_of({}) == Names{"a graph without nodes"});
  Graph cycle;
  add(cycle, "before", {""});
  add(cycle, "x", {"z", "before"});
  add(cycle, "y", {"x"});
  add(cycle, "z", {"y"});
  add(cycle, "behind", {"z"});
  const auto problems = check_graph(cycle);
  REQUIRE(problems.size() == 1);
  const std::string& what = problems[0].what;
  CHECK_THAT(what, Catch::Contains("nodes that wait for each other: "));
  const bool named = what.ends_with("x, y, z, x") || what.ends_with("y, z, x, y") || what.ends_with("z, x, y, z");
  CHECK(named);
  REQUIRE(problems[0].node);
  CHECK(what.ends_with(cycle.nodes[*problems[0].node].name));
  Graph missing;
  add(missing, "one", {"nothing"});
  CHECK(problems_of(missing) == Names{"0: node one reads nothing, which no node makes"});
  Graph twice;
  add(twice, "one", {""});
  twice.nodes.push_back({"two", {}, {}, {twice.nodes[0].writes[0]}});
  CHECK(problems_of(twice) == Names{"1: one is made by node one and by node two"});
  Graph same;
  add(same, "one", {""});
  same.nodes.push_back({"one", {}, {}, {}});
  CHECK(problems_of(same) == Names{"1: two nodes are called one"});
  Graph beyond;
  beyond.nodes.push_back({"one", {}, {7}, {}});
  CHECK(problems_of(beyond) == Names{"0: node one has a tensor that does not exist"});
}

LayerShape shape_of(std::int64_t sequence, Phase phase) {
  LayerShape shape;
  shape.sequence = sequence;
  shape.phase = phase;
  return shape;
}

TEST_CASE("graph: a layer has the work of its sections, and their weights") {
  for (const char* file : {"gpt3-175b.toml", "llama2-70b.toml", "mixtral-8x7b.toml"}) {
    CAPTURE(file);
    const Model model = model_named(file);
    for (const bool flash : {false, true}) {
      LayerShape shape = shape_of(1024, Phase::training);
      shape.flash_attention = flash;
      const Graph graph = layer_graph(model, shape);
      CHECK(check_graph(graph).empty());
      std::int64_t operators = 0, expected = 0, flops = 0;
      for (const GraphNode& node : graph.nodes)
        operators += static_cast<std::int64_t>(node.work.forward.size() + node.work.input_gradient.size() +
                                               node.work.weight_gradient.size());
      const LayerOperators layer = transformer_layer(model, shape);
      for (const OperatorSet* set : layer.in_order()) {
        expected +=
            static_cast<std::int64_t>(set->forward.size() + set->input_gradient.size() + set->weight_gradient.size());
        flops += total_flops(set->forward);
      }
      CHECK(operators == expected);
      CHECK(graph.flops() == flops);
      CHECK(graph.parameters() == layer_parameters(model, shape).total());
    }
  }
}

TEST_CASE("graph: a whole transformer has the model's parameters and FLOP") {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(models_folder)) {
    if (entry.path().extension() == ".md") continue;
    const std::string file = entry.path().filename().string();
    CAPTURE(file);
    Model model = model_named(file);
    if (has_vision(model)) CHECK_THROWS_AS(transformer_graph(model, shape_of(256, Phase::training)), KeyError);
    model.vision = {};
    if (!without_vocabulary(model).empty()) {
      CHECK_THROWS_AS(transformer_graph(model, shape_of(512, Phase::training)), KeyError);
      continue;
    }
    if (model.layers > 60) continue;  // they say nothing else, and take longer
    ++files;
    const std::int64_t sequence = 256;
    const Graph graph = transformer_graph(model, shape_of(sequence, Phase::training));
    CHECK(check_graph(graph).empty());
    CHECK(graph.parameters() == parameter_count(model) - model.extra_parameters);
    CHECK(topological_order(graph).size() == graph.nodes.size());
    if (model.experts > 0) continue;  // tokens do not divide evenly
    const Int128 expected = forward_flops(model, sequence, sequence, Phase::training).total();
    CHECK(static_cast<double>(graph.flops()) == Approx(static_cast<double>(expected)).epsilon(0.01));
  }
  CHECK(files >= 10);
}

TEST_CASE("graph: layers are cut where the residual stream is all that goes on") {
  Model model = model_named("gpt3-175b.toml");
  model.layers = 3;
  const Graph graph = transformer_graph(model, shape_of(128, Phase::prompt));
  int ends = 0;  // behind each layer's last node a cut
  for (const auto& segment : segments(graph))
    ends += graph.nodes[segment.back()].name.ends_with("mlp_residual") ? 1 : 0;
  CHECK(ends == 3);
}

TEST_CASE("graph: two side by side are one, in which nothing reads what the other makes") {
  // Chains a -> b and a -> b -> c, the second with a weight of 100 elements: five nodes, an edge and two, names with
  // the graph's in front. Nodes run in the order of the graphs, and between them nothing goes on.
  Graph two, three;
  two.name = "Two";
  add(two, "a", {""});
  add(two, "b", {"a"});
  three.name = "Three";
  add(three, "a", {""});
  add(three, "b", {"a"});
  add(three, "c", {"b"});
  three.tensors.push_back({"w", TensorKind::parameter, 100, 200});
  three.nodes[2].reads.push_back(static_cast<TensorId>(three.tensors.size() - 1));
  three.nodes[2].work.forward = {gemm("c", 1, 10, 10, 10, "fp16")};
  const Graph both = side_by_side({{"two", two}, {"three", three}});
  CHECK(both.name == "Two + Three");
  CHECK(check_graph(both).empty());
  CHECK(names(both, topological_order(both)) == Names{"two/a", "two/b", "three/a", "three/b", "three/c"});
  REQUIRE(both.edges().size() == 3);
  CHECK(both.edges()[1].from == 2);
  CHECK(both.edges()[1].to == 3);
  CHECK(both.tensors.back().name == "three/w");
  CHECK(both.nodes[4].work.forward.front().name == "three/c");
  CHECK(both.parameters() == 100);
  CHECK(both.flops() == 2000);
  CHECK(segments(both).size() == 5);
}

TEST_CASE("graph: Graphviz draws products as boxes, with what goes between") {
  Graph graph;
  graph.name = "two \"nodes\"";
  add(graph, "first", {""});
  add(graph, "second", {"first", "first"});
  graph.nodes[0].work.forward = {gemm("first", 1, 1000, 1000, 1000, "fp16")};
  graph.tensors.push_back({"w", TensorKind::parameter, 1000, 2000});
  graph.nodes[0].reads.push_back(static_cast<TensorId>(graph.tensors.size() - 1));
  CHECK(to_dot(graph) ==
        "digraph \"two \\\"nodes\\\"\" {\n"
        "  n0 [label=\"first\\n2 GFLOP\\n2.00 kB of weights\", shape=box];\n"
        "  n1 [label=\"second\"];\n"
        "  n0 -> n1 [label=\"20 B\"];\n"
        "}\n");
}

}  // namespace
}  // namespace tessera::workload
