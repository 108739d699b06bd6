#include "sim/run/part_names.hpp"

namespace tessera::sim {
namespace {

/// Between two members that follow each other, if it is the same everywhere; 0: it is not.
std::int64_t stride_of(const std::vector<program::DeviceId>& members) {
  const auto between = [&](std::size_t i) { return std::int64_t{members[i]} - std::int64_t{members[i - 1]}; };
  for (std::size_t i = 2; i < members.size(); ++i)
    if (between(i) != between(1)) return 0;
  return between(1);
}

/// "gpu 0, gpu 4", "gpu 0 to gpu 7", "gpu 0 to gpu 28 by 4", "gpu 0, gpu 5, gpu 6 and 13 more"
std::string group_text(const machine::Machine& machine, const std::vector<program::DeviceId>& members) {
  constexpr std::size_t most = 4, first = 3;
  const std::int64_t stride = members.size() > most ? stride_of(members) : 0;
  if (stride != 0) {
    const std::string ends = machine.node_name(members.front()) + " to " + machine.node_name(members.back());
    return stride == 1 ? ends : ends + " by " + std::to_string(stride);
  }
  const std::size_t named = members.size() > most ? first : members.size();
  std::string text;
  for (std::size_t i = 0; i < named; ++i) text += (i > 0 ? ", " : "") + machine.node_name(members[i]);
  return named == members.size() ? text : text + " and " + std::to_string(members.size() - named) + " more";
}

}  // namespace

void name_parts(const machine::Machine& machine, const program::Program& program, results::RunResults& results) {
  for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
    const std::vector<program::BlockId>& streams = program.devices[device].streams;
    for (std::size_t stream = 0; stream < streams.size(); ++stream)
      results.stream_names.push_back(
          {device, static_cast<std::uint16_t>(stream), program.blocks[streams[stream]].name});
  }
  for (const program::Group& group : program.groups) results.groups.push_back(group_text(machine, group.members));
}

}  // namespace tessera::sim
