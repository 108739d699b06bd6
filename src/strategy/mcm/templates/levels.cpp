// Template `levels`: chips stand in levels of one or two, numbered through, and an edge stays on its chip or climbs one
// level. Every such graph is its own transitive reduction, as all its paths between two chips are equally long. Which
// levels are wide is drawn; where that leads nowhere the next attempt has fewer of them, and the last ones are chains.
#include <algorithm>

#include "set_solver.hpp"
#include "templates.hpp"

namespace tessera::strategy::mcm {
namespace {

/// Widths of the levels, 1 or 2, of all chips together.
using Widths = std::vector<std::uint8_t>;

// The widths under which most edges of a candidate stay on their chip or climb one level: dynamic programming along the
// chips, over the widths of the last level and the one before.
class FittedWidths {
 public:
  FittedWidths(const Wiring& wiring, const Partition& candidate)
      : chips_(wiring.chips), edges_(chips_ * chips_, 0), best_((chips_ + 1) * 2) {
    for (Place place = 0; place < wiring.nodes; ++place) {
      for (const Place reader : wiring.readers[place]) {
        const std::size_t from = candidate[wiring.order[place]], to = candidate[wiring.order[reader]];
        if (from < chips_ && to < chips_) ++edges_[from * chips_ + to];
      }
    }
  }

  [[nodiscard]] Widths find() {
    for (std::size_t end = 1; end <= chips_; ++end) {
      for (std::size_t width = 1; width <= std::min<std::size_t>(end, 2); ++width) settle(end, width);
    }
    std::size_t end = chips_;
    std::size_t width = chips_ > 1 && at(end, 2).edges > at(end, 1).edges ? 2 : 1;
    Widths widths;
    while (end > 0) {
      widths.insert(widths.begin(), static_cast<std::uint8_t>(width));
      const std::size_t before = at(end, width).before;
      end -= width;
      width = before;
    }
    return widths;
  }

 private:
  struct Best {
    std::int64_t edges = 0;
    std::size_t before = 0;  // width of the level before
  };
  Best& at(std::size_t end, std::size_t width) { return best_[end * 2 + width - 1]; }

  void settle(std::size_t end, std::size_t width) {
    Best& best = at(end, width);
    best = {-1, 0};
    const std::size_t begin = end - width;
    if (begin == 0) best = {0, 0};
    for (std::size_t before = 1; before <= std::min<std::size_t>(begin, 2); ++before) {
      std::int64_t edges = at(begin, before).edges;
      for (std::size_t from = begin - before; from < begin; ++from) {
        for (std::size_t to = begin; to < end; ++to) edges += edges_[from * chips_ + to];
      }
      if (edges > best.edges) best = {edges, before};
    }
  }

  std::size_t chips_;
  std::vector<std::int64_t> edges_;  // by chips, from x to
  std::vector<Best> best_;           // by first chip behind the level, and its width
};

template <std::size_t words>
class LevelsSolver final : public SetSolver<LevelsSolver<words>, words> {
  using Base = SetSolver<LevelsSolver<words>, words>;
  using typename Base::Set;

 public:
  explicit LevelsSolver(const Wiring& wiring) : Base(wiring), up_to_(wiring.chips) {}

  /// The level above all that the domain touches, and the domain.
  [[nodiscard]] Set readers(const Set& domain) const {
    const Set last = (domain | (domain & wide_).up()) & last_;
    const Set above = last.up();
    return domain | above | (above & wide_).up();
  }
  [[nodiscard]] Set sources(const Set& domain) const {
    const Set second = wide_.up();
    const Set first = (domain | (domain & second).down()) - second;
    const Set below = first.down();
    return domain | below | (below & second).down();
  }

 protected:
  void begin(std::uint32_t attempt, const KeyedRandom& random) override {
    const std::uint32_t chips = this->wiring().chips;
    if (attempt < wide_attempts)
      set_levels(drawn(attempt, random), chips);
    else
      set_levels(Widths(chips, 1), fewer_chips(chips, attempt - wide_attempts));
  }
  bool begin_listed(std::size_t index) override;
  void fit(const Partition& candidate) override {
    set_levels(FittedWidths(this->wiring(), candidate).find(), this->wiring().chips);
  }
  [[nodiscard]] std::uint32_t patience() const override { return 20; }

 private:
  static constexpr std::uint32_t wide_attempts = 8;

  [[nodiscard]] Widths drawn(std::uint32_t attempt, const KeyedRandom& random) const;
  void set_levels(const Widths& widths, std::uint32_t chips);

  Set wide_;                // first chips of levels of two
  Set last_;                // last chips of levels
  std::vector<Set> up_to_;  // by level: the chips of it and of those below
};

// Half of the levels wide, then 0.6 times as many with each attempt.
template <std::size_t words>
Widths LevelsSolver<words>::drawn(std::uint32_t attempt, const KeyedRandom& random) const {
  double share = 0.5;
  for (std::uint32_t i = 0; i < attempt; ++i) share *= 0.6;
  Widths widths;
  for (std::uint32_t chip = 0; chip < this->wiring().chips; chip += widths.back()) {
    const bool is_wide = random.real(std::uint64_t{attempt} * max_chips + chip) < share;
    widths.push_back(is_wide && chip + 1 < this->wiring().chips ? 2 : 1);
  }
  return widths;
}

// All sequences of ones and twos, by the bits of the index: the next level is wide where the next bit says so. A one
// where no room is left, or bits beyond the last level, would be sequences that there are already.
template <std::size_t words>
bool LevelsSolver<words>::begin_listed(std::size_t index) {
  const std::uint32_t chips = this->wiring().chips;
  const auto sequence = [&](std::size_t bits, Widths& widths) {
    widths.clear();
    std::uint32_t chip = 0;
    for (; chip < chips; chip += widths.back(), bits >>= 1U) widths.push_back((bits & 1U) != 0 ? 2 : 1);
    return chip == chips && bits == 0;
  };
  Widths widths;
  for (std::size_t bits = 0; bits < std::size_t{1} << std::min(chips, 30U); ++bits) {
    if (!sequence(bits, widths) || index-- > 0) continue;
    set_levels(widths, chips);
    return true;
  }
  return false;
}

template <std::size_t words>
void LevelsSolver<words>::set_levels(const Widths& widths, std::uint32_t chips) {
  wide_ = last_ = Set();
  up_to_.clear();
  std::uint32_t chip = 0;
  for (const std::uint8_t width : widths) {
    if (width == 2) wide_.insert(chip);
    chip += width;
    last_.insert(chip - 1);
    up_to_.push_back(Set::range(0, std::min(chip, chips) - 1));
  }
  this->begin_with(
      [&](Place place) { return up_to_[std::min<std::size_t>(this->wiring().climb[place], up_to_.size() - 1)]; });
}

}  // namespace

std::unique_ptr<Solver> make_levels(const Wiring& wiring) {
  if (wiring.chips <= 64) return std::make_unique<LevelsSolver<1>>(wiring);
  if (wiring.chips <= 128) return std::make_unique<LevelsSolver<2>>(wiring);
  if (wiring.chips <= 192) return std::make_unique<LevelsSolver<3>>(wiring);
  return std::make_unique<LevelsSolver<max_chips / 64>>(wiring);
}

}  // namespace tessera::strategy::mcm
