// Transfers, alignments and all-reduces as derived from the indices, against a list made by hand.
#include "strategy/primepar/cuts/transfers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

#include "primepar_torus.hpp"

using namespace tessera::strategy::primepar;

namespace {

/// By tensor and step, of one phase.
std::map<std::pair<Tensor, int>, Pairs> by_step(const Slices& s, Phase phase) {
  std::map<std::pair<Tensor, int>, Pairs> found;
  for (const StepTransfer& transfer : step_transfers(s, phase)) {
    CHECK(transfer.is_sum == (transfer.tensor == product_of(phase).sum));
    CHECK(found.emplace(std::pair(transfer.tensor, transfer.step), pairs(transfer.moves)).second);
  }
  return found;
}

const Source right = [](int r, int c) { return Place{r, c + 1}; };
const Source below = [](int r, int c) { return Place{r + 1, c}; };
const Source above_right = [](int r, int c) { return Place{r - 1, c + 1}; };
const Source below_left = [](int r, int c) { return Place{r + 1, c - 1}; };
const Source below_right = [](int r, int c) { return Place{r + 1, c + 1}; };

std::vector<std::vector<int>> groups(const std::string& text, Phase phase) {
  return all_reduce(slices(text), phase).groups;
}

}  // namespace

TEST_CASE("primepar: P's transfers between steps are neighbour shifts") {
  for (int log_side = 1; log_side <= 4; ++log_side) {
    CAPTURE(log_side);
    const Slices s = pure(log_side);
    const int q = 1 << log_side, last = q - 1;
    auto forward = by_step(s, Phase::forward), backward = by_step(s, Phase::backward);
    auto gradient = by_step(s, Phase::gradient);
    for (int step = 1; step < q; ++step) {
      CHECK(forward[{Tensor::input, step}] == expected(q, right));
      CHECK(forward[{Tensor::weight, step}] == expected(q, below));
      CHECK(backward[{Tensor::output_gradient, step}] == expected(q, right));
      CHECK(backward[{Tensor::weight, step}] == expected(q, above_right));
      CHECK(gradient[{Tensor::input, step}] == expected(q, step < last ? below_left : below));
      CHECK(gradient[{Tensor::output_gradient, step}] == expected(q, step < last ? below : below_right));
    }
    // dW stays where it is until it moves one column to the left under the last step; nothing else moves.
    CHECK(gradient[{Tensor::weight_gradient, last}] == expected(q, right));
    CHECK(forward.size() == static_cast<std::size_t>(2 * last));
    CHECK(backward.size() == static_cast<std::size_t>(2 * last));
    CHECK(gradient.size() == static_cast<std::size_t>(2 * last + 1));
  }
}

TEST_CASE("primepar: P's phases follow each other in place, but for W into the next forward") {
  for (int log_side = 1; log_side <= 4; ++log_side) {
    CAPTURE(log_side);
    const std::vector<Alignment> found = alignments(pure(log_side));
    REQUIRE(found.size() == 6);
    for (const Alignment& one : found) {
      CAPTURE(name_of(one.before.tensor), name_of(one.before.phase), name_of(one.after.tensor),
              name_of(one.after.phase));
      const bool weight_returns = one.before.tensor == Tensor::weight && one.before.phase == Phase::backward;
      CHECK(pairs(one.moves) == (weight_returns ? expected(1 << log_side, right) : Pairs{}));
    }
    // dI ends one column off from where I started.
    const int last = (1 << log_side) - 1;
    CHECK(pairs(moves_between(pure(log_side), {Tensor::input_gradient, Phase::backward, last},
                              {Tensor::input, Phase::forward, 0})) == expected(1 << log_side, right));
  }
}

TEST_CASE("primepar: P alone replicates nothing and reduces nothing") {
  for (const char* text : {"{P(2x2)}", "{P(4x4)}", "{P(8x8)}", "{P(16x16)}", "{P(2x2), P(2x2)}", "{P(2x2), P(4x4)}"}) {
    const Slices s = slices(text);
    for (const Phase phase : all_phases) {
      const Product product = product_of(phase);
      CHECK(all_reduce(s, phase).groups.empty());
      for (const Tensor tensor : {product.left, product.right, product.sum}) {
        for (int step = 0; step < s.steps(); ++step) CHECK(replication(s, {tensor, phase, step}) == 1);
      }
    }
  }
}

