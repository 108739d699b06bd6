#include "policy_data.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr const char* kind = "mcm policy";

const Tensor& tensor_of(const Tensors& data, const std::string& name, std::size_t rows, std::size_t columns) {
  const Tensor* tensor = data.find(name);
  if (tensor == nullptr) throw InputError(fmt::format("the policy has no tensor \"{}\"", name));
  if (tensor->rows != rows || tensor->columns != columns || tensor->values.size() != rows * columns)
    throw InputError(fmt::format("the policy's networks have another shape: tensor \"{}\" is {} x {}, expected {} x {}",
                                 name, tensor->rows, tensor->columns, rows, columns));
  for (const float value : tensor->values) {
    if (!std::isfinite(value))
      throw InputError(fmt::format("the policy's tensor \"{}\" has values that are no numbers", name));
  }
  return *tensor;
}

void check_kind(const Tensors& data) {
  if (data.note("kind") != kind) throw InputError("it is no policy of strategy mcm");
}

Tensor flat(std::string name, std::string description, const std::vector<float>& values) {
  return {std::move(name), std::move(description), 1, values.size(), values};
}

}  // namespace

std::int64_t number_of(const Tensors& data, const std::string& note) {
  const std::string text = data.note(note);
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw InputError(fmt::format("the policy's note \"{}\" is no number", note));
  return value;
}

Tensors policy_data(const Layout& layout, const std::vector<float>& parameters) {
  Tensors data;
  data.notes = {{"kind", kind}, {"features", feature_set()}, {"chips", std::to_string(layout.shape.positions)}};
  for (const Slice& slice : layout.slices) {
    const auto begin = parameters.begin() + static_cast<std::ptrdiff_t>(slice.begin);
    data.all.push_back({slice.name, "a layer's weights: what comes in by what goes out", slice.rows, slice.columns,
                        std::vector<float>(begin, begin + static_cast<std::ptrdiff_t>(slice.size()))});
  }
  return data;
}

void add_optimizer(const Adam& adam, Tensors& data) {
  data.notes.emplace_back("adam_steps", std::to_string(adam.steps));
  data.all.push_back(flat("adam_mean", "Adam's first moment, of all weights as they lie", adam.mean));
  data.all.push_back(flat("adam_square", "Adam's second moment", adam.square));
}

std::vector<float> parameters_of(const Tensors& data, const Layout& layout) {
  check_kind(data);
  if (data.note("features") != feature_set())
    throw InputError(fmt::format("the policy knows nodes by feature set \"{}\", this program by \"{}\"",
                                 data.note("features"), feature_set()));
  std::vector<float> parameters(layout.size);
  for (const Slice& slice : layout.slices) {
    const Tensor& tensor = tensor_of(data, slice.name, slice.rows, slice.columns);
    std::copy(tensor.values.begin(), tensor.values.end(),
              parameters.begin() + static_cast<std::ptrdiff_t>(slice.begin));
  }
  return parameters;
}

std::uint32_t chips_of(const Tensors& data) {
  check_kind(data);
  const std::int64_t chips = number_of(data, "chips");
  if (chips < 1 || chips > max_chips) throw InputError(fmt::format("a policy for {} chips", chips));
  return static_cast<std::uint32_t>(chips);
}

Adam optimizer_of(const Tensors& data, std::size_t size) {
  Adam adam(0);
  adam.steps = number_of(data, "adam_steps");
  adam.mean = tensor_of(data, "adam_mean", 1, size).values;
  adam.square = tensor_of(data, "adam_square", 1, size).values;
  return adam;
}

}  // namespace tessera::strategy::mcm
