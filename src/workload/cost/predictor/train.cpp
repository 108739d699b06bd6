// Learning the times of products: shapes are drawn, the model that is learnt from says how long each takes, and a
// network learns by how much that is more than the roofline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "../cost_models.hpp"
#include "network.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/learning/adam.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/workload/predictor.hpp"

namespace tessera::workload {
namespace {

using predictor::Basis;

/// A side of a product: its logarithm is uniform up to 2^`bits`. Half of all are multiples of 128, as models' widths
/// are, a quarter multiples of 8, the others any number.
std::int64_t drawn_side(const std::array<std::uint64_t, 2>& draw, double bits) {
  const auto side = static_cast<std::int64_t>(std::exp2(bits * KeyedRandom::to_real(draw[0])));
  const std::uint64_t kind = KeyedRandom::to_below(draw[1], 4);
  const std::int64_t grain = kind < 2 ? 128 : kind == 2 ? 8 : 1;
  return std::max<std::int64_t>(1, (side + grain / 2) / grain) * grain;
}

/// A product with that number, the same whoever draws it. What would take a device of a PFLOP/s more than a minute, and
/// operands of more than 2^40 numbers, no job has.
Operator drawn_product(const KeyedRandom& random, std::uint64_t index, const std::string& datatype) {
  for (std::uint64_t attempt = 0;; ++attempt) {
    const std::uint64_t first = (index * 64 + attempt) * 8;
    const std::int64_t m = drawn_side(random.pair(first), 16), n = drawn_side(random.pair(first + 1), 16),
                       k = drawn_side(random.pair(first + 2), 16);
    // Every second one is a single product, the others are several: heads, experts.
    const auto draw = random.pair(first + 3);
    const std::int64_t batch =
        draw[1] % 2 == 0 ? 1 : static_cast<std::int64_t>(std::exp2(8 * KeyedRandom::to_real(draw[0])));
    const double products = static_cast<double>(batch) * static_cast<double>(m) * static_cast<double>(n);
    if (products * static_cast<double>(k) < 0x1p54 && products < 0x1p40) return gemm("drawn", batch, m, n, k, datatype);
  }
}

struct Examples {
  std::vector<Operator> products;
  std::vector<Time> times;  ///< ps, without launches
};

/// Each rank works out its part of the times, and all have all of them.
Examples examples_of(const CostModel& truth, const machine::DeviceSpec& device, const PredictorTraining& training,
                     const char* stream, std::int64_t count, Communicator& comm) {
  const KeyedRandom random(training.seed, random_stream(stream));
  Examples examples;
  for (std::int64_t i = 0; i < count; ++i)
    examples.products.push_back(drawn_product(random, static_cast<std::uint64_t>(i), training.datatype));
  std::vector<Time> own;
  for (std::size_t i = static_cast<std::size_t>(comm.rank()); i < examples.products.size();
       i += static_cast<std::size_t>(comm.size())) {
    const Operator& op = examples.products[i];
    own.push_back(truth.time(op, device) - truth.parts(op, device).launch);
  }
  const std::vector<std::vector<Time>> all = all_gather(comm, std::move(own));
  for (std::size_t i = 0; i < examples.products.size(); ++i)
    examples.times.push_back(all[i % all.size()][i / all.size()]);
  return examples;
}

double off(double prediction, Time time) { return std::abs(prediction / static_cast<double>(time) - 1); }

PredictionErrors errors_of(const std::vector<double>& predictions, const std::vector<Time>& times) {
  std::vector<double> all;
  for (std::size_t i = 0; i < times.size(); ++i) all.push_back(off(predictions[i], times[i]));
  std::ranges::sort(all);
  const auto at = [&](double share) {
    return all[static_cast<std::size_t>(share * static_cast<double>(all.size() - 1))];
  };
  return {std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size()), at(0.5), at(0.9), all.back()};
}

double mean_off(const std::vector<double>& predictions, const std::vector<Time>& times) {
  double sum = 0;
  for (std::size_t i = 0; i < times.size(); ++i) sum += off(predictions[i], times[i]);
  return sum / static_cast<double>(times.size());
}

/// What bounds each product, in ps.
struct Bounds {
  std::vector<double> arithmetic, memory;

