#include "least_collective.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>

#include "tessera/base/integers.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/group_rank.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;

/// All members of a group, each at the beginning of a strand of its steps.
class Strand {
 public:
  Strand(const program::CollectiveAlgorithm& algorithm, const program::Collective& collective,
         const program::Group& group, const machine::Machine& machine, std::uint32_t strand)
      : machine_(machine), group_(group), algorithm_(algorithm), clock_(group.members.size(), 0) {
    program::CollectiveCall call = program::make_call(collective, group, 0, machine);
    call.strand = strand;
    for (call.rank = 0; call.rank < group.members.size(); ++call.rank) calls_.push_back(call);
  }

  /// By member, when it is done. Adds what comes in to `bytes`, by link.
  const std::vector<Time>& ends(CostTable& costs, std::map<machine::LinkId, std::int64_t>& bytes) {
    std::vector<std::uint32_t> steps;
    for (const auto& call : calls_) steps.push_back(algorithm_.steps(call));
    std::vector<program::Step> now(calls_.size());
    for (std::uint32_t index = 0; index < *std::ranges::max_element(steps); ++index) {
      for (std::uint32_t rank = 0; rank < calls_.size(); ++rank) {
        now[rank].clear();
        if (index >= steps[rank]) continue;
        algorithm_.step_on_wire(calls_[rank], index, now[rank]);
        for (const program::Transfer& sent : now[rank].sends) send(rank, sent, bytes);
      }
      for (std::uint32_t rank = 0; rank < calls_.size(); ++rank) receive(rank, now[rank], costs);
    }
    return clock_;
  }

 private:
  /// Messages from one member to another in a lane.
  struct Way {
    std::vector<Time> arrivals;
    std::size_t received = 0;
    Time free = 0;  ///< the slowest link, after the latencies
  };
  struct Route {
    LeastMessage message;
    machine::LinkId last = 0;  ///< link of the way
  };

  void send(std::uint32_t from, const program::Transfer& sent, std::map<machine::LinkId, std::int64_t>& bytes) {
    if (sent.peer == from) return;
    const Route& route = route_of(from, sent.peer, sent.bytes);
    Way& way = ways_[{from, sent.peer, sent.lane}];
    way.free =
        saturating_add(std::max(saturating_add(clock_[from], route.message.lead), way.free), route.message.carry);
    way.arrivals.push_back(saturating_add(way.free, route.message.tail));
    bytes[route.last] = saturating_sum(bytes[route.last], sent.bytes);
  }

  /// What is sent in a later step of the sender is not waited for: that makes the time shorter.
  void receive(std::uint32_t rank, const program::Step& step, CostTable& costs) {
    for (const program::Transfer& due : step.receives) {
      if (due.peer == rank) continue;
      Way& way = ways_[{due.peer, rank, due.lane}];
      if (way.received < way.arrivals.size()) clock_[rank] = std::max(clock_[rank], way.arrivals[way.received]);
      ++way.received;
    }
    if (step.reduce > 0) clock_[rank] = saturating_add(clock_[rank], costs.reduction(step.reduce));
  }

  const Route& route_of(std::uint32_t from, std::uint32_t to, std::int64_t bytes) {
    const auto [found, added] = routes_.try_emplace({from, to, bytes});
    if (!added) return found->second;
    const DeviceId sender = group_.members[from], receiver = group_.members[to];
    const machine::Routes routes(machine_.network);
    found->second.message = parts_of_message(routes, {sender, receiver}, bytes);
    found->second.last = routes.last({sender, receiver});
    return found->second;
  }

  const machine::Machine& machine_;
  const program::Group& group_;
  const program::CollectiveAlgorithm& algorithm_;
  std::vector<program::CollectiveCall> calls_;  // by member
  std::vector<Time> clock_;                     // by member
  std::map<std::array<std::uint32_t, 3>, Way> ways_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, Route> routes_;
};

}  // namespace

Time carried(std::int64_t bytes, std::int64_t rate) {
  const Uint128 time = static_cast<Uint128>(bytes) * static_cast<Uint128>(second) / static_cast<Uint128>(rate);
  return time < static_cast<Uint128>(latest) ? static_cast<Time>(time) : never;
}

LeastMessage parts_of_message(const machine::Routes& routes, const machine::Connection& connection,
                              std::int64_t bytes) {
  const machine::Network& network = routes.network();
  const std::int64_t packet = network.packet.value();
  const std::int64_t first = std::min(bytes, packet), last = bytes <= packet ? bytes : (bytes - 1) % packet + 1;
  LeastMessage found;
  Time latency = 0, packets = 0;
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  routes.for_each_link(connection, [&](machine::LinkId id) {
    const machine::Link& link = network.links[id];
    const std::int64_t rate = link.bandwidth.value();
    latency = saturating_add(latency, link.latency.value());
    if (rate < slowest) {
      slowest = rate;
      found = {packets, carried(bytes, rate), 0};
    } else {
      found.tail = saturating_add(found.tail, carried(last, rate));
    }
    packets = saturating_add(packets, carried(first, rate));
  });
  found.lead = saturating_add(found.lead, latency);
  return found;
}

Time least_message(const machine::Routes& routes, const machine::Connection& connection, std::int64_t bytes) {
  const LeastMessage parts = parts_of_message(routes, connection, bytes);
  return saturating_add(saturating_add(parts.lead, parts.carry), parts.tail);
}

Time least_time(const program::Collective& collective, const program::Group& group, const machine::Machine& machine,
                CostTables& costs) {
  if (group.members.size() < 2) return 0;
  double fastest = 0;
  for (const DeviceId member : group.members) fastest = std::max(fastest, machine.speed[member]);
  const program::CollectiveCall call = program::make_call(collective, group, 0, machine);
  const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
  std::vector<Time> ends(group.members.size(), 0);
  std::map<machine::LinkId, std::int64_t> bytes;  // that come in, by the last link of their way
  const std::uint32_t strands = algorithm.strands(call);
  for (std::uint32_t strand = 0; strand < strands; ++strand) {
    Strand one(algorithm, collective, group, machine, strand);
    const std::vector<Time>& of_strand = one.ends(costs.at_speed(fastest), bytes);
    for (std::size_t rank = 0; rank < ends.size(); ++rank) ends[rank] = std::max(ends[rank], of_strand[rank]);
  }
  for (const auto& [link, coming] : bytes) {
    const auto rank = program::rank_in(group, machine.network.links[link].to);
    if (rank) ends[*rank] = std::max(ends[*rank], carried(coming, machine.network.links[link].bandwidth.value()));
  }
  return *std::ranges::min_element(ends);
}

}  // namespace tessera::sim
