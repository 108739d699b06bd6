#include "parameters.hpp"

namespace tessera::strategy::mcm {

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
  return learning::first_values(layout, KeyedRandom(seed, random_stream("mcm first parameters")));
}

}  // namespace tessera::strategy::mcm
