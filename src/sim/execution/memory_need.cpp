#include "sim/execution/memory_need.hpp"

#include <algorithm>
#include <map>

#include "tessera/base/config.hpp"
#include "tessera/base/messages.hpp"

namespace tessera::sim {
namespace {

using config::format_rounded;
using config::Unit;

std::string breakdown(const program::Program& program, const program::MemoryPeak& peak) {
  std::string text;
  for (std::size_t category = 0; category < peak.by_category.size(); ++category) {
    if (peak.by_category[category] == 0) continue;
    text += (text.empty() ? "" : ", ") + program::name_of(program, static_cast<program::MemoryCategory>(category)) +
            " " + format_rounded(peak.by_category[category], Unit::bytes);
  }
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

}  // namespace

Need largest_need(const machine::Machine& machine, const program::Program& program) {
  std::map<std::vector<program::BlockId>, program::MemoryPeak> known;  // of devices that do the same
  Need largest;
  std::int64_t least_left = beyond_count;
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const auto& streams = program.devices[device].streams;
    auto found = known.find(streams);
    if (found == known.end()) found = known.emplace(streams, program::memory_peak(program, device)).first;
    const program::MemoryPeak& peak = found->second;
    if (peak.most == beyond_count) return {device, peak};
    const std::int64_t left = machine.spec(device).usable_memory().value() - peak.total;
    if (peak.total == 0 || left >= least_left) continue;
    largest = {device, peak};
    least_left = left;
  }
  return largest;
}

std::string need_text(const machine::Machine& machine, const program::Program& program, const Need& need) {
  const machine::DeviceSpec& device = machine.spec(need.device);
  const std::int64_t usable = device.usable_memory().value();
  return "device " + machine.node_name(need.device) + " needs " + format_rounded(need.peak.total, Unit::bytes) +
         " but has " + machine::memory_text(device) + " (" + format_rounded(need.peak.total - usable, Unit::bytes) +
         " too much): " + breakdown(program, need.peak);
}

std::string need_problem(const machine::Machine& machine, const program::Program& program, const Need& need) {
  if (need.peak.most == beyond_count)
    return std::string("device ") + machine.node_name(need.device) + (need.peak.is_exact() ? " needs" : " may need") +
           " 9223 PB or more, beyond what is counted";
  return need.peak.total <= machine.spec(need.device).usable_memory().value() ? "" : need_text(machine, program, need);
}

}  // namespace tessera::sim
