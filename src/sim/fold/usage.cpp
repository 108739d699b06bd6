#include "sim/fold/usage.hpp"

#include <algorithm>

namespace tessera::sim {

void Usage::in_use(machine::LinkId link, Time begin, Time end) {
  if (begin >= until_) return;
  last_ = std::max(last_, end);
  std::vector<Span>& spans = spans_[link];
  // What came before matters where it is still going on when the first device splits off.
  if (splits_ != nullptr && splits_->starts.empty() && !spans.empty()) {
    spans.back() = {std::min(spans.back().begin, begin), std::max(spans.back().end, end), 0};
  } else if (!spans.empty() && begin <= spans.back().end && begin >= spans.back().begin) {
    spans.back().end = std::max(spans.back().end, end);
  } else {
    spans.push_back({begin, end, 0});
  }
}

void Usage::sort() {
  for (std::vector<Span>& spans : spans_) {
    std::ranges::sort(spans, {}, &Span::begin);
    Time latest = 0;
    for (Span& one : spans) one.latest = latest = std::max(latest, one.end);
  }
}

Time first_meeting(const std::vector<Usage::Span>& ours, const std::vector<Usage::Span>& sorted) {
  Time first = never;
  for (const Usage::Span& one : ours) {
    const auto later = std::ranges::upper_bound(sorted, one.begin, {}, &Usage::Span::begin);
    const bool meets_before = later != sorted.begin() && (later - 1)->latest >= one.begin;
    if (meets_before) first = std::min(first, one.begin);
    if (later != sorted.end() && later->begin <= one.end) first = std::min(first, later->begin);
  }
  return first;
}

}  // namespace tessera::sim
