// From a [strategy] table to the plan.
#include <fmt/format.h>

#include <algorithm>

#include "../empty_program.hpp"
#include "../place_of.hpp"
#include "choose.hpp"
#include "device_code.hpp"
#include "device_order.hpp"
#include "layouts.hpp"
#include "options.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::strategy::primepar {
namespace {

using config::Table;

/// Of at least four digits.
std::string milliseconds(Time time) {
  const double value = 1e-9 * static_cast<double>(time);
  return fmt::format("{:.{}f} ms", value, value < 1 ? 4 : value < 10 ? 3 : value < 100 ? 2 : 1);
}

class Planner {
 public:
  Planner(const Table& table, const Job& job, config::Diagnostics& diagnostics)
      : table_(table), job_(job), diagnostics_(diagnostics), options_(options_schema().read(table, diagnostics)) {}

  Plan make() {
    Plan plan;
    check();
    if (!diagnostics_.ok()) return plan;
    Workload micro_batch = *job_.workload;
    micro_batch.global_batch /= options_.micro_batches;
    const Graph graph = make_graph(options_.graph, *job_.model, micro_batch);
    const int bits = device_bits(stage_devices());
    const Space space = read_space(table_, options_, graph, layers(), bits, diagnostics_);
    if (!diagnostics_.ok()) return plan;
    const Passes how = passes();
    const auto program = [&](const auto& partitions) { return program_of(cut_graph(graph, partitions, bits)); };
    const Search search{&job_, &graph, &space, &how, layers(), bits, options_.simulated, program};
    Chosen chosen;
    try {
      chosen = choose(search);
    } catch (const KeyError&) {
      throw;                               // of another table than this one's
    } catch (const InputError& problem) {  // on all ranks alike
      error(place_of(table_, "name"), problem.what());
      return plan;
    }
    plan.program = program(chosen.layers);
    describe(graph, chosen, plan);
    report(search, chosen, plan);
    return plan;
  }

 private:
  void error(const config::Location& where, const std::string& text) { diagnostics_.error(where, text); }

  void check() {
    if (!diagnostics_.ok()) return;
    const config::Location& name = place_of(table_, "name");
    if (job_.workload->phase != workload::Phase::training)
      error(name, "strategy \"primepar\" partitions training: workload.phase has to be \"training\"");
    if (job_.workload->flash_attention)
      error(name, "strategy \"primepar\" cuts scores, softmax and context: workload.flash_attention has to be false");
    if (job_.model->experts > 0) error(name, "strategy \"primepar\" cuts dense layers, and the model has experts");
    if (job_.machine->device.peak.count(job_.workload->datatype) == 0)
      error(name, fmt::format("the device has no peak for workload.datatype = \"{}\"; it has {}",
                              job_.workload->datatype, peaks()));
    try {
      static_cast<void>(device_bits(static_cast<std::int64_t>(job_.machine->devices())));
    } catch (const InputError& problem) {
      error(name, problem.what());
    }
    check_passes();
    if (sublayer() != nullptr) {
      const std::string problem = program::sublayer::inline_problem(job_.machine->device, job_.workload->datatype);
      if (!problem.empty())
        error(place_of(table_, "sublayers"), fmt::format("sublayers = \"{}\": {}", options_.sublayers, problem));
    }
    for (program::DeviceId device = 0; device < job_.machine->devices(); ++device) {
      if (!job_.machine->alive(device))
        return error(name,
                     "strategy \"primepar\" needs all devices, and " + job_.machine->node_name(device) + " has failed");
    }
  }

