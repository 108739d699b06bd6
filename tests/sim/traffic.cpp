#include "traffic.hpp"

#include <map>
#include <queue>
#include <tuple>

#include "sim/laws/trains/train_port.hpp"
#include "sim/network/node.hpp"
#include "sim/network/packet_port.hpp"

namespace tessera::test {
namespace {

using machine::LinkId;
using machine::NodeId;

class ShortestWays final : public machine::Router {
 public:
  explicit ShortestWays(const machine::Network& network) : devices_(network.devices) {
    next_.assign(static_cast<std::size_t>(network.nodes()) * devices_, machine::no_link);
    for (NodeId to = 0; to < devices_; ++to) find_ways(network, to);
  }
  LinkId next(NodeId at, NodeId to) const override { return next_[static_cast<std::size_t>(at) * devices_ + to]; }

 private:
  void find_ways(const machine::Network& network, NodeId to) {
    std::vector<bool> reached(network.nodes(), false);
    std::queue<NodeId> border;
    reached[to] = true;
    border.push(to);
    while (!border.empty()) {
      const NodeId node = border.front();
      border.pop();
      for (LinkId link = 0; link < network.links.size(); ++link) {
        const NodeId from = network.links[link].from;
        if (network.links[link].to != node || reached[from]) continue;
        reached[from] = true;
        next_[static_cast<std::size_t>(from) * devices_ + to] = link;
        border.push(from);
      }
    }
  }
  NodeId devices_;
  std::vector<LinkId> next_;
};

/// The names of messages: those of a connection are numbered 0, 1, ... in the order of the list, whenever they are
/// posted. A name alone, without its destination, is not unique.
class Names {
 public:
  explicit Names(const std::vector<TestMessage>& messages) {
    std::map<std::tuple<NodeId, NodeId, std::uint32_t>, std::uint32_t> sent;
    for (const TestMessage& message : messages) {
      names_.push_back({message.from, message.channel, sent[{message.from, message.to, message.channel}]++});
      numbers_[{message.from, message.to, message.channel, names_.back().sequence}] =
          static_cast<std::uint32_t>(names_.size() - 1);
    }
  }
  [[nodiscard]] const sim::MessageName& name(std::uint32_t number) const { return names_[number]; }
  [[nodiscard]] std::uint32_t number(const sim::MessageName& name, NodeId destination) const {
    return numbers_.at({name.sender, destination, name.channel, name.sequence});
  }

 private:
  std::vector<sim::MessageName> names_;
  std::map<std::tuple<NodeId, NodeId, std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
};

struct Recorder final : sim::PacketTrace {
  TrafficResult result;
  const sim::NetworkTables* tables = nullptr;
  const Names* names = nullptr;
  void packets_left(LinkId link, const sim::MessageName& name, NodeId destination,
                    const sim::PacketTimes& times) override {
    const std::uint32_t number = names->number(name, destination);
    for (std::uint32_t i = 0; i < times.count; ++i) {
      result.departures[link].push_back({number, times.at(i, tables->rate(times.rate))});
    }
  }
};

/// Posts its messages at their times, or when what they answer has come.
class TrafficDevice final : public pdes::Component {
 public:
  TrafficDevice(const sim::NetworkEnvironment& environment, pdes::ComponentId self,
                const std::vector<TestMessage>& messages, const Names& names, TrafficResult& result)
      : node_(environment, self, nullptr),
        tables_(environment.tables),
        self_(self),
        messages_(&messages),
        names_(&names),
        result_(&result) {}

  void start(pdes::Context& context) override {
    for (std::uint32_t i = 0; i < messages_->size(); ++i) {
      const TestMessage& message = (*messages_)[i];
      if (message.from == self_ && message.after < 0) context.schedule(message.time, sim::StreamWake{i, 0});
    }
  }
  void handle(pdes::Context& context, const pdes::Event& event) override {
    if (event.kind == sim::NetworkProtocol::kind_of<sim::StreamWake>) {
      post(context, event.source, event.as<sim::StreamWake>().stream);
    } else if (event.kind == sim::NetworkProtocol::kind_of<sim::Delivered>) {
      const auto message = event.as<sim::Delivered>();
      if (node_.holds(message)) delivered(context, event.source, names_->number(message.name, self_));
    } else {
      node_.handle(context, event);
    }
    node_.flush(context, event.source);
  }
  [[nodiscard]] sim::NetworkNode& node() { return node_; }

