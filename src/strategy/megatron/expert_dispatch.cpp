#include "expert_dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::strategy::megatron {
namespace {

/// That none of `drawn` of `all` is one of `marked`.
double odds_of_none(std::int64_t all, std::int64_t marked, std::int64_t drawn) {
  double odds = 1;
  for (std::int64_t i = 0; i < drawn; ++i)
    odds *= static_cast<double>(std::max<std::int64_t>(0, all - marked - i)) / static_cast<double>(all - i);
  return odds;
}

/// log of n over k.
double log_choose(std::int64_t n, std::int64_t k) {
  const auto log_factorial = [](std::int64_t i) { return std::lgamma(static_cast<double>(i) + 1); };
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

/// That `hits` of `drawn` of `all` are of the `marked` ones.
double odds_of_hits(std::int64_t all, std::int64_t marked, std::int64_t drawn, std::int64_t hits) {
  if (hits > marked || drawn - hits > all - marked) return 0;
  return std::exp(log_choose(marked, hits) + log_choose(all - marked, drawn - hits) - log_choose(all, drawn));
}

/// Bytes of so many copies of each of a device's own tokens, as many to each of `parts`: a mean has no remainder that
/// one of them might get.
std::int64_t copied(const Cut& cut, double copies, std::int64_t parts) {
  const std::int64_t own = cut.uses_sequence_parallelism() ? cut.part_bytes() : cut.activation_bytes();
  const std::int64_t elements = parts * cut.element();
  return std::llround(copies * static_cast<double>(own) / static_cast<double>(elements)) * elements;
}

void across_nodes(Writer& writer, const workload::LayerFields& kind, const char* label) {
  const Cut& cut = writer.cut();
  const std::int64_t nodes = cut.expert_nodes;
  writer.expert_all_to_all(expert_rail_group, copied(cut, distinct_parts(kind, nodes), nodes), label);
}
/// Each device has what came for its node, and its own.
void inside_nodes(Writer& writer, const workload::LayerFields& kind, const char* label) {
  const Cut& cut = writer.cut();
  const std::int64_t ranks = cut.options.expert_parallel;
  writer.expert_all_to_all(expert_node_group, copied(cut, distinct_parts(kind, ranks), ranks / cut.expert_nodes),
                           label);
}

void one_an_expert(Writer& writer, const workload::LayerFields& kind, const char* label) {
  writer.expert_all_to_all(expert_group, copied(writer.cut(), static_cast<double>(kind.experts_per_token), 1), label);
}

}  // namespace

double distinct_parts(const workload::LayerFields& kind, std::int64_t parts) {
  const std::int64_t taken = kind.experts_per_token, part = kind.experts / parts;
  const std::int64_t groups = std::max<std::int64_t>(1, kind.expert_groups);
  const std::int64_t open = kind.expert_groups > 0 ? kind.groups_per_token : 1;  // groups that a token's experts are of
  const std::int64_t group = kind.experts / groups, candidates = open * group;
  double none = 0;
  if (parts % groups == 0) {
    const double is_open = static_cast<double>(open) / static_cast<double>(groups);
    none = 1 - is_open + is_open * odds_of_none(candidates, part, taken);
  } else if (groups % parts == 0) {
    const std::int64_t in_part = groups / parts;
    for (std::int64_t hits = 0; hits <= std::min(in_part, open); ++hits)
      none += odds_of_hits(groups, in_part, open, hits) * odds_of_none(candidates, hits * group, taken);
  } else {
    return 0;
  }
  return static_cast<double>(parts) * (1 - none);
}

void send_to_experts(Writer& writer, const workload::LayerFields& kind, const char* label) {
  if (!writer.cut().options.once_a_node) return one_an_expert(writer, kind, label);
  across_nodes(writer, kind, label);
  inside_nodes(writer, kind, label);
}

void send_from_experts(Writer& writer, const workload::LayerFields& kind, const char* label) {
  if (!writer.cut().options.once_a_node) return one_an_expert(writer, kind, label);
  inside_nodes(writer, kind, label);
  across_nodes(writer, kind, label);
}

std::string find_expert_nodes(const machine::Machine& machine, Cut& cut) {
  const auto parallel = static_cast<std::uint32_t>(cut.options.expert_parallel);
  const auto node_of = [&](std::uint32_t group, std::uint32_t rank) {
    // Ranks of a group stand as far from each other as an expert is cut over tensor ranks.
    const auto apart = static_cast<std::uint32_t>(cut.expert_tensor());
    const std::uint32_t first = group / apart * apart * parallel + group % apart;
    return machine.places[cut.devices[first + rank * apart]].node;
  };
  const auto groups = static_cast<std::uint32_t>(cut.devices.size()) / parallel;
  std::uint32_t locals = 1;
  while (locals < parallel && node_of(0, locals) == node_of(0, 0)) ++locals;
  for (std::uint32_t group = 0; group < groups; ++group)
    for (std::uint32_t rank = 0; rank < parallel; ++rank) {
      const bool begins = rank % locals == 0;
      const bool same = rank > 0 && node_of(group, rank) == node_of(group, rank - 1);
      if (begins == same || parallel % locals != 0)
        return fmt::format(
            "the {} ranks of experts do not stand in equal runs, node by node, allowed: expert_dispatch = \"copies\"",
            parallel);
    }
  cut.expert_nodes = parallel / locals;
  return {};
}

}  // namespace tessera::strategy::megatron
