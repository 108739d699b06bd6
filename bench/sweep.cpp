// What a sweep costs beside the simulations that it consists of: whole processes of `tessera sweep` on one rank and on
// two, against the same points simulated inside this process, and against a process for each point.
#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/bench_main.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/experiment/sweep.hpp"

using namespace tessera;
namespace fs = std::filesystem;

namespace {

struct Options {
  std::string experiment = "inputs/experiments/megatron/22b-selective.toml";
  std::string program, launcher = "mpirun -n 2";
  int points = 1000;
  int processes = 20;  ///< of a process for each point
};

/// Bandwidths of NVLink: as many points of the same length.
void write_sweep(const Options& options, const fs::path& file) {
  std::ofstream(file) << fmt::format(
      "experiment = \"{}\"\nworkload.global_batch = 16\n[sweep]\n"
      "axes.\"machine.topology.nvlink_latency\" = {{ from = \"3 us\", to = \"4 us\", steps = {} }}\n",
      fs::absolute(options.experiment).string(), options.points);
}

/// The simulations alone, one after the other; events as well.
std::pair<double, double> simulate_all(const fs::path& file) {
  config::Diagnostics diagnostics;
  experiment::InputFiles files;
  const auto sweep = experiment::load_sweep(file.string(), {}, experiment::input_folders(), files, diagnostics);
  diagnostics.throw_if_errors();
  const auto comm = make_serial_communicator();
  double seconds = 0, events = 0;
  for (std::int64_t i = 0; i < sweep->points(); ++i) {
    const auto source = sweep->source(sweep->point(i), diagnostics);
    const auto built = experiment::build(*source.table, diagnostics);
    diagnostics.throw_if_errors();
    const bench::Stopwatch watch;
    events += static_cast<double>(experiment::run(*built, *comm).statistics.events);
    seconds += watch.wall_seconds();
  }
  return {seconds, events};
}

/// Of a whole process.
double time_of(const std::string& command) {
  const bench::Stopwatch watch;
  if (std::system((command + " > /dev/null").c_str()) != 0) throw IoError("failed: " + command);
  return watch.wall_seconds();
}

void run(const Options& options) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("bench-sweep-{}", getpid());
  fs::create_directories(folder);
  const fs::path file = folder / "sweep.toml";
  write_sweep(options, file);
  const std::string program = options.program;
  const auto sweep = [&](const char* name, const std::string& launcher, const char* more) {
    return time_of(fmt::format("{} {} sweep {} -o {} --progress off {}", launcher, program, file.string(),
                               (folder / name).string(), more));
  };
  const auto [alone, events] = simulate_all(file);
  const double files = sweep("files", "", ""), rows = sweep("rows", "", "--keep summary");
  const double two = sweep("two", options.launcher, "");
  double each = 0;
  for (int i = 0; i < options.processes; ++i) {
    const std::string point = (folder / "point.toml").string(), out = (folder / "point.h5").string();
    static_cast<void>(time_of(fmt::format("{} sweep {} --print {} | tee {}", program, file.string(), i, point)));
    each += time_of(fmt::format("{} run {} -o {} --force --progress off", program, point, out));
  }
  const double processes = each / options.processes * options.points;
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  const auto line = [&](const char* what, double seconds) {
    fmt::print("{:<44}{:>9.2f} s{:>9.2f}\n", what, seconds, seconds / alone);
  };
  fmt::print("{} points\n", options.points);
  line("simulations alone, in one process", alone);
  line("tessera sweep, one rank", files);
  line("tessera sweep --keep summary, one rank", rows);
  line("tessera sweep, two ranks", two);
  line(fmt::format("a process a point, from {} of them", options.processes).c_str(), processes);
  fmt::print(
      "summary: bench=sweep events={:.0f} seconds={:.3f} events_per_second={:.4g} points={} overhead={:.3f} "
      "overhead_of_rows={:.3f} two_ranks={:.3f} against_processes={:.2f}\n",
      events, files, events / files, options.points, files / alone, rows / alone, two / files, processes / files);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  options.program = (fs::read_symlink("/proc/self/exe").parent_path() / "tessera").string();
  return bench::main_of("What a sweep costs beside its simulations.",
                        {{"--experiment", &options.experiment, "what the points are of"},
                         {"--points", &options.points, "how many"},
                         {"--launcher", &options.launcher, "how two ranks are started"},
                         {"--processes", &options.processes, "how many points get a process of their own"}},
                        argc, argv, [&] { run(options); });
}
