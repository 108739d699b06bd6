#include "sim/laws/promises/distances.hpp"

#include <algorithm>

#include "tessera/program/collective.hpp"

namespace tessera::sim {
namespace {

using program::Op;

constexpr std::uint32_t not_run = ~std::uint32_t{0};

/// First `first`, then `then`.
Distance chain(const Distance& first, const Distance& then) {
  const Distance shifted = later(then, first.end);
  return {std::min(first.crossing, shifted.crossing), std::min(first.sharing, shifted.sharing),
          std::min(first.signal, shifted.signal), std::min(first.joining, shifted.joining), shifted.end};
}

/// `count` >= 1 times `once`.
Distance repeat(const Distance& once, std::uint32_t count) {
  Distance all = once;
  all.end = saturating_times(count, once.end);
  return all;
}

}  // namespace

DistanceTable::DistanceTable(const program::Program& program, const CostTable& costs,
                             const program::DeviceProgram& device, const Reach& reach)
    : reach_(reach), first_(program.blocks.size(), not_run) {
  for (const program::BlockId block : device.streams) add(program, costs, block);
}

void DistanceTable::add(const program::Program& program, const CostTable& costs, program::BlockId block) {
  if (first_[block] != not_run) return;
  const auto& code = program.blocks[block].code;
  for (const program::Instruction& instruction : code) {
    if (instruction.op == Op::call) add(program, costs, instruction.a);
  }
  first_[block] = static_cast<std::uint32_t>(at_.size());
  at_.resize(at_.size() + code.size() + 1);
  Distance* const at = &at_[first_[block]];
  for (std::size_t i = code.size(); i-- > 0;) at[i] = before(costs, code[i], at[i + 1]);
}

Distance DistanceTable::before(const CostTable& costs, const program::Instruction& instruction,
                               const Distance& behind) const {
  Distance here = behind;
  switch (instruction.op) {
    case Op::compute:
      return later(behind, saturating_times(instruction.count, costs.of(instruction.a)));
    case Op::send:
      if (reach_.peers_cross[instruction.a]) here.crossing = 0;
      if (reach_.peers_share[instruction.a]) here.sharing = 0;
      return here;
    case Op::collective: {
      if (reach_.collectives_cross[instruction.a]) here.crossing = 0;
      if (reach_.collectives_share[instruction.a]) here.sharing = 0;
      if (reach_.collectives_span[instruction.a]) here.joining = 0;
      return here;
    }
    case Op::signal:
      here.signal = 0;
      return here;
    case Op::call:
      return instruction.count == 0 ? behind : chain(repeat(at_[first_[instruction.a]], instruction.count), behind);
    default:
      return here;
  }
}

Distance DistanceTable::from(const Stream& stream, bool behind_present) const {
  Distance sum;
  std::uint32_t skipped = behind_present ? 1 : 0;
  for (auto frame = stream.frames.rbegin(); frame != stream.frames.rend(); ++frame) {
    const Distance* at = &at_[first_[frame->block]];
    sum = chain(sum, at[std::min(frame->next + skipped, frame->size)]);
    if (frame->repeats > 1) sum = chain(sum, repeat(at[0], frame->repeats - 1));
    skipped = 0;
    if (sum.crossing != never && sum.sharing != never && sum.signal != never && sum.joining != never) break;
  }
  return sum;
}

Distances::Distances(program::Lowerings& lowerings, const NetworkTables& network, const std::vector<bool>& transits,
                     const pdes::Partition& partition, CostTables& costs)
    : program_(&lowerings.program()),
      lowerings_(&lowerings),
      network_(&network),
      transits_(&transits),
      partition_(&partition),
      costs_(&costs) {}

const DistanceTable* Distances::of(program::DeviceId device, const machine::KindAndSpeed& is) {
  // Kernels send whenever their work-groups and memory are ready, over any link.
  if (has_kernels()) return nullptr;
  const program::DeviceProgram& bound = program_->devices[device];
  const Key key{bound.streams, is, reach_of(device)};
  auto found = tables_.find(key);
  if (found == tables_.end()) {
    auto table = std::make_unique<DistanceTable>(*program_, costs_->of(is), bound, key.reach);
    found = tables_.emplace(key, std::move(table)).first;
  }
  return found->second.get();
}

template <class Act>
void Distances::for_each_way(program::DeviceId from, program::DeviceId to, Act&& act) const {
  if (to == program::no_device || to == from) return;
  act(machine::Connection{from, to});
  network_->bound_ways().for_each_between(from, to, [&](const machine::BoundWay& way) { act(way.connection); });
}

// A message that stays on the rank but meets others that may cross, at what passes them on, counts as one that does: it
// may change what has been announced of these.
bool Distances::crosses(const machine::Connection& way) const {
  const machine::Routes routes = network_->routes();
  const auto rank = partition_->rank_of[way.from];
  for (machine::LinkId link = routes.first(way); link != machine::no_link;) {
    const machine::NodeId node = network_->link(link).to;
    const machine::LinkId next = routes.next(link, way);
    const pdes::ComponentId component =
        network_->is_device(node) || next == machine::no_link ? node : network_->server(next);
    if (partition_->rank_of[component] != rank) return true;
    if (component != way.to && (*transits_)[component]) return true;
    link = next;
  }
  return false;
}

bool Distances::cross(program::DeviceId from, program::DeviceId to, Reach& reach) const {
  bool any = false;
  for_each_way(from, to, [&](const machine::Connection& way) {
    if (!crosses(way)) return;
    reach.ports_cross[network_->routes().first(way) - network_->network().first_link[from]] = true;
    any = true;
  });
  return any;
}

bool Distances::spans(program::GroupId group) const {
  const auto& members = program_->groups[group].members;
  const auto elsewhere = [&](program::DeviceId member) {
    return partition_->rank_of[member] != partition_->rank_of[members.front()];
  };
  return std::any_of(members.begin(), members.end(), elsewhere);
}

bool Distances::shares(program::DeviceId from, program::DeviceId to, const Reach& reach) const {
  bool any = false;
  for_each_way(from, to, [&](const machine::Connection& way) {
    const machine::LinkId link = network_->routes().first(way);
    any = any || (link != machine::no_link && reach.ports_cross[link - network_->network().first_link[from]]);
  });
  return any;
}

Reach Distances::reach_of(program::DeviceId device) const {
  const program::DeviceProgram& bound = program_->devices[device];
  const machine::Network& network = network_->network();
  std::vector<std::vector<program::DeviceId>> sent_to(program_->collectives.size());
  for (std::uint32_t index = 0; index < sent_to.size(); ++index) {
    program::append_destinations(*lowerings_, device, index, sent_to[index]);
  }
  Reach reach;
  reach.ports_cross.assign(network.first_link[device + 1] - network.first_link[device], is_transit(device));
  const auto cross = [&](program::DeviceId to) { return this->cross(device, to, reach); };
  for (const program::DeviceId peer : bound.peers) reach.peers_cross.push_back(cross(peer));
  for (const auto& all : sent_to) {
    bool any = false;
    for (const program::DeviceId to : all) any = cross(to) || any;
    reach.collectives_cross.push_back(any);
  }
  for (const program::Collective& collective : program_->collectives) {
    const std::size_t slot = collective.group_slot;
    const program::GroupId group = slot < bound.groups.size() ? bound.groups[slot] : program::no_group;
    reach.collectives_span.push_back(group != program::no_group && spans(group));
  }
  // Which ports cross is known by now.
  const auto share = [&](program::DeviceId to) { return shares(device, to, reach); };
  for (const program::DeviceId peer : bound.peers) reach.peers_share.push_back(share(peer));
  for (const auto& all : sent_to) reach.collectives_share.push_back(std::any_of(all.begin(), all.end(), share));
  return reach;
}

}  // namespace tessera::sim
