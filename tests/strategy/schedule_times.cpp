// Bubble and activations of pipeline schedules against their closed forms, with passes of made-up length and messages
// that take no time.
#include <catch2/catch.hpp>
#include <random>

#include "abstract_pipeline.hpp"

namespace tessera::program {
namespace {

/// F, B and W of Qi et al., with B the gradients of inputs alone.
constexpr PassTimes even{10, 10, 10, 30};

struct Ran {
  AbstractPipeline pipeline;
  explicit Ran(const ScheduleSample& sample, const PassTimes& times = even) : pipeline(sample, times) {
    REQUIRE(pipeline.run().empty());
  }
  [[nodiscard]] std::int64_t worst_bubble(std::uint32_t stages) const {
    std::int64_t worst = 0;
    for (std::uint32_t stage = 0; stage < stages; ++stage) worst = std::max(worst, pipeline.bubble(stage));
    return worst;
  }
};

}  // namespace

TEST_CASE("1F1B and ZB-H1 of four stages and eight micro-batches, by hand") {
  // Qi et al. 2023, table 2: (p-1)(F+B+W) and (p-1)(F+B-W), so with passes of 10 each 90 and 30: a third. Each of eight
  // micro-batches takes a stage 30.
  CHECK(Ran({"1f1b", {4, 1, 8, true}}).pipeline.end() == 8 * 30 + 90);
  const Ran zero_bubble({"zb-h1", {4, 1, 8, true}});
  CHECK(zero_bubble.pipeline.end() == 8 * 30 + 30);
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    CHECK(zero_bubble.pipeline.bubble(stage) == 30);
    // No stage has more micro-batches under way than the first one of 1F1B.
    CHECK(zero_bubble.pipeline.most_in_flight(stage) == 4);
  }
}

TEST_CASE("ZB-H1 has the bubble (p-1)(F+B-W) where B is as long as F or longer, and W as long as F at most") {
  for (const std::uint32_t p : {2U, 4U, 8U}) {
    for (const auto& [f, b, w] : {std::tuple{10, 10, 10}, std::tuple{10, 13, 10}, std::tuple{10, 12, 9}}) {
      CAPTURE(p, f, b, w);
      const Ran ran({"zb-h1", {p, 1, 4 * p, true}}, {f, b, w, f + b + w});
      CHECK(ran.pipeline.end() == 4 * p * (f + b + w) + (p - 1) * (f + b - w));
    }
  }
}

TEST_CASE("ZB-H2 has no bubble between its passes, and 2p-1 micro-batches under way") {
  for (const std::uint32_t p : {2U, 4U, 8U}) {
    const Ran ran({"zb-h2", {p, 1, 4 * p, true}});
    for (std::uint32_t stage = 0; stage < p; ++stage) {
      CAPTURE(p, stage);
      // (p-1)(F+B-2W) = 0 (table 2). Stage i begins i forward passes late and ends as late: a parallelogram, whose
      // sides are the bubble of an iteration that all stages begin and end together.
      CHECK(ran.pipeline.bubble_between(stage) == 0);
      CHECK(ran.pipeline.bubble(stage) == 10 * (p - 1));
      CHECK(ran.pipeline.most_in_flight(stage) == 2 * p - 1);
    }
  }
}

TEST_CASE("DualPipe has the bubble (p/2-1)(F&B + B - 3W) and p+1 micro-batches under way") {
  // Here B is a whole backward pass, 20. With nothing gained by running passes beside each other F&B = 30 and p = 4:
  // (2-1)(30 + 20 - 30) = 20. With all of a forward pass hidden F&B = 20, and the bubble is 10.
  for (const std::int64_t both : {30, 24, 20}) {
    for (const auto& [p, m] : {std::pair{4U, 8U}, std::pair{8U, 20U}, std::pair{16U, 32U}}) {
      CAPTURE(both, p, m);
      const Ran ran({"dualpipe", {p, 1, m, true}}, {10, 10, 10, both});
      CHECK(ran.worst_bubble(p) == (p / 2 - 1) * (both + 20 - 30));
      for (std::uint32_t stage = 0; stage < p; ++stage) CHECK(ran.pipeline.most_in_flight(stage) == p + 1);
    }
  }
}

TEST_CASE("DualPipeV of p stages is half of a DualPipe of 2p: bubble (p-1)(F&B + B - 3W), 2p+1 chunks under way") {
  for (const std::int64_t both : {30, 24}) {
    for (const auto& [p, m] : {std::pair{2U, 4U}, std::pair{4U, 10U}, std::pair{8U, 16U}}) {
      CAPTURE(both, p, m);
      const Ran ran({"dualpipe-v", {p, 2, m, true}}, {10, 10, 10, both});
      CHECK(ran.worst_bubble(p) == (p - 1) * (both + 20 - 30));
      for (std::uint32_t stage = 0; stage < p; ++stage) CHECK(ran.pipeline.most_in_flight(stage) == 2 * p + 1);
    }
  }
}

TEST_CASE("any order runs to its end in any shape that it accepts, with passes of any length") {
  std::mt19937 engine(48);
  const auto below = [&](std::uint32_t limit) { return static_cast<std::uint32_t>(engine() % limit); };
  int ran = 0;
  for (int i = 0; i < 4000; ++i) {
    const auto& order = pipeline_orders()[below(static_cast<std::uint32_t>(pipeline_orders().size()))];
    const PipelineShape shape{1 + below(10), 1 + below(3), 1 + below(40), below(8) > 0};
    if (!order.check(shape).empty()) continue;
    CAPTURE(order.name, shape.stages, shape.chunks, shape.micro_batches, shape.backward);
    const PassTimes times{1 + below(9), 1 + below(9), 1 + below(9), 1 + below(20)};
    CHECK(AbstractPipeline({order.name, shape}, times).run().empty());
    ++ran;
  }
  CHECK(ran > 500);
}

}  // namespace tessera::program
