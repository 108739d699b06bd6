#include "layer_blocks.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>

#include "context_exchange.hpp"
#include "experts.hpp"
#include "parallel_linear.hpp"
#include "recomputation.hpp"
#include "section_run.hpp"
#include "sharding.hpp"
#include "two_dimensional.hpp"
#include "user_buffers.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::LayerOperators;
using workload::LayerSection;
using workload::OperatorSet;

using Backward = std::function<void(Writer&)>;

/// Whole, or in two parts. What has no linear layer has nothing to put apart: its few weight gradients come from the
/// kernels of its input gradient, and it does both in the first part.
struct BackwardParts {
  Backward whole, input_gradient, weight_gradient = nullptr;
};

/// What of a layer runs together, with its communication, forward and backward.
struct Part : workload::LayerPart {
  std::function<void(Writer&, Activity)> forward;
  BackwardParts backward;
};

std::size_t first_of_mlp(const std::vector<Part>& parts) {
  const auto found = std::ranges::find_if(
      parts, [](const Part& part) { return part.first > workload::place_of(&LayerOperators::mlp_norm); });
  return static_cast<std::size_t>(found - parts.begin());
}

/// How parts are written.
struct Style {
  bool has_chunks = false;                            ///< products run beside their collectives
  bool in_rows = false;                               ///< linear layers are cut over rows and columns of ranks
  Activity exchange = Activity::other_communication;  ///< of context ranks
  const workload::ApartExperts* experts = nullptr;    ///< where shared experts run beside the others
};

/// Of one function for operators of a section, or for a section over rows and columns, all three.
using OfSet = void (*)(Writer&, const OperatorSet&);
using OfSides = void (*)(Writer&, const OperatorSet&, const over_rows_and_columns::Sides&);
BackwardParts of_set(const OperatorSet& set, OfSet whole, OfSet input, OfSet weight) {
  const auto bound = [&set](OfSet act) { return [&set, act](Writer& writer) { act(writer, set); }; };
  return {bound(whole), bound(input), bound(weight)};
}
BackwardParts of_sides(const OperatorSet& set, const over_rows_and_columns::Sides& sides) {
  const auto bound = [&set, &sides](OfSides act) { return [&set, &sides, act](Writer& w) { act(w, set, sides); }; };
  return {bound(over_rows_and_columns::backward), bound(over_rows_and_columns::input_gradient),
          bound(over_rows_and_columns::weight_gradient)};
}

void row_backward_in_chunks(Writer& writer, const OperatorSet& set) {
  user_buffers::row_input_gradient(writer, set);
  row_weight_gradient(writer, set);
}

