// The keys of the strategy's own; all others are those of the strategy whose tables it searches.
#pragma once

#include "fitness.hpp"
#include "tessera/base/config.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::watos {

/// How far the search goes; each step begins with what the one before has found (WATOS, figure 18).
enum class Step : std::uint8_t {
  scheduler,      ///< cuts, in places along a serpentine; all stages run the same again
  recomputation,  ///< and what each stage runs again, with pairs by amount (algorithm 2)
  memory,         ///< and places, pairs by location (algorithm 3) and ways
  genetic,        ///< and the genetic search
};
[[nodiscard]] const char* name_of(Step step);

/// Whose plans are looked at.
enum class Take : std::uint8_t {
  fastest,        ///< all, and the fastest is taken
  megatron_rule,  ///< those of Megatron's rule: MG-wafer (a)
  megatron_best,  ///< and those of Megatron with any cut: MG-wafer (b)
};

/// [strategy.search]
struct SearchOptions {
  Step step = Step::genetic;
  Take take = Take::fastest;
  std::int64_t candidates = 10;  ///< on which the genetic search runs, the best predicted ones
  std::int64_t simulated = 10;   ///< plans of the last step that are simulated, the best predicted ones
  std::int64_t population = 100, generations = 100;
  double elitism = 0.5;  ///< omega
  Fitness fitness = Fitness::product;
  bool rivals = true;
  std::int64_t random_plans = 0;
};

struct Options {
  std::int64_t tensor = 0, pipeline = 0, data = 0;  ///< 0: open
  std::string healthy_plan;  ///< a plan file of the same wafer without faults; empty: it is searched
  SearchOptions search;
};

[[nodiscard]] const config::Schema<SearchOptions>& search_schema();
/// Accepts all keys of `cut` besides, which reads them.
[[nodiscard]] config::Schema<Options> options_schema(const StrategyKind& cut);

}  // namespace tessera::strategy::watos
