#include "vision_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "layer_blocks.hpp"
#include "section_run.hpp"
#include "tower_cut.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::OperatorSet;
using workload::ProjectorLinear;

/// Consecutive layers that see alike.
struct Sight {
  bool in_windows = false;
  std::uint32_t layers = 0;
};

std::vector<Sight> sights(const workload::Vision& vision) {
  std::vector<Sight> runs;
  for (std::int64_t i = 0; i < vision.layers_run; ++i) {
    const bool in_windows = workload::sees_window(vision, i);
    if (runs.empty() || runs.back().in_windows != in_windows) runs.push_back({in_windows, 0});
    ++runs.back().layers;
  }
  return runs;
}

/// B, of all of the projector.
std::int64_t kept(const workload::ProjectorOperators& projector) {
  std::int64_t bytes = projector.joining.kept();
  for (const ProjectorLinear& linear : projector.linears) bytes += linear.product.kept() + linear.activation.kept();
  return bytes;
}

class Blocks {
 public:
  Blocks(program::Program& program, const Cut& cut)
      : program_(program),
        cut_(cut),
        cuts_(cut),
        patches_(cuts_.patches()),
        end_(cuts_.end()),
        projector_(cuts_.projection()),
        layers_{add_layers(false), add_layers(true)} {}

  program::BlockId forward() {
    Writer writer(program_, cuts_.layers(false).cut(), "vision tower forward");
    run_forward(writer, patches_, Activity::forward);
    if (cuts_.is_trained()) keep(writer, patches_.kept());
    for (const Sight& run : sights(cuts_.vision())) writer.builder().call(layers_[run.in_windows].forward, run.layers);
    run_forward(writer, end_, Activity::forward);
    if (cuts_.is_trained()) keep(writer, end_.kept());
    Writer projector(cuts_.projector().cut(), writer.builder());
    run_forward(projector, projector_.joining, Activity::forward);
    for (const ProjectorLinear& linear : projector_.linears) {
      (linear.is_row ? row_forward : column_forward)(projector, linear.product, Activity::forward);
      run_forward(projector, linear.activation, Activity::forward);
    }
    run_forward(projector, projector_.placement, Activity::forward);
    if (cut_.training()) keep(writer, kept(projector_));
    return writer.builder().done();
  }

  program::BlockId backward() {
    Writer writer(program_, cuts_.layers(false).cut(), "vision tower backward");
    Writer projector(cuts_.projector().cut(), writer.builder());
    plain_backward(projector, projector_.placement);
    for (auto linear = projector_.linears.rbegin(); linear != projector_.linears.rend(); ++linear) {
      plain_backward(projector, linear->activation);
      (linear->is_row ? row_backward : column_backward)(projector, linear->product);
    }
    plain_backward(projector, projector_.joining);
    give_up(writer, kept(projector_));
    if (!cuts_.is_trained()) return writer.builder().done();
    plain_backward(writer, end_);
    give_up(writer, end_.kept());
    const std::vector<Sight> runs = sights(cuts_.vision());
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      writer.builder().call(layers_[run->in_windows].backward, run->layers);
    plain_backward(writer, patches_);
    give_up(writer, patches_.kept());
    return writer.builder().done();
  }

 private:
  LayerBlocks add_layers(bool in_windows) {
    const auto see = [&](const Sight& run) { return run.in_windows == in_windows; };
    if (std::ranges::none_of(sights(cuts_.vision()), see)) return {};
    const Cut& cut = cuts_.layers(in_windows).cut();
    LayerKey key;
    key.repeat = cut.repeat(0, 0);
    return add_layer(program_, cut, key);
  }
  static void keep(Writer& writer, std::int64_t bytes) {
    writer.builder().allocate(MemoryCategory::activations, Bytes{bytes});
  }
  static void give_up(Writer& writer, std::int64_t bytes) {
    writer.builder().release(MemoryCategory::activations, Bytes{bytes});
  }

  program::Program& program_;
  const Cut& cut_;
  VisionCuts cuts_;
  OperatorSet patches_, end_;
  workload::ProjectorOperators projector_;
  LayerBlocks layers_[2];  ///< that see a tile, and a window
};

}  // namespace

bool runs_vision(const Cut& cut) { return has_vision(*cut.model) && cut.phase != workload::Phase::generation; }

EdgeBlocks add_vision(program::Program& program, const Cut& cut) {
  Blocks blocks(program, cut);
  EdgeBlocks made;
  made.forward = blocks.forward();
  if (cut.training()) made.backward = blocks.backward();
  return made;
}

program::BlockId vision_beside(program::Program& program, const Cut& cut) {
  const VisionCuts cuts(cut);
  program::BlockBuilder builder(program, "tensor communication beside a vision tower");
  const auto add = [&](const Cut& of, const BesideWidths& widths) {
    if (widths != BesideWidths{}) builder.call(beside_block(program, of, widths));
  };
  const workload::ProjectorOperators projector = cuts.projection();
  for (auto linear = projector.linears.rbegin(); linear != projector.linears.rend(); ++linear)
    if (!linear->is_row) add(cuts.projector().cut(), beside_widths(cuts.projector().cut(), linear->product));
  if (!cuts.is_trained()) return builder.done();
  const std::vector<Sight> runs = sights(cuts.vision());
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    const Cut& seen = cuts.layers(run->in_windows).cut();
    program::BlockBuilder layer(program, "layer");
    for (const BesideWidths& widths : beside_widths(seen, 0)) layer.call(beside_block(program, seen, widths));
    builder.call(layer.done(), run->layers);
  }
  return builder.done();
}

