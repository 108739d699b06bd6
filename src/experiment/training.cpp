#include "tessera/experiment/training.hpp"

#include <fmt/format.h>

#include <map>

#include "job_of.hpp"
#include "product_training.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/text.hpp"
#include "tessera/experiment/run.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using config::Diagnostics;
using config::Table;

/// The lists of a split.
struct Split {
  std::vector<std::string> training, validation, test;
};

std::string named(const std::string& split) { return fmt::format("split \"{}\"", one_line(split)); }

/// A path beside the experiment, or a name in the input folders.
std::optional<fs::path> find_split(const std::string& split, const fs::path& own, const std::vector<fs::path>& folders,
                                   InputFiles& files) {
  std::vector<fs::path> candidates{own / split};
  if (split.find('/') == std::string::npos) {
    for (const fs::path& folder : folders) candidates.push_back(folder / "graphs" / "splits" / (split + ".toml"));
  }
  for (const fs::path& candidate : candidates) {
    if (files.is_file(candidate)) return candidate;
  }
  return std::nullopt;
}

std::vector<std::string> names_in(const Table& table, const std::string& key, const config::Location& where,
                                  Diagnostics& diagnostics) {
  const config::Value* list = table.find(key);
  std::vector<std::string> names;
  for (const config::Value& one : list == nullptr || list->array() == nullptr ? config::Array{} : *list->array()) {
    if (one.string() == nullptr) {
      diagnostics.error(one.where(), fmt::format("\"{}\": expected names of models", key));
      return {};
    }
    names.push_back(*one.string());
  }
  if (names.empty() && key != "test")
    diagnostics.error(list == nullptr ? where : list->where(),
                      fmt::format("\"{}\": expected a list of models, at least one", key));
  return names;
}

/// What is learnt from must not be what is looked at afterwards.
void refuse_overlap(const Split& split, const config::Location& where, Diagnostics& diagnostics) {
  std::map<std::string, const char*> seen;
  for (const auto& [list, name] :
       {std::pair{&split.training, "training"}, {&split.validation, "validation"}, {&split.test, "test"}}) {
    for (const std::string& graph : *list) {
      const auto [found, is_new] = seen.emplace(graph, name);
      if (!is_new)
        diagnostics.error(where, fmt::format("\"{}\" is in two lists, {} and {}: what is learnt from is not what is "
                                             "tested with",
                                             one_line(graph), found->second, name));
    }
  }
}

Split read_split(const std::string& split, const config::Location& where, const fs::path& own,
                 const std::vector<fs::path>& folders, Diagnostics& diagnostics) {
  InputFiles files;
  const std::optional<fs::path> path = find_split(split, own, folders, files);
  if (!path) {
    diagnostics.error(where,
                      fmt::format("there is no {}, expected a file or a name of inputs/graphs/splits", named(split)));
    return {};
  }
  const auto table = config::parse_toml(files.read(*path).value_or(""), path->string(), diagnostics);
  if (!diagnostics.ok()) return {};
  const config::Location file{path->string(), 1, 1};
  Split result{names_in(*table, "training", file, diagnostics), names_in(*table, "validation", file, diagnostics),
               names_in(*table, "test", file, diagnostics)};
  refuse_overlap(result, file, diagnostics);
  return result;
}

/// The experiment with another model.
Source with_model(const std::string& path, std::vector<Setting> settings, const std::string& model,
                  const std::vector<fs::path>& folders, Diagnostics& diagnostics) {
  settings.push_back({"model", model, "graph " + model});
  return load(path, settings, folders, diagnostics);
}

std::string hash_of_all(const TrainingSources& sources) {
  std::string text;
  for (const auto* list : {&sources.graphs, &sources.validation}) {
    for (const TrainingSources::Graph& graph : *list) text += graph.name + "\n" + config::to_toml(*graph.source.table);
    text += "\n";
  }
  return fmt::format("{:016x}", hash_of(text));
}

}  // namespace

TrainingSources load_training(const std::string& path, const std::vector<Setting>& settings,
                              const std::vector<fs::path>& folders, Diagnostics& diagnostics) {
  TrainingSources sources;
  sources.experiment = load(path, settings, folders, diagnostics);
  if (!diagnostics.ok()) return sources;
  const config::Value* table = sources.experiment.table->find("training");
  TrainingSettings training;
  if (table != nullptr && table->table() != nullptr) training = training_schema().read(*table->table(), diagnostics);
  if (!diagnostics.ok()) return sources;
  if (training.learns == Learns::products) {
    sources.hash = fmt::format("{:016x}", hash_of(config::to_toml(*sources.experiment.table)));
    return sources;
  }
  const config::Location where = table == nullptr ? sources.experiment.table->where() : table->where();
  const Split split = read_split(training.split, where, fs::path(path).parent_path(), folders, diagnostics);
  const auto add = [&](const std::vector<std::string>& names, std::vector<TrainingSources::Graph>& to) {
    for (const std::string& name : names) {
      if (!diagnostics.ok()) return;
      to.push_back({name, with_model(path, settings, name, folders, diagnostics)});
    }
  };
  add(split.training, sources.graphs);
  add(split.validation, sources.validation);
  if (diagnostics.ok()) sources.hash = hash_of_all(sources);
  return sources;
}

