#include "candidates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "gcmr.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::watos {
namespace {

/// The values of an open key's list; empty: any.
std::vector<std::int64_t> listed(const config::Table& table, const char* key) {
  const config::Value* value = table.find(key);
  std::vector<std::int64_t> found;
  if (value == nullptr) return found;
  if (const auto* number = std::get_if<std::int64_t>(&value->content())) found.push_back(*number);
  if (const config::Array* array = value->array())
    for (const config::Value& one : *array)
      if (const auto* number = std::get_if<std::int64_t>(&one.content())) found.push_back(*number);
  return found;
}

std::vector<std::int64_t> up_to(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 1; i <= most; ++i) all.push_back(i);
  return all;
}

std::int64_t live_devices(const machine::Machine& machine) {
  std::int64_t count = 0;
  for (machine::NodeId device = 0; device < machine.accelerators(); ++device) count += machine.alive(device) ? 1 : 0;
  return count;
}

std::vector<Cut> all_cuts(const Question& question) {
  const std::int64_t devices = live_devices(question.job.machine);
  const auto values = [&](const char* key, std::int64_t most) {
    const std::vector<std::int64_t> given = listed(question.table, key);
    return given.empty() ? up_to(most) : given;
  };
  std::vector<Cut> cuts;
  for (const std::int64_t tensor : values("tensor", std::min(devices, question.job.model->heads)))
    for (const std::int64_t pipeline : values("pipeline", std::min(devices / tensor, question.job.model->layers))) {
      const std::int64_t left = std::max<std::int64_t>(1, devices / (tensor * pipeline));
      const std::vector<std::int64_t> given = listed(question.table, "data");
      for (const std::int64_t data : given.empty() ? std::vector<std::int64_t>{left} : given)
        cuts.push_back({tensor, pipeline, data});
    }
  return cuts;
}

std::string size_text(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

/// Of what stays from the first to the last moment: line 1 of the algorithm. Empty: it fits.
std::string state_too_large(const PipelineProfile& profile, const Job& job) {
  const std::int64_t memory = job.machine.device.usable_memory().value();
  for (std::size_t stage = 0; stage < profile.stages.size(); ++stage) {
    const std::int64_t held = profile.stages[stage].held;
    if (held > memory)
      return fmt::format("weights, gradients, optimizer and buffers of stage {} need {} of {} a die", stage,
                         size_text(held), size_text(memory));
  }
  return {};
}

/// Even if all that can run again does, and all dies' memory is one. Empty: it fits.
std::string pool_too_small(const Problem& problem) {
  Int128 sum = 0;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    std::int64_t least = impossible;
    for (const std::size_t set : problem.stages[stage].front) least = std::min(least, demand(problem, stage, set));
    if (least == impossible)
      return fmt::format("stage {} cannot lend as much as it lacks, whatever it runs again", stage);
    sum += least;
  }
  if (sum <= 0) return {};
  return fmt::format("with everything run again and memory lent, {} are missing on {} dies",
                     size_text(static_cast<std::int64_t>(sum)), problem.count());
}

/// An odd group, and a collective that does not take it. Empty: there is none.
std::string odd_problem(const PipelineProfile& profile, const Place& place, const Job& job) {
  if (place.devices.size() % 2 == 0 || place.devices.size() == 1) return {};
  const program::Group group{place.devices};
  for (const LayerProfile& layer : profile.layers) {
    for (const GroupWork& one : layer.forward().collectives) {
      if (one.ranks.size() != place.devices.size()) continue;
      const program::CollectiveAlgorithm& algorithm = algorithm_of(one.collective.algorithm);
      const std::string problem = algorithm.check(one.collective, group, job.machine);
      if (!problem.empty()) return fmt::format("{} of {} dies: {}", algorithm.name(), place.devices.size(), problem);
    }
  }
  return {};
}

std::vector<std::int64_t> layers_of(const PipelineProfile& profile) {
  std::vector<std::int64_t> layers;
  for (const StageProfile& stage : profile.stages) layers.push_back(stage.layers[dense_layer] + stage.layers[moe_layer]);
  return layers;
}

}  // namespace

std::vector<Candidate> all_candidates(const Question& question, Pricing& pricing) {
  const Job& job = question.job;
  std::vector<Candidate> found;
  for (const Cut& cut : all_cuts(question)) {
    Candidate one;
    one.cut = cut;
    const auto prune = [&](std::string why) {
      one.pruned = std::move(why);
      found.push_back(one);
    };
    if (cut.devices() > live_devices(job.machine)) {
      prune(fmt::format("{} dies, and {} work", cut.devices(), live_devices(job.machine)));
      continue;
    }
    const TablePointer table = with_cut(question.table, cut, {});
    if (const std::string problem = problem_with(question.cut, *table, job); !problem.empty()) {
      prune(problem);
      continue;
    }
    const PipelineProfile profile = question.cut.profile(*table, job);
    one.layers = layers_of(profile);
    if (const std::string problem = state_too_large(profile, job); !problem.empty()) {
      prune(problem);
      continue;
    }
    const auto needed = static_cast<std::size_t>(cut.pipeline * cut.data);
    const std::vector<Tiling> all = tilings(job.machine, static_cast<int>(cut.tensor), needed);
    if (all.empty()) prune(fmt::format("no {} places of {} live dies", needed, cut.tensor));
    for (const Tiling& tiling : all) {
      one.tile = tiling.name;
      if (const std::string problem = odd_problem(profile, tiling.places.front(), job); !problem.empty()) {
        prune(problem);
        continue;
      }
      Candidate full = one;
      full.named = make_problem(profile, tiling.places, static_cast<std::uint32_t>(cut.data), job, pricing);
      full.pruned = pool_too_small(full.named.problem);
      found.push_back(std::move(full));
    }
  }
  return found;
}

}  // namespace tessera::strategy::watos
