// Memory that is lent: a device sends what it keeps of a micro-batch to another one (its helper) after the forward
// pass, and has it back for the backward pass (WATOS, section IV-B: "Sender" and "Helper"; IV-C).
//
// The helper has room for all that it holds at once before time zero. On the lender, streams beside the main one do it:
//
//   main stream      forward pass | lend              ...  recall     ...  restore | backward pass
//   out              waits for lend, sends, releases what has left, or what has come as the helper says
//   back             waits for recall, asks for it by a message, receives, raises `restored`
//   helper's stream  receives, waits for the question, sends back
//
// recall allocates the room on the lender; restore waits, where what was lent is late. Where few micro-batches may be
// on their way at a time, lend waits until one before has left: so what a slow link has not taken does not pile up.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/program.hpp"
#include "tessera/program/schedule.hpp"

namespace tessera::program {

/// A loan as the code of its lender and its helper names it.
struct LoanSlots {
  std::uint32_t peer = 0;           ///< slot: on the lender its helper, on the helper its lender
  std::uint32_t first_event = 0;    ///< of loan_events
  std::uint32_t first_channel = 0;  ///< of loan_channels, which nobody else uses between the two
};
inline constexpr std::uint32_t loan_events = 7, loan_channels = 3;

/// Channels on which a loan's bytes go, there from the lender and back from its helper.
struct LoanChannels {
  std::uint32_t there = 0, back = 0;
};
[[nodiscard]] LoanChannels channels_of(const LoanSlots& slots);

/// One loan between two devices.
struct LoanShape {
  LoanSlots slots;
  Bytes bytes{};              ///< of a micro-batch
  std::uint32_t times = 0;    ///< micro-batches
  std::uint32_t at_once = 0;  ///< that the helper holds, most_lent()
  std::uint32_t leaving = 0;  ///< that may be on their way to it at most; 0: any number
  bool confirmed =
      false;  ///< the lender holds what it lends until it hears that all has come; false: until all has left
  MemoryCategory from = MemoryCategory::activations;     ///< what the lender keeps them as
  MemoryCategory to = MemoryCategory::buffers;           ///< what the helper holds them as
  Activity activity = Activity::pipeline_communication;  ///< of all that moves them and waits for them
};

/// On the lender's main stream: behind a forward pass; so long before its backward pass; right before that.
void write_lend(BlockBuilder& main, const LoanShape& loan);
void write_recall(BlockBuilder& main, const LoanShape& loan);
void write_restore(BlockBuilder& main, const LoanShape& loan);
/// Whole streams of the lender.
[[nodiscard]] BlockId loan_out_stream(Program& program, const LoanShape& loan);
[[nodiscard]] BlockId loan_back_stream(Program& program, const LoanShape& loan);

/// On the helper's main stream: before anything else; at its end, when all is back.
void write_room(BlockBuilder& main, const LoanShape& loan);
void write_end_of_room(BlockBuilder& main, const LoanShape& loan);
/// Whole streams of the helper: one that takes and gives back, or where loans are confirmed one for each.
void add_held_streams(Program& program, const LoanShape& loan, std::vector<BlockId>& streams);

/// A stage's actions with those of a loan: lend behind each forward pass, recall `lead` passes (forward or backward)
/// before each backward pass, though not before it was lent, restore right before that. `loan` is its number.
[[nodiscard]] std::vector<PipelineAction> with_loan(const std::vector<PipelineAction>& actions, std::uint32_t loan,
                                                    std::uint32_t lead);
/// Micro-batches that are lent at most at once: from lend to restore.
[[nodiscard]] std::uint32_t most_lent(const std::vector<PipelineAction>& actions, std::uint32_t loan);
/// Micro-batches of what is lent that are with the lender at most at once, if each has left by the end of the pass
/// behind lend: until then, and from recall to the backward pass.
[[nodiscard]] std::uint32_t most_at_home(const std::vector<PipelineAction>& actions, std::uint32_t loan);

}  // namespace tessera::program
