#include "tessera/strategy/script/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "compile.hpp"

namespace tessera::strategy::script {
namespace {

/// Blocks may run those above them: nothing can recurse.
void read_blocks(const ScriptTable& tables, const config::Table& strategy, StepReader& reader, Script& script,
                 config::Diagnostics& diagnostics) {
  const config::Value* value = strategy.find("block");
  const config::Array* array = value == nullptr ? nullptr : value->array();
  for (std::size_t i = 0; array != nullptr && i < array->size() && i < tables.blocks.size(); ++i) {
    const config::Table* table = (*array)[i].table();
    if (table == nullptr) continue;
    const BlockTable& block = tables.blocks[i];
    const auto& names = script.block_names;
    if (std::find(names.begin(), names.end(), block.name) != names.end()) {
      diagnostics.error(table->where(), fmt::format("another block is called \"{}\"", block.name));
    }
    script.blocks.push_back(reader.read(block.steps, *table, script.block_names));
    script.block_names.push_back(block.name);
    for (const Step& step : script.blocks.back()) {
      if (step.keys.stream == 0) continue;
      diagnostics.error(table->where(), "\"stream\" in a block: its steps run in the stream that runs the block");
    }
  }
}

/// FLOP of all devices; devices with the same streams do the same work.
double flops_of(const program::Program& program, const machine::Machine& machine) {
  std::map<std::vector<program::BlockId>, double> known;
  double sum = 0;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto [flops, fresh] = known.try_emplace(program.devices[device].streams, 0.0);
    if (fresh) flops->second = static_cast<double>(program::totals(program, machine, device).flops);
    sum += flops->second;
  }
  return sum;
}

/// Nodes, where all have as many devices, with their hosts where all have as many; where they do not do the same, the
/// simulator finds out.
void name_nodes(const machine::Machine& machine, program::Program& program) {
  std::map<int, std::vector<program::DeviceId>> nodes, hosts;
  for (program::DeviceId device = 0; device < machine.accelerators(); ++device)
    nodes[machine.places[device].node].push_back(device);
  for (program::DeviceId host = machine.accelerators(); host < machine.devices(); ++host)
    hosts[machine.places[host].node].push_back(host);
  const auto has_as_many = [&](const auto& of_node) { return of_node.second.size() == hosts.begin()->second.size(); };
  if (hosts.size() == nodes.size() && std::ranges::all_of(hosts, has_as_many)) {
    for (auto& [node, devices] : nodes) devices.insert(devices.end(), hosts[node].begin(), hosts[node].end());
  }
  program::AlikeParts alike{"nodes", {}};
  const std::size_t each = nodes.begin()->second.size();
  for (auto& [node, devices] : nodes) {
    if (devices.size() != each) return;
    alike.parts.push_back(std::move(devices));
  }
  if (alike.parts.size() > 1) program.alike.push_back(std::move(alike));
}

/// Steps are checked as they are read: the program is of use where nothing was wrong.
Plan read(const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
  Plan plan;
  const ScriptTable tables = script_schema().read(table, diagnostics);
  if (!diagnostics.ok()) return plan;
  plan.program = empty_program(job);
  program::Program& program = plan.program;
  const GroupSets groups(tables.groups, table, job.machine, program, diagnostics);
  StepReader reader(job, program, groups, diagnostics);
  Script script;
  read_blocks(tables, table, reader, script, diagnostics);
  script.steps = reader.read(tables.steps, table, script.block_names);
  if (!diagnostics.ok()) return plan;
  compile(script, groups, reader.peers(), program);
  name_nodes(job.machine, program);
  plan.description = {{"steps", std::to_string(script.steps.size())}};
  plan.hardware_flops = flops_of(program, job.machine);
  return plan;
}

}  // namespace

StrategyKind kind() {
  StrategyKind script;
  script.name = "script";
  script.help = "a program written out step by step: computation, messages, collectives";
  script.needs_model = false;
  script.workload_keys = {"datatype"};
  script.schema = []() -> const config::SchemaBase& { return script_schema(); };
  script.check = [](const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
    static_cast<void>(read(table, job, diagnostics));
    return std::string();
  };
  script.program = [](const config::Table& table, const Job& job) {
    config::Diagnostics checked;
    return read(table, job, checked);
  };
  script.inner_schemas = [] {
    return std::vector<const config::SchemaBase*>{&group_schema(), &block_schema(), &step_schema()};
  };
  return script;
}

}  // namespace tessera::strategy::script
