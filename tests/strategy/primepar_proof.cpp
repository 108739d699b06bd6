// Proof by execution: partitioned linears on real matrices end with exactly what Eigen computes from the whole ones.
#include <catch2/catch.hpp>

#include "primepar_execution.hpp"

using namespace tessera::strategy::primepar;

namespace {

void check(const Traffic& traffic) {
  REQUIRE(traffic.sent == traffic.received);
  REQUIRE(traffic.sent == traffic.derived);
}

/// A gradient that a device makes of its own output.
Matrix local_gradient(const Matrix& output) {
  return output.unaryExpr([](std::int64_t value) { return value % 5; });
}

/// Two iterations: the second one's forward needs W and dW where the first one's backward and gradient left them.
void train_linear(const Slices& slices) {
  const auto extent = [&](int dimension) { return slices.op().dimensions[static_cast<std::size_t>(dimension)].extent; };
  InProcess here;
  Execution run(slices, here);
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
  check(run.traffic());
}

}  // namespace

TEST_CASE("primepar: every sequence of one linear on up to 16 devices trains exactly") {
  // Extents that slices divide, and extents that they do not.
  for (const Operator& op : {linear("even", 16, 16, 16, 16), linear("odd", 17, 19, 18, 21)}) {
    for (int bits = 0; bits <= 4; ++bits) {
      const std::vector<Partition> all = all_partitions(op, bits);
      if (bits == 4) REQUIRE(all.size() == 306);
      for (const Partition& partition : all) {
        CAPTURE(op.name, to_text(op, partition));
        train_linear({op, partition, bits});
      }
    }
  }
}

TEST_CASE("primepar: large squares, and squares in squares, train exactly") {
  const Operator op = linear("fc", 3, 17, 18, 19);
  for (const char* text : {"{P(8x8)}", "{P(16x16)}", "{P(2x2), P(4x4)}", "{P(4x4), P(2x2)}", "{P(2x2), P(2x2), P(2x2)}",
                           "{N, P(4x4), B}", "{P(2x2), K, P(4x4), M}"}) {
    CAPTURE(text);
    const Partition partition = parse_partition(op, text);
    train_linear({op, partition, bits_of(partition)});
  }
}
