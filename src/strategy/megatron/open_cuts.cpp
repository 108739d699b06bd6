#include "open_cuts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "tessera/program/schedule.hpp"

namespace tessera::strategy::megatron {
namespace {

using config::Diagnostics;
using config::Table;

constexpr std::size_t most_candidates = 10'000'000;
constexpr std::size_t combinations_per_look = 256;  ///< at the clock, and at signals

/// One key that may be open: what it may be, given those before it, and how its value goes into options.
struct Dimension {
  std::vector<Options> values;  ///< with this key's value; empty: of numbers that depend on those before it
  std::int64_t Options::*number = nullptr;
  void (*copy)(const Options& from, Options& to) = nullptr;
  std::vector<std::int64_t> (*numbers)(const Options& so_far, const Job& job, std::int64_t devices) = nullptr;
};

/// From 1 on, what `fits`.
template <class Fits>
std::vector<std::int64_t> numbers_to(std::int64_t most, const Fits& fits) {
  std::vector<std::int64_t> found;
  for (std::int64_t i = 1; i <= most; ++i)
    if (fits(i)) found.push_back(i);
  return found;
}

bool shares_out(const Options& options, std::int64_t parts, std::int64_t devices) {
  return options.idle_devices || devices % parts == 0;
}

std::vector<std::int64_t> tensors(const Options& so_far, const Job& job, std::int64_t devices) {
  const std::int64_t most = std::min(devices, workload::most_heads(*job.model));
  return numbers_to(most, [&](std::int64_t t) { return shares_out(so_far, t, devices); });
}

std::vector<std::int64_t> pipelines(const Options& so_far, const Job& job, std::int64_t devices) {
  const std::int64_t most = std::min(devices / so_far.tensor, job.model->layers + 2);  // with ends without layers
  return numbers_to(most, [&](std::int64_t p) { return shares_out(so_far, p * so_far.tensor, devices); });
}

std::vector<std::int64_t> contexts(const Options& so_far, const Job& job, std::int64_t devices) {
  const std::int64_t inner = so_far.tensor * so_far.pipeline;
  const std::int64_t most = std::min(devices / inner, job.workload.sequence / 2);
  return numbers_to(most, [&](std::int64_t c) {
    return shares_out(so_far, c * inner, devices) && (c == 1 || job.workload.sequence % (2 * c) == 0);
  });
}

std::vector<std::int64_t> replicas(const Options& so_far, const Job&, std::int64_t devices) {
  const std::int64_t most = devices / (so_far.tensor * so_far.context_parallel * so_far.pipeline);
  return so_far.idle_devices ? numbers_to(most, [](std::int64_t) { return true; }) : std::vector<std::int64_t>{most};
}

/// Where data is not given, how many replicas there are is only known with all of the cut: more than fit it here.
std::vector<std::int64_t> micro_batches(const Options& so_far, const Job& job, std::int64_t) {
  const std::int64_t data = std::max<std::int64_t>(1, so_far.data);
  const std::int64_t batch = job.workload.global_batch;
  if (so_far.streams_weights()) return numbers_to(batch / data, [&](std::int64_t b) { return batch % b == 0; });
  if (batch % data != 0) return {};
  return numbers_to(batch / data, [&](std::int64_t b) { return batch / data % b == 0; });
}

std::vector<std::int64_t> interleaves(const Options& so_far, const Job& job, std::int64_t) {
  const std::int64_t layers = job.model->layers;
  return numbers_to(layers / so_far.pipeline + 2, [&](std::int64_t v) {
    return so_far.spread_layers || !so_far.stage_layers.empty() || layers % (v * so_far.pipeline) == 0;
  });
}

/// From all, which is 0, to all but one of the longest chunk.
std::vector<std::int64_t> recomputed_layers(const Options& so_far, const Job& job, std::int64_t) {
  const std::int64_t chunks = so_far.pipeline * so_far.interleave;
  const std::int64_t most = so_far.stage_layers.empty() ? (job.model->layers + chunks - 1) / chunks
                                                        : *std::ranges::max_element(so_far.stage_layers);
  std::vector<std::int64_t> found = {0};
  for (std::int64_t i = 1; i < most; ++i) found.push_back(i);
  return found;
}

/// All, which is 0, or groups of them. Where devices may be left out, how many there are is only known with all of the
/// cut: more than divide it here.
std::vector<std::int64_t> shard_ranks(const Options& so_far, const Job&, std::int64_t devices) {
  std::vector<std::int64_t> found = {0};
  const std::int64_t most = devices / (so_far.tensor * so_far.pipeline);
  const std::int64_t copies = so_far.data > 0 ? so_far.copies() : so_far.idle_devices ? 0 : most;
  for (std::int64_t i = 2; i <= (copies > 0 ? copies : most) / 2; ++i)
    if (copies == 0 || copies % i == 0) found.push_back(i);
  return found;
}

std::vector<std::int64_t> expert_parallels(const Options&, const Job& job, std::int64_t) {
  std::int64_t experts = 0;  // that all kinds of layers with experts have together
  for (std::uint32_t kind = 0; kind < layer_kinds(*job.model); ++kind)
    experts = std::gcd(experts, layer_kind(*job.model, kind).experts);
  return numbers_to(std::max<std::int64_t>(1, experts), [&](std::int64_t e) { return experts % e == 0; });
}

template <auto member>
void copy_member(const Options& from, Options& to) {
  to.*member = from.*member;
}

/// In the order of keys.
std::vector<std::pair<std::string, Dimension>> all_dimensions() {
  using O = Options;
  return {{"tensor", {{}, &O::tensor, copy_member<&O::tensor>, tensors}},
          {"pipeline", {{}, &O::pipeline, copy_member<&O::pipeline>, pipelines}},
          {"context_parallel", {{}, &O::context_parallel, copy_member<&O::context_parallel>, contexts}},
          {"data", {{}, &O::data, copy_member<&O::data>, replicas}},
          {"micro_batch", {{}, &O::micro_batch, copy_member<&O::micro_batch>, micro_batches}},
          {"interleave", {{}, &O::interleave, copy_member<&O::interleave>, interleaves}},
          {"schedule", {{}, nullptr, copy_member<&O::schedule>}},
          {"recomputation", {{}, nullptr, copy_member<&O::recomputation>}},
          {"recomputed_layers", {{}, &O::recomputed_layers, copy_member<&O::recomputed_layers>, recomputed_layers}},
          {"sequence_parallel", {{}, nullptr, copy_member<&O::sequence_parallel>}},
          {"distributed_optimizer", {{}, nullptr, copy_member<&O::distributed_optimizer>}},
          {"overlap_gradient_reduction", {{}, nullptr, copy_member<&O::overlap_gradient_reduction>}},
          {"data_sharding", {{}, nullptr, copy_member<&O::data_sharding>}},
          {"shard_ranks", {{}, &O::shard_ranks, copy_member<&O::shard_ranks>, shard_ranks}},
          {"expert_parallel", {{}, &O::expert_parallel, copy_member<&O::expert_parallel>, expert_parallels}}};
}

/// Programs are the same where their canonical keys are.
class Canonical {
 public:
  using Key = std::tuple<std::array<std::int64_t, 9>, std::string, std::array<int, 5>>;

