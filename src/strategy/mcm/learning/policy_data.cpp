#include "policy_data.hpp"

#include <fmt/core.h>

#include <charconv>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr const char* kind = "mcm policy";

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
  learning::add_tensors(layout, parameters, data);
  return data;
}

void add_optimizer(const learning::Adam& adam, Tensors& data) {
  data.notes.emplace_back("adam_steps", std::to_string(adam.steps));
  data.all.push_back(flat("adam_mean", "Adam's first moment, of all weights as they lie", adam.mean));
  data.all.push_back(flat("adam_square", "Adam's second moment", adam.square));
}

std::vector<float> parameters_of(const Tensors& data, const Layout& layout) {
  check_kind(data);
  if (data.note("features") != feature_set())
    throw InputError(fmt::format("the policy knows nodes by feature set \"{}\", this program by \"{}\"",
                                 data.note("features"), feature_set()));
  return learning::values_of(data, layout, "policy");
}

std::uint32_t chips_of(const Tensors& data) {
  check_kind(data);
  const std::int64_t chips = number_of(data, "chips");
  if (chips < 1 || chips > max_chips) throw InputError(fmt::format("a policy for {} chips", chips));
  return static_cast<std::uint32_t>(chips);
}

learning::Adam optimizer_of(const Tensors& data, std::size_t size) {
  learning::Adam adam(0);
  adam.steps = number_of(data, "adam_steps");
  adam.mean = learning::tensor_of(data, "adam_mean", 1, size, "policy").values;
  adam.square = learning::tensor_of(data, "adam_square", 1, size, "policy").values;
  return adam;
}

}  // namespace tessera::strategy::mcm
