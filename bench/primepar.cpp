// PrimePar's search: how long the tables of costs and the dynamic programming over them take, on any number of ranks.
#include "tessera/strategy/primepar/primepar.hpp"
#include "support/bench_main.hpp"

#include <fmt/core.h>

#include <chrono>
#include <numeric>

#include "strategy/primepar/search/search.hpp"
#include "support/on_ranks.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/sim/simulate.hpp"

using namespace tessera;
using namespace tessera::strategy;

namespace {

std::unique_ptr<experiment::Experiment> build(const std::string& file, int nodes) {
  config::Diagnostics diagnostics;
  const auto source =
      experiment::load(file, {experiment::parse_setting(fmt::format("machine.topology.nodes={}", nodes))},
                       experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  auto built = experiment::build(*source.table, diagnostics);
  diagnostics.throw_if_errors();
  return built;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(const std::string& file, int nodes, Communicator& comm) {
  const auto experiment = build(file, nodes);
  const auto evaluator = sim::make_evaluator(experiment->machine, *experiment->cost);
  program::search::Memo memo;
  const program::search::Evaluations evaluations(*evaluator, comm, memo);
  const Job job{experiment->machine,     experiment->workload, *experiment->cost,
                experiment->collectives, evaluations,          &*experiment->model};
  const primepar::Graph graph = primepar::make_graph("layer", *job.model, job.workload);
  const int bits = primepar::device_bits(static_cast<std::int64_t>(job.machine.devices()));
  std::vector<std::vector<primepar::Partition>> choices;
  std::size_t states = 0, pairs = 0;
  for (const primepar::Node& node : graph.nodes) states += choices.emplace_back(all_partitions(node.op, bits)).size();
  for (const primepar::Edge& edge : graph.edges)
    pairs += choices[static_cast<std::size_t>(edge.from)].size() * choices[static_cast<std::size_t>(edge.to)].size();

  auto begin = std::chrono::steady_clock::now();
  const primepar::CostTables tables = cost_tables(job, graph, choices, bits, {});
  const double table_seconds = seconds_since(begin);
  if (comm.rank() != 0) return;
  begin = std::chrono::steady_clock::now();
  const primepar::Found found = segmented_search(tables, job.model->layers);
  const double search_seconds = seconds_since(begin);
  fmt::print("{} devices, {} layers, {} partitions, {} pairs of them along edges\n", job.machine.devices(),
             job.model->layers, states, pairs);
  fmt::print("{:<24}{:>10.2f} s\n{:<24}{:>10.2f} s{:>12.3g} relaxations\n", "tables", table_seconds, "search",
             search_seconds, static_cast<double>(found.relaxations));
  fmt::print("{:<24}{:>10} partitions\n", "struck out", found.struck_out);
  fmt::print(
      "summary: bench=primepar events={} seconds={:.3f} events_per_second={:.4g} states={} pairs={} "
      "table_seconds={:.3f} search_seconds={:.3f} cost_ps={}\n",
      found.relaxations, table_seconds + search_seconds, static_cast<double>(found.relaxations) / search_seconds,
      states, pairs, table_seconds, search_seconds, found.cost);
}

}  // namespace

int main(int argc, char** argv) {
  std::string file = "inputs/experiments/primepar/layer.toml";
  int nodes = 8;
  return bench::main_of("PrimePar's search for the partitions of a layer.",
                        {{"experiment", &file, "an experiment of strategy primepar on a cluster"},
                         {"--nodes", &nodes, "nodes of the cluster"}},
                        argc, argv,
                        [&] { return on_ranks(argc, argv, [&](Communicator& world) { run(file, nodes, world); }); });
}
