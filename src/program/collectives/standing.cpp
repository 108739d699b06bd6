#include "standing.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tessera::program {

Standing::Standing(const CollectiveCall& call) {
  const auto& members = call.group->members;
  const auto& places = call.machine->places;
  const int first = places[members.front()].node;
  const auto end = std::partition_point(members.begin(), members.end(),
                                        [&](DeviceId device) { return places[device].node == first; });
  locals = static_cast<std::uint32_t>(end - members.begin());
  nodes = call.size / locals;
  node = call.rank / locals;
  local = call.rank % locals;
}

std::string standing_problem(const std::string& algorithm, const Group& group, const machine::Machine& machine) {
  std::vector<std::pair<int, std::size_t>> runs;  // node, members in a row
  for (const DeviceId member : group.members) {
    const int node = machine.places[member].node;
    if (runs.empty() || runs.back().first != node) runs.emplace_back(node, 0);
    ++runs.back().second;
  }
  std::sort(runs.begin(), runs.end());
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first == runs[i - 1].first)
      return algorithm + " needs the members of a node to stand together in the group";
    if (runs[i].second != runs[0].second) return algorithm + " needs the same number of members in every node";
  }
  return {};
}

}  // namespace tessera::program
