// Pipeline schedules against hand-solved counts, against Megatron-LM's own numbering, and as pipelines that run.
#include <catch2/catch.hpp>

#include <algorithm>

#include "abstract_pipeline.hpp"

namespace tessera::program {
namespace {

using Kind = PipelineAction::Kind;

using Sample = ScheduleSample;

/// Shapes that each order fits, small and odd ones among them.
std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (const PipelineOrder& order : pipeline_orders()) {
    for (const std::uint32_t stages : {1U, 2U, 3U, 4U, 8U}) {
      for (const std::uint32_t chunks : {1U, 2U, 3U}) {
        for (const std::uint32_t micro_batches : {1U, 2U, 4U, 6U, 8U, 24U, 48U}) {
          for (const bool backward : {true, false}) {
            const PipelineShape shape{stages, chunks, micro_batches, backward};
            if (order.check(shape).empty()) all.push_back({order.name, shape});
          }
        }
      }
    }
  }
  return all;
}

std::vector<PipelineAction> actions_of(const Sample& sample, std::uint32_t stage) {
  return find_pipeline_order(sample.order)->actions(sample.shape, stage);
}

/// Of a stage.
std::uint32_t chunks_of(const Sample& sample) {
  return find_pipeline_order(sample.order)->chunk_order == ChunkOrder::both_ways ? 2 : sample.shape.chunks;
}

std::uint32_t most_in_flight(const std::vector<PipelineAction>& actions) {
  std::int64_t now = 0;
  std::int64_t most = 0;
  for (const PipelineAction& action : actions) {
    if (action.kind == Kind::forward) ++now;
    if (action.kind == Kind::backward) --now;
    most = std::max(most, now);
  }
  return static_cast<std::uint32_t>(most);
}

std::size_t nodes(const ScheduleLoop& loop) {
  std::size_t count = 1;
  for (const ScheduleLoop& inner : loop.body) count += nodes(inner);
  return count;
}

}  // namespace

TEST_CASE("contract of pipeline orders: every micro-batch passes every chunk once, and no message is lost") {
  REQUIRE(samples().size() > 100);
  for (const Sample& sample : samples()) {
    CAPTURE(sample.order, sample.shape.stages, sample.shape.chunks, sample.shape.micro_batches, sample.shape.backward);
    CHECK(AbstractPipeline(sample).run().empty());
    for (std::uint32_t stage = 0; stage < sample.shape.stages; ++stage) {
      const std::vector<PipelineAction> actions = actions_of(sample, stage);
      const auto count = [&](Kind kind) {
        return std::count_if(actions.begin(), actions.end(), [&](const auto& action) { return action.kind == kind; });
      };
      // Where all pieces are there twice, half of the micro-batches pass each of the two that a stage holds.
      const auto passes = static_cast<std::ptrdiff_t>(sample.shape.micro_batches * sample.shape.chunks);
      CHECK(count(Kind::forward) + count(Kind::both) == passes);
      const auto whole = count(Kind::backward) + count(Kind::both), apart = count(Kind::input_gradient);
      CHECK(whole + apart == (sample.shape.backward ? passes : 0));
      CHECK(count(Kind::weight_gradient) == apart);
      CHECK((apart > 0) <= find_pipeline_order(sample.order)->splits_backward);
      // The gradients of each chunk become complete once, in a pass that is alone.
      const auto last = std::count_if(actions.begin(), actions.end(), [](const auto& action) { return action.last; });
      CHECK(last == static_cast<std::ptrdiff_t>(sample.shape.backward ? chunks_of(sample) : 0));
      CHECK(std::none_of(actions.begin(), actions.end(), [](const auto& a) { return a.last && a.kind == Kind::both; }));
      CHECK(unfold(fold(actions)) == actions);
    }
  }
}

TEST_CASE("GPipe holds all micro-batches, 1F1B as many as there are stages to come") {
  const Sample gpipe{"gpipe", {4, 1, 8, true}};
  const Sample in_turn{"1f1b", {4, 1, 8, true}};
  const Sample few{"1f1b", {4, 1, 2, true}};
  for (std::uint32_t stage = 0; stage < 4; ++stage) {
    CHECK(most_in_flight(actions_of(gpipe, stage)) == 8);
    // p - i: the first of four stages holds four, the last one.
    CHECK(most_in_flight(actions_of(in_turn, stage)) == 4 - stage);
    CHECK(most_in_flight(actions_of(few, stage)) == std::min(4 - stage, 2U));
  }
}

TEST_CASE("1F1B of two stages and three micro-batches, by hand") {
  // Stage 0: F | F B | F B | B, each F followed by its send and, from the second on, the wait for a gradient.
  const std::vector<PipelineAction> actions = actions_of({"1f1b", {2, 1, 3, true}}, 0);
  std::string text;
  for (const PipelineAction& action : actions) {
    text += action.kind == Kind::forward ? "F" : action.kind == Kind::backward ? "B" : "";
    text += action.send_next ? ">" : "";
    text += action.receive_next ? "<" : "";
  }
  CHECK(text == "F>F><BF><B<B");
}

