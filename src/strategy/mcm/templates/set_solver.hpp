// A solver with a set of chips a node, for templates whose chips stand side by side: from the domain of a node follows
// on which chips its readers can be, and its sources.
#pragma once

#include <algorithm>
#include <vector>

#include "strategy/mcm/solver.hpp"
#include "strategy/mcm/support.hpp"

namespace tessera::strategy::mcm {

/// `Template` derives from it and has two functions: readers(domain) and sources(domain), where the other end of an
/// edge can be, the domain itself included.
template <class Template, std::size_t words>
class SetSolver : public Solver {
 protected:
  using Set = BasicChipSet<words>;

  explicit SetSolver(const Wiring& wiring)
      : Solver(wiring), domains_(wiring.nodes), support_(wiring.chips), is_queued_(wiring.nodes, 0) {
    queue_.reserve(wiring.nodes);
  }

  /// A problem anew: `domain(place)` of each, such that nothing follows from them.
  template <class Domain>
  void begin_with(const Domain& domain) {
    trail_.clear();
    marks_.clear();
    empty_queue();
    support_.clear(wiring().nodes);
    top_ = 0;
    for (Place place = 0; place < wiring().nodes; ++place) {
      domains_[place] = domain(place);
      if (domains_[place].is_single()) support_.fix(domains_[place].first());
    }
    count_support();
  }
  [[nodiscard]] const Set& domain(Place place) const { return domains_[place]; }
  void enqueue(Place place) {
    if (is_queued_[place] != 0) return;
    is_queued_[place] = 1;
    queue_.push_back(place);
  }
  /// When nothing more follows: whether the template sees a contradiction. It may enqueue() nodes to go on with.
  virtual bool settle() { return true; }

  void get(Place place, ChipSet& result) const override { result = ChipSet::from(domains_[place]); }
  bool narrow(Place place, const ChipSet& allowed) override {
    if (restrict(place, Set::from(allowed)) && propagate()) return true;
    empty_queue();
    return false;
  }
  void push() override { marks_.push_back({trail_.size(), top_}); }
  void pop() override {
    const Mark mark = marks_.back();
    marks_.pop_back();
    for (; trail_.size() > mark.changes; trail_.pop_back()) undo(trail_.back());
    top_ = mark.top;
  }

 private:
  struct Change {
    Place place = 0;
    Set before;
  };
  struct Mark {
    std::size_t changes = 0;
    std::uint32_t top = 0;
  };

  // Most nodes have the domain of the one before at first.
  void count_support() {
    for (Place place = 0, next = 0; place < wiring().nodes; place = next) {
      while (next < wiring().nodes && domains_[next] == domains_[place]) ++next;
      domains_[place].for_each([&](std::uint32_t chip) { support_.add(chip, next - place); });
    }
  }

  bool restrict(Place place, const Set& allowed) {
    const Set before = domains_[place], after = before & allowed;
    if (after == before) return true;
    if (after.empty()) return false;
    trail_.push_back({place, before});
    domains_[place] = after;
    (before - after).for_each([&](std::uint32_t chip) { support_.drop(chip); });
    const std::uint32_t first = after.first();
    top_ = std::max(top_, first);
    if (after.is_single()) support_.fix(first);
    enqueue(place);
    return true;
  }

  void undo(const Change& change) {
    const Set& now = domains_[change.place];
    if (now.is_single()) support_.loosen(now.first());
    (change.before - now).for_each([&](std::uint32_t chip) { support_.add(chip); });
    domains_[change.place] = change.before;
  }

  bool propagate() {
    do {
      while (head_ < queue_.size()) {
        if (!spread(queue_[head_++])) return false;
      }
      queue_.clear();
      head_ = 0;
      if (!keep_support() || !settle()) return false;
    } while (!queue_.empty());
    return true;
  }

  bool spread(Place place) {
    is_queued_[place] = 0;
    const auto& rules = static_cast<const Template&>(*this);
    const Set readers = rules.readers(domains_[place]), sources = rules.sources(domains_[place]);
    for (const Place reader : wiring().readers[place]) {
      if (!restrict(reader, readers)) return false;
    }
    for (const Place source : wiring().sources[place]) {
      if (!restrict(source, sources)) return false;
    }
    return true;
  }

  bool keep_support() {
    const Support::Wanted wanted = support_.wanted(top_);
    if (wanted.what != Support::Want::node) return wanted.what == Support::Want::nothing;
    Place only = 0;
    while (!domains_[only].contains(wanted.chip)) ++only;
    return restrict(only, Set::of(wanted.chip));
  }

  void empty_queue() {
    for (; head_ < queue_.size(); ++head_) is_queued_[queue_[head_]] = 0;
    queue_.clear();
    head_ = 0;
  }

  std::vector<Set> domains_;  // by place
  Support support_;
  std::uint32_t top_ = 0;  // chips up to this one must be used
  std::vector<Change> trail_;
  std::vector<Mark> marks_;
  std::vector<Place> queue_;  // first in, first out, from head_ on
  std::size_t head_ = 0;
  std::vector<std::uint8_t> is_queued_;
};

}  // namespace tessera::strategy::mcm
