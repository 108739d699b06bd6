// [strategy] tables of the strategy that runs the plans.
#pragma once

#include <memory>
#include <optional>

#include "make_problem.hpp"
#include "splits.hpp"
#include "tessera/base/config.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy::watos {

/// Sizes of the three kinds of parallelism, and how products are cut over a tensor-parallel group.
struct Cut {
  std::int64_t tensor = 1, pipeline = 1, data = 1;
  std::int64_t rows = 1;  ///< of both_sides
  Carrier carrier = Carrier::cut_tokens;
  auto operator<=>(const Cut&) const = default;
  [[nodiscard]] std::int64_t devices() const { return tensor * pipeline * data; }
};
/// "TP 8, PP 7", "DP 2" where there are several, and the split where it is another one than S-H-K.
[[nodiscard]] std::string text_of(const Cut& cut);

using TablePointer = std::shared_ptr<config::Table>;

template <class T>
[[nodiscard]] config::Value list_of(const std::vector<T>& items) {
  config::Array array;
  for (const T& item : items) array.push_back({config::Value::Content(item), {}});
  return {array, {}};
}
/// The whole number of a key, or those of its list; empty: there is none.
[[nodiscard]] std::vector<std::int64_t> numbers_in(const config::Table& table, const char* key);

/// What the other strategy is asked with: without keys of this one.
[[nodiscard]] TablePointer without_search(const config::Table& table);
/// With the keys of a cut. `layers`: by stage; empty: dealt out by time.
[[nodiscard]] TablePointer with_cut(const config::Table& table, const Cut& cut,
                                    const std::vector<std::int64_t>& layers);
/// Keys of a solution, to be laid over a table with its cut. `wafer`: as contender_of() has it.
[[nodiscard]] TablePointer keys_of(const NamedProblem& named, const Solution& solution, const machine::Machine* wafer);
/// Whether a table has all that keys_of() says.
[[nodiscard]] bool is_closed(const config::Table& table);

/// What the other strategy's stages keep and take. Where the table says what runs again, that is the one set.
[[nodiscard]] PipelineProfile profile_with(const StrategyKind& cut, const config::Table& table, const Job& job);

/// What the other strategy finds wrong with a table, in one line; empty: nothing.
[[nodiscard]] std::string problem_with(const StrategyKind& cut, const config::Table& table, const Job& job);

}  // namespace tessera::strategy::watos
