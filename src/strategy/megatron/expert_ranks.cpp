#include "expert_ranks.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "expert_dispatch.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::megatron {
namespace {

class ExpertChecks {
 public:
  ExpertChecks(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics)
      : table_(table),
        options_(cut.options),
        model_(*cut.model),
        cut_over_(cut.expert_tensor()),
        diagnostics_(diagnostics) {}

  void of_dense_model() {
    const auto refuse = [&](bool is_given, const char* key, const char* allowed) {
      if (is_given) error(key, "model {} has no experts: {} = {}", model_.name, key, allowed);
    };
    refuse(options_.expert_parallel > 1, "expert_parallel", "1");
    refuse(options_.capacity_factor > 0, "capacity_factor", "0");
    refuse(options_.expert_imbalance > 0, "expert_imbalance", "0");
    refuse(options_.expert_tensor > 0, "expert_tensor", "0");
    refuse(options_.once_a_node, "expert_dispatch", "\"copies\"");
    refuse(options_.overlap_shared_experts, "overlap_shared_experts", "false");
  }

  /// Where those that every token takes run on a stream of their own.
  void of_shared(const Cut& cut) {
    if (!options_.overlap_shared_experts) return;
    const auto refuse = [&](const std::string& what) {
      error("overlap_shared_experts", "{}: overlap_shared_experts = false", what);
    };
    if (!cut.runs_shared_beside()) refuse(fmt::format("model {} has no shared experts", model_.name));
    if (cut.workload->generates()) refuse("generation runs all experts on one stream");
    if (options_.streams_weights()) refuse("with weight_streaming micro-batches pass layer by layer, on one stream");
    if (cut.goes_both_ways())
      refuse(fmt::format("schedule \"{}\" has two streams, whose all-to-alls run beside each other's computing",
                         options_.schedule));
    if (cut.uses_kernels()) refuse(fmt::format("sublayers = \"{}\" has kernels of one stream", options_.sublayers));
  }

  /// Where tokens cross once a node; expects a cut whose ranks fit.
  void of_nodes(const machine::Machine& machine, Cut& cut) {
    if (!options_.once_a_node) return;
    if (options_.expert_parallel == 1) {
      warn_if_given(table_, options_, "expert_dispatch", &Options::once_a_node, "with expert_parallel = 1",
                    diagnostics_);
      cut.options.once_a_node = false;
      return;
    }
    if (options_.expert_imbalance > 0)
      error("expert_imbalance", "an uneven load goes with expert_dispatch = \"copies\" alone, allowed: 0");
    if (const std::string problem = find_expert_nodes(machine, cut); !problem.empty())
      return error("expert_dispatch", "{}", problem);
    for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind) {
      const workload::LayerFields& layer = layer_kind(model_, kind);
      for (const std::int64_t parts : {cut.expert_nodes, options_.expert_parallel})
        if (is_moe(layer) && distinct_parts(layer, parts) == 0)
          error("expert_dispatch", "{} parts and the {} groups of experts do not divide each other", parts,
                layer.expert_groups);
    }
  }

  /// Experts are spread over the groups of tensor ranks of a replica that hold whole ones, then over replicas.
  void of_ranks() {
    const std::int64_t t = options_.tensor, parallel = options_.expert_parallel, copies = options_.copies();
    for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind) {
      const std::int64_t experts = layer_kind(model_, kind).experts;
      if (experts % parallel != 0)
        error("expert_parallel", "expert_parallel = {} does not divide the {} experts of {}", parallel, experts,
              model_.name);
    }
    if (t % cut_over_ != 0)
      return error("expert_tensor", "expert_tensor = {} does not divide tensor = {}", cut_over_, t);
    if (cut_over_ < t && !options_.sequence_parallel)
      error("expert_tensor",
            "expert_tensor = {} < tensor = {} sends each tensor rank's own tokens to experts: "
            "sequence_parallel = true",
            cut_over_, t);
    const std::int64_t groups = t / cut_over_;
    if (groups == 1 && copies % parallel != 0)
      error("expert_parallel", "expert_parallel = {} does not divide the {} {}", parallel, copies,
            options_.context_parallel > 1 ? "context ranks of data-parallel replicas" : "data-parallel replicas");
    if (groups == 1) return;
    if (parallel % groups != 0 && groups % parallel != 0)
      error("expert_parallel",
            "expert_parallel = {} and the tensor {} / expert_tensor {} = {} ranks of a replica do not "
            "divide each other",
            parallel, t, cut_over_, groups);
    else if (parallel > groups && copies % (parallel / groups) != 0)
      error("expert_parallel", "expert_parallel = {} is {} replicas of {} ranks each, which does not divide {} = {}",
            parallel, parallel / groups, groups, options_.context_parallel > 1 ? "context_parallel x data" : "data",
            copies);
  }

 private:
  template <class... Arguments>
  void error(const char* key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    diagnostics_.error(where_of(table_, key), fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  const config::Table& table_;
  const Options& options_;
  const workload::Model& model_;
  std::int64_t cut_over_;
  config::Diagnostics& diagnostics_;
};

/// By expert-parallel rank, scaled so that no token is lost or made before the capacity is applied.
std::vector<double> drawn_load(const Options& options, std::uint64_t seed) {
  const KeyedRandom random(seed, random_stream("megatron expert load"));
  const std::int64_t parallel = options.expert_parallel;
  std::vector<double> loads;
  double sum = 0;
  for (std::int64_t i = 0; i < parallel; ++i) {
    const double draw = 2 * random.real(static_cast<std::uint64_t>(i)) - 1;
    loads.push_back(parallel == 1 ? 1.0 : 1 + options.expert_imbalance * draw);
    sum += loads.back();
  }
  for (double& load : loads) {
    load *= static_cast<double>(parallel) / sum;
    if (options.capacity_factor > 0) load = std::min(load, options.capacity_factor);
  }
  return loads;
}

}  // namespace

void read_experts(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  ExpertChecks checks(table, cut, diagnostics);
  if (!has_experts(*job.model)) return checks.of_dense_model();
  checks.of_shared(cut);
  const std::size_t before = diagnostics.errors().size();
  checks.of_ranks();
  // As many devices as the cut has were found by then, or there is an error already.
  if (diagnostics.errors().size() == before && !cut.devices.empty()) checks.of_nodes(job.machine, cut);
  cut.expert_load = drawn_load(cut.options, job.seed);
}

}  // namespace tessera::strategy::megatron
