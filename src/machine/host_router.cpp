#include "host_router.hpp"

#include <algorithm>
#include <utility>

namespace tessera::machine {

/// What is known without looking further than the topology's own ways.
class HostRouter::Known final : public Router {
 public:
  Known(const Network& network, const std::vector<LinkId>& first_link)
      : topology_(network.router), hosts_(network.hosts), first_host_(network.devices - network.hosts) {
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
    if (is_host(to)) return is_host(at) ? no_link : link_to(at, to);
    return is_host(at) ? from_host(at, to) : in_topology(at, to);
  }

  [[nodiscard]] LinkId in_topology(NodeId at, NodeId to) const {
    const NodeId node = at < first_host_ ? at : at - hosts_;
    const LinkId link = topology_->next(node, to);
    return link == no_link ? no_link : link + shift_[node];
  }
  [[nodiscard]] bool is_host(NodeId node) const { return node - first_host_ < hosts_; }

 private:
  /// A link that a host has, and the one that leads back.
  struct Port {
    NodeId node;
    LinkId out, back;
  };

  [[nodiscard]] NodeId in_all(NodeId node) const { return node < first_host_ ? node : node + hosts_; }

  void find_ports(const Network& network, NodeId host) {
    std::vector<Port> ports;
    for (LinkId out = network.first_link[host]; out < network.first_link[host + 1]; ++out) {
      const NodeId node = network.links[out].to;
      LinkId back = network.first_link[node];
      while (network.links[back].to != host) ++back;
      ports.push_back({node, out, back});
    }
    std::ranges::sort(ports, {}, &Port::node);
    first_port_.push_back(ports_.size());
    ports_.insert(ports_.end(), ports.begin(), ports.end());
  }
  [[nodiscard]] std::pair<const Port*, const Port*> ports_of(NodeId host) const {
    const std::size_t index = host - first_host_;
    const std::size_t end = index + 1 < first_port_.size() ? first_port_[index + 1] : ports_.size();
    return {ports_.data() + first_port_[index], ports_.data() + end};
  }
  /// Of the port at a node; null where there is none.
  [[nodiscard]] const Port* port_at(NodeId node, NodeId host) const {
    const auto [begin, end] = ports_of(host);
    const Port* found = std::lower_bound(begin, end, node, [](const Port& a, NodeId b) { return a.node < b; });
    return found != end && found->node == node ? found : nullptr;
  }
  [[nodiscard]] LinkId link_to(NodeId at, NodeId host) const {
    const Port* port = port_at(at, host);
    return port == nullptr ? no_link : port->back;
  }

  /// Over the nearest port; no_link where the topology knows no way from one of them.
  [[nodiscard]] LinkId from_host(NodeId host, NodeId to) const {
    if (const Port* port = port_at(to, host)) return port->out;
    LinkId best = no_link;
    Time best_time = never;
    const auto [begin, end] = ports_of(host);
    for (const Port* port = begin; port != end; ++port) {
      Time time = hop_[port->out];
      for (NodeId at = port->node; at != to && time < best_time;) {
        const LinkId link = in_topology(at, to);
        if (link == no_link) return no_link;
        time = saturating_add(time, hop_[link]);
        at = to_[link];
      }
      if (time < best_time) best = port->out, best_time = time;
    }
    return best;
  }

  std::shared_ptr<const Router> topology_;
  NodeId hosts_, first_host_;
  std::vector<LinkId> shift_;  // of the links of a node of the topology
  std::vector<NodeId> to_;     // by link
  std::vector<Time> hop_;      // by link
  std::vector<Port> ports_;    // host by host, in order of node
  std::vector<std::size_t> first_port_;
};

HostRouter::HostRouter(const Network& network, const std::vector<LinkId>& first_link)
    : network_(network),
      known_(std::make_shared<Known>(network, first_link)),
      searched_(std::make_unique<Searched[]>(network.devices)) {
  network_.router = known_;
  network_.switch_names.clear();
  hangs_on_switches_ = std::ranges::any_of(
      network.links, [&](const Link& link) { return network.is_host(link.from) && link.to >= network.devices; });
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
