#include "uneven_stages.hpp"

#include <algorithm>

#include "prediction_blocks.hpp"
#include "vision_blocks.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::OperatorSet;

class Times {
 public:
  Times(const Cut& cut, const workload::CostModel& cost) : cut_(cut), cost_(cost) {}

  /// The mean of the model's layers, as they run on a stage; `repeat`: again in the backward pass.
  [[nodiscard]] double layer(std::size_t stage, Repeat repeat) const {
    std::vector<std::int64_t> count(workload::layer_kinds(*cut_.model));
    for (std::int64_t i = 0; i < cut_.model->layers; ++i) ++count[workload::kind_of(*cut_.model, i)];
    double sum = 0;
    for (std::uint32_t kind = 0; kind < count.size(); ++kind)
      sum += static_cast<double>(count[kind]) * layer(stage, kind, repeat);
    return sum / static_cast<double>(cut_.model->layers);
  }
  [[nodiscard]] double embedding() const {
    const auto embedding = workload::embedding_operators(*cut_.model, cut_.layer_shape(0, 0));
    return both(embedding.lookup) + both(embedding.combine);
  }
  [[nodiscard]] double head() const {
    const auto head = workload::head_operators(*cut_.model, cut_.layer_shape(0, 0));
    double sum = both(head.norm) + both(head.logits);
    for (const OperatorSet& set : head.loss) sum += cut_.training() ? both(set) : 0;
    return sum;
  }

  /// Modules that predict further ahead.
  [[nodiscard]] double predictions() const {
    if (!cut_.predicts()) return 0;
    const auto stage = static_cast<std::uint32_t>(cut_.options.pipeline - 1);
    const std::uint32_t kind = workload::prediction_kind(*cut_.model);
    const auto own = workload::prediction_operators(*cut_.model, cut_.prediction_shape());
    const Repeat repeat = prediction_repeat(cut_, stage);
    const bool is_again = cut_.repeated(stage, repeat).again.all();
    const double again = is_again ? of(own.combination.forward) + of(own.projection.forward) : 0;
    return static_cast<double>(cut_.model->prediction_depth) *
           (embedding() + both(own.combination) + both(own.projection) + again + layer(stage, kind, repeat) + head());
  }

 private:
  [[nodiscard]] double layer(std::size_t stage, std::uint32_t kind, Repeat repeat) const {
    const auto layer = cut_.layer(kind, 0);
    const workload::LayerSections again = cut_.repeated(static_cast<std::uint32_t>(stage), repeat).again;
    const auto sections = layer.in_order();
    double sum = 0;
    for (std::size_t i = 0; i < sections.size(); ++i)
      sum += both(*sections[i]) + (again[i] ? of(sections[i]->forward) : 0);
    return sum;
  }
  [[nodiscard]] double both(const OperatorSet& set) const {
    return of(set.forward) + (cut_.training() ? of(set.input_gradient) + of(set.weight_gradient) : 0);
  }
  [[nodiscard]] double of(const std::vector<workload::Operator>& operators) const {
    double sum = 0;
    for (const workload::Operator& op : operators) sum += static_cast<double>(cost_.time(op, *cut_.device_spec));
    return sum;
  }

  const Cut& cut_;
  const workload::CostModel& cost_;
};

}  // namespace

// One layer after the other goes to the stage that is the first to be done with it. In a stage, earlier chunks take the
// layers that are left over.
std::vector<std::int64_t> spread_layers(const Cut& cut, const workload::CostModel& cost) {
  const Times times(cut, cost);
  const auto stages = static_cast<std::size_t>(cut.options.pipeline);
  const auto chunks = static_cast<std::size_t>(cut.options.interleave);
  std::vector<double> again(stages), once(stages), time(stages);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const bool is_alike = stage > 0 && cut.recomputed[stage] == cut.recomputed[stage - 1];
    again[stage] = is_alike ? again[stage - 1] : times.layer(stage, Repeat::own);
    once[stage] = stage > 0 ? once[stage - 1] : times.layer(stage, Repeat::none);
  }
  std::vector<std::size_t> of_stage(stages, chunks);
  // Of the layer that a stage gets next.
  const auto next = [&](std::size_t stage, std::size_t before) {
    const auto place = static_cast<std::int64_t>(before / chunks);
    return cut.repeat(static_cast<std::uint32_t>(stage), place) == Repeat::none ? once[stage] : again[stage];
  };
  for (std::size_t stage = 0; stage < stages; ++stage) time[stage] = static_cast<double>(chunks) * next(stage, 0);
  time.front() += times.embedding() + vision_time(cut, cost);
  time.back() += times.head() + times.predictions();
  for (std::int64_t left = cut.model->layers - cut.options.pipeline * cut.options.interleave; left > 0; --left) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(time) - time.begin());
    time[least] += next(least, of_stage[least]);
    ++of_stage[least];
  }
  std::vector<std::int64_t> layers;
  for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
    for (std::size_t stage = 0; stage < stages; ++stage)
      layers.push_back(
          static_cast<std::int64_t>(of_stage[stage] / chunks + (chunk < of_stage[stage] % chunks ? 1 : 0)));
  }
  return layers;
}

}  // namespace tessera::strategy::megatron
