// Template `complete`: all of them. The graph of chips is the one that the decided nodes make, and an edge may join it
// as long as it stays its own transitive reduction. Finds every valid partition; hopeless on large graphs, where wrong
// decisions come to light late, so that these end with few chips.
#include "set_solver.hpp"
#include "strategy/mcm/chip_graph.hpp"
#include "templates.hpp"

namespace tessera::strategy::mcm {
namespace {

class CompleteSolver final : public SetSolver<CompleteSolver, max_chips / 64> {
 public:
  explicit CompleteSolver(const Wiring& wiring)
      : SetSolver(wiring),
        graph_(wiring.chips),
        readers_(wiring.chips),
        sources_(wiring.chips),
        reaching_(wiring.chips) {}

  [[nodiscard]] Set readers(const Set& domain) const { return united(domain, readers_); }
  [[nodiscard]] Set sources(const Set& domain) const { return united(domain, sources_); }

 protected:
  void begin(std::uint32_t attempt, const KeyedRandom&) override {
    begin_on(fewer_chips(wiring().chips, attempt < full_attempts ? 0 : attempt - full_attempts + 1));
  }
  bool begin_listed(std::size_t index) override {
    if (index == 0) begin_on(wiring().chips);
    return index == 0;
  }
  void fit(const Partition&) override { begin_on(wiring().chips); }
  [[nodiscard]] std::uint32_t patience() const override { return 1000; }
  void pop() override {
    SetSolver::pop();
    connect_decided();
  }
  // New edges between chips take others away: all is to be looked at again.
  bool settle() override {
    const std::size_t before = connected_;
    if (!connect_decided()) return false;
    if (connected_ == before) return true;
    for (Place place = 0; place < wiring().nodes; ++place) enqueue(place);
    return true;
  }

 private:
  static constexpr std::uint32_t full_attempts = 4;

  void begin_on(std::uint32_t chips) {
    begin_with([&](Place) { return Set::range(0, chips - 1); });
    connect_decided();
  }

  [[nodiscard]] static Set united(const Set& domain, const std::vector<Set>& others) {
    Set all = domain;
    domain.for_each([&](std::uint32_t chip) { all = all | others[chip]; });
    return all;
  }

  bool connect_decided();
  void allow();

  ChipGraph graph_;
  std::size_t connected_ = 0;           // pairs of chips
  std::vector<Set> readers_, sources_;  // by chip: those that an edge may lead to, and come from
  std::vector<Set> reaching_;           // by chip: itself and those that reach it
};

// The graph that edges between decided nodes make; false: it is not its own transitive reduction.
bool CompleteSolver::connect_decided() {
  graph_.clear();
  for (Place place = 0; place < wiring().nodes; ++place) {
    if (!domain(place).is_single()) continue;
    const std::uint32_t from = domain(place).first();
    for (const Place reader : wiring().readers[place]) {
      const std::uint32_t to = domain(reader).first();
      if (domain(reader).is_single() && from < to) graph_.connect(from, to);
    }
  }
  if (!graph_.close()) return false;
  connected_ = 0;
  for (std::uint32_t chip = 0; chip < wiring().chips; ++chip) connected_ += graph_.readers(chip).size();
  allow();
  return true;
}

// From a to b > a unless a longer path leads there, or (a, b) would make one beside an edge (x, y): x reaches a or is
// it, b reaches y or is it.
void CompleteSolver::allow() {
  const std::uint32_t chips = wiring().chips;
  std::fill(reaching_.begin(), reaching_.end(), Set());
  for (std::uint32_t chip = 0; chip < chips; ++chip) {
    readers_[chip] = Set::range(chip, chips - 1) - graph_.beyond(chip);
    reaching_[chip].insert(chip);
    (graph_.readers(chip) | graph_.beyond(chip)).for_each([&](std::uint32_t to) { reaching_[to].insert(chip); });
  }
  for (std::uint32_t x = 0; x < chips; ++x) {
    graph_.readers(x).for_each([&](std::uint32_t y) {
      const Set from = Set::of(x) | graph_.readers(x) | graph_.beyond(x);
      from.for_each([&](std::uint32_t a) {
        Set beside = reaching_[y];
        if (a == x) beside.erase(y);
        beside.erase(a);
        readers_[a] = readers_[a] - beside;
      });
    });
  }
  for (std::uint32_t b = 0; b < chips; ++b) {
    sources_[b] = Set();
    for (std::uint32_t a = 0; a <= b; ++a) {
      if (readers_[a].contains(b)) sources_[b].insert(a);
    }
  }
}

}  // namespace

std::unique_ptr<Solver> make_complete(const Wiring& wiring) { return std::make_unique<CompleteSolver>(wiring); }

}  // namespace tessera::strategy::mcm