TEST_CASE("interleaved order is Megatron-LM's") {
  for (const auto& [stages, chunks, micro_batches] :
       {std::tuple{2U, 2U, 4U}, std::tuple{4U, 3U, 12U}, std::tuple{8U, 3U, 64U}, std::tuple{4U, 2U, 4U}}) {
    CAPTURE(stages, chunks, micro_batches);
    const std::uint32_t passes = chunks * micro_batches;
    // megatron/schedules.py: get_model_chunk_id and num_warmup_microbatches, written out.
    const auto chunk_of = [&](std::uint32_t pass, bool forward) {
      const std::uint32_t in_group = pass % (stages * chunks);
      const std::uint32_t chunk = in_group / stages;
      return forward ? chunk : chunks - chunk - 1;
    };
    for (std::uint32_t stage = 0; stage < stages; ++stage) {
      CAPTURE(stage);
      const std::uint32_t warm_up =
          micro_batches == stages ? passes : std::min((stages - stage - 1) * 2 + (chunks - 1) * stages, passes);
      std::vector<std::pair<bool, std::uint32_t>> expected;
      for (std::uint32_t k = 0; k < warm_up; ++k) expected.emplace_back(true, chunk_of(k, true));
      for (std::uint32_t k = warm_up; k < passes; ++k) {
        expected.emplace_back(true, chunk_of(k, true));
        expected.emplace_back(false, chunk_of(k - warm_up, false));
      }
      for (std::uint32_t k = passes - warm_up; k < passes; ++k) expected.emplace_back(false, chunk_of(k, false));
      std::vector<std::pair<bool, std::uint32_t>> found;
      for (const PipelineAction& action :
           actions_of({"interleaved-1f1b", {stages, chunks, micro_batches, true}}, stage)) {
        if (action.kind != Kind::exchange) found.emplace_back(action.kind == Kind::forward, action.chunk);
      }
      CHECK(found == expected);
    }
  }
}

TEST_CASE("interleaving holds the activations of L (1 + (p-1)/(pm)) layers on the first stage") {
  // Korthikanti et al. 2022, section 4.2.3; chunks of L/(p m) layers: p m + p - 1 of them are in flight.
  CHECK(most_in_flight(actions_of({"interleaved-1f1b", {8, 3, 64, true}}, 0)) == 8 * 3 + 8 - 1);
  CHECK(most_in_flight(actions_of({"interleaved-1f1b", {35, 3, 280, true}}, 0)) == 35 * 3 + 35 - 1);
}

TEST_CASE("folded schedules do not grow with the number of micro-batches") {
  for (const std::string order : {"gpipe", "1f1b", "interleaved-1f1b", "zb-h1", "zb-h2", "dualpipe", "dualpipe-v"}) {
    const std::uint32_t chunks = order == "interleaved-1f1b" ? 3 : order == "dualpipe-v" ? 2 : 1;
    for (std::uint32_t stage = 0; stage < 8; ++stage) {
      CAPTURE(order, stage);
      const std::size_t few = nodes(fold(actions_of({order, {8, chunks, 64, true}}, stage)));
      const std::size_t many = nodes(fold(actions_of({order, {8, chunks, 4096, true}}, stage)));
      CHECK(many == few);
      CHECK(many < 200);
    }
  }
}

TEST_CASE("orders refuse what they cannot run") {
  CHECK(find_pipeline_order("2f2b") == nullptr);
  CHECK(find_pipeline_order("gpipe")->check({4, 2, 8, true}) == "has one model chunk a stage: interleave = 1");
  CHECK(find_pipeline_order("1f1b")->check({4, 2, 8, true}) ==
        "has one model chunk a stage; interleave > 1 needs \"interleaved-1f1b\"");
  CHECK(find_pipeline_order("interleaved-1f1b")->check({1, 2, 8, true}) == "needs pipeline > 1");
  CHECK(find_pipeline_order("interleaved-1f1b")->check({4, 2, 6, true}) ==
        "needs a number of micro-batches that is a multiple of the 4 stages, not 6");
  CHECK(find_pipeline_order("zb-h1")->check({4, 2, 8, true}) == "has one model chunk a stage: interleave = 1");
  CHECK(find_pipeline_order("dualpipe")->check({3, 1, 8, true}) == "needs an even number of stages, not 3");
  CHECK(find_pipeline_order("dualpipe")->check({4, 1, 9, true}) ==
        "needs an even number of micro-batches, half of them each way, not 9");
  CHECK(find_pipeline_order("dualpipe")->check({4, 1, 6, true}) == "needs at least 2 x 4 stages micro-batches, not 6");
  CHECK(find_pipeline_order("dualpipe")->check({4, 1, 8, false}) ==
        "has backward passes beside forward passes: workload.phase = \"training\"");
  CHECK(find_pipeline_order("dualpipe-v")->check({4, 1, 8, true}) == "has two model chunks a stage: interleave = 2");
  CHECK(find_pipeline_order("dualpipe-v")->check({4, 2, 7, true}) ==
        "needs at least 2 x 4 stages micro-batches, not 7");
}

}  // namespace tessera::program
