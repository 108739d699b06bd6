// From a [strategy] table to the plan.
#include <fmt/format.h>

#include <algorithm>

#include "../place_of.hpp"
#include "device_code.hpp"
#include "layouts.hpp"
#include "options.hpp"
#include "search.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

using config::Table;

class Planner {
 public:
  Planner(const Table& table, const Job& job, config::Diagnostics& diagnostics)
      : table_(table), job_(job), diagnostics_(diagnostics), options_(options_schema().read(table, diagnostics)) {}

  Plan make() {
    Plan plan;
    check();
    if (!diagnostics_.ok()) return plan;
    const Graph graph = make_graph(options_.graph, *job_.model, *job_.workload);
    const int bits = device_bits(static_cast<std::int64_t>(job_.machine->devices()));
    const std::vector<std::vector<Partition>> all = choices(graph, bits);
    if (!diagnostics_.ok()) return plan;
    const std::vector<Partition> partitions = chosen(graph, all, bits);
    if (!diagnostics_.ok()) return plan;
    add_program(cut_graph(graph, partitions, bits), plan.program);
    describe(graph, partitions, plan);
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
      error(name, "the device has no peak for the workload's datatype \"" + job_.workload->datatype + "\"");
    try {
      static_cast<void>(device_bits(static_cast<std::int64_t>(job_.machine->devices())));
    } catch (const InputError& problem) {
      error(name, problem.what());
    }
    for (program::DeviceId device = 0; device < job_.machine->devices(); ++device) {
      if (!job_.machine->alive(device))
        return error(name,
                     "strategy \"primepar\" needs all devices, and " + job_.machine->node_name(device) + " has failed");
    }
  }

  /// For each operator the given partition, or all. Those of operators that the graph lacks are errors.
  std::vector<std::vector<Partition>> choices(const Graph& graph, int bits) {
    static const Table none;
    const config::Value* value = table_.find("partitions");
    const Table& given = value == nullptr ? none : *value->table();
    std::vector<std::vector<Partition>> found;
    for (const Node& node : graph.nodes) {
      const std::string& text = options_.partitions.*member(node.op.name);
      try {
        found.push_back(text.empty() ? searched(node.op, bits)
                                     : std::vector<Partition>{parse_partition(node.op, text)});
        if (!text.empty()) check_partition(node.op, found.back().front(), bits);
      } catch (const InputError& problem) {
        error(place_of(given, node.op.name.c_str()), problem.what());
      }
    }
    for (const auto& [key, one] : given.entries()) refuse_unused(graph, key, one);
    return found;
  }

  /// Whether each device holds what a plan wants of it.
  [[nodiscard]] bool fits(const Graph& graph, const std::vector<std::vector<Partition>>& choices, const Found& found,
                          int bits) const {
    program::Program program;
    add_program(cut_graph(graph, picked(choices, found), bits), program);
    for (program::DeviceId device = 0; device < program.devices.size(); ++device) {
      if (program::memory_peak(program, device).total > job_.machine->device.memory_capacity) return false;
    }
    return true;
  }

  std::vector<Partition> searched(const Operator& op, int bits) const {
    std::vector<Partition> found = all_partitions(op, bits);
    const auto has_square = [](const Partition& partition) {
      return std::any_of(partition.begin(), partition.end(), [](const Primitive& one) { return one.is_square(); });
    };
    if (!options_.temporal) found.erase(std::remove_if(found.begin(), found.end(), has_square), found.end());
    if (found.empty()) throw InputError(fmt::format("operator {} has too few elements for 2^{} slices", op.name, bits));
    return found;
  }

  /// What is not given is searched, and all of it predicted. Every rank finds the same.
  std::vector<Partition> chosen(const Graph& graph, const std::vector<std::vector<Partition>>& choices, int bits) {
    const bool all_given =
        std::all_of(choices.begin(), choices.end(), [](const auto& partitions) { return partitions.size() == 1; });
    Found best{std::vector<std::size_t>(choices.size(), 0), 0, 0};
    if (!all_given && bits > most_searched_bits) {
      error(place_of(table_, "name"),
            fmt::format("the search goes up to {} devices; on more give all partitions", 1 << most_searched_bits));
    } else if (job_.evaluator != nullptr && bits <= most_searched_bits) {
      const auto within = [&](const Found& one) { return all_given || fits(graph, choices, one, bits); };
      best = search_that_fits(cost_tables(job_, graph, choices, bits), within);
    } else if (!all_given) {
      throw InternalError("a search measures, and has no evaluator");
    }
    predicted_ = best.cost;
    return picked(choices, best);
  }

  static std::vector<Partition> picked(const std::vector<std::vector<Partition>>& choices, const Found& found) {
    std::vector<Partition> partitions;
    for (std::size_t i = 0; i < choices.size(); ++i) partitions.push_back(choices[i][found.chosen[i]]);
    return partitions;
  }

  void refuse_unused(const Graph& graph, const std::string& key, const config::Value& value) {
    for (const Node& node : graph.nodes) {
      if (node.op.name == key) return;
    }
    error(value.where(), fmt::format("graph \"{}\" has no operator {}", options_.graph, key));
  }

  static std::string Partitions::*member(const std::string& name) {
    for (const auto& [key, found] : partition_keys()) {
      if (name == key) return found;
    }
    throw InternalError("no key for the partition of operator " + name);
  }

  [[nodiscard]] std::int64_t layers() const { return options_.graph == "layer" ? job_.model->layers : 1; }

  void add_program(const CutGraph& cut, program::Program& program) const {
    program.labels = {""};
    program.free_reductions = job_.collectives->reduction == "free";
    program.devices.resize(job_.machine->devices());
    Groups groups(program);
    const std::uint32_t all_reduce = job_.collectives->index_for(program::CollectiveKind::all_reduce);
    for (int device = 0; device < static_cast<int>(program.devices.size()); ++device)
      DeviceCode(program, cut, groups, all_reduce, device).write(layers());
  }

  void describe(const Graph& graph, const std::vector<Partition>& partitions, Plan& plan) const {
    plan.description = {{"graph", options_.graph}};
    if (predicted_ > 0)
      plan.description.emplace_back(options_.graph == "layer" ? "predicted time of a layer" : "predicted time",
                                    config::format_rounded(predicted_, config::Unit::time));
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      plan.description.emplace_back(graph.nodes[i].op.name, to_text(graph.nodes[i].op, partitions[i]));
    plan.hardware_flops = program::executed_flops(plan.program, *job_.machine);
    plan.model_flops = plan.hardware_flops;  // nothing is computed twice
    for (const Node& node : graph.nodes) plan.parameters += layers() * node.parameter_sets * weights(node.op);
    plan.tokens = job_.workload->global_batch * job_.workload->sequence;
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
  Time predicted_ = 0;  ///< 0: without an evaluator
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
