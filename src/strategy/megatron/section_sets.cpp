#include "section_sets.hpp"

#include <algorithm>
#include <numeric>

#include "layer_blocks.hpp"
#include "profile.hpp"
#include "recomputation.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerOperators;
using workload::Recomputed;

std::vector<LayerOperators> operators_by_kind(const Cut& cut) {
  std::vector<LayerOperators> layers;
  for (std::uint32_t kind = 0; kind < workload::layer_kinds(*cut.model); ++kind) layers.push_back(cut.layer(kind, 0));
  return layers;
}

/// Alone on the network: ps.
double time_of(const GroupWork& work, const Cut& cut, const Job& job, std::uint32_t stage) {
  program::Group group;
  const auto t = static_cast<std::uint32_t>(cut.options.tensor);
  for (const std::uint32_t rank : work.ranks) group.members.push_back(cut.device({rank % t, rank / t, stage}));
  // What the machine cannot carry out is refused with the program.
  const bool runs = group.members.size() > 1 && program::check_collective(work.collective, group, job.machine).empty();
  return runs ? algorithm_of(work.collective.algorithm).time(work.collective, group, job.machine) : 0;
}

bool can_run_again(const Cut& cut, const Recomputed& recomputed) {
  for (std::uint32_t kind = 0; kind < workload::layer_kinds(*cut.model); ++kind)
    if (!workload::problem_of(recomputed, cut.kind(kind)).empty()) return false;
  return true;
}

/// Of sections that do something.
std::vector<Recomputed> possible_sets(const Cut& cut, const std::vector<LayerOperators>& layers) {
  using workload::Recomputation;
  std::vector<Recomputed> found;
  for (const auto named : {Recomputation::none, Recomputation::selective, Recomputation::full})
    found.push_back(workload::recomputed_by(named));
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < LayerOperators::section_count; ++place) {
    const auto does = [&](const LayerOperators& layer) { return !layer.in_order().at(place)->empty(); };
    if (std::ranges::any_of(layers, does)) places.push_back(place);
  }
  for (std::uint64_t bits = 1; bits < std::uint64_t{1} << places.size(); ++bits) {
    Recomputed recomputed{{}, true};
    for (std::size_t i = 0; i < places.size(); ++i)
      if ((bits >> i & 1U) != 0) recomputed.again.set(places[i]);
    if (can_run_again(cut, recomputed)) found.push_back(recomputed);
  }
  return found;
}

/// Sections in which keys and values go round, which no collective is counted for.
workload::LayerSections rings_of(const std::vector<LayerOperators>& layers) {
  using Step = workload::ExchangeStep;
  workload::LayerSections rings;
  for (const LayerOperators& layer : layers)
    for (std::size_t place = 0; place < LayerOperators::section_count; ++place)
      for (const Step& step : layer.in_order().at(place)->exchange_steps)
        if (step.kind == Step::Kind::to_next || step.kind == Step::Kind::to_previous) rings.set(place);
  return rings;
}

/// As recomputed_sections has it.
std::vector<std::string> names_of(const Recomputed& recomputed) {
  const std::string name = workload::name_of(recomputed);
  if (name == "none" || name == "selective" || name == "full") return {name};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < workload::section_names.size(); ++i)
    if (recomputed.again[i]) names.emplace_back(workload::section_names.at(i));
  return names;
}

/// What a layer of one kind keeps, holds and repeats.
struct Price {
  std::int64_t kept = 0, held = 0;  ///< B; held: with what is there again at once
  Time operators = 0;
  double collectives = 0;  ///< ps

  [[nodiscard]] bool is_within(const Price& other) const {
    return kept <= other.kept && held <= other.held && operators <= other.operators && collectives <= other.collectives;
  }
};

struct PricedSet {
  Recomputed recomputed;
  std::vector<Price> prices;  ///< by kind
  Time operators = 0;         ///< of one layer of each kind
};

