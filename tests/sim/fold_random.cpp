// Random programs of replicas that are alike, folded beside all of them.
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include <array>
#include <optional>

#include "folding.hpp"
#include "random_replicas.hpp"
#include "sim/laws/fold/find_fold.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/error.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// Nothing where the replicas cannot be folded.
std::optional<sim::SimulationResult> run_folded(const ProgramCase& made, const sim::SimulationOptions& options) {
  try {
    return made.run(options);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// How many random programs were folded, and how.
struct Folded {
  std::uint64_t all = 0, ordered = 0, tied = 0;
  std::uint64_t by_ends = 0, tied_by_ends = 0;  // of those that no shift could fold as far
};

/// Folded and unfolded, with the same rows.
void compare_folded(const ProgramCase& made, std::uint64_t index, Folded& folded) {
  sim::SimulationOptions options = all_recorded(sim::Folding::replicas);
  if (index % 4 == 1) options.record_timeline = options.record_memory = false;  // rounds may be left out
  if (index % 4 == 2) options.laws = sim::Laws::trains;
  if (index % 16 == 3) options.laws = sim::Laws::none;
  const auto once = run_folded(made, options);
  if (!once) return;
  options.fold = sim::Folding::none;
  check_same(once->results, made.run(options).results);
  if (!once->not_folded.empty()) {
    CHECK(once->warnings.size() == 1);
    ++folded.tied;
    return;
  }
  ++folded.all;
  program::Lowerings lowerings(made.program, made.machine);
  const sim::FoundFold found =
      sim::find_fold(made.machine, lowerings, sim::NetworkTables(made.machine.network), made.program.alike.front());
  folded.ordered += found.fold && found.fold->orders().size() > 1 ? 1 : 0;
  if (!found.fold || !found.fold->goes_by_ends()) return;
  const bool is_used = once->fold == fmt::format("{} of {} replicas simulated for all", found.fold->block(),
                                                 found.fold->block() * found.fold->order());
  ++(is_used ? folded.by_ends : folded.tied_by_ends);
}

}  // namespace

TEST_CASE("fold: 2,000 random programs have the same rows folded as unfolded") {
  Folded folded;
  for (std::uint64_t index = 0; index < random_cases(2000); ++index) {
    CAPTURE(index);
    compare_folded(random_replicas(index), index, folded);
  }
  CAPTURE(folded.all, folded.ordered, folded.tied);
  CHECK(folded.all > random_cases(600));
  CHECK(folded.ordered > random_cases(50));
  CHECK(folded.tied > random_cases(50));
}

TEST_CASE("fold: random programs with collectives over runs of replicas have the same rows folded as unfolded") {
  Folded folded;
  for (std::uint64_t index = 0; index < random_cases(2000); ++index) {
    CAPTURE(index);
    compare_folded(random_runs(index), index, folded);
  }
  CAPTURE(folded.all, folded.ordered, folded.tied, folded.by_ends, folded.tied_by_ends);
  CHECK(folded.by_ends > random_cases(100));
  CHECK(folded.tied_by_ends > random_cases(10));
}

namespace {

/// Random programs on each kind of site: so many draws of `make`, of which at least so many fold.
template <class Sites, class Make>
void compare_on(const Sites& sites, std::uint64_t draws, std::uint64_t least, const Make& make) {
  for (const SiteKind kind : sites) {
    Folded folded;
    for (std::uint64_t index = 0; index < random_cases(draws); ++index) {
      CAPTURE(static_cast<int>(kind), index);
      compare_folded(make(kind, index), index, folded);
    }
    CAPTURE(static_cast<int>(kind), folded.all, folded.ordered, folded.tied);
    CHECK(folded.all > random_cases(least));
  }
}

}  // namespace

TEST_CASE("fold: random programs on sites of every kind have the same rows folded as unfolded") {
  compare_on(site_kinds, 300, 60, random_replicas_on);
}

TEST_CASE("fold: random programs of rectangles in any order have the same rows folded as unfolded") {
  compare_on(std::array{SiteKind::mesh, SiteKind::torus, SiteKind::torus_3d}, 100, 20, random_rectangles);
}

TEST_CASE("fold: random programs whose collectives go by links have the same rows folded as unfolded") {
  compare_on(site_kinds, 150, 20, random_by_links);
}