  Bounds(const Basis& basis, const std::vector<Operator>& products) {
    for (const Operator& op : products) {
      arithmetic.push_back(static_cast<double>(op.flops) / cost::peak_rate(op, *basis.device));
      memory.push_back(cost::memory_time(op, *basis.device, basis.memory_share));
    }
  }
};

/// The roofline with an efficiency and a ramp, as cost model roofline has them.
struct Roofline {
  double efficiency = 1, ramp = 0;

  [[nodiscard]] std::vector<double> times(const Bounds& bounds) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < bounds.memory.size(); ++i)
      all.push_back(std::max((bounds.arithmetic[i] + ramp) / efficiency, bounds.memory[i]));
    return all;
  }
};

/// The one with the least mean error, of 61 efficiencies and 26 ramps: what a rival can do with the same samples.
Roofline fitted(const Basis& basis, const Examples& examples) {
  const Bounds bounds(basis, examples.products);
  Roofline best;
  double least = mean_off(best.times(bounds), examples.times);
  for (int percent = 40; percent <= 100; ++percent) {
    for (int step = 0; step <= 25; ++step) {
      const Roofline tried{percent * 0.01, step == 0 ? 0.0 : 1e4 * std::exp2(0.5 * step)};  // up to 58 us
      const double mean = mean_off(tried.times(bounds), examples.times);
      if (mean >= least) continue;
      least = mean;
      best = tried;
    }
  }
  return best;
}

/// Weights that learn from all examples, in an order that is drawn anew for each pass over them.
class Learning {
 public:
  Learning(const Basis& basis, const Examples& examples, const PredictorTraining& training,
           learning::Kernels<float> kernels)
      : kernels_(kernels), training_(training), order_(examples.products.size()) {
    for (std::size_t i = 0; i < examples.products.size(); ++i) {
      predictor::add_features(basis, examples.products[i], features_);
      const double over = static_cast<double>(examples.times[i]) / predictor::bound(basis, examples.products[i]);
      targets_.push_back(static_cast<float>(std::log(std::max(1.0, over))));
    }
    weights_ = learning::first_values(predictor::layout(),
                                      KeyedRandom(training.seed, random_stream("predictor first weights")));
    adam_ = learning::Adam(weights_.size());
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// The mean square of what the logarithms were off.
  double epoch(std::int64_t index) {
    shuffle(order_, KeyedRandom(training_.seed + static_cast<std::uint64_t>(index), random_stream("predictor order")));
    const double part = static_cast<double>(index) / static_cast<double>(training_.epochs);
    const double length = 0.5 * longest_step * (1 + std::cos(std::numbers::pi * part));  // down to nothing
    double squares = 0;
    for (std::size_t begin = 0; begin < order_.size(); begin += together)
      squares += step(begin, std::min(begin + together, order_.size()), length);
    return squares / static_cast<double>(order_.size());
  }
  [[nodiscard]] const std::vector<float>& weights() const { return weights_; }

 private:
  static constexpr std::size_t together = 128;
  static constexpr double longest_step = 3e-3;
  static constexpr double most_norm = 10;

  double step(std::size_t begin, std::size_t end, double length) {
    batch_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const float* one = features_.data() + order_[i] * predictor::features;
      batch_.insert(batch_.end(), one, one + predictor::features);
    }
    const learning::Perceptron<float> network(predictor::layout(), kernels_);
    network.forward(weights_.data(), batch_, pass_);
    std::vector<float> off = pass_.result();
    double squares = 0;
    for (std::size_t i = begin; i < end; ++i) {
      float& one = off[i - begin];
      one -= targets_[order_[i]];
      squares += static_cast<double>(one) * static_cast<double>(one);
      one *= 2 / static_cast<float>(end - begin);
    }
    gradient_.assign(weights_.size(), 0);
    network.backward(weights_.data(), pass_, off, gradient_.data());
    adam_.step(weights_, gradient_, length, most_norm);
    return squares;
  }

  learning::Kernels<float> kernels_;
  PredictorTraining training_;
  std::vector<std::size_t> order_;
  std::vector<float> features_, targets_, weights_, gradient_, batch_;
  learning::Adam adam_{0};
  learning::PerceptronPass<float> pass_;
};

