#include "slices.hpp"

#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {

SquareSlices square_slices(Phase phase, int row, int column, int step, int log_side) {
  const int side = 1 << log_side;
  const int delta = step == side - 1 ? 1 : 0;
  const auto mod = [side](int index) { return index & (side - 1); };  // -1 is side - 1
  switch (phase) {
    case Phase::forward:
      return {row, mod(row + column + step), column};
    case Phase::backward:
      return {row, mod(row + column - 1), mod(column + step)};
    case Phase::gradient:
      return {mod(row + step), mod(row + column - 1 + delta), mod(column - 1 + delta)};
  }
  throw InternalError("a phase that is none");
}

Slices::Slices(Operator op, Partition partition, int bits)
    : op_(std::move(op)), partition_(std::move(partition)), bits_(bits) {
  check_partition(op_, partition_, bits_);
  counts_ = slice_counts(op_, partition_);
  for (std::size_t i = 0; i < counts_.size(); ++i) is_even_ = is_even_ && op_.dimensions[i].extent % counts_[i] == 0;
  int shift = bits_;
  for (const Primitive& primitive : partition_) {
    shift -= primitive.bits();
    if (!primitive.is_square()) cut_mask_ |= 1 << shift;
    levels_.push_back({primitive, shift, 1});
  }
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    level->step_stride = steps_;
    steps_ <<= level->primitive.log_side;
  }
}

Place Slices::place(const Level& level, int device) const {
  const int k = level.primitive.log_side;
  const int mask = (1 << k) - 1;
  return {(device >> (level.shift + k)) & mask, (device >> level.shift) & mask};
}

Position Slices::at(int device, Phase phase, int step) const {
  Position index{};
  const auto refine = [&index](int dimension, int log_count, int within) {
    std::int32_t& slice = index[static_cast<std::size_t>(dimension)];
    slice = (slice << log_count) + within;
  };
  for (const Level& level : levels_) {
    const int k = level.primitive.log_side;
    if (!level.primitive.is_square()) {
      refine(level.primitive.dimension, 1, (device >> level.shift) & 1);
      continue;
    }
    const auto [row, column] = place(level, device);
    const int own_step = (step / level.step_stride) & ((1 << k) - 1);
    const SquareSlices within = square_slices(phase, row, column, own_step, k);
    refine(op_.rows, k, within.rows);
    refine(op_.contracted, k, within.contracted);
    refine(op_.columns, k, within.columns);
  }
  return index;
}

std::int64_t Slices::key(const std::vector<int>& dimensions, int device, Phase phase, int step) const {
  const Position index = at(device, phase, step);
  std::int64_t key = 0;
  for (const int dimension : dimensions) {
    const auto i = static_cast<std::size_t>(dimension);
    key = key * counts_[i] + index[i];
  }
  return key;
}

std::vector<std::int64_t> Slices::layout(Tensor tensor, Phase phase, int step) const {
  std::vector<std::int64_t> keys;
  for (int device = 0; device < devices(); ++device)
    keys.push_back(key(op_.dimensions_of(tensor), device, phase, step));
  return keys;
}

std::vector<Range> Slices::ranges(int device, Phase phase, int step) const {
  const Position index = at(device, phase, step);
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    const std::int64_t extent = op_.dimensions[i].extent;
    ranges.push_back({index[i] * extent / counts_[i], (index[i] + 1) * extent / counts_[i]});
  }
  return ranges;
}

Box Slices::box(Tensor tensor, int device, Phase phase, int step) const {
  const std::vector<Range> all = ranges(device, phase, step);
  Box box;
  for (const int dimension : op_.dimensions_of(tensor)) box.push_back(all[static_cast<std::size_t>(dimension)]);
  return box;
}

std::vector<Place> Slices::places(int device) const {
  std::vector<Place> places;
  for (const Level& level : levels_) {
    if (level.primitive.is_square()) places.push_back(place(level, device));
  }
  return places;
}

}  // namespace tessera::strategy::primepar
