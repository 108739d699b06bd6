#include "chakra_order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <queue>

namespace tessera::experiment::importing {
namespace {

using Places = std::map<std::uint64_t, std::size_t>;  ///< of nodes in the trace, by number

Places places_of(const ChakraTrace& trace, config::Diagnostics& diagnostics) {
  Places places;
  for (std::size_t i = 0; i < trace.nodes.size(); ++i)
    if (!places.emplace(trace.nodes[i].id, i).second)
      diagnostics.error({trace.file, 0, 0}, fmt::format("node {} is there twice", trace.nodes[i].id));
  for (const ChakraNode& node : trace.nodes)
    for (const std::uint64_t other : node.dependencies)
      if (!places.contains(other))
        diagnostics.error({trace.file, 0, 0}, fmt::format("node {} \"{}\" waits for node {}, which is not there",
                                                          node.id, node.name, other));
  return places;
}

/// All nodes, each behind what it waits for; of those that could be next the one with the least number.
std::vector<std::size_t> sorted(const ChakraTrace& trace, const Places& places, config::Diagnostics& diagnostics) {
  std::vector<std::size_t> missing(trace.nodes.size(), 0), order;
  std::vector<std::vector<std::size_t>> waiting(trace.nodes.size());
  const auto later = [&](std::size_t a, std::size_t b) { return trace.nodes[a].id > trace.nodes[b].id; };
  std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> ready(later);
  for (std::size_t i = 0; i < trace.nodes.size(); ++i) {
    for (const std::uint64_t other : trace.nodes[i].dependencies) waiting[places.at(other)].push_back(i);
    missing[i] = trace.nodes[i].dependencies.size();
    if (missing[i] == 0) ready.push(i);
  }
  while (!ready.empty()) {
    const std::size_t next = ready.top();
    ready.pop();
    order.push_back(next);
    for (const std::size_t other : waiting[next])
      if (--missing[other] == 0) ready.push(other);
  }
  if (order.size() < trace.nodes.size()) {
    const auto stuck = std::ranges::find_if(missing, [](std::size_t count) { return count > 0; });
    const ChakraNode& node = trace.nodes[static_cast<std::size_t>(stuck - missing.begin())];
    diagnostics.error({trace.file, 0, 0},
                      fmt::format("node {} \"{}\" waits for itself, through others", node.id, node.name));
  }
  return order;
}

}  // namespace

std::vector<OrderedNode> in_order(const ChakraTrace& trace, bool (*is_done_at_once)(const ChakraNode&),
                                  config::Diagnostics& diagnostics) {
  config::Diagnostics own;
  const Places places = places_of(trace, own);
  const std::vector<std::size_t> order = own.ok() ? sorted(trace, places, own) : std::vector<std::size_t>{};
  diagnostics.add(own);
  if (!own.ok()) return {};
  std::vector<OrderedNode> result;
  std::vector<std::vector<std::size_t>> stands_for(trace.nodes.size());  // places in `result`, by place in the trace
  for (const std::size_t index : order) {
    const ChakraNode& node = trace.nodes[index];
    std::vector<std::size_t> after;
    for (const std::uint64_t other : node.dependencies) {
      const auto& behind = stands_for[places.at(other)];
      after.insert(after.end(), behind.begin(), behind.end());
    }
    std::ranges::sort(after);
    after.erase(std::unique(after.begin(), after.end()), after.end());
    if (is_done_at_once(node)) {
      stands_for[index] = std::move(after);
      continue;
    }
    stands_for[index] = {result.size()};
    result.push_back({&node, std::move(after)});
  }
  return result;
}

}  // namespace tessera::experiment::importing