  /// Datatypes.
  [[nodiscard]] std::string peaks() const {
    std::vector<std::string> names;
    for (const auto& [name, peak] : job_.machine->device.peak) names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void check_passes() {
    const std::int64_t devices = job_.machine->devices(), batch = job_.workload->global_batch;
    if (devices % options_.pipeline != 0 || (options_.pipeline & (options_.pipeline - 1)) != 0) {
      error(
          place_of(table_, "pipeline"),
          fmt::format("{} stages: a power of two that divides the {} devices is allowed", options_.pipeline, devices));
    } else if (all_layers() % options_.pipeline != 0) {
      error(place_of(table_, "pipeline"),
            options_.graph == "layer"
                ? fmt::format("{} stages do not divide the {} layers", options_.pipeline, all_layers())
                : fmt::format("graph \"{}\" is one layer, which no pipeline divides", options_.graph));
    }
    if (batch % options_.micro_batches != 0)
      error(place_of(table_, "micro_batches"),
            fmt::format("{} micro-batches do not divide workload.global_batch = {}", options_.micro_batches, batch));
  }

  [[nodiscard]] std::int64_t all_layers() const { return options_.graph == "layer" ? job_.model->layers : 1; }
  /// Of one stage.
  [[nodiscard]] std::int64_t layers() const { return all_layers() / options_.pipeline; }
  [[nodiscard]] std::int64_t stage_devices() const { return job_.machine->devices() / options_.pipeline; }
  [[nodiscard]] Passes passes() const {
    return {options_.overlap_gradient_reduction, options_.pipeline,      options_.micro_batches,
            options_.schedule == "gpipe",        options_.recomputation, sublayer()};
  }

  /// Null: products and their sums are operators and collectives.
  [[nodiscard]] const program::sublayer::Configuration* sublayer() const {
    return options_.sublayers == "operators" ? nullptr : &program::sublayer::configuration(options_.sublayers);
  }

  [[nodiscard]] program::Program program_of(const CutGraph& cut) const {
    program::Program program = empty_program(job_);
    Groups groups(program), beside(program);
    const Reductions reductions{&groups, options_.overlap_gradient_reduction ? &beside : nullptr, job_.collectives,
                                sublayer(), &job_.machine->device};
    const program::PipelineShape shape{static_cast<std::uint32_t>(options_.pipeline), 1,
                                       static_cast<std::uint32_t>(options_.micro_batches), true};
    const std::vector<int> order = device_order(*job_.machine);
    for (std::uint32_t stage = 0; stage < shape.stages; ++stage) {
      const program::ScheduleLoop schedule =
          program::fold(program::find_pipeline_order(options_.schedule)->actions(shape, stage));
      const auto devices = static_cast<int>(stage_devices());
      const StagePlace place{
          static_cast<int>(stage) * devices, stage > 0, shape.stages > 1, &schedule, &order, options_.recomputation};
      for (int device = 0; device < devices; ++device) DeviceCode(program, cut, reductions, place, device).write();
    }
    return program;
  }

  void describe(const Graph& graph, const Chosen& chosen, Plan& plan) const {
    plan.description = {{"graph", options_.graph}};
    if (options_.recomputation) plan.description.emplace_back("recomputation", "full");
    if (options_.pipeline > 1) plan.description.emplace_back("pipeline", std::to_string(options_.pipeline));
    if (options_.micro_batches > 1)
      plan.description.emplace_back("micro-batches", std::to_string(options_.micro_batches));
    if (chosen.predicted > 0) plan.description.emplace_back("predicted time", milliseconds(chosen.predicted));
    const auto found = std::make_shared<Table>(table_.where());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<Partition> partitions;
      for (const std::vector<Partition>& layer : chosen.layers) partitions.push_back(layer[i]);
      const std::string text = layers_text(graph.nodes[i].op, partitions);
      plan.description.emplace_back(graph.nodes[i].op.name, text);
      found->set(graph.nodes[i].op.name, {text, table_.where()});
    }
    plan.found = std::make_shared<Table>(table_.where());
    plan.found->set("partitions", {found, table_.where()});
    predict(graph, chosen, plan);
    plan.hardware_flops = program::executed_flops(plan.program, *job_.machine);
    // The three phases of a product multiply as often as each other; with recomputation there are two forward.
    plan.model_flops = plan.hardware_flops * (options_.recomputation ? 0.75 : 1.0);
    for (const Node& node : graph.nodes) plan.parameters += all_layers() * node.parameter_sets * weights(node.op);
    plan.tokens = job_.workload->global_batch * job_.workload->sequence;
  }

  void predict(const Graph& graph, const Chosen& chosen, Plan& plan) const {
    if (chosen.predicted == 0) return;
    Time redistribution = chosen.predicted - chosen.exposed;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      plan.predicted.emplace_back(graph.nodes[i].op.name, chosen.operators[i]);
      redistribution -= chosen.operators[i];
    }
    plan.predicted.emplace_back("redistribution", redistribution);
    if (options_.overlap_gradient_reduction) plan.predicted.emplace_back("gradient sums shown", chosen.exposed);
    plan.predicted.emplace_back("all", chosen.predicted);
  }

  /// The plans that were simulated.
  static void report(const Search& search, const Chosen& chosen, Plan& plan) {
    for (std::size_t i = 0; i < chosen.evaluations.size(); ++i) {
      const Proposal& one = chosen.candidates[i];
      const program::Evaluation& run = chosen.evaluations[i];
      plan.candidates.push_back({one.origin, plan_text(*search.graph, partitions_of(*search.space, one.layers)),
                                 one.predicted, run.time, i == chosen.taken, run.reason});
    }
  }

  /// "fc1 {K, P(2x2)}; activation {F, M, F}; fc2 {N, P(2x2)}"
  static std::string plan_text(const Graph& graph, const std::vector<std::vector<Partition>>& layers) {
    std::string text;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      std::vector<Partition> partitions;
      for (const std::vector<Partition>& layer : layers) partitions.push_back(layer[i]);
      text += (i == 0 ? "" : "; ") + graph.nodes[i].op.name + ' ' + layers_text(graph.nodes[i].op, partitions);
    }
    return text;
  }

  static std::int64_t weights(const Operator& op) {
    std::int64_t product = 1;
    for (const int dimension : op.dimensions_of(Tensor::weight))
      product *= op.dimensions[static_cast<std::size_t>(dimension)].extent;
    return product;
  }

  const Table& table_;
  const Job& job_;
  config::Diagnostics& diagnostics_;
  Options options_;
};

}  // namespace

StrategyKind kind() {
  StrategyKind kind;
  kind.name = "primepar";
  kind.help = options_schema().help();
  kind.schema = []() -> const config::SchemaBase& { return options_schema(); };
  kind.make_plan = [](const Table& table, const Job& job, config::Diagnostics& diagnostics) {
    return Planner(table, job, diagnostics).make();
  };
  kind.inner_schemas = [] { return std::vector<const config::SchemaBase*>{&partitions_schema()}; };
  return kind;
}

}  // namespace tessera::strategy::primepar
