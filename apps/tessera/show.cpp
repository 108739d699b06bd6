// tessera show: the summary of a result file or of a table of points, or the computation graph of a model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "tessera/experiment/experiment.hpp"
#include "tessera/results/points.hpp"
#include "tessera/results/results.hpp"

namespace tessera::app {
namespace {

struct ShowOptions {
  std::string path, graph, table;
  std::int64_t sequence = 0;
  bool force = false;
};

void show_result(const std::string& path, const std::string& table) {
  if (!table.empty())
    print(results::table_text(path, table));
  else
    print(results::is_points(path) ? results::points_summary(path) : results::summary(path));
  warn(results::unchecked(path));
}

void show_graph(const ShowOptions& options) {
  results::check_distinct(options.graph, {options.path});
  const results::Replacing standing = results::check_output(options.graph, options.force);
  config::Diagnostics diagnostics;
  const workload::Graph graph =
      experiment::model_graph(options.path, options.sequence, experiment::input_folders(), diagnostics);
  diagnostics.throw_if_errors();
  results::write_text(options.graph, workload::to_dot(graph), standing);
  print(fmt::format("{}: {} nodes in {} segments, {} edges, {} parameters, {:.4g} GFLOP forward\n", graph.name,
                    graph.nodes.size(), workload::segments(graph).size(), graph.edges().size(), graph.parameters(),
                    1e-9 * static_cast<double>(graph.flops())));
}

}  // namespace

Command add_show(CLI::App& app) {
  auto chosen = std::make_shared<ShowOptions>();
  CLI::App* options = app.add_subcommand(
      "show", "Print the summary of a result file or of a table of points, or write a model's graph.");
  options
      ->add_option("RESULT", chosen->path,
                   "a result of tessera run or merge (HDF5); with --graph the name of a model, or a file")
      ->required();
  CLI::Option* graph = options->add_option(
      "--graph", chosen->graph, "write the computation graph of this model for Graphviz (*.dot): dot -Tsvg OUT.dot");
  options
      ->add_option("--sequence", chosen->sequence,
                   "tokens of the sequence; otherwise as many as the model has positions for")
      ->check(CLI::PositiveNumber)
      ->needs(graph);
  options
      ->add_option("--table", chosen->table,
                   "print this table of the file instead, all of its rows: partition, devices, names/nodes")
      ->excludes(graph);
  options->add_flag("--force", chosen->force, "replace the file of --graph")->needs(graph);
  return {options, [chosen] {
            return guarded(false, [&] {
              if (chosen->graph.empty())
                show_result(chosen->path, chosen->table);
              else
                show_graph(*chosen);
              return ExitCode::done;
            });
          }};
}

}  // namespace tessera::app
