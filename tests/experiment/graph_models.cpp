// Models that are graphs.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "probe.hpp"
#include "support/source_folder.hpp"
#include "tessera/workload/graph_file.hpp"

using namespace tessera;
using tessera::test::Folder;
using tessera::test::Loaded;
using tessera::test::loaded;
using tessera::test::says;

namespace {

using Lines = std::vector<std::string>;

/// Two products of 2 MFLOP each, the second in a datatype of its own.
std::string products(const std::string& first, const std::string& second) {
  const std::string product = "kind = \"gemm\"\nm = 100\nn = 100\nk = 100\n";
  std::string text = "name = \"pair\"\ndatatype = \"" + first + "\"\n";
  for (const char* tensor : {"x", "y", "z"}) {
    text.append("[[tensors]]\nname = \"").append(tensor).append("\"\nelements = 10000\n");
    if (*tensor == 'x') text.append("kind = \"input\"\n");
  }
  text.append("[[nodes]]\nname = \"a\"\n").append(product).append("reads = [\"x\"]\nwrites = [\"y\"]\n");
  text.append("[[nodes]]\nname = \"b\"\n").append(product).append("reads = [\"y\"]\nwrites = [\"z\"]\n");
  if (!second.empty()) text.append("datatype = \"").append(second).append("\"\n");
  return text;
}

}  // namespace

TEST_CASE("a model may be a graph, which stands whole in the resolved experiment") {
  Folder folder;
  const std::string two =
      "name = \"two\"\n[[tensors]]\nname = \"x\"\nkind = \"input\"\nelements = 10\n[[tensors]]\nname = \"y\"\n"
      "elements = 10\n[[tensors]]\nname = \"z\"\nelements = 10\n[[nodes]]\nname = \"a\"\nkind = \"copy\"\n"
      "reads = [\"x\"]\nwrites = [\"y\"]\n[[nodes]]\nname = \"b\"\nkind = \"copy\"\nreads = [\"y\"]\nwrites = "
      "[\"z\"]\n";
  folder.write("two.toml", two);
  folder.write("x.toml", "model = \"two.toml\"\n" + test::probed_machine + "[strategy]\nname = \"probe\"\n");
  const Loaded first = loaded(folder.path("x.toml"));
  REQUIRE(first.errors == Lines{});
  CHECK(first.experiment->plan.description[1].second == "2");
  CHECK_FALSE(first.experiment->model.has_value());
  folder.write("resolved.toml", config::to_toml(*first.source.table));
  std::filesystem::remove(folder.path("two.toml"));
  const Loaded again = loaded(folder.path("resolved.toml"));
  REQUIRE(again.errors == Lines{});
  CHECK(again.experiment->plan.description[1].second == "2");
  CHECK(config::to_toml(*again.source.table) == config::to_toml(*first.source.table));
  // Transformers are another thing.
  folder.write("two.toml", two);
  folder.write("wrong.toml", "model = \"two.toml\"\n" + test::probed_machine + "[strategy]\nname = \"megatron\"\n");
  CHECK(says(loaded(folder.path("wrong.toml")),
             "strategy \"megatron\" cuts transformers, and this model is a computation graph"));
}

TEST_CASE("a model that is a graph: results have its name, and the peak of what its products compute with") {
  Folder folder;
  folder.write("x.toml", "model = \"pair.toml\"\n" + test::probed_machine +
                             "device.peak.bf16 = \"50 TFLOP/s\"\n[strategy]\nname = \"probe\"\n[workload]\ndatatype = "
                             "\"fp16\"\n");
  const auto results_of = [&](const std::string& first, const std::string& second) {
    folder.write("pair.toml", products(first, second));
    const Loaded one = loaded(folder.path("x.toml"));
    REQUIRE(one.errors == Lines{});
    const auto comm = make_serial_communicator();
    return experiment::run(*one.experiment, *comm).results;
  };
  const results::RunResults alike = results_of("bf16", "");
  CHECK(alike.model == "pair");
  CHECK(alike.peak_flops == 50'000'000'000'000);
  CHECK(alike.model_flops == 4e6);
  CHECK(results_of("fp16", "fp16").peak_flops == 100'000'000'000'000);
  CHECK(results_of("fp16", "bf16").peak_flops == 0);  // of which one?
}

