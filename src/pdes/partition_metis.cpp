#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "partition_units.hpp"
#include "tessera/base/error.hpp"

namespace tessera::pdes {

namespace {

/// The units as METIS wants a graph: for each its neighbours, one after the other.
struct MetisGraph {
  std::vector<idx_t> first;
  std::vector<idx_t> neighbour;
  std::vector<idx_t> edge_weight;
  std::vector<idx_t> unit_weight;
};

/// Cutting a link of short latency narrows the windows of all ranks, so short links weigh more.
idx_t link_weight(Time latency, Time longest) {
  return static_cast<idx_t>(std::clamp<Time>(longest / std::max<Time>(latency, 1), 1, 1000));
}

MetisGraph make_graph(const ModelGraph& model, const Units& units) {
  Time longest = 1;
  for (const LinkInfo& link : model.links) longest = std::max(longest, link.latency);
  std::vector<std::map<idx_t, idx_t>> edges(units.count());
  for (const LinkInfo& link : model.links) {
    const std::uint32_t a = units.unit_of[link.from];
    const std::uint32_t b = units.unit_of[link.to];
    if (a == b) continue;
    edges[a][static_cast<idx_t>(b)] += link_weight(link.latency, longest);
    edges[b][static_cast<idx_t>(a)] += link_weight(link.latency, longest);
  }
  MetisGraph graph;
  graph.first.push_back(0);
  for (const auto& of_unit : edges) {
    for (const auto& [unit, weight] : of_unit) {
      graph.neighbour.push_back(unit);
      graph.edge_weight.push_back(weight);
    }
    graph.first.push_back(static_cast<idx_t>(graph.neighbour.size()));
  }
  const double heaviest = *std::max_element(units.weight.begin(), units.weight.end());
  for (const double weight : units.weight) {
    // Whole numbers of at most 1,000: METIS sums them up in an idx_t.
    graph.unit_weight.push_back(
        heaviest > 0 ? std::max<idx_t>(1, static_cast<idx_t>(std::lround(1000 * weight / heaviest))) : 1);
  }
  return graph;
}

/// METIS leaves a rank empty now and then when there are few units for each: the heaviest rank gives one away.
void fill_empty_ranks(const Units& units, int ranks, std::vector<idx_t>& rank_of) {
  std::vector<std::size_t> count(static_cast<std::size_t>(ranks));
  for (const idx_t rank : rank_of) ++count[static_cast<std::size_t>(rank)];
  for (std::size_t empty = 0; empty < count.size(); ++empty) {
    if (count[empty] > 0) continue;
    std::vector<double> load(count.size());
    for (std::size_t unit = 0; unit < units.count(); ++unit)
      load[static_cast<std::size_t>(rank_of[unit])] += units.weight[unit];
    std::size_t giver = 0;
    for (std::size_t rank = 0; rank < count.size(); ++rank) {
      if (count[rank] > 1 && (count[giver] < 2 || load[rank] > load[giver])) giver = rank;
    }
    const auto given = std::find(rank_of.rbegin(), rank_of.rend(), static_cast<idx_t>(giver));
    *given = static_cast<idx_t>(empty);
    --count[giver];
    ++count[empty];
  }
}

}  // namespace

RankOfUnit cut_with_metis(const ModelGraph& model, const Units& units, int ranks) {
  if (ranks == 1) return RankOfUnit(units.count());
  MetisGraph graph = make_graph(model, units);
  auto count = static_cast<idx_t>(units.count());
  idx_t constraints = 1;
  auto parts = static_cast<idx_t>(ranks);
  idx_t cut = 0;
  std::vector<idx_t> rank_of(units.count());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  // Recursive bisection gives better balance for few parts; it is what METIS itself recommends there.
  const auto partition = parts <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
  const int status =
      partition(&count, &constraints, graph.first.data(), graph.neighbour.data(), graph.unit_weight.data(), nullptr,
                graph.edge_weight.data(), &parts, nullptr, nullptr, options, &cut, rank_of.data());
  if (status != METIS_OK)
    throw InternalError(fmt::format("METIS could not cut {} groups into {} parts (status {})", count, ranks, status));
  fill_empty_ranks(units, ranks, rank_of);
  return {rank_of.begin(), rank_of.end()};
}

}  // namespace tessera::pdes
