#include "toy.hpp"

#include <numeric>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/program/search/searches.hpp"
#include "tessera/workload/graph.hpp"

namespace toy {
namespace {

using namespace tessera;
using strategy::Job;

struct Options {
  std::vector<std::int64_t> cuts;  ///< the stages' first nodes but for the first stage's, in topological order
  std::string reload;              ///< a file with one number: bytes a microsecond
  std::int64_t inputs = 4;
};

const config::Schema<Options>& schema() {
  static const config::Schema<Options> made = [] {
    config::Schema<Options> s("strategy.toy", "Stages of a graph, one a chip.");
    s.also_accept("name", "\"toy\"");
    s.integers("cuts", &Options::cuts, "first node of each stage but the first; searched unless given").optional();
    s.text("reload", &Options::reload, "one number: bytes of weights that are loaded in a microsecond").names_file();
    s.integer("inputs", &Options::inputs, "that pass through").at_least("1").otherwise("4");
    return s;
  }();
  return made;
}

std::int64_t bytes_a_microsecond(const Job& job) { return std::stoll(job.file("reload")->content); }

std::string check(const config::Table& table, const Job& job, config::Diagnostics& diagnostics) {
  const Options options = schema().read(table, diagnostics);
  if (!diagnostics.ok()) return {};
  if (job.graph == nullptr) {
    diagnostics.error(table.where(), "strategy toy needs a model that is a graph");
  } else if (job.graph->nodes.size() < job.machine.devices()) {
    diagnostics.error(table.where(), "fewer nodes than chips");
  }
  const Attachment* file = job.file("reload");  // null: the key is ""
  const bool is_number = file != nullptr && !file->content.empty() && file->content.size() < 16 &&
                         file->content.find_first_not_of("0123456789\n") == std::string::npos &&
                         file->content.find_first_of("123456789") == 0;
  if (!is_number) diagnostics.error(table.find("reload")->where(), "reload: expected a file with one number above 0");
  const auto chips = static_cast<std::size_t>(job.machine.devices());
  if (!options.cuts.empty() && options.cuts.size() + 1 != chips)
    diagnostics.error(table.find("cuts")->where(), "cuts: one less than there are chips");
  return options.cuts.empty() ? "cuts" : "";
}

/// What a stage's nodes do, and the weights that they read.
struct Stage {
  std::vector<workload::Operator> work;
  std::int64_t weights = 0, output = 0;
};

std::vector<Stage> stages_of(const workload::Graph& graph, const std::vector<std::int64_t>& cuts) {
  std::vector<Stage> stages(cuts.size() + 1);
  const auto order = workload::topological_order(graph);
  for (std::size_t i = 0, stage = 0; i < order.size(); ++i) {
    while (stage < cuts.size() && static_cast<std::int64_t>(i) >= cuts[stage]) ++stage;
    const workload::GraphNode& node = graph.nodes[order[i]];
    stages[stage].work.insert(stages[stage].work.end(), node.work.forward.begin(), node.work.forward.end());
    for (const workload::TensorId id : node.reads)
      if (graph.tensors[id].kind == workload::TensorKind::parameter) stages[stage].weights += graph.tensors[id].bytes;
    for (const workload::TensorId id : node.writes) stages[stage].output = graph.tensors[id].bytes;
  }
  return stages;
}

program::Program written(const Job& job, const std::vector<std::int64_t>& cuts, std::int64_t inputs) {
  program::Program program = strategy::empty_program(job);
  const program::Activity reload = program::activity_named(program, "weight_reload");
  const program::MemoryCategory staging = program::category_named(program, "staging");
  const std::vector<Stage> stages = stages_of(*job.graph, cuts);
  for (program::DeviceId chip = 0; chip < stages.size(); ++chip) {
    const Stage& stage = stages[chip];
    program::BlockBuilder once(program, "stage " + std::to_string(chip));
    if (chip > 0) once.receive(0, Bytes{stages[chip - 1].output});
    const Time loading = stage.weights * microsecond / bytes_a_microsecond(job);
    once.label("reload").activity(reload).allocate(staging, Bytes{stage.weights});
    once.compute(workload::host_pause("reload", Duration{loading}));
    once.activity(program::Activity::forward);
    for (const workload::Operator& op : stage.work) once.label(op.name).compute(op);
    if (chip + 1 < stages.size()) once.send(1, Bytes{stage.output});
    once.release(staging, Bytes{stage.weights});
    const program::BlockId block = once.done();
    program::BlockBuilder all(program, "all of stage " + std::to_string(chip));
    all.call(block, static_cast<std::uint32_t>(inputs));
    program.devices[chip] = {{all.done()}, {chip - 1, chip + 1}, {}, 0};
  }
  program.devices[stages.size() - 1].peers[1] = program::no_device;
  program.devices[0].peers[0] = program::no_device;
  return program;
}

/// Where stages begin.
struct Cuts {
  std::vector<std::int64_t> at;
  std::int64_t nodes = 0;

