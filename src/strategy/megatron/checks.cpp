// What has to fit together before anything is built. Each check is one sentence; all are made, so that one run reports
// every problem.
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <numeric>

#include "context_exchange.hpp"
#include "cut.hpp"
#include "expert_ranks.hpp"
#include "loans.hpp"
#include "placement.hpp"
#include "prediction_blocks.hpp"
#include "product_checks.hpp"
#include "recomputation.hpp"
#include "schedule_checks.hpp"
#include "sharding_options.hpp"
#include "spare_devices.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"
#include "uneven_stages.hpp"
#include "vision_blocks.hpp"
#include "ways.hpp"

namespace tessera::strategy::megatron {
namespace {

using config::Diagnostics;
using config::Table;

class Checker {
 public:
  Checker(const Table& table, const Job& job, Cut& cut, Diagnostics& diagnostics)
      : table_(table), job_(job), cut_(cut), options_(cut.options), model_(*job.model), diagnostics_(diagnostics) {}

  void run() {
    warn_of_idle_keys();
    check_devices();
    check_tensor();
    check_context(table_, job_, cut_, diagnostics_);
    check_batch();
    read_experts(table_, job_, cut_, diagnostics_);
    read_sharding(table_, job_, cut_, diagnostics_);
    check_predictions(table_, job_, cut_, diagnostics_);
    check_schedule(table_, cut_, diagnostics_);
    check_vision(table_, job_, cut_, diagnostics_);
    check_phase();
    read_recomputation(table_, job_, cut_, diagnostics_);
    check_combined(table_, cut_, diagnostics_);
    check_pipeline();  // layers are spread over the stages by what the rest says
    if (diagnostics_.errors().size() == errors_before_) check_room_for_units(table_, job_, cut_, diagnostics_);
    read_loans(table_, job_, cut_, diagnostics_);  // what a stage keeps depends on all of it
    read_ways(table_, job_, cut_, diagnostics_);
  }

