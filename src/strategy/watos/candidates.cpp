#include "candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "gcmr.hpp"
#include "layers.hpp"
#include "placement.hpp"
#include "prediction.hpp"
#include "replica_sums.hpp"
#include "steps.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::watos {
namespace {

std::vector<std::int64_t> up_to(std::int64_t most) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 1; i <= most; ++i) all.push_back(i);
  return all;
}

/// The rows of cut products that are given; 0: any.
std::int64_t rows_given(const Question& question) {
  const std::vector<std::int64_t> rows = numbers_in(question.table, "tensor_rows");
  return rows.empty() ? 0 : rows.front();
}

/// Splits that the table leaves open for groups of that size.
std::vector<Carrier> carriers(const Question& question, std::int64_t tensor) {
  const std::int64_t rows = rows_given(question);
  if (rows > 1) return {Carrier::both_sides};
  if (tensor == 1) return {Carrier::cut_tokens};
  const config::Value* cut_tokens = question.table.find("sequence_parallel");
  const auto* is_cut = cut_tokens == nullptr ? nullptr : std::get_if<bool>(&cut_tokens->content());
  std::vector<Carrier> found;
  for (const Split& split : splits()) {
    if (split.carrier == Carrier::whole_tokens && is_cut != nullptr && *is_cut) continue;
    if (split.carrier != Carrier::whole_tokens && is_cut != nullptr && !*is_cut) continue;
    const bool is_one_dimension = split.carrier == Carrier::cut_tokens || split.carrier == Carrier::whole_tokens;
    if (rows == 1 && !is_one_dimension) continue;
    found.push_back(split.carrier);
  }
  return found;
}

std::vector<Cut> all_cuts(const Question& question) {
  const std::int64_t devices = question.health.alive();
  const auto values = [&](const char* key, std::int64_t most) {
    const std::vector<std::int64_t> given = numbers_in(question.table, key);
    return given.empty() ? up_to(most) : given;
  };
  std::vector<Cut> cuts;
  for (const std::int64_t tensor : values("tensor", std::min(devices, workload::most_heads(*question.job.model))))
    // One stage at least, so that a group that is too large is among what is out.
    for (const std::int64_t pipeline :
         values("pipeline", std::clamp<std::int64_t>(devices / tensor, 1, question.job.model->layers))) {
      const std::int64_t left = std::max<std::int64_t>(1, devices / (tensor * pipeline));
      const std::vector<std::int64_t> given = numbers_in(question.table, "data");
      for (const std::int64_t data : given.empty() ? std::vector<std::int64_t>{left} : given)
        for (const Carrier carrier : carriers(question, tensor)) cuts.push_back({tensor, pipeline, data, 1, carrier});
    }
  return cuts;
}

