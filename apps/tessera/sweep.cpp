// tessera sweep: many points of one experiment, shared out over ranks, processes and jobs.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>

#include "command.hpp"
#include "experiment_options.hpp"
#include "interrupts.hpp"
#include "on_ranks.hpp"
#include "progress.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/experiment/run_sweep.hpp"

namespace tessera::app {
namespace {

/// Of standard error.
void print_line(const std::string& text) { std::fprintf(stderr, "%s\n", one_line(text).c_str()); }

constexpr const char *all_points = "all", *rows_alone = "summary";

struct SweepOptions {
  std::string path, folder, keep = all_points, shard, cache, synchroniser = "window", progress = "auto";
  std::vector<std::string> settings;
  std::int64_t point = -1, printed = -1;
  int ranks_per_point = 1;
  bool list = false, yes = false, force = false;
};

using SweepPointer = std::unique_ptr<experiment::Sweep>;

SweepPointer load(const SweepOptions& options, experiment::InputFiles& files, bool is_silent) {
  config::Diagnostics diagnostics;
  experiment::SweepOptions how;
  for (const std::string& text : options.settings) how.settings.push_back(experiment::parse_setting(text));
  how.any_number = options.yes;
  auto sweep = experiment::load_sweep(options.path, how, experiment::input_folders(), files, diagnostics);
  if (!is_silent) print_warnings(diagnostics.warnings());
  diagnostics.throw_if_errors();
  return sweep;
}

/// The number that --print or --point names.
std::int64_t checked(const experiment::Sweep& sweep, const char* option, std::int64_t number) {
  if (number < sweep.points()) return number;
  throw InputError(fmt::format("{} {}: the sweep has points 0 to {}", option, number, sweep.points() - 1));
}

struct Shard {
  int index = 1, count = 1;
};

/// "3/8". InputError.
Shard parse_shard(const std::string& text) {
  Shard shard;
  int used = 0;
  const bool is_read = std::sscanf(text.c_str(), "%d/%d%n", &shard.index, &shard.count, &used) == 2 &&
                       static_cast<std::size_t>(used) == text.size();
  if (!is_read || shard.count < 1 || shard.index < 1 || shard.index > shard.count)
    throw InputError("--shard " + one_line(text) + ": expected I/N with 1 <= I <= N, such as 3/8");
  return shard;
}

ExitCode print_point(const SweepOptions& options) {
  experiment::InputFiles files;
  const SweepPointer sweep = load(options, files, false);
  const experiment::Point point = sweep->point(checked(*sweep, "--print", options.printed));
  config::Diagnostics diagnostics;
  const experiment::Source source = sweep->source(point, diagnostics);
  diagnostics.throw_if_errors();
  print(fmt::format("# Point {} of {}: {}\n{}", point.number, one_line(options.path), point.name,
                    config::to_toml(*source.table)));
  return ExitCode::done;
}

/// Which points, in the order in which they are begun.
std::vector<std::int64_t> chosen(const SweepOptions& options, const experiment::Sweep& sweep,
                                 const std::vector<experiment::PointCost>& costs) {
  if (options.point >= 0) return {checked(sweep, "--point", options.point)};
  if (options.shard.empty()) return experiment::longest_first(costs);
  const Shard shard = parse_shard(options.shard);
  return experiment::share_of(costs, shard.index, shard.count);
}

/// 1.23 M, 12.3 k: three digits.
std::string events_text(double events) {
  static constexpr const char* prefixes[] = {"", " k", " M", " G", " T", " P"};
  std::size_t power = 0;
  for (; events >= 999.5 && power + 1 < std::size(prefixes); ++power) events /= 1000;
  return fmt::format("{:.{}f}{}", events, power == 0 || events >= 99.95 ? 0 : events >= 9.995 ? 1 : 2, prefixes[power]);
}

std::string cost_text(const experiment::PointCost& cost) {
  if (cost.searches) return "search";
  if (cost.code == ExitCode::done) return events_text(cost.events);
  return cost.code == ExitCode::infeasible ? "infeasible" : "refused";
}

ExitCode list(const SweepOptions& options) {
  experiment::InputFiles files;
  const SweepPointer sweep = load(options, files, false);
  const auto comm = make_serial_communicator();
  const std::vector<experiment::PointCost> costs = experiment::costs_of(*sweep, *comm);
  std::vector<std::int64_t> points = chosen(options, *sweep, costs);
  std::ranges::sort(points);
  print(fmt::format("{}\n{} points of {} combinations{}\n\n{:>7}  {:>10}  point\n", sweep->title(), sweep->points(),
                    sweep->combinations(),
                    options.shard.empty() ? "" : fmt::format(", {} in share {}", points.size(), options.shard), "",
                    "events"));
  double sum = 0;
  for (const std::int64_t number : points) {
    const experiment::Point point = sweep->point(number);
    const experiment::PointCost& cost = costs[static_cast<std::size_t>(number)];
    sum += cost.events;
    print(fmt::format("{:>7}  {:>10}  {}\n", number, cost_text(cost), point.name));
  }
  print(fmt::format("{:>7}  {:>10}  in all, about\n", "", events_text(sum)));
  return ExitCode::done;
}

/// One line for all points.
class SweepDisplay {
 public:
  explicit SweepDisplay(const std::string& mode) : line_(mode, stderr) {}
  void report(const experiment::SweepProgress& now) {
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - begin_;
    if (!line_.is_due(since.count())) return;
    std::string text =
        fmt::format("{} of {} points done, {} refused, {} failed", now.done, now.points, now.refused, now.failed);
    if (now.share > 0.005) text += fmt::format(", {} left", span(since.count() * (1 / now.share - 1)));
    line_.show(text);
  }

