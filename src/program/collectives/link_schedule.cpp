#include "link_schedule.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>

#include "chunks.hpp"

namespace tessera::program {
namespace {

/// A schedule has a hop for each piece and member: 65,536 of as many members, and some hundred bytes a hop.
constexpr std::size_t most_scheduled = 256;

/// The hops of one member.
struct OwnHops {
  std::vector<const Hop*> sends, receives;  // in order of their times
};

std::vector<OwnHops> by_member(const Hops& hops, std::uint32_t members) {
  std::vector<OwnHops> found(members);
  for (const Hop& hop : hops.hops) {
    found[hop.from].sends.push_back(&hop);
    found[hop.to].receives.push_back(&hop);
  }
  for (OwnHops& own : found) {
    std::ranges::stable_sort(own.sends, {}, &Hop::begin);
    std::ranges::stable_sort(own.receives, {}, &Hop::end);
  }
  return found;
}

/// Writes down the steps of one member.
class MemberSteps {
 public:
  MemberSteps(const OwnHops& own, HopSteps& all) : own_(own), all_(all), awaited_(own.receives.size(), 0) {
    for (std::size_t i = 0; i < own.receives.size(); ++i) arrivals_[own.receives[i]->piece] = i;
  }

  void write(std::uint32_t parts, std::uint32_t member) {
    begin_step();
    for (const Hop* send : own_.sends) {
      if (send->piece / parts != member && awaited_[arrivals_.at(send->piece)] == 0) {
        await(arrivals_.at(send->piece));
        begin_step();
      }
      all_.sends.push_back({send->to, send->piece});
    }
    for (std::size_t i = 0; i < own_.receives.size(); ++i)
      if (awaited_[i] == 0) add(i);
  }

 private:
  void begin_step() {
    all_.steps.push_back(
        {static_cast<std::uint32_t>(all_.sends.size()), static_cast<std::uint32_t>(all_.receives.size())});
  }
  void add(std::size_t receive) {
    awaited_[receive] = 1;
    all_.receives.push_back({own_.receives[receive]->from, own_.receives[receive]->piece});
  }
  /// What comes over the same link before it is there as well, and is taken in its order.
  void await(std::size_t receive) {
    for (std::size_t i = 0; i <= receive; ++i)
      if (awaited_[i] == 0 && own_.receives[i]->from == own_.receives[receive]->from) add(i);
  }

  const OwnHops& own_;
  HopSteps& all_;
  std::map<std::uint32_t, std::size_t> arrivals_;  // place among the receives, by piece
  std::vector<char> awaited_;                      // by receive
};

bool is_all_ways_alike(const OwnLinks& links) {
  const auto alike = [](const OwnLink& a, const OwnLink& b) { return a.to == b.to && a.bandwidth == b.bandwidth; };
  const OwnLinks turned = turned_round(links);
  for (std::size_t i = 0; i < links.size(); ++i)
    if (!std::ranges::equal(links[i], turned[i], alike)) return false;
  return true;
}

}  // namespace

HopSteps::HopSteps(const Hops& hops, std::uint32_t members) {
  const std::vector<OwnHops> own = by_member(hops, members);
  for (std::uint32_t member = 0; member < members; ++member) {
    first.push_back(static_cast<std::uint32_t>(steps.size()));
    MemberSteps(own[member], *this).write(hops.parts, member);
  }
  first.push_back(static_cast<std::uint32_t>(steps.size()));
  steps.push_back({static_cast<std::uint32_t>(sends.size()), static_cast<std::uint32_t>(receives.size())});
}

bool LinkAlgorithm::supports(CollectiveKind kind) const {
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::reduce_scatter ||
         kind == CollectiveKind::all_gather;
}

std::string LinkAlgorithm::check(const Collective&, const Group& group, const machine::Machine& machine) const {
  if (group.members.size() > most_scheduled) return fmt::format("{} is for at most {} members", name(), most_scheduled);
  return check_own_links(name(), group, machine);
}

std::shared_ptr<const GroupPlan> LinkAlgorithm::plan(const Group& group, const machine::Machine& machine) const {
  const auto size = static_cast<std::uint32_t>(group.members.size());
  if (size < 2 || !check({}, group, machine).empty()) return nullptr;
  const OwnLinks links = own_links_of(group, machine);
  auto found = std::make_shared<LinkSchedule>();
  const Hops gathers = hops(links);
  found->gather_parts = found->scatter_parts = gathers.parts;
  found->gather = found->scatter = std::make_shared<HopSteps>(gathers, size);
  if (is_all_ways_alike(links)) return found;
  const Hops scatters = hops(turned_round(links));
  found->scatter_parts = scatters.parts;
  found->scatter = std::make_shared<HopSteps>(scatters, size);
  return found;
}

std::uint32_t LinkAlgorithm::steps(const CollectiveCall& call) const {
  const auto* schedule = static_cast<const LinkSchedule*>(call.lowering.plan.get());
  if (schedule == nullptr) return 0;
  const CollectiveKind kind = call.collective->kind;
  return (kind == CollectiveKind::all_gather ? 0 : schedule->scatter->count(call.rank)) +
         (kind == CollectiveKind::reduce_scatter ? 0 : schedule->gather->count(call.rank));
}

void LinkAlgorithm::step(const CollectiveCall& call, std::uint32_t index, Step& step) const {
  step.clear();
  const auto& schedule = static_cast<const LinkSchedule&>(*call.lowering.plan);
  const auto data_of = [&](std::uint32_t piece, std::uint32_t parts) {
    return chunk_of(chunk_of(*call.collective, call.size, piece / parts), call.collective->element, parts,
                    piece % parts);
  };
  const std::uint32_t scattered =
      call.collective->kind == CollectiveKind::all_gather ? 0 : schedule.scatter->count(call.rank);
  if (index < scattered) {
    const HopSteps& all = *schedule.scatter;
    const HopSteps::One* at = &all.steps[all.first[call.rank] + scattered - 1 - index];
    for (std::uint32_t i = at[1].receives; i-- > at[0].receives;)
      add_send(step, all.receives[i].peer, data_of(all.receives[i].piece, schedule.scatter_parts));
    for (std::uint32_t i = at[1].sends; i-- > at[0].sends;)
      add_receive_and_reduce(step, all.sends[i].peer, data_of(all.sends[i].piece, schedule.scatter_parts));
    return;
  }
  const HopSteps& all = *schedule.gather;
  const HopSteps::One* at = &all.steps[all.first[call.rank] + index - scattered];
  for (std::uint32_t i = at[0].sends; i < at[1].sends; ++i)
    add_send(step, all.sends[i].peer, data_of(all.sends[i].piece, schedule.gather_parts));
  for (std::uint32_t i = at[0].receives; i < at[1].receives; ++i)
    add_receive(step, all.receives[i].peer, data_of(all.receives[i].piece, schedule.gather_parts));
}

double LinkAlgorithm::time(const Collective& collective, const Group& group, const machine::Machine& machine) const {
  return time_of_own_steps(*this, collective, group, machine);
}

}  // namespace tessera::program
