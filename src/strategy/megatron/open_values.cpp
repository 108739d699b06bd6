#include "open_values.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>

#include "recomputation.hpp"
#include "section_sets.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::strategy::megatron {
namespace {

using config::Diagnostics;
using Numbers = std::vector<std::int64_t>;

/// From 1 on, what `fits`.
template <class Fits>
Numbers numbers_to(std::int64_t most, const Fits& fits) {
  Numbers found;
  for (std::int64_t i = 1; i <= most; ++i)
    if (fits(i)) found.push_back(i);
  return found;
}

bool shares_out(const SoFar& so_far, std::int64_t parts) {
  return so_far.options.idle_devices || so_far.devices % parts == 0;
}

Numbers tensors(const SoFar& so_far) {
  const std::int64_t most = std::min(so_far.devices, workload::most_heads(*so_far.job.model));
  return numbers_to(most, [&](std::int64_t t) { return shares_out(so_far, t); });
}

Numbers pipelines(const SoFar& so_far) {
  const std::int64_t t = so_far.options.tensor;
  const std::int64_t most = std::min(so_far.devices / t, so_far.job.model->layers + 2);  // with ends without layers
  return numbers_to(most, [&](std::int64_t p) { return shares_out(so_far, p * t); });
}

Numbers contexts(const SoFar& so_far) {
  const std::int64_t inner = so_far.options.tensor * so_far.options.pipeline;
  const std::int64_t sequence = so_far.job.workload.sequence;
  return numbers_to(std::min(so_far.devices / inner, sequence / 2), [&](std::int64_t c) {
    return shares_out(so_far, c * inner) && (c == 1 || sequence % (2 * c) == 0);
  });
}

Numbers replicas(const SoFar& so_far) {
  const Options& options = so_far.options;
  const std::int64_t most = so_far.devices / (options.tensor * options.context_parallel * options.pipeline);
  return options.idle_devices ? numbers_to(most, [](std::int64_t) { return true; }) : Numbers{most};
}

/// Where data is not given, how many replicas there are is only known with all of the cut: more than fit it here.
Numbers micro_batches(const SoFar& so_far) {
  const std::int64_t data = std::max<std::int64_t>(1, so_far.options.data);
  const std::int64_t batch = so_far.job.workload.global_batch;
  if (so_far.options.streams_weights()) return numbers_to(batch / data, [&](std::int64_t b) { return batch % b == 0; });
  if (batch % data != 0) return {};
  return numbers_to(batch / data, [&](std::int64_t b) { return batch / data % b == 0; });
}

Numbers interleaves(const SoFar& so_far) {
  const Options& options = so_far.options;
  const std::int64_t layers = so_far.job.model->layers;
  return numbers_to(layers / options.pipeline + 2, [&](std::int64_t v) {
    return options.spread_layers || !options.stage_layers.empty() || layers % (v * options.pipeline) == 0;
  });
}

/// From all, which is 0, to all but one of the longest chunk; groups are as large as that chunk as well.
Numbers recomputed_layers(const SoFar& so_far) {
  const Options& options = so_far.options;
  const std::int64_t chunks = options.pipeline * options.interleave;
  const std::int64_t most = options.stage_layers.empty() ? (so_far.job.model->layers + chunks - 1) / chunks
                                                         : *std::ranges::max_element(options.stage_layers);
  const bool in_groups = options.recomputation_method == RecomputationMethod::uniform;
  Numbers found = {0};
  for (std::int64_t i = 1; i < most + (in_groups ? 1 : 0); ++i) found.push_back(i);
  return found;
}

/// All, which is 0, or groups of them. Where devices may be left out, how many there are is only known with all of the
/// cut: more than divide it here.
Numbers shard_ranks(const SoFar& so_far) {
  const Options& options = so_far.options;
  const std::int64_t most = so_far.devices / (options.tensor * options.pipeline);
  const std::int64_t copies = options.data > 0 ? options.copies() : options.idle_devices ? 0 : most;
  Numbers found = {0};
  for (std::int64_t i = 2; i <= (copies > 0 ? copies : most) / 2; ++i)
    if (copies == 0 || copies % i == 0) found.push_back(i);
  return found;
}

/// None, and 1, 2, 4 and so on of the layers of a stage but one; what has no such units has the default.
Numbers gathers_ahead(const SoFar& so_far) {
  const Options& options = so_far.options;
  if (!options.shards_parameters() && !options.streams_weights()) return {Options().gather_ahead};
  const std::int64_t layers = (so_far.job.model->layers + options.pipeline - 1) / options.pipeline;
  Numbers found = {0, 1};
  for (std::int64_t ahead = 2; ahead < layers; ahead *= 2) found.push_back(ahead);
  return found;
}

Numbers expert_parallels(const SoFar& so_far) {
  const workload::Model& model = *so_far.job.model;
  std::int64_t experts = 0;  // that all kinds of layers with experts have together
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    experts = std::gcd(experts, layer_kind(model, kind).experts);
  return numbers_to(std::max<std::int64_t>(1, experts), [&](std::int64_t e) { return experts % e == 0; });
}

/// All tensor ranks, which is 0, or fewer.
Numbers expert_tensors(const SoFar& so_far) {
  Numbers found = {0};
  if (!has_experts(*so_far.job.model)) return found;
  for (std::int64_t i = 1; i < so_far.options.tensor; ++i)
    if (so_far.options.tensor % i == 0) found.push_back(i);
  return found;
}

/// Sets of sections of each combination: what layers keep and repeat does not depend on all keys.
class SectionValues {
 public:
  std::vector<Options> operator()(const SoFar& so_far) {
    std::vector<Options> values;
    for (const auto& names : sets(so_far)) {
      values.push_back(so_far.options);
      values.back().recomputed_sections = names;
    }
    return values;
  }