/// The parts in the order in which they run; experts are one.
std::vector<Part> parts_of(const LayerOperators& layer, const workload::LayerFields& kind, const Style& style) {
  const bool has_chunks = style.has_chunks;
  std::vector<Part> parts;
  const auto add = [&](LayerSection first, LayerSection last, auto forward, BackwardParts backward) {
    parts.push_back({{workload::place_of(first), workload::place_of(last)}, forward, std::move(backward)});
  };
  const auto plain = [&](LayerSection section) {
    const OperatorSet& set = layer.*section;
    const Backward both = [&set](Writer& writer) { plain_backward(writer, set); };
    add(section, section, [&set](Writer& writer, Activity activity) { run_forward(writer, set, activity); },
        {both, both});
  };
  const auto linear = [&](LayerSection section, auto forward, const BackwardParts& backward,
                          const over_rows_and_columns::Sides& sides) {
    const OperatorSet& set = layer.*section;
    add(
        section, section,
        [&set, forward, &sides](Writer& writer, Activity activity) {
          if (!writer.cut().is_two_dimensional()) return forward(writer, set, activity);
          over_rows_and_columns::forward(writer, set, sides, activity);
        },
        style.in_rows ? of_sides(set, sides) : backward);
  };
  const auto column = [&](LayerSection section) {
    linear(section, has_chunks ? user_buffers::column_forward : column_forward,
           of_set(layer.*section, column_backward, column_input_gradient, column_weight_gradient),
           over_rows_and_columns::column);
  };
  const auto row = [&](LayerSection section) {
    linear(section, has_chunks ? user_buffers::row_forward : row_forward,
           of_set(layer.*section, has_chunks ? row_backward_in_chunks : row_backward,
                  has_chunks ? user_buffers::row_input_gradient : row_input_gradient, row_weight_gradient),
           over_rows_and_columns::row);
  };
  plain(&LayerOperators::attention_norm);
  column(&LayerOperators::qkv);
  const OperatorSet& core = layer.attention_core;
  const Backward core_back = [&core, style](Writer& writer) { core_backward(writer, core, style.exchange); };
  add(&LayerOperators::attention_core, &LayerOperators::attention_core,
      [&core, style](Writer& writer, Activity activity) { core_forward(writer, core, activity, style.exchange); },
      {core_back, core_back});
  row(&LayerOperators::projection);
  plain(&LayerOperators::attention_residual);
  const auto done = [&] {
    workload::refuse_other_parts(layer, {parts.begin(), parts.end()});
    return parts;
  };
  if (!kind.mlp) return done();
  plain(&LayerOperators::mlp_norm);
  if (is_moe(kind)) {
    const ExpertLayer experts{kind, style.experts == nullptr ? layer : style.experts->routed,
                              style.experts == nullptr ? nullptr : &style.experts->shared};
    add(&LayerOperators::router, &LayerOperators::combine,
        [experts](Writer& writer, Activity activity) { experts_forward(writer, experts, activity); },
        {[experts](Writer& writer) { experts_backward(writer, experts); },
         [experts](Writer& writer) { experts_input_gradient(writer, experts); },
         [experts](Writer& writer) { experts_weight_gradient(writer, experts); }});
  } else {
    column(&LayerOperators::fc1);
    plain(&LayerOperators::activation);
    row(&LayerOperators::fc2);
  }
  plain(&LayerOperators::mlp_residual);
  return done();
}

/// A layer's passes. Parts that are recomputed run again before their backward part, those in a row together, or before
/// that of the part behind them, whose input they make.
class LayerPasses {
 public:
  LayerPasses(const LayerOperators& layer, const Cut& cut, std::uint32_t kind, const workload::Recomputed& recomputed,
              const Style& style)
      : parts_(parts_of(layer, cut.kind(kind), style)), recomputed_(recomputed) {
    const auto sections = layer.in_order();
    const auto kept = workload::kept_bytes(layer, recomputed_);
    kept_ = std::accumulate(kept.begin(), kept.end(), std::int64_t{0});
    made_again_ = workload::made_again_bytes(layer, recomputed_);
    for (std::size_t i = 0; i < sections.size(); ++i)
      if (sections[i]->whole_input == 0)
        gathered_before_[i] = {sections[i]->backward_gathers(), sections[i]->gathered_element};
    for (const Part& part : parts_)
      for (std::size_t i = part.first; part.backward.weight_gradient && i <= part.last; ++i)
        if (std::ranges::any_of(sections[i]->weight_gradient, is_product) && !is_router(i))
          for_weights_ += needed_by_weights(cut, *sections[i]) + sections[i]->kept_inside;  // norms of queries and keys
  }

  void forward(Writer& writer, Activity activity = Activity::forward) const {
    forward(writer, 0, parts_.size(), activity);
  }
  /// Parts begin to end - 1.
  void forward(Writer& writer, std::size_t begin, std::size_t end, Activity activity = Activity::forward) const {
    for (std::size_t i = begin; i < end; ++i) parts_[i].forward(writer, activity);
  }
  /// Whole backward passes of those, none of which runs again for a part behind them.
  void backward(Writer& writer, std::size_t begin, std::size_t end) const {
    backward(writer, &BackwardParts::whole, 0, begin, end);
  }
  /// All before the MLP, norm included, are so many.
  [[nodiscard]] std::size_t before_mlp() const { return first_of_mlp(parts_); }
  [[nodiscard]] std::size_t size() const { return parts_.size(); }
  /// Of activations, when the backward pass begins.
  [[nodiscard]] std::int64_t kept() const { return kept_; }

