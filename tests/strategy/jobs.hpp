// Jobs for tests: a machine without a network, a model and a workload, and a plan from the text of a [strategy] table.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "program/machines.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/strategy/megatron/megatron.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy {

/// A GPT of the Megatron family; `ffn` 4h.
inline workload::Model gpt(std::int64_t layers, std::int64_t hidden, std::int64_t heads,
                           std::int64_t vocabulary = 51200) {
  workload::Model model;
  model.name = "gpt";
  model.layers = layers;
  model.hidden = hidden;
  model.heads = heads;
  model.kv_heads = heads;
  model.head_dim = hidden / heads;
  model.ffn_hidden = 4 * hidden;
  model.vocabulary = vocabulary;
  model.max_positions = 2048;
  return model;
}

/// Mixture of experts: every second layer has `experts`.
inline workload::Model mixture(std::int64_t layers, std::int64_t experts) {
  workload::Model model = gpt(layers, 512, 8, 1024);
  model.name = "mixture";
  workload::LayerKind moe{model, "moe"};
  moe.experts = experts;
  moe.experts_per_token = 2;
  model.layer_kinds = {{model, "dense"}, moe};
  model.layer_sequence = {"dense", "moe"};
  static_cast<void>(number_layers(model));
  return model;
}

/// For jobs that leave nothing to be measured.
class NoEvaluator final : public program::Evaluator {
 public:
  program::Evaluation evaluate(const program::Program&, program::Fidelity, Communicator&) override {
    throw InternalError("nothing is evaluated here");
  }
  [[nodiscard]] int most_ranks() const override { return 1; }
};

inline std::shared_ptr<const workload::CostModel> roofline() {
  config::Diagnostics diagnostics;
  return workload::make_cost_model(*config::parse_toml("model = \"roofline\"", "cost.toml", diagnostics), diagnostics);
}

struct TestJob {
  machine::Machine machine;
  workload::Model model;
  Workload workload;
  program::CollectiveChoices collectives;
  std::shared_ptr<const workload::CostModel> cost = roofline();
  std::shared_ptr<Communicator> comm = make_serial_communicator();
  std::shared_ptr<program::Evaluator> evaluator = std::make_shared<NoEvaluator>();
  std::shared_ptr<program::search::Memo> memo = std::make_shared<program::search::Memo>();
  std::uint64_t seed = 1;
  config::Diagnostics diagnostics;

  TestJob(std::uint32_t devices, workload::Model model_in, std::int64_t global_batch)
      : machine(program::nodes_of(devices, 8)), model(std::move(model_in)) {
    machine.name = "test machine";
    machine.device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
    machine.device.memory_capacity = Bytes{1'000'000'000'000};
    workload.global_batch = global_batch;
  }

  /// The plan of that strategy; what is wrong stands in `diagnostics`.
  Plan plan(const std::string& text, const StrategyKind& kind = megatron::kind()) {
    diagnostics = {};
    return planned(*config::parse_toml(text, "strategy.toml", diagnostics), kind);
  }
  Plan planned(const config::Table& table, const StrategyKind& kind) {
    const program::search::Evaluations own = evaluations();
    const Job job = job_with(own);
    const std::string open = kind.check(table, job, diagnostics);
    if (!diagnostics.ok()) return {};
    if (open.empty()) return kind.program(table, job);
    const auto whole = config::clone(table);
    config::merge(*whole, *kind.search(table, job).found);
    return kind.program(*whole, job);
  }
  [[nodiscard]] program::search::Evaluations evaluations() const { return {*evaluator, *comm, *memo}; }
  [[nodiscard]] Job job_with(const program::search::Evaluations& own) const {
    return {machine, workload, *cost, collectives, own, &model, seed};
  }
};

/// Bytes of a category at the peak of a device.
inline std::int64_t at_peak(const program::Program& program, program::DeviceId device,
                            program::MemoryCategory category) {
  return program::memory_peak(program, device).by_category[static_cast<int>(category)];
}

/// A plan without errors, whose program the machine can carry out.
inline Plan sound_plan(TestJob& job, const std::string& keys) {
  CAPTURE(keys);
  Plan plan = job.plan(keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
  return plan;
}

/// B in an iteration.
inline std::int64_t sent_by(TestJob& job, const std::string& keys, program::DeviceId device = 0) {
  const Plan plan = sound_plan(job, keys);
  return static_cast<std::int64_t>(program::totals(plan.program, job.machine, device).bytes_sent);
}

/// B of that kind's collectives, each size once, the smallest first.
inline std::vector<std::int64_t> sizes_of(const program::Program& program, program::CollectiveKind kind) {
  std::vector<std::int64_t> sizes;
  for (const program::Collective& collective : program.collectives)
    if (collective.kind == kind) sizes.push_back(collective.bytes.value());
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  return sizes;
}

}  // namespace tessera::strategy
