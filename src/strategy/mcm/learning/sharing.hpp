// Tasks that ranks share, each done by one of them, and their results, which all of them get.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tessera/base/messages.hpp"

namespace tessera::strategy::mcm {

/// By task the rank that does it: the heaviest first, each to the rank with the least so far. No result depends on it.
[[nodiscard]] inline std::vector<int> owners_of(const std::vector<std::int64_t>& weights, int ranks) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::vector<std::int64_t> loads(static_cast<std::size_t>(ranks), 0);
  std::vector<int> owners(weights.size());
  for (const std::size_t task : order) {
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += weights[task];
    owners[task] = static_cast<int>(least - loads.begin());
  }
  return owners;
}

/// By task `per_task` values behind each other: those of other ranks' tasks come from their owners.
template <class T>
void share(const std::vector<int>& owners, std::vector<T>& values, Communicator& comm, std::size_t per_task = 1) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (comm.size() == 1) return;
  const auto size = static_cast<std::ptrdiff_t>(per_task);
  std::vector<T> own;
  for (std::size_t task = 0; task < owners.size(); ++task) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(task) * size;
    if (owners[task] == comm.rank()) own.insert(own.end(), begin, begin + size);
  }
  const std::vector<std::vector<T>> all = all_gather(comm, std::move(own));
  std::vector<std::ptrdiff_t> taken(all.size(), 0);
  for (std::size_t task = 0; task < owners.size(); ++task) {
    const auto rank = static_cast<std::size_t>(owners[task]);
    const auto from = all[rank].begin() + taken[rank];
    std::copy(from, from + size, values.begin() + static_cast<std::ptrdiff_t>(task) * size);
    taken[rank] += size;
  }
}

}  // namespace tessera::strategy::mcm
