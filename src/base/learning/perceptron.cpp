#include "tessera/base/learning/perceptron.hpp"

#include <string>

namespace tessera::learning {

PerceptronLayout::PerceptronLayout(const std::vector<std::size_t>& widths) {
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    const std::string name = "layer" + std::to_string(i);
    // The last layer begins with zeros, so that learning begins at one answer for all examples.
    const bool is_last = i + 2 == widths.size();
    Layer& layer = layers.emplace_back();
    layer.inputs = widths[i];
    layer.outputs = widths[i + 1];
    layer.weights = add(name, layer.inputs, layer.outputs, is_last ? 0 : layer.inputs);
    layer.bias = add(name + "_bias", 1, layer.outputs, 0);
  }
}

template <class Scalar>
void Perceptron<Scalar>::forward(const Scalar* parameters, std::span<const Scalar> features,
                                 PerceptronPass<Scalar>& pass) const {
  const std::size_t examples = features.size() / layout_.layers.front().inputs;
  pass.values.resize(layout_.layers.size() + 1);
  pass.values.front().assign(features.begin(), features.end());
  for (std::size_t i = 0; i < layout_.layers.size(); ++i) {
    const PerceptronLayout::Layer& layer = layout_.layers[i];
    std::vector<Scalar>& after = pass.values[i + 1];
    fill_rows(parameters + layer.bias, examples, layer.outputs, after);
    kernels_.product(pass.values[i].data(), parameters + layer.weights, after.data(), examples, layer.inputs,
                     layer.outputs);
    if (i + 1 < layout_.layers.size()) rectify(after);
  }
}

template <class Scalar>
void Perceptron<Scalar>::backward(const Scalar* parameters, const PerceptronPass<Scalar>& pass,
                                  std::vector<Scalar>& of_result, Scalar* gradient) const {
  const std::size_t examples = pass.result().size() / layout_.layers.back().outputs;
  std::vector<Scalar> of_input;
  for (std::size_t i = layout_.layers.size(); i-- > 0;) {
    const PerceptronLayout::Layer& layer = layout_.layers[i];
    const std::vector<Scalar>& before = pass.values[i];
    kernels_.product_of_transpose(before.data(), of_result.data(), gradient + layer.weights, layer.inputs, examples,
                                  layer.outputs);
    add_column_sums(of_result, examples, layer.outputs, gradient + layer.bias);
    if (i == 0) return;
    of_input.assign(examples * layer.inputs, 0);
    kernels_.product_by_transpose(of_result.data(), parameters + layer.weights, of_input.data(), examples,
                                  layer.outputs, layer.inputs);
    rectify_gradient(before, of_input);
    of_result.swap(of_input);
  }
}

template class Perceptron<float>;
template class Perceptron<double>;

}  // namespace tessera::learning
