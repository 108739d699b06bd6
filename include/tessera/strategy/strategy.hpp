// A strategy turns a job into a program: what it says of itself, and the functions that it consists of. Adding one is
// one folder src/strategy/<name>/ with one registration (docs/extending-strategies.md).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/strategy/job.hpp"
#include "tessera/strategy/plan.hpp"
#include "tessera/strategy/profile.hpp"
#include "tessera/strategy/training.hpp"

namespace tessera::strategy {

/// A strategy. `check` and `program` every one has, `search` and `train` those that search and learn, `profile` those
/// over whose tables others search:
///
///   function    called by                             on                    in which the strategy
///   check       every command                         this rank alone       refuses, and says what is left open
///   search      run, plan and sweep, after check      all ranks together    finds what is left open, and predicts
///   program     every command, where nothing is open  this rank alone       writes what each device does
///   profile     other strategies                      this rank alone       says what its stages keep and take
///   train       train, after check of each job        all ranks together    learns what its searches begin with
///
/// They keep nothing from call to call and read no files. All answer by table, job and seed alone: alike on every rank
/// and on any number of them. What the user can mend they throw as InputError (KeyError where one key is to blame),
/// what cannot run as InfeasibleError; any other exception is a mistake in the strategy.
struct StrategyKind {
  std::string name;
  std::string help;
  bool needs_model = true;  ///< a transformer: jobs without a Job::model are refused before check()
  /// Keys of [workload] that check() and program() look at: to carry them out, or to refuse them in words of their own.
  /// Experiments that give another one a value that is not its default are refused, so that none is passed over.
  std::vector<std::string> workload_keys = {};
  std::function<const config::SchemaBase&()> schema;  ///< of its [strategy] table; lives as long as a copy of this
  /// The schemas of tables inside that one, for `tessera help`; may be empty.
  std::function<std::vector<const config::SchemaBase*>()> inner_schemas = {};

  /// Of a table that nobody has looked at: whatever of it can be refused without a search goes to `diagnostics`, with
  /// the table's locations. Returns what is left open and what it takes to search it, in a few words; empty: nothing
  /// is. Never evaluates.
  std::function<std::string(const config::Table& strategy, const Job& job, config::Diagnostics& diagnostics)> check;
  /// Of a table that check() takes. On all ranks of the job, each with the same; what one of them throws all throw.
  /// Evaluates by Job::evaluations, and goes on until Job::limits. Searched::found closes what is open: with it over
  /// the table, check() leaves nothing open. Also where nothing is: what is predicted of it. Empty: the strategy
  /// neither searches nor predicts, and check() never leaves anything open.
  std::function<Searched(const config::Table& strategy, const Job& job)> search = {};
  /// Of a table that check() takes and in which nothing is open. Quick; neither searches nor evaluates. Begins with
  /// empty_program(); program::check_program() finds nothing in what it makes.
  std::function<Plan(const config::Table& strategy, const Job& job)> program;
  /// Of a table that check() takes and in which nothing is open, on this rank alone: what its stages keep and take,
  /// whatever the table runs again, lends or binds to ways. Empty: no other strategy can search over its tables.
  std::function<PipelineProfile(const config::Table& strategy, const Job& job)> profile = {};
  /// Of a table that check() takes with each of the jobs. On all ranks of Training::comm; what one of them throws all
  /// throw. Calls Training::keep at each checkpoint, and going on from what was kept comes to the same. Empty: the
  /// strategy learns nothing.
  std::function<Trained(const config::Table& strategy, const Training& training)> train = {};
};

/// What experiments can name. Programs may add strategies of their own to the built-in ones.
using Strategies = std::vector<StrategyKind>;
[[nodiscard]] Strategies built_in_strategies();

}  // namespace tessera::strategy
