#include "layer_blocks.hpp"

#include <algorithm>
#include <array>
#include <functional>

#include "context_exchange.hpp"
#include "experts.hpp"
#include "parallel_linear.hpp"
#include "sharding.hpp"
#include "two_dimensional.hpp"
#include "user_buffers.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerOperators;
using workload::LayerSection;
using workload::OperatorSet;

/// What of a layer runs together, with its communication, forward and backward.
struct Part : workload::LayerPart {
  std::function<void(Writer&, Activity)> forward;
  std::function<void(Writer&)> backward;
};

/// How parts are written.
struct Style {
  bool has_chunks = false;                            ///< products run beside their collectives
  Activity exchange = Activity::other_communication;  ///< of context ranks
};

/// The parts in the order in which they run; experts are one.
std::vector<Part> parts_of(const LayerOperators& layer, const workload::LayerFields& kind, const Style& style) {
  const bool has_chunks = style.has_chunks;
  std::vector<Part> parts;
  const auto add = [&](LayerSection first, LayerSection last, auto forward, auto backward) {
    parts.push_back({{workload::place_of(first), workload::place_of(last)}, forward, backward});
  };
  const auto plain = [&](LayerSection section) {
    const OperatorSet& set = layer.*section;
    add(
        section, section, [&set](Writer& writer, Activity activity) { writer.run(set.forward, activity); },
        [&set](Writer& writer) { plain_backward(writer, set); });
  };
  const auto linear = [&](LayerSection section, auto forward, auto backward,
                          const over_rows_and_columns::Sides& sides) {
    const OperatorSet& set = layer.*section;
    add(
        section, section,
        [&set, forward, &sides](Writer& writer, Activity activity) {
          if (!writer.cut().is_two_dimensional()) return forward(writer, set, activity);
          over_rows_and_columns::forward(writer, set, sides, activity);
        },
        [&set, backward, &sides](Writer& writer) {
          if (!writer.cut().is_two_dimensional()) return backward(writer, set);
          over_rows_and_columns::backward(writer, set, sides);
        });
  };
  const auto column = [&](LayerSection section) {
    linear(section, has_chunks ? user_buffers::column_forward : column_forward, column_backward,
           over_rows_and_columns::column);
  };
  const auto row = [&](LayerSection section) {
    linear(section, has_chunks ? user_buffers::row_forward : row_forward,
           has_chunks ? user_buffers::row_backward : row_backward, over_rows_and_columns::row);
  };
  plain(&LayerOperators::attention_norm);
  column(&LayerOperators::qkv);
  const OperatorSet& core = layer.attention_core;
  add(
      &LayerOperators::attention_core, &LayerOperators::attention_core,
      [&core, style](Writer& writer, Activity activity) { core_forward(writer, core, activity, style.exchange); },
      [&core, style](Writer& writer) { core_backward(writer, core, style.exchange); });
  row(&LayerOperators::projection);
  plain(&LayerOperators::attention_residual);
  plain(&LayerOperators::mlp_norm);
  if (is_moe(kind)) {
    add(
        &LayerOperators::router, &LayerOperators::combine,
        [&](Writer& writer, Activity activity) { experts_forward(writer, kind, layer, activity); },
        [&](Writer& writer) { experts_backward(writer, kind, layer); });
  } else {
    column(&LayerOperators::fc1);
    plain(&LayerOperators::activation);
    row(&LayerOperators::fc2);
  }
  plain(&LayerOperators::mlp_residual);
  workload::refuse_other_parts(layer, {parts.begin(), parts.end()});
  return parts;
}

/// A layer's passes. Parts that are recomputed run again before their backward part, those in a row together, or before
/// that of the part behind them, whose input they make.
class LayerPasses {
 public:
  LayerPasses(const LayerOperators& layer, const workload::LayerFields& kind, const workload::Recomputed& recomputed,
              const Style& style)
      : parts_(parts_of(layer, kind, style)), recomputed_(recomputed) {
    const auto sections = layer.in_order();
    const auto kept = workload::kept_bytes(layer, recomputed_);
    for (std::size_t i = 0; i < sections.size(); ++i) {
      kept_ += kept[i];
      made_again_[i] = sections[i]->kept() - kept[i];
      if (sections[i]->whole_input == 0) gathered_before_[i] = sections[i]->backward_gathers();
    }
  }

  void forward(Writer& writer) const {
    for (const Part& part : parts_) part.forward(writer, Activity::forward);
  }
  /// Of activations, from the forward to the backward pass.
  [[nodiscard]] std::int64_t kept() const { return kept_; }

