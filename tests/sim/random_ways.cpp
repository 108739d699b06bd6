#include "random_ways.hpp"

#include <algorithm>
#include <optional>

#include "tessera/base/random.hpp"

namespace tessera::test {
namespace {

using machine::BoundWay;
using machine::Connection;
using machine::LinkId;
using machine::NodeId;

class WayMaker {
 public:
  WayMaker(std::uint64_t index, const machine::Machine& machine)
      : random_(index, random_stream("ways")), machine_(machine), network_(machine.network) {}

  std::vector<BoundWay> make(const std::vector<Connection>& connections) {
    const std::uint64_t most = 1 + below(4);  // of four connections, so many are bound
    std::vector<BoundWay> ways;
    for (const Connection& connection : connections) {
      if (connection.from == connection.to || below(4) >= most) continue;
      std::vector<LinkId> links = below(2) == 0 ? shortest(connection) : any(connection);
      if (!links.empty()) ways.push_back({connection, std::move(links)});
    }
    return ways;
  }

 private:
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  [[nodiscard]] bool passes_on(NodeId node) const {
    return node >= network_.devices || (machine_.alive(node) && !network_.is_host(node));
  }
  [[nodiscard]] std::vector<LinkId> links_from(NodeId node) {
    std::vector<LinkId> links;
    for (LinkId link = network_.first_link[node]; link < network_.first_link[node + 1]; ++link)
      if (!network_.links[link].dead) links.push_back(link);
    for (std::size_t i = links.size(); i > 1; --i) std::swap(links[i - 1], links[below(i)]);
    return links;
  }

  // Links to all nodes in rounds, those of a node in a random order; the link that comes to a node first stays.
  std::vector<LinkId> shortest(const Connection& connection) {
    std::vector<LinkId> into(network_.nodes(), machine::no_link);
    std::vector<NodeId> border{connection.from};
    for (std::size_t i = 0; i < border.size(); ++i) {
      if (border[i] != connection.from && !passes_on(border[i])) continue;
      for (const LinkId link : links_from(border[i])) {
        const NodeId node = network_.links[link].to;
        if (node == connection.from || into[node] != machine::no_link) continue;
        into[node] = link;
        border.push_back(node);
      }
    }
    std::vector<LinkId> links;
    for (NodeId at = connection.to; at != connection.from; at = network_.links[links.back()].from) {
      if (into[at] == machine::no_link) return {};
      links.push_back(into[at]);
    }
    std::ranges::reverse(links);
    return links;
  }

  std::vector<LinkId> any(const Connection& connection) {
    std::vector<bool> seen(network_.nodes(), false);
    std::vector<LinkId> links;
    return find(connection.from, connection.to, seen, links) ? links : std::vector<LinkId>{};
  }
  bool find(NodeId at, NodeId to, std::vector<bool>& seen, std::vector<LinkId>& links) {
    if (at == to) return true;
    seen[at] = true;
    if (!links.empty() && !passes_on(at)) return false;
    for (const LinkId link : links_from(at)) {
      if (seen[network_.links[link].to]) continue;
      links.push_back(link);
      if (find(network_.links[link].to, to, seen, links)) return true;
      links.pop_back();
    }
    return false;
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  const machine::Machine& machine_;
  const machine::Network& network_;
};

}  // namespace

std::vector<BoundWay> random_ways(std::uint64_t index, const machine::Machine& machine,
                                  std::vector<Connection> connections) {
  std::ranges::sort(connections);
  connections.erase(std::ranges::unique(connections).begin(), connections.end());
  return WayMaker(index, machine).make(connections);
}

std::vector<BoundWay> random_ways(std::uint64_t index, const machine::Network& network,
                                  const std::vector<TestMessage>& messages) {
  std::vector<Connection> connections;
  for (const TestMessage& message : messages) connections.push_back({message.from, message.to, message.channel});
  return random_ways(index, machine_of(network), std::move(connections));
}

ProgramCase with_random_ways(std::uint64_t index, ProgramCase made) {
  std::vector<Connection> connections;
  for (program::DeviceId device = 0; device < made.program.devices.size(); ++device) {
    const program::DeviceProgram& bound = made.program.devices[device];
    for (const program::BlockId entry : bound.streams) {
      for (const auto& [block, times] : program::block_runs(made.program, entry)) {
        for (const program::Instruction& one : made.program.blocks[block].code)
          if (one.op == program::Op::send) connections.push_back({device, bound.peers[one.a], one.b});
      }
    }
  }
  made.program.ways = random_ways(index, made.machine, std::move(connections));
  return made;
}

}  // namespace tessera::test