DataTable judged_table(const Examples& held_out, const std::vector<double>& predictions,
                       const std::vector<double>& rooflines) {
  std::vector<std::int64_t> batch, m, n, k, predicted, roofline;
  for (std::size_t i = 0; i < held_out.products.size(); ++i) {
    const Operator& op = held_out.products[i];
    batch.push_back(op.batch);
    m.push_back(op.m);
    n.push_back(op.n);
    k.push_back(op.k);
    predicted.push_back(std::llround(predictions[i]));
    roofline.push_back(std::llround(rooflines[i]));
  }
  DataTable table{"held_out", "Products that were not learnt from, one a row.", {}};
  table.integer("batch", "1", "independent products", batch).integer("m", "1", "rows of the left one", m);
  table.integer("n", "1", "columns of the right one", n).integer("k", "1", "what is summed over", k);
  table.integer("true_ps", "ps", "by the model that was learnt from", held_out.times);
  table.integer("predicted_ps", "ps", "by the network", predicted);
  table.integer("roofline_ps", "ps", "the longer of arithmetic and memory traffic at peak", roofline);
  return table;
}

DataTable errors_table(const TrainedPredictor& trained) {
  const std::vector<PredictionErrors> rows{trained.predictor, trained.roofline, trained.fitted_roofline};
  const std::string fitted = fmt::format("roofline, {:.2f} of peak and a ramp of {}", trained.efficiency,
                                         config::format_rounded(trained.ramp, config::Unit::time));
  DataTable table{"errors", "How far predictions of held-out products are from their times, as shares of these.", {}};
  table.text("of", "what predicts", {"predictor", "roofline at peak", fitted});
  table.number("mean", "1", "over all", values_of(rows, &PredictionErrors::mean));
  table.number("median", "1", "of all", values_of(rows, &PredictionErrors::median));
  table.number("nine_tenths", "1", "that nine in ten stay below", values_of(rows, &PredictionErrors::of_nine_tenths));
  table.number("most", "1", "of any", values_of(rows, &PredictionErrors::most));
  return table;
}

void check(const machine::DeviceSpec& device, const std::string& datatype) {
  if (!device.array)
    throw KeyError("machine.device", "a predictor needs [machine.device.array]: " + device.name + " has none");
  static_cast<void>(cost::peak_rate(gemm("drawn", 1, 1, 1, 1, datatype), device));
}

}  // namespace

TrainedPredictor train_predictor(const CostModel& truth, const machine::DeviceSpec& device,
                                 const PredictorTraining& training, Communicator& comm,
                                 const PredictorProgress& progress) {
  check(device, training.datatype);
  const Basis basis{&device, truth.memory_share(OperatorKind::gemm)};
  const Examples samples = examples_of(truth, device, training, "predictor samples", training.samples, comm);
  const Examples held_out = examples_of(truth, device, training, "predictor held out", training.held_out, comm);
  TrainedPredictor result;
  const learning::Kernels<float> kernels = learning::common_kernels(comm);
  result.kernels = kernels.name;
  Learning learning(basis, samples, training, kernels);
  for (std::int64_t i = 0; i < training.epochs; ++i) {
    const double squares = learning.epoch(i);
    if (progress)
      progress(static_cast<double>(i + 1) / static_cast<double>(training.epochs),
               fmt::format("off by {:.2f} %", 100 * std::sqrt(squares)));
  }
  const std::vector<double> predictions = predictor::predicted(learning.weights(), basis, held_out.products);
  const Bounds bounds(basis, held_out.products);
  const std::vector<double> rooflines = Roofline().times(bounds);
  const Roofline best = fitted(basis, samples);
  result.predictor = errors_of(predictions, held_out.times);
  result.roofline = errors_of(rooflines, held_out.times);
  result.fitted_roofline = errors_of(best.times(bounds), held_out.times);
  result.efficiency = best.efficiency;
  result.ramp = std::llround(best.ramp);
  result.judged = judged_table(held_out, predictions, rooflines);
  result.errors = errors_table(result);
  result.data =
      predictor::data_of(learning.weights(), predictor::basis_text(basis, training.datatype), training.datatype);
  return result;
}

}  // namespace tessera::workload
