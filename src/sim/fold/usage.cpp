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

Time first_meeting(const std::vector<Usage::Span>& ours, std::vector<Usage::Span> theirs) {
  std::ranges::sort(theirs, {}, &Usage::Span::begin);
  std::vector<Time> ends;  // of those up to each
  for (const Usage::Span& one : theirs) ends.push_back(ends.empty() ? one.end : std::max(ends.back(), one.end));
  Time first = never;
  for (const Usage::Span& one : ours) {
    const auto later = std::ranges::upper_bound(theirs, one.begin, {}, &Usage::Span::begin);
    const bool meets_before =
        later != theirs.begin() && ends[static_cast<std::size_t>(later - theirs.begin()) - 1] >= one.begin;
    if (meets_before) first = std::min(first, one.begin);
    if (later != theirs.end() && later->begin <= one.end) first = std::min(first, later->begin);
  }
  return first;
}

}  // namespace tessera::sim