  void whole_backward(Writer& writer) const { backward(writer, &BackwardParts::whole, 0); }
  /// What the weight gradients need stays until they are there.
  void input_gradient(Writer& writer) const { backward(writer, &BackwardParts::input_gradient, for_weights_); }
  void weight_gradient(Writer& writer) const {
    for (auto part = parts_.rbegin(); part != parts_.rend(); ++part)
      if (part->backward.weight_gradient) part->backward.weight_gradient(writer);
    writer.builder().release(MemoryCategory::activations, Bytes{for_weights_});
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
  static bool is_product(const workload::Operator& op) { return op.kind == workload::OperatorKind::gemm; }
  /// Its weight gradient stays with its input gradient.
  static bool is_router(std::size_t place) { return place == workload::place_of(&LayerOperators::router); }
  /// Behind it `stays` bytes are held, some of which may be new.
  void backward(Writer& writer, Backward BackwardParts::*pass, std::int64_t stays, std::size_t from = 0,
                std::size_t to = ~std::size_t{0}) const {
    for_each_run([&](std::size_t begin, std::size_t end_again, std::size_t end) {
      if (begin < from || begin >= to) return;
      const std::int64_t bytes = runs_again(begin) ? made_again(begin, end) : 0;
      if (runs_again(begin)) {
        writer.builder().allocate(MemoryCategory::activations, Bytes{bytes});
        gather_before(writer, begin);
        for (std::size_t i = begin; i < end_again; ++i) parts_[i].forward(writer, Activity::recomputation);
      }
      while (end > begin) (parts_[--end].backward.*pass)(writer);
      writer.leave_activations(begin == 0 ? bytes + kept_ : bytes, begin == 0 ? stays : 0);
    });
  }
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
    const auto& [width, element] = gathered_before_[parts_[part].first];
    gather_whole(writer, width, element, "tensor all-gather");
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
  std::int64_t for_weights_ = 0;  ///< B, from the input gradients to the weight gradients
  std::array<std::int64_t, LayerOperators::section_count> made_again_{};
  std::array<std::pair<std::int64_t, std::int64_t>, LayerOperators::section_count> gathered_before_{};
};

Style style_of(program::Program& program, const Cut& cut) {
  return {cut.uses_user_buffers(), cut.is_two_dimensional(), context_communication(program, cut)};
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

std::int64_t most_made_again(const Cut& cut, std::uint32_t kind, const LayerOperators& layer,
                             const workload::Recomputed& recomputed) {
  return LayerPasses(layer, cut, kind, recomputed, {}).most_made_again();
}

std::vector<BesideWidths> beside_widths(const Cut& cut, std::uint32_t kind) {
  const LayerOperators layer = cut.layer(kind, 0);
  std::vector<BesideWidths> widths;
  if (!is_moe(cut.kind(kind))) widths.push_back(beside_widths(cut, layer.fc1));
  widths.push_back(beside_widths(cut, layer.qkv));
  std::erase(widths, BesideWidths{});
  return widths;
}

namespace {

/// Of a layer with experts, which are one part.
void write_steps(const LayerPasses& passes, const ExpertLayer& experts, bool delays,
                 const std::function<Writer&(std::size_t)>& forward, const std::function<Writer&(std::size_t)>& back) {
  const std::size_t at = passes.before_mlp();
  passes.forward(forward(0), 0, at);
  experts_forward_before(forward(0), experts, Activity::forward);
  experts_forward_amid(forward(1), experts, Activity::forward);
  experts_forward_behind(forward(2), experts, Activity::forward);
  passes.forward(forward(2), at + 1, passes.size());
  passes.backward(back(0), at + 1, passes.size());
  experts_backward_before(back(0), experts);
  experts_backward_amid(back(1), experts, !delays);
  experts_backward_behind(back(2), experts);
  passes.backward(back(2), 0, at);
}

}  // namespace

LayerPieces add_layer_pieces(program::Program& program, const Cut& cut, const LayerKey& key, bool delays) {
  const LayerOperators layer = cut.layer(key.kind, key.expert_rank, key.keys, key.context_rank);
  const std::string name = workload::kind_name(*cut.model, key.kind);
  const workload::Recomputed recomputed = cut.repeated(key.stage, key.repeat);
  const LayerPasses passes(layer, cut, key.kind, recomputed, style_of(program, cut));
  std::vector<std::unique_ptr<Writer>> writers;
  for (const char* what : {" forward 1", " forward 2", " forward 3", " backward 1", " backward 2", " backward 3"})
    writers.push_back(std::make_unique<Writer>(program, cut, name + what));
  const auto forward = [&](std::size_t i) -> Writer& { return *writers[i]; };
  const auto back = [&](std::size_t i) -> Writer& { return *writers[3 + i]; };
  const ExpertLayer experts{cut.kind(key.kind), layer};
  const std::size_t at = passes.before_mlp();
  if (is_moe(cut.kind(key.kind))) {
    write_steps(passes, experts, delays, forward, back);
  } else {
    passes.forward(forward(0), 0, at);
    passes.forward(forward(1), at, passes.size());
    passes.backward(back(1), at, passes.size());
    passes.backward(back(2), 0, at);
  }
  forward(2).builder().allocate(MemoryCategory::activations, Bytes{passes.kept()});
  LayerPieces pieces;
  for (std::size_t i = 0; i < 3; ++i) {
    pieces.forward.at(i) = forward(i).builder().done();
    pieces.backward.at(i) = back(i).builder().done();
  }
  if (!is_moe(cut.kind(key.kind)) || !delays) return pieces;
  Writer weights(program, cut, name + " weight gradients of experts");
  experts_weight_gradient(weights, experts);
  pieces.weight_gradient = weights.builder().done();
  return pieces;
}

LayerBlocks add_layer(program::Program& program, const Cut& cut, const LayerKey& key) {
  const LayerOperators layer = cut.layer(key.kind, key.expert_rank, key.keys, key.context_rank);
  const std::string name = workload::kind_name(*cut.model, key.kind);
  const Unit unit = layer_unit(key.kind);
  LayerBlocks blocks;
  const bool in_group = key.repeat == Repeat::group_first || key.repeat == Repeat::group_next;
  // All of a layer in a group is there again when its backward pass begins.
  const workload::Recomputed recomputed = cut.repeated(key.stage, key.repeat);
  std::optional<workload::ApartExperts> experts;
  if (cut.runs_shared_beside(key.kind))
    experts = workload::apart_experts(*cut.model, cut.layer_shape(key.kind, key.expert_rank, key.keys));
  Style style = style_of(program, cut);
  if (experts) style.experts = &*experts;
  const LayerPasses passes(layer, cut, key.kind, in_group ? workload::Recomputed{} : recomputed, style);
  const KeptBytes by_section = kept_of_layer(layer, recomputed, key.repeat);
  const std::int64_t kept = std::accumulate(by_section.begin(), by_section.end(), std::int64_t{0});
  Writer forward(program, cut, name + " forward");
  begin_forward(forward, unit);
  passes.forward(forward);
  if (cut.training()) forward.builder().allocate(MemoryCategory::activations, Bytes{kept});
  end_forward(forward);
  blocks.forward = forward.builder().done();
  if (!cut.training()) return blocks;
  const auto block = [&](const char* what, auto pass, bool is_beside = false) {
    Writer writer(program, cut, name + what);
    if (is_beside) writer.beside_main();
    begin_backward(writer, unit);
    (passes.*pass)(writer);
    end_backward(writer, unit);
    return writer.builder().done();
  };
  const auto again = [&](bool is_beside) {
    Writer writer(program, cut, name + " again");
    if (is_beside) writer.beside_main();
    writer.builder().allocate(MemoryCategory::activations, Bytes{passes.kept() - kept});
    passes.forward(writer, Activity::recomputation);
    return writer.builder().done();
  };
  if (in_group) blocks.again = again(false);
  if (cut.splits_backward()) {
    blocks.input_gradient = block(" input gradient", &LayerPasses::input_gradient);
    blocks.weight_gradient = block(" weight gradient", &LayerPasses::weight_gradient);
  }
  if (cut.goes_both_ways()) {
    blocks.backward_beside = block(" backward beside", &LayerPasses::whole_backward, true);
    if (in_group) blocks.again_beside = again(true);
  }
  if (!cut.splits_backward() || cut.goes_both_ways())
    blocks.backward = block(" backward", &LayerPasses::whole_backward);
  return blocks;
}

}  // namespace tessera::strategy::megatron
