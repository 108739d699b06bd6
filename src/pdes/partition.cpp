#include "tessera/pdes/partition.hpp"

#include <fmt/format.h>

#include <unordered_map>

#include "partition_units.hpp"
#include "tessera/base/error.hpp"

namespace tessera::pdes {

namespace {

void refuse_zero_lookahead(const ModelGraph& model, const Units& units) {
  for (const LinkInfo& link : model.links) {
    if (link.latency == 0 && units.unit_of[link.from] != units.unit_of[link.to]) {
      throw InputError(
          fmt::format("the link from {} to {} has no latency, but the two may be simulated on different ranks: give it "
                      "a latency of at least 1 ps",
                      name_of(model, link.from), name_of(model, link.to)));
    }
  }
  for (const Crossbar& crossbar : model.crossbars) {
    for (ComponentId id = crossbar.first + 1; crossbar.latency == 0 && id < crossbar.first + crossbar.count; ++id) {
      if (units.unit_of[id] == units.unit_of[crossbar.first]) continue;
      throw InputError(
          fmt::format("the crossbar from {} to {} has no latency, but the two may be simulated on different ranks: "
                      "give it a latency of at least 1 ps",
                      name_of(model, crossbar.first), name_of(model, id)));
    }
  }
}

void refuse_too_many_ranks(const Units& units, int ranks) {
  if (ranks >= 1 && static_cast<std::size_t>(ranks) <= units.count()) return;
  if (ranks < 1) throw InputError(fmt::format("{} ranks: start at least 1", ranks));
  throw InputError(fmt::format("{} ranks for {} group{} of devices: start at most {} rank{}", ranks, units.count(),
                               units.count() == 1 ? "" : "s", units.count(), units.count() == 1 ? "" : "s"));
}

std::string resolve_auto(const Units& units) {
  if (!units.position.empty()) return "tile";
  return units.consecutive ? "block" : "metis";
}

}  // namespace

Units make_units(const ModelGraph& model) {
  Units units;
  units.unit_of.resize(model.components);
  std::unordered_map<ComponentId, std::uint32_t> unit_of_group;
  for (ComponentId id = 0; id < model.components; ++id) {
    const ComponentId group = model.groups.empty() ? id : model.groups[id];
    const auto [found, added] = unit_of_group.try_emplace(group, static_cast<std::uint32_t>(units.count()));
    const std::uint32_t unit = found->second;
    if (added) {
      units.weight.push_back(0);
      if (!model.positions.empty()) units.position.push_back(model.positions[id]);
    } else if (units.unit_of[id - 1] != unit) {
      units.consecutive = false;
    }
    units.unit_of[id] = unit;
    units.weight[unit] += model.weights.empty() ? 1 : static_cast<double>(model.weights[id]);
  }
  return units;
}

std::vector<std::string> partition_kinds() { return {"auto", "block", "tile", "metis"}; }

Partition make_partition(const ModelGraph& model, int ranks, const std::string& kind) {
  check_model(model);
  const Units units = make_units(model);
  refuse_zero_lookahead(model, units);
  refuse_too_many_ranks(units, ranks);
  const std::string chosen = kind == "auto" ? resolve_auto(units) : kind;
  RankOfUnit rank_of_unit;
  if (chosen == "block") {
    rank_of_unit = cut_blocks(units, ranks);
  } else if (chosen == "tile") {
    if (units.position.empty())
      throw InputError("the partition \"tile\" needs a machine with a geometry; use \"block\" or \"metis\"");
    rank_of_unit = cut_tiles(units, ranks);
  } else if (chosen == "metis") {
    rank_of_unit = cut_with_metis(model, units, ranks);
  } else {
    throw InputError(
        fmt::format("there is no partition \"{}\", allowed are {}", kind, fmt::join(partition_kinds(), ", ")));
  }
  Partition partition{ranks, std::vector<std::uint16_t>(model.components)};
  for (ComponentId id = 0; id < model.components; ++id) partition.rank_of[id] = rank_of_unit[units.unit_of[id]];
  return partition;
}

}  // namespace tessera::pdes
