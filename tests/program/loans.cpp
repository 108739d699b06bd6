// Memory that is lent: where a stage's actions say so, and what is known of memory before time zero.
#include <catch2/catch.hpp>

#include "machines.hpp"
#include "tessera/program/loans.hpp"

using namespace tessera;
using namespace tessera::program;
using Kind = PipelineAction::Kind;

namespace {

/// F and B are passes, - lends, < asks back, > waits; exchanges are left out.
std::string text_of(const std::vector<PipelineAction>& actions) {
  std::string text;
  for (const PipelineAction& action : actions) {
    switch (action.kind) {
      case Kind::forward:
        text += 'F';
        break;
      case Kind::backward:
        text += 'B';
        break;
      case Kind::lend:
        text += '-';
        break;
      case Kind::recall:
        text += '<';
        break;
      case Kind::restore:
        text += '>';
        break;
      default:
        break;
    }
  }
  return text;
}

std::vector<PipelineAction> stage_of_three(std::uint32_t stage) {
  return find_pipeline_order("1f1b")->actions({3, 1, 5, true}, stage);
}

LoanShape shape_of(std::int64_t bytes, std::uint32_t times, std::uint32_t at_once) {
  LoanShape shape;
  shape.bytes = Bytes{bytes};
  shape.times = times;
  shape.at_once = at_once;
  return shape;
}

/// Device 0 keeps 100 B of each of `times` micro-batches, `ahead` of them at once, and lends 60 B of each to device 1.
Program lending(std::uint32_t times, std::uint32_t ahead) {
  Program program;
  program.devices.resize(2);
  const LoanShape loan = shape_of(60, times, ahead);
  const auto pass = [&](const char* name, bool is_forward) {
    BlockBuilder block(program, name);
    if (is_forward) {
      block.allocate(MemoryCategory::activations, Bytes{100});
      write_lend(block, loan);
    } else {
      write_recall(block, loan);
      write_restore(block, loan);
      block.release(MemoryCategory::activations, Bytes{100});
    }
    return block.done();
  };
  const BlockId forward = pass("forward", true), backward = pass("backward", false);
  BlockBuilder both(program, "steady");
  const BlockId steady = both.call(backward).call(forward).done();
  BlockBuilder main(program, "main"), helper(program, "helper");
  const BlockId lender = main.call(forward, ahead).call(steady, times - ahead).call(backward, ahead).done();
  write_room(helper, loan);
  write_end_of_room(helper, loan);
  const BlockId out = loan_out_stream(program, loan), back = loan_back_stream(program, loan);
  program.devices[0] = {{lender, out, back}, {1}, {}, loan_events};
  program.devices[1] = {{helper.done()}, {0}, {}, loan_events};
  add_held_streams(program, loan, program.devices[1].streams);
  return program;
}

}  // namespace

TEST_CASE("a stage lends behind a forward pass and asks so many passes before the backward pass") {
  // 1F1B, three stages, five micro-batches: the first stage runs FFF BF BF BBB, the last one FB five times.
  CHECK(text_of(stage_of_three(0)) == "FFFBFBFBBB");
  // One pass ahead: each backward pass but the first has another one before it.
  CHECK(text_of(with_loan(stage_of_three(0), 0, 1)) == "F-F-<F->B<F->B<F-<>B<>B>B");
  // Two ahead: the fourth is asked for before the fifth is run, the fifth when it has been lent.
  CHECK(text_of(with_loan(stage_of_three(0), 0, 2)) == "F-<F-F-<>BF-<>B<F-<>B>B>B");
  // Of the last stage the backward pass follows at once: there is nothing to be ahead of.
  CHECK(text_of(with_loan(stage_of_three(2), 0, 3)) == "F-<>BF-<>BF-<>BF-<>BF-<>B");
  // As many at once as the stage keeps: three, two, one.
  for (const std::uint32_t stage : {0U, 1U, 2U})
    CHECK(most_lent(with_loan(stage_of_three(stage), 0, 1), 0) == 3 - stage);
  // Two loans of one stage do not take each other's places.
  const auto both = with_loan(with_loan(stage_of_three(0), 0, 1), 1, 2);
  CHECK(most_lent(both, 0) == 3);
  CHECK(most_lent(both, 1) == 3);
}

TEST_CASE("by hand, what is lent and yet with its lender: on its way there, or asked back") {
  const auto at_home = [](std::uint32_t stages, std::uint32_t stage, std::uint32_t micro_batches, std::uint32_t lead) {
    const auto actions = find_pipeline_order("1f1b")->actions({stages, 1, micro_batches, true}, stage);
    return most_at_home(with_loan(actions, 0, lead), 0);
  };
  // The first of three stages, asked back one pass ahead: F-F-<F->B<F->B<F-<>B<>B>B. In its third forward pass the
  // second micro-batch is still leaving, the first one has been asked back, and the third one is being made.
  CHECK(at_home(3, 0, 5, 1) == 3);
  // Of four stages as well: F-F-F-<F->B..., and of eight, whose first stage keeps eight.
  CHECK(at_home(4, 0, 8, 1) == 3);
  CHECK(at_home(8, 0, 24, 1) == 3);
  // Two passes ahead it is so as well, until the last forward pass: ...<F-<>B<>B>B>B. Behind it the micro-batches of
  // the next two backward passes are back, its own is leaving, and the third to come is asked for.
  CHECK(text_of(with_loan(find_pipeline_order("1f1b")->actions({4, 1, 8, true}, 0), 0, 2)) ==
        "F-F-<F-F-<>BF-<>BF-<>BF-<>B<F-<>B<>B>B>B");
  CHECK(at_home(4, 0, 8, 2) == 4);
  // The last stage, F-<>B: what it asks for has not even left.
  CHECK(at_home(3, 2, 5, 1) == 2);
  // One micro-batch, one stage: the same.
  CHECK(at_home(1, 0, 1, 1) == 2);
  // Without a loan it is what 1F1B keeps: three, two, one. Another loan does not count.
  for (const std::uint32_t stage : {0U, 1U, 2U}) {
    CHECK(most_at_home(stage_of_three(stage), 0) == 3 - stage);
    CHECK(most_at_home(with_loan(stage_of_three(stage), 1, 1), 0) == 3 - stage);
  }
}

TEST_CASE("a loan is a program that is in order, and its memory is known within bounds") {
  const Program program = lending(8, 3);
  CHECK(check_program(program, nodes_of(2, 2)).empty());
  // The lender. Where all leaves at once, 40 B stay of each: 3 x 40 and the 60 B of one that is asked back. Nothing
  // leaves later than it comes back: 3 x 100 and 60 at most.
  const MemoryPeak lender = memory_peak(program, 0);
  CHECK(lender.total == 3 * 40 + 60);
  CHECK(lender.most == 3 * 100 + 60);
  // The helper has room for three from the beginning, for certain.
  const MemoryPeak helper = memory_peak(program, 1);
  CHECK(helper.total == 180);
  CHECK(helper.is_exact());
  // Neither grows with the micro-batches.
  CHECK(memory_peak(lending(512, 3), 0).most == 3 * 100 + 60);
  CHECK(memory_peak(lending(512, 3), 0).total == 3 * 40 + 60);
}
