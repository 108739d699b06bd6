// Strategy primepar: what its tables turn into.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"
#include "strategy/primepar/costs/costs.hpp"
#include "strategy/primepar/cuts/graph.hpp"
#include "tessera/base/random.hpp"
#include "tessera/strategy/primepar/primepar.hpp"

using namespace tessera;
using namespace tessera::strategy;

namespace {

TestJob job(std::uint32_t devices = 8) {
  TestJob job(devices, gpt(3, 128, 8), 8);
  job.workload.sequence = 64;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

std::string mlp(const std::string& fc1, const std::string& activation, const std::string& fc2) {
  return "name = \"primepar\"\ngraph = \"mlp\"\n[partitions]\nfc1 = \"" + fc1 + "\"\nactivation = \"" + activation +
         "\"\nfc2 = \"" + fc2 + "\"\n";
}

std::string problem(const std::string& text, TestJob one = job()) {
  static_cast<void>(one.plan(text, primepar::kind()));
  return one.diagnostics.errors().empty() ? "" : one.diagnostics.errors().front();
}

/// A layer with a partition drawn for each operator.
std::string drawn_layer(const TestJob& job, int bits, std::uint64_t number) {
  const KeyedRandom draws(number, random_stream("primepar partitions"));
  std::string text = "name = \"primepar\"\n[partitions]\n";
  std::uint64_t index = 0;
  for (const primepar::Node& node : primepar::make_graph("layer", job.model, job.workload).nodes) {
    const auto all = primepar::all_partitions(node.op, bits);
    const auto& chosen = all[static_cast<std::size_t>(draws.below(index++, all.size()))];
    text += node.op.name + " = \"" + primepar::to_text(node.op, chosen) + "\"\n";
  }
  return text;
}

/// Partitions drawn for each operator of each layer.
std::string drawn_layers(const TestJob& job, int bits, std::size_t layers, std::uint64_t number) {
  const KeyedRandom draws(number, random_stream("primepar layers"));
  std::string text = "name = \"primepar\"\n[partitions]\n";
  std::uint64_t index = 0;
  for (const primepar::Node& node : primepar::make_graph("layer", job.model, job.workload).nodes) {
    const auto all = primepar::all_partitions(node.op, bits);
    text += node.op.name + " = \"";
    for (std::size_t layer = 0; layer < layers; ++layer) {
      const auto& chosen = all[static_cast<std::size_t>(draws.below(index++, all.size()))];
      text += (layer == 0 ? "" : ", ") + primepar::to_text(node.op, chosen);
    }
    text += "\"\n";
  }
  return text;
}

/// What a search takes the peak of a plan of so many layers to be, from its text.
std::int64_t foreseen_peak(const TestJob& job, const std::string& text, std::size_t layers, int bits,
                           const primepar::Passes& passes) {
  const primepar::Graph graph = primepar::make_graph("layer", job.model, job.workload);
  primepar::CostTables tables;
  std::vector<primepar::Choice> chosen(layers);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const primepar::Operator& op = graph.nodes[i].op;
    const std::size_t begin = text.find(op.name + " = \"") + op.name.size() + 4;
    tables.bytes.emplace_back();
    for (const primepar::Partition& partition : primepar::parse_layers(
             op, text.substr(begin, text.find('"', begin) - begin), static_cast<std::int64_t>(layers))) {
      chosen[tables.bytes.back().size()].push_back(tables.bytes.back().size());
      const primepar::CutNode cut = primepar::cut_node(op, partition, bits);
      tables.bytes.back().push_back(primepar::node_bytes(graph, i, cut, passes));
    }
  }
  return peak_bytes(tables, chosen);
}

/// B of a device.
struct Held {
  std::int64_t all_reduces = 0;  ///< that enter them
  std::int64_t fused = 0;        ///< results of products at transaction level
  std::int64_t weights = 0, activations = 0;
};

Held held_by(const program::Program& program, program::DeviceId device, std::size_t stream = 0) {
  Held sum;
  std::vector<std::pair<program::BlockId, std::int64_t>> open{{program.devices[device].streams.at(stream), 1}};
  while (!open.empty()) {
    const auto [id, times] = open.back();
    open.pop_back();
    for (const program::Instruction& instruction : program.blocks[id].code) {
      if (instruction.op == program::Op::call) open.emplace_back(instruction.a, times * instruction.count);
      if (instruction.op == program::Op::collective)
        sum.all_reduces += times * program.collectives[instruction.a].bytes.value();
      if (instruction.op != program::Op::kernel) continue;
      if (const auto* gemm = std::get_if<program::GemmKernel>(&program.kernels[instruction.a].work))
        sum.fused += times * gemm->shape.output_bytes();
    }
  }
  const program::MemoryPeak peak = program::memory_peak(program, device);
  sum.weights = peak.by_category[static_cast<int>(program::MemoryCategory::weights)];
  sum.activations = peak.by_category[static_cast<int>(program::MemoryCategory::activations)];
  return sum;
}

/// Plans of drawn layers without and with a key, which changes no work.
template <class Compare>
void with_and_without(TestJob& one, const std::string& key, const Compare& compare) {
  for (std::uint64_t number = 0; number < 30; ++number) {
    const std::string text = drawn_layer(one, 3, number);
    CAPTURE(text);
    const Plan without = one.plan(text, primepar::kind()), with = one.plan(key + text, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    REQUIRE(program::check_program(with.program, one.machine) == std::vector<std::string>{});
    REQUIRE(with.hardware_flops == without.hardware_flops);
    compare(without, with);
  }
}

}  // namespace

TEST_CASE("primepar: any partitions are a program without problems that does the layer's work once") {
  TestJob one = job();
  // A layer's products: 2 x 512 tokens x (128 x 384 + 128 x 128 + 2 x 128 x 512) FLOP forward, scores and context
  // 2 x 2 x 8 sequences x 64 x 64 x 128; twice that backward; three layers.
  const double linears = 2.0 * 512 * (128 * 384 + 128 * 128 + 2 * 128 * 512), core = 2.0 * 2 * 8 * 64 * 64 * 128;
  for (std::uint64_t number = 0; number < 60; ++number) {
    const std::string text = drawn_layer(one, 3, number);
    CAPTURE(text);
    const Plan plan = one.plan(text, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    REQUIRE(program::check_program(plan.program, one.machine) == std::vector<std::string>{});
    REQUIRE(plan.hardware_flops == 3 * 3 * (linears + core));
    std::int64_t weights = 0;
    for (program::DeviceId device = 0; device < 8; ++device) weights += held_by(plan.program, device).weights;
    // Every weight is somewhere, none on more than all devices.
    REQUIRE(weights >= 2 * plan.parameters);
    REQUIRE(weights <= 8 * 2 * plan.parameters);
  }
}

TEST_CASE("primepar: a search foresees the peak of the fullest device") {
  struct Kind {
    std::string keys;
    int bits;
    std::size_t layers;
    primepar::Passes passes;
    std::int64_t heads = 8;  // six: cut in four they are two, two, one and one
  };
  const std::string pipeline = "pipeline = 2\nmicro_batches = 4\n";
  const std::vector<Kind> kinds{{"", 3, 4, {}},
                                {"", 3, 4, {}, 6},
                                {"recomputation = true\n", 3, 4, {false, 1, 1, false, true}},
                                {pipeline, 2, 2, {false, 2, 4}},
                                {pipeline + "schedule = \"gpipe\"\n", 2, 2, {false, 2, 4, true}}};
  for (const Kind& kind : kinds) {
    TestJob one(8, gpt(4, 16 * kind.heads, kind.heads), 16);
    one.workload.sequence = 64;
    one.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
    TestJob of_micro_batch = one;
    of_micro_batch.workload.global_batch /= kind.passes.micro_batches;
    for (std::uint64_t number = 0; number < 30; ++number) {
      const std::string text = drawn_layers(of_micro_batch, kind.bits, kind.layers, number);
      CAPTURE(kind.keys, text);
      const Plan plan = one.plan(kind.keys + text, primepar::kind());
      REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
      std::int64_t peak = 0;
      for (program::DeviceId device = 0; device < 8; ++device)
        peak = std::max(peak, program::memory_peak(plan.program, device).total);
      const std::int64_t foreseen = foreseen_peak(of_micro_batch, text, kind.layers, kind.bits, kind.passes);
      CAPTURE(peak, foreseen);
      // Recomputed: what two operators read of the layer before is counted twice, kept once where it is the same.
      // Slices of unequal size: the fullest device of each operator is counted.
      if (!kind.passes.recomputation && kind.heads == 8) REQUIRE(foreseen == peak);
      REQUIRE(std::abs(foreseen - peak) <= peak / 10);
    }
  }
}

TEST_CASE("primepar: products whose results are summed may be kernels, which sum the same bytes") {
  TestJob one = job();
  one.machine.device.transaction = machine::GpuSpec{};
  std::int64_t fused = 0;
  with_and_without(one, "sublayers = \"t3-mca\"\n", [&](const Plan& operators, const Plan& kernels) {
    for (program::DeviceId device = 0; device < 8; ++device) {
      const Held held = held_by(kernels.program, device);
      REQUIRE(held.all_reduces + held.fused == held_by(operators.program, device).all_reduces);
      fused += held.fused;
    }
  });
  CHECK(fused > 0);
}

TEST_CASE("primepar: which products are kernels") {
  // fc1 cut by columns sums its input's gradient over all devices, fc2 cut by rows its result: 8 x 64 tokens x 128 x
  // 2 B each. Products that go on in steps, and gradients of weights, stay operators.
  TestJob one = job();
  one.machine.device.transaction = machine::GpuSpec{};
  const auto fused = [&](const std::string& text) {
    const Plan plan = one.plan("sublayers = \"t3\"\n" + text, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    return held_by(plan.program, 0).fused;
  };
  CHECK(fused(mlp("{K, K, K}", "{F, F, F}", "{N, N, N}")) == 2 * 8 * 64 * 128 * 2);
  CHECK(fused(mlp("{B, K, K}", "{B, F, F}", "{B, N, N}")) == 2 * 4 * 64 * 128 * 2);
  CHECK(fused(mlp("{B, B, B}", "{B, B, B}", "{B, B, B}")) == 0);
  CHECK(fused(mlp("{K, P(2x2)}", "{F, M, F}", "{N, P(2x2)}")) == 0);
  CHECK(problem("sublayers = \"t3\"\n" + mlp("{B, B, B}", "{B, B, B}", "{B, B, B}")) ==
        "strategy.toml:1:13: sublayers = \"t3\": the device has no table [machine.device.transaction]");
}

TEST_CASE("primepar: gradients are summed beside the backward pass, the same bytes") {
  TestJob one = job();
  with_and_without(one, "overlap_gradient_reduction = true\n", [](const Plan& alone, const Plan& beside) {
    for (program::DeviceId device = 0; device < 8; ++device) {
      std::int64_t sums = 0;
      for (const std::size_t stream : {0, 1}) sums += held_by(beside.program, device, stream).all_reduces;
      REQUIRE(sums == held_by(alone.program, device).all_reduces);
      REQUIRE(held_by(beside.program, device).weights == held_by(alone.program, device).weights);
    }
  });
}

TEST_CASE("primepar: pipelines and micro-batches do the same work, in as many layers a stage") {
  TestJob one = job();
  one.model.layers = 4;
  const auto made = [&](const std::string& head, int bits, std::uint64_t number) {
    const Plan plan = one.plan(head + drawn_layer(one, bits, number), primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    REQUIRE(program::check_program(plan.program, one.machine) == std::vector<std::string>{});
    return plan;
  };
  for (std::uint64_t number = 0; number < 20; ++number) {
    CAPTURE(number);
    const Plan whole = made("", 3, number);
    for (const auto& [head, bits] : {std::pair("pipeline = 2\n", 2),
                                     {"pipeline = 2\nschedule = \"gpipe\"\noverlap_gradient_reduction = true\n", 2},
                                     {"pipeline = 4\n", 1}}) {
      const Plan staged = made(head, bits, number);
      REQUIRE(staged.hardware_flops == whole.hardware_flops);
      REQUIRE(staged.parameters == whole.parameters);
      REQUIRE(staged.tokens == whole.tokens);
    }
  }
}

TEST_CASE("primepar: what a stage keeps") {
  // Four micro-batches through two stages: in 1F1B the first holds two of them, the second one, in GPipe all four.
  TestJob one = job(2);
  one.model.layers = 2;
  std::string layer = "pipeline = 2\nmicro_batches = 4\n";
  std::string given = "[partitions]\n";
  for (const primepar::Node& node : primepar::make_graph("layer", one.model, one.workload).nodes)
    given += node.op.name + " = \"{}\"\n";
  const auto kept = [&](const std::string& schedule, program::DeviceId device) {
    const Plan plan = one.plan("name = \"primepar\"\n" + layer + schedule + given, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    REQUIRE(program::check_program(plan.program, one.machine) == std::vector<std::string>{});
    return held_by(plan.program, device).activations;
  };
  const std::int64_t of_one = kept("", 1);
  CHECK(of_one > 0);
  CHECK(kept("", 0) == 2 * of_one);
  CHECK(kept("schedule = \"gpipe\"\n", 0) == 4 * of_one);
  CHECK(kept("schedule = \"gpipe\"\n", 1) == 4 * of_one);
}

TEST_CASE("primepar: layers that recompute keep what they read, and run forward twice") {
  TestJob one = job();
  for (std::uint64_t number = 0; number < 30; ++number) {
    const std::string text = drawn_layer(one, 3, number);
    CAPTURE(text);
    const Plan keeping = one.plan(text, primepar::kind());
    const Plan again = one.plan("recomputation = true\n" + text, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    REQUIRE(program::check_program(again.program, one.machine) == std::vector<std::string>{});
    REQUIRE(3 * again.hardware_flops == 4 * keeping.hardware_flops);
    REQUIRE(again.model_flops == keeping.model_flops);
    for (program::DeviceId device = 0; device < 8; ++device)
      REQUIRE(held_by(again.program, device).activations < held_by(keeping.program, device).activations);
  }
  // On one device three layers keep 512 tokens x 128 x 2 B each, and at most one of them all of its own beside.
  TestJob alone = job(1);
  std::string given = "[partitions]\n";
  for (const primepar::Node& node : primepar::make_graph("layer", alone.model, alone.workload).nodes)
    given += node.op.name + " = \"{}\"\n";
  const Held all = held_by(alone.plan("name = \"primepar\"\n" + given, primepar::kind()).program, 0);
  const Held some =
      held_by(alone.plan("name = \"primepar\"\nrecomputation = true\n" + given, primepar::kind()).program, 0);
  CHECK(some.activations == all.activations / 3 + 2 * 512 * 128 * 2);
}

TEST_CASE("primepar: the slides' MLP sums 604.0 MB a device in the baseline, 201.3 MB with P") {
  TestJob one(8, gpt(1, 12288, 96), 8);
  one.workload.sequence = 2048;
  one.machine.device.peak["fp16"] = FlopPerSecond{125'000'000'000'000};
  const auto of = [&](const std::string& text) {
    const Plan plan = one.plan(text, primepar::kind());
    REQUIRE(one.diagnostics.ok());
    return held_by(plan.program, 0);
  };
  const Held baseline = of(mlp("{B,K,K}", "{B,F,F}", "{B,N,N}")),
             primepar = of(mlp("{K,P(2x2)}", "{F,M,F}", "{N,P(2x2)}"));
  // size(O) = size(I) = 402,653,184 B, size(W) = 1,207,959,552 B: O/2 and I/2 inside the nodes, W/4 twice across; O/4
  // and I/4 across.
  CHECK(baseline.all_reduces == 2 * 201'326'592 + 603'979'776);
  CHECK(primepar.all_reduces == 201'326'592);
  // P holds each weight once, the baseline on both nodes.
  CHECK(baseline.weights == 2 * 301'989'888);
  CHECK(primepar.weights == 301'989'888);
  // I of fc1, the activation's and fc2's: 1/2, 1/8, 1/8 of 403, 1611, 1611 MB; with P 1/4 of the first one.
  CHECK(baseline.activations == 201'326'592 + 2 * 201'326'592);
  CHECK(primepar.activations == 100'663'296 + 2 * 201'326'592);
}

TEST_CASE("primepar: tensor cuts as Megatron does what has no partition of its own") {
  // Eight devices, two of them for tensor parallelism: the upper two bits cut the batch.
  const auto description = [](const std::string& text) {
    TestJob one = job();
    const Plan plan = one.plan("name = \"primepar\"\n" + text, primepar::kind());
    REQUIRE(one.diagnostics.errors() == std::vector<std::string>{});
    return plan.description;
  };
  std::string given = "[partitions]\n";
  for (const char* name : {"qkv", "fc1"}) given += std::string(name) + " = \"{B, B, K}\"\n";
  for (const char* name : {"projection", "fc2"}) given += std::string(name) + " = \"{B, B, N}\"\n";
  for (const char* name : {"scores", "softmax", "context"}) given += std::string(name) + " = \"{B, B, H}\"\n";
  for (const char* name : {"attention_norm", "attention_residual", "mlp_norm", "mlp_residual"})
    given += std::string(name) + " = \"{B, B, R}\"\n";
  given += "activation = \"{B, B, F}\"\n";
  CHECK(description("tensor = 2\n") == description(given));
  // All devices, none of them, and stages of two devices.
  const auto partition_of = [&](const std::string& text, const std::string& name) {
    const auto all = description(text);
    return std::ranges::find(all, name, &std::pair<std::string, std::string>::first)->second;
  };
  CHECK(partition_of("tensor = 8\n", "fc2") == "{N, N, N}");
  CHECK(partition_of("tensor = 1\n", "fc2") == "{B, B, B}");
  CHECK(partition_of("tensor = 8\n[partitions]\nfc2 = \"{N, P(2x2)}\"\n", "fc2") == "{N, P(2x2)}");
  CHECK(problem("name = \"primepar\"\ntensor = 3\n") ==
        "strategy.toml:2:10: tensor = 3, allowed: powers of two up to the 8 devices of a stage");
  CHECK(problem("name = \"primepar\"\ntensor = 16\n") ==
        "strategy.toml:2:10: tensor = 16, allowed: powers of two up to the 8 devices of a stage");
  // Eight sequences over eight devices, but in two micro-batches of four.
  CHECK(problem("name = \"primepar\"\ntensor = 1\nmicro_batches = 2\n") ==
        "strategy.toml:2:10: operator attention_norm: partition \"{B, B, B}\": dimension B (4 elements) would be cut "
        "into 8 slices");
}

TEST_CASE("primepar: bad tables") {
  const std::string good = mlp("{K,P(2x2)}", "{F,M,F}", "{N,P(2x2)}");
  CHECK(problem(good).empty());
  CHECK(problem(mlp("{K,P(2x2)}", "{F,P(2x2)}", "{N,N,N}")) ==
        "strategy.toml:5:14: operator activation: partition \"{F,P(2x2)}\": \"P(2x2)\" is none of B, M, F, R");
  CHECK(problem(mlp("{K}", "{F,M,F}", "{N,N,N}")) ==
        "strategy.toml:4:7: operator fc1: partition \"{K}\": uses 1 bits of the device id, and 8 devices have 3");
  CHECK(problem(good + "qkv = \"{K,K,K}\"\n") == "strategy.toml:7:7: graph \"mlp\" has no operator qkv");
  CHECK(problem("pipeline = 3\n" + good) ==
        "strategy.toml:1:12: 3 stages: a power of two that divides the 8 devices is allowed");
  CHECK(problem("pipeline = 16\n" + good).find("16 stages: a power of two that divides the 8 devices") !=
        std::string::npos);
  CHECK(problem("pipeline = 2\n" + good) ==
        "strategy.toml:1:12: graph \"mlp\" is one layer, which no pipeline divides");
  CHECK(problem("micro_batches = 3\n" + good) ==
        "strategy.toml:1:17: 3 micro-batches do not divide workload.global_batch = 8");
  CHECK(problem(good, job(6)) == "strategy.toml:1:8: 6 devices: a partition needs a power of two of them, up to 2^30");
  TestJob inference = job();
  inference.workload.phase = workload::Phase::prompt;
  CHECK(problem(good, inference).find("workload.phase has to be \"training\"") != std::string::npos);
  TestJob flash = job();
  flash.workload.flash_attention = true;
  CHECK(problem(good, flash).find("workload.flash_attention has to be false") != std::string::npos);
  TestJob experts = job();
  experts.model = mixture(2, 4);
  CHECK(problem(good, experts).find("dense layers") != std::string::npos);
  TestJob heads = job();
  heads.model.kv_heads = 2;
  std::string layer = drawn_layer(job(), 3, 1);
  layer.replace(layer.find("scores = "), layer.find('\n', layer.find("scores = ")) - layer.find("scores = "),
                "scores = \"{H,H,H}\"");
  CHECK(problem(layer, heads).find("dimension H (2 elements) would be cut into 8 slices") != std::string::npos);
}
