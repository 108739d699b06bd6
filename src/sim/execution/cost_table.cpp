#include "sim/execution/cost_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

workload::Operator addition(std::int64_t bytes) {
  return workload::streaming(workload::OperatorKind::addition, "reduction", Bytes{2 * bytes}, Bytes{bytes}, "fp32");
}

}  // namespace

CostTable::CostTable(const program::Program& program, const workload::CostModel& cost,
                     const machine::DeviceSpec& device, double speed)
    : program_(&program), device_(&device), cost_(&cost), speed_(speed), free_reductions_(program.free_reductions) {}

CostTable::CostTable(const program::Program& program, const machine::DeviceSpec& device,
                     const workload::CostModel& cost, double speed)
    : CostTable(program, cost, device, speed) {
  times_.reserve(program.operators.size());
  for (const workload::Operator& op : program.operators) times_.push_back(time(op, device));
  if (program.memory_packet == 0) return;
  for (const workload::Operator& op : program.operators) works_.push_back(work_of(op));
}

OperatorWork CostTable::work_of(const workload::Operator& op) const {
  const workload::OperatorParts parts = cost_->parts(op, *device_);
  if (op.kind == workload::OperatorKind::host) return {parts.computing, 0, 0};
  constexpr std::int64_t second = 1'000'000'000'000;
  const Int128 bytes = (static_cast<Int128>(parts.traffic) * device_->memory_bandwidth.value() + second - 1) / second;
  if (bytes > std::numeric_limits<std::int64_t>::max()) throw_beyond_time();
  return {machine::slowed(parts.computing, speed_), static_cast<std::int64_t>(bytes),
          machine::slowed(parts.launch, speed_)};
}

std::int64_t CostTable::memory_bandwidth() const {
  return std::max<std::int64_t>(1, std::llround(static_cast<double>(device_->memory_bandwidth.value()) * speed_));
}

std::int64_t CostTable::reduction_traffic(std::int64_t bytes) const {
  if (free_reductions_ || bytes == 0) return 0;
  return work_of(addition(bytes)).bytes;
}

CostTable CostTable::of_host(const program::Program& program, const machine::DeviceSpec& host,
                             const workload::CostModel& cost) {
  CostTable table(program, cost, host, 1);
  table.times_.assign(program.operators.size(), 0);
  return table;
}

Time CostTable::beside(program::OperatorId id, const Taken& taken) {
  if (taken == Taken{}) return times_[id];
  const auto [found, added] = beside_.try_emplace({id, taken});
  if (!added) return found->second;
  machine::DeviceSpec left = *device_;
  const auto rest = [](std::int64_t all, std::int64_t part) {
    return std::max({all - part, all / 16, std::int64_t{1}});
  };
  left.cores = rest(device_->cores, taken.cores);
  left.memory_bandwidth = BytesPerSecond{rest(device_->memory_bandwidth.value(), taken.memory_rate)};
  for (auto& [datatype, peak] : left.peak)
    peak = FlopPerSecond{static_cast<std::int64_t>(static_cast<Int128>(peak.value()) * left.cores / device_->cores)};
  found->second = std::max(times_[id], time(program_->operators[id], left));
  return found->second;
}

Time CostTable::time(const workload::Operator& op, const machine::DeviceSpec& device) const {
  const Time normal = cost_->time(op, device);
  if (op.kind == workload::OperatorKind::host) return normal;  // the host is not the device
  return machine::slowed(normal, speed_);
}

Time CostTable::reduction(std::int64_t bytes) {
  if (free_reductions_ || bytes == 0) return 0;
  const auto hash = static_cast<std::uint64_t>(bytes) * 0x9E37'79B9'7F4A'7C15U;
  Known& known = known_[hash >> 56U];
  if (known.bytes != bytes) {
    known = {};  // where this fails
    known.time = time(addition(bytes), *device_);
    if (known.time == never) throw_beyond_time();
    known.bytes = bytes;
  }
  return known.time;
}

CostTables::CostTables(const program::Program& program, const machine::Machine& machine,
                       const workload::CostModel& cost) {
  std::vector<machine::KindAndSpeed> known;
  for (machine::NodeId device = 0; device < program.devices.size(); ++device) {
    if (!program.devices[device].streams.empty() && machine.alive(device))
      known.push_back(machine.kind_and_speed(device));
  }
  std::sort(known.begin(), known.end());
  known.erase(std::unique(known.begin(), known.end()), known.end());
  for (const machine::KindAndSpeed& one : known) {
    entries_.push_back({one, one.kind == 0 ? std::make_unique<CostTable>(program, machine.device, cost, one.speed)
                                           : std::make_unique<CostTable>(
                                                 CostTable::of_host(program, machine.host_kinds[one.kind - 1], cost))});
  }
}

CostTable& CostTables::of(const machine::KindAndSpeed& device) {
  for (const Entry& entry : entries_) {
    if (entry.device == device) return *entry.table;
  }
  throw InternalError("no cost table for a device of kind " + std::to_string(device.kind) + " and speed " +
                      std::to_string(device.speed));
}

}  // namespace tessera::sim