  /// One cut is moved by a node, where it does not meet another.
  [[nodiscard]] Cuts neighbour(std::uint64_t key) const {
    Cuts other = *this;
    const std::size_t which = key % at.size();
    const std::int64_t moved = at[which] + (key / at.size() % 2 == 0 ? 1 : -1);
    const std::int64_t least = which == 0 ? 1 : at[which - 1] + 1;
    const std::int64_t most = which + 1 == at.size() ? nodes - 1 : at[which + 1] - 1;
    if (moved >= least && moved <= most) other.at[which] = moved;
    return other;
  }
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::int64_t cut : at) all += (all.empty() ? "" : " ") + std::to_string(cut);
    return all;
  }
};

strategy::Searched search(const config::Table& table, const Job& job) {
  config::Diagnostics ignored;
  const Options options = schema().read(table, ignored);
  if (!options.cuts.empty()) return {};
  Cuts first{{}, static_cast<std::int64_t>(job.graph->nodes.size())};
  for (std::int64_t chip = 1; chip < static_cast<std::int64_t>(job.machine.devices()); ++chip) first.at.push_back(chip);
  program::search::AnnealingOptions annealing;
  annealing.seed = job.seed;
  annealing.budget.evaluations = 100;
  const auto evaluate = [&](const std::vector<Cuts>& all) {
    return job.evaluations.all(all.size(), [&](std::size_t i) { return written(job, all[i].at, options.inputs); });
  };
  const auto outcome = program::search::anneal<Cuts>(first, evaluate, annealing);
  strategy::Searched searched;
  searched.found = std::make_shared<config::Table>();
  config::Array cuts;
  for (const std::int64_t cut : outcome.best.at) cuts.push_back({cut, {}});
  searched.found->set("cuts", {cuts, {}});
  searched.table = outcome.table;
  return searched;
}

strategy::Plan make_plan(const config::Table& table, const Job& job) {
  config::Diagnostics ignored;
  const Options options = schema().read(table, ignored);
  strategy::Plan plan;
  plan.program = written(job, options.cuts, options.inputs);
  plan.description = {{"cuts", Cuts{options.cuts, 0}.text()}};
  std::vector<std::int32_t> chips;
  std::vector<std::int64_t> weights;
  for (const Stage& stage : stages_of(*job.graph, options.cuts)) {
    chips.push_back(static_cast<std::int32_t>(chips.size()));
    weights.push_back(stage.weights);
  }
  DataTable stages{"stages", "Stages of the graph, one a chip.", {}};
  plan.tables = {stages.index("chip", "that has it", chips).integer("weights", "B", "loaded for every input", weights)};
  return plan;
}

}  // namespace

strategy::StrategyKind kind() {
  strategy::StrategyKind toy;
  toy.name = "toy";
  toy.help = "stages of a graph, one a chip";
  toy.needs_model = false;
  toy.schema = []() -> const config::SchemaBase& { return schema(); };
  toy.check = check;
  toy.search = search;
  toy.program = make_plan;
  return toy;
}

}  // namespace toy
