// Bytes of all ranks, brought together in calls whose counts and displacements are ints.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/base/comm.hpp"

namespace tessera {

/// What each rank contributes to a round, and where it stands among all of it.
struct Share {
  std::vector<int> counts, begins;
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(begins.back() + counts.back()); }
};

/// `each`: bytes of a rank, at most.
[[nodiscard]] inline Share share_of(const std::vector<std::uint64_t>& lengths, std::uint64_t at, std::uint64_t each) {
  Share share;
  int begin = 0;
  for (const std::uint64_t length : lengths) {
    share.counts.push_back(static_cast<int>(std::min(each, length - std::min(at, length))));
    share.begins.push_back(begin);
    begin += share.counts.back();
  }
  return share;
}

/// Every rank's bytes; none where they are not `wanted`. `call(at, share, round)` sends this rank's bytes from `at` on
/// and fills `round`, which has room for all ranks' share where they are wanted.
template <class Call>
[[nodiscard]] std::vector<ByteVector> in_rounds(const std::vector<std::uint64_t>& lengths, std::uint64_t each,
                                                bool wanted, const Call& call) {
  std::vector<ByteVector> all(wanted ? lengths.size() : 0);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].reserve(lengths[i]);
  const std::uint64_t longest = *std::max_element(lengths.begin(), lengths.end());
  for (std::uint64_t at = 0; at < longest; at += each) {
    const Share share = share_of(lengths, at, each);
    ByteVector round(wanted ? share.bytes() : 0);
    call(at, share, round);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto begin = round.begin() + share.begins[i];
      all[i].insert(all[i].end(), begin, begin + share.counts[i]);
    }
  }
  return all;
}

}  // namespace tessera
