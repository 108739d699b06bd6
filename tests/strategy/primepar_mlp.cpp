// Proof by execution of two linears with a ReLU between them, as an MLP has them: all pairs of sequences, and what the
// derived redistributions carry between their layouts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "primepar_linears.hpp"

using namespace tessera::strategy::primepar;

namespace {

/// Every sequence of the first linear with every one of the second.
void train_all_pairs(int bits, const Operator& fc1, const Operator& fc2, std::size_t sequences) {
  const ExpectedMlp expected(fc1, fc2);
  InProcess here;
  std::vector<Slices> firsts, seconds;
  for (const Partition& partition : all_partitions(fc1, bits)) firsts.emplace_back(fc1, partition, bits);
  for (const Partition& partition : all_partitions(fc2, bits)) seconds.emplace_back(fc2, partition, bits);
  REQUIRE(firsts.size() == sequences);
  REQUIRE(seconds.size() == sequences);
  for (const Slices& first : firsts) {
    for (const Slices& second : seconds) {
      CAPTURE(to_text(fc1, first.partition()), to_text(fc2, second.partition()));
      train_mlp(first, second, expected, here);
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
  using tessera::strategy::primepar::Tensor;
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
