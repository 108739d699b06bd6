// Graphs from files: a diamond in TOML and JSON, and networks that were exported as ONNX.
#include "tessera/workload/graph_file.hpp"

#include <numeric>

#include "models_from.hpp"
#include "tessera/base/config.hpp"

namespace tessera::workload {
namespace {

using Lines = std::vector<std::string>;

const std::string diamond = R"(name = "diamond"
[[tensors]]
name = "x"
kind = "input"
elements = 1000
[[tensors]]
name = "w"
kind = "parameter"
elements = 10000
[[tensors]]
name = "a"
elements = 1000
[[tensors]]
name = "y"
elements = 10
bytes = 80
[[nodes]]
name = "sum"
kind = "elementwise"
reads = ["a", "x"]
writes = ["y"]
[[nodes]]
name = "product"
kind = "gemm"
m = 10
n = 100
k = 100
reads = ["x", "w"]
writes = ["a"]
)";

TEST_CASE("graph files: products have the FLOP of their sides, everything the bytes of its tensors") {
  config::Diagnostics diagnostics;
  const Graph graph = read_graph_file(diamond, "d.toml", diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  CHECK(graph.name == "diamond");
  CHECK(graph.parameters() == 10'000);
  CHECK(graph.weight_bytes() == 20'000);
  CHECK(graph.flops() == 2 * 10 * 100 * 100);
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[1].work.forward[0].bytes_read == 2'000 + 20'000);
  CHECK(graph.nodes[1].work.forward[0].bytes_written == 2'000);
  CHECK(graph.nodes[0].work.forward[0].bytes_read == 4'000);
  CHECK(graph.nodes[0].work.forward[0].bytes_written == 80);  // as it says
  CHECK(topological_order(graph) == std::vector<GraphNodeId>{1, 0});
  // As it stands in a resolved experiment, it is read again as it was.
  const auto table = graph_table(graph);
  const Graph again = read_graph(*table, diagnostics);
  CHECK(diagnostics.errors() == Lines{});
  CHECK(config::to_toml(*graph_table(again)) == config::to_toml(*table));
  CHECK(again.nodes[1].work.forward == graph.nodes[1].work.forward);
}

TEST_CASE("graph files: JSON is the same") {
  config::Diagnostics diagnostics;
  const Graph graph = read_graph_file(R"({"name": "two", "datatype": "fp32",
      "tensors": [{"name": "x", "kind": "input", "elements": 5}, {"name": "y", "elements": 5}],
      "nodes": [{"name": "copy", "kind": "copy", "reads": ["x"], "writes": ["y"]}]})",
                                      "g.json", diagnostics);
  CHECK(diagnostics.errors() == Lines{});
  REQUIRE(graph.nodes.size() == 1);
  CHECK(graph.nodes[0].work.forward[0].bytes_read == 20);
  config::Diagnostics huge;
  static_cast<void>(read_graph_file(R"({"name": "x", "tensors": [{"name": "x", "elements": 18446744073709551615}],
      "nodes": []})",
                                    "g.json", huge));
  CHECK_FALSE(huge.ok());
  config::Diagnostics twice;
  static_cast<void>(read_graph_file(R"({"name": "x", "nodes": [], "nodes": []})", "g.json", twice));
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.errors()[0].find("\"nodes\" is there twice") != std::string::npos);
  CHECK(twice.errors()[0].starts_with("g.json:1:28: "));
  static_cast<void>(read_graph_file("[1, 2]", "g.json", diagnostics));
  CHECK(diagnostics.errors() == Lines{"g.json:1:1: invalid JSON, expected an object with tensors and nodes"});
}

/// The first problem of the diamond with one text in the place of another.
std::string problem_with(const std::string& was, const std::string& is) {
  std::string text = diamond;
  text.replace(text.find(was), was.size(), is);
  config::Diagnostics diagnostics;
  static_cast<void>(read_graph_file(text, "d.toml", diagnostics));
  return diagnostics.errors().empty() ? "" : diagnostics.errors().front();
}

