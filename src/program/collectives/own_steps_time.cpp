// How long steps take whose messages have their links for themselves: no events, for a message's way depends on its
// sender alone.
#include <cmath>
#include <map>

#include "link_schedule.hpp"
#include "tessera/machine/routes.hpp"

namespace tessera::program {
namespace {

/// What one member sends to another one, in order.
struct OwnWay {
  double latency = 0, rate = 1;               // ps, B/ps
  double busy_since = 0, free = 0, sent = 0;  // the last busy period of the link, and B in it
  std::vector<double> arrivals;
  std::size_t received = 0;

  void send(double now, std::int64_t bytes) {
    if (now > free) {
      busy_since = now;
      sent = 0;
    }
    sent += static_cast<double>(bytes);
    free = std::max(now, busy_since + std::ceil(sent / rate));
    arrivals.push_back(free + latency);
  }
};

class OwnStepsWalk {
 public:
  OwnStepsWalk(const CollectiveAlgorithm& algorithm, const CollectiveCall& first)
      : algorithm_(algorithm), members_(first.size), routes_(first.machine->network) {
    for (std::uint32_t rank = 0; rank < first.size; ++rank) {
      members_[rank].call = first;
      members_[rank].call.rank = rank;
      members_[rank].steps = algorithm.steps(members_[rank].call);
      open_.push_back(rank);
    }
  }

  double end() {
    while (!open_.empty()) {
      const std::uint32_t rank = open_.back();
      open_.pop_back();
      go_on(members_[rank]);
    }
    double latest = 0;
    for (const Member& member : members_) latest = std::max(latest, member.clock);
    return latest;
  }

 private:
  struct Member {
    CollectiveCall call;
    std::uint32_t index = 0, steps = 0;
    bool posted = false;
    double clock = 0;
    Step step;
  };

  void go_on(Member& member) {
    while (member.index < member.steps) {
      if (!member.posted) post(member);
      if (!take(member)) return;
      member.posted = false;
      ++member.index;
    }
  }

  void post(Member& member) {
    algorithm_.step(member.call, member.index, member.step);
    member.posted = true;
    for (const Transfer& send : member.step.sends) {
      way(member.call, member.call.rank, send.peer).send(member.clock, send.bytes);
      open_.push_back(send.peer);
    }
  }

  /// False while something has not been sent yet.
  bool take(Member& member) {
    std::map<std::uint32_t, std::size_t> due;
    for (const Transfer& receive : member.step.receives) ++due[receive.peer];
    for (const auto& [peer, count] : due) {
      const OwnWay& from = way(member.call, peer, member.call.rank);
      if (from.arrivals.size() < from.received + count) return false;
    }
    for (const auto& [peer, count] : due) {
      OwnWay& from = way(member.call, peer, member.call.rank);
      from.received += count;
      member.clock = std::max(member.clock, from.arrivals[from.received - 1]);
    }
    return true;
  }

  OwnWay& way(const CollectiveCall& call, std::uint32_t from, std::uint32_t to) {
    const auto [found, added] = ways_.try_emplace({from, to});
    if (added) {
      const auto& members = call.group->members;
      const machine::Link& link = call.machine->network.links[routes_.first({members[from], members[to]})];
      found->second.latency = static_cast<double>(link.latency.value());
      found->second.rate = static_cast<double>(link.bandwidth.value()) / static_cast<double>(second);
    }
    return found->second;
  }

  const CollectiveAlgorithm& algorithm_;
  std::vector<Member> members_;
  std::vector<std::uint32_t> open_;  // ranks that may go on
  std::map<std::pair<std::uint32_t, std::uint32_t>, OwnWay> ways_;
  machine::Routes routes_;
};

}  // namespace

double time_of_own_steps(const CollectiveAlgorithm& algorithm, const Collective& collective, const Group& group,
                         const machine::Machine& machine) {
  return OwnStepsWalk(algorithm, make_call(collective, group, 0, machine)).end();
}

}  // namespace tessera::program