 private:
  template <class... Arguments>
  void error(const char* key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    diagnostics_.error(where_of(table_, key), fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  void check_devices();
  void check_tensor();
  void check_heads(const workload::LayerFields& kind);
  void check_width(const workload::LayerFields& kind);
  void check_pipeline();
  void check_stage_layers(std::int64_t chunks);
  void begin_chunks(const std::vector<std::int64_t>& layers);
  bool deal_out_batch();
  void choose_micro_batch();
  void check_batch();
  void check_phase();
  void warn_of_idle_keys();
  template <class T>
  void warn_if_given(const char* key, T Options::*member, const char* where) {
    megatron::warn_if_given(table_, options_, key, member, where, diagnostics_);
  }

  const Table& table_;
  const Job& job_;
  Cut& cut_;
  Options& options_;
  const workload::Model& model_;
  Diagnostics& diagnostics_;
  std::size_t errors_before_ = diagnostics_.errors().size();
};

void Checker::check_devices() {
  const machine::Machine& machine = job_.machine;
  std::vector<program::DeviceId> working;
  for (machine::NodeId device = 0; device < machine.accelerators(); ++device) {
    if (machine.speed[device] > 0) working.push_back(device);
  }
  const std::int64_t model_parallel = options_.tensor * options_.context_parallel * options_.pipeline;
  const std::vector<program::DeviceId> usable =
      options_.idle_devices ? tensor_groups(machine, working, options_.tensor) : working;
  if (options_.data == 0)
    options_.data = std::max<std::int64_t>(1, static_cast<std::int64_t>(usable.size()) / model_parallel);
  const std::int64_t needed = options_.data * model_parallel;
  const bool is_placed = has_places(options_);
  const auto count = static_cast<std::int64_t>(working.size());
  if (needed == count || (is_placed && options_.idle_devices && needed < count)) {
    if (is_placed) return place_stages(table_, job_, cut_, diagnostics_);
    cut_.devices = std::move(working);
    return warn_of_wrapped_groups(table_, job_, cut_, diagnostics_);
  }
  const char* key = table_.find("data") != nullptr && options_.data > 0 ? "data" : "tensor";
  if (options_.idle_devices && needed < static_cast<std::int64_t>(working.size())) {
    // Groups inside nodes where there are enough of them, anywhere otherwise.
    const bool inside = needed <= static_cast<std::int64_t>(usable.size());
    const std::vector<program::DeviceId>& from = inside ? usable : working;
    cut_.devices.assign(from.begin(), from.begin() + needed);
    std::vector<program::DeviceId> taken = cut_.devices;
    std::ranges::sort(taken);
    std::ranges::set_difference(working, taken, std::back_inserter(cut_.spare));
    return;
  }
  const bool has_spare = needed < static_cast<std::int64_t>(working.size());
  error(key, "tensor {}{} x pipeline {} x data {} = {} devices, but machine {} has {}{}{}", options_.tensor,
        cut_.shares_sequences() ? fmt::format(" x context_parallel {}", options_.context_parallel) : "",
        options_.pipeline, options_.data, needed, machine.name, working.size(),
        working.size() == machine.accelerators() ? "" : " that work",
        has_spare ? "; spare_devices = \"idle\" leaves the others out" : "");
}

void Checker::check_tensor() {
  const std::int64_t t = options_.tensor;
  for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind) check_heads(layer_kind(model_, kind));
  if (cut_.uses_kernels()) {
    const std::string problem = program::sublayer::inline_problem(job_.machine.device, job_.workload.datatype);
    if (!problem.empty()) error("sublayers", "sublayers = \"{}\": {}", options_.sublayers, problem);
  }
  for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind) check_width(layer_kind(model_, kind));
  check_products(table_, job_, cut_, diagnostics_);
  if (!options_.sequence_parallel) return;
  if (t == 1)
    diagnostics_.warn(where_of(table_, "sequence_parallel"), "sequence_parallel has no effect with tensor = 1");
  if (job_.workload.generates()) {
    error("sequence_parallel",
          "generation makes one token at a time, which cannot be cut along the sequence: "
          "sequence_parallel = false");
  } else if (cut_.sequence() < t) {
    error("sequence_parallel", "tensor = {} is more than the {} tokens of a sequence{}", t, cut_.sequence(),
          cut_.shares_sequences() ? " on a context-parallel rank" : "");
  }
}

void Checker::check_width(const workload::LayerFields& kind) {
  const auto check = [&](std::int64_t ranks, const char* key, const char* what, std::int64_t width) {
    if (options_.pad_width || ranks < 1 || width % ranks == 0) return;
    error(key, "{} = {} does not divide the {} width of {}; uneven_width = \"pad\" lets every rank carry {}", key,
          ranks, what, width, (width + ranks - 1) / ranks);
  };
  if (!kind.mlp) return;
  if (!is_moe(kind)) return check(options_.tensor, "tensor", "MLP's", kind.ffn_hidden);
  if (options_.tensor % cut_.expert_tensor() == 0)  // or that is the error
    check(cut_.expert_tensor(), options_.expert_tensor > 0 ? "expert_tensor" : "tensor", "experts'", kind.ffn_hidden);
  if (kind.shared_experts > 0)
    check(options_.tensor, "tensor", "shared experts'", workload::shared_width(kind) / kind.shared_experts);
}

void Checker::check_heads(const workload::LayerFields& kind) {
  const std::int64_t t = options_.tensor;
  if (!has_attention(kind)) {
    if (kind.heads % t != 0)
      error("tensor", "tensor = {} does not divide the {} heads of {}", t, kind.heads, model_.name);
    else if (kind.state_groups % t != 0)
      error("tensor", "tensor = {} does not divide the {} groups of heads of {}", t, kind.state_groups, model_.name);
    return;
  }
  if (options_.pad_heads) {
    if (t > kind.heads) error("tensor", "tensor = {} is more than the {} heads", t, kind.heads);
    return;
  }
  if (kind.heads % t != 0) {
    error("tensor", "tensor = {} does not divide the {} heads of {}; uneven_heads = \"pad\" lets every rank carry {}",
          t, kind.heads, model_.name, (kind.heads + t - 1) / t);
  } else if (kind.kv_heads >= t ? kind.kv_heads % t != 0 : t % kind.kv_heads != 0) {
    error("tensor", "tensor = {} and the {} key-value heads of {} do not divide each other", t, kind.kv_heads,
          model_.name);
  }
}

void Checker::check_pipeline() {
  const std::int64_t chunks = options_.pipeline * options_.interleave;
  if (!options_.stage_layers.empty()) {
    warn_if_given("uneven_layers", &Options::spread_layers, "beside stage_layers");
    return check_stage_layers(chunks);
  }
  const bool divides = model_.layers % chunks == 0;
  std::vector<std::int64_t> layers;
  if (divides) {
    layers.assign(static_cast<std::size_t>(chunks), model_.layers / chunks);
  } else if (options_.spread_layers && model_.layers >= chunks) {
    // Errors of other keys would only be repeated.
    if (diagnostics_.errors().size() == errors_before_) layers = spread_layers(cut_, job_.cost);
  } else {
    const char* remedy = "; uneven_layers = \"spread\" gives some stages one more";
    error(options_.interleave > 1 ? "interleave" : "pipeline",
          "pipeline {} x interleave {} = {} does not divide the {} layers of {}{}", options_.pipeline,
          options_.interleave, chunks, model_.layers, model_.name, model_.layers > chunks ? remedy : "");
  }
  begin_chunks(layers);
}

void Checker::check_stage_layers(std::int64_t chunks) {
  const std::vector<std::int64_t>& layers = options_.stage_layers;
  const auto usable = [&](const std::int64_t& n) {
    // The ends hold the embedding and the logits.
    const bool end = chunks > 1 && (&n == &layers.front() || &n == &layers.back());
    return n >= (end ? 0 : 1) && n <= model_.layers;
  };
  const bool positive = std::ranges::all_of(layers, usable);
  const std::int64_t sum = positive ? std::reduce(layers.begin(), layers.end()) : 0;
  if (static_cast<std::int64_t>(layers.size()) != chunks) {
    error("stage_layers", "{} numbers, allowed: pipeline {} x interleave {} = {}", layers.size(), options_.pipeline,
          options_.interleave, chunks);
  } else if (!positive || sum != model_.layers) {
    error(
        "stage_layers",
        "allowed are numbers of at least 1, or 0 in the first and the last place, that add up to the {} layers of {}{}",
        model_.layers, model_.name, positive ? fmt::format(", not to {}", sum) : "");
  } else {
    begin_chunks(layers);
  }
}

void Checker::begin_chunks(const std::vector<std::int64_t>& layers) {
  cut_.chunk_begin.assign(1, 0);
  for (const std::int64_t count : layers) cut_.chunk_begin.push_back(cut_.chunk_begin.back() + count);
}

/// Micro-batches to replicas; false: that cannot be done.
bool Checker::deal_out_batch() {
  const std::int64_t batch = job_.workload.global_batch, micro_batch = options_.micro_batch, data = options_.data;
  const std::int64_t step = data * micro_batch;
  cut_.micro_batches = batch / step;
  cut_.fuller_replicas = data;
  if (batch % step == 0) return true;
  if (!options_.streams_weights()) {
    error("micro_batch", "global_batch = {} is not a multiple of micro_batch {} x data {}", batch, micro_batch, data);
    return false;
  }
  if (batch % micro_batch != 0 || batch < step) {
    error("micro_batch", "global_batch = {}, allowed with weight_streaming: a multiple of micro_batch {}, at least {}",
          batch, micro_batch, step);
    return false;
  }
  cut_.fuller_replicas = batch / micro_batch % data;
  ++cut_.micro_batches;
  return true;
}

/// Outside training the sequences of a replica go together: kernels read the weights once for all of them. So that no
/// stage of a pipeline waits for the others they are dealt out to as many micro-batches, where that comes out even, as
/// FasterTransformer does (docs/validation/measured-decode.md).
void Checker::choose_micro_batch() {
  const std::int64_t batch = job_.workload.global_batch, data = options_.data, stages = options_.pipeline;
  cut_.deals_out = !cut_.training() && batch % data == 0;
  const std::int64_t sequences = cut_.deals_out ? batch / data : 1;
  options_.micro_batch = cut_.deals_out && sequences % stages == 0 ? sequences / stages : sequences;
}

void Checker::check_batch() {
  if (options_.schedule == "auto") options_.schedule = options_.interleave > 1 ? "interleaved-1f1b" : "1f1b";
  if (options_.micro_batch == 0) choose_micro_batch();
  if (!deal_out_batch()) return;
  if (cut_.micro_batches > 1'000'000) {
    error("micro_batch", "{} micro-batches a replica, at most 1000000 are allowed", cut_.micro_batches);
    return;
  }
  const program::PipelineShape shape{static_cast<std::uint32_t>(options_.pipeline),
                                     static_cast<std::uint32_t>(options_.interleave),
                                     static_cast<std::uint32_t>(cut_.micro_batches), cut_.training()};
  const std::string problem = program::find_pipeline_order(options_.schedule)->check(shape);
  if (!problem.empty()) {
    error(table_.find("interleave") != nullptr ? "interleave" : "schedule", "schedule \"{}\" {}", options_.schedule,
          problem);
  }
}

void Checker::warn_of_idle_keys() {
  if (cut_.training()) return;
  const char* where = "outside training";
  warn_if_given("distributed_optimizer", &Options::distributed_optimizer, where);
  warn_if_given("overlap_gradient_reduction", &Options::overlap_gradient_reduction, where);
  warn_if_given("overlap_parameter_gathering", &Options::overlap_parameter_gathering, where);
  warn_if_given("overlap_tensor_communication", &Options::overlap_tensor_communication, where);
  warn_if_given("user_buffers", &Options::user_buffers, where);
  warn_if_given("gradient_precision", &Options::gradient_bytes, where);
  warn_if_given("reduction_precision", &Options::reduction_bytes, where);
  warn_if_given("gradient_reduction", &Options::all_reduce_gradients, where);
  warn_if_given("moment_precision", &Options::moment_bytes, where);
  warn_if_given("master_weights", &Options::master_weights, where);
  warn_if_given("optimizer", &Options::update, where);
  if (options_.shards_parameters()) warn_if_given("reshard_after_forward", &Options::reshard_after_forward, where);
  warn_if_given("fused_gradient_accumulation", &Options::fused_gradient_accumulation, where);
  warn_if_given("unused_gradients", &Options::unused_gradients, where);
  if (job_.workload.phase != workload::Phase::generation) return;
  warn_if_given("schedule", &Options::schedule, "in generation");
  warn_if_given("exchange_overhead", &Options::exchange_overhead, "in generation");
}

void Checker::check_phase() {
  if (!cut_.combines_passes())
    warn_if_given("delay_weight_gradients", &Options::delay_weight_gradients, "without schedule = \"combined-1f1b\"");
  if (cut_.training() && !options_.fused_gradient_accumulation)
    warn_if_given("unused_gradients", &Options::unused_gradients, "without fused_gradient_accumulation");
  if (cut_.training() && !options_.distributed_optimizer)
    warn_if_given("overlap_parameter_gathering", &Options::overlap_parameter_gathering,
                  "without distributed_optimizer");
  const Workload& workload = job_.workload;
  if (workload.generates()) {
    if (!model_.causal)
      diagnostics_.error(table_.where(), fmt::format("model {} is not causal: it cannot generate", model_.name));
    if (options_.interleave > 1) error("interleave", "generation has one model chunk a stage: interleave = 1");
  }
  if (!has_vision(model_))
    warn_if_given("vision_recomputation", &Options::vision_recomputation, "without a vision tower");
  else if (!cut_.training() || model_.vision.frozen)
    warn_if_given("vision_recomputation", &Options::vision_recomputation, "of a tower that is not trained");
  if (!cut_.training() && options_.recomputation != workload::Recomputation::none) {
    error("recomputation", "there is no backward pass to recompute for: recomputation = \"none\" outside training");
  }
  if (cut_.training() && options_.overlap_gradient_reduction && options_.bytes_to_reduce() != options_.gradient_bytes) {
    error("reduction_precision",
          "overlap_gradient_reduction reduces each layer where it stands in the buffer: reduction_precision has to be "
          "\"auto\" or that of gradient_precision");
  }
  if (cut_.training() && options_.master_weights == workload::MasterWeights::remainder && workload.datatype != "bf16") {
    error("master_weights",
          "\"remainder\" makes FP32 of BF16: workload.datatype is \"{}\", allowed: \"fp32\", \"none\"",
          workload.datatype);
  }
  const std::int64_t positions = model_.position == workload::PositionEmbedding::learned ? model_.max_positions : 0;
  if (positions > 0 && cut_.context() > positions) {
    diagnostics_.error(table_.where(), fmt::format("sequences of {} tokens, but model {} has {} learned positions",
                                                   cut_.context(), model_.name, positions));
  }
}

}  // namespace

Cut make_cut(const Options& options, const Table& table, const Job& job, Diagnostics& diagnostics) {
  Cut cut;
  cut.model = job.model;
  cut.workload = &job.workload;
  cut.phase = job.workload.phase;
  cut.collectives = &job.collectives;
  cut.device_spec = &job.machine.device;
  cut.options = options;
  Checker(table, job, cut, diagnostics).run();
  return cut;
}

Cut make_cut(const Table& table, const Job& job, Diagnostics& diagnostics) {
  config::Diagnostics reading;
  const Options options = options_schema().read(table, reading);
  diagnostics.add(reading);
  // Values that could not be read would only cause more errors.
  return reading.ok() ? make_cut(options, table, job, diagnostics) : Cut();
}

}  // namespace tessera::strategy::megatron