TEST_CASE("primepar: sums of two P move before every step but the first") {
  const auto gradient = by_step(slices("{P(2x2), P(2x2)}"), Phase::gradient);
  int moves = 0;
  for (const auto& [what, list] : gradient) moves += what.first == Tensor::weight_gradient ? 1 : 0;
  CHECK(moves == 3);
  // t = (t1, t2) from (0, 0) to (0, 1): the inner P's delta sets in, and the inner column comes from the right.
  const auto& first = gradient.at({Tensor::weight_gradient, 1});
  for (const auto& [from, to] : first) {
    CHECK(from >> 2 == to >> 2);
    CHECK((from ^ to) == 1);
  }
  // (0, 1) to (1, 0): the inner one goes back, the outer one sets in: both columns change.
  for (const auto& [from, to] : gradient.at({Tensor::weight_gradient, 2})) CHECK((from ^ to) == 0b0101);
  // Their forward and backward sums stay, and so does what {P(2x2), P(2x2)} hands from phase to phase, but for W.
  for (const Phase phase : {Phase::forward, Phase::backward}) {
    for (const StepTransfer& one : step_transfers(slices("{P(2x2), P(2x2)}"), phase)) CHECK(!one.is_sum);
  }
  for (const Alignment& one : alignments(slices("{P(2x2), P(2x2)}")))
    CHECK(one.moves.empty() == !(one.before.tensor == Tensor::weight && one.before.phase == Phase::backward));
}

TEST_CASE("primepar: a dimension that is summed over makes an all-reduce of its sum") {
  using Groups = std::vector<std::vector<int>>;
  // Devices by d1 d2; N is summed over in forward, K in backward, B and M in gradient.
  const Groups none, over_d1{{0, 2}, {1, 3}}, over_d2{{0, 1}, {2, 3}}, all{{0, 1, 2, 3}};
  CHECK(groups("{N, K}", Phase::forward) == over_d1);
  CHECK(groups("{N, K}", Phase::backward) == over_d2);
  CHECK(groups("{N, K}", Phase::gradient) == none);
  CHECK(groups("{B, M}", Phase::forward) == none);
  CHECK(groups("{B, M}", Phase::backward) == none);
  CHECK(groups("{B, M}", Phase::gradient) == all);
  CHECK(groups("{N, N}", Phase::forward) == all);
  // Beside a P, each device pairs with its twin in the other half.
  const Groups twins{{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const std::map<std::string, Phase> reduced{{"{N, P(2x2)}", Phase::forward},
                                             {"{K, P(2x2)}", Phase::backward},
                                             {"{B, P(2x2)}", Phase::gradient},
                                             {"{M, P(2x2)}", Phase::gradient}};
  for (const auto& [text, where] : reduced) {
    for (const Phase phase : all_phases) {
      CAPTURE(text, name_of(phase));
      CHECK(groups(text, phase) == (phase == where ? twins : none));
    }
  }
  // {N, P(2x2)}, the slides' fc2: each of four pairs reduces a quarter of O.
  const AllReduce o = all_reduce(slices("{N, P(2x2)}"), Phase::forward);
  CHECK(o.tensor == Tensor::output);
  CHECK(o.elements == std::vector<std::int64_t>(4, 32 * 32 * 32 / 4));
}

TEST_CASE("primepar: what a cut dimension does not belong to is replicated, and moves among its own half") {
  const Slices s = slices("{B, P(4x4)}");
  CHECK(replication(s, {Tensor::weight, Phase::forward, 0}) == 2);
  CHECK(replication(s, {Tensor::input, Phase::forward, 2}) == 1);
  CHECK(replication(slices("{N, K}"), {Tensor::input, Phase::forward, 0}) == 2);
  CHECK(replication(slices("{N, N}"), {Tensor::output, Phase::forward, 0}) == 4);
  for (const Phase phase : all_phases) {
    for (const StepTransfer& transfer : step_transfers(s, phase)) {
      for (const Move& move : transfer.moves) CHECK(move.from >> 4 == move.to >> 4);
    }
  }
}

TEST_CASE("primepar: for every sequence on 16 devices, each transfer pairs senders and receivers") {
  const Operator op = linear("fc", 16, 16, 16, 16);
  for (const Partition& partition : all_partitions(op, 4)) {
    CAPTURE(to_text(op, partition));
    const Slices s{op, partition, 4};
    for (const Phase phase : all_phases) {
      for (const StepTransfer& transfer : step_transfers(s, phase)) {
        std::vector<int> sent(16, 0), received(16, 0);
        for (const Move& move : transfer.moves) {
          ++sent[static_cast<std::size_t>(move.from)];
          ++received[static_cast<std::size_t>(move.to)];
          REQUIRE(s.cut_bits(move.from) == s.cut_bits(move.to));
        }
        REQUIRE(sent == received);
        REQUIRE(*std::max_element(sent.begin(), sent.end()) == 1);
      }
    }
  }
}

TEST_CASE("primepar: for every sequence on 16 devices, only W moves between phases, and only where there is a P") {
  const Operator op = linear("fc", 16, 16, 16, 16);
  for (const Partition& partition : all_partitions(op, 4)) {
    CAPTURE(to_text(op, partition));
    const Slices s{op, partition, 4};
    for (const Alignment& one : alignments(s)) {
      const bool weight_returns = one.before.tensor == Tensor::weight && one.before.phase == Phase::backward;
      REQUIRE(one.moves.empty() == !(weight_returns && s.steps() > 1));
    }
  }
}
