// Strategies by name. Adding one is one folder src/strategy/<name>/ with one registration (docs/extending.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/program/measurements.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/model.hpp"
#include "tessera/workload/operator.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::strategy {

/// The experiment's [workload] table: what is run, however it is cut.
struct Workload {
  workload::Phase phase = workload::Phase::training;
  std::int64_t sequence = 2048;
  std::int64_t global_batch = 1;  ///< sequences per iteration
  std::int64_t generated =
      1;  ///< generation: tokens to make per sequence; `sequence` is the prompt already in the KV cache
  bool flash_attention = false;
  std::string datatype = "fp16";
};
[[nodiscard]] const config::Schema<Workload>& workload_schema();

/// What a strategy turns into a program.
struct Job {
  const machine::Machine* machine = nullptr;
  const workload::Model* model = nullptr;  ///< null when the experiment has none (strategy `script`)
  const Workload* workload = nullptr;
  const workload::CostModel* cost = nullptr;
  const program::CollectiveChoices* collectives = nullptr;
  program::Evaluator* evaluator = nullptr;    ///< null where only the program is wanted
  program::Measurements* measured = nullptr;  ///< with the evaluator: what it need not do again
  Communicator* comm = nullptr;               ///< ranks that make the plan together, all alike; null: this one alone
  std::uint64_t seed = 1;
};

/// One of the plans that a search simulated.
struct Candidate {
  std::string origin;                 ///< which search or rule it is from
  std::string plan;                   ///< in the strategy's own words
  Time predicted = 0, simulated = 0;  ///< of the iteration
  bool taken = false;
  std::string reason;  ///< why it cannot run; empty: it can
};

/// A program and what the summary says about it.
struct Plan {
  program::Program program;
  std::vector<std::pair<std::string, std::string>> description;  ///< "tensor parallel" -> "8"
  double model_flops = 0;     ///< FLOP of the iteration without recomputation (for model FLOPs utilisation); 0: none.
                              ///< double: 1T parameters times 6 million tokens is beyond 2^63
  double hardware_flops = 0;  ///< with recomputation
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;  ///< per iteration
  /// What a search found, as keys of the [strategy] table that make it come out again without a search; null: nothing
  /// was left to find.
  std::shared_ptr<config::Table> found;
  std::vector<std::pair<std::string, Time>> predicted;  ///< by a search, of parts of the iteration
  std::vector<Candidate> candidates;                    ///< in the order of the search; none: it simulated none
};

struct StrategyKind {
  std::string name;
  std::string help;
  bool needs_model = true;
  std::function<const config::SchemaBase&()> schema;
  /// Reads its own [strategy] table, checks it against the job (to `diagnostics`, with the table's locations), builds
  /// the plan.
  std::function<Plan(const config::Table& strategy, const Job& job, config::Diagnostics& diagnostics)> make_plan;
  /// The schemas of tables inside the strategy's own, for `tessera help`; may be empty.
  std::function<std::vector<const config::SchemaBase*>()> inner_schemas = {};
};
[[nodiscard]] const std::vector<StrategyKind>& strategy_kinds();

}  // namespace tessera::strategy
