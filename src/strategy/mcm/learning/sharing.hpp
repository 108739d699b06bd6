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

/// By task its result: those of other ranks' tasks come from their owners.
template <class T>
void share(const std::vector<int>& owners, std::vector<T>& values, Communicator& comm) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (comm.size() == 1) return;
  std::vector<T> own;
  for (std::size_t task = 0; task < owners.size(); ++task) {
    if (owners[task] == comm.rank()) own.push_back(values[task]);
  }
  const std::vector<std::vector<T>> all = all_gather(comm, std::move(own));
  std::vector<std::size_t> taken(all.size(), 0);
  for (std::size_t task = 0; task < owners.size(); ++task) {
    const auto rank = static_cast<std::size_t>(owners[task]);
    values[task] = all[rank][taken[rank]++];
  }
}

/// Of vectors of `size` values behind each other each one's part for each rank.
[[nodiscard]] inline std::vector<std::vector<float>> cut(const std::vector<float>& vectors, std::size_t size,
                                                         int ranks) {
  std::vector<std::vector<float>> parts(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    const WorkRange range = work_of(size, rank, ranks);
    std::vector<float>& part = parts[static_cast<std::size_t>(rank)];
    part.reserve(vectors.size() / size * (range.end - range.begin));
    for (const float* one = vectors.data(); one != vectors.data() + vectors.size(); one += size)
      part.insert(part.end(), one + range.begin, one + range.end);
  }
  return parts;
}

/// The sum of the tasks' vectors of `size` values, added in the order of the tasks: the same bits on any number of
/// ranks. `own`: those of this rank's tasks behind each other, in that order. Each rank adds a part of all of them.
[[nodiscard]] inline std::vector<float> sum_in_order(const std::vector<int>& owners, const std::vector<float>& own,
                                                     std::size_t size, Communicator& comm) {
  std::vector<std::vector<float>> parts;
  std::vector<const float*> next{own.data()};  // by rank
  if (comm.size() > 1) {
    parts = all_to_all(comm, cut(own, size, comm.size()));
    next.clear();
    for (const std::vector<float>& part : parts) next.push_back(part.data());
  }
  const WorkRange range = work_of(size, comm.rank(), comm.size());
  std::vector<float> sum(range.end - range.begin, -0.0F);  // to which every value adds as it is
  for (const int owner : owners) {
    const float*& values = next[static_cast<std::size_t>(owner)];
    for (float& one : sum) one += *values++;
  }
  return joined(all_gather(comm, std::move(sum)));
}

}  // namespace tessera::strategy::mcm
