// Template `chain`: 0 <= f(v) - f(u) <= 1 of each edge. These are difference constraints, of which propagated bounds
// are exact in any order of decisions; what can fail is that no chip is skipped. That is kept by counting, for each
// chip, the nodes that can still be on it.
#include <algorithm>
#include <array>

#include "strategy/mcm/support.hpp"
#include "templates.hpp"

namespace tessera::strategy::mcm {
namespace {

struct Bounds {
  std::int16_t low = 0, high = 0;
};

class ChainSolver final : public Solver {
 public:
  explicit ChainSolver(const Wiring& wiring)
      : Solver(wiring), bounds_(wiring.nodes), has_holes_(wiring.nodes, 0), support_(wiring.chips) {}

 protected:
  void begin(std::uint32_t attempt, const KeyedRandom&) override {
    begin_with(fewer_chips(wiring().chips, attempt < full_attempts ? 0 : attempt - full_attempts + 1));
  }
  bool begin_listed(std::size_t index) override {
    if (index == 0) begin_with(wiring().chips);
    return index == 0;
  }
  void fit(const Partition&) override { begin_with(wiring().chips); }
  [[nodiscard]] std::uint32_t patience() const override { return 100; }
  void get(Place place, ChipSet& domain) const override;
  bool narrow(Place place, const ChipSet& allowed) override;
  void push() override { marks_.push_back({trail_.size(), holes_.size(), top_}); }
  void pop() override;

 private:
  static constexpr std::uint32_t full_attempts = 4;  // with other draws, before chips are given up

  struct Change {
    Place place = 0;
    Bounds before;
  };
  // A value inside of the bounds that was refuted. They are few: hardly any decision fails.
  struct Hole {
    Place place = 0;
    std::int16_t chip = 0;
  };
  struct Mark {
    std::size_t changes = 0, holes = 0;
    std::int16_t top = 0;
  };

  void begin_with(std::uint32_t chips);
  bool raise(Place place, std::int16_t low);
  bool lower(Place place, std::int16_t high);
  bool raise_all(Place place, std::int16_t low);
  bool lower_all(Place place, std::int16_t high);
  bool support_all();
  [[nodiscard]] Place supporter(std::int16_t chip) const;
  [[nodiscard]] bool is_hole(Place place, std::int16_t chip) const;
  void change(Place place, Bounds after);
  void undo(const Change& change);

