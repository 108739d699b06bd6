// From an experiment file to everything that a run needs (docs/experiments.md).
//
// tessera/experiment/run.hpp shows the way from a file to results.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/config.hpp"
#include "tessera/experiment/parts.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/simulate.hpp"
#include "tessera/strategy/strategy.hpp"
#include "tessera/workload/graph.hpp"
#include "tessera/workload/model.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::experiment {

/// One value given on the command line, over what the file says.
struct Setting {
  std::string key;     ///< "workload.sequence"
  std::string value;   ///< as written: TOML where it is TOML, a text otherwise
  std::string origin;  ///< how messages call it: "--set workload.sequence", "--seed"
};

/// From "a.b.c=value". InputError when it is not of that form.
[[nodiscard]] Setting parse_setting(const std::string& text);

/// The [record] table: what is kept beside the summary.
struct Record {
  bool timeline = false;
  bool memory_timeline = false;
  Time traffic_interval = 0;  ///< ps; 0: not recorded
};

/// The [simulation] table: how the simulation itself runs.
struct SimulationSettings {
  std::int64_t seed = 1;
  std::string partition = "auto";
  bool allow_oversubscription = false;
  std::string laws = "all";  ///< sim::laws_named
  sim::Folding fold = sim::Folding::automatic;
};

/// The [training] table: what `tessera train` learns from, and for how long.
/// What `tessera train` makes: a policy of the strategy's searches, or the network of cost model `predictor`.
enum class Learns { policy, products };

struct TrainingSettings {
  Learns learns = Learns::policy;
  std::string split = "random";  ///< of inputs/graphs/splits, or a file
  std::int64_t samples = 20000, checkpoints = 200, together = 5;
  std::int64_t finalists = 10, validation_samples = 20, fine_tuning_samples = 100;
  std::int64_t held_out = 2000, epochs = 200;  ///< of products
};

/// Folders with machines/ and models/ in them, searched after the experiment's own folder: those of the variable
/// TESSERA_INPUTS (separated by ':'), or else share/tessera/inputs beside the folder of the running program.
[[nodiscard]] std::vector<std::filesystem::path> input_folders();

/// An experiment with all that it names in one table.
struct Source {
  std::string given;                     ///< text of the file, and the settings as comments behind it
  std::shared_ptr<config::Table> table;  ///< resolved: no includes left, defaults filled in; itself a valid experiment
  std::vector<Attachment> files;         ///< that [strategy] and [cost] name; their hashes stand in [attachments]
};

/// Reads the file and what it includes, and applies settings. Problems go to `diagnostics`; the values keep the places
/// where they stand in the files. A plan file's strategy takes the place of the experiment's, and settings come over
/// that. IoError when a file cannot be read for another reason than that it does not exist.
[[nodiscard]] Source load(const std::string& path, const std::vector<Setting>& settings,
                          const std::vector<std::filesystem::path>& folders, config::Diagnostics& diagnostics,
                          const std::string& plan = {}, const Parts& parts = {});

/// Rank 0's source on all ranks of `comm`: nobody else has to read a file. Each of the others has a table of its own,
/// of the resolved text. What the others hand over does not count.
[[nodiscard]] Source shared(Source source, Communicator& comm);

/// Everything of one experiment, checked.
struct Experiment {
  std::string title;
  machine::Machine machine;
  std::optional<workload::Model> model;  ///< none: the strategy does not need one, or the model is a graph
  std::optional<workload::Graph> graph;
  std::vector<Attachment> files;  ///< as handed to build()
  strategy::Workload workload;
  std::unique_ptr<workload::CostModel> cost;
  program::CollectiveChoices collectives;
  std::string calibration;  ///< calibration_text(), behind which stands what to expect where that is "calibrated"
  Record record;
  SimulationSettings simulation;
  TrainingSettings training;
  strategy::StrategyKind strategy;
  std::string open;             ///< what of the plan is to be searched, and what that takes; empty: nothing
  strategy::Searched searched;  ///< by search()
  std::chrono::steady_clock::time_point search_began;  ///< by search()
  sim::FoldFacts fold;                                 ///< of the plan; one replica where nothing is folded
  strategy::Plan plan;                                 ///< by build() where nothing is open, by search() otherwise
  std::optional<sim::Simulated> fastest;               ///< of what search() has simulated, on one rank
};