TrainingSources shared(TrainingSources sources, Communicator& comm) {
  TrainingSources result;
  result.experiment = shared(std::move(sources.experiment), comm);
  result.hash = broadcast(comm, std::move(sources.hash));
  for (const auto& [from, to] :
       {std::pair{&sources.graphs, &result.graphs}, {&sources.validation, &result.validation}}) {
    const std::int64_t count = broadcast(comm, static_cast<std::int64_t>(from->size()));
    from->resize(static_cast<std::size_t>(count));
    for (TrainingSources::Graph& graph : *from) {
      std::string name = broadcast(comm, std::move(graph.name));
      to->push_back({std::move(name), shared(std::move(graph.source), comm)});
    }
  }
  return result;
}

namespace {

/// A graph's experiment as a job whose evaluations are this rank's own.
struct TrainingJob {
  std::unique_ptr<Experiment> experiment;
  std::unique_ptr<Communicator> comm = make_serial_communicator();
  program::search::Memo memo;
  std::unique_ptr<JobOf> job;

  explicit TrainingJob(const TrainingSources::Graph& graph) {
    Diagnostics diagnostics;
    experiment = build(*graph.source.table, diagnostics, {}, graph.source.files);
    try {
      diagnostics.throw_if_errors();
    } catch (const InputError& error) {
      throw InputError(fmt::format("graph \"{}\": {}", one_line(graph.name), error.what()));
    }
    job = std::make_unique<JobOf>(*experiment, *comm, memo, SearchOptions{});
  }
};

std::vector<std::unique_ptr<TrainingJob>> jobs_of(const std::vector<TrainingSources::Graph>& graphs,
                                                  std::vector<strategy::Training::Graph>& named_jobs) {
  std::vector<std::unique_ptr<TrainingJob>> jobs;
  for (const TrainingSources::Graph& graph : graphs) {
    jobs.push_back(std::make_unique<TrainingJob>(graph));
    named_jobs.push_back({graph.name, &jobs.back()->job->job()});
  }
  return jobs;
}

results::PolicyFile file_of(const Experiment& experiment, const std::string& hash, const strategy::Trained& trained) {
  Tensors policy = trained.policy;
  policy.notes.emplace_back("training", hash);
  return {experiment.title, experiment.machine.name, experiment.strategy.name, std::move(policy), trained.tables};
}

std::string report_of(const Experiment& experiment, const strategy::Trained& trained, std::size_t graphs,
                      std::size_t validation) {
  std::string text = fmt::format(
      "policy of strategy {}, machine {}, learnt from {} graphs, {} samples\n  kernels                   {}\n"
      "checkpoints on the {} graphs of the validation, the best ones\n  checkpoint     mean reward as it was     mean "
      "best "
      "reward after learning on\n",
      experiment.strategy.name, experiment.machine.name, graphs, trained.samples, trained.kernels, validation);
  for (const strategy::Validated& one : trained.finalists)
    text += fmt::format("  {:10}{:26.3f}{:42.3f}\n", one.checkpoint, one.zero_shot, one.fine_tuned);
  return text;
}

Tensor table_of(const std::vector<strategy::Validated>& finalists) {
  Tensor table{"validation",
               "a finalist a row, best first: checkpoint, mean reward as it was, mean best reward after "
               "learning on; over the graphs of the validation",
               finalists.size(),
               3,
               {}};
  for (const strategy::Validated& one : finalists) {
    for (const double value : {static_cast<double>(one.checkpoint), one.zero_shot, one.fine_tuned})
      table.values.push_back(static_cast<float>(value));
  }
  return table;
}

}  // namespace

TrainingResult train(const TrainingSources& sources, const results::PolicyFile* resume, const TrainingHooks& hooks,
                     Communicator& comm) {
  if (resume != nullptr && resume->policy.note("training") != sources.hash)
    throw InputError("the checkpoint is of another training: its experiment, graphs or options were different");
  if (sources.graphs.empty()) {
    if (resume != nullptr) throw InputError("products are learnt in one go: there is nothing to resume");
    return train_products(sources, hooks, comm);
  }
  strategy::Training training;
  const auto graphs = jobs_of(sources.graphs, training.graphs);
  const auto validation = jobs_of(sources.validation, training.validation);
  const Experiment& experiment = *graphs.front()->experiment;
  if (!experiment.strategy.train)
    throw InputError(fmt::format("strategy {} learns nothing: there is nothing to train", experiment.strategy.name));
  const TrainingSettings& settings = experiment.training;
  training.samples = settings.samples;
  training.checkpoints = settings.checkpoints;
  training.together = settings.together;
  training.finalists = settings.finalists;
  training.validation_samples = settings.validation_samples;
  training.fine_tuning_samples = settings.fine_tuning_samples;
  training.seed = static_cast<std::uint64_t>(experiment.simulation.seed);
  training.comm = &comm;
  if (resume != nullptr) {
    training.resume = &resume->policy;
    training.before = resume->tables;
  }
  const auto result_of = [&](const strategy::Trained& trained) -> TrainingResult {
    return {file_of(experiment, sources.hash, trained), trained.kernels,
            report_of(experiment, trained, graphs.size(), validation.size())};
  };
  training.keep = [&](const strategy::Trained& so_far) { hooks.keep(result_of(so_far)); };
  training.progress = hooks.progress;
  strategy::Trained trained =
      experiment.strategy.train(*sources.graphs.front().source.table->find("strategy")->table(), training);
  trained.policy.all.push_back(table_of(trained.finalists));
  return result_of(trained);
}

}  // namespace tessera::experiment
