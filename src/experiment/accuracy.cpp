#include "accuracy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using config::Table;
using config::Value;

bool is_of(const Value& jobs, const std::string& recipe) {
  const Value* name = jobs.table() == nullptr ? nullptr : jobs.table()->find("recipe");
  return name != nullptr && name->string() != nullptr && *name->string() == recipe;
}

bool is_of_kind(const MeasuredJobs& jobs, const Experiment& experiment) {
  const bool is_moe = experiment.model && has_experts(*experiment.model);
  if (experiment.model && is_diffusion(*experiment.model)) return false;
  if (experiment.model && !other_mixer(*experiment.model).empty()) return false;  // all of them have attention
  constexpr std::int64_t measured_in = 2;                                         // B: FP16 and BF16
  return experiment.workload.phase == workload::Phase::training &&
         workload::bytes_per_element(experiment.workload.datatype) == measured_in &&
         jobs.device == experiment.machine.device.name && jobs.experts == is_moe;
}

}  // namespace

void add_measured_jobs(Table& root, const fs::path& recipe, InputFiles& files, config::Diagnostics& diagnostics) {
  const fs::path path = recipe.parent_path().parent_path() / "measured" / "accuracy.toml";
  if (!files.is_file(path)) return;
  const std::shared_ptr<Table> all = config::parse_toml(files.read(path).value_or(""), path.string(), diagnostics);
  const Value* jobs = all == nullptr ? nullptr : all->find("measured");
  if (jobs == nullptr || jobs->array() == nullptr) return;
  std::vector<Value> own;
  std::ranges::copy_if(*jobs->array(), std::back_inserter(own),
                       [&](const Value& one) { return is_of(one, recipe.stem().string()); });
  if (!own.empty()) root.set("measured", {own, jobs->where()});
}

std::string accuracy_text(const std::vector<MeasuredJobs>& measured, const Experiment& experiment) {
  if (measured.empty()) return "no measured jobs of this stack";
  const auto found = std::ranges::find_if(measured, [&](const auto& jobs) { return is_of_kind(jobs, experiment); });
  if (found == measured.end()) return "no measured jobs of this kind";
  return fmt::format("jobs of this kind were within {:.1f} % of {} measured, {:.1f} % in the mean", found->greatest,
                     found->jobs, found->mean);
}

}  // namespace tessera::experiment
