// Streams of a device that go on in the same picosecond, one of which is in a ring without steps that another one's
// message breaks off: those that are due go on in the order of their numbers, those that they make ready behind them.
#include <catch2/catch.hpp>

#include <array>

#include "program_case.hpp"
#include "support/random_cases.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;
using program::DeviceId;

namespace {

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

constexpr std::uint32_t random_streams = 3;

/// Devices with a link to each other one, some of them two nodes with two NICs each. Rings of a few bytes; computing
/// of some picoseconds, a byte's time or a latency; messages to other streams of a device and to other devices.
ProgramCase random_turns(std::uint64_t index) {
  const KeyedRandom random(index, random_stream("ring turns"));
  std::uint64_t draws = 0;
  const auto below = [&](std::uint64_t count) { return random.below(draws++, count); };
  ProgramCase made(static_cast<DeviceId>(2 + below(4)));
  const DeviceId devices = made.machine.devices();
  if (devices == 4 && below(2) == 0) {
    for (int device = 0; device < 4; ++device)
      made.machine.places[static_cast<std::size_t>(device)] = {device / 2, device % 2, 0, device};
  }
  made.program.channels = static_cast<std::uint32_t>(below(2) * 3);
  made.machine.device.cores = 8;
  for (std::uint32_t group = 0; group < random_streams; ++group) {
    std::vector<DeviceId> members(devices);
    for (DeviceId rank = 0; rank < devices; ++rank) members[rank] = (rank + group) % devices;
    made.group(members);
  }
  std::vector<program::BlockBuilder> blocks;
  for (DeviceId i = 0; i < devices * random_streams; ++i) blocks.push_back(made.block());
  const auto any_stream = [&] { return static_cast<std::uint32_t>(below(random_streams)); };
  const auto any_device = [&] { return static_cast<DeviceId>(below(devices)); };
  const auto at = [&](DeviceId device, std::uint32_t stream) -> program::BlockBuilder& {
    return blocks[device * random_streams + stream];
  };
  const auto send = [&](DeviceId from, DeviceId to, Bytes bytes) {
    const std::uint32_t stream = any_stream(), other = any_stream(), channel = stream * random_streams + other;
    if (from == to && stream == other) return;
    at(from, stream).send(to, bytes, channel);
    at(to, other).receive(from, bytes, channel);
  };
  static constexpr std::array<Time, 8> times{1, 2, 3, 500, 1000, 1500, 1501, 20'000};
  static constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                    CollectiveKind::all_gather};
  const std::string algorithm = below(3) == 0 ? "bidirectional-ring" : "ring";
  for (std::uint64_t left = 6 + below(30); left > 0; --left) {
    const DeviceId device = any_device();
    switch (below(6)) {
      case 0:
      case 1: {
        const auto asked = collective(kinds[below(kinds.size())], static_cast<std::int64_t>(below(7)), algorithm,
                                      below(3) == 0 ? any_stream() : 1);
        for (DeviceId member = 0; member < devices; ++member) at(member, asked.group_slot).collective(asked);
        break;
      }
      case 2:
      case 3:
        send(device, device, Bytes{1});
        break;
      case 4:
        send(device, any_device(), Bytes{static_cast<std::int64_t>(below(12))});
        break;
      default:
        at(device, any_stream()).compute(work(times[below(times.size())]));
    }
  }
  for (DeviceId device = 0; device < devices; ++device) {
    std::vector<program::BlockId> bound;
    for (std::uint32_t stream = 0; stream < random_streams; ++stream) bound.push_back(at(device, stream).done());
    made.bind(device, bound);
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
  for (const sim::Laws laws : all_laws) CHECK(run_recorded(made, laws).results.device_rows[0].finished == 111'502);
}

TEST_CASE("ring turns: who ends a ring at the picosecond at which another stream is due goes on in its turn") {
  // Device 2 tells its first stream before it enters the ring at 10,000 ps: that computes for a picosecond and comes
  // first at 10,001 ps. Its 10 B leave at 20,001 ps, the byte at 21,001 ps: it is with device 0 at 21,501 ps and added
  // at 21,502 ps.
  const ProgramCase made = late_in_scatter(0, [](auto& main, auto& ring, const auto& scatter) {
    main.receive(2, Bytes{1}).compute(work(1));
    ring.send(2, Bytes{1}).collective(scatter);
  });
  for (const sim::Laws laws : all_laws) CHECK(run_recorded(made, laws).results.device_rows[0].finished == 121'502);
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
  for (const sim::Laws laws : all_laws) CHECK(run_recorded(made, laws).results.device_rows[1].finished == 23'001);
}

TEST_CASE("ring turns: 1,000 random programs of few bytes and picoseconds take the same picoseconds as step by step") {
  std::uint64_t fewer = 0;
  for (std::uint64_t index = 0; index < random_cases(1000); ++index) {
    const ProgramCase made = random_turns(index);
    CAPTURE(index);
    fewer += check_same_as_steps(made) ? 1 : 0;
  }
  CHECK(fewer > random_cases(100));
}
