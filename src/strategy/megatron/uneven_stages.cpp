#include "uneven_stages.hpp"

#include <algorithm>

namespace tessera::strategy::megatron {
namespace {

using workload::OperatorSet;

class Times {
 public:
  Times(const Cut& cut, const workload::CostModel& cost) : cut_(cut), cost_(cost) {}

  /// The mean of the model's layers, as they run on a stage.
  [[nodiscard]] double layer(std::size_t stage) const {
    std::vector<std::int64_t> count(workload::layer_kinds(*cut_.model));
    for (std::int64_t i = 0; i < cut_.model->layers; ++i) ++count[workload::kind_of(*cut_.model, i)];
    double sum = 0;
    for (std::uint32_t kind = 0; kind < count.size(); ++kind)
      sum += static_cast<double>(count[kind]) * layer(stage, kind);
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

 private:
  [[nodiscard]] double layer(std::size_t stage, std::uint32_t kind) const {
    const auto layer = cut_.layer(kind, 0);
    const workload::LayerSections& again = cut_.recomputed[stage].again;
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
  std::vector<double> layer(stages), time(stages);
  for (std::size_t stage = 0; stage < stages; ++stage) {
    layer[stage] =
        stage > 0 && cut.recomputed[stage] == cut.recomputed[stage - 1] ? layer[stage - 1] : times.layer(stage);
    time[stage] = static_cast<double>(chunks) * layer[stage];
  }
  std::vector<std::size_t> of_stage(stages, chunks);
  time.front() += times.embedding();
  time.back() += times.head();
  for (std::int64_t left = cut.model->layers - cut.options.pipeline * cut.options.interleave; left > 0; --left) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(time) - time.begin());
    time[least] += layer[least];
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
