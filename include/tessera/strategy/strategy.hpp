// Strategies by name. Adding one is one folder src/strategy/<name>/ with one registration
// (docs/extending-strategies.md).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/program/search/fastest.hpp"
#include "tessera/program/search/tried.hpp"
#include "tessera/workload/graph.hpp"
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
/// Keys whose value is not their default, in the order of the schema.
[[nodiscard]] std::vector<std::string> changed_keys(const Workload& workload);
/// `"sequence": what it says, allowed: 2048`, its default.
[[nodiscard]] std::string only_default(const std::string& key, const std::string& what);
/// Of a strategy that looks at these keys in other jobs and not in this one: KeyError at the first that has another
/// value than its default.
void refuse_unread(const Workload& workload, const std::vector<std::string>& keys, const std::string& what);

/// A file that a key of the [strategy] table names (Schema::names_file()), read once for all ranks.
struct Attachment {
  std::string key;  ///< of the [strategy] table
  std::string path;
  std::string hash;     ///< of the content, 16 hexadecimal digits
  std::string content;  ///< bytes, as they are

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& key& path& hash& content;
  }
};

/// What a strategy turns into a program. All of it outlives the job.
struct Job {
  const machine::Machine& machine;
  const Workload& workload;
  const workload::CostModel& cost;
  const program::CollectiveChoices& collectives;
  const program::search::Evaluations& evaluations;  ///< for search() alone
  const workload::Model* model = nullptr;           ///< null when the experiment has none
  std::uint64_t seed = 1;
  const workload::Graph* graph = nullptr;  ///< where the model is one: then there is no `model`
  std::span<const Attachment> files = {};
  program::search::Limits limits = {};  ///< of search()
  bool is_searched_next = false;        ///< of check(): how much there is to search need not be counted
  /// What train() has handed back, of a file that `tessera train` made of it. InputError where the file is no such
  /// one, or damaged. Empty: nobody reads such files here.
  std::function<Tensors(const Attachment&)> tensors_of = {};

  /// That of a key; null: the key is not given.
  [[nodiscard]] const Attachment* file(std::string_view key) const {
    const auto found = std::ranges::find(files, key, &Attachment::key);
    return found == files.end() ? nullptr : &*found;
  }
};

/// A program in which no device of the job's machine does anything yet: what every strategy's begins with.
[[nodiscard]] program::Program empty_program(const Job& job);

/// What a search leaves behind.
struct Searched {
  /// Keys of the [strategy] table that make what was found come out again without a search; null: nothing was open.
  std::shared_ptr<config::Table> found;
  std::vector<std::pair<std::string, Time>> predicted;   ///< of the iteration ("all") and of parts of it
  std::vector<program::search::Tried> table;             ///< what it tried, in its order
  std::string nothing_fits;                              ///< why there is no `found`; empty: there is, or all was given
  bool is_timed = false;                                 ///< it went on for a time: what it tried is not repeatable
  std::vector<DataTable> tables = {};                    ///< as Plan::tables: of the search, whatever it finds
  std::string kernels = {};                              ///< which products its networks used: they decide last bits
  std::optional<program::search::FastestReport> report;  ///< where it is proven how far what was found is the fastest
  /// Choices for parts of a plan, and those of them that were struck out since another costs less beside any others.
  std::int64_t choices = 0, struck_out = 0;
};

/// A program and what the summary says about it.
struct Plan {
  program::Program program;
  std::vector<std::pair<std::string, std::string>> description;  ///< "tensor parallel" -> "8"
  double model_flops = 0;     ///< FLOP of the iteration without recomputation (for model FLOPs utilisation); 0: none.
                              ///< double: 1T parameters times 6 million tokens is beyond 2^63
  double hardware_flops = 0;  ///< with recomputation
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;             ///< per iteration
  std::vector<DataTable> tables = {};  ///< of the strategy's own, for result files: a dataset of its name each
};

/// A checkpoint on the validation graphs: mean reward of what it draws; mean of the best rewards after learning on.
struct Validated {
  std::int64_t checkpoint = 0;
  double zero_shot = 0, fine_tuned = 0;
};

struct Trained {
  Tensors policy;                    ///< of the checkpoint that is best after learning on
  std::vector<DataTable> tables;     ///< how it came about, as Plan::tables
  std::int64_t samples = 0;          ///< that it was learnt from
  std::vector<Validated> finalists;  ///< best first
  std::string kernels;               ///< as Searched::kernels
};

/// What a policy learns from: each graph a job of its own, alike but for the model. All of it outlives this.
struct Training {
  struct Graph {
    std::string name;
    const Job* job = nullptr;  ///< whose evaluations are this rank's own
  };
  std::vector<Graph> graphs;
  std::vector<Graph> validation;  ///< by which a checkpoint is chosen
  std::int64_t samples = 20000;
  std::int64_t checkpoints = 200;
  std::int64_t together = 5;    ///< graphs of an update
  std::int64_t finalists = 10;  ///< checkpoints that are compared once more, after learning on
  std::int64_t validation_samples = 20, fine_tuning_samples = 100;  ///< a graph and checkpoint
  std::uint64_t seed = 1;
  Communicator* comm = nullptr;        ///< of the ranks that train together
  const Tensors* resume = nullptr;     ///< Trained::policy that `keep` was given; null: from scratch
  std::vector<DataTable> before = {};  ///< and its Trained::tables
  /// At each checkpoint, on all ranks: in the place of the policy whatever it takes to go on from it.
  std::function<void(const Trained& so_far)> keep;
  /// Behind each update, and before each part of the validation at the end; on all ranks. May throw, on all alike.
  std::function<void(double done, const std::string& last)> progress;  ///< done: part of all; last: what came of it
};

/// A strategy: its own [strategy] table is checked, what it leaves open is searched, and the program is written.
struct StrategyKind {
  std::string name;
  std::string help;
  bool needs_model = true;
  /// Keys of [workload] that check() and program() look at: to carry them out, or to refuse them in words of their own.
  /// Experiments that give another one a value that is not its default are refused, so that none is passed over.
  std::vector<std::string> workload_keys = {};
  std::function<const config::SchemaBase&()> schema;
  /// All that can be refused without a search, to `diagnostics` with the table's locations. Returns what is left open
  /// and what it takes to search it, in a few words; empty: nothing is. Never evaluates.
  std::function<std::string(const config::Table& strategy, const Job& job, config::Diagnostics& diagnostics)> check;
  /// Of a table that was checked. On all ranks of the job, each with the same; what one of them throws all throw. Also
  /// where nothing is open: what is predicted of it. Empty: the strategy neither searches nor predicts.
  std::function<Searched(const config::Table& strategy, const Job& job)> search = {};
  /// Of a table that was checked and in which nothing is open. Quick; neither searches nor evaluates.
  std::function<Plan(const config::Table& strategy, const Job& job)> program;
  /// Of a table that was checked with each of the jobs: a policy that its searches begin with (`tessera train`). Empty:
  /// the strategy learns nothing.
  std::function<Trained(const config::Table& strategy, const Training& training)> train = {};
  /// The schemas of tables inside the strategy's own, for `tessera help`; may be empty.
  std::function<std::vector<const config::SchemaBase*>()> inner_schemas = {};
};

/// What experiments can name. Programs may add strategies of their own to the built-in ones.
using Strategies = std::vector<StrategyKind>;
[[nodiscard]] Strategies built_in_strategies();

}  // namespace tessera::strategy
