// Dimension slice indices: against what the slides print for k = 2, and the properties they promise.
#include "strategy/primepar/cuts/slices.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <set>
#include <tuple>

using namespace tessera::strategy::primepar;

namespace {

enum : int { b, m, n, k };

Slices slices_of(const std::string& text, std::int64_t extent = 64) {
  const Operator op = linear("fc", extent, extent, extent, extent);
  const Partition partition = parse_partition(op, text);
  return {op, partition, bits_of(partition)};
}

/// Devices at each slice of a tensor.
std::map<std::int64_t, int> holders(const Slices& s, Tensor tensor, Phase phase, int step) {
  std::map<std::int64_t, int> count;
  for (const std::int64_t key : s.layout(tensor, phase, step)) ++count[key];
  return count;
}

}  // namespace

TEST_CASE("primepar: P(4x4) multiplies the blocks that the slides show") {
  // Forward, t = 3, as printed: row 0 of devices O[0,0] += I[0,3] W[3,0], O[0,1] += I[0,0] W[0,1], ...;
  // row 3 O[3,0] += I[3,2] W[2,0], O[3,1] += I[3,3] W[3,1], ...
  const Slices s = slices_of("{P(4x4)}");
  REQUIRE(s.devices() == 16);
  REQUIRE(s.steps() == 4);
  const auto index = [&](int r, int c, Phase phase, int t) {
    const Position p = s.at(4 * r + c, phase, t);
    return std::tuple(p[m], p[n], p[k]);
  };
  CHECK(index(0, 0, Phase::forward, 3) == std::tuple(0, 3, 0));
  CHECK(index(0, 1, Phase::forward, 3) == std::tuple(0, 0, 1));
  CHECK(index(3, 0, Phase::forward, 3) == std::tuple(3, 2, 0));
  CHECK(index(3, 3, Phase::forward, 3) == std::tuple(3, 1, 3));
  // Gradient: accumulated for t < 3, dW[3,3] on (0,0), dW[2,0] on (2,1), dW[1,2] on (3,3); at t = 3, as printed,
  // dW[0,0] += I[0,3]^T dO[3,0] on (0,0), dW[3,1] += I[3,1]^T dO[1,1] on (2,1), dW[2,3] += I[2,2]^T dO[2,3] on (3,3).
  for (int t = 0; t < 3; ++t) {
    CHECK(index(0, 0, Phase::gradient, t) == std::tuple(t, 3, 3));
    CHECK(index(2, 1, Phase::gradient, t) == std::tuple((2 + t) % 4, 2, 0));
    CHECK(index(3, 3, Phase::gradient, t) == std::tuple((3 + t) % 4, 1, 2));
  }
  CHECK(index(0, 0, Phase::gradient, 3) == std::tuple(3, 0, 0));
  CHECK(index(2, 1, Phase::gradient, 3) == std::tuple(1, 3, 1));
  CHECK(index(3, 3, Phase::gradient, 3) == std::tuple(2, 2, 3));
}

TEST_CASE("primepar: bits are consumed from the most significant, and later primitives refine") {
  // {N, K}, slides: existing spatial partition: I_M = 0, I_N = d1, I_K = d2 in every phase.
  const Slices spatial = slices_of("{N, K}");
  for (const Phase phase : all_phases) {
    for (int device = 0; device < 4; ++device)
      CHECK(spatial.at(device, phase, 0) == Position{0, 0, device >> 1, device & 1});
  }
  // {N, P(2x2), N}: I_N = 4 d1 + 2 (r + c + t mod 2) + d4; device 1|01|1 is r = 0, c = 1.
  const Slices mixed = slices_of("{N, P(2x2), N}");
  CHECK(mixed.at(0b1011, Phase::forward, 0) == Position{0, 0, 4 + 2 * 1 + 1, 1});
  CHECK(mixed.at(0b1011, Phase::forward, 1) == Position{0, 0, 4 + 2 * 0 + 1, 1});
  CHECK(mixed.places(0b1011).at(0).row == 0);
  CHECK(mixed.places(0b1011).at(0).column == 1);
  CHECK(mixed.cut_bits(0b1111) == 0b1001);
}

TEST_CASE("primepar: of several P the last is the fastest, and each has its own delta") {
  // {P(2x2), P(2x2)} on device 0: (t1, t2) = 00, 01, 10, 11; I_N forward = 2 t1 + t2.
  const Slices s = slices_of("{P(2x2), P(2x2)}");
  REQUIRE(s.steps() == 4);
  for (int t = 0; t < 4; ++t) {
    CHECK(s.at(0, Phase::forward, t)[n] == t);
    // Gradient, I_K of a P is c - 1 + delta: 1 until its last step, then 0.
    const int t1 = t >> 1, t2 = t & 1;
    CHECK(s.at(0, Phase::gradient, t)[k] == 2 * (1 - t1) + (1 - t2));
  }
}

TEST_CASE("primepar: each product of slices occurs exactly once a phase, for every sequence") {
  const auto check = [](const Slices& s) {
    std::size_t products = 1;
    for (const std::int64_t count : slice_counts(s.op(), s.partition())) products *= static_cast<std::size_t>(count);
    REQUIRE(products == static_cast<std::size_t>(s.devices()) * s.steps());
    for (const Phase phase : all_phases) {
      std::set<Position> seen;
      for (int device = 0; device < s.devices(); ++device) {
        for (int t = 0; t < s.steps(); ++t) seen.insert(s.at(device, phase, t));
      }
      CHECK(seen.size() == products);
    }
  };
  const Operator op = linear("fc", 32, 32, 32, 32);
  for (int bits = 0; bits <= 5; ++bits) {
    for (const Partition& partition : all_partitions(op, bits)) check({op, partition, bits});
  }
  check(slices_of("{P(8x8)}"));
  check(slices_of("{P(16x16)}"));
}

TEST_CASE("primepar: of P alone, no tensor has two holders of a slice at any step") {
  for (const char* text : {"{P(2x2)}", "{P(4x4)}", "{P(8x8)}", "{P(16x16)}", "{P(2x2), P(4x4)}", "{P(4x4), P(2x2)}"}) {
    const Slices s = slices_of(text);
    for (const Phase phase : all_phases) {
      const Product product = product_of(phase);
      for (const Tensor tensor : {product.left, product.right, product.sum}) {
        for (int t = 0; t < s.steps(); ++t)
          CHECK(holders(s, tensor, phase, t).size() == static_cast<std::size_t>(s.devices()));
      }
    }
  }
}

TEST_CASE("primepar: slices cover a dimension that they do not divide") {
  const Slices s = slices_of("{P(4x4)}", 7);
  std::int64_t elements = 0;
  for (int device = 0; device < 16; ++device) {
    const Box box = s.box(Tensor::weight, device, Phase::forward, 0);
    REQUIRE(box.size() == 2);
    for (const Range& range : box) CHECK((range.size() == 1 || range.size() == 2));
    elements += elements_of(box);
  }
  CHECK(elements == 7 * 7);
}
