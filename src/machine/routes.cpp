#include "tessera/machine/routes.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::machine {

BoundWays::BoundWays(std::vector<BoundWay> ways) : ways_(std::move(ways)) {
  if (ways_.empty()) return;
  std::ranges::sort(ways_, {}, &BoundWay::connection);
  first_.assign(ways_.back().connection.from + std::size_t{2}, 0);
  for (const BoundWay& way : ways_) ++first_[way.connection.from + 1];
  for (std::size_t sender = 1; sender < first_.size(); ++sender) first_[sender] += first_[sender - 1];
}

const std::vector<LinkId>* BoundWays::of(const Connection& connection) const {
  const auto begin = ways_.begin() + static_cast<std::ptrdiff_t>(first_of(connection.from));
  const auto end = ways_.begin() + static_cast<std::ptrdiff_t>(first_of(connection.from + 1));
  const auto found = std::ranges::lower_bound(begin, end, connection, {}, &BoundWay::connection);
  return found == end || found->connection != connection ? nullptr : &found->links;
}

std::vector<LinkId> Routes::links(const Connection& connection) const {
  std::vector<LinkId> way;
  for (LinkId link = first(connection); link != no_link; link = next(link, connection)) {
    way.push_back(link);
    if (way.size() > network_->nodes()) {
      throw InternalError("the route from node " + std::to_string(connection.from) + " to node " +
                          std::to_string(connection.to) + " runs in circles");
    }
  }
  if (!way.empty() && network_->links[way.back()].to != connection.to) return {};
  return way;
}

}  // namespace tessera::machine
