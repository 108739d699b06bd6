// Operators and messages that share a device's memory: by hand, and laws against packet by packet.
#include <catch2/catch.hpp>

#include "random_islands.hpp"
#include "random_replicas.hpp"
#include "random_rings.hpp"
#include "random_shared_nics.hpp"
#include "shared_memory_case.hpp"
#include "support/random_cases.hpp"

using namespace tessera;
using namespace tessera::test;
using machine::NodeId;

namespace {

Time finished(const results::RunResults& results, NodeId device) {
  return std::ranges::find(results.device_rows, device, &results::DeviceRow::device)->finished;
}

/// An operator of so many ps that moves so many bytes.
workload::Operator moves(Time computing, std::int64_t bytes) {
  workload::Operator op = work(computing);
  op.bytes_written = bytes;
  return op;
}

/// Devices whose memories move a byte in 1 ns, as their links do, 100 B at a time.
ProgramCase devices(NodeId count) {
  ProgramCase made(count);
  made.machine.device.memory_bandwidth = BytesPerSecond{second / byte_time};
  made.program.memory_packet = packet_bytes;
  return made;
}

/// With all laws, and packet by packet.
results::RunResults run_both(const ProgramCase& made) {
  const results::RunResults results = run_recorded(made, sim::Laws::all).results;
  check_same(results, run_recorded(made, sim::Laws::none).results);
  return results;
}

}  // namespace

TEST_CASE("shared memory: two messages and a product take turns") {
  // Of 300 B of a product and 200 B of each message on device 0's memory, the messages' last packets have been read at
  // 500 and 600 ns, the product's last one has been moved at 700 ns (tests/sim/memory_server.cpp). A message's first
  // packet leaves at once and comes at 100.5 ns; its last one leaves 100 ns after it has been read, comes 0.5 ns later,
  // and is written in 100 ns: the messages are there at 700.5 and 800.5 ns.
  ProgramCase made = devices(3);
  made.bind(0, {made.block().compute(moves(50'000, 300)).done(), made.block().send(1, Bytes{200}).done(),
                made.block().send(2, Bytes{200}).done()});
  for (NodeId to : {1U, 2U}) made.bind(to, {made.block().receive(0, Bytes{200}).done()});
  const results::RunResults results = run_both(made);
  CHECK(finished(results, 0) == 700'000);
  CHECK(finished(results, 1) == 700'500);
  CHECK(finished(results, 2) == 800'500);
}

TEST_CASE("shared memory: a message whose ends are both busy") {
  // Device 0: a product of 400 B and a message of 300 B take turns from 0 on, so the message's third packet has been
  // read at 600 ns, and leaves at 700 ns. Device 1, a product of 500 B: its packets end at 100 and 200 ns; the
  // message's first packet has come at 100.5 ns, so two packets of it are written by 300 and 500 ns, between those of
  // the product by 400, 600 and 700 ns. The last one comes at 700.5 ns and is written by 800.5 ns.
  ProgramCase made = devices(2);
  made.bind(0, {made.block().compute(moves(0, 400)).done(), made.block().send(1, Bytes{300}).done()});
  made.bind(1, {made.block().compute(moves(0, 500)).done(), made.block().receive(0, Bytes{300}).done()});
  const results::RunResults results = run_both(made);
  CHECK(finished(results, 1) == 800'500);
  CHECK(time_of(results.device_rows[1], program::Activity::forward) == 700'000);
}

TEST_CASE("shared memory: an operator ends when computing and bytes are done, and the next one follows") {
  // 200 ns of computing beside 100 ns of bytes, then 50 beside 300, then no bytes: 200 + 300 + 70 ns.
  ProgramCase made = devices(1);
  made.bind(0,
            {made.block().compute(moves(200'000, 100)).compute(moves(50'000, 300)).compute(moves(70'000, 0)).done()});
  CHECK(run_both(made).iteration_time == 570'000);
}

TEST_CASE("shared memory: additions of a collective are moved too") {
  // A ring of two reduces 400 B: both send 200 B, which take 200 ns to be read beside 200 ns to be written from 100.5
  // ns on, and add 200 B to 200 B, 600 B in all.
  ProgramCase made = devices(2);
  made.group({0, 1});
  for (NodeId device : {0U, 1U}) {
    made.bind(device,
              {made.block().collective(collective(program::CollectiveKind::reduce_scatter, 400, "ring")).done()});
  }
  // Read packets end at 100 and 300 ns (the written one, come at 100.5, waits for the read one that began at 100: 100
  // to 200). So: read 0-100, 100-200; the tail leaves at 200-300 and comes at 300.5 ns; the first one is written
  // 200-300, the second one 300.5-400.5; the sum is moved by 1,000.5 ns.
  CHECK(run_both(made).iteration_time == 1'000'500);
}

TEST_CASE("shared memory: not beside collectives that take bandwidth by themselves") {
  ProgramCase made = devices(1);
  made.bind(0, {made.block().compute(moves(1000, 100)).done()});
  made.program.channels = 2;
  CHECK(made.refusal() ==
        "\"shared\" is not allowed beside collectives that take 2 cores and their share of the memory bandwidth: set "
        "collectives.channels to 0");
}

TEST_CASE("shared memory: all laws give the rows of packet by packet") {
  for (std::uint64_t index = 0; index < random_cases(200); ++index) {
    CAPTURE(index);
    const std::uint64_t key = 880'000 + index;
    const ProgramCase made = sharing_memory(index, [&] {
      if (index % 4 == 0) return random_replicas_on(site_kinds[index / 4 % site_kinds.size()], key);
      if (index % 4 == 1) return random_islands(key);
      return index % 4 == 2 ? random_rings(key) : random_shared_nics(key);
    }());
    const results::RunResults packets = run_recorded(made, sim::Laws::none).results;
    check_same(run_recorded(made, sim::Laws::all).results, packets);
    sim::SimulationOptions options;
    options.allow_oversubscription = true;
    const results::RunResults laws = made.run(options).results;  // rounds too, where nothing is recorded
    options.laws = sim::Laws::none;
    check_same(laws, made.run(options).results);
  }
}