 private:
  using Sets = std::vector<std::vector<std::string>>;
  using Shape = std::array<std::int64_t, 13>;

  Sets sets(const SoFar& so_far) {
    const Options& o = so_far.options;
    if (o.recomputation_method == RecomputationMethod::uniform) return {{"none"}, {"full"}};  // it repeats whole layers
    const program::PipelineOrder* order = program::find_pipeline_order(o.schedule);
    const Shape shape = {o.tensor,
                         o.context_parallel,
                         o.pipeline,
                         o.data,
                         o.micro_batch,
                         o.expert_parallel,
                         o.expert_tensor,
                         static_cast<std::int64_t>(o.context_exchange),
                         static_cast<std::int64_t>(o.sequence_parallel),
                         static_cast<std::int64_t>(o.data_sharding),
                         static_cast<std::int64_t>(o.once_a_node),
                         static_cast<std::int64_t>(o.overlap_shared_experts),
                         order != nullptr && order->combines ? 1 : 0};
    if (const auto known = known_.find(shape); known != known_.end()) return known->second;
    const std::optional<Sets> sets = found(so_far);
    if (!sets) return {{"none"}};  // perhaps for a key that is not in the shape: others may have them
    return known_.emplace(shape, *sets).first->second;
  }

  /// Nothing where the cut is refused whatever runs again.
  static std::optional<Sets> found(const SoFar& so_far) {
    for (const char* any : {"none", "full"}) {  // stages with layers of their own want something to run again
      Options options = so_far.options;
      options.recomputed_sections = {any};
      options.recomputed_layers = 0;
      Diagnostics checked;
      const Cut cut = make_cut(options, so_far.table, so_far.job, checked);
      if (checked.ok()) return unbeaten_sets(cut, so_far.job);
    }
    return std::nullopt;
  }