  void backward(Writer& writer) const {
    for_each_run([&](std::size_t begin, std::size_t end_again, std::size_t end) {
      const std::int64_t bytes = runs_again(begin) ? made_again(begin, end) : 0;
      if (runs_again(begin)) {
        writer.builder().allocate(MemoryCategory::activations, Bytes{bytes});
        gather_before(writer, begin);
        for (std::size_t i = begin; i < end_again; ++i) parts_[i].forward(writer, Activity::recomputation);
      }
      while (end > begin) parts_[--end].backward(writer);
      writer.builder().release(MemoryCategory::activations, Bytes{begin == 0 ? bytes + kept_ : bytes});
    });
  }
  /// Of activations that are there again, at once.
  [[nodiscard]] std::int64_t most_made_again() const {
    std::int64_t most = 0;
    for_each_run([&](std::size_t begin, std::size_t, std::size_t end) {
      if (runs_again(begin)) most = std::max(most, made_again(begin, end));
    });
    return most;
  }

 private:
  /// Calls act(begin, end_again, end) from the last parts to the first ones: parts begin to end_again - 1 run again
  /// together, if the first of them does, for the backward passes of those up to end - 1.
  template <class Act>
  void for_each_run(const Act& act) const {
    for (std::size_t end = parts_.size(); end > 0;) {
      const std::size_t end_again = runs_again(end - 1) || !waits_for_input(end - 1) ? end : end - 1;
      std::size_t begin = end_again - 1;
      while (runs_again(begin) && begin > 0 && runs_again(begin - 1)) --begin;
      act(begin, end_again, end);
      end = begin;
    }
  }
  [[nodiscard]] bool runs_again(std::size_t part) const { return recomputed_.again[parts_[part].first]; }
  [[nodiscard]] bool waits_for_input(std::size_t part) const {
    return recomputed_.drops_outputs && part > 0 && runs_again(part - 1);
  }

  /// Where parts that run again begin with one whose input an earlier one had whole.
  void gather_before(Writer& writer, std::size_t part) const {
    if (writer.cut().uses_sequence_parallelism())
      writer.tensor_collective(CollectiveKind::all_gather, gathered_before_[parts_[part].first], "tensor all-gather");
  }

  /// Bytes of parts begin to end - 1.
  [[nodiscard]] std::int64_t made_again(std::size_t begin, std::size_t end) const {
    std::int64_t bytes = 0;
    for (std::size_t i = parts_[begin].first; i <= parts_[end - 1].last; ++i) bytes += made_again_[i];
    return bytes;
  }

  std::vector<Part> parts_;
  workload::Recomputed recomputed_;
  std::int64_t kept_ = 0;
  std::array<std::int64_t, LayerOperators::section_count> made_again_{}, gathered_before_{};
};

Style style_of(program::Program& program, const Cut& cut) {
  return {cut.uses_user_buffers(), context_communication(program, cut)};
}

}  // namespace

std::vector<PartBlock> part_blocks(program::Program& program, const Cut& cut, std::uint32_t kind) {
  const LayerOperators layer = cut.layer(kind, 0);
  std::vector<PartBlock> blocks;
  for (const Part& part : parts_of(layer, cut.kind(kind), style_of(program, cut))) {
    Writer forward(program, cut, "part forward");
    part.forward(forward, Activity::forward);
    blocks.push_back({part, forward.builder().done()});
  }
  return blocks;
}

std::int64_t most_made_again(const Cut& cut, std::uint32_t kind, const workload::Recomputed& recomputed) {
  return LayerPasses(cut.layer(kind, 0), cut.kind(kind), recomputed, {}).most_made_again();
}

std::vector<BesideWidths> beside_widths(const Cut& cut, std::uint32_t kind) {
  const LayerOperators layer = cut.layer(kind, 0);
  std::vector<BesideWidths> widths;
  if (!is_moe(cut.kind(kind))) widths.push_back(beside_widths(cut, layer.fc1));
  widths.push_back(beside_widths(cut, layer.qkv));
  std::erase(widths, BesideWidths{});
  return widths;
}

LayerBlocks add_layer(program::Program& program, const Cut& cut, const LayerKey& key) {
  const LayerOperators layer = cut.layer(key.kind, key.expert_rank, key.keys, key.context_rank);
  const std::string name = workload::kind_name(*cut.model, key.kind);
  const Unit unit = layer_unit(key.kind);
  LayerBlocks blocks;
  const LayerPasses passes(layer, cut.kind(key.kind), cut.recomputed[key.stage], style_of(program, cut));
  Writer forward(program, cut, name + " forward");
  begin_forward(forward, unit);
  passes.forward(forward);
  if (cut.training()) forward.builder().allocate(MemoryCategory::activations, Bytes{passes.kept()});
  end_forward(forward);
  blocks.forward = forward.builder().done();
  if (!cut.training()) return blocks;
  Writer backward(program, cut, name + " backward");
  begin_backward(backward, unit);
  passes.backward(backward);
  end_backward(backward, unit);
  blocks.backward = backward.builder().done();
  return blocks;
}

}  // namespace tessera::strategy::megatron
