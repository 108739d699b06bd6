// Redistributions between operators, and the volumes of the slides' MLP.
#include "strategy/primepar/cuts/redistribution.hpp"

#include <catch2/catch.hpp>

#include "primepar_torus.hpp"
#include "strategy/primepar/cuts/transfers.hpp"

using namespace tessera::strategy::primepar;
using Catch::Matchers::Contains;

TEST_CASE("primepar: from P to P, redistributions permute each row by its own shift") {
  for (int log_side = 1; log_side <= 4; ++log_side) {
    CAPTURE(log_side);
    const Slices s = pure(log_side);
    const int q = 1 << log_side;
    // I of (r, c) is O of (r, r + c); dO of (r, c) is dI of (r, c - r + 1).
    const auto forward = forward_redistribution(s, s), backward = backward_redistribution(s, s);
    CHECK(pairs(forward) == expected(q, [](int r, int c) { return Place{r, r + c}; }));
    CHECK(pairs(backward) == expected(q, [q](int r, int c) { return Place{r, c - r + 1 + q}; }));
    for (const Piece& piece : forward) CHECK(piece.elements() == (32 / q) * (32 / q));
  }
  // At k = 1 half of the devices swap their tiles: forward in row 1, backward in row 0.
  CHECK(pairs(forward_redistribution(pure(1), pure(1))) == Pairs{{3, 2}, {2, 3}});
  CHECK(pairs(backward_redistribution(pure(1), pure(1))) == Pairs{{1, 0}, {0, 1}});
}

TEST_CASE("primepar: redistribution between equal layouts moves nothing") {
  using tessera::strategy::primepar::Tensor;
  // K of the first is N of the second, as in Megatron's pair of linears; a batch stays a batch.
  const auto check = [](const std::string& producer, const std::string& consumer) {
    CHECK(forward_redistribution(slices(producer), slices(consumer)).empty());
    CHECK(backward_redistribution(slices(producer), slices(consumer)).empty());
  };
  check("{K, K}", "{N, N}");
  check("{B, K, M}", "{B, N, M}");
  check("{B, B}", "{B, B}");
  // After an all-reduce every member has the whole slice.
  check("{N, N, N}", "{K, K, K}");
  for (const Partition& partition : all_partitions(slices("{N}").op(), 3)) {
    const Slices s{slices("{N}").op(), partition, 3};
    const std::vector<Box> held = boxes(s, Tensor::output, Phase::forward, s.steps() - 1);
    CHECK(redistribute(regions_of(held), regions_of(held)).empty());
  }
}

TEST_CASE("primepar: redistribution brings the missing elements, once, and from inside the node where it can") {
  // From rows to columns over four devices: of the quarter that it needs, each has a quarter.
  const auto pieces = forward_redistribution(slices("{M, M}"), slices("{N, N}"));
  CHECK(pieces.size() == 12);
  for (const Piece& piece : pieces) CHECK(piece.elements() == 32 * 8 * 8);
  // O is held by two devices each, {0,2} and {1,3}; device 0 takes what 1 and 3 have from 1, device 2 from 3.
  const auto spread = forward_redistribution(slices("{N, K}"), slices("{B, B}"));
  CHECK(pairs(spread) == Pairs{{1, 0}, {0, 1}, {3, 2}, {2, 3}});
  const Operator other = linear("other", 32, 32, 16, 32);
  CHECK_THROWS_WITH(forward_redistribution(slices("{N}"), Slices(other, {cut(2)}, 1)),
                    Contains("makes 32 x 32 x 32 elements, and operator other reads 32 x 32 x 16"));
}

TEST_CASE("primepar: the slides' MLP on two nodes of four devices reduces what they say, and where") {
  // OPT-175B, batch 8 of 2048 tokens, hidden 12288: size(O) of fc2 = size(I) of fc1 = 201,326,592 elements of two
  // bytes, size(W) = 603,979,776. Node = d1. Per device:
  const Operator fc1 = linear("fc1", 8, 2048, 12288, 49152), fc2 = linear("fc2", 8, 2048, 49152, 12288);
  constexpr std::int64_t size_o = 201'326'592, size_w = 603'979'776;
  const auto reduced = [](const Operator& op, const char* text, Phase phase, bool inside_node) {
    const AllReduce found = all_reduce({op, parse_partition(op, text), 3}, phase);
    for (const auto& group : found.groups) CHECK((group.front() >> 2 == group.back() >> 2) == inside_node);
    return found.groups.empty() ? 0 : found.elements.front();
  };
  // Baseline: O/2 and I/2 inside the nodes, W/4 twice across them (604.0 MB), ...
  CHECK(reduced(fc2, "{B, N, N}", Phase::forward, true) == size_o / 2);
  CHECK(reduced(fc2, "{B, N, N}", Phase::backward, true) == 0);
  CHECK(reduced(fc2, "{B, N, N}", Phase::gradient, false) == size_w / 4);
  CHECK(reduced(fc1, "{B, K, K}", Phase::forward, true) == 0);
  CHECK(reduced(fc1, "{B, K, K}", Phase::backward, true) == size_o / 2);
  CHECK(reduced(fc1, "{B, K, K}", Phase::gradient, false) == size_w / 4);
  CHECK(2 * 2 * (size_w / 4) == 603'979'776);
  // ... PrimePar: O/4 of fc2 and I/4 of fc1 across (201.3 MB), and nothing else; between them, tiles swap in a node.
  CHECK(reduced(fc2, "{N, P(2x2)}", Phase::forward, false) == size_o / 4);
  CHECK(reduced(fc1, "{K, P(2x2)}", Phase::backward, false) == size_o / 4);
  for (const Phase phase : {Phase::backward, Phase::gradient}) CHECK(reduced(fc2, "{N, P(2x2)}", phase, false) == 0);
  for (const Phase phase : {Phase::forward, Phase::gradient}) CHECK(reduced(fc1, "{K, P(2x2)}", phase, false) == 0);
  CHECK(2 * 2 * (size_o / 4) == 201'326'592);
  const Slices first{fc1, parse_partition(fc1, "{K, P(2x2)}"), 3}, second{fc2, parse_partition(fc2, "{N, P(2x2)}"), 3};
  for (const auto& pieces : {forward_redistribution(first, second), backward_redistribution(first, second)}) {
    CHECK(pieces.size() == 4);
    for (const Piece& piece : pieces) CHECK(piece.from >> 2 == piece.to >> 2);
  }
}
