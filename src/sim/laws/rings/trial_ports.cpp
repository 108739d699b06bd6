#include "sim/laws/rings/trial_ports.hpp"

namespace tessera::sim {

TrialPorts::TrialPorts(const NetworkTables& tables, const std::vector<machine::LinkId>& links,
                       const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends, Time own_left)
    : tables_(tables), links_(links) {
  for (std::size_t i = 0; i < links.size(); ++i) {
    ports_.emplace_back(tables, links[i], tables.server(links[i]));
    ports_.back().begin_behind(busy[i], short_ends[i], i == 0 ? own_left : 0);
  }
}

WayPorts TrialPorts::chain() {
  std::vector<TrainPort*> ports;
  std::vector<pdes::ComponentId> servers;
  for (TrainPort& port : ports_) {
    ports.push_back(&port);
    servers.push_back(tables_.server(port.link()));
  }
  return {std::move(ports), std::move(servers)};
}

// By names that no guest has.
void TrialPorts::begin(WayPorts& chain, std::span<const PostedMessage> posted, const std::vector<Guest>& guests) const {
  constexpr std::uint32_t no_channel = ~std::uint32_t{0};
  const machine::NodeId to = tables_.link(links_.back()).to;
  const auto post = [&](std::size_t i) {
    OwnMessage message = message_of(tables_, posted[i].bytes, to);
    message.name.channel = no_channel;
    message.name.sequence = static_cast<std::uint32_t>(i);
    chain.post(posted[i].at, message);
  };
  in_turn(posted, guests, tables_.server(links_.front()), post, [&](std::size_t i) { chain.arrive(guests[i]); });
}

Time TrialPorts::pass(std::span<const PostedMessage> posted, const std::vector<Guest>& guests) {
  WayPorts trial = chain();
  begin(trial, posted, guests);
  trial.run_until({never, 0});
  for (TrainPort& port : ports_) port.finish(trial);
  return trial.last_delivery();
}

WayPorts::Announced TrialPorts::let_pass(std::span<const PostedMessage> posted, const std::vector<Guest>& guests) {
  WayPorts trial = chain();
  begin(trial, posted, guests);
  trial.run_until({never, 0});
  return trial.last_guest();
}

std::vector<LinkCounts> TrialPorts::counts() const {
  std::vector<LinkCounts> counts;
  for (const TrainPort& port : ports_) counts.push_back(port.counts());
  return counts;
}

std::vector<BusyPeriod> TrialPorts::busy() const {
  std::vector<BusyPeriod> busy;
  for (const TrainPort& port : ports_) busy.push_back(port.state().busy);
  return busy;
}

}  // namespace tessera::sim