  Key operator()(const Cut& cut) {
    const Options& o = cut.options;
    const bool reduces = cut.training() && (cut.holders() > 1 || cut.expert_replicas() > 1);
    return {{o.tensor, o.context_parallel, o.pipeline, o.data, o.micro_batch, o.interleave, o.expert_parallel,
             repeated_layers(cut), o.shard_ranks},
            schedule(cut),
            {static_cast<int>(o.recomputation), static_cast<int>(cut.uses_sequence_parallelism()),
             static_cast<int>(o.data_sharding), static_cast<int>(reduces && o.distributed_optimizer),
             static_cast<int>(reduces && o.overlap_gradient_reduction)}};
  }

 private:
  /// As many as the longest chunk has are all of them.
  static std::int64_t repeated_layers(const Cut& cut) {
    const std::int64_t layers = cut.options.recomputed_layers;
    if (cut.options.recomputation_method == RecomputationMethod::uniform) return layers;
    std::int64_t most = 0;
    for (std::size_t i = 1; i < cut.chunk_begin.size(); ++i)
      most = std::max(most, cut.chunk_begin[i] - cut.chunk_begin[i - 1]);
    return layers < most ? layers : 0;
  }

  using Shape = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string>;

  /// The first order that does the same on all stages.
  const std::string& schedule(const Cut& cut) {
    const program::PipelineShape shape{static_cast<std::uint32_t>(cut.options.pipeline),
                                       static_cast<std::uint32_t>(cut.options.interleave),
                                       static_cast<std::uint32_t>(cut.micro_batches), cut.training()};
    const std::string own = cut.workload->phase == workload::Phase::generation ? "" : cut.options.schedule;
    const auto [known, added] = known_.try_emplace({shape.stages, shape.chunks, shape.micro_batches, own}, own);
    if (!added || own.empty()) return known->second;
    for (const program::PipelineOrder& order : program::pipeline_orders()) {
      if (order.name == own) break;
      if (order.check(shape).empty() && is_same(order, *program::find_pipeline_order(own), shape)) {
        known->second = order.name;
        break;
      }
    }
    return known->second;
  }

