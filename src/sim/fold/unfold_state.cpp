// All components go on from where those have come to that stood for them.
#include <algorithm>
#include <cstring>

#include "sim/fold/renaming.hpp"
#include "sim/rank_simulation.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

/// By group: whether some device is in a collective.
std::vector<bool> groups_at_work(const std::vector<Device*>& devices, std::size_t groups) {
  std::vector<bool> at_work(groups, false);
  for (const Device* device : devices) device->tell_groups_at_work(at_work);
  return at_work;
}

/// What it has carried, and nothing in it.
NodeState at_rest(const NetworkNode& node) {
  NodeState state;
  for (const auto& port : node.ports()) {
    auto carried = std::make_unique<TrainState>();
    carried->counts = port->counts();
    state.ports.push_back(std::move(carried));
  }
  return state;
}

}  // namespace

void RankSimulation::take_over_rings(const RankSimulation& folded) {
  if (!rings_) return;
  rings_->go_on_from(*folded.rings_, groups_at_work(folded.devices_, program_.groups.size()));
}

// Its ports are idle as long as they are used here: what was in them then is done, or joins later.
void RankSimulation::take_over_component(RankSimulation& folded, pdes::ComponentId id) {
  const Fold& fold = *folded.fold_;
  if (!fold.takes_part(id)) return simulation_->go_on(id, 0);
  const auto [of, times] = fold.place(id);
  simulation_->go_on(id, folded.simulation_->sequence(of));
  const Renaming renaming(fold, network_.tables, times);
  NodeState node = at_rest(*folded.parts_.nodes[of]);
  if (!network_.tables.is_device(id)) return parts_.nodes[id]->restore(std::move(node));
  SavedDevice saved = folded.device_at_[of]->save();
  saved.node = std::move(node);
  saved.device.outboxes.forget_places();
  rename(renaming, program_, id, saved);
  device_at_[id]->restore(std::move(saved));
  OwnRecord record = folded.device_at_[of]->record();
  if (record.is_made()) rename(renaming, id, *record);
  device_at_[id]->restore(std::move(record));
}

void RankSimulation::begin_apart(const Fold& fold, const Splits& splits, Time now) {
  for (Device* device : devices_)
    if (now != never && fold.takes_part(device->id())) device->go_on_at(now);
  for (const Splits::Start& start : splits.starts) {
    pdes::Event event;
    event.time = start.at;
    event.source = start.source;
    event.destination = start.device;
    event.sequence = start.sequence;
    event.kind = NetworkProtocol::kind_of<StreamWake>;
    const StreamWake wake{start.stream, start.token};
    std::memcpy(event.payload.data(), &wake, sizeof wake);
    take_over_event(fold, event);
    for (std::uint32_t times = 0; times < fold.order(); ++times) {
      Device* device = device_at_[fold.shifted(start.device, times)];
      if (device != nullptr) device->go_on_at(start.at);
    }
  }
}

void RankSimulation::take_over_event(const Fold& fold, const pdes::Event& event) {
  for (std::uint32_t times = 0; times < fold.order(); ++times) {
    pdes::Event other = event;
    other.destination = fold.shifted(event.destination, times);
    if (model_.partition.rank_of[other.destination] != comm_.rank()) continue;
    const Renaming renaming(fold, network_.tables, times);
    renaming.component(other.source);
    const auto put = [&](auto message) {
      if constexpr (requires { rename(renaming, message); }) rename(renaming, message);
      simulation_->put(other, message);
    };
    switch (event.kind) {
      case NetworkProtocol::kind_of<Segment>:
        put(pdes::Context::get<Segment>(event));
        break;
      case NetworkProtocol::kind_of<Segments>:
        put(pdes::Context::get<Segments>(event));
        break;
      case NetworkProtocol::kind_of<Delivered>:
        put(event.as<Delivered>());
        break;
      case NetworkProtocol::kind_of<Amend>:
        put(event.as<Amend>());
        break;
      case NetworkProtocol::kind_of<PortWake>: {
        auto wake = event.as<PortWake>();
        rename(renaming, event.destination, wake);
        put(wake);
        break;
      }
      case NetworkProtocol::kind_of<StreamWake>:
        put(event.as<StreamWake>());
        break;
      default:
        throw InternalError("an event of a kind that no fold has");
    }
  }
}

bool RankSimulation::join(RankSimulation& folded, Time now) {
  bool is_free = true;
  simulation_->act(std::max<Time>(now - 1, 0), [&](pdes::Context& context) { settle_ports(context); });
  for (const pdes::ComponentId id : simulation_->local_ids()) {
    if (!folded.fold_->takes_part(id)) continue;
    is_free = join_node(folded, id, now) && is_free;
    const std::uint32_t made = folded.simulation_->sequence(folded.fold_->place(id).of);
    if (static_cast<std::int32_t>(made - simulation_->sequence(id)) > 0) simulation_->go_on(id, made);
  }
  if (rings_) is_free = rings_->join(*folded.rings_, now) && is_free;
  for (const pdes::Event& event : folded.simulation_->pending()) take_over_event(*folded.fold_, event);
  leave_out_rounds();
  return is_free;
}

// A port that is in use is so in one of the two.
bool RankSimulation::join_node(RankSimulation& folded, pdes::ComponentId id, Time now) {
  const auto [of, times] = folded.fold_->place(id);
  const Renaming renaming(*folded.fold_, network_.tables, times);
  NetworkNode& here = *parts_.nodes[id];
  NetworkNode& there = *folded.parts_.nodes[of];
  const Time before = std::max<Time>(now - 1, 0);
  NodeState ours = here.state();
  SavedDevice saved;
  if (network_.tables.is_device(id)) saved = folded.device_at_[of]->save();
  saved.node = there.state();
  rename(renaming, program_, id, saved);
  NodeState& theirs = saved.node;
  bool is_free = true;
  for (std::uint32_t number = 0; number < there.ports().size(); ++number) {
    const auto port = renaming.port(of, number);
    if (!port) continue;
    const bool is_empty = train_port(there.port(number)).is_empty(before);
    if (!is_empty && rings_) is_free = rings_->free_up(here.port(*port).link(), now) && is_free;
    // What has been taken back may still come: nothing else is announced under its number.
    std::uint32_t& generation = train_state(*ours.ports[*port]).next_generation;
    generation = std::max(generation, train_state(*theirs.ports[*port]).next_generation);
    if (is_empty) continue;
    is_free = is_free && train_port(here.port(*port)).is_empty(before);
    train_state(*theirs.ports[*port]).counts = train_state(*ours.ports[*port]).counts;
    ours.ports[*port] = std::move(theirs.ports[*port]);
    if (network_.tables.is_device(id)) device_at_[id]->take_places(saved.device.outboxes, *port);
  }
  ours.taken_back.insert(ours.taken_back.end(), theirs.taken_back.begin(), theirs.taken_back.end());
  here.restore(ours);
  return is_free;
}

}  // namespace tessera::sim