std::string size_text(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

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

class Lister {
 public:
  Lister(const Question& question, Pricing& pricing)
      : question_(question),
        job_(question.job),
        pricing_(pricing),
        joints_(std::make_shared<const Joints>(question.job.machine)) {}

  void add(const Cut& cut) {
    if (cut.devices() > question_.health.alive())
      return prune(cut, "", fmt::format("{} dies, and {} work", cut.devices(), question_.health.alive()));
    if (cut.carrier == Carrier::data_parallel)
      return prune(cut, "",
                   fmt::format("a cut of the batch alone is data parallelism: TP 1, DP {}", cut.tensor * cut.data));
    if (cut.carrier == Carrier::nobody) return prune(cut, "", "a cut of tokens alone: " + tokens_alone(cut));
    if (cut.carrier == Carrier::both_sides) return add_both_sides(cut);
    const std::optional<PipelineProfile> profile = profiled(cut, "");
    if (!profile) return;
    const auto needed = static_cast<std::size_t>(cut.pipeline * cut.data);
    const auto all = tilings(job_.machine, question_.health, static_cast<int>(cut.tensor), needed);
    if (all.empty()) prune(cut, "", fmt::format("no {} places of {} live dies", needed, cut.tensor));
    for (const Tiling& tiling : all) add(cut, tiling, *profile);
  }
  std::vector<Candidate> take() { return std::move(found_); }

 private:
  void prune(const Cut& cut, const std::string& tile, std::string why, std::int64_t missing = 0) {
    Candidate one;
    one.cut = cut;
    one.tile = tile;
    one.pruned = std::move(why);
    one.missing = missing;
    found_.push_back(std::move(one));
  }

  /// Nothing where the cut is out.
  [[nodiscard]] std::optional<PipelineProfile> profiled(const Cut& cut, const std::string& tile) {
    const TablePointer table = with_cut(question_.table, cut, {});
    if (const std::string problem = problem_with(question_.cut, *table, job_); !problem.empty()) {
      prune(cut, tile, problem);
      return std::nullopt;
    }
    PipelineProfile profile = profile_with(question_.cut, *table, job_);
    const Verdict out = state_too_large(profile, job_);
    if (out.why.empty()) return profile;
    prune(cut, tile, out.why, out.missing);
    return std::nullopt;
  }

  /// Why tokens cannot be cut alone: weights are whole then on each die.
  [[nodiscard]] std::string tokens_alone(const Cut& cut) {
    const auto [known, added] = whole_.try_emplace(cut.pipeline);
    if (added) {
      const TablePointer table = with_cut(question_.table, {1, cut.pipeline, 1}, {});
      known->second = "no strategy here runs it";
      if (problem_with(question_.cut, *table, job_).empty())
        if (const Verdict out = state_too_large(question_.cut.profile(*table, job_), job_); !out.why.empty())
          known->second = out.why;
    }
    return known->second;
  }

  /// In tiles of two columns and two rows at least, as many rows as theirs: those that are given, where they are.
  void add_both_sides(const Cut& one) {
    const auto needed = static_cast<std::size_t>(one.pipeline * one.data);
    const std::int64_t rows = rows_given(question_);
    bool has_tile = false;
    for (const Tiling& tiling : tilings(job_.machine, question_.health, static_cast<int>(one.tensor), needed)) {
      if (tiling.tile.columns < 2 || tiling.tile.rows < 2) continue;
      if (rows != 0 && tiling.tile.rows != rows) continue;
      has_tile = true;
      Cut cut = one;
      cut.rows = tiling.tile.rows;
      if (const std::optional<PipelineProfile> profile = profiled(cut, tiling.name))
        add(cut, by_rows(job_.machine, question_.health, tiling), *profile);
    }
    if (rows == 0 || has_tile) return;
    Cut without = one;
    without.rows = rows;
    prune(without, "",
          fmt::format("no {} places of {} live dies in {} rows and two columns", needed, one.tensor, rows));
  }

  void add(const Cut& cut, const Tiling& tiling, const PipelineProfile& profile) {
    if (std::string problem = odd_problem(profile, tiling.places.front(), job_); !problem.empty())
      return prune(cut, tiling.name, std::move(problem));
    const auto replicas = static_cast<std::uint32_t>(cut.data);
    Candidate one;
    one.cut = cut;
    one.tile = tiling.name;
    one.plain = make_problem(profile, tiling.places, replicas, job_, pricing_);
    one.named = one.plain;
    Time best = never;
    for (const std::vector<std::uint16_t>& start : starts(one.plain.problem)) {
      NamedProblem balanced = Layers(question_, pricing_).at(cut, one.plain, start);
      const bool fits = pool_too_small(balanced.problem).why.empty();
      const Time time = fits ? predicted(balanced.problem, at_start(balanced.problem)) : never;
      if (time < best) one.named = std::move(balanced);
      best = std::min(best, time);
    }
    price_sums(profile, joints_, pricing_, one.plain.problem);
    price_sums(profile, joints_, pricing_, one.named.problem);
    const Verdict out = pool_too_small(one.named.problem);
    one.pruned = out.why;
    one.missing = out.missing;
    found_.push_back(std::move(one));
  }

  const Question& question_;
  const Job& job_;
  Pricing& pricing_;
  std::shared_ptr<const Joints> joints_;
  std::vector<Candidate> found_;
  std::map<std::int64_t, std::string> whole_;  // why weights are not whole on a die, by pipeline
};

}  // namespace

Verdict pool_too_small(const Problem& problem) {
  Int128 sum = 0;
  for (std::size_t stage = 0; stage < problem.count(); ++stage) {
    std::int64_t least = impossible, need = impossible;
    for (const std::size_t set : problem.stages[stage].front) {
      const StageProblem& one = problem.stages[stage];
      least = std::min(least, demand(problem, stage, set));
      need = std::min(need, one.fixed[set] + one.in_flight * one.kept[set]);
    }
    if (least == impossible)
      return {fmt::format("stage {} needs {} of {} a die and cannot lend as much as it lacks, whatever it runs again",
                          stage, size_text(need), size_text(problem.memory)),
              need - problem.memory};
    sum += least;
  }
  if (sum <= 0) return {};
  const auto missing = static_cast<std::int64_t>(sum / static_cast<Int128>(problem.count())) + 1;
  return {fmt::format("with as little kept as may be and memory lent, {} a die are missing", size_text(missing)),
          missing};
}

Verdict state_too_large(const PipelineProfile& profile, const Job& job) {
  const std::int64_t memory = job.machine.device.usable_memory().value();
  for (std::size_t stage = 0; stage < profile.stages.size(); ++stage) {
    const std::int64_t held = profile.stages[stage].held;
    if (held > memory)
      return {fmt::format("weights, gradients, optimizer and buffers of stage {} need {} of {} a die", stage,
                          size_text(held), size_text(memory)),
              held - memory};
  }
  return {};
}

std::string Candidate::text() const {
  std::string found = text_of(cut);
  if (!tile.empty()) found += ", " + tile;
  if (left_out > 0) found += fmt::format(", {} slow die{} left out", left_out, left_out == 1 ? "" : "s");
  return found;
}

std::vector<Candidate> all_candidates(const Question& question, Pricing& pricing) {
  Lister lister(question, pricing);
  for (const Cut& cut : all_cuts(question)) {
    question.job.evaluations.go_on();
    lister.add(cut);
  }
  return lister.take();
}

}  // namespace tessera::strategy::watos
