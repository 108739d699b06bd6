// No key of [workload] is passed over by any strategy: what it says is carried out, refused, or warned of.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "files.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/experiment/run.hpp"

using namespace tessera;
using tessera::test::Folder;

namespace {

using Texts = std::vector<std::string>;

const std::string machine_text = R"([machine]
name = "ring"
device.name = "gpu"
device.peak.fp16 = "100 TFLOP/s"
device.peak.fp32 = "20 TFLOP/s"
device.peak.fp8 = "200 TFLOP/s"
device.peak.int8 = "200 TFLOP/s"
device.memory_bandwidth = "1 TB/s"
device.memory_capacity = "40 GB"
device.cores = 80
device.cache = "16 MiB"
device.clock = "1400 MHz"
device.transaction = {}
topology.kind = "ring"
topology.devices = 4
topology.bandwidth = "100 GB/s"
topology.latency = "500 ns"
)";

const std::string model_text = R"([model]
name = "tiny"
layers = 4
hidden = 256
heads = 4
vocabulary = 128
max_positions = 8192
)";

const std::string graph_text = R"([model.graph]
name = "one product"
tensors = [
  { name = "x", kind = "input", elements = 2000 },
  { name = "w", kind = "parameter", elements = 2000000 },
  { name = "y", kind = "made", elements = 1000 },
]
nodes = [
  { name = "product", kind = "gemm", m = 1, n = 1000, k = 2000, datatype = "fp16", reads = ["x", "w"], writes = ["y"] },
]
)";

/// A plan that strategy watos has found, so to speak: nothing of it is open.
const std::string found_plan =
    "[strategy]\nname = \"watos\"\ntensor = 4\npipeline = 1\nstages = [{devices = [0, 1, 2, 3]}]\n[workload]\n";

/// Experiments of each strategy but for [workload], whose lines come behind it: between them each key that the strategy
/// reads changes something.
const std::map<std::string, Texts>& experiments() {
  static const std::map<std::string, Texts> all{
      {"megatron",
       {model_text + "[strategy]\nname = \"megatron\"\ntensor = 4\n[workload]\n",
        model_text + "[strategy]\nname = \"megatron\"\ntensor = 4\n[workload]\nphase = \"generation\"\n"}},
      {"watos", {model_text + found_plan, model_text + found_plan + "phase = \"generation\"\n"}},
      {"primepar",
       {model_text +
        "[strategy]\nname = \"primepar\"\ngraph = \"mlp\"\ntensor = 4\nsimulated = 0\n[workload]\nglobal_batch = 8\n"}},
      {"mcm",
       {model_text + "[strategy]\nname = \"mcm\"\nevaluator = \"analytic\"\n[workload]\nphase = \"prompt\"\n",
        graph_text + "[strategy]\nname = \"mcm\"\nevaluator = \"analytic\"\n[workload]\nphase = \"prompt\"\n"}},
      {"t3",
       {model_text + "[strategy]\nname = \"t3\"\nsublayer = \"fc1\"\n[workload]\n",
        model_text + "[strategy]\nname = \"t3\"\nconfiguration = \"sequential\"\nfidelity = \"operator\"\n[workload]\n",
        "[strategy]\nname = \"t3\"\nsublayer = \"gemm\"\nm = 1024\nn = 512\nk = 128\n[workload]\n"}},
      {"script",
       {"[strategy]\nname = \"script\"\n[[strategy.step]]\nop = \"gemm\"\nm = 512\nn = 512\nk = 512\n[workload]\n"}}};
  return all;
}

const std::string operation = "[{name = \"copy\", section = \"fc1\", forward = \"8 B\"}]";

/// Values of each key other than its default; a key that is not here fails the test below.
const std::map<std::string, Texts>& other_values() {
  static const std::map<std::string, Texts> all{
      {"phase", {"\"prompt\"", "\"generation\"", "\"prompt-and-generation\"", "\"training\""}},
      {"sequence", {"1024", "4096"}},
      {"global_batch", {"4", "16"}},
      {"generated", {"16"}},
      {"flash_attention", {"true"}},
      {"datatype", {"\"fp32\"", "\"fp8\"", "\"int8\""}},
      {"product_datatype", {"\"fp8\"", "\"int8\"", "\"fp4\""}},
      {"weight_datatype", {"\"fp8\"", "\"int8\"", "\"fp4\""}},
      {"operand_scaling", {"\"current\"", "\"blocks\"", "\"mx\""}},
      {"gather_operands", {"true"}},
      {"loss", {"\"compiled\"", "\"gathered\"", "\"fused\""}},
      {"qkv_bias_kernels", {"\"gradient\"", "\"none\""}},
      {"gated_linears", {"\"separate\""}},
      {"expert_products", {"\"single\""}},
      {"operations", {operation}},
      {"kv_cache_datatype", {"\"fp8\"", "\"int8\"", "\"fp32\""}}};
  return all;
}

