#include "host_router.hpp"

#include <algorithm>
#include <utility>

namespace tessera::machine {

/// What is known without looking further than the topology's own ways.
class HostRouter::Known final : public Router {
 public:
  Known(const Network& network, const std::vector<LinkId>& first_link)
      : topology_(network.router),
        hosts_(network.hosts),
        first_host_(network.devices - network.hosts),
        first_bridge_(network.nodes() - network.bridges) {
    for (NodeId node = 0; node + 1 < first_link.size(); ++node)
      shift_.push_back(network.first_link[in_all(node)] - first_link[node]);
    for (const Link& link : network.links) {
      to_.push_back(link.to);
      hop_.push_back(hop_time(network, link));
    }
    for (NodeId host = first_host_; host < network.devices; ++host) find_ports(network, host);
  }

  LinkId next(NodeId at, NodeId to) const override {
    if (at == to) return no_link;
    if (at >= first_bridge_) return from_bridge(at, to);
    if (is_host(to)) return is_host(at) ? no_link : link_to(at, to);
    if (!is_host(at)) return in_topology(at, to);
    const Hub& hub = hub_of(at);
    return hub.out == no_link ? over_port(hub, to) : hub.out;
  }

  [[nodiscard]] LinkId in_topology(NodeId at, NodeId to) const {
    const NodeId node = at < first_host_ ? at : at - hosts_;
    const LinkId link = topology_->next(node, to);
    return link == no_link ? no_link : link + shift_[node];
  }
  [[nodiscard]] bool is_host(NodeId node) const { return node - first_host_ < hosts_; }
  [[nodiscard]] bool is_of_topology(NodeId node) const { return !is_host(node) && node < first_bridge_; }

 private:
  /// A link that a hub has, and the one that leads back.
  struct Port {
    NodeId node;
    LinkId out, back;
  };
  /// What has the ports of a host: the host, or its bridge.
  struct Hub {
    LinkId out = no_link, back = no_link;  // from a host to its bridge, and from there
    std::size_t first_port = 0, first_behind = 0;
  };

  [[nodiscard]] NodeId in_all(NodeId node) const { return node < first_host_ ? node : node + hosts_; }

  void find_ports(const Network& network, NodeId host) {
    Hub hub;
    NodeId at = host;
    if (const LinkId first = network.first_link[host]; network.is_bridge(network.links[first].to)) {
      at = network.links[first].to;
      hub.out = first;
      hub.back = network.first_link[at];
      host_of_bridge_.push_back(host);
    }
    std::vector<Port> ports;
    for (LinkId out = network.first_link[at]; out < network.first_link[at + 1]; ++out) {
      const NodeId node = network.links[out].to;
      if (node == host) continue;
      LinkId back = network.first_link[node];
      while (network.links[back].to != at) ++back;
      ports.push_back({node, out, back});
    }
    std::ranges::sort(ports, {}, &Port::node);
    hub.first_port = ports_.size();
    ports_.insert(ports_.end(), ports.begin(), ports.end());
    hub.first_behind = ports_.size();
    hubs_.push_back(hub);
  }
  [[nodiscard]] const Hub& hub_of(NodeId host) const { return hubs_[host - first_host_]; }
  /// Of the port at a node; null where there is none.
  [[nodiscard]] const Port* port_at(NodeId node, const Hub& hub) const {
    const Port *begin = ports_.data() + hub.first_port, *end = ports_.data() + hub.first_behind;
    const Port* found = std::lower_bound(begin, end, node, [](const Port& a, NodeId b) { return a.node < b; });
    return found != end && found->node == node ? found : nullptr;
  }
  [[nodiscard]] LinkId link_to(NodeId at, NodeId host) const {
    const Port* port = port_at(at, hub_of(host));
    return port == nullptr ? no_link : port->back;
  }
  [[nodiscard]] LinkId from_bridge(NodeId bridge, NodeId to) const {
    const NodeId host = host_of_bridge_[bridge - first_bridge_];
    if (to == host) return hub_of(host).back;
    return is_host(to) ? no_link : over_port(hub_of(host), to);
  }

  /// Over the nearest port; no_link where the topology knows no way from one of them.
  [[nodiscard]] LinkId over_port(const Hub& hub, NodeId to) const {
    if (const Port* port = port_at(to, hub)) return port->out;
    LinkId best = no_link;
    Time best_time = never;
    for (std::size_t i = hub.first_port; i < hub.first_behind; ++i) {
      const Port& port = ports_[i];
      Time time = hop_[port.out];
      for (NodeId at = port.node; at != to && time < best_time;) {
        const LinkId link = in_topology(at, to);
        if (link == no_link) return no_link;
        time = saturating_add(time, hop_[link]);
        at = to_[link];
      }
      if (time < best_time) best = port.out, best_time = time;
    }
    return best;
  }

  std::shared_ptr<const Router> topology_;
  NodeId hosts_, first_host_, first_bridge_;
  std::vector<LinkId> shift_;  // of the links of a node of the topology
  std::vector<NodeId> to_;     // by link
  std::vector<Time> hop_;      // by link
  std::vector<Port> ports_;    // host by host, in order of node
  std::vector<Hub> hubs_;      // by host
  std::vector<NodeId> host_of_bridge_;
};

HostRouter::HostRouter(const Network& network, const std::vector<LinkId>& first_link)
    : network_(network),
      known_(std::make_shared<Known>(network, first_link)),
      searched_(std::make_unique<Searched[]>(network.devices)) {
  network_.router = known_;
  network_.switch_names.clear();
  hangs_on_switches_ = std::ranges::any_of(network.links, [&](const Link& link) {
    return !known_->is_of_topology(link.from) && known_->is_of_topology(link.to) && link.to >= network.devices;
  });
}

HostRouter::~HostRouter() = default;

LinkId HostRouter::next(NodeId at, NodeId to) const {
  if (at == to) return no_link;
  const LinkId link = known_->next(at, to);
  if (link != no_link || (!hangs_on_switches_ && !known_->is_host(to) && !known_->is_host(at))) return link;
  Searched& searched = searched_[to];
  std::call_once(searched.once, [&] {
    const std::vector<bool> none_dead(network_.nodes(), false);
    std::optional<NodeId> cut_off;
    searched.runs = ChoiceRuns(WaySearch(network_, none_dead).choices(to, cut_off));
  });
  const NodeId choice = searched.runs.choice(at);
  return choice == as_known || choice == leads_nowhere ? no_link : network_.first_link[at] + choice;
}

}  // namespace tessera::machine