 private:
  void post(pdes::Context& context, pdes::ComponentId source, std::uint32_t id) {
    const TestMessage& message = (*messages_)[id];
    if (message.to == self_) return delivered(context, source, id);
    sim::OwnMessage own;
    own.name = names_->name(id);
    own.destination = message.to;
    own.waited_until = own.joined = context.now();
    own.packets_left = tables_->packets(message.bytes);
    own.last_bytes = message.bytes - (own.packets_left - 1) * tables_->packet();
    auto& latest = latest_.try_emplace({message.to, message.channel}, sim::Injector::no_ticket).first->second;
    latest = node_.post(context, node_.port_towards({self_, message.to, message.channel}), own, latest);
  }
  void delivered(pdes::Context& context, pdes::ComponentId source, std::uint32_t id) {
    result_->delivered[id] = context.now();
    for (std::uint32_t i = 0; i < messages_->size(); ++i) {
      if ((*messages_)[i].after == static_cast<int>(id)) post(context, source, i);
    }
  }

  sim::NetworkNode node_;
  const sim::NetworkTables* tables_;
  pdes::ComponentId self_;
  const std::vector<TestMessage>* messages_;
  const Names* names_;
  std::map<std::pair<NodeId, std::uint32_t>, sim::Injector::Ticket> latest_;  // by destination and channel
  TrafficResult* result_;
};

sim::NetworkNode& node_of(pdes::Component& component) {
  if (auto* device = dynamic_cast<TrafficDevice*>(&component)) return device->node();
  return dynamic_cast<sim::SwitchOutput&>(component).node();
}

}  // namespace

std::shared_ptr<const machine::Router> shortest_ways(const machine::Network& network) {
  return std::make_shared<ShortestWays>(network);
}

machine::Network finish_network(machine::NetworkBuilder& builder, std::int64_t packet) {
  machine::Network network = builder.finish();
  network.packet = Bytes{packet};
  network.router = shortest_ways(network);
  return network;
}

machine::Network chain(const std::vector<std::int64_t>& bandwidths, Time latency, std::int64_t packet) {
  machine::NetworkBuilder builder(static_cast<NodeId>(bandwidths.size() + 1));
  const std::uint16_t type = builder.link_class("wire");
  for (NodeId i = 0; i < bandwidths.size(); ++i)
    builder.add_link(i, i + 1, BytesPerSecond{bandwidths[i]}, Duration{latency}, type);
  return finish_network(builder, packet);
}

TrafficRun run_traffic(const machine::Network& network, const std::vector<TestMessage>& messages, Communicator& comm,
                       const std::string& synchroniser, bool separate_packets,
                       const std::vector<machine::BoundWay>& ways) {
  const sim::NetworkTables tables(network, machine::BoundWays(ways));
  const sim::Destinations destinations = [&](NodeId device, std::vector<NodeId>& to) {
    for (const TestMessage& message : messages) {
      if (message.from == device) to.push_back(message.to);
    }
  };
  const sim::Wiring wiring(tables, destinations);
  const Names names(messages);
  Recorder recorder;
  recorder.tables = &tables;
  recorder.names = &names;
  recorder.result.delivered.assign(messages.size(), -1);
  recorder.result.departures.resize(network.links.size());
  recorder.result.busy.assign(network.links.size(), 0);
  recorder.result.peak_queue.assign(network.links.size(), 0);
  const sim::NetworkEnvironment environment{
      &tables, &wiring, separate_packets ? sim::packet_ports(network.arbitration) : sim::train_ports(), &recorder};

  pdes::ModelGraph model;
  model.components = tables.components();
  model.links = wiring.links();
  model.unconnected_allowed = true;
  model.protocols = {pdes::protocol_info<sim::NetworkProtocol>()};
  model.create = [&](pdes::ComponentId id) -> std::unique_ptr<pdes::Component> {
    if (tables.is_device(id)) return std::make_unique<TrafficDevice>(environment, id, messages, names, recorder.result);
    return std::make_unique<sim::SwitchOutput>(environment, id);
  };
  pdes::Simulation simulation(model, pdes::make_partition(model, comm.size(), "block"), comm);
  pdes::RunOptions options;
  options.synchroniser = synchroniser;
  const pdes::RunStatistics statistics = simulation.run(options);
  for (std::size_t i = 0; i < simulation.local_ids().size(); ++i) {
    sim::NetworkNode& node = node_of(simulation.local(i));
    node.finish();
    for (const auto& port : node.ports()) {
      recorder.result.busy[port->link()] = port->counts().busy;
      recorder.result.peak_queue[port->link()] = port->counts().peak_queue;
    }
  }
  return {recorder.result, statistics.events};
}

TrafficRun run_traffic(const machine::Network& network, const std::vector<TestMessage>& messages, bool separate_packets,
                       const std::vector<machine::BoundWay>& ways) {
  const auto comm = make_serial_communicator();
  return run_traffic(network, messages, *comm, "window", separate_packets, ways);
}

}  // namespace tessera::test
