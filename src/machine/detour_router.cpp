#include "detour_router.hpp"

namespace tessera::machine {

DetourRouter::DetourRouter(const Network& network, std::vector<bool> dead)
    : healthy_(network.router), dead_(std::move(dead)), first_link_(network.first_link) {
  WaySearch search(network, dead_);
  choices_.reserve(network.devices);
  for (NodeId to = 0; to < network.devices; ++to) {
    std::optional<NodeId> cut_off;
    choices_.emplace_back(search.choices(to, cut_off));
    if (cut_off && !disconnected_) disconnected_ = {*cut_off, to};
  }
}

LinkId DetourRouter::next(NodeId at, NodeId to) const {
  if (dead_[at] || dead_[to]) return no_link;
  const NodeId choice = choices_[to].choice(at);
  if (choice == leads_nowhere) return no_link;
  return choice == as_known ? healthy_->next(at, to) : first_link_[at] + choice;
}

}  // namespace tessera::machine
