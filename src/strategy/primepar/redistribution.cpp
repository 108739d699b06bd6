#include "redistribution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

std::optional<Box> overlap(const Box& a, const Box& b) {
  Box common;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const Range range{std::max(a[i].begin, b[i].begin), std::min(a[i].end, b[i].end)};
    if (range.size() <= 0) return std::nullopt;
    common.push_back(range);
  }
  return common;
}

std::string extents_text(const Operator& op, Tensor tensor) {
  std::string text;
  for (const int dimension : op.dimensions_of(tensor)) {
    const std::int64_t extent = op.dimensions[static_cast<std::size_t>(dimension)].extent;
    text += fmt::format("{}{}", text.empty() ? "" : " x ", extent);
  }
  return text;
}

void check_same_tensor(const Slices& producer, const Slices& consumer) {
  const std::string made = extents_text(producer.op(), Tensor::output);
  const std::string read = extents_text(consumer.op(), Tensor::input);
  if (made != read)
    throw InputError(fmt::format("operator {} makes {} elements, and operator {} reads {}", producer.op().name, made,
                                 consumer.op().name, read));
  if (producer.devices() != consumer.devices())
    throw InputError(fmt::format("operator {} is on {} devices, and operator {} on {}", producer.op().name,
                                 producer.devices(), consumer.op().name, consumer.devices()));
}

}  // namespace

std::vector<Box> boxes(const Slices& slices, Tensor tensor, Phase phase, int step) {
  std::vector<Box> found;
  for (int device = 0; device < slices.devices(); ++device) found.push_back(slices.box(tensor, device, phase, step));
  return found;
}

std::vector<Piece> redistribute(const std::vector<Box>& held, const std::vector<Box>& needed) {
  std::map<Box, std::vector<int>> holders;
  for (std::size_t device = 0; device < held.size(); ++device)
    holders[held[device]].push_back(static_cast<int>(device));
  std::vector<Piece> pieces;
  for (std::size_t to = 0; to < needed.size(); ++to) {
    const auto device = static_cast<int>(to);
    // The least exclusive-or shares most leading bits; no two holders have the same.
    const auto nearer = [device](int a, int b) { return (a ^ device) < (b ^ device); };
    std::int64_t missing = elements_of(needed[to]);
    for (const auto& [slice, members] : holders) {
      const std::optional<Box> common = overlap(slice, needed[to]);
      if (!common) continue;
      missing -= elements_of(*common);
      const int from = *std::min_element(members.begin(), members.end(), nearer);
      if (from != device) pieces.push_back({from, device, *common});
    }
    if (missing != 0) throw InternalError(fmt::format("device {} needs elements that no device holds once", device));
  }
  return pieces;
}

std::vector<Piece> forward_redistribution(const Slices& producer, const Slices& consumer) {
  check_same_tensor(producer, consumer);
  return redistribute(boxes(producer, Tensor::output, Phase::forward, producer.steps() - 1),
                      boxes(consumer, Tensor::input, Phase::forward, 0));
}

std::vector<Piece> backward_redistribution(const Slices& producer, const Slices& consumer) {
  check_same_tensor(producer, consumer);
  return redistribute(boxes(consumer, Tensor::input_gradient, Phase::backward, consumer.steps() - 1),
                      boxes(producer, Tensor::output_gradient, Phase::backward, 0));
}

}  // namespace tessera::strategy::primepar