 private:
  ProgressLine line_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

std::string outcome_text(const experiment::Sweep& sweep, const SweepOptions& options,
                         const experiment::SweepOutcome& outcome) {
  std::string text =
      fmt::format("{}\n{} points in {}: {} done, {} refused, {} infeasible, {} failed", sweep.title(), outcome.points,
                  one_line(options.folder), outcome.done, outcome.refused, outcome.infeasible, outcome.failed);
  if (outcome.found_complete > 0) text += fmt::format(" ({} of them before)", outcome.found_complete);
  text += '\n';
  const char* mark = outcome.best_is_uncalibrated ? " (not calibrated: peak rates of a data sheet)" : "";
  if (outcome.tokens_per_second > 0)
    text += fmt::format("the most tokens: {}, {:.4g} a second{}\n", outcome.best, outcome.tokens_per_second, mark);
  else if (!outcome.best.empty())
    text += fmt::format("the fastest: {}, {}{}\n", outcome.best,
                        config::format_rounded(outcome.fastest_time, config::Unit::time), mark);
  return text + fmt::format("tessera merge {} -o ALL.h5 makes one table of them\n", one_line(options.folder));
}

/// What ends the sweep with another code than 0, or would, on standard error.
void say_what_is_wrong(const experiment::SweepOutcome& outcome) {
  for (const experiment::SweepFailure& failure : outcome.failures)
    print_line(fmt::format("{} of {} points failed with code {}, the first of them {} ({}): {}", failure.points,
                           outcome.points, static_cast<int>(failure.code), failure.first, failure.name,
                           failure.message));
  if (outcome.refused_alike.empty()) return;
  print_line(outcome.points == 1 ? outcome.refused_alike
                                 : fmt::format("{} (all {} points)", outcome.refused_alike, outcome.points));
}

ExitCode sweep(const SweepOptions& options, const Arguments& arguments, Communicator& comm) {
  experiment::InputFiles files;
  SweepPointer sweep;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    if (!options.shard.empty()) static_cast<void>(parse_shard(options.shard));
    sweep = load(options, files, false);
    experiment::check_folder(*sweep, options.folder);
  });
  files = broadcast(comm, std::move(files));
  together(comm, [&] {
    if (comm.rank() == 0) return;
    files.close();  // rank 0 has read all
    sweep = load(options, files, true);
  });
  catch_interrupts();
  experiment::SweepRunOptions how;
  how.folder = options.folder;
  how.interrupted = interrupted;
  how.costs = experiment::costs_of(*sweep, comm, interrupted);
  together(comm, [&] { how.points = chosen(options, *sweep, how.costs); });
  how.ranks_per_point = options.ranks_per_point;
  how.keep_files = options.keep == all_points;
  how.repeat = options.force;
  how.synchroniser = options.synchroniser;
  how.cache = options.cache;
  how.record = {arguments.text(), TESSERA_VERSION, experiment::utc_now()};
  SweepDisplay display(comm.rank() == 0 ? options.progress : "off");
  how.progress = [&display](const experiment::SweepProgress& now) { display.report(now); };
  how.warn = [](const std::string& what) { warn(what); };
  const experiment::SweepOutcome outcome = experiment::run_sweep(*sweep, comm, how);
  if (comm.rank() == 0) {
    say_what_is_wrong(outcome);
    print(outcome_text(*sweep, options, outcome));
  }
  return static_cast<ExitCode>(broadcast(comm, static_cast<int>(outcome.code)));
}

void add_choices(CLI::App& options, const std::shared_ptr<SweepOptions>& o) {
  options.add_flag("--list", o->list, "print the points and what each would cost, and run none; starts no MPI");
  options.add_option("--print", o->printed, "print the point of this number as an experiment; starts no MPI")
      ->check(CLI::NonNegativeNumber);
  options.add_option("--point", o->point, "run the point of this number alone")->check(CLI::NonNegativeNumber);
  options.add_option("--shard", o->shard, "run share I of N alone: shares cost about the same")->type_name("I/N");
  options.add_option("--ranks-per-point", o->ranks_per_point, "ranks that simulate one point together")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  options.add_option("--keep", o->keep, "a result file and a row for each point, or the row alone")
      ->check(CLI::IsMember({all_points, rows_alone}))
      ->capture_default_str();
}

}  // namespace