  std::vector<Bounds> bounds_;            // by place
  std::vector<std::uint16_t> has_holes_;  // by place; how many
  Support support_;
  std::int16_t top_ = 0;  // the largest lower bound: chips up to it must not be empty
  std::vector<Change> trail_;
  std::vector<Hole> holes_;
  std::vector<Mark> marks_;
  std::vector<Place> now_, next_;  // scratch of raise_all and lower_all
};

void ChainSolver::begin_with(std::uint32_t chips) {
  trail_.clear();
  marks_.clear();
  for (const Hole& hole : holes_) has_holes_[hole.place] = 0;
  holes_.clear();
  support_.clear(wiring().nodes);
  std::array<std::uint32_t, max_chips> nodes_up_to{};
  top_ = 0;
  for (Place place = 0; place < wiring().nodes; ++place) {
    const std::uint32_t high = std::min(wiring().climb[place], chips - 1);
    bounds_[place] = {0, static_cast<std::int16_t>(high)};
    ++nodes_up_to[high];
    if (high == 0) support_.fix(0);
  }
  std::uint32_t nodes = 0;
  for (std::uint32_t chip = wiring().chips; chip-- > 0;) support_.add(chip, nodes += nodes_up_to[chip]);
}

void ChainSolver::get(Place place, ChipSet& domain) const {
  const Bounds bounds = bounds_[place];
  domain = ChipSet::range(static_cast<std::uint32_t>(bounds.low), static_cast<std::uint32_t>(bounds.high));
  if (has_holes_[place] == 0) return;
  for (const Hole& hole : holes_) {
    if (hole.place == place) domain.erase(static_cast<std::uint32_t>(hole.chip));
  }
}

bool ChainSolver::is_hole(Place place, std::int16_t chip) const {
  return std::any_of(holes_.begin(), holes_.end(),
                     [&](const Hole& hole) { return hole.place == place && hole.chip == chip; });
}

bool ChainSolver::narrow(Place place, const ChipSet& allowed) {
  ChipSet before;
  get(place, before);
  const ChipSet after = before & allowed;
  if (after.empty()) return false;
  const auto low = static_cast<std::int16_t>(after.first()), high = static_cast<std::int16_t>(after.last());
  if (after.size() < static_cast<std::uint32_t>(high - low) + 1) {
    ((before - after) & ChipSet::range(after.first(), after.last())).for_each([&](std::uint32_t chip) {
      holes_.push_back({place, static_cast<std::int16_t>(chip)});
      ++has_holes_[place];
    });
  }
  return raise_all(place, low) && lower_all(place, high) && support_all();
}

void ChainSolver::change(Place place, Bounds after) {
  Bounds& bounds = bounds_[place];
  trail_.push_back({place, bounds});
  for (std::int16_t chip = bounds.low; chip < after.low; ++chip) support_.drop(static_cast<std::uint32_t>(chip));
  for (std::int16_t chip = bounds.high; chip > after.high; --chip) support_.drop(static_cast<std::uint32_t>(chip));
  bounds = after;
  top_ = std::max(top_, after.low);
  if (after.low == after.high) support_.fix(static_cast<std::uint32_t>(after.low));
}

void ChainSolver::undo(const Change& change) {
  Bounds& bounds = bounds_[change.place];
  if (bounds.low == bounds.high) support_.loosen(static_cast<std::uint32_t>(bounds.low));
  for (std::int16_t chip = change.before.low; chip < bounds.low; ++chip) support_.add(static_cast<std::uint32_t>(chip));
  for (std::int16_t chip = change.before.high; chip > bounds.high; --chip)
    support_.add(static_cast<std::uint32_t>(chip));
  bounds = change.before;
}

void ChainSolver::pop() {
  const Mark mark = marks_.back();
  marks_.pop_back();
  for (; trail_.size() > mark.changes; trail_.pop_back()) undo(trail_.back());
  for (; holes_.size() > mark.holes; holes_.pop_back()) --has_holes_[holes_.back().place];
  top_ = mark.top;
}

bool ChainSolver::raise(Place place, std::int16_t low) {
  const Bounds bounds = bounds_[place];
  if (has_holes_[place] != 0) {
    while (low <= bounds.high && is_hole(place, low)) ++low;
  }
  if (low > bounds.high) return false;
  change(place, {low, bounds.high});
  return true;
}

bool ChainSolver::lower(Place place, std::int16_t high) {
  const Bounds bounds = bounds_[place];
  if (has_holes_[place] != 0) {
    while (high >= bounds.low && is_hole(place, high)) --high;
  }
  if (high < bounds.low) return false;
  change(place, {bounds.low, high});
  return true;
}

// Readers are on no lower chip, sources at most one below. Bounds spread in falling order (Dial's buckets, of which two
// are in use at a time), so that a node changes twice at most and not once a path.
bool ChainSolver::raise_all(Place place, std::int16_t low) {
  if (low <= bounds_[place].low) return true;
  now_.clear();
  next_.clear();
  if (!raise(place, low)) return false;
  for (now_.push_back(place); !now_.empty();) {
    const Place from = now_.back();
    now_.pop_back();
    const std::int16_t least = bounds_[from].low, below = static_cast<std::int16_t>(least - 1);
    for (const Place reader : wiring().readers[from]) {
      if (bounds_[reader].low >= least) continue;
      if (!raise(reader, least)) return false;
      now_.push_back(reader);
    }
    for (const Place source : wiring().sources[from]) {
      if (bounds_[source].low >= below) continue;
      if (!raise(source, below)) return false;
      next_.push_back(source);
    }
    if (now_.empty()) now_.swap(next_);
  }
  return true;
}

bool ChainSolver::lower_all(Place place, std::int16_t high) {
  if (high >= bounds_[place].high) return true;
  now_.clear();
  next_.clear();
  if (!lower(place, high)) return false;
  for (now_.push_back(place); !now_.empty();) {
    const Place from = now_.back();
    now_.pop_back();
    const std::int16_t most = bounds_[from].high, above = static_cast<std::int16_t>(most + 1);
    for (const Place source : wiring().sources[from]) {
      if (bounds_[source].high <= most) continue;
      if (!lower(source, most)) return false;
      now_.push_back(source);
    }
    for (const Place reader : wiring().readers[from]) {
      if (bounds_[reader].high <= above) continue;
      if (!lower(reader, above)) return false;
      next_.push_back(reader);
    }
    if (now_.empty()) now_.swap(next_);
  }
  return true;
}

Place ChainSolver::supporter(std::int16_t chip) const {
  Place place = 0;
  while (bounds_[place].low > chip || bounds_[place].high < chip || (has_holes_[place] != 0 && is_hole(place, chip)))
    if (++place == wiring().nodes) break;
  return place;
}

// Equation 3: a chip that must not be empty and has one node left to be on it gets that node.
bool ChainSolver::support_all() {
  for (;;) {
    const Support::Wanted wanted = support_.wanted(static_cast<std::uint32_t>(top_));
    if (wanted.what != Support::Want::node) return wanted.what == Support::Want::nothing;
    const auto chip = static_cast<std::int16_t>(wanted.chip);
    const Place only = supporter(chip);
    if (only == wiring().nodes || !raise_all(only, chip) || !lower_all(only, chip)) return false;
  }
}

}  // namespace

std::unique_ptr<Solver> make_chain(const Wiring& wiring) { return std::make_unique<ChainSolver>(wiring); }

}  // namespace tessera::strategy::mcm
