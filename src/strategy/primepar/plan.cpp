// From a [strategy] table in which nothing is open to the plan.
#include "plan.hpp"

#include "code/device_code.hpp"
#include "cuts/layouts.hpp"
#include "options.hpp"
#include "search/choose.hpp"
#include "tessera/base/error.hpp"
#include "tessera/machine/device_order.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::strategy::primepar {
namespace {

using config::Table;

std::int64_t weights(const Operator& op) {
  std::int64_t product = 1;
  for (const int dimension : op.dimensions_of(Tensor::weight))
    product *= op.dimensions[static_cast<std::size_t>(dimension)].extent;
  return product;
}

void describe(const Setup& setup, const Job& job, const LayerPartitions& layers, Plan& plan) {
  const Options& options = setup.options;
  plan.description = {{"graph", options.graph}};
  if (options.recomputation) plan.description.emplace_back("recomputation", "full");
  if (options.pipeline > 1) plan.description.emplace_back("pipeline", std::to_string(options.pipeline));
  if (options.micro_batches > 1) plan.description.emplace_back("micro-batches", std::to_string(options.micro_batches));
  for (std::size_t i = 0; i < setup.graph.nodes.size(); ++i)
    plan.description.emplace_back(setup.graph.nodes[i].op.name, node_text(setup.graph, i, layers));
  plan.hardware_flops = program::executed_flops(plan.program);
  // The three phases of a product multiply as often as each other; with recomputation there are two forward.
  plan.model_flops = plan.hardware_flops * (options.recomputation ? 0.75 : 1.0);
  for (const Node& node : setup.graph.nodes)
    plan.parameters += all_layers(options, job) * node.parameter_sets * weights(node.op);
  plan.tokens = job.workload.global_batch * job.workload.sequence;
}

/// Of a table that was checked.
Setup setup_of(const Table& table, const Job& job) {
  config::Diagnostics checked;
  return read_setup(table, job, checked);
}

Plan plan_of(const Table& table, const Job& job) {
  const Setup setup = setup_of(table, job);
  if (setup.space.given.empty()) throw InternalError("a program of partitions that are not chosen yet");
  const LayerPartitions layers = partitions_of(setup.space, setup.space.given);
  Plan plan;
  plan.program = write_program(setup, job, layers);
  describe(setup, job, layers, plan);
  return plan;
}

}  // namespace

std::string node_text(const Graph& graph, std::size_t node, const LayerPartitions& layers) {
  std::vector<Partition> partitions;
  for (const std::vector<Partition>& layer : layers) partitions.push_back(layer[node]);
  return layers_text(graph.nodes[node].op, partitions);
}

program::Program write_program(const Setup& setup, const Job& job, const LayerPartitions& layers) {
  const Options& options = setup.options;
  const CutGraph cut = cut_graph(setup.graph, layers, setup.bits);
  program::Program program = empty_program(job);
  Groups groups(program), beside(program);
  const Reductions reductions{&groups, options.overlap_gradient_reduction ? &beside : nullptr, &job.collectives,
                              sublayer_of(options), &job.machine.device};
  const program::PipelineShape shape{static_cast<std::uint32_t>(options.pipeline), 1,
                                     static_cast<std::uint32_t>(options.micro_batches), true};
  const std::vector<int> order = machine::device_order(job.machine);
  for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
    const program::ScheduleLoop schedule =
        program::fold(program::find_pipeline_order(options.schedule)->actions(shape, stage));
    const int devices = 1 << setup.bits;
    const StagePlace place{
        static_cast<int>(stage) * devices, stage > 0, shape.stages > 1, &schedule, &order, options.recomputation};
    for (int device = 0; device < devices; ++device) DeviceCode(program, cut, reductions, place, device).write();
  }
  return program;
}

StrategyKind kind() {
  StrategyKind kind;
  kind.name = "primepar";
  kind.help = options_schema().help();
  kind.workload_keys = {"phase", "sequence", "global_batch", "flash_attention", "datatype"};
  kind.schema = []() -> const config::SchemaBase& { return options_schema(); };
  kind.check = [](const Table& table, const Job& job, config::Diagnostics& diagnostics) {
    const Setup setup = read_setup(table, job, diagnostics);
    return diagnostics.ok() ? open_text(setup) : std::string();
  };
  kind.search = [](const Table& table, const Job& job) { return search_plan(setup_of(table, job), job); };
  kind.program = plan_of;
  kind.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&partitions_schema()}; };
  return kind;
}

}  // namespace tessera::strategy::primepar
