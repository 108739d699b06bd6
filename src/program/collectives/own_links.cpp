#include "own_links.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "tessera/machine/routes.hpp"

namespace tessera::program {

OwnLinks own_links_of(const Group& group, const machine::Machine& machine) {
  const machine::Network& network = machine.network;
  const machine::Routes routes(network);
  std::unordered_map<DeviceId, std::uint32_t> ranks;
  for (std::uint32_t rank = 0; rank < group.members.size(); ++rank) ranks.emplace(group.members[rank], rank);
  OwnLinks found(group.members.size());
  for (std::uint32_t rank = 0; rank < group.members.size(); ++rank) {
    const DeviceId device = group.members[rank];
    for (machine::LinkId id = network.first_link[device]; id < network.first_link[device + 1]; ++id) {
      const machine::Link& link = network.links[id];
      const auto to = ranks.find(link.to);
      // Of several links to one member messages take one.
      if (link.dead || to == ranks.end() || routes.first({device, link.to}) != id) continue;
      found[rank].push_back({to->second, link.bandwidth});
    }
    std::ranges::sort(found[rank], {}, &OwnLink::to);
  }
  return found;
}

OwnLinks turned_round(const OwnLinks& links) {
  OwnLinks turned(links.size());
  for (std::uint32_t from = 0; from < links.size(); ++from) {
    for (const OwnLink& link : links[from]) turned[link.to].push_back({from, link.bandwidth});
  }
  return turned;
}

std::vector<std::vector<std::uint32_t>> neighbours_of(const OwnLinks& links) {
  std::vector<std::vector<std::uint32_t>> found(links.size());
  for (std::uint32_t from = 0; from < links.size(); ++from) {
    for (const OwnLink& link : links[from]) {
      if (std::ranges::binary_search(links[link.to], from, {}, &OwnLink::to)) found[from].push_back(link.to);
    }
  }
  return found;
}

namespace {

/// The first rank that the first member does not reach; the number of members where it reaches all.
std::uint32_t first_out_of_reach(const OwnLinks& links) {
  std::vector<char> reached(links.size(), 0);
  std::vector<std::uint32_t> open{0};
  reached[0] = 1;
  while (!open.empty()) {
    const std::uint32_t from = open.back();
    open.pop_back();
    for (const OwnLink& link : links[from]) {
      if (reached[link.to] != 0) continue;
      reached[link.to] = 1;
      open.push_back(link.to);
    }
  }
  return static_cast<std::uint32_t>(std::ranges::find(reached, 0) - reached.begin());
}

}  // namespace

std::string check_own_links(const std::string& algorithm, const Group& group, const machine::Machine& machine) {
  const OwnLinks links = own_links_of(group, machine);
  const auto sentence = [&](DeviceId from, DeviceId to) {
    return fmt::format("{} needs live links from member to member, but over them {} does not reach {}", algorithm,
                       machine.node_name(from), machine.node_name(to));
  };
  const DeviceId first = group.members.front();
  if (const std::uint32_t beyond = first_out_of_reach(links); beyond < links.size())
    return sentence(first, group.members[beyond]);
  const std::uint32_t before = first_out_of_reach(turned_round(links));
  return before < links.size() ? sentence(group.members[before], first) : "";
}

}  // namespace tessera::program
