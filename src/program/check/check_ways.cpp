#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "problems.hpp"

namespace tessera::program {
namespace {

using machine::BoundWay;
using machine::Connection;
using machine::LinkId;
using machine::NodeId;

/// What is wrong with the links of ways on a machine.
class WayCheck {
 public:
  explicit WayCheck(const machine::Machine& machine) : machine_(machine), network_(machine.network) {}

  /// Of a way between two devices that are there; empty when nothing is.
  [[nodiscard]] std::string problem(const BoundWay& way) const {
    const auto& [connection, links] = way;
    if (connection.from == connection.to) return ": what a device sends to itself takes no way";
    if (links.empty()) return " has no links";
    for (const LinkId link : links) {
      if (link >= network_.links.size())
        return fmt::format(": link {} does not exist, the machine has {}", link, network_.links.size());
    }
    if (std::string broken = broken_at(connection, links); !broken.empty()) return broken;
    for (const LinkId link : links) {
      if (network_.links[link].dead) return fmt::format(" goes over the dead link from {}", machine_.link_name(link));
    }
    return passed(connection, links);
  }

 private:
  [[nodiscard]] std::string broken_at(const Connection& connection, const std::vector<LinkId>& links) const {
    const NodeId begin = network_.links[links.front()].from, end = network_.links[links.back()].to;
    if (begin != connection.from) return fmt::format(" begins at {}", machine_.node_name(begin));
    for (std::size_t i = 1; i < links.size(); ++i) {
      if (network_.links[links[i]].from == network_.links[links[i - 1]].to) continue;
      return fmt::format(" is broken: behind the link from {} comes the one from {}", machine_.link_name(links[i - 1]),
                         machine_.link_name(links[i]));
    }
    return end == connection.to ? "" : fmt::format(" ends at {}", machine_.node_name(end));
  }

  /// A node that it passes and must not. Any other device passes messages on, beside switches too: one whose NIC is
  /// dead sends through a neighbour (machine/detour_router.hpp).
  [[nodiscard]] std::string passed(const Connection& connection, const std::vector<LinkId>& links) const {
    std::set<NodeId> nodes{connection.from};
    for (const LinkId link : links) {
      const NodeId node = network_.links[link].to;
      if (!nodes.insert(node).second) return fmt::format(" passes {} twice", machine_.node_name(node));
      if (node < network_.devices && !machine_.alive(node))
        return fmt::format(" passes {}, which is dead", machine_.node_name(node));
      if (node != connection.to && !network_.passes_on(node, connection.from, connection.to))
        return fmt::format(" passes {}, which passes {} on", machine_.node_name(node),
                           network_.is_host(node) ? "nothing" : "only what its host sends and receives");
    }
    return {};
  }

  const machine::Machine& machine_;
  const machine::Network& network_;
};

std::set<Connection> connections_of(const Program& program, ProgramTraffic& traffic) {
  std::set<Connection> used;
  for (const Sequence& sequence : sequences_of(program, traffic, {TrafficKey::Kind::send}))
    used.insert({sequence.device, program.devices[sequence.device].peers[sequence.key.slot], sequence.key.channel});
  return used;
}

}  // namespace

Problems check_ways(const Program& program, const machine::Machine& machine, ProgramTraffic& traffic) {
  Problems problems;
  if (program.ways.empty()) return problems;
  const WayCheck check(machine);
  const std::set<Connection> used = connections_of(program, traffic);
  std::set<Connection> bound;
  for (const BoundWay& way : program.ways) {
    const auto& [from, to, channel] = way.connection;
    const std::string name = fmt::format("the way from device {} to device {} on channel {}", from, to, channel);
    if (const DeviceId last = std::max(from, to); last >= machine.devices()) {
      problems.add(fmt::format("{}: device {} does not exist, the machine has {}", name, last, machine.devices()));
    } else if (!bound.insert(way.connection).second) {
      problems.add(name + " is bound twice");
    } else if (const std::string problem = check.problem(way); !problem.empty()) {
      problems.add(name + problem);
    } else if (!used.contains(way.connection)) {
      problems.add(name + " is bound, but nothing is sent there");
    }
  }
  return problems;
}

}  // namespace tessera::program
