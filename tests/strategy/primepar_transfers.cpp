// Transfers, alignments, all-reduces and redistributions as derived from the indices, against a list made by hand.
#include "strategy/primepar/transfers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <map>

#include "strategy/primepar/redistribution.hpp"
#include "tessera/base/error.hpp"

using namespace tessera::strategy::primepar;
using Catch::Matchers::Contains;

namespace {

Slices slices(const std::string& text) {
  const Operator op = linear("fc", 32, 32, 32, 32);
  const Partition partition = parse_partition(op, text);
  return {op, partition, bits_of(partition)};
}

Slices pure(int log_side) {
  const Operator op = linear("fc", 1, 32, 32, 32);
  return {op, {square(log_side)}, 2 * log_side};
}

/// Where device (r, c) of one P receives from.
using Source = std::function<Place(int r, int c)>;

/// That every device but those that have it in place receives from there; q x q devices.
std::vector<std::pair<int, int>> expected(int q, const Source& source) {
  std::vector<std::pair<int, int>> pairs;
  for (int r = 0; r < q; ++r) {
    for (int c = 0; c < q; ++c) {
      const Place from = source(r, c);
      const int sender = ((from.row + q) % q) * q + (from.column + q) % q;
      if (sender != r * q + c) pairs.emplace_back(sender, r * q + c);
    }
  }
  return pairs;
}

template <class Moves>
std::vector<std::pair<int, int>> pairs(const Moves& moves) {
  std::vector<std::pair<int, int>> found;
  for (const auto& move : moves) found.emplace_back(move.from, move.to);
  return found;
}

/// By tensor and step, of one phase.
std::map<std::pair<Tensor, int>, std::vector<std::pair<int, int>>> by_step(const Slices& s, Phase phase) {
  std::map<std::pair<Tensor, int>, std::vector<std::pair<int, int>>> found;
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
      CHECK(pairs(one.moves) == (weight_returns ? expected(1 << log_side, right) : std::vector<std::pair<int, int>>{}));
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
  CHECK(pairs(forward_redistribution(pure(1), pure(1))) == std::vector<std::pair<int, int>>{{3, 2}, {2, 3}});
  CHECK(pairs(backward_redistribution(pure(1), pure(1))) == std::vector<std::pair<int, int>>{{1, 0}, {0, 1}});
}

TEST_CASE("primepar: redistribution between equal layouts moves nothing") {
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
    CHECK(redistribute(held, held).empty());
  }
}

TEST_CASE("primepar: redistribution brings the missing elements, once, and from inside the node where it can") {
  // From rows to columns over four devices: of the quarter that it needs, each has a quarter.
  const auto pieces = forward_redistribution(slices("{M, M}"), slices("{N, N}"));
  CHECK(pieces.size() == 12);
  for (const Piece& piece : pieces) CHECK(piece.elements() == 32 * 8 * 8);
  // O is held by two devices each, {0,2} and {1,3}; device 0 takes what 1 and 3 have from 1, device 2 from 3.
  const auto spread = forward_redistribution(slices("{N, K}"), slices("{B, B}"));
  CHECK(pairs(spread) == std::vector<std::pair<int, int>>{{1, 0}, {0, 1}, {3, 2}, {2, 3}});
  CHECK_THROWS_WITH(forward_redistribution(slices("{N}"), slices("{N, N}")),
                    Contains("on 2 devices, and operator fc on 4"));
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