TEST_CASE("graph files: one line says what is wrong, and where") {
  CHECK(problem_with("reads = [\"x\", \"w\"]", "reads = [\"x\", \"v\"]") ==
        "d.toml:28:15: node product: there is no tensor \"v\"");
  CHECK(problem_with("reads = [\"x\", \"w\"]", "reads = [\"y\", \"w\"]") ==
        "d.toml:17:1: nodes that wait for each other: sum, product, sum");
  CHECK(problem_with("name = \"w\"", "name = \"x\"") == "d.toml:7:8: tensor \"x\" is there twice, allowed: once");
  CHECK(problem_with("writes = [\"y\"]", "writes = [\"a\"]").find("a is made by node sum and by node product") !=
        std::string::npos);
  CHECK(problem_with("kind = \"gemm\"", "kind = \"gem\"").find("did you mean \"gemm\"") != std::string::npos);
  CHECK(problem_with("m = 10", "m = 1000000000000000").find("more than 10^18 FLOP") != std::string::npos);
  CHECK(problem_with("k = 100", "") == "d.toml:22:1: node product: a gemm needs m, n and k of at least 1");
  CHECK(problem_with("kind = \"elementwise\"", "kind = \"copy\"\nm = 3").find("are those of a gemm") !=
        std::string::npos);
  CHECK(problem_with("elements = 10000", "elements = -1").find("d.toml:9:") != std::string::npos);
  CHECK(problem_with("k = 100", "k = 100\ndatatype = \"fp61\"").starts_with("d.toml:28:12: node product: unknown "));
}

/// The problems of a JSON file with a node "n" whose lines are these.
Lines json_problems(const std::string& node) {
  std::string text = R"({"name": "j", "tensors": [
  {"name": "x", "kind": "input", "elements": 5}, {"name": "y", "elements": 5}
], "nodes": [
  {"name": "n", )";
  text.append(node).append("}\n]}\n");
  config::Diagnostics diagnostics;
  static_cast<void>(read_graph_file(text, "g.json", diagnostics));
  return diagnostics.errors();
}

TEST_CASE("graph files: problems of JSON have their places too") {
  CHECK(json_problems(R"("kind": "copy", "reads": ["x"], "writes": ["y"])") == Lines{});
  CHECK(json_problems("\"kind\": \"copy\",\n\"reads\": [\"x\",\n \"{\"], \"writes\": [\"y\"]") ==
        Lines{"g.json:6:2: node n: there is no tensor \"{\""});
  CHECK(json_problems("\"kind\": \"copy\", \"writes\": [\"x\"]") ==
        Lines{"g.json:4:3: node n makes x, which is there from the start"});
  CHECK(json_problems("\"kind\": \"copy\", \"m\": 3, \"writes\": [\"y\"]") ==
        Lines{"g.json:4:38: node n: m, n and k are those of a gemm, and this is copy"});
  const Lines unknown = json_problems("\"kind\": \"copy\",\n  \"wites\": [], \"writes\": [\"y\"]");
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].starts_with("g.json:5:3: unknown key \"wites\""));
  CHECK(json_problems("\"kind\": \"copy\", \"writes\": [],\n\"writes\": [\"y\"]") ==
        Lines{"g.json:5:1: \"writes\" is there twice"});
  const Lines broken = json_problems("\"kind\": }");
  REQUIRE(broken.size() == 1);
  CHECK(broken[0].starts_with("g.json:4:25: invalid JSON: syntax error"));
}

TEST_CASE("graph files: null in JSON is as if the key were not there, and nothing in a list") {
  CHECK(json_problems(R"("kind": "copy", "m": null, "datatype": null, "reads": null, "writes": ["y"], "x": null)") ==
        Lines{});
  const Lines missing = json_problems("\"kind\": null, \"writes\": [\"y\"]");
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].starts_with("g.json:4:3: missing key \"kind\""));
  CHECK(json_problems("\"kind\": \"copy\", \"writes\": [\"y\", null]") ==
        Lines{"g.json:4:49: null is not allowed in a list"});
  config::Diagnostics whole;
  static_cast<void>(read_graph_file("null", "g.json", whole));
  CHECK(whole.errors() == Lines{"g.json:1:1: invalid JSON, expected an object with tensors and nodes"});
  CHECK_FALSE(lists_nodes(R"({"model_type": "gpt2", "nodes": null})", "g.json"));
}

std::string network(const std::string& name) {
  return text_of(test::source_folder() + "/tests/workload/networks/" + name + ".onnx");
}

/// Parameters, and multiply-adds in 10^9, as torchvision publishes them (num_params and GFLOPS of each model's page,
/// https://pytorch.org/vision/stable/models.html).
struct Published {
  std::string name;
  std::int64_t parameters;
  double multiply_adds;
};
const std::vector<Published> published{
    {"alexnet", 61'100'840, 0.714},      {"vgg16", 138'357'544, 15.47},         {"resnet18", 11'689'512, 1.814},
    {"resnet50", 25'557'032, 4.089},     {"googlenet", 6'624'904, 1.498},       {"inception_v3", 23'834'568, 5.713},
    {"densenet121", 7'978'856, 2.834},   {"mobilenet_v2", 3'504'872, 0.301},    {"mnasnet1_0", 4'383'312, 0.314},
    {"squeezenet1_1", 1'235'496, 0.349}, {"efficientnet_b0", 5'288'548, 0.386}, {"regnet_y_400mf", 4'344'144, 0.402}};

