#include "primepar_linears.hpp"

#include <catch2/catch.hpp>

namespace tessera::strategy::primepar {
namespace {

/// A rank alone sees both ends of every message.
void check(const Traffic& traffic, const Carrier& carrier) {
  REQUIRE(traffic.received == traffic.derived);
  if (carrier.has_all()) REQUIRE(traffic.sent == traffic.received);
}

/// A gradient that a device makes of its own output.
Matrix local_gradient(const Matrix& output) {
  return output.unaryExpr([](std::int64_t value) { return value % 5; });
}

Matrix relu(const Matrix& values) { return values.cwiseMax(0); }
/// Of the gradient, what passes where the values do.
Matrix where_positive(const Matrix& gradient, const Matrix& values) {
  return (values.array() > 0).select(gradient, Matrix::Zero(gradient.rows(), gradient.cols()));
}

void forward(const Slices& first, const Slices& second, Execution& fc1, Execution& fc2, const ExpectedMlp& expected,
             Carrier& carrier, Traffic& between) {
  fc1.load(Tensor::input, Phase::forward, expected.input);
  fc1.load(Tensor::weight, Phase::forward, expected.weight1);
  fc1.run(Phase::forward);
  std::vector<Part> activated = fc1.parts(Tensor::output, Phase::forward);
  for (Part& part : activated) part.values = relu(part.values);
  fc2.load(Tensor::input, redistributed(activated, boxes(second, Tensor::input, Phase::forward, 0),
                                        forward_redistribution(first, second), carrier, between));
  fc2.load(Tensor::weight, Phase::forward, expected.weight2);
  fc2.run(Phase::forward);
}

void backward(const Slices& first, const Slices& second, Execution& fc1, Execution& fc2, const ExpectedMlp& expected,
              Carrier& carrier, Traffic& between) {
  fc2.align(Phase::backward);
  fc2.load(Tensor::output_gradient, Phase::backward, expected.gradient2);
  fc2.run(Phase::backward);
  const std::vector<Part> gradient = fc2.parts(Tensor::input_gradient, Phase::backward);
  fc2.align(Phase::gradient);
  fc2.run(Phase::gradient);

  fc1.align(Phase::backward);  // O with it, which the ReLU's gradient needs
  fc1.load(Tensor::output_gradient, redistributed(gradient, boxes(first, Tensor::output_gradient, Phase::backward, 0),
                                                  backward_redistribution(first, second), carrier, between));
  fc1.locally([](Buffers& own) {
    own[Tensor::output_gradient] = where_positive(own[Tensor::output_gradient], own[Tensor::output]);
  });
  fc1.run(Phase::backward);
  fc1.align(Phase::gradient);
  fc1.run(Phase::gradient);
}

}  // namespace

void train_linear(const Slices& slices, Carrier& carrier) {
  const auto extent = [&](int dimension) { return slices.op().dimensions[static_cast<std::size_t>(dimension)].extent; };
  Execution run(slices, carrier);
  Matrix weight = small_integers("W", extent(2), extent(3));
  run.load(Tensor::weight, Phase::forward, weight);
  for (const char* stream : {"I", "I of the second iteration"}) {
    const Matrix input = small_integers(stream, extent(0) * extent(1), extent(2));
    run.load(Tensor::input, Phase::forward, input);
    run.run(Phase::forward);
    const Matrix output = input * weight, gradient = local_gradient(output);
    REQUIRE(run.holds(Tensor::output, Phase::forward, output));

    run.align(Phase::backward);
    run.locally([](Buffers& own) { own[Tensor::output_gradient] = local_gradient(own[Tensor::output]); });
    run.run(Phase::backward);
    REQUIRE(run.holds(Tensor::input_gradient, Phase::backward, gradient * weight.transpose()));

    run.align(Phase::gradient);
    run.run(Phase::gradient);
    REQUIRE(run.holds(Tensor::weight_gradient, Phase::gradient, input.transpose() * gradient));

    run.align(Phase::forward);
    run.locally([](Buffers& own) { own[Tensor::weight] -= own[Tensor::weight_gradient]; });
    weight -= input.transpose() * gradient;
  }
  check(run.traffic(), carrier);
}

ExpectedMlp::ExpectedMlp(const Operator& fc1, const Operator& fc2) {
  const auto extent = [](const Operator& op, int dimension) {
    return op.dimensions[static_cast<std::size_t>(dimension)].extent;
  };
  input = small_integers("I", extent(fc1, 0) * extent(fc1, 1), extent(fc1, 2));
  weight1 = small_integers("W1", extent(fc1, 2), extent(fc1, 3));
  weight2 = small_integers("W2", extent(fc2, 2), extent(fc2, 3));
  output1 = input * weight1;
  hidden = relu(output1);
  output2 = hidden * weight2;
  gradient2 = small_integers("dO", output2.rows(), output2.cols());
  hidden_gradient = gradient2 * weight2.transpose();
  gradient1 = where_positive(hidden_gradient, output1);
}

void train_mlp(const Slices& first, const Slices& second, const ExpectedMlp& expected, Carrier& carrier) {
  Execution fc1(first, carrier), fc2(second, carrier);
  Traffic between;
  forward(first, second, fc1, fc2, expected, carrier, between);
  REQUIRE(fc2.holds(Tensor::output, Phase::forward, expected.output2));
  backward(first, second, fc1, fc2, expected, carrier, between);
  REQUIRE(fc1.holds(Tensor::input_gradient, Phase::backward, expected.gradient1 * expected.weight1.transpose()));
  REQUIRE(fc1.holds(Tensor::weight_gradient, Phase::gradient, expected.input.transpose() * expected.gradient1));
  REQUIRE(fc2.holds(Tensor::weight_gradient, Phase::gradient, expected.hidden.transpose() * expected.gradient2));
  for (const Traffic& traffic : {between, fc1.traffic(), fc2.traffic()}) check(traffic, carrier);
}

}  // namespace tessera::strategy::primepar
