#include "way_search.hpp"

#include <algorithm>
#include <tuple>

#include "tessera/machine/routes.hpp"

namespace tessera::machine {
namespace {

constexpr Time unknown = -1, broken = -2;  // costs of nodes that have not been looked at, and that have no way

}  // namespace

Time hop_time(const Network& network, const Link& link) {
  return std::max<Time>(1, saturating_add(link.latency.value(), duration_at_rate(network.packet, link.bandwidth)));
}

ChoiceRuns::ChoiceRuns(const std::vector<NodeId>& choices) {
  if (std::ranges::all_of(choices, [](NodeId choice) { return choice == as_known; })) return;
  for (NodeId node = 0; node < choices.size(); ++node)
    if (node == 0 || choices[node] != choices[node - 1]) runs_.push_back({node, choices[node]});
  runs_.shrink_to_fit();
}

NodeId ChoiceRuns::choice(NodeId at) const {
  const auto behind = std::ranges::upper_bound(runs_, at, {}, &Run::first);
  return behind == runs_.begin() ? as_known : std::prev(behind)->choice;
}

WaySearch::WaySearch(const Network& network, const std::vector<bool>& dead) : network_(network), dead_(dead) {
  for (const Link& link : network.links) hop_cost_.push_back(hop_time(network, link));
  index_links_by_end();
}

const std::vector<NodeId>& WaySearch::choices(NodeId to, std::optional<NodeId>& cut_off) {
  cost_.assign(network_.nodes(), unknown);
  choices_.assign(network_.nodes(), leads_nowhere);
  if (dead_[to]) return choices_;
  cost_[to] = 0;
  for (NodeId node = 0; node < network_.nodes(); ++node) follow_known(node, to);
  for (NodeId node = 0; node < network_.nodes(); ++node)
    if (cost_[node] >= 0) choices_[node] = as_known;

  if (lowest_broken_device()) find_shortest(to);
  cut_off = lowest_broken_device();
  return choices_;
}

void WaySearch::index_links_by_end() {
  first_in_.assign(network_.nodes() + 1, 0);
  in_.resize(network_.links.size());
  for (const Link& link : network_.links) ++first_in_[link.to + 1];
  for (NodeId node = 0; node < network_.nodes(); ++node) first_in_[node + 1] += first_in_[node];
  std::vector<LinkId> fill = first_in_;
  for (LinkId link = 0; link < network_.links.size(); ++link) in_[fill[network_.links[link].to]++] = link;
}

/// Walks the router's way until a node with a known cost, and gives all nodes on the way theirs.
void WaySearch::follow_known(NodeId from, NodeId to) {
  way_.clear();
  NodeId at = from;
  while (cost_[at] == unknown) {
    const LinkId link = Routes(network_).first({at, to});
    if (link == no_link || network_.links[link].dead || way_.size() > network_.nodes()) {
      cost_[at] = broken;
      break;
    }
    way_.push_back(link);
    at = network_.links[link].to;
  }
  for (; !way_.empty(); way_.pop_back()) {
    const Link& link = network_.links[way_.back()];
    cost_[link.from] = cost_[link.to] < 0 ? broken : saturating_add(cost_[link.to], hop_cost_[way_.back()]);
  }
}

/// The live nodes without a known way, in order of their distance (Dijkstra from the nodes that have one).
void WaySearch::find_shortest(NodeId to) {
  for (NodeId node = 0; node < network_.nodes(); ++node)
    if (cost_[node] == broken && !dead_[node]) offer_best(node, to);
  while (!queue_.empty()) {
    const auto [cost, node] = queue_.top();
    queue_.pop();
    if (cost_[node] != broken) continue;
    choices_[node] = best_link(node, to) - network_.first_link[node];
    cost_[node] = cost;
    for (std::size_t i = first_in_[node]; i < first_in_[node + 1]; ++i) {
      const Link& link = network_.links[in_[i]];
      if (!link.dead && cost_[link.from] == broken && may_come_to(node, link.from, to))
        queue_.emplace(saturating_add(cost, hop_cost_[in_[i]]), link.from);
    }
  }
}

void WaySearch::offer_best(NodeId node, NodeId to) {
  const LinkId link = best_link(node, to);
  if (link != no_link) queue_.emplace(saturating_add(cost_[network_.links[link].to], hop_cost_[link]), node);
}

/// The link of the shortest way over nodes whose cost is known; on a tie the one to the lowest node, then the first.
LinkId WaySearch::best_link(NodeId node, NodeId to) const {
  LinkId best = no_link;
  std::tuple<Time, NodeId> best_key{never, 0};
  for (LinkId link = network_.first_link[node]; link < network_.first_link[node + 1]; ++link) {
    const Link& it = network_.links[link];
    if (it.dead || cost_[it.to] < 0 || !may_come_to(it.to, node, to)) continue;
    const std::tuple<Time, NodeId> key{saturating_add(cost_[it.to], hop_cost_[link]), it.to};
    if (best == no_link || key < best_key) std::tie(best, best_key) = std::pair(link, key);
  }
  return best;
}

std::optional<NodeId> WaySearch::lowest_broken_device() const {
  for (NodeId device = 0; device < network_.devices; ++device)
    if (cost_[device] == broken && !dead_[device]) return device;
  return std::nullopt;
}

}  // namespace tessera::machine
