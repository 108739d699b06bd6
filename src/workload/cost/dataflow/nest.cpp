#include "nest.hpp"

#include <algorithm>
#include <vector>

#include "tessera/base/integers.hpp"

namespace tessera::workload::dataflow {
namespace {

/// Rounds of a loop that are alike: the first of them, and how many.
struct Run {
  std::int64_t index = 0, count = 1;
};

/// The first `apart` rounds are runs of their own, and so is the last, whose tile may be smaller.
std::vector<Run> runs_of(std::int64_t rounds, std::int64_t apart) {
  std::vector<Run> runs;
  for (std::int64_t index = 0; index < std::min(rounds, apart); ++index) runs.push_back({index, 1});
  if (rounds > apart + 1) runs.push_back({apart, rounds - apart - 1});
  if (rounds > apart) runs.push_back({rounds - 1, 1});
  return runs;
}

class Execution {
 public:
  Execution(const Product& product, const Nest& nest, const std::function<void(const Step&)>& visit)
      : product_(product), nest_(nest), visit_(visit) {
    for (std::size_t side = 0; side < 4; ++side) rounds_[side] = ceil_div(product.sides[side], nest.tile[side]);
  }

  void run() {
    // The second product of a batch is the first one that finds another one's tiles there, the third one the first
    // that follows one of that kind.
    for (const Run& batch : runs_of(rounds_[of_batch], 2)) {
      at_[of_batch] = batch.index;
      repeats_ = batch.count;
      one_product();
    }
    repeats_ = 1;
    Step last;
    leave(last.moved);
    visit_(last);
  }

 private:
  void one_product() {
    const auto [outer, middle, inner] = nest_.order;
    // Rows of images are not alike: those at an edge need fewer.
    const bool differ = product_.image && inner == of_m;
    const std::vector<Run> innermost = runs_of(rounds_[inner], differ ? rounds_[inner] : 1);
    for (at_[outer] = 0; at_[outer] < rounds_[outer]; ++at_[outer]) {
      for (at_[middle] = 0; at_[middle] < rounds_[middle]; ++at_[middle]) {
        for (const Run& run : innermost) {
          at_[inner] = run.index;
          step(run.count);
        }
      }
    }
  }

  [[nodiscard]] std::int64_t extent(Side side) const {
    return std::min(nest_.tile[side], product_.sides[side] - at_[side] * nest_.tile[side]);
  }
  [[nodiscard]] bool is_there(Side a, Side b) const {
    return has_tiles_ && at_[of_batch] == there_[of_batch] && at_[a] == there_[a] && at_[b] == there_[b];
  }

  void step(std::int64_t count) {
    Step step{count, repeats_, {extent(of_batch), extent(of_m), extent(of_n), extent(of_k)}, {}};
    const auto [batch, m, n, k] = step.extent;
    if (!is_there(of_m, of_k)) step.moved.input = batch * product_.input_of(at_[of_m] * nest_.tile[of_m], m) * k;
    if (!is_there(of_n, of_k)) step.moved.weights = batch * product_.weights_of(n, k);
    if (!is_there(of_m, of_n)) {
      leave(step.moved);
      const std::int64_t sums = batch * product_.results_of(m, n);
      (at_[of_k] == 0 ? step.moved.added : step.moved.sums_read) = sums;
      sums_there_ = sums;
    }
    visit_(step);
    there_ = at_;
    has_tiles_ = true;
  }

  /// Sums that have met the last tile of k are results, others will have to come again.
  void leave(Accesses& moved) const {
    if (!has_tiles_) return;
    (there_[of_k] == rounds_[of_k] - 1 ? moved.results : moved.sums_written) = sums_there_;
  }

  const Product& product_;
  const Nest& nest_;
  const std::function<void(const Step&)>& visit_;
  Sides rounds_{}, at_{}, there_{};
  std::int64_t sums_there_ = 0, repeats_ = 1;
  bool has_tiles_ = false;
};

}  // namespace

Accesses& Accesses::operator+=(const Accesses& other) {
  input += other.input;
  weights += other.weights;
  sums_read += other.sums_read;
  sums_written += other.sums_written;
  added += other.added;
  results += other.results;
  return *this;
}

Accesses operator*(const Accesses& a, std::int64_t factor) {
  return {a.input * factor,        a.weights * factor, a.sums_read * factor,
          a.sums_written * factor, a.added * factor,   a.results * factor};
}

void execute(const Product& product, const Nest& nest, const std::function<void(const Step&)>& visit) {
  Execution(product, nest, visit).run();
}

Accesses executed(const Product& product, const Nest& nest) {
  Accesses all;
  execute(product, nest, [&](const Step& step) { all += step.moved * (step.count * step.repeats); });
  return all;
}

Accesses closed_form(const Product& product, const Nest& nest) {
  Sides rounds{};
  for (std::size_t side = 0; side < 4; ++side) rounds[side] = ceil_div(product.sides[side], nest.tile[side]);
  // How often what does not depend on `other` comes: in each round of that loop, or once.
  const auto times = [&](Side other) {
    bool is_inside = false;
    std::int64_t turns_inside = 1;
    for (const Side side : nest.order) {
      if (is_inside) turns_inside *= rounds[side];
      is_inside |= side == other;
    }
    return turns_inside > 1 ? rounds[other] : 1;
  };
  const auto [batch, m, n, k] = product.sides;
  std::int64_t input_of_m = m;
  if (product.image) {
    input_of_m = 0;
    for (std::int64_t at = 0; at < m; at += nest.tile[of_m])
      input_of_m += product.input_of(at, std::min(nest.tile[of_m], m - at));
  }
  const std::int64_t sums = batch * product.results_of(m, n), again = times(of_k) - 1;
  return {batch * input_of_m * k * times(of_n),
          batch * product.weights_of(n, k) * times(of_m),
          sums * again,
          sums * again,
          sums,
          sums};
}

double bytes_read(const Product& product, const Accesses& a) {
  return product.input * static_cast<double>(a.input) + product.weight * static_cast<double>(a.weights) +
         static_cast<double>(sum_bytes * a.sums_read) + product.added * static_cast<double>(a.added);
}

double bytes_written(const Product& product, const Accesses& a) {
  return static_cast<double>(sum_bytes * a.sums_written) + product.result * static_cast<double>(a.results);
}

}  // namespace tessera::workload::dataflow
