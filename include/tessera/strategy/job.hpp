// What a strategy is given: a workload, a machine, a model, files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/attachments.hpp"
#include "tessera/base/config.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/search/evaluations.hpp"
#include "tessera/workload/graph.hpp"
#include "tessera/workload/model.hpp"
#include "tessera/workload/operator.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::strategy {

/// The experiment's [workload] table: what is run, however it is cut.
struct Workload : workload::Stack {
  workload::Phase phase = workload::Phase::training;
  std::int64_t sequence = 2048;
  std::int64_t global_batch = 1;  ///< sequences per iteration
  /// Tokens to make per sequence behind prompts of `sequence` tokens, which generation alone finds in the KV cache; in
  /// prompt_and_generation the pass over prompts makes the first one.
  std::int64_t generated = 1;
  bool flash_attention = false;
  std::string datatype = "fp16";
  std::string kv_cache_datatype;  ///< empty: that of the workload

  /// Tokens are made one at a time.
  [[nodiscard]] bool generates() const {
    return phase == workload::Phase::generation || phase == workload::Phase::prompt_and_generation;
  }
  /// Passes in which each sequence gets one more token.
  [[nodiscard]] std::int64_t steps() const {
    return !generates() ? 0 : phase == workload::Phase::generation ? generated : generated - 1;
  }
  /// Keys and values of a sequence at the end of the iteration: the last token that is made is not among them.
  [[nodiscard]] std::int64_t context() const { return sequence + steps(); }
};
/// "training", "prompt", "generation", "prompt-and-generation"
[[nodiscard]] const char* name_of(workload::Phase phase);
[[nodiscard]] const config::Schema<Workload>& workload_schema();
/// Keys whose value is not their default, in the order of the schema.
[[nodiscard]] std::vector<std::string> changed_keys(const Workload& workload);
/// `"sequence": what it says, allowed: 2048`, its default.
[[nodiscard]] std::string only_default(const std::string& key, const std::string& what);
/// Of a strategy that looks at these keys in other jobs and not in this one: KeyError at the first that has another
/// value than its default.
void refuse_unread(const Workload& workload, const std::vector<std::string>& keys, const std::string& what);

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
  Attachments attached = {};
  program::search::Limits limits = {};  ///< of search()
  bool is_searched_next = false;        ///< of check(): how much there is to search need not be counted

  /// The file that a key of the [strategy] table names; null: the key is not given.
  [[nodiscard]] const Attachment* file(std::string_view key) const { return attached.find(key); }
  /// What train() has handed back, of such a file. InputError where it is no such one, or damaged.
  [[nodiscard]] Tensors tensors_of(const Attachment& file) const { return attached.tensors_of(file); }
};

/// A program in which no device of the job's machine does anything yet: what every strategy's begins with.
[[nodiscard]] program::Program empty_program(const Job& job);

}  // namespace tessera::strategy
