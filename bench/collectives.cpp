// Collectives on idle networks, simulated message by message: rings of 8 to 4,096 devices, a 32 x 32 mesh, and 2,000
// all-reduces in a row on a ring of 8. Prints events, events/s, seconds (machine, program, checks and simulation;
// start-up of MPI excluded), peak memory of the largest rank, and the simulated time beside the closed form
// (docs/collectives.md). Run: mpirun -n 2 collectives [--case ring-1024]
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <fstream>

#include "support/bench_main.hpp"
#include "support/on_ranks.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/error.hpp"
#include "tessera/machine/topology.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/sim/simulate.hpp"

namespace {

using namespace tessera;

constexpr std::int64_t mebibyte = 1 << 20;

/// One all-reduce of all devices, `repeat` times in a row.
struct Case {
  std::string name;
  std::string machine;  ///< TOML
  std::string algorithm;
  std::int64_t bytes = 0;
  std::uint32_t repeat = 1;
  Time closed_form = 0;
};

struct Measurement {
  std::int64_t events = 0;
  double seconds = 0;
  double cpu_seconds = 0;     ///< of the busiest rank: steadier than wall time on a shared machine
  std::int64_t peak_kib = 0;  ///< resident, of the largest rank
  Time simulated = 0;
};

constexpr const char* device_toml = R"(
name = "bench"
packet = "64 KiB"
[device]
name = "device"
peak.fp16 = "100 TFLOP/s"
memory_bandwidth = "1 TB/s"
memory_capacity = "32 GB"
cores = 80
[topology]
)";

/// 150 GB/s a direction, 500 ns. A step is one hop: 2(N-1) times latency + S/N/bandwidth.
Case ring(std::string name, std::int64_t devices, std::int64_t bytes, std::uint32_t repeat) {
  const Time step = 500 * nanosecond + duration_at_rate(Bytes{bytes / devices}, BytesPerSecond{150'000'000'000});
  const std::string topology = fmt::format(
      "kind = \"ring\"\ndevices = {}\nbandwidth = \"150 GB/s\"\nlatency = \"500 ns\"\ndirection = \"up\"\n", devices);
  return {std::move(name), device_toml + topology, "ring", bytes, repeat, repeat * 2 * (devices - 1) * step};
}

/// 1 TB/s a direction, 100 ns. The ring snaked over a row of C has C-2 steps of two hops and two of one; the slowest
/// chunk goes round twice but for one step of each: (2C-5) two-hop and 3 one-hop steps. Columns likewise, after the
/// rows.
Case mesh(std::int64_t side, std::int64_t bytes) {
  const auto service = [](std::int64_t amount) {
    return duration_at_rate(Bytes{amount}, BytesPerSecond{1'000'000'000'000});
  };
  const Time one_hop = 100 * nanosecond + service(bytes / side);
  const Time two_hops = one_hop + 100 * nanosecond + service(std::min<std::int64_t>(bytes / side, 64 * 1024));
  const std::string topology = fmt::format(
      "kind = \"mesh\"\ncolumns = {0}\nrows = {0}\nbandwidth = \"1000 GB/s\"\nlatency = \"100 ns\"\n", side);
  return {fmt::format("mesh-{0}x{0}", side),
          device_toml + topology,
          "mesh",
          bytes,
          1,
          2 * ((2 * side - 5) * two_hops + 3 * one_hop)};
}

std::vector<Case> all_cases() {
  std::vector<Case> cases{ring("chained-8", 8, 24 * mebibyte, 2000)};
  for (const std::int64_t devices : {8, 64, 256, 1024}) {
    cases.push_back(ring(fmt::format("ring-{}", devices), devices, 96 * mebibyte, 1));
  }
  cases.push_back(mesh(32, 96 * mebibyte));
  cases.push_back(ring("ring-4096", 4096, 96 * mebibyte, 1));
  return cases;
}

machine::Machine build(const std::string& text) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml(text, "bench", diagnostics);
  machine::Machine machine = machine::build_machine(*table, diagnostics);
  diagnostics.throw_if_errors();
  return machine;
}

program::Program program_of(const Case& test, const machine::Machine& machine) {
  program::Program program;
  program.free_reductions = true;
  program.groups.emplace_back();
  for (program::DeviceId device = 0; device < machine.devices(); ++device) program.groups[0].members.push_back(device);
  program::Collective collective;
  collective.bytes = Bytes{test.bytes};
  collective.algorithm = program::algorithm_index(test.algorithm);
  const auto once = program::BlockBuilder(program, "all-reduce").label(test.name).collective(collective).done();
  const auto main = program::BlockBuilder(program, "main").call(once, test.repeat).done();
  program.devices.assign(machine.devices(), {{main}, {}, {0}, 0});
  return program;
}

/// Forgets the peak of earlier cases, so that each case shows its own (the kernel keeps it per process).
void reset_peak_memory() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5\n";
}

