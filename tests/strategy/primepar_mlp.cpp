// Proof by execution of two linears with a ReLU between them, as an MLP has them: all pairs of sequences, and what the
// derived redistributions carry between their layouts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "primepar_execution.hpp"

using namespace tessera::strategy::primepar;

namespace {

Matrix relu(const Matrix& values) { return values.cwiseMax(0); }
/// Of the gradient, what passes where the values do.
Matrix where_positive(const Matrix& gradient, const Matrix& values) {
  return (values.array() > 0).select(gradient, Matrix::Zero(gradient.rows(), gradient.cols()));
}

/// What the whole matrices give.
struct Expected {
  Matrix input, weight1, weight2, output1, hidden, output2, gradient2, hidden_gradient, gradient1;

  Expected(const Operator& fc1, const Operator& fc2) {
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
};

void forward(const Slices& first, const Slices& second, Execution& fc1, Execution& fc2, const Expected& expected,
             Traffic& between) {
  fc1.load(Tensor::input, Phase::forward, expected.input);
  fc1.load(Tensor::weight, Phase::forward, expected.weight1);
  fc1.run(Phase::forward);
  std::vector<Part> hidden = fc1.parts(Tensor::output, Phase::forward);
  for (Part& part : hidden) part.values = relu(part.values);
  fc2.load(Tensor::input, redistributed(hidden, boxes(second, Tensor::input, Phase::forward, 0),
                                        forward_redistribution(first, second), between));
  fc2.load(Tensor::weight, Phase::forward, expected.weight2);
  fc2.run(Phase::forward);
}

void backward(const Slices& first, const Slices& second, Execution& fc1, Execution& fc2, const Expected& expected,
              Traffic& between) {
  fc2.align(Phase::backward);
  fc2.load(Tensor::output_gradient, Phase::backward, expected.gradient2);
  fc2.run(Phase::backward);
  const std::vector<Part> gradient = fc2.parts(Tensor::input_gradient, Phase::backward);
  fc2.align(Phase::gradient);
  fc2.run(Phase::gradient);

  fc1.align(Phase::backward);  // O with it, which the ReLU's gradient needs
  fc1.load(Tensor::output_gradient, redistributed(gradient, boxes(first, Tensor::output_gradient, Phase::backward, 0),
                                                  backward_redistribution(first, second), between));
  fc1.locally([](Buffers& own) {
    own[Tensor::output_gradient] = where_positive(own[Tensor::output_gradient], own[Tensor::output]);
  });
  fc1.run(Phase::backward);
  fc1.align(Phase::gradient);
  fc1.run(Phase::gradient);
}

void train_mlp(const Slices& first, const Slices& second, const Expected& expected) {
  InProcess here;
  Execution fc1(first, here), fc2(second, here);
  Traffic between;
  forward(first, second, fc1, fc2, expected, between);
  REQUIRE(fc2.holds(Tensor::output, Phase::forward, expected.output2));
  backward(first, second, fc1, fc2, expected, between);
  REQUIRE(fc1.holds(Tensor::input_gradient, Phase::backward, expected.gradient1 * expected.weight1.transpose()));
  REQUIRE(fc1.holds(Tensor::weight_gradient, Phase::gradient, expected.input.transpose() * expected.gradient1));
  REQUIRE(fc2.holds(Tensor::weight_gradient, Phase::gradient, expected.hidden.transpose() * expected.gradient2));
  for (const Traffic& traffic : {between, fc1.traffic(), fc2.traffic()}) {
    REQUIRE(traffic.sent == traffic.received);
    REQUIRE(traffic.sent == traffic.derived);
  }
}

/// Every sequence of the first linear with every one of the second.
void train_all_pairs(int bits, const Operator& fc1, const Operator& fc2, std::size_t sequences) {
  const Expected expected(fc1, fc2);
  std::vector<Slices> firsts, seconds;
  for (const Partition& partition : all_partitions(fc1, bits)) firsts.emplace_back(fc1, partition, bits);
  for (const Partition& partition : all_partitions(fc2, bits)) seconds.emplace_back(fc2, partition, bits);
  REQUIRE(firsts.size() == sequences);
  REQUIRE(seconds.size() == sequences);
  for (const Slices& first : firsts) {
    for (const Slices& second : seconds) {
      CAPTURE(to_text(fc1, first.partition()), to_text(fc2, second.partition()));
      train_mlp(first, second, expected);
    }
  }
}

}  // namespace

TEST_CASE("primepar: every pair of sequences of an MLP on eight devices trains exactly") {
  // 72 x 72 pairs; the hidden dimension is cut unevenly.
  train_all_pairs(3, linear("fc1", 8, 8, 8, 11), linear("fc2", 8, 8, 11, 8), 72);
}

TEST_CASE("primepar: every pair on two and four devices, of extents that slices do not divide") {
  train_all_pairs(1, linear("fc1", 3, 5, 6, 7), linear("fc2", 3, 5, 7, 5), 4);
  train_all_pairs(2, linear("fc1", 5, 5, 6, 7), linear("fc2", 5, 5, 7, 6), 17);
}

TEST_CASE("primepar: redistributed volumes are what is needed less what is there, for every pair on eight devices") {
  const Operator fc1 = linear("fc1", 8, 8, 8, 8), fc2 = linear("fc2", 8, 8, 8, 8);
  const auto common = [](const Box& a, const Box& b) {
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < a.size(); ++i)
      elements *= std::max<std::int64_t>(0, std::min(a[i].end, b[i].end) - std::max(a[i].begin, b[i].begin));
    return elements;
  };
  for (const Partition& p1 : all_partitions(fc1, 3)) {
    const Slices first{fc1, p1, 3};
    const std::vector<Box> held = boxes(first, Tensor::output, Phase::forward, first.steps() - 1);
    for (const Partition& p2 : all_partitions(fc2, 3)) {
      const Slices second{fc2, p2, 3};
      const std::vector<Box> needed = boxes(second, Tensor::input, Phase::forward, 0);
      std::vector<std::int64_t> received(8, 0);
      for (const Piece& piece : forward_redistribution(first, second))
        received[static_cast<std::size_t>(piece.to)] += piece.elements();
      for (std::size_t i = 0; i < 8; ++i) REQUIRE(received[i] == elements_of(needed[i]) - common(held[i], needed[i]));
      if (held == needed) REQUIRE(forward_redistribution(first, second).empty());
    }
  }
}
