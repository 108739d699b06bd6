#include "recomputation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::Recomputation;
using workload::Recomputed;

std::optional<Recomputed> by_name(const std::vector<std::string>& names) {
  if (names.size() != 1) return std::nullopt;
  for (const Recomputation one : {Recomputation::none, Recomputation::selective, Recomputation::full})
    if (names.front() == name_of(one)) return recomputed_by(one);
  return std::nullopt;
}

/// Of numbers of layers, and of groups of them.
template <class Refuse>
void check_layers(const Cut& cut, const Refuse& refuse) {
  const Options& options = cut.options;
  if (!cut.training() && options.recomputed_layers > 0)
    return refuse("recomputed_layers", "there is no backward pass to recompute for");
  const auto is_none = [](const Recomputed& one) { return one.again.none(); };
  if (options.recomputed_layers > 0 && std::ranges::all_of(cut.recomputed, is_none))
    return refuse("recomputed_layers", "no layer runs anything again, allowed: a recomputation, or 0");
  for (std::size_t stage = 0; stage < options.stages.size(); ++stage) {
    if (options.stages[stage].recomputed_layers > 0 && is_none(cut.recomputed[stage]))
      return refuse("stages", fmt::format("stage {}: no layer runs anything again, allowed: a recomputation, or "
                                          "recomputed_layers = 0",
                                          stage));
  }
  if (options.recomputation_method == RecomputationMethod::block) return;
  const auto is_whole = [](const Recomputed& one) { return one.again.all() || one.again.none(); };
  if (!std::ranges::all_of(cut.recomputed, is_whole))
    return refuse("recomputation_method", "\"uniform\" repeats whole layers, allowed: recomputation = \"full\"");
  if (options.shards_parameters())
    return refuse("recomputation_method",
                  "a group of layers would have to be whole at once, allowed with weights cut over the replicas or "
                  "streamed: \"block\"");
}

}  // namespace

Recomputed recomputed_of(const std::vector<std::string>& names, const workload::Model& model) {
  if (const std::optional<Recomputed> named = by_name(names)) return *named;
  const Recomputed found{sections_of(names), true};
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind) {
    const std::string problem = problem_of(found, layer_kind(model, kind));
    if (!problem.empty()) throw InputError(problem);
  }
  return found;
}

workload::LayerSections sections_of(const std::vector<std::string>& names) {
  workload::LayerSections sections;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(workload::section_names, name);
    if (found == workload::section_names.end())
      throw InputError(config::unknown("section of a layer", name,
                                       {workload::section_names.begin(), workload::section_names.end()}));
    sections.set(static_cast<std::size_t>(found - workload::section_names.begin()));
  }
  return sections;
}

std::optional<std::size_t> first_repeated_of_mlp(const workload::Recomputed& recomputed) {
  for (std::size_t place = workload::place_of(&workload::LayerOperators::mlp_norm);
       place < workload::section_names.size(); ++place)
    if (recomputed.again[place]) return place;
  return std::nullopt;
}

void read_recomputation(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  const auto stages = static_cast<std::size_t>(options.pipeline);
  const auto refuse = [&](const char* key, const std::string& what) {
    diagnostics.error(where_of(table, key), std::string(key) + ": " + what);
  };
  cut.recomputed.assign(stages, recomputed_by(options.recomputation));
  cut.recomputed_layers.assign(stages, options.recomputed_layers);
  const bool has_sections = !options.recomputed_sections.empty();
  const bool has_own = std::ranges::any_of(
      options.stages, [](const auto& stage) { return !stage.recomputation.empty() || stage.recomputed_layers > 0; });
  if ((has_sections || has_own) && !cut.training())
    return refuse(has_sections ? "recomputed_sections" : "stages", "there is no backward pass to recompute for");
  if (has_sections && options.recomputation != Recomputation::none)
    return refuse("recomputed_sections", "\"recomputation\" is given as well, allowed: one of them");
  const char* key = "recomputed_sections";
  try {
    if (has_sections) cut.recomputed.assign(stages, recomputed_of(options.recomputed_sections, *job.model));
    key = "stages";
    if (!options.stages.empty() && options.stages.size() != stages)
      throw InputError(fmt::format("{} stages, allowed: pipeline = {}", options.stages.size(), stages));
    for (std::size_t stage = 0; stage < options.stages.size(); ++stage) {
      const auto& own = options.stages[stage].recomputation;
      if (!own.empty()) cut.recomputed[stage] = recomputed_of(own, *job.model);
      if (options.stages[stage].recomputed_layers >= 0)
        cut.recomputed_layers[stage] = options.stages[stage].recomputed_layers;
    }
  } catch (const InputError& error) {
    return refuse(key, error.what());
  }
  check_layers(cut, refuse);
}

namespace {

/// Of some chunks of a stage.
std::vector<LayerCount> layer_counts(const Cut& cut, std::uint32_t stage, std::uint32_t begin, std::uint32_t end) {
  std::map<std::pair<std::uint32_t, Repeat>, std::int64_t> counts;
  for (std::uint32_t chunk = begin; chunk < end; ++chunk) {
    const std::int64_t first = cut.first_layer(stage, chunk);
    for (std::int64_t i = first; i < cut.end_layer(stage, chunk); ++i)
      ++counts[{workload::kind_of(*cut.model, i), cut.repeat(stage, i - first)}];
  }
  std::vector<LayerCount> found;
  for (const auto& [kind, layers] : counts) found.push_back({kind.first, kind.second, layers});
  return found;
}

}  // namespace

std::vector<LayerCount> layer_counts(const Cut& cut, std::uint32_t stage) {
  return layer_counts(cut, stage, 0, cut.chunks());
}

std::vector<LayerCount> passed_layers(const Cut& cut, std::uint32_t stage) {
  if (cut.twins() == 1) return layer_counts(cut, stage);
  const auto layers = [&](std::uint32_t chunk) { return cut.end_layer(stage, chunk) - cut.first_layer(stage, chunk); };
  const std::uint32_t longer = layers(1) > layers(0) ? 1 : 0;
  return layer_counts(cut, stage, longer, longer + 1);
}

KeptBytes kept_of_layer(const workload::LayerOperators& layer, const Recomputed& recomputed, Repeat repeat) {
  if (repeat == Repeat::group_next) return {};
  return workload::kept_bytes(layer, recomputed);
}

std::string recomputation_text(const Cut& cut, std::size_t stage) {
  const std::string name = name_of(cut.recomputed[stage]);
  const std::int64_t layers = cut.recomputed_layers[stage];
  if (layers == 0 || cut.recomputed[stage].again.none()) return name;
  const bool in_groups = cut.options.recomputation_method == RecomputationMethod::uniform;
  return fmt::format("{} {} {} {}", name, in_groups ? "in groups of" : "of", layers, layers == 1 ? "layer" : "layers");
}

std::string recomputation_text(const Cut& cut) {
  std::vector<std::pair<std::string, int>> runs;
  for (std::size_t stage = 0; stage < cut.recomputed.size(); ++stage) {
    std::string name = recomputation_text(cut, stage);
    if (runs.empty() || runs.back().first != name) runs.emplace_back(std::move(name), 0);
    ++runs.back().second;
  }
  if (runs.size() == 1) return runs.front().first;
  std::vector<std::string> texts;
  for (const auto& [name, times] : runs) texts.push_back(fmt::format("{} x {}", name, times));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace tessera::strategy::megatron
