#include "recomputation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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

/// InputError where no such set can run again.
Recomputed recomputed_of(const std::vector<std::string>& names, const workload::Model& model) {
  if (const std::optional<Recomputed> named = by_name(names)) return *named;
  const Recomputed found{sections_of(names), true};
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind) {
    const std::string problem = problem_of(found, layer_kind(model, kind));
    if (!problem.empty()) throw InputError(problem);
  }
  return found;
}

}  // namespace

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

void read_recomputation(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  const auto stages = static_cast<std::size_t>(options.pipeline);
  const auto refuse = [&](const char* key, const std::string& what) {
    diagnostics.error(where_of(table, key), std::string(key) + ": " + what);
  };
  cut.recomputed.assign(stages, recomputed_by(options.recomputation));
  const bool has_sections = !options.recomputed_sections.empty();
  const bool has_own =
      std::ranges::any_of(options.stages, [](const auto& stage) { return !stage.recomputation.empty(); });
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
    }
  } catch (const InputError& error) {
    refuse(key, error.what());
  }
}

std::string recomputation_text(const Cut& cut) {
  std::vector<std::pair<std::string, int>> runs;
  for (const Recomputed& one : cut.recomputed) {
    std::string name = name_of(one);
    if (runs.empty() || runs.back().first != name) runs.emplace_back(std::move(name), 0);
    ++runs.back().second;
  }
  if (runs.size() == 1) return runs.front().first;
  std::vector<std::string> texts;
  for (const auto& [name, times] : runs) texts.push_back(fmt::format("{} x {}", name, times));
  return fmt::format("{}", fmt::join(texts, "; "));
}

}  // namespace tessera::strategy::megatron
