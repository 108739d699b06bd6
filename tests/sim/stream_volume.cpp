// What the streams of a device are said to be, for estimates, beside the events and rows that they make.
#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "sim/gpu/traffic_bins.hpp"
#include "tessera/sim/run/stream_volume.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

sim::StreamVolume volume(const ProgramCase& made, program::DeviceId device = 0) {
  program::Lowerings lowerings(made.program, made.machine);
  return sim::stream_volume(lowerings, sim::ProgramFacts(made.program), device);
}

double events(const ProgramCase& made) {
  sim::SimulationOptions options;
  options.laws = sim::Laws::rings;  // every round
  return static_cast<double>(made.run(options).statistics.events);
}

}  // namespace

TEST_CASE("operators of one stream are no events, those of two streams are one each but for the first two") {
  ProgramCase made(1);
  const auto inner = made.block("inner").compute(work(10), 4).compute(work(3)).done();
  const auto main = made.block().call(inner, 50).done();
  made.bind(0, {main});
  CHECK(volume(made).wakes == 1);  // the start
  CHECK(events(made) == 1);
  // 250 operators here and 2 there; each stream starts, and begins its first operator at once.
  const auto beside = made.block("beside").compute(work(5), 2).done();
  made.bind(0, {main, beside});
  CHECK(volume(made).wakes == 1 + 249 + 1 + 1);
  CHECK(volume(made).most_wakes == 252);
  CHECK(events(made) == 252);
}

TEST_CASE("a stream reaches its clock before what others can see") {
  ProgramCase made(1);
  // A pass computes, raises, raises again: the first signal waits for the clock, the second one does not. It begins
  // with a signal at time zero.
  const auto pass = made.block("pass").compute(work(10)).signal(0).signal(0).done();
  const auto main = made.block().signal(0).call(pass, 7).done();
  made.bind(0, {main}, 1);
  CHECK(volume(made).wakes == 1 + 7);
  CHECK(events(made) == 1 + 7);
}

TEST_CASE("passes that begin with the clock ahead and behind in turn") {
  ProgramCase made(1);
  // The pass ends ahead of time, so that every pass but the first one waits at its begin.
  const auto pass = made.block("pass").signal(0).compute(work(10)).done();
  const auto main = made.block().call(pass, 6).done();
  made.bind(0, {main}, 1);
  CHECK(volume(made).wakes == 1 + 5);
  CHECK(events(made) == 1 + 5);
}

TEST_CASE("messages that are posted in a row wait in line, those behind what takes time may have left") {
  ProgramCase made(2);
  const auto burst = made.block("burst").send(1, Bytes{100}).done();
  const auto spread = made.block("spread").send(1, Bytes{100}).compute(work(10)).done();
  const auto main = made.block().call(burst, 40).call(spread, 30).wait_sends().call(burst, 5).done();
  made.bind(0, {main});
  // 40, and the first one of the others before it computes; without a wait for any to leave it may be all 70.
  CHECK(volume(made).in_line == 41);
  CHECK(volume(made).most_in_line == 70);
}

TEST_CASE("rows of a recorded timeline are at most as many as said") {
  ProgramCase made(1);
  const auto pass = made.block("pass").compute(work(10), 3).done();
  const auto main = made.block().call(pass, 20).done();
  sim::SimulationOptions recorded;
  recorded.record_timeline = true;
  made.bind(0, {main});
  CHECK(volume(made).intervals == 20);
  CHECK(made.run(recorded).results.intervals.size() == 20);
  made.bind(0, {main, made.block("beside").compute(work(1)).done()});
  CHECK(volume(made).intervals == 61);
  CHECK(made.run(recorded).results.intervals.size() == 61);
}

TEST_CASE("traffic over time keeps the intervals in which something moves, however short or many they are") {
  sim::TrafficBins bins(1);
  const auto serve = [&](Time at, std::uint32_t bytes) {
    sim::MemoryRequest request;
    request.bytes = bytes;
    bins.add(request, at);
  };
  // 5,000 rounds of the same three intervals, the middle one a day later: 3 rows.
  constexpr Time day = 86'400 * second;
  for (int round = 0; round < 5000; ++round) {
    serve(7, 1);
    serve(day, 2);
    serve(8, 4);
  }
  const auto rows = bins.bins();
  REQUIRE(rows.size() == 3);
  CHECK((rows[0].interval == 7 && rows[0].bytes == 5000));
  CHECK((rows[1].interval == 8 && rows[1].bytes == 20'000));
  CHECK((rows[2].interval == day && rows[2].bytes == 10'000));
}