TEST_CASE("graph files: exported networks have the parameters and multiply-adds that are published") {
  if (!reads_onnx()) return;
  for (const auto& [name, parameters, multiply_adds] : published) {
    CAPTURE(name);
    config::Diagnostics diagnostics;
    const Graph graph = read_graph_file(network(name), name + ".onnx", diagnostics);
    REQUIRE(diagnostics.errors() == Lines{});
    CHECK(graph.parameters() == parameters);
    // What is published is rounded to the last digit given.
    CHECK(static_cast<double>(graph.flops()) / 2e9 == Approx(multiply_adds).epsilon(0.005));
    CHECK(topological_order(graph).size() == graph.nodes.size());
    CHECK(segments(graph).size() > 1);
    const Graph again = read_graph(*graph_table(graph), diagnostics);
    CHECK(diagnostics.errors() == Lines{});
    CHECK(again.flops() == graph.flops());
    CHECK(again.weight_bytes() == graph.weight_bytes());
  }
}

TEST_CASE("graph files: what cannot be read of an ONNX file is said") {
  config::Diagnostics diagnostics;
  static_cast<void>(read_graph_file("no such thing", "x.onnx", diagnostics));
  REQUIRE(diagnostics.errors().size() == 1);
  CHECK(diagnostics.errors()[0] == (reads_onnx() ? "x.onnx: is not a whole ONNX file"
                                                 : "x.onnx: this tessera is built without ONNX: install libonnx-dev "
                                                   "and build again"));
  if (!reads_onnx()) return;
  const std::string whole = network("alexnet");
  for (std::size_t length = 0; length < whole.size(); length += 97) {
    config::Diagnostics cut;
    static_cast<void>(read_graph_file(whole.substr(0, length), "x.onnx", cut));
    CAPTURE(length);
    CHECK_FALSE(cut.ok());
  }
  // "Relu" becomes "Rela" in all of them.
  std::string changed = whole;
  for (std::size_t at = changed.find("\x04Relu"); at != std::string::npos; at = changed.find("\x04Relu"))
    changed[at + 4] = 'a';
  config::Diagnostics unknown;
  static_cast<void>(read_graph_file(changed, "x.onnx", unknown));
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.errors()[0].find("unknown operator \"Rela\"") != std::string::npos);
}

/// Seven bits a byte, as protobuf has its numbers.
std::string varint(std::size_t number) {
  std::string bytes;
  for (; number > 127; number >>= 7U) bytes.push_back(static_cast<char>((number & 127U) | 128U));
  return bytes + static_cast<char>(number);
}
/// A field of protobuf: text or a message, and a number.
std::string field(std::size_t tag, const std::string& content) {
  return varint(tag * 8 + 2).append(varint(content.size())).append(content);
}
std::string field(std::size_t tag, int number) {
  return varint(tag * 8).append(varint(static_cast<std::size_t>(number)));
}
std::string fields(std::initializer_list<std::string> all) {
  std::string text;
  for (const std::string& one : all) text.append(one);
  return text;
}

/// An ONNX file: x is transposed to y and y to z, of four elements of this type each.
std::string onnx_of_type(int type) {
  const auto value = [&](const char* name) {
    const std::string shape = field(2, field(1, field(1, 4)));
    return fields({field(1, name), field(2, field(1, fields({field(1, type), shape})))});
  };
  const auto node = [](const char* in, const char* out, const char* op) {
    return field(1, fields({field(1, in), field(2, out), field(4, op)}));
  };
  const std::string graph = fields({node("x", "y", "Transpose"), node("y", "z", "Transpose"),
                                    field(2, std::string("g")), field(11, value("x")), field(12, value("z"))});
  return fields({field(1, 8), field(7, graph), field(8, field(2, 13))});
}

