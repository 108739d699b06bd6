#include "tessera/program/loans.hpp"

namespace tessera::program {
namespace {

enum Event : std::uint32_t { lend, left, recall, restored, all_back, room_to_leave, taken };
enum Channel : std::uint32_t { loan_channel, question_channel, return_channel };

constexpr Bytes question{8};  // and the word that something has come

std::uint32_t event(const LoanShape& loan, Event which) { return loan.slots.first_event + which; }
std::uint32_t channel(const LoanShape& loan, Channel which) { return loan.slots.first_channel + which; }

/// A stream that does the same for each micro-batch, and something at its end.
template <class Once, class End>
BlockId stream(Program& program, const LoanShape& loan, const char* name, const Once& once, const End& end) {
  BlockBuilder body(program, name);
  body.label(name).activity(loan.activity);
  once(body);
  const BlockId block = body.done();
  BlockBuilder all(program, name);
  all.label(name).activity(loan.activity).call(block, loan.times);
  end(all);
  return all.done();
}

void nothing(BlockBuilder&) {}

}  // namespace

LoanChannels channels_of(const LoanSlots& slots) {
  return {slots.first_channel + loan_channel, slots.first_channel + return_channel};
}

void write_lend(BlockBuilder& main, const LoanShape& loan) {
  if (loan.leaving > 0) main.label("lent memory").activity(loan.activity).wait(event(loan, room_to_leave));
  main.signal(event(loan, lend));
}

void write_recall(BlockBuilder& main, const LoanShape& loan) {
  main.allocate(loan.from, loan.bytes).signal(event(loan, recall));
}

void write_restore(BlockBuilder& main, const LoanShape& loan) {
  // What is back has left before. That is no wait, and bounds what the device holds (memory_peak).
  main.label("lent memory").activity(loan.activity).wait(event(loan, restored)).wait(event(loan, left));
}

BlockId loan_out_stream(Program& program, const LoanShape& loan) {
  const auto once = [&](BlockBuilder& body) {
    body.wait(event(loan, lend)).send(loan.slots.peer, loan.bytes, channel(loan, loan_channel)).wait_sends();
    // The word comes on the channel on which the lender asks.
    if (loan.confirmed) body.receive(loan.slots.peer, question, channel(loan, question_channel));
    body.release(loan.from, loan.bytes).signal(event(loan, left));
    if (loan.leaving > 0) body.signal(event(loan, room_to_leave));
  };
  if (loan.leaving == 0) return stream(program, loan, "memory lent", once, nothing);
  const BlockId all = stream(program, loan, "memory lent", once, nothing);
  return BlockBuilder(program, "memory lent").signal(event(loan, room_to_leave), loan.leaving).call(all).done();
}

BlockId loan_back_stream(Program& program, const LoanShape& loan) {
  const auto once = [&](BlockBuilder& body) {
    body.wait(event(loan, recall)).send(loan.slots.peer, question, channel(loan, question_channel));
    body.receive(loan.slots.peer, loan.bytes, channel(loan, return_channel)).signal(event(loan, restored));
  };
  return stream(program, loan, "memory back", once, nothing);
}

void write_room(BlockBuilder& main, const LoanShape& loan) { main.allocate(loan.to, loan.bytes * loan.at_once); }

void write_end_of_room(BlockBuilder& main, const LoanShape& loan) {
  main.label("lent memory").activity(loan.activity).wait(event(loan, all_back));
  main.release(loan.to, loan.bytes * loan.at_once);
}

void add_held_streams(Program& program, const LoanShape& loan, std::vector<BlockId>& streams) {
  const auto take = [&](BlockBuilder& body) {
    body.receive(loan.slots.peer, loan.bytes, channel(loan, loan_channel));
    if (loan.confirmed)
      body.send(loan.slots.peer, question, channel(loan, question_channel)).signal(event(loan, taken));
  };
  const auto give = [&](BlockBuilder& body) {
    body.receive(loan.slots.peer, question, channel(loan, question_channel));
    if (loan.confirmed) body.wait(event(loan, taken));
    body.send(loan.slots.peer, loan.bytes, channel(loan, return_channel));
  };
  const auto both = [&](BlockBuilder& body) {
    take(body);
    give(body);
  };
  const auto end = [&](BlockBuilder& all) { all.wait_sends().signal(event(loan, all_back)); };
  // A question may come before the next loan: the word that this one has come must not wait for it.
  if (loan.confirmed) streams.push_back(stream(program, loan, "memory taken", take, nothing));
  streams.push_back(loan.confirmed ? stream(program, loan, "memory held", give, end)
                                   : stream(program, loan, "memory held", both, end));
}

}  // namespace tessera::program