VisionWeights vision_weights(const Cut& cut) {
  if (!has_vision(*cut.model)) return {};
  const workload::VisionParameters parameters = VisionCuts(cut).parameters();
  const std::int64_t tower = parameters.tower.total(), projector = parameters.projector.total();
  if (cut.model->vision.frozen) return {projector, tower};
  return {tower + projector, 0};
}

std::int64_t vision_buffers(const Cut& cut) {
  if (!runs_vision(cut)) return 0;
  const VisionCuts cuts(cut);
  if (cuts.is_trained()) return 0;
  const TowerCut& tiles = cuts.layers(false);
  return cut.element() * workload::widest_pair(*tiles.cut().model, tiles.shape());
}

double vision_time(const Cut& cut, const workload::CostModel& cost) {
  if (!runs_vision(cut)) return 0;
  const VisionCuts cuts(cut);
  const auto of = [&](const std::vector<workload::Operator>& operators) {
    double sum = 0;
    for (const workload::Operator& op : operators) sum += static_cast<double>(cost.time(op, *cut.device_spec));
    return sum;
  };
  const auto both = [&](const OperatorSet& set) {
    return of(set.forward) + of(set.input_gradient) + of(set.weight_gradient);
  };
  double sum = both(cuts.patches()) + both(cuts.end());
  for (const Sight& run : sights(cuts.vision())) {
    const Cut& seen = cuts.layers(run.in_windows).cut();
    const workload::LayerOperators layer = seen.layer(0, 0);
    const workload::LayerSections again = seen.training() ? seen.recomputed[0].again : workload::LayerSections{};
    const auto sections = layer.in_order();
    for (std::size_t i = 0; i < sections.size(); ++i)
      sum += run.layers * (both(*sections[i]) + (again[i] ? of(sections[i]->forward) : 0));
  }
  const workload::ProjectorOperators projector = cuts.projection();
  sum += both(projector.joining) + both(projector.placement);
  for (const ProjectorLinear& linear : projector.linears) sum += both(linear.product) + both(linear.activation);
  return sum;
}

std::string vision_text(const Cut& cut) {
  const workload::Vision& vision = cut.model->vision;
  std::string text = fmt::format("{} layers", vision.layers);
  if (vision.layers_run < vision.layers) text += fmt::format(", {} of them run", vision.layers_run);
  if (cut.training() && vision.frozen) text += ", frozen";
  return text + fmt::format("; {} {} of {} tokens a sequence", vision.images, vision.images == 1 ? "image" : "images",
                            workload::image_tokens(vision));
}

namespace {

void check_ranks(const config::Table& table, const Cut& cut, config::Diagnostics& diagnostics) {
  const workload::Vision& vision = cut.model->vision;
  const std::int64_t t = cut.options.tensor;
  const auto error = [&](const std::string& what) { diagnostics.error(where_of(table, "tensor"), what); };
  if (cut.options.pad_heads ? t > vision.heads : vision.heads % t != 0)
    error(fmt::format("tensor = {} does not divide the {} heads of the vision tower{}", t, vision.heads,
                      cut.options.pad_heads ? "" : "; uneven_heads = \"pad\" lets every rank carry ceil of them"));
  if (!cut.options.pad_width && vision.ffn_hidden % t != 0)
    error(
        fmt::format("tensor = {} does not divide the MLP's width of {} of the vision tower; uneven_width = \"pad\" "
                    "lets every rank carry {}",
                    t, vision.ffn_hidden, (vision.ffn_hidden + t - 1) / t));
  for (const std::int64_t width : vision.projector)
    if (width % t != 0) error(fmt::format("tensor = {} does not divide the projector's {} columns", t, width));
}

}  // namespace

void check_vision(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics) {
  if (!has_vision(*job.model)) return;
  const Options& options = cut.options;
  const auto refuse = [&](bool is_given, const char* key, const char* allowed) {
    if (is_given)
      diagnostics.error(where_of(table, key),
                        fmt::format("{}: model {} has a vision tower, allowed: {}", key, job.model->name, allowed));
  };
  refuse(options.shards_gradients() && !options.streams_weights(), "data_sharding", "data_sharding = \"auto\"");
  refuse(options.streams_weights(), "weight_streaming", "weight_streaming = \"off\"");
  refuse(cut.is_two_dimensional(), "tensor_rows", "tensor_rows = 1");
  refuse(cut.uses_kernels(), "sublayers", "sublayers = \"operators\"");
  refuse(cut.shares_sequences(), "context_parallel", "context_parallel = 1");
  refuse(cut.goes_both_ways(), "schedule", "a schedule whose micro-batches go one way");
  check_ranks(table, cut, diagnostics);
  const workload::Vision& vision = job.model->vision;
  const std::int64_t tokens = vision.images * workload::image_tokens(vision);
  if (tokens > job.workload.sequence)
    diagnostics.error(
        table.where(),
        fmt::format("workload.sequence = {}, and images take {} tokens of it ({} x {}), allowed: {} or more",
                    job.workload.sequence, tokens, vision.images, workload::image_tokens(vision), tokens));
}

}  // namespace tessera::strategy::megatron