TEST_CASE("a model that is a graph: a datatype without a peak is the node's fault, not the workload's") {
  Folder folder;
  folder.write("pair.toml", products("fp16", "bf16"));
  folder.write("x.toml", "model = \"pair.toml\"\n" + test::probed_machine +
                             "[strategy]\nname = \"probe\"\n[workload]\ndatatype = \"fp16\"\n");
  const Loaded one = loaded(folder.path("x.toml"));
  REQUIRE(says(one, "pair.toml:29:12: "));
  CHECK(says(one, ": device gpu states no peak for datatype bf16 (operator \"b\"); it has fp16"));
}

TEST_CASE("networks side by side are one graph, also in the resolved experiment") {
  // Twice two products, 2 MFLOP each: four nodes, 8 MFLOP. The same one again has a number.
  Folder folder;
  folder.write("pair.toml", products("fp16", ""));
  folder.write("x.toml", test::probed_machine +
                             "[strategy]\nname = \"probe\"\n[model]\nside_by_side = [\"pair\", \"./pair.toml\"]\n");
  const Loaded first = loaded(folder.path("x.toml"));
  REQUIRE(first.errors == Lines{});
  REQUIRE(first.experiment->graph.has_value());
  const workload::Graph& graph = *first.experiment->graph;
  CHECK(graph.name == "pair + pair");
  CHECK(graph.flops() == 8'000'000);
  Lines nodes;
  for (const workload::GraphNode& node : graph.nodes) nodes.push_back(node.name);
  CHECK(nodes == Lines{"pair/a", "pair/b", "pair:2/a", "pair:2/b"});
  folder.write("resolved.toml", config::to_toml(*first.source.table));
  std::filesystem::remove(folder.path("pair.toml"));
  const Loaded again = loaded(folder.path("resolved.toml"));
  REQUIRE(again.errors == Lines{});
  CHECK(config::to_toml(*again.source.table) == config::to_toml(*first.source.table));
}

TEST_CASE("networks side by side may stand in a file, with names beside it") {
  Folder folder;
  folder.write("nets/pair.toml", products("fp16", ""));
  folder.write("nets/both.toml", "side_by_side = [\"pair\", \"pair\"]\n");
  folder.write("x.toml", "model = \"nets/both.toml\"\n" + test::probed_machine + "[strategy]\nname = \"probe\"\n");
  const Loaded both = loaded(folder.path("x.toml"));
  REQUIRE(both.errors == Lines{});
  CHECK(both.experiment->graph->nodes.size() == 4);
  config::Diagnostics diagnostics;
  CHECK(experiment::model_graph(folder.path("nets/both.toml"), 0, {}, diagnostics).nodes.size() == 4);
}

TEST_CASE("an ONNX file in another datatype than its own") {
  if (!workload::reads_onnx()) return;
  Folder folder;
  const std::string file = test::source_folder() + "/tests/workload/networks/resnet18.onnx";
  const auto with = [&](const std::string& datatype) {
    folder.write("x.toml",
                 test::probed_machine +
                     "device.peak.bf16 = \"50 TFLOP/s\"\n[strategy]\nname = \"probe\"\n[model]\ninclude = \"" + file +
                     "\"\n" + datatype);
    return loaded(folder.path("x.toml"));
  };
  const Loaded half = with("datatype = \"bf16\"\n");
  REQUIRE(half.errors == Lines{});
  CHECK(half.experiment->graph->product_datatype() == "bf16");
  CHECK(says(with("datatype = \"bf61\"\n"), "x.toml"));
  CHECK(says(with("datatype = \"bf61\"\n"), "unknown datatype \"bf61\" (did you mean \"bf16\"?)"));
  CHECK(says(with("datatype = 16\n"), "\"datatype\": a whole number is not allowed here, expected one of"));
}
