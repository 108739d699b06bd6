// Files of other tools, by their first bytes, their keys or their words.
#include "experiment/foreign_files.hpp"

#include <catch2/catch.hpp>

#include "files.hpp"

namespace tessera::experiment {
namespace {

using namespace std::string_literals;

std::string refused(const std::string& text, const std::string& file, const std::string& expected = "an experiment") {
  config::Diagnostics diagnostics;
  const bool is_refused = refuse_foreign_file(text, file, expected, diagnostics);
  CHECK(is_refused != diagnostics.ok());
  return is_refused ? diagnostics.errors().front() : "";
}

}  // namespace

TEST_CASE("each kind is called by its name") {
  // A length, then field 1 of that record, "0.0.4": how Chakra writes its traces.
  CHECK(kind_of_foreign_file("\x07\x0a\x05"s + "0.0.4\x20", "t.et") == "a Chakra execution trace");
  CHECK(kind_of_foreign_file("\x08\x07\x12\x07pytorch", "x") == "an ONNX graph, which model = \"FILE.onnx\" names");
  CHECK(kind_of_foreign_file("\x89HDF\r\n", "x") == "an HDF5 file, which `tessera show` reads");
  const auto json = [](const std::string& text) { return kind_of_foreign_file(text, "x.json"); };
  CHECK(json("{\"matrix\": {}, \"vector\": {}, \"networks\": []}") == "a Calculon system");
  CHECK(json("{\"seq_size\": 1, \"feedforward\": 2, \"attn_heads\": 3}") == "a Calculon application");
  CHECK(json("{\"tensor_par\": 1, \"pipeline_par\": 2, \"data_par\": 3}") == "a Calculon execution");
  CHECK(json("{\"zero_optimization\": {\"stage\": 3}}") == "a DeepSpeed configuration");
  CHECK(json("{\"all-reduce-implementation\": [\"ring\"]}") == "an ASTRA-sim system");
  CHECK(json("{\"traceEvents\": []}") == "a trace of Chrome's or PyTorch's profiler");
  CHECK(json("{\"a\": 1}") == "a JSON file");
  CHECK(kind_of_foreign_file("HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1\n", "w.txt") ==
        "a SimAI workload");
  CHECK(kind_of_foreign_file("MICRO\n1\nconv1 -1 556000\n", "w.txt") == "an ASTRA-sim workload in text form");
  CHECK(kind_of_foreign_file("160 8 36 120 4 A100\n128 129\n0 144 2400Gbps 0.000025ms 0\n", "t") == "a SimAI topology");
  CHECK(kind_of_foreign_file("# sizes\n\ntopology: [ Ring ]\nnpus_count: [ 8 ]\n", "n.yml") ==
        "an ASTRA-sim network (YAML)");
  CHECK(kind_of_foreign_file("trainer:\n  num_nodes: 8\n", "x") == "a YAML file");
  CHECK(kind_of_foreign_file("#!/bin/bash\ntorchrun\n", "x") == "a script");
}

TEST_CASE("a foreign file is refused in one line, whatever it is given for") {
  const std::string yaml = "trainer:\n  num_nodes: 8\n";
  CHECK(refused(yaml, "x.yaml") ==
        "x.yaml:1:1: this is a YAML file, expected an experiment in TOML (docs/experiments.md)");
  CHECK(refused(yaml, "x.yaml", "a machine") ==
        "x.yaml:1:1: this is a YAML file, expected a machine in TOML (docs/machines.md)");
  CHECK(refused(yaml, "x.yaml", "a model") ==
        "x.yaml:1:1: this is a YAML file, expected a model in TOML, a Hugging Face config.json or an ONNX graph "
        "(docs/models.md)");
}

TEST_CASE("TOML, and what a model may be, is nobody else's") {
  CHECK(refused("title = \"MICRO\"\n", "x.yaml").empty());
  CHECK(refused("# npus_count: 8\n", "x.yml").empty());
  CHECK(refused("", "x.yaml").empty());
  // Faults of TOML stay what they are.
  CHECK(refused("title: \"x\"\n[machine]\n", "x.toml").empty());
  CHECK(refused("machine = \n", "x.toml").empty());
  for (const char* own : {"{\"model_type\": \"gpt2\"}", "{\"nodes\": []}", "{"}) {
    CHECK(refused(own, "config.json", "a model").empty());
    CHECK(!refused(own, "config.json").empty());
  }
  CHECK(!refused("{\"matrix\": {}, \"vector\": {}, \"networks\": []}", "a100.json", "a model").empty());
}

}  // namespace tessera::experiment