  /// Orders differ on the last stage first, where they differ at all.
  static bool is_same(const program::PipelineOrder& a, const program::PipelineOrder& b,
                      const program::PipelineShape& shape) {
    for (std::uint32_t stage = shape.stages; stage-- > 0;)
      if (a.actions(shape, stage) != b.actions(shape, stage)) return false;
    return true;
  }

  std::map<Shape, std::string> known_;
};

class Enumeration {
 public:
  Enumeration(const Table& table, const Job& job, const Options& given) : table_(table), job_(job), given_(given) {
    for (machine::NodeId device = 0; device < job.machine.accelerators(); ++device)
      devices_ += job.machine.speed[device] > 0 ? 1 : 0;
  }

  void add(Dimension dimension) { open_.push_back(std::move(dimension)); }

  std::vector<Options> all() {
    next(0, given_);
    return std::move(found_);
  }
  [[nodiscard]] std::size_t combinations() const { return combinations_; }
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  /// Where nothing is accepted: what is wrong with all combinations alike, or null.
  [[nodiscard]] const Diagnostics* common() const { return combinations_ > 0 && is_alike_ ? &refused_ : nullptr; }

 private:
  void next(std::size_t dimension, const Options& so_far) {
    if (found_.size() > most_candidates || is_cut_off_ || is_enough()) return;
    if (dimension == open_.size()) return take(so_far);
    const Dimension& open = open_[dimension];
    Options options = so_far;
    for (const Options& value : open.values) {
      open.copy(value, options);
      next(dimension + 1, options);
    }
    if (!open.values.empty()) return;
    for (const std::int64_t number : open.numbers(so_far, job_, devices_)) {
      options.*open.number = number;
      next(dimension + 1, options);
    }
  }

  /// Something can be searched: what it is need not be known yet.
  [[nodiscard]] bool is_enough() const { return job_.is_searched_next && !found_.empty(); }

  void take(const Options& options) {
    if (++combinations_ % combinations_per_look == 0) look_up();
    Diagnostics checked;
    const Cut cut = make_cut(options, table_, job_, checked);
    if (checked.ok() && seen_.insert(canonical_(cut)).second) found_.push_back(cut.options);
    if (checked.ok()) return;
    if (combinations_ == 1) refused_ = checked;
    is_alike_ = is_alike_ && checked.errors() == refused_.errors();
  }