/// What changes nothing, and may: a forward sub-layer, and a GEMM as given, is the same one in training and in a
/// prompt; the model's MLP has no gate, and it has no experts.
bool is_alike(const std::string& strategy, const std::string& key, const std::string& value) {
  if (key == "gated_linears" || key == "expert_products") return strategy == "megatron" || strategy == "watos";
  return strategy == "t3" && key == "phase" && !value.ends_with("generation\"");
}

/// The text with the key set to that value, over one that is there.
std::string with(std::string text, const std::string& key, const std::string& value) {
  const std::size_t table = text.find("[workload]\n");
  const std::size_t there = text.find("\n" + key + " = ", table);
  if (there != std::string::npos) text.erase(there + 1, text.find('\n', there + 1) - there);
  return text + key + " = " + value + "\n";
}

struct Outcome {
  Texts errors, warnings;
  std::string results;  ///< all that is to be seen of a run
};

std::string seen(const results::RunResults& run, const strategy::Plan& plan) {
  std::string text =
      fmt::format("{} ps, {} FLOP of the model, {} tokens\n", run.iteration_time, plan.model_flops, plan.tokens);
  for (const results::DeviceRow& row : run.device_rows)
    text += fmt::format("{} FLOP, {} B sent, {} B held\n", static_cast<double>(row.flops),
                        static_cast<double>(row.bytes_sent), row.peak_memory);
  return text;
}

Outcome outcome(const std::string& text) {
  const Folder folder;
  folder.write("x.toml", machine_text + text);
  config::Diagnostics diagnostics;
  Outcome found;
  const experiment::Source source = experiment::load(folder.path("x.toml"), {}, {}, diagnostics);
  const auto built = experiment::build(*source.table, diagnostics);
  if (diagnostics.ok()) {
    const auto comm = make_serial_communicator();
    experiment::search(*source.table, *built, *comm, {}, diagnostics);
    if (diagnostics.ok()) found.results = seen(experiment::run(*built, *comm).results, built->plan);
  }
  found.errors = diagnostics.errors();
  found.warnings = diagnostics.warnings();
  for (Texts* lines : {&found.errors, &found.warnings})
    for (std::string& line : *lines) line.erase(0, line.find("x.toml"));
  return found;
}

/// Line of the file on which the last line of a text stands.
std::string last_line(const std::string& text) {
  const std::string whole = machine_text + text;
  return fmt::format("x.toml:{}:", std::count(whole.begin(), whole.end(), '\n'));
}

}  // namespace

TEST_CASE("no strategy passes over a key of [workload]") {
  for (const strategy::StrategyKind& kind : strategy::built_in_strategies()) {
    INFO("a strategy has to say here how it is asked: " << kind.name);
    REQUIRE(experiments().contains(kind.name));
    std::set<std::string> effective;
    for (const std::string& base : experiments().at(kind.name)) {
      const Outcome before = outcome(base);
      INFO(base);
      REQUIRE(before.errors == Texts{});
      for (const config::ParameterHelp& key : strategy::workload_schema().parameters()) {
        INFO("a key of [workload] has to have another value here: " << key.name);
        REQUIRE(other_values().contains(key.name));
        for (const std::string& value : other_values().at(key.name)) {
          INFO(key.name << " = " << value);
          const std::string text = with(base, key.name, value);
          if (text == base || is_alike(kind.name, key.name, value)) continue;
          const Outcome after = outcome(text);
          if (!after.errors.empty()) {
            CHECK(after.errors.size() == 1);
            continue;
          }
          const bool is_default = value == "\"" + key.fallback + "\"";
          const bool is_warned = after.warnings.size() > before.warnings.size();
          const bool is_changed = after.results != before.results;
          CHECK((is_changed || is_warned || is_default));
          if (is_changed) effective.insert(key.name);
          // What is not listed has no effect, or the refusal of others would be wrong.
          const auto& keys = kind.workload_keys;
          if (is_changed) CHECK(std::ranges::find(keys, key.name) != keys.end());
        }
      }
    }
    INFO(fmt::format("{}: nothing was ever changed by any key", kind.name));
    CHECK(!effective.empty());
  }
}

