#include "steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../place_of.hpp"
#include "ops.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::strategy::script {
namespace {

using config::Table;
using config::Value;

program::Activity activity_of(const StepTable& keys) {
  for (int i = 0; i < program::activity_count; ++i) {
    const auto activity = static_cast<program::Activity>(i);
    if (keys.activity == program::name_of(activity)) return activity;
  }
  return communicates(keys.op) ? program::Activity::other_communication : program::Activity::forward;
}

/// A square GEMM of so many FLOP; the flops are exact, the sides are rounded.
workload::Operator square_gemm(const std::string& name, double flops, const std::string& datatype) {
  const auto side = std::max<std::int64_t>(1, std::llround(std::cbrt(flops / 2)));
  workload::Operator operation = workload::gemm(name, 1, side, side, side, datatype);
  operation.flops = std::llround(flops);
  return operation;
}

}  // namespace

std::vector<program::DeviceId> PeerSlot::by_device(program::DeviceId devices) const {
  if (fixed) return std::vector<program::DeviceId>(devices, device);
  std::vector<program::DeviceId> bound(devices, program::no_device);
  const auto size = static_cast<std::int64_t>(list.size());
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t other = ((i + shift) % size + size) % size;
    bound[list[static_cast<std::size_t>(i)]] = list[static_cast<std::size_t>(other)];
  }
  return bound;
}

std::vector<Step> StepReader::read(const std::vector<StepTable>& steps, const Table& parent,
                                   const std::vector<std::string>& blocks) {
  std::vector<Step> result;
  const Value* value = parent.find("step");
  const config::Array* array = value == nullptr ? nullptr : value->array();
  for (std::size_t i = 0; array != nullptr && i < array->size() && i < steps.size(); ++i) {
    if (const Table* table = (*array)[i].table()) result.push_back(read_one(steps[i], *table, blocks));
  }
  return result;
}

Step StepReader::read_one(const StepTable& keys, const Table& table, const std::vector<std::string>& blocks) {
  Step step;
  step.keys = keys;
  step.activity = activity_of(keys);
  check_keys(table, keys.op, diagnostics_);
  const Value* list = table.find("devices");
  const auto devices = list == nullptr ? live_devices(job_.machine) : read_devices(*list, job_.machine, diagnostics_);
  step.does.assign(job_.machine.devices(), false);
  if (!devices) return step;
  for (const program::DeviceId device : *devices) step.does[device] = true;
  if (const auto kind = collective_kind(keys.op)) {
    read_collective(step, table, *kind);
  } else if (keys.op == "gemm" || keys.op == "compute") {
    read_operator(step, table);
    check_time(step, table);
  } else if (keys.op == "send" || keys.op == "receive") {
    read_peer(step, table, *devices);
  } else if (keys.op == "run") {
    read_block(step, table, blocks);
  }
  return step;
}

void StepReader::read_operator(Step& step, const Table& table) {
  const StepTable& keys = step.keys;
  const std::string datatype = keys.datatype.empty() ? job_.workload.datatype : keys.datatype;
  const std::string name = keys.label.empty() ? keys.op : keys.label;
  const bool has_flops = keys.op == "gemm" || keys.flops > 0;
  if (has_flops && job_.machine.device.peak.count(datatype) == 0) {
    std::vector<std::string> known;
    for (const auto& peak : job_.machine.device.peak) known.push_back(peak.first);
    diagnostics_.error(place_of(table, "datatype"),
                       fmt::format("{} has no peak for \"{}\", it has {}", job_.machine.device.name, datatype,
                                   fmt::join(known, ", ")));
    return;
  }
  if (keys.op == "gemm") {
    const double flops = 2.0 * static_cast<double>(keys.batch) * static_cast<double>(keys.m) *
                         static_cast<double>(keys.n) * static_cast<double>(keys.k);
    if (flops > 1e18) return diagnostics_.error(table.where(), "a gemm of more than 1e18 FLOP");
    step.operation = workload::gemm(name, keys.batch, keys.m, keys.n, keys.k, datatype);
    return;
  }
  if (keys.time > 0) {
    step.operation = workload::host_pause(name, Duration{keys.time});
    return;
  }
  step.operation = keys.flops > 0
                       ? square_gemm(name, keys.flops, datatype)
                       : workload::streaming(workload::OperatorKind::elementwise, name, Bytes{0}, Bytes{0}, datatype);
  if (keys.flops == 0 || table.find("read") != nullptr) step.operation.bytes_read = keys.read;
  if (keys.flops == 0 || table.find("write") != nullptr) step.operation.bytes_written = keys.write;
}

