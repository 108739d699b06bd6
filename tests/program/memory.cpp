// Peak memory by hand, and against a walk that unrolls everything.
#include <catch2/catch.hpp>

#include <limits>
#include <random>

#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

constexpr auto weights = MemoryCategory::weights;
constexpr auto activations = MemoryCategory::activations;
constexpr auto buffers = MemoryCategory::buffers;

Program on_one_device(Program program, BlockId entry) {
  program.devices.resize(1);
  program.devices[0].streams = {entry};
  return program;
}

struct Unrolled {
  std::int64_t levels[memory_category_count] = {};
  MemoryPeak peak{0, std::vector<std::int64_t>(memory_category_count, 0)};

  void run(const Program& program, BlockId block) {
    for (const Instruction& instruction : program.blocks[block].code) {
      if (instruction.op == Op::call) {
        for (std::uint32_t i = 0; i < instruction.count; ++i) run(program, instruction.a);
        continue;
      }
      levels[instruction.b] += instruction.op == Op::allocate ? instruction.bytes : -instruction.bytes;
      std::int64_t total = 0;
      for (const std::int64_t level : levels) total += level;
      if (total <= peak.total) continue;
      peak.total = total;
      std::copy(std::begin(levels), std::end(levels), std::begin(peak.by_category));
    }
  }
};

}  // namespace

TEST_CASE("a loop that keeps memory peaks in its last pass, one that frees it in its first") {
  Program program;
  // Each layer forward holds 10 while it works and keeps 3; each layer backward needs 4 more and frees 3 in the end.
  const BlockId forward = BlockBuilder(program, "forward")
                              .allocate(buffers, Bytes{7})
                              .allocate(activations, Bytes{3})
                              .release(buffers, Bytes{7})
                              .done();
  const BlockId backward = BlockBuilder(program, "backward")
                               .allocate(buffers, Bytes{4})
                               .release(buffers, Bytes{4})
                               .release(activations, Bytes{3})
                               .done();
  const BlockId main =
      BlockBuilder(program, "main").allocate(weights, Bytes{100}).call(forward, 12).call(backward, 12).done();
  const MemoryPeak peak = memory_peak(on_one_device(program, main), 0);
  // Forward: 100 + 11*3 + 10 = 143 in the last layer. Backward: 100 + 12*3 + 4 = 140 in the first.
  CHECK(peak.total == 143);
  CHECK(peak.by_category[static_cast<int>(weights)] == 100);
  CHECK(peak.by_category[static_cast<int>(activations)] == 36);
  CHECK(peak.by_category[static_cast<int>(buffers)] == 7);
}

TEST_CASE("nested loops of billions of passes are exact and immediate") {
  Program program;
  const BlockId inner =
      BlockBuilder(program, "inner").allocate(activations, Bytes{2}).release(activations, Bytes{1}).done();
  const BlockId middle = BlockBuilder(program, "middle").call(inner, 1'000'000).done();
  const BlockId outer = BlockBuilder(program, "outer").call(middle, 1'000'000).done();
  // Every pass adds 1 and peaks 1 above that.
  CHECK(memory_peak(on_one_device(program, outer), 0).total == 1'000'000'000'001);
}

TEST_CASE("of several streams, what is certain and what is possible") {
  Program program;
  const BlockId main = BlockBuilder(program, "main")
                           .allocate(weights, Bytes{100})
                           .allocate(activations, Bytes{30})
                           .release(activations, Bytes{10})
                           .done();
  const BlockId lender =
      BlockBuilder(program, "lender").allocate(buffers, Bytes{50}).release(buffers, Bytes{45}).done();
  const BlockId freeing = BlockBuilder(program, "freeing").release(activations, Bytes{20}).done();
  program.devices.resize(1);
  program.devices[0].streams = {main, lender};
  // Main holds 130 at a time, with nothing of the lender's for certain; when both have ended 120 + 5 are left.
  MemoryPeak peak = memory_peak(program, 0);
  CHECK(peak.total == 130);
  CHECK(peak.most == 180);
  CHECK_FALSE(peak.is_exact());
  CHECK(peak.by_category[static_cast<int>(activations)] == 30);
  CHECK(peak.by_category[static_cast<int>(buffers)] == 0);
  // What another stream releases may be gone by then: 110, of which 100 are weights.
  program.devices[0].streams = {main, freeing};
  peak = memory_peak(program, 0);
  CHECK(peak.total == 110);
  CHECK(peak.most == 130);
  // Alone, it is exact, on whichever stream.
  program.devices[0].streams = {BlockBuilder(program, "none").done(), main};
  CHECK(memory_peak(program, 0).total == 130);
  CHECK(memory_peak(program, 0).is_exact());
}

TEST_CASE("a device without streams holds nothing") {
  Program program;
  program.devices.resize(1);
  CHECK(memory_peak(program, 0).total == 0);
}

TEST_CASE("random nested programs peak as if they were unrolled") {
  std::mt19937 random(7);
  const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  for (int round = 0; round < 300; ++round) {
    Program program;
    for (int block = 0; block < 4; ++block) {
      BlockBuilder builder(program, "block");
      for (int i = draw(6); i >= 0; --i) {
        const auto category = static_cast<MemoryCategory>(draw(memory_category_count));
        if (block > 0 && draw(2) == 0) {
          builder.call(static_cast<BlockId>(draw(block)), static_cast<std::uint32_t>(1 + draw(4)));
        } else if (draw(2) == 0) {
          builder.allocate(category, Bytes{1 + draw(50)});
        } else {
          builder.release(category, Bytes{1 + draw(50)});
        }
      }
      (void)builder.done();
    }
    Unrolled unrolled;
    unrolled.run(program, 3);
    const MemoryPeak peak = memory_peak(on_one_device(program, 3), 0);
    CHECK(peak.total == unrolled.peak.total);
    CHECK(std::equal(std::begin(peak.by_category), std::end(peak.by_category), std::begin(unrolled.peak.by_category)));
  }
}

TEST_CASE("memory beyond 2^63 B is not counted, and never wraps to less") {
  Program program;
  // 2 x 5 x 10^18 B, then nested repeats of 2^32 - 1 each, five deep: 10^48 times.
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const BlockId twice = BlockBuilder(program, "twice")
                            .allocate(MemoryCategory::weights, Bytes{5'000'000'000'000'000'000})
                            .allocate(MemoryCategory::buffers, Bytes{5'000'000'000'000'000'000})
                            .done();
  CHECK(memory_peak(on_one_device(program, twice), 0).total == most);
  CHECK(memory_peak(on_one_device(program, twice), 0).by_category[0] == 5'000'000'000'000'000'000);
  BlockId block = twice;
  for (int depth = 0; depth < 5; ++depth) block = BlockBuilder(program, "nested").call(block, 4'294'967'295).done();
  CHECK(memory_peak(on_one_device(program, block), 0).total == most);
}

}  // namespace tessera::program
