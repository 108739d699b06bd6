// A stage's passes and exchanges as instructions, in the order of its schedule.
#include "tessera/program/stage_passes.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::program;

namespace {

/// Instructions as they are carried out, calls unrolled: "F" and "B" for the passes, "L" for the last backward pass,
/// "s0" a send to the slot, "r1" a receive, "w" the wait for sends.
std::string unrolled(const Program& program, BlockId block) {
  std::string text;
  for (const Instruction& one : program.blocks[block].code) {
    for (std::uint32_t i = 0; one.op == Op::call && i < one.count; ++i) {
      const std::string& name = program.blocks[one.a].name;
      text.append(name == "schedule" ? unrolled(program, one.a) : name).append(name == "schedule" ? "" : " ");
    }
    if (one.op == Op::send) text.append("s").append(std::to_string(one.a)).append(" ");
    if (one.op == Op::receive) text.append("r").append(std::to_string(one.a)).append(" ");
    if (one.op == Op::wait_sends) text.append("w ");
  }
  return text;
}

struct Written {
  std::string text;
  int asked = 0;  ///< blocks of passes
};

Written written(std::uint32_t stage, std::uint32_t micro_batches) {
  Program program;
  Written result;
  const auto block = [&](const char* name) {
    ++result.asked;
    BlockBuilder builder(program, name);
    return builder.done();
  };
  StageNeighbours neighbours;
  neighbours.peer = [](int stages_on) { return stages_on > 0 ? 1U : 0U; };
  neighbours.activations = Bytes{100};
  neighbours.gradients = Bytes{50};
  StagePasses passes;
  passes.forward = [&](std::uint32_t, bool) { return block("F"); };
  passes.backward = [&](std::uint32_t, bool is_last) { return block(is_last ? "L" : "B"); };
  passes.exchange = [&](BlockBuilder& into, const PipelineAction& action) { write_exchange(into, action, neighbours); };
  const ScheduleLoop loop = fold(find_pipeline_order("1f1b")->actions({2, 1, micro_batches, true}, stage));
  BlockBuilder main(program, "main");
  write_passes(program, main, loop, passes);
  result.text = unrolled(program, main.done());
  return result;
}

}  // namespace

TEST_CASE("passes: 1F1B of two stages, each pass asked for once") {
  // The first stage sends its activations on (slot 1) and gets gradients back; the second one the other way round.
  CHECK(written(0, 2).text == "F s1 w F s1 r1 w B r1 L ");
  CHECK(written(1, 2).text == "r0 F B s0 r0 w F L s0 w ");
  CHECK(written(0, 2).asked == 3);
  const Written many = written(1, 100);
  CHECK(many.asked == 3);
  CHECK(std::count(many.text.begin(), many.text.end(), 'F') == 100);
  CHECK(std::count(many.text.begin(), many.text.end(), 'B') == 99);
}
