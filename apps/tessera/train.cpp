// tessera train: a policy that searches begin with, learnt from many graphs, or a network that predicts products.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "command.hpp"
#include "interrupts.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/text.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/training.hpp"

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  ExperimentOptions experiment;
  std::string output, folder, progress = "auto";
  bool force = false, resume = false;

  [[nodiscard]] std::string checkpoint() const { return output + ".checkpoint"; }
};

experiment::TrainingSources load_sources(const TrainOptions& options) {
  config::Diagnostics diagnostics;
  auto sources = experiment::load_training(options.experiment.path, options.experiment.parsed_settings(),
                                           experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  print_warnings(diagnostics.warnings());
  return sources;
}

/// What stands where the policy is to be.
results::Replacing check_outputs(const TrainOptions& options) {
  const results::Replacing standing = check_output(options.experiment, options.output, options.force);
  check_output(options.experiment, options.checkpoint(), options.force || options.resume);
  if (!options.folder.empty() && !fs::is_directory(options.folder))
    throw IoError("--checkpoints: there is no folder '" + one_line(options.folder) + "'");
  return standing;
}

/// The checkpoint that it goes on from, on all ranks.
std::optional<results::PolicyFile> read_checkpoint(const TrainOptions& options, Communicator& comm) {
  if (!options.resume) return std::nullopt;
  results::PolicyFile file;
  together(comm, [&] {
    if (comm.rank() == 0) file = results::read_policy(options.checkpoint());
  });
  file.policy = broadcast(comm, std::move(file.policy));
  file.tables = broadcast(comm, std::move(file.tables));
  return file;
}

/// How far it is, and what came of the last update.
class TrainingDisplay {
 public:
  explicit TrainingDisplay(const std::string& mode) : line_(mode, stderr) {}
  void report(double done, const std::string& last) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    if (first_ < 0) first_ = done;
    if (!line_.is_due(since.count())) return;
    std::string text = fmt::format("training: {:.0f} %, {}", 100 * done, last);
    if (done >= 1) text = "training: " + last;
    if (done > first_ && done < 1) text += ", " + span(since.count() * (1 - done) / (done - first_)) + " left";
    line_.show(text);
  }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double first_ = -1;  ///< where this process began
};

ExitCode train(const TrainOptions& options, const Arguments& arguments, Communicator& comm) {
  const experiment::RunRecord record{arguments.text(), TESSERA_VERSION, experiment::utc_now()};
  experiment::TrainingSources sources;
  results::Replacing standing;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    standing = check_outputs(options);
    sources = load_sources(options);
  });
  sources = experiment::shared(std::move(sources), comm);
  const std::optional<results::PolicyFile> resume = read_checkpoint(options, comm);
  std::unique_ptr<experiment::Experiment> first;
  together(comm, [&] { first = build(*sources.first().table, sources.first().files, comm.rank() != 0); });
  catch_interrupts();
  results::Provenance provenance = experiment::provenance(
      *first, sources.experiment.given, config::to_toml(*sources.experiment.table), "", record, {}, comm);
  const auto write = [&](const std::string& path, const experiment::TrainingResult& result,
                         const results::Replacing& replacing = {}) {
    provenance.kernels = result.kernels;
    together(comm, [&] {
      if (comm.rank() == 0) results::write_policy(path, result.file, provenance, replacing);
    });
  };
  TrainingDisplay display(comm.rank() == 0 ? options.progress : "off");
  experiment::TrainingHooks hooks;
  bool is_kept = options.resume;
  hooks.keep = [&](const experiment::TrainingResult& so_far) {
    is_kept = true;
    write(options.checkpoint(), so_far);
    if (!options.folder.empty())
      write((fs::path(options.folder) / fmt::format("{:0>6}.h5", so_far.file.policy.note("updates"))).string(), so_far);
  };
  hooks.progress = [&](double done, const std::string& last) {
    display.report(done, last);
    if (comm.max(interrupted() ? 1 : 0) != 0)
      throw IoError(is_kept ? "interrupted by a signal: train --resume goes on from '" + options.checkpoint() + "'"
                            : "interrupted by a signal before the first checkpoint: nothing is kept");
  };
  const experiment::TrainingResult result = experiment::train(sources, resume ? &*resume : nullptr, hooks, comm);
  write(options.output, result, standing);
  together(comm, [&] {
    if (comm.rank() != 0) return;
    fs::remove(options.checkpoint());
    print(result.report);
  });
  return ExitCode::done;
}

}  // namespace

Command add_train(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<TrainOptions>();
  CLI::App* options = app.add_subcommand(
      "train", "Learn a policy that searches begin with, or the times of products; under mpirun too.");
  o->experiment.add_training_to(*options);
  options->add_option("-o,--output", o->output, "the file to write (HDF5)")->required();
  options->add_flag("--resume", o->resume, "go on from the last checkpoint, beside the output (OUTPUT.checkpoint)");
  options->add_option("--checkpoints", o->folder, "a folder that keeps every checkpoint as well");
  add_progress(*options, o->progress);
  options->add_flag("--force", o->force, "replace existing outputs");
  return {options, [o, arguments] {
            return on_all_ranks(arguments, [&](Communicator& comm) { return train(*o, arguments, comm); });
          }};
}

}  // namespace tessera::app