std::int64_t peak_memory_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("VmHWM:", 0) == 0) return std::stoll(line.substr(6));
  }
  return 0;
}

Measurement measure(const Case& test, const std::string& synchroniser, Communicator& comm) {
  reset_peak_memory();
  comm.barrier();
  const bench::Stopwatch watch;
  const machine::Machine machine = build(test.machine);
  const program::Program program = program_of(test, machine);
  config::Diagnostics diagnostics;
  const auto cost =
      workload::make_cost_model(*config::parse_toml("model = \"roofline\"", "bench", diagnostics), diagnostics);
  diagnostics.throw_if_errors();
  sim::SimulationOptions options;
  options.run.synchroniser = synchroniser;
  const sim::SimulationResult result = sim::simulate(machine, program, *cost, comm, options);
  Measurement measured;
  measured.seconds = static_cast<double>(comm.max(static_cast<std::int64_t>(watch.wall_seconds() * 1e9))) / 1e9;
  measured.cpu_seconds = static_cast<double>(comm.max(static_cast<std::int64_t>(watch.cpu_seconds() * 1e9))) / 1e9;
  measured.events = comm.sum(static_cast<std::int64_t>(result.statistics.events));
  measured.peak_kib = comm.max(peak_memory_kib());
  measured.simulated = result.results.iteration_time;
  return measured;
}

/// The run with the median time; events and simulated time are the same in all.
Measurement median_of(const Case& test, const std::string& synchroniser, int runs, Communicator& comm) {
  std::vector<Measurement> all;
  for (int run = 0; run < runs; ++run) all.push_back(measure(test, synchroniser, comm));
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  return all[all.size() / 2];
}

void print(const Case& test, const Measurement& measured, int ranks) {
  const double rate = static_cast<double>(measured.events) / measured.seconds;
  const double megabytes = static_cast<double>(measured.peak_kib) * 1024 / 1e6;
  fmt::print("{:<12} {:>12} {:>10.4f} {:>10.3f} {:>12.1f} {:>18.3f} {:>18.3f} {}\n", test.name, measured.events,
             measured.seconds, rate / 1e6, megabytes, static_cast<double>(measured.simulated) / 1e6,
             static_cast<double>(test.closed_form) / 1e6,
             measured.simulated == test.closed_form ? "equal" : "DIFFERENT");
  fmt::print(
      "summary: bench=collectives case={} ranks={} events={} seconds={:.4f} cpu_seconds={:.4f} "
      "events_per_second={:.0f} "
      "peak_memory_mb={:.1f} simulated_ps={} closed_form_ps={}\n",
      test.name, ranks, measured.events, measured.seconds, measured.cpu_seconds, rate, megabytes, measured.simulated,
      test.closed_form);
  std::fflush(stdout);
}

/// False when a simulated time differs from its closed form.
bool run(const std::vector<std::string>& names, const std::string& synchroniser, int runs, Communicator& comm) {
  bool equal = true;
  if (comm.rank() == 0) {
    fmt::print("{:<12} {:>12} {:>10} {:>10} {:>12} {:>18} {:>18}\n", "case", "events", "seconds", "M events/s",
               "MB a rank", "simulated us", "closed form us");
  }
  for (const Case& test : all_cases()) {
    if (!names.empty() && std::find(names.begin(), names.end(), test.name) == names.end()) continue;
    const Measurement measured = median_of(test, synchroniser, runs, comm);
    equal = equal && measured.simulated == test.closed_form;
    if (comm.rank() == 0) print(test, measured, comm.size());
  }
  return equal;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> all, names;
  for (const Case& test : all_cases()) all.push_back(test.name);
  std::string synchroniser = "window";
  int runs = 3;
  return bench::main_of("Collectives on idle networks",
                        {{"--case", &names, "which cases; all without it", false, all},
                         {"--sync", &synchroniser, "window or null-message"},
                         {"--runs", &runs, "the median of so many runs is printed", true}},
                        argc, argv, [&] {
                          bool equal = true;
                          const int code = on_ranks(
                              argc, argv, [&](Communicator& world) { equal = run(names, synchroniser, runs, world); });
                          return equal ? code : static_cast<int>(ExitCode::internal);
                        });
}