Command add_sweep(CLI::App& app, Arguments arguments) {
  auto o = std::make_shared<SweepOptions>();
  CLI::App* options = app.add_subcommand("sweep", "Run many points of an experiment; under mpirun on all its ranks.");
  options->add_option("SWEEP", o->path, "the sweep: an experiment with a [sweep] table (TOML; docs/sweeps.md)")
      ->required();
  CLI::Option* folder =
      options->add_option("-o,--output", o->folder, "the folder of the points; an existing one goes on");
  options->add_option("--set", o->settings, "KEY=VALUE over the experiment, below the axes; repeatable")
      ->type_name("KEY=VALUE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  add_choices(*options, o);
  options->add_option("--cache", o->cache, "a folder in which what searches measure is kept for the next ones");
  options->add_option("--sync", o->synchroniser, "how ranks stay in step; no result depends on it")
      ->check(CLI::IsMember(pdes::synchroniser_kinds()))
      ->capture_default_str();
  add_progress(*options, o->progress);
  options->add_flag("--yes", o->yes, "more than 10 million combinations are meant");
  options->add_flag("--force", o->force, "run points that are complete again");
  return {options, [o, folder, arguments] {
            if (o->printed >= 0) return guarded(false, [&] { return print_point(*o); });
            if (o->list) return guarded(false, [&] { return list(*o); });
            return on_all_ranks(arguments, [&](Communicator& comm) {
              if (folder->empty()) throw InputError("sweep needs -o DIR, the folder of its points; --list needs none");
              return sweep(*o, arguments, comm);
            });
          }};
}

}  // namespace tessera::app