TEST_CASE("what a strategy does not read is refused where it stands, with what is allowed") {
  const std::string script = experiments().at("script").front();
  for (const auto& [key, value, fallback] : {std::tuple{"phase", "\"prompt\"", "training"},
                                             {"sequence", "64", "2048"},
                                             {"flash_attention", "true", "false"}}) {
    const std::string text = with(script, key, value);
    CHECK(outcome(text).errors == Texts{fmt::format("{}{}: \"{}\": strategy \"script\" does not read it, allowed: {}",
                                                    last_line(text), std::string(key).size() + 4, key, fallback)});
    // The default may be written down.
    const std::string said = key == std::string("phase") ? "\"training\"" : fallback;
    CHECK(outcome(with(script, key, said)).errors == Texts{});
  }
  const Texts& mcm = experiments().at("mcm");
  const std::string sized = with(mcm[1], "sequence", "64");
  CHECK(outcome(with(mcm[0], "sequence", "64")).errors == Texts{});
  CHECK(outcome(sized).errors ==
        Texts{last_line(sized) + "12: \"sequence\": this model is a computation graph, whose sizes and datatypes "
                                 "are its own, allowed: 2048"});
}

TEST_CASE("t3: generation is refused, and a backward sub-layer outside training") {
  const Texts& t3 = experiments().at("t3");
  const std::string generation = with(t3[1], "phase", "\"generation\"");
  CHECK(outcome(generation + "generated = 16\n").errors ==
        Texts{last_line(generation) +
              "9: strategy \"t3\" runs sub-layers over all tokens of a sequence at once, and generation makes one at a "
              "time, allowed: training, prompt; sub-layer \"gemm\" takes any m, n and k"});
  const std::string backward = with(t3[0], "phase", "\"prompt\"");
  CHECK(outcome(backward).errors ==
        Texts{last_line(backward) +
              "9: sub-layer \"fc1\" is one of the backward pass, which there is in training alone, allowed: training"});
  const std::string rows = with(t3[2], "sequence", "64");
  CHECK(outcome(rows).errors ==
        Texts{last_line(rows) + "12: \"sequence\": sub-layer \"gemm\" is m x n x k as given, allowed: 2048"});
}

TEST_CASE("training in one byte a number is refused, whatever the strategy") {
  for (const strategy::StrategyKind& kind : strategy::built_in_strategies()) {
    // A package runs prompts alone, and a script says of each step what it computes in.
    if (kind.name == "mcm" || kind.name == "script") continue;
    for (const char* datatype : {"fp8", "int8"}) {
      const std::string text = with(experiments().at(kind.name).front(), "datatype", fmt::format("\"{}\"", datatype));
      CAPTURE(text);
      CHECK(outcome(text).errors ==
            Texts{fmt::format("{}12: training in \"{}\" is not modelled: stacks that train in it keep weights, "
                              "activations between layers, attention, logits and messages in 16 bits, and here all of "
                              "them would be of 8, allowed in training: fp32, tf32, fp16, bf16",
                              last_line(text), datatype)});
    }
  }
}

TEST_CASE("a job whose products have a datatype of their own says so") {
  const auto said = [](const std::string& keys) {
    const Folder folder;
    folder.write("x.toml",
                 machine_text + model_text + "[strategy]\nname = \"megatron\"\ntensor = 4\n[workload]\n" + keys);
    config::Diagnostics diagnostics;
    const experiment::Source source = experiment::load(folder.path("x.toml"), {}, {}, diagnostics);
    const auto built = experiment::build(*source.table, diagnostics);
    REQUIRE(diagnostics.ok());
    const auto& [key, value] = built->plan.description.back();
    return key == "products in" ? value : "";
  };
  CHECK(said("") == "");
  CHECK(said("product_datatype = \"fp8\"\n") == "fp8, utilisations of the peak of fp16");
  CHECK(said("product_datatype = \"fp8\"\nweight_datatype = \"fp8\"\n") ==
        "fp8, utilisations of the peak of fp16; weights in fp8");
  CHECK(said("phase = \"prompt\"\nweight_datatype = \"fp4\"\n") == "fp16; weights in fp4");
}

TEST_CASE("a prompt in one byte says which bytes are in it") {
  const Folder folder;
  folder.write("x.toml",
               machine_text + model_text +
                   "[strategy]\nname = \"megatron\"\ntensor = 4\n[workload]\nphase = \"prompt\"\ndatatype = \"fp8\"\n");
  config::Diagnostics diagnostics;
  const experiment::Source source = experiment::load(folder.path("x.toml"), {}, {}, diagnostics);
  const auto built = experiment::build(*source.table, diagnostics);
  REQUIRE(diagnostics.ok());
  CHECK(built->plan.description.back() ==
        std::pair<std::string, std::string>(
            "in fp8", "all of it: weights, KV cache, activations, attention, logits and messages"));
  // As it says: of the program's operators none has another datatype.
  for (const workload::Operator& op : built->plan.program.operators) CHECK(op.datatype == "fp8");
}