TEST_CASE("graph files: a type of ONNX's elements that is not known is named, with its tensor") {
  if (!reads_onnx()) return;
  const auto problems = [](int type) {
    config::Diagnostics diagnostics;
    static_cast<void>(read_graph_file(onnx_of_type(type), "x.onnx", diagnostics));
    return diagnostics.errors();
  };
  for (const int known : {1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16}) CHECK(problems(known) == Lines{});
  const std::string allowed = ", allowed: FLOAT, FLOAT16, BFLOAT16, DOUBLE, BOOL, INT8 to INT64, UINT8 to UINT64";
  CHECK(problems(14) == Lines{std::string("x.onnx: tensor \"x\" has the element type COMPLEX64").append(allowed)});
  CHECK(problems(8) == Lines{std::string("x.onnx: tensor \"x\" has the element type STRING").append(allowed)});
  CHECK(problems(99) == Lines{std::string("x.onnx: tensor \"x\" has the element type 99").append(allowed)});
  config::Diagnostics sizes;
  CHECK(read_graph_file(onnx_of_type(6), "x.onnx", sizes).tensors[0].bytes == 16);  // INT32
}

TEST_CASE("graph files: FLOAT of an ONNX file may count as something else, other types stay") {
  if (!reads_onnx()) return;
  // Four elements: 8 B in BF16, where INT32 has 16 as before.
  config::Diagnostics diagnostics;
  const Graph floats = read_graph_file(onnx_of_type(1), "x.onnx", diagnostics, {"bf16", {}});
  REQUIRE(diagnostics.errors() == Lines{});
  CHECK(floats.tensors[0].bytes == 8);
  CHECK(floats.nodes[0].work.forward.front().datatype == "bf16");
  CHECK(read_graph_file(onnx_of_type(6), "x.onnx", diagnostics, {"bf16", {}}).tensors[0].bytes == 16);
  CHECK(read_graph_file(onnx_of_type(10), "x.onnx", diagnostics, {"bf16", {}}).nodes[0].work.forward.front().datatype ==
        "fp16");
  // A network has half the weights, and the same work.
  const Graph as_it_is = read_graph_file(network("resnet18"), "resnet18.onnx", diagnostics);
  const Graph half = read_graph_file(network("resnet18"), "resnet18.onnx", diagnostics, {"bf16", {}});
  CHECK(2 * half.weight_bytes() == as_it_is.weight_bytes());
  CHECK(half.flops() == as_it_is.flops());
  CHECK(half.product_datatype() == "bf16");
}

/// An ONNX file: y = x W, where x has N x 4 elements and W 4 x 6, which is an initialiser or comes out of a node. `n`:
/// how the dimension N stands there.
std::string onnx_product(const std::string& n, bool is_in_node) {
  constexpr int fp32 = 1, of_tensor = 4;
  const auto side = [](int size) { return field(1, field(1, size)); };
  const auto value = [&](const char* name, const std::string& shape) {
    return fields({field(1, name), field(2, field(1, fields({field(1, fp32), field(2, shape)})))});
  };
  const std::string weight = fields({field(1, 4), field(1, 6), field(2, fp32)});
  const std::string attribute = fields({field(1, std::string("value")), field(5, weight), field(20, of_tensor)});
  const std::string constant =
      field(1, fields({field(2, std::string("W")), field(4, std::string("Constant")), field(5, attribute)}));
  const std::string product = field(1, fields({field(1, std::string("x")), field(1, std::string("W")),
                                               field(2, std::string("y")), field(4, std::string("MatMul"))}));
  const std::string weights = is_in_node ? constant : field(5, weight + field(8, std::string("W")));
  const std::string graph = fields({weights, product, field(2, std::string("g")), field(11, value("x", n + side(4))),
                                    field(12, value("y", n + side(6)))});
  return fields({field(1, 8), field(7, graph), field(8, field(2, 13))});
}
/// A dimension with a name alone.
std::string named_side(const std::string& name) { return field(1, field(2, name)); }

TEST_CASE("graph files: weights of ONNX count alike in a node of their own and as initialisers") {
  if (!reads_onnx()) return;
  // 2 x 4 x 6: 24 parameters of 4 B each, 2 (multiply, add) x 48 FLOP.
  for (const bool is_in_node : {false, true}) {
    config::Diagnostics diagnostics;
    const Graph graph = read_graph_file(onnx_product(field(1, field(1, 2)), is_in_node), "x.onnx", diagnostics);
    REQUIRE(diagnostics.errors() == Lines{});
    CHECK(graph.parameters() == 24);
    CHECK(graph.weight_bytes() == 96);
    CHECK(graph.flops() == 96);
  }
}

