#include "detour_router.hpp"

#include <algorithm>
#include <queue>
#include <tuple>

#include "tessera/machine/routes.hpp"

namespace tessera::machine {

/// Finds the choices of all nodes for one destination after the other, in the same working memory.
class DetourRouter::Search {
 public:
  Search(const Network& network, const std::vector<bool>& dead) : network_(network), dead_(dead) {
    for (const Link& link : network.links)
      hop_cost_.push_back(
          std::max<Time>(1, saturating_add(link.latency.value(), duration_at_rate(network.packet, link.bandwidth))));
    index_links_by_end();
  }

  /// The choice of every node towards `to`. `cut_off` becomes the lowest live device that has no way, if there is one.
  const std::vector<NodeId>& choices(NodeId to, std::optional<NodeId>& cut_off) {
    cost_.assign(network_.nodes(), unknown);
    choices_.assign(network_.nodes(), nowhere);
    if (dead_[to]) return choices_;
    cost_[to] = 0;
    for (NodeId node = 0; node < network_.nodes(); ++node) follow_healthy(node, to);
    for (NodeId node = 0; node < network_.nodes(); ++node)
      if (cost_[node] >= 0) choices_[node] = as_healthy;

    if (lowest_broken_device()) find_detours();
    cut_off = lowest_broken_device();
    return choices_;
  }

 private:
  static constexpr Time unknown = -1, broken = -2;

  void index_links_by_end() {
    first_in_.assign(network_.nodes() + 1, 0);
    in_.resize(network_.links.size());
    for (const Link& link : network_.links) ++first_in_[link.to + 1];
    for (NodeId node = 0; node < network_.nodes(); ++node) first_in_[node + 1] += first_in_[node];
    std::vector<LinkId> fill = first_in_;
    for (LinkId link = 0; link < network_.links.size(); ++link) in_[fill[network_.links[link].to]++] = link;
  }

  /// Walks the healthy route until a node with a known cost, and gives all nodes on the way theirs.
  void follow_healthy(NodeId from, NodeId to) {
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

  /// The live nodes without a healthy route, in order of their distance (Dijkstra from the nodes that have one).
  void find_detours() {
    for (NodeId node = 0; node < network_.nodes(); ++node)
      if (cost_[node] == broken && !dead_[node]) offer_best(node);
    while (!queue_.empty()) {
      const auto [cost, node] = queue_.top();
      queue_.pop();
      if (cost_[node] != broken) continue;
      choices_[node] = best_link(node) - network_.first_link[node];
      cost_[node] = cost;
      for (std::size_t i = first_in_[node]; i < first_in_[node + 1]; ++i) {
        const Link& link = network_.links[in_[i]];
        if (!link.dead && cost_[link.from] == broken)
          queue_.emplace(saturating_add(cost, hop_cost_[in_[i]]), link.from);
      }
    }
  }

  void offer_best(NodeId node) {
    const LinkId link = best_link(node);
    if (link != no_link) queue_.emplace(saturating_add(cost_[network_.links[link].to], hop_cost_[link]), node);
  }

  /// The link of the shortest way over nodes whose cost is known; on a tie the one to the lowest node, then the first.
  [[nodiscard]] LinkId best_link(NodeId node) const {
    LinkId best = no_link;
    std::tuple<Time, NodeId> best_key{never, 0};
    for (LinkId link = network_.first_link[node]; link < network_.first_link[node + 1]; ++link) {
      const Link& it = network_.links[link];
      if (it.dead || cost_[it.to] < 0) continue;
      const std::tuple<Time, NodeId> key{saturating_add(cost_[it.to], hop_cost_[link]), it.to};
      if (best == no_link || key < best_key) std::tie(best, best_key) = std::pair(link, key);
    }
    return best;
  }

  [[nodiscard]] std::optional<NodeId> lowest_broken_device() const {
    for (NodeId device = 0; device < network_.devices; ++device)
      if (cost_[device] == broken && !dead_[device]) return device;
    return std::nullopt;
  }

  using Offer = std::pair<Time, NodeId>;

  const Network& network_;
  const std::vector<bool>& dead_;
  std::vector<Time> hop_cost_, cost_;
  std::vector<LinkId> first_in_, in_;  ///< links by the node that they lead to
  std::vector<LinkId> way_;
  std::vector<NodeId> choices_;
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> queue_;
};

DetourRouter::DetourRouter(const Network& network, std::vector<bool> dead)
    : healthy_(network.router), dead_(std::move(dead)), first_link_(network.first_link) {
  Search search(network, dead_);
  for (NodeId to = 0; to < network.devices; ++to) {
    first_run_.push_back(runs_.size());
    std::optional<NodeId> cut_off;
    append_runs(search.choices(to, cut_off));
    if (cut_off && !disconnected_) disconnected_ = {*cut_off, to};
  }
  first_run_.push_back(runs_.size());
}

void DetourRouter::append_runs(const std::vector<NodeId>& choices) {
  if (std::all_of(choices.begin(), choices.end(), [](NodeId choice) { return choice == as_healthy; })) return;
  for (NodeId node = 0; node < choices.size(); ++node)
    if (node == 0 || choices[node] != choices[node - 1]) runs_.push_back({node, choices[node]});
}

LinkId DetourRouter::next(NodeId at, NodeId to) const {
  if (dead_[at] || dead_[to]) return no_link;
  const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(first_run_[to]);
  const auto end = runs_.begin() + static_cast<std::ptrdiff_t>(first_run_[to + 1]);
  const auto behind = std::upper_bound(begin, end, at, [](NodeId node, const Run& run) { return node < run.first; });
  const NodeId choice = behind == begin ? as_healthy : std::prev(behind)->choice;
  if (choice == nowhere) return no_link;
  return choice == as_healthy ? healthy_->next(at, to) : first_link_[at] + choice;
}

}  // namespace tessera::machine