  void look_up() {
    job_.evaluations.go_on();
    is_cut_off_ = job_.evaluations.is_over();
    job_.evaluations.has_listed(found_.size());
  }

  const Table& table_;
  const Job& job_;
  const Options& given_;
  std::int64_t devices_ = 0;  // that work
  std::vector<Dimension> open_;
  std::vector<Options> found_;
  Canonical canonical_;
  std::set<Canonical::Key> seen_;
  std::size_t combinations_ = 0;
  Diagnostics refused_;  // the first combination
  bool is_alike_ = true;
  bool is_cut_off_ = false;
};

/// Those of a list, or all of a boolean or a choice; none of a number.
std::vector<Options> values_of(const config::OpenKey& open) {
  std::vector<Options> values;
  for (const config::Value& value : open.allowed.empty() ? options_schema().values_of(open.key) : open.allowed) {
    Table one;
    one.set(open.key, value);
    Diagnostics read;
    const Options options = options_schema().read(one, read);
    // What "auto" stands for is among the others.
    if (open.key == "schedule" && open.allowed.empty() && options.schedule == "auto") continue;
    values.push_back(options);
  }
  return values;
}

}  // namespace

OpenCuts open_cuts(const Table& table, const Job& job, Diagnostics& diagnostics) {
  Diagnostics reading;
  const Options given = options_schema().read(table, reading);
  diagnostics.add(reading);
  OpenCuts cuts;
  if (!reading.ok()) return cuts;
  const std::vector<config::OpenKey> open = options_schema().open_keys(table);
  if (given.sublayers != "operators") {
    diagnostics.error(open.front().where,
                      fmt::format("\"{}\" is open, and sublayers = \"{}\" has no lower bound by which a cut could be "
                                  "proven the fastest, allowed: sublayers = \"operators\"",
                                  open.front().key, given.sublayers));
    return cuts;
  }
  Enumeration combinations(table, job, given);
  for (auto& [key, dimension] : all_dimensions()) {
    const auto found = std::ranges::find(open, key, &config::OpenKey::key);
    if (found == open.end()) continue;
    dimension.values = values_of(*found);
    combinations.add(std::move(dimension));
    cuts.keys.push_back(key);
  }
  cuts.candidates = combinations.all();
  cuts.is_cut_off = combinations.is_cut_off();
  if (cuts.is_cut_off) return cuts;
  const std::string keys = fmt::format("{}", fmt::join(cuts.keys, ", "));
  if (cuts.candidates.empty() && combinations.common() != nullptr) {
    diagnostics.add(*combinations.common());
  } else if (cuts.candidates.empty()) {
    diagnostics.error(open.front().where, fmt::format("none of {} combinations of {} cuts {} over the {} devices of {}",
                                                      combinations.combinations(), keys, job.model->name,
                                                      job.machine.accelerators(), job.machine.name));
  } else if (const std::string problem = too_many(cuts); !problem.empty()) {
    diagnostics.error(open.front().where, problem);
  }
  return cuts;
}

std::string too_many(const OpenCuts& cuts) {
  if (cuts.candidates.size() <= most_candidates) return {};
  return fmt::format("more than {} combinations of {}: lists of values make fewer", most_candidates,
                     fmt::join(cuts.keys, ", "));
}

std::string open_text(const Table& table, const Job& job, Diagnostics& diagnostics) {
  const OpenCuts cuts = open_cuts(table, job, diagnostics);
  if (!diagnostics.ok()) return {};
  if (job.is_searched_next) return fmt::format("candidates for {}", fmt::join(cuts.keys, ", "));
  const std::size_t count = cuts.candidates.size();
  return fmt::format("{} {} for {}", count, count == 1 ? "candidate" : "candidates", fmt::join(cuts.keys, ", "));
}

}  // namespace tessera::strategy::megatron