  std::map<Shape, Sets> known_;
};

using Values = std::function<std::vector<Options>(const SoFar&)>;

struct Declared {
  const char* key;
  void (*copy)(const Options& from, Options& to);
  Values values;  ///< of "any"; empty: all of the boolean or the choice
};

template <auto member>
Declared fixed(const char* key) {
  return {key, [](const Options& from, Options& to) { to.*member = from.*member; }, {}};
}

template <auto member>
Declared number(const char* key, Numbers (*numbers)(const SoFar&)) {
  Declared made = fixed<member>(key);
  made.values = [numbers](const SoFar& so_far) {
    std::vector<Options> values;
    for (const std::int64_t one : numbers(so_far)) {
      values.push_back(so_far.options);
      values.back().*member = one;
    }
    return values;
  };
  return made;
}

/// Each behind those on which its values depend.
std::vector<Declared> all_keys() {
  using O = Options;
  Declared sections = fixed<&O::recomputed_sections>("recomputed_sections");
  sections.values = SectionValues();
  return {number<&O::tensor>("tensor", tensors),
          number<&O::pipeline>("pipeline", pipelines),
          number<&O::context_parallel>("context_parallel", contexts),
          fixed<&O::context_exchange>("context_exchange"),
          number<&O::data>("data", replicas),
          number<&O::micro_batch>("micro_batch", micro_batches),
          number<&O::interleave>("interleave", interleaves),
          fixed<&O::schedule>("schedule"),
          fixed<&O::recomputation>("recomputation"),
          fixed<&O::recomputation_method>("recomputation_method"),
          number<&O::recomputed_layers>("recomputed_layers", recomputed_layers),
          fixed<&O::sequence_parallel>("sequence_parallel"),
          fixed<&O::distributed_optimizer>("distributed_optimizer"),
          fixed<&O::overlap_gradient_reduction>("overlap_gradient_reduction"),
          fixed<&O::overlap_parameter_gathering>("overlap_parameter_gathering"),
          fixed<&O::data_sharding>("data_sharding"),
          number<&O::shard_ranks>("shard_ranks", shard_ranks),
          fixed<&O::sums_groups_last>("group_reduction"),
          number<&O::gather_ahead>("gather_ahead", gathers_ahead),
          fixed<&O::reshard_after_forward>("reshard_after_forward"),
          number<&O::expert_parallel>("expert_parallel", expert_parallels),
          number<&O::expert_tensor>("expert_tensor", expert_tensors),
          fixed<&O::once_a_node>("expert_dispatch"),
          fixed<&O::overlap_shared_experts>("overlap_shared_experts"),
          std::move(sections)};
}

/// Those of a list, or all of a boolean or a choice.
std::vector<Options> values_of(const config::OpenKey& open) {
  std::vector<Options> values;
  for (const config::Value& value : open.allowed.empty() ? options_schema().values_of(open.key) : open.allowed) {
    config::Table one;
    one.set(open.key, value);
    Diagnostics read;
    Options options = options_schema().read(one, read);
    // What "auto" stands for is among the others.
    if (open.key == "schedule" && open.allowed.empty() && options.schedule == "auto") continue;
    if (open.key == "recomputed_sections" && options.recomputed_sections.empty())
      options.recomputed_sections = {"none"};
    values.push_back(std::move(options));
  }
  return values;
}

/// A set that no layer can run again would only be passed over.
void check_sets(const config::OpenKey& open, const workload::Model& model, Diagnostics& diagnostics) {
  if (open.key != "recomputed_sections") return;
  for (const config::Value& value : open.allowed) {
    std::vector<std::string> names;
    for (const config::Value& name : *value.array()) names.push_back(*name.string());
    try {
      static_cast<void>(recomputed_of(names, model));
    } catch (const InputError& error) {
      diagnostics.error(value.where(), "recomputed_sections: " + std::string(error.what()));
    }
  }
}

}  // namespace

std::vector<std::pair<std::string, OpenDimension>> open_dimensions(const config::Table& table, const Job& job,
                                                                   Diagnostics& diagnostics) {
  const std::vector<config::OpenKey> open = options_schema().open_keys(table);
  const auto found = [&](const char* key) { return std::ranges::find(open, key, &config::OpenKey::key); };
  std::vector<std::pair<std::string, OpenDimension>> dimensions;
  if (const auto sections = found("recomputed_sections");
      sections != open.end() && found("recomputation") != open.end())
    diagnostics.error(sections->where,
                      "\"recomputed_sections\" and \"recomputation\" are both open, allowed: one of them; \"none\", "
                      "\"selective\" and \"full\" are sets of sections as well");
  for (Declared& one : all_keys()) {
    const auto key = found(one.key);
    if (key == open.end()) continue;
    check_sets(*key, *job.model, diagnostics);
    OpenDimension dimension{one.copy, {}, {}};
    if (key->allowed.empty()) dimension.values = std::move(one.values);
    if (!dimension.values) dimension.fixed = values_of(*key);
    dimensions.emplace_back(one.key, std::move(dimension));
  }
  return dimensions;
}

}  // namespace tessera::strategy::megatron