std::vector<PricedSet> priced_sets(const Cut& cut, const Job& job) {
  std::vector<SectionTimes> times;
  for (std::uint32_t kind = 0; kind < workload::layer_kinds(*cut.model); ++kind)
    times.push_back(section_times(cut, job, 0, kind, workload::LayerSections().set()));
  std::vector<PricedSet> priced;
  for (const SetProfile& set : section_sets(cut)) {
    PricedSet& one = priced.emplace_back();
    one.recomputed = set.recomputed;
    for (std::size_t kind = 0; kind < times.size(); ++kind) {
      Price price{set.kept[kind], set.kept[kind] + set.again[kind]};
      for (std::size_t place = 0; place < LayerOperators::section_count; ++place) {
        if (!set.recomputed.again[place]) continue;
        price.operators += times[kind].operators.at(place);
        price.collectives += times[kind].collectives.at(place);
      }
      one.operators += price.operators;
      one.prices.push_back(price);
    }
  }
  // What the schedule refuses beats nothing.
  if (cut.combines_passes())
    std::erase_if(priced, [](const PricedSet& set) { return first_repeated_of_mlp(set.recomputed).has_value(); });
  std::ranges::stable_sort(priced, {}, &PricedSet::operators);
  return priced;
}

}  // namespace

SectionTimes section_times(const Cut& cut, const Job& job, std::uint32_t stage, std::uint32_t kind,
                           const workload::LayerSections& of) {
  SectionTimes times;
  const LayerOperators layer = cut.layer(kind, 0);
  const SectionWork work = cut.uses_kernels() ? SectionWork() : section_work(cut, job, kind);
  for (std::size_t place = 0; place < LayerOperators::section_count; ++place) {
    if (!of[place]) continue;
    for (const workload::Operator& op : layer.in_order().at(place)->forward)
      times.operators.at(place) += job.cost.time(op, job.machine.device);
    for (const GroupWork& one : work.at(place).collectives)
      times.collectives.at(place) += time_of(one, cut, job, stage);
  }
  return times;
}

std::vector<SetProfile> section_sets(const Cut& cut) {
  const std::vector<LayerOperators> layers = operators_by_kind(cut);
  std::vector<SetProfile> found;
  for (const Recomputed& recomputed : possible_sets(cut, layers)) {
    SetProfile& one = found.emplace_back();
    one.recomputed = recomputed;
    for (std::uint32_t kind = 0; kind < layers.size(); ++kind) {
      const KeptBytes kept = workload::kept_bytes(layers[kind], recomputed);
      one.kept.push_back(std::accumulate(kept.begin(), kept.end(), std::int64_t{0}));
      one.again.push_back(most_made_again(cut, kind, layers[kind], recomputed));
    }
  }
  return found;
}

std::vector<std::vector<std::string>> unbeaten_sets(const Cut& cut, const Job& job) {
  const workload::LayerSections rings = rings_of(operators_by_kind(cut));
  const std::vector<PricedSet> priced = priced_sets(cut, job);
  const auto is_within = [&](const PricedSet& a, const PricedSet& b) {
    if ((a.recomputed.again & rings & ~b.recomputed.again).any()) return false;
    for (std::size_t kind = 0; kind < a.prices.size(); ++kind)
      if (!a.prices[kind].is_within(b.prices[kind])) return false;
    return true;
  };
  std::vector<std::vector<std::string>> found;
  for (std::size_t i = 0; i < priced.size(); ++i) {
    const auto beats = [&](std::size_t other) {
      return other != i && is_within(priced[other], priced[i]) && (other < i || !is_within(priced[i], priced[other]));
    };
    bool is_beaten = false;
    for (std::size_t other = 0; other < priced.size() && !is_beaten; ++other) is_beaten = beats(other);
    if (!is_beaten) found.push_back(names_of(priced[i].recomputed));
  }
  return found;
}

}  // namespace tessera::strategy::megatron