/// Refuses, at its step, an operator that the cost model has no time for.
void StepReader::check_time(const Step& step, const Table& table) {
  if (step.operation.name.empty()) return;
  try {
    static_cast<void>(job_.cost.time(step.operation, job_.machine.device));
  } catch (const KeyError& error) {
    diagnostics_.error(table.where(), error.what());
  }
}

void StepReader::read_peer(Step& step, const Table& table, const Devices& devices) {
  PeerSlot slot;
  if (table.find("shift") != nullptr) {
    slot = {false, 0, step.keys.shift, devices};
  } else if (step.keys.peer >= job_.machine.devices()) {
    return diagnostics_.error(place_of(table, "peer"), fmt::format("device {} does not exist, the machine has 0 to {}",
                                                                   step.keys.peer, job_.machine.devices() - 1));
  } else {
    slot = {true, static_cast<program::DeviceId>(step.keys.peer), 0, {}};
    if (!job_.machine.alive(slot.device)) {
      return diagnostics_.error(place_of(table, "peer"), fmt::format("device {} is dead", slot.device));
    }
  }
  const auto found = std::find(peers_.begin(), peers_.end(), slot);
  step.slot = static_cast<std::uint32_t>(found - peers_.begin());
  if (found == peers_.end()) peers_.push_back(std::move(slot));
}

std::optional<program::AlgorithmId> StepReader::read_algorithm(const Step& step, const Table& table,
                                                               program::CollectiveKind kind) {
  if (step.keys.algorithm.empty()) return job_.collectives.index_for(kind);
  const program::Collectives& known = job_.collectives.known;
  const config::Location where = place_of(table, "algorithm");
  try {
    const program::AlgorithmId id = known.find(step.keys.algorithm);
    if (program::algorithm_of(id).supports(kind)) return id;
    diagnostics_.error(where, fmt::format("algorithm \"{}\" has no {}, allowed: {}", step.keys.algorithm,
                                          program::name_of(kind), fmt::join(known.names_for(kind), ", ")));
  } catch (const InputError& error) {
    diagnostics_.error(where, fmt::format("\"algorithm\": {}", error.what()));
  }
  return std::nullopt;
}

void StepReader::read_collective(Step& step, const Table& table, program::CollectiveKind kind) {
  const Value* name = table.find("group");
  if (name == nullptr || name->string() == nullptr) return;  // reported
  const auto slot = groups_.find(*name, diagnostics_);
  const auto algorithm = read_algorithm(step, table, kind);
  if (!slot || !algorithm) return;
  step.slot = *slot;
  program::Collective& collective = step.collective;
  collective.kind = kind;
  collective.group_slot = *slot;
  collective.bytes = Bytes{step.keys.bytes};
  collective.element = Bytes{step.keys.element};
  collective.algorithm = *algorithm;
  collective.root = static_cast<std::uint32_t>(std::min<std::int64_t>(step.keys.root, program::no_device));
  collective.shares = {step.keys.shares.begin(), step.keys.shares.end()};
  job_.collectives.complete(collective);
  check_members(step, table);
}

/// Who joins, and whether the collective fits every group that is joined.
void StepReader::check_members(Step& step, const Table& table) {
  const GroupSet& set = groups_.sets()[step.slot];
  const bool all_members = table.find("devices") == nullptr;
  std::set<program::GroupId> joined;
  for (program::DeviceId device = 0; device < step.does.size(); ++device) {
    const program::GroupId group = set.of_device[device];
    if (all_members) step.does[device] = group != program::no_group;
    if (!step.does[device]) continue;
    if (group == program::no_group) {
      return diagnostics_.error(place_of(table, "devices"),
                                fmt::format("device {} is in no group \"{}\"", device, set.name));
    }
    if (!joined.insert(group).second) continue;
    const std::string problem = program::check_collective(step.collective, program_.groups[group], job_.machine);
    if (!problem.empty()) {
      return diagnostics_.error(table.where(), fmt::format("{} of group \"{}\": {}", step.keys.op, set.name, problem));
    }
  }
}

void StepReader::read_block(Step& step, const Table& table, const std::vector<std::string>& blocks) {
  const auto found = std::find(blocks.begin(), blocks.end(), step.keys.block);
  step.block = static_cast<std::size_t>(found - blocks.begin());
  if (found != blocks.end() || table.find("block") == nullptr) return;
  diagnostics_.error(place_of(table, "block"), fmt::format("no block \"{}\" is defined above{}", step.keys.block,
                                                           config::suggestion(step.keys.block, blocks)));
}

}  // namespace tessera::strategy::script
