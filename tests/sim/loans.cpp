// Memory that is lent: by hand, and in random programs with all laws and with none.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "random_replicas.hpp"
#include "random_ways.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/random.hpp"
#include "tessera/program/loans.hpp"

using namespace tessera;
using namespace tessera::test;
using program::Activity;
using program::LoanShape;
using program::MemoryCategory;

namespace {

constexpr std::uint32_t message_channel = 0, loan_channel = 50;

/// Peer slots are devices.
LoanShape loan_with(program::Program& program, program::DeviceId peer, std::int64_t bytes, std::uint32_t times,
                    std::uint32_t at_once, std::uint32_t first_event = 0, std::uint32_t first_channel = loan_channel) {
  LoanShape shape;
  shape.slots = {peer, first_event, first_channel};
  shape.bytes = Bytes{bytes};
  shape.times = times;
  shape.at_once = at_once;
  shape.to = program::category_named(program, "offloaded");
  shape.activity = program::activity_named(program, "offload");
  return shape;
}

/// Device 1 with its main stream, and those that hold what is lent.
void bind_helper(ProgramCase& made, program::BlockId main, const LoanShape& helper) {
  std::vector<program::BlockId> streams = {main};
  add_held_streams(made.program, helper, streams);
  made.bind(1, streams, program::loan_events);
}

/// Device 0 lends 300 B of one micro-batch to device 1, works for `between` from when it asks to when it needs them,
/// and sends 100 B over the same link when it asks.
ProgramCase one_loan(Time between) {
  ProgramCase made(2);
  const LoanShape lender = loan_with(made.program, 1, 300, 1, 1), helper = loan_with(made.program, 0, 300, 1, 1);
  program::BlockBuilder main = made.block();
  main.allocate(MemoryCategory::activations, Bytes{400}).compute(work(10'000));
  write_lend(main, lender);
  main.compute(work(50'000)).send(1, Bytes{100}, message_channel);
  write_recall(main, lender);
  if (between > 0) main.compute(work(between));
  write_restore(main, lender);
  main.activity(Activity::backward).compute(work(20'000)).release(MemoryCategory::activations, Bytes{400});
  program::BlockBuilder other = made.block("helper");
  write_room(other, helper);
  other.receive(0, Bytes{100}, message_channel);
  write_end_of_room(other, helper);
  const program::BlockId out = loan_out_stream(made.program, lender), back = loan_back_stream(made.program, lender);
  made.bind(0, {main.done(), out, back}, program::loan_events);
  bind_helper(made, other.done(), helper);
  return made;
}

std::int64_t peak_of(const sim::SimulationResult& result, program::DeviceId device) {
  return result.results.device_rows[device].peak_memory;
}

/// Loans between devices of a random program, in front of what they do and behind it: `ahead` micro-batches, then
/// rounds of one back and one lent.
ProgramCase with_loans(ProgramCase made, std::uint64_t index) {
  const KeyedRandom random(index, random_stream("loans"));
  std::vector<program::DeviceId> working;
  for (program::DeviceId device = 0; device < made.program.devices.size(); ++device)
    if (!made.program.devices[device].streams.empty()) working.push_back(device);
  const std::uint64_t loans = working.size() < 2 ? 0 : 1 + random.below(0, 3);
  for (std::uint32_t loan = 0; loan < loans; ++loan) {
    const std::uint64_t key = 10 + 10 * loan;
    const std::uint64_t lends = random.below(key, working.size());
    const program::DeviceId from = working[lends];
    const program::DeviceId to = working[(lends + 1 + random.below(key + 1, working.size() - 1)) % working.size()];
    const auto ahead = static_cast<std::uint32_t>(1 + random.below(key + 2, 3));
    const auto times = ahead + static_cast<std::uint32_t>(random.below(key + 3, 12));
    const auto bytes = static_cast<std::int64_t>(1 + random.below(key + 4, 1000));
    const Time pass = 1000 + static_cast<Time>(random.below(key + 5, 400'000));
    program::DeviceProgram& a = made.program.devices[from];
    program::DeviceProgram& b = made.program.devices[to];
    const auto slots = [&](program::DeviceProgram& device, program::DeviceId peer) {
      device.peers.push_back(peer);
      device.events += program::loan_events;
      return loan_with(made.program, static_cast<std::uint32_t>(device.peers.size() - 1), bytes, times, ahead,
                       device.events - program::loan_events, loan_channel + loan * program::loan_channels);
    };
    LoanShape lender = slots(a, to), helper = slots(b, from);
    lender.confirmed = helper.confirmed = random.below(key + 6, 3) == 0;
    program::BlockBuilder forward = made.block("forward"), backward = made.block("backward");
    forward.compute(work(pass)).allocate(MemoryCategory::activations, Bytes{bytes + 10});
    write_lend(forward, lender);
    write_recall(backward, lender);
    backward.compute(work(pass / 2));
    write_restore(backward, lender);
    backward.compute(work(2 * pass)).release(MemoryCategory::activations, Bytes{bytes + 10});
    const program::BlockId first = forward.done(), last = backward.done();
    const program::BlockId steady = made.block("steady").call(last).call(first).done();
    a.streams[0] =
        made.block().call(first, ahead).call(a.streams[0]).call(steady, times - ahead).call(last, ahead).done();
    a.streams.push_back(loan_out_stream(made.program, lender));
    a.streams.push_back(loan_back_stream(made.program, lender));
    program::BlockBuilder holder = made.block("holder");
    write_room(holder, helper);
    holder.call(b.streams[0]);
    write_end_of_room(holder, helper);
    b.streams[0] = holder.done();
    add_held_streams(made.program, helper, b.streams);
  }
  return made;
}

/// Nothing is left of what is lent, and as many bytes come back as went out.
void check_returned(const ProgramCase& made) {
  const sim::SimulationResult result = run_recorded(made, sim::Laws::none);
  const auto offloaded = static_cast<std::size_t>(program::memory_category_count);
  if (made.program.own_categories.empty()) return;
  std::vector<std::int64_t> held(made.machine.devices(), 0);
  for (const results::MemoryChange& change : result.results.memory_changes)
    if (change.category == offloaded) held[change.device] = change.bytes;
  for (const std::int64_t bytes : held) CHECK(bytes == 0);
}

/// Device 0 lends 300 B of each of `times` forward passes of 50,000 ps to device 1, and after all of them works
/// `between` before each backward pass needs its own back.
ProgramCase lending_at_once(std::uint32_t times, std::uint32_t leaving, bool confirmed, Time between) {
  ProgramCase made(2);
  LoanShape lender = loan_with(made.program, 1, 300, times, times),
            helper = loan_with(made.program, 0, 300, times, times);
  lender.leaving = leaving;
  lender.confirmed = helper.confirmed = confirmed;
  program::BlockBuilder forward = made.block("forward"), backward = made.block("backward");
  forward.allocate(MemoryCategory::activations, Bytes{300}).compute(work(50'000));
  write_lend(forward, lender);
  write_recall(backward, lender);
  if (between > 0) backward.compute(work(between));
  write_restore(backward, lender);
  backward.release(MemoryCategory::activations, Bytes{300});
  const program::BlockId first = forward.done(), last = backward.done();
  program::BlockBuilder other = made.block("helper");
  write_room(other, helper);
  write_end_of_room(other, helper);
  const program::BlockId out = loan_out_stream(made.program, lender), back = loan_back_stream(made.program, lender);
  made.bind(0, {made.block().call(first, times).call(last, times).done(), out, back}, program::loan_events);
  bind_helper(made, other.done(), helper);
  check_returned(made);
  return made;
}

}  // namespace

TEST_CASE("a loan shares a link with a message, and its return is late") {
  const ProgramCase made = one_loan(0);
  const sim::SimulationResult result = run_recorded(made, sim::Laws::none);
  // A link takes 100,000 ps a packet, and own messages take turns. The loan's first packet leaves until 110,000 ps. At
  // 60,000 ps the message and the question (8 B) come: the message's packet leaves until 210,000, the question until
  // 218,000, and the loan's other two until 418,000; 500 ps later it is there. Its way back is free: 300,000 + 500 ps.
  const Time there = 418'000 + 500, back = there + 300'000 + 500;
  CHECK(result.results.device_rows[0].finished == back + 20'000);
  // The main stream waits from 60,000 on: for who has not sent yet, then for what is under way.
  CHECK(time_of(result.results.device_rows[0], Activity::bubble) == there - 60'000);
  const Activity offload{static_cast<std::uint8_t>(program::activity_count)};
  CHECK(time_of(result.results.device_rows[0], offload) == 300'000 + 500);
  // The lender has room for what comes back while the loan is still leaving.
  CHECK(peak_of(result, 0) == 400 + 300);
  CHECK(peak_of(result, 1) == 300);
  // As many bytes come back as go out, beside the message and the question.
  CHECK(result.results.device_rows[0].bytes_sent == 300 + 100 + 8);
  CHECK(result.results.device_rows[1].bytes_sent == 300);
  check_returned(made);
}

TEST_CASE("what comes back in time is not waited for") {
  const ProgramCase made = one_loan(1'000'000);
  const sim::SimulationResult result = run_recorded(made, sim::Laws::none);
  CHECK(result.results.device_rows[0].finished == 10'000 + 50'000 + 1'000'000 + 20'000);
  CHECK(time_of(result.results.device_rows[0], Activity::bubble) == 0);
}

TEST_CASE("a lend waits until the one before has left, where few may be on their way") {
  // Three forward passes over a link that takes 300,000 ps for what each lends. Any number at once: all three are held,
  // since none has left by 150,000 ps, and there is room for the first one that is asked back, 1,200 B. One at a time:
  // the first one leaves from 50,000 to 350,000 ps, and the second lend waits for that; never more than one that leaves
  // and one that is made.
  const auto peak = [](std::uint32_t leaving) {
    return peak_of(run_recorded(lending_at_once(3, leaving, false, 0), sim::Laws::none), 0);
  };
  CHECK(peak(0) == 1200);
  CHECK(peak(1) == 600);
}

TEST_CASE("a lender that waits for the word that all has come is told so behind it") {
  // Two forward passes, one of what they lend on its way at a time. The first one leaves from 50,000 to 350,000 ps,
  // which the second lend waits for from 100,000 on. It has come 500 ps later, until when the helper has nothing to
  // send; the word of that, 8 B, takes 8,000 and 500. Nothing that comes back is waited for.
  for (const sim::Laws laws : {sim::Laws::all, sim::Laws::none}) {
    const auto waits = [&](bool confirmed) {
      const ProgramCase made = lending_at_once(2, 1, confirmed, 5'000'000);
      const results::DeviceRow row = run_recorded(made, laws).results.device_rows[0];
      return std::vector{time_of(row, program::Activity{program::activity_count}), time_of(row, Activity::bubble)};
    };
    CHECK(waits(false) == std::vector<Time>{250'000, 0});
    CHECK(waits(true) == std::vector<Time>{250'000 + 8'500, 500});
  }
}

TEST_CASE("random programs with loans, some on bound ways: all laws give the rows of none, and everything comes back") {
  for (std::uint64_t i = 0; i < random_cases(60); ++i) {
    INFO("case " << i);
    const SiteKind kind = site_kinds[i % site_kinds.size()];
    const ProgramCase made =
        i % 6 == 5 ? with_loans(random_replicas(i), i) : with_loans(random_replicas_on(kind, i), i);
    check_same_as_steps(made);
    check_same(run_recorded(made, sim::Laws::all).results, run_recorded(made, sim::Laws::none).results);
    if (i % 4 == 0) check_returned(made);
  }
}
