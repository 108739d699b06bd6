// A strategy for tests, which says what it was given and lets one device compute the model's graph.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/program/program.hpp"

namespace tessera::test {

struct ProbeOptions {
  std::string table, other;
};

inline const config::Schema<ProbeOptions>& probe_schema() {
  static const config::Schema<ProbeOptions> schema = [] {
    config::Schema<ProbeOptions> s("strategy.probe", "Says what it was given.");
    s.also_accept("name", "\"probe\"");
    s.text("table", &ProbeOptions::table, "rows of numbers").names_file().otherwise("");
    s.text("other", &ProbeOptions::other, "no file").otherwise("");
    return s;
  }();
  return schema;
}

/// Of a file that a training made; or why it is none.
inline std::string tensors_text(const Attachment& file, const strategy::Job& job) {
  try {
    std::string text;
    for (const Tensor& tensor : job.tensors_of(file).all) {
      text += tensor.name + ":";
      for (const float value : tensor.values) text += fmt::format(" {}", value);
    }
    return text;
  } catch (const InputError& error) {
    return error.what();
  }
}

/// A plan that has the file's content in its description.
inline strategy::Plan probe_plan(const config::Table&, const strategy::Job& job) {
  strategy::Plan plan;
  plan.program = strategy::empty_program(job);
  const Attachment* file = job.file("table");
  plan.description = {{"table", file == nullptr ? "none" : file->content},
                      {"nodes", job.graph == nullptr ? "none" : std::to_string(job.graph->nodes.size())},
                      {"tensors", file == nullptr ? "none" : tensors_text(*file, job)}};
  if (job.graph == nullptr) return plan;
  program::BlockBuilder block(plan.program, "graph");
  for (const workload::GraphNode& node : job.graph->nodes)
    for (const workload::Operator& op : node.work.forward) block.label(op.name).compute(op);
  plan.program.devices[0].streams = {block.done()};
  plan.model_flops = plan.hardware_flops = static_cast<double>(job.graph->flops());
  return plan;
}

inline experiment::Parts with_probe() {
  strategy::StrategyKind probe;
  probe.name = "probe";
  probe.help = "for tests";
  probe.needs_model = false;
  probe.schema = []() -> const config::SchemaBase& { return probe_schema(); };
  probe.check = [](const config::Table& table, const strategy::Job&, config::Diagnostics& diagnostics) {
    probe_schema().check(table, diagnostics);
    return std::string();
  };
  probe.program = probe_plan;
  experiment::Parts all;
  all.strategies.push_back(probe);
  return all;
}

inline const std::string probed_machine = R"(
[machine]
name = "ring"
device.name = "gpu"
device.peak.fp16 = "100 TFLOP/s"
device.memory_bandwidth = "1 TB/s"
device.memory_capacity = "40 GB"
topology.kind = "ring"
topology.devices = 2
topology.bandwidth = "100 GB/s"
topology.latency = "500 ns"
)";

struct Loaded {
  experiment::Source source;
  std::unique_ptr<experiment::Experiment> experiment;
  std::vector<std::string> errors;
};

inline Loaded loaded(const std::string& path, const std::vector<experiment::Setting>& settings = {}) {
  config::Diagnostics diagnostics;
  Loaded all{experiment::load(path, settings, {}, diagnostics, {}, with_probe()), nullptr, {}};
  if (diagnostics.ok())
    all.experiment = experiment::build(*all.source.table, diagnostics, with_probe(), all.source.files);
  all.errors = diagnostics.errors();
  return all;
}

inline bool says(const Loaded& loaded, const std::string& what) {
  return loaded.errors.size() == 1 && loaded.errors[0].find(what) != std::string::npos;
}

}  // namespace tessera::test
