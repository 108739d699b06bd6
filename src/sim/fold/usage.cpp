#include "sim/fold/usage.hpp"

#include <algorithm>

namespace tessera::sim {

void Usage::in_use(machine::LinkId link, Time begin, Time end) {
  if (begin >= until_) return;
  last_ = std::max(last_, end);
  std::vector<Span>& spans = spans_[link];
  // What came before matters where it is still going on when the first device splits off.
  if (splits_ != nullptr && splits_->starts.empty() && !spans.empty()) {
    spans.back() = {std::min(spans.back().begin, begin), std::max(spans.back().end, end)};
  } else if (!spans.empty() && begin <= spans.back().end && begin >= spans.back().begin) {
    spans.back().end = std::max(spans.back().end, end);
  } else {
    spans.push_back({begin, end});
  }
}

bool meet(std::vector<Usage::Span> ours, std::vector<Usage::Span> theirs) {
  std::ranges::sort(theirs, {}, &Usage::Span::begin);
  std::vector<Time> ends;  // of those up to each
  for (const Usage::Span& one : theirs) ends.push_back(ends.empty() ? one.end : std::max(ends.back(), one.end));
  return std::ranges::any_of(ours, [&](const Usage::Span& one) {
    const auto behind = std::ranges::upper_bound(theirs, one.end, {}, &Usage::Span::begin);
    return behind != theirs.begin() && ends[static_cast<std::size_t>(behind - theirs.begin()) - 1] >= one.begin;
  });
}

}  // namespace tessera::sim
