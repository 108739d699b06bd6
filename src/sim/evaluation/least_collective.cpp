#include "least_collective.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "tessera/base/integers.hpp"
#include "tessera/program/collective.hpp"

namespace tessera::sim {
namespace {

using program::DeviceId;

/// The steps of all members of one strand.
class Strand {
 public:
  Strand(const program::CollectiveAlgorithm& algorithm, const program::Collective& collective,
         const program::Group& group, const machine::Machine& machine, std::uint32_t strand)
      : machine_(machine), group_(group) {
    program::Step step;
    for (std::uint32_t rank = 0; rank < group.members.size(); ++rank) {
      program::CollectiveCall call = program::make_call(collective, group, rank, machine);
      call.strand = strand;
      first_.push_back(static_cast<std::uint32_t>(reduce_.size()));
      const std::uint32_t steps = algorithm.steps(call);
      for (std::uint32_t index = 0; index < steps; ++index) {
        algorithm.step(call, index, step);
        add(rank, step);
      }
    }
    first_.push_back(static_cast<std::uint32_t>(reduce_.size()));
  }

  /// By member: the longest way from its beginning to anybody's end.
  std::vector<Time> longest(CostTable& costs) {
    std::vector<Time> rest(reduce_.size() + 1, 0);    // from the beginning of a step
    std::vector<Time> behind(reduce_.size() + 1, 0);  // from the moment when its receives are there
    std::uint32_t most = 0;
    for (std::size_t rank = 0; rank < group_.members.size(); ++rank) most = std::max(most, steps_of(rank));
    for (std::uint32_t step = most; step-- > 0;) {
      for (std::size_t rank = 0; rank < group_.members.size(); ++rank) {
        if (step >= steps_of(rank)) continue;
        const std::uint32_t node = first_[rank] + step;
        const Time next = step + 1 < steps_of(rank) ? rest[node + 1] : 0;
        behind[node] = saturating_add(costs.reduction(reduce_[node]), next);
      }
      for (std::size_t rank = 0; rank < group_.members.size(); ++rank) {
        if (step < steps_of(rank)) follow(first_[rank] + step, step, behind, rest);
      }
    }
    std::vector<Time> found;
    for (std::size_t rank = 0; rank < group_.members.size(); ++rank)
      found.push_back(steps_of(rank) > 0 ? rest[first_[rank]] : 0);
    return found;
  }

 private:
  struct Message {
    std::uint32_t from = 0, to = 0, lane = 0;  // ranks
    std::uint32_t node = 0;
    std::int64_t bytes = 0;
  };
  using Way = std::array<std::uint32_t, 3>;

  [[nodiscard]] std::uint32_t steps_of(std::size_t rank) const { return first_[rank + 1] - first_[rank]; }

  void add(std::uint32_t rank, const program::Step& step) {
    const auto node = static_cast<std::uint32_t>(reduce_.size());
    reduce_.push_back(step.reduce);
    sends_.emplace_back();
    for (const program::Transfer& sent : step.sends)
      sends_.back().push_back({rank, sent.peer, sent.lane, node, sent.bytes});
    for (const program::Transfer& due : step.receives) receives_[{due.peer, rank, due.lane}].push_back(node);
    for (Message& message : sends_.back()) {
      std::uint32_t& count = counts_[{message.from, message.to, message.lane}];
      message.node = count++;  // which of its way's it is
    }
  }

  /// What a step's messages make others wait for. A receive in an earlier step than the send is left out: that makes
  /// the way shorter.
  void follow(std::uint32_t node, std::uint32_t step, const std::vector<Time>& behind, std::vector<Time>& rest) {
    rest[node] = behind[node];
    for (const Message& message : sends_[node]) {
      const auto due = receives_.find({message.from, message.to, message.lane});
      if (due == receives_.end() || message.node >= due->second.size()) continue;
      const std::uint32_t receiver = due->second[message.node];
      if (receiver - first_[message.to] < step) continue;
      rest[node] = std::max(rest[node], saturating_add(time_of(message), behind[receiver]));
    }
  }

  Time time_of(const Message& message) {
    const auto [found, added] = known_.try_emplace({message.from, message.to, message.bytes}, 0);
    if (added)
      found->second = least_message(machine_, group_.members[message.from], group_.members[message.to], message.bytes);
    return found->second;
  }

  const machine::Machine& machine_;
  const program::Group& group_;
  std::vector<std::uint32_t> first_;         // node of each member's first step, and one behind the last
  std::vector<std::int64_t> reduce_;         // B, by node
  std::vector<std::vector<Message>> sends_;  // by node
  std::map<Way, std::vector<std::uint32_t>> receives_;
  std::map<Way, std::uint32_t> counts_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t>, Time> known_;
};

}  // namespace

Time carried(std::int64_t bytes, std::int64_t rate) {
  const Uint128 time = static_cast<Uint128>(bytes) * static_cast<Uint128>(second) / static_cast<Uint128>(rate);
  return time < static_cast<Uint128>(latest) ? static_cast<Time>(time) : never;
}

Time least_message(const machine::Machine& machine, DeviceId from, DeviceId to, std::int64_t bytes) {
  const machine::Network& network = machine.network;
  const std::int64_t packet = machine.network.packet.value();
  const std::int64_t first = std::min(bytes, packet), last = bytes <= packet ? bytes : (bytes - 1) % packet + 1;
  Time sum = 0;                // with a packet on each link but the slowest
  Time before = 0, after = 0;  // packets on the links in front of and behind the slowest one up to here
  Time latency = 0;
  std::int64_t slowest = std::numeric_limits<std::int64_t>::max();
  for (machine::NodeId at = from; at != to;) {
    const machine::Link& link = network.links[network.router->next(at, to)];
    const std::int64_t rate = link.bandwidth.value();
    latency = saturating_add(latency, link.latency.value());
    if (rate < slowest) {
      slowest = rate;
      before = sum;
      after = 0;
    } else {
      after = saturating_add(after, carried(last, rate));
    }
    sum = saturating_add(sum, carried(first, rate));
    at = link.to;
  }
  if (from == to) return 0;
  return saturating_add(saturating_add(latency, before), saturating_add(carried(bytes, slowest), after));
}

Time least_time(const program::Collective& collective, const program::Group& group, const machine::Machine& machine,
                CostTables& costs) {
  if (group.members.size() < 2) return 0;
  double fastest = 0;
  for (const DeviceId member : group.members) fastest = std::max(fastest, machine.speed[member]);
  const program::CollectiveCall call = program::make_call(collective, group, 0, machine);
  const program::CollectiveAlgorithm& algorithm = program::algorithm_of(call);
  std::vector<Time> longest(group.members.size(), 0);
  const std::uint32_t strands = algorithm.strands(call);
  for (std::uint32_t strand = 0; strand < strands; ++strand) {
    const std::vector<Time> of_strand =
        Strand(algorithm, collective, group, machine, strand).longest(costs.at_speed(fastest));
    for (std::size_t rank = 0; rank < longest.size(); ++rank) longest[rank] = std::max(longest[rank], of_strand[rank]);
  }
  return *std::ranges::min_element(longest);
}

}  // namespace tessera::sim