TEST_CASE("graph files: dimensions of ONNX that have but a name get their sizes beside the file's") {
  if (!reads_onnx()) return;
  const auto read = [](const std::string& file, const std::vector<NamedDimension>& dimensions, Lines& problems) {
    config::Diagnostics diagnostics;
    const Graph graph = read_graph_file(file, "x.onnx", diagnostics, {"fp32", dimensions});
    problems = diagnostics.errors();
    return graph;
  };
  const config::Location here{"e.toml", 3, 16};
  const std::string file = onnx_product(named_side("N"), false);
  Lines problems;
  // Five rows of four, in FP32.
  const Graph graph = read(file, {{"N", 5, here}}, problems);
  REQUIRE(problems == Lines{});
  CHECK(graph.flops() == 2 * 5 * 4 * 6);
  CHECK(graph.tensors[1].bytes == 5 * 4 * 4);
  static_cast<void>(read(file, {}, problems));
  CHECK(problems == Lines{"x.onnx: dimension \"N\" of input \"x\" has no size, write dimensions = { N = 1 } beside the "
                          "file's name ([model], docs/graphs.md)"});
  static_cast<void>(read(onnx_product(named_side("2*k"), false), {}, problems));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("write dimensions = { \"2*k\" = 1 } beside") != std::string::npos);
  static_cast<void>(read(file, {{"N", 5, here}, {"M", 5, here}}, problems));
  CHECK(problems == Lines{"e.toml:3:16: unknown dimension \"M\", allowed: N"});
  static_cast<void>(read(onnx_product(field(1, field(1, 2)), false), {{"N", 5, here}}, problems));
  CHECK(problems ==
        Lines{"e.toml:3:16: \"dimensions\": x.onnx has no dimension \"N\", all of its dimensions have sizes"});
  static_cast<void>(read(onnx_product(field(1, std::string()), false), {}, problems));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].find("dimension 0 of input \"x\" has neither a size nor a name") != std::string::npos);
}

TEST_CASE("graph files: a stride of nothing is refused before ONNX divides by it") {
  if (!reads_onnx()) return;
  std::string file = onnx_product(field(1, field(1, 2)), false);
  const std::string stride = field(5, field(1, std::string("strides")) + field(8, 0) + field(20, 7));
  const std::string pool = field(
      1, fields({field(1, std::string("y")), field(2, std::string("z")), field(4, std::string("MaxPool")), stride}));
  // A second graph message is merged with the first: its node comes behind.
  file += field(7, pool);
  config::Diagnostics diagnostics;
  static_cast<void>(read_graph_file(file, "x.onnx", diagnostics));
  CHECK(diagnostics.errors() ==
        Lines{"x.onnx: node  (MaxPool): \"strides\" has a number below 1, allowed: at least 1"});
}

TEST_CASE("graph files: a number that is none of JSON's has its place") {
  CHECK(json_problems("\"kind\": \"gemm\", \"m\": 1e400") ==
        Lines{"g.json:4:38: invalid JSON: the number 1e400 is too large, allowed: at most 1.79e308"});
  config::Diagnostics none;  // a configuration, as far as one can tell
  CHECK_FALSE(lists_nodes("{\"nodes\": [1e400]}", "g.json"));
}

TEST_CASE("graph files: a gemm says which convolution it stands for, and a family's network says it as well") {
  const std::string image =
      diamond.substr(0, diamond.find("m = 10")) + "m = 32\nn = 100\nk = 36\nreads = [\"x\", \"w\"]\nwrites = [\"a\"]\n";
  const std::string window = "window_height = 3, window_width = 3, padding = 1}\n";
  config::Diagnostics diagnostics;
  const Graph graph = read_graph_file(
      image + "convolution = {height = 4, width = 4, out_height = 4, out_width = 4, " + window, "d.toml", diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  CHECK(graph.nodes[1].work.forward[0].convolution == Convolution{4, 4, 4, 4, 3, 3, 1, 1, 1});
  CHECK(!graph.nodes[0].work.forward[0].convolution.is_one());
  // As in a resolved experiment.
  const Graph again = read_graph(*graph_table(graph), diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  CHECK(again.nodes[1].work.forward[0] == graph.nodes[1].work.forward[0]);
  // 32 places are no whole outputs of 5 x 4.
  static_cast<void>(read_graph_file(
      image + "convolution = {height = 4, width = 4, out_height = 5, out_width = 4, " + window, "d.toml", diagnostics));
  CHECK(diagnostics.errors() ==
        Lines{"d.toml:30:15: node product: a gemm of 32 x 100 x 36, allowed: m in whole outputs "
              "of 5 x 4, k in whole windows of 3 x 3"});
}

}  // namespace
}  // namespace tessera::workload
