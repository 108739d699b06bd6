// Streams of a device that go on in the same picosecond, one of which is in a ring without steps that another one's
// message breaks off: those that are due go on in the order of their numbers, those that they make ready behind them.
#include <catch2/catch.hpp>

#include <array>

#include "program_case.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;
using program::DeviceId;

namespace {

sim::SimulationResult run_with(const ProgramCase& made, sim::Laws laws) {
  sim::SimulationOptions options;
  options.laws = laws;
  options.record_timeline = true;
  return made.run(options);
}

constexpr std::array all_laws{sim::Laws::all, sim::Laws::trains, sim::Laws::none};

/// Three devices scatter the sum of 1 B, 0 and 1 from the first picosecond on, 2 at 10 ns, when what goes round before
/// it has come: it posts 0 B, adds 1 B for a picosecond, and ends at 10,001 ps, when it posts that byte. `act`:
/// what its streams do around that; at the end the first one sends 10 B to device 0.
template <class Act>
ProgramCase late_in_scatter(std::uint32_t events, Act&& act) {
  ProgramCase made(3);
  made.group({0, 1, 2});
  for (DeviceId device = 0; device < 3; ++device) {
    program::BlockBuilder main = made.block("main"), ring = made.block("ring");
    ring.compute(work(device == 2 ? 10'000 : 1));
    const auto scatter = collective(CollectiveKind::reduce_scatter, 1, "ring");
    if (device == 2) {
      act(main, ring, scatter);
      main.send(0, Bytes{10});
    } else {
      ring.collective(scatter);
    }
    if (device == 0) {
      main.receive(2, Bytes{10});
      ring.compute(work(100'000));
    }
    made.bind(device, {main.done(), ring.done()}, events);
  }
  return made;
}

}  // namespace

TEST_CASE("ring turns: who has left a ring in the event that breaks it off has sent all") {
  // At 10,001 ps device 2 tells its first stream, whose 10 B follow the byte on the link: that has left at 11,001 ps,
  // is with device 0 a latency later and added at 11,502 ps; 100 ns of work end at 111,502 ps. The 10 B leave at
  // 21,001 ps.
  const ProgramCase made = late_in_scatter(1, [](auto& main, auto& ring, const auto& scatter) {
    main.wait(0);
    ring.collective(scatter).signal(0);
  });
  for (const sim::Laws laws : all_laws) CHECK(run_with(made, laws).results.device_rows[0].finished == 111'502);
}

TEST_CASE("ring turns: who ends a ring at the picosecond at which another stream is due goes on in its turn") {
  // Device 2 tells its first stream before it enters the ring at 10,000 ps: that computes for a picosecond and comes
  // first at 10,001 ps. Its 10 B leave at 20,001 ps, the byte at 21,001 ps: it is with device 0 at 21,501 ps and added
  // at 21,502 ps.
  const ProgramCase made = late_in_scatter(0, [](auto& main, auto& ring, const auto& scatter) {
    main.receive(2, Bytes{1}).compute(work(1));
    ring.send(2, Bytes{1}).collective(scatter);
  });
  for (const sim::Laws laws : all_laws) CHECK(run_with(made, laws).results.device_rows[0].finished == 121'502);
}

TEST_CASE("ring turns: a stream that another one makes ready goes on behind all that are due") {
  // An all-reduce of 2 B over two devices: each has 1 B of the other one at 1,500 ps, adds it and posts the sum at
  // 1,501 ps. At that time stream 2 of device 0 makes stream 0 ready, which posts 10 B: behind the byte, which is with
  // device 1 at 3,001 ps. There 20 ns of work follow. The 10 B are there 10 ns behind the byte.
  ProgramCase made(2);
  made.group({0, 1});
  const auto sum = collective(CollectiveKind::all_reduce, 2, "ring");
  const auto main = made.block("main").receive(0, Bytes{1}).send(1, Bytes{10}).done();
  const auto beside = made.block("beside").compute(work(1501)).send(0, Bytes{1}).done();
  made.bind(0, {main, made.block("ring").collective(sum).done(), beside});
  const auto ring = made.block("ring").collective(sum).compute(work(20'000)).done();
  made.bind(1, {made.block("main").receive(0, Bytes{10}).done(), ring});
  for (const sim::Laws laws : all_laws) CHECK(run_with(made, laws).results.device_rows[1].finished == 23'001);
}
