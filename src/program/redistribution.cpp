#include "tessera/program/redistribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

/// Everything that some region has of each axis.
TensorPart hull(const std::vector<TensorPart>& regions) {
  TensorPart all = regions.front();
  for (const TensorPart& region : regions) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].insert(all[i].end(), region[i].begin(), region[i].end());
  }
  for (Ranges& axis : all) axis = joined(axis);
  return all;
}

}  // namespace

std::int64_t elements_of(const Box& box) {
  std::int64_t elements = 1;
  for (const Range& range : box) elements *= range.size();
  return elements;
}

Ranges joined(Ranges ranges) {
  if (!std::is_sorted(ranges.begin(), ranges.end())) std::sort(ranges.begin(), ranges.end());  // mostly they are
  Ranges found;
  for (const Range& range : ranges) {
    if (range.size() <= 0) continue;
    if (!found.empty() && range.begin <= found.back().end) {
      found.back().end = std::max(found.back().end, range.end);
    } else {
      found.push_back(range);
    }
  }
  return found;
}

Ranges overlap(const Ranges& a, const Ranges& b) {
  Ranges common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const Range range{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (range.size() > 0) common.push_back(range);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return common;
}

TensorPart overlap(const TensorPart& a, const TensorPart& b) {
  TensorPart common;
  for (std::size_t i = 0; i < a.size(); ++i) common.push_back(overlap(a[i], b[i]));
  return common;
}

std::int64_t length_of(const Ranges& ranges) {
  std::int64_t length = 0;
  for (const Range& range : ranges) length += range.size();
  return length;
}

std::int64_t elements_of(const TensorPart& region) {
  std::int64_t elements = 1;
  for (const Ranges& axis : region) elements *= length_of(axis);
  return elements;
}

std::vector<Piece> redistribute(const std::vector<TensorPart>& held, const std::vector<TensorPart>& needed) {
  std::map<TensorPart, std::vector<int>> holders;
  for (std::size_t device = 0; device < held.size(); ++device)
    holders[held[device]].push_back(static_cast<int>(device));
  const TensorPart all = hull(held);
  std::vector<Piece> pieces;
  for (std::size_t to = 0; to < needed.size(); ++to) {
    const auto device = static_cast<int>(to);
    // The least exclusive-or shares most leading bits; no two holders have the same.
    const auto nearer = [device](int a, int b) { return (a ^ device) < (b ^ device); };
    std::int64_t missing = elements_of(overlap(needed[to], all));
    for (const auto& [slice, members] : holders) {
      TensorPart common = overlap(slice, needed[to]);
      const std::int64_t elements = elements_of(common);
      if (elements == 0) continue;
      missing -= elements;
      const int from = *std::min_element(members.begin(), members.end(), nearer);
      if (from != device) pieces.push_back({from, device, std::move(common)});
    }
    if (missing != 0) throw InternalError(fmt::format("device {} needs elements that no device holds once", device));
  }
  return pieces;
}

}  // namespace tessera::program