/// What a resolved experiment's rates come from, for results: "calibrated", "calibrated, the experiment's own
/// cost.memory_efficiency", "uncalibrated: peak rates", "uncalibrated, the experiment's own cost.launch_overhead".
[[nodiscard]] std::string calibration_text(const config::Table& resolved);

/// Which bytes of a job are in a datatype of one byte a number: "all of it: weights, ..."; empty where none are.
[[nodiscard]] std::string bytes_of_one(const Experiment& experiment);

/// What products and weights of linear layers are in where they have datatypes of their own, and of which peak
/// utilisations are shares: "fp8, utilisations of the peak of bf16; weights in fp4"; empty where they do not.
[[nodiscard]] std::string products_of_their_own(const Experiment& experiment);

/// Where the key of a KeyError stands in a resolved table, or else the nearest table above it.
[[nodiscard]] config::Location place_of(const config::Table& resolved, const std::string& key);

/// Where the datatype of a node of the model's graph stands, or else the node, or else the graph.
[[nodiscard]] config::Location place_of_datatype(const config::Table& resolved, std::size_t node);

/// Where what searches measure is kept for the next ones; nowhere without a folder.
struct Cache {
  std::string folder;
  std::string version;  ///< of Tessera: another one measures anew
};

/// What a cost model has worked out for a device in earlier runs.
struct KeptCosts {
  std::string file;  ///< in the cache's folder
  std::string text;  ///< workload::CostModel::worked_out; empty: nothing is known
};
/// Rank 0 alone reads. No trouble with files ends a run: it is one line of warning on rank 0.
[[nodiscard]] KeptCosts read_costs(const Cache& cache, const config::Table& resolved, Communicator& comm,
                                   config::Diagnostics& diagnostics);

/// From a resolved table. Problems go to `diagnostics`, all of them at once where that is possible; the result is of no
/// use then. The same table gives the same experiment on every rank. Never searches: where something is open there is
/// no program yet. `is_searched_next`: Experiment::open does not say how much there is to search, which takes long to
/// count.
[[nodiscard]] std::unique_ptr<Experiment> build(const config::Table& resolved, config::Diagnostics& diagnostics,
                                                const Parts& parts = {}, std::vector<Attachment> files = {},
                                                bool is_searched_next = false, const KeptCosts& costs = {});

/// A line for each file that is not what it was when it was read: what a run that is over says of its inputs.
[[nodiscard]] std::vector<std::string> changed_files(const std::vector<Attachment>& files);

struct SearchOptions {
  Cache cache;
  program::search::Hooks hooks;
  program::search::Limits limits = {};
};

/// What the strategy leaves open is searched, on all ranks of `comm` together, and the program written; a plan that is
/// given is predicted, where the strategy can. What was measured is kept in the cache however the search ends.
void search(const config::Table& resolved, Experiment& experiment, Communicator& comm, const SearchOptions& options,
            config::Diagnostics& diagnostics);

/// A plan file (docs/experiments.md): what the strategy found for this machine and model, as TOML that load() takes.
[[nodiscard]] std::string plan_text(const Experiment& experiment, const config::Table& resolved,
                                    const std::string& version);

/// A named part that an experiment can choose, for `tessera help`: a strategy, a topology, a collective algorithm, a
/// cost model.
struct Choice {
  std::string family, name, help;
};
[[nodiscard]] std::vector<Choice> choices(const Parts& parts = {});

/// What an experiment can name, in a line: a machine's size and figures, a model's dimensions, the title of an
/// experiment or a sweep.
struct Listed {
  std::string name, description;
  std::string calibrated;  ///< of a machine: which of "kernels links power" are, or "no"; of others empty
};
enum class Listing { machines, models, recipes, experiments, sweeps };
/// All of them in these input folders, sorted by name within each folder of experiments or sweeps. A file that could
/// not be used is listed with the reason.
[[nodiscard]] std::vector<Listed> list(Listing what, const std::vector<std::filesystem::path>& folders);

/// The computation graph of a model: of a name or a file as `model` in an experiment may say, a forward pass of one
/// sequence (0: of as many tokens as the model has positions for, or else 2048); of a file that lists nodes, that
/// graph.
[[nodiscard]] workload::Graph model_graph(const std::string& model, std::int64_t sequence,
                                          const std::vector<std::filesystem::path>& folders,
                                          config::Diagnostics& diagnostics);

/// The schemas of all layers, sorted by path.
[[nodiscard]] std::vector<config::SchemaPointer> schemas(const Parts& parts = {});

}  // namespace tessera::experiment
