#include "parameters.hpp"

#include <cmath>
#include <numbers>

#include "tessera/base/random.hpp"

namespace tessera::strategy::mcm {

std::size_t Layout::add(std::string name, std::size_t rows, std::size_t columns, std::size_t fan_in) {
  slices.push_back({std::move(name), size, rows, columns, fan_in});
  size += rows * columns;
  return slices.back().begin;
}

Layout::Layout(const NetworkShape& of) : shape(of) {
  const std::size_t width = of.width;
  input = add("input", of.features, width, of.features);
  input_bias = add("input_bias", 1, width, 0);
  for (std::uint32_t layer = 0; layer < of.layers; ++layer) {
    const std::string name = "graph" + std::to_string(layer);
    Layer& one = graph.emplace_back();
    one.self = add(name + "_self", width, width, 2 * width);
    one.neighbours = add(name + "_neighbours", width, width, 2 * width);
    one.bias = add(name + "_bias", 1, width, 0);
  }
  first = add("policy0", width, width, 2 * width);
  first_skip = add("policy0_skip", width, width, 2 * width);
  first_bias = add("policy0_bias", 1, width, 0);
  own = add("state_own", of.positions, width, width);
  sources = add("state_sources", of.positions, width, width);
  readers = add("state_readers", of.positions, width, width);
  second = add("policy1", width, width, width);
  second_bias = add("policy1_bias", 1, width, 0);
  logits = add("logits", width, of.positions, 0);
  logits_bias = add("logits_bias", 1, of.positions, 0);
  value = add("value", 2 * width, 1, 0);
  value_bias = add("value_bias", 1, 1, 0);
}

std::vector<float> first_parameters(const Layout& layout, std::uint64_t seed) {
  std::vector<float> values(layout.size, 0.0F);
  const KeyedRandom random(seed, random_stream("mcm first parameters"));
  for (const Slice& slice : layout.slices) {
    if (slice.fan_in == 0) continue;
    const double deviation = std::sqrt(2.0 / static_cast<double>(slice.fan_in));
    for (std::size_t i = slice.begin; i < slice.begin + slice.size(); ++i) {
      // Box and Muller: two uniform numbers make a normal one.
      const auto [first, second] = random.pair(i);
      const double radius = std::sqrt(KeyedRandom::to_exponential(first, 2.0));
      values[i] =
          static_cast<float>(deviation * radius * std::cos(2 * std::numbers::pi * KeyedRandom::to_real(second)));
    }
  }
  return values;
}

}  // namespace tessera::strategy::mcm
