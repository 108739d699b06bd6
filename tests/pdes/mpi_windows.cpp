// How far the synchronisers get in a round: idle time is skipped, promises widen what latencies allow.
#include <catch2/catch.hpp>

#include "actors.hpp"
#include "support/world.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

/// As many actors as ranks, one on each, linked in a ring of this latency.
ModelGraph ring_of_ranks(const std::vector<Script>& scripts, Time latency) {
  std::vector<LinkInfo> links;
  const auto count = static_cast<ComponentId>(scripts.size());
  for (ComponentId id = 0; id < count && count > 1; ++id) links.push_back({id, (id + 1) % count, latency});
  return actors(scripts, links);
}

RunStatistics play_on(Communicator& comm, const ModelGraph& model, const RunOptions& options) {
  Simulation simulation(model, make_partition(model, comm.size(), "block"), comm);
  return simulation.run(options);
}

RunOptions with(const std::string& synchroniser) {
  RunOptions options;
  options.synchroniser = synchroniser;
  return options;
}

}  // namespace

TEST_CASE("idle time is skipped, however many latencies long") {
  // Each actor has ten events, a second apart; the latency is a nanosecond. Creeping would take 10^10 rounds.
  tessera::test::World world;
  std::vector<Script> scripts(static_cast<std::size_t>(world.comm.size()));
  for (Script& script : scripts) {
    script.start = [](Context& context) { context.schedule(second, Word{}); };
    script.handle = [](Context& context, const Event& event) {
      const Word word = event.as<Word>();
      if (word.value < 9) context.schedule(context.now() + second, Word{word.value + 1});
    };
  }
  const ModelGraph model = ring_of_ranks(scripts, nanosecond);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    INFO(synchroniser);
    const RunStatistics statistics = play_on(world.comm, model, with(synchroniser));
    CHECK(statistics.events == 10);
    CHECK(statistics.rounds <= (synchroniser == "window" ? 11 : 200));
  }
}

TEST_CASE("promises of the earliest output save rounds") {
  // Each actor works off an event every 10 and sends one on only every 1,000: it knows so, and says so. The latency of
  // 10 alone allows windows of about one event each; with the promises windows span 1,000.
  tessera::test::World world;
  const Time last = 20'000;
  const auto rounds = [&](const std::string& synchroniser, bool promising) {
    std::vector<Time> now(static_cast<std::size_t>(world.comm.size()));
    std::vector<Script> scripts(now.size());
    for (std::size_t k = 0; k < scripts.size(); ++k) {
      scripts[k].start = [](Context& context) { context.schedule(0, Word{1}); };
      scripts[k].handle = [&, k](Context& context, const Event& event) {
        if (event.as<Word>().value == 0) return;  // from the other rank
        now[k] = context.now();
        if (context.now() % 1'000 == 0 && world.comm.size() > 1) context.send(OutPort{0}, context.now() + 10, Word{0});
        if (context.now() < last) context.schedule(context.now() + 10, Word{1});
      };
      if (promising) {
        scripts[k].earliest_output = [](Time from, Time latency) { return (from + 999) / 1'000 * 1'000 + latency; };
      }
    }
    const RunStatistics statistics = play_on(world.comm, ring_of_ranks(scripts, 10), with(synchroniser));
    const auto own_events = static_cast<std::uint64_t>(last / 10 + 1);
    const std::uint64_t received = world.comm.size() > 1 ? 21 : 0;
    CHECK(statistics.events == own_events + received);
    return statistics.rounds;
  };
  for (const std::string& synchroniser : synchroniser_kinds()) {
    INFO(synchroniser);
    const std::uint64_t without = rounds(synchroniser, false);
    const std::uint64_t with_promises = rounds(synchroniser, true);
    if (world.comm.size() == 1) continue;
    CHECK(without > 1'000);
    CHECK(with_promises < 100);
  }
}

TEST_CASE("a broken promise is found out on every rank") {
  tessera::test::World world;
  if (world.comm.size() == 1) return;
  std::vector<Script> scripts(static_cast<std::size_t>(world.comm.size()));
  scripts[0].start = [](Context& context) { context.schedule(500, Word{}); };
  scripts[0].handle = [](Context& context, const Event&) { context.send(OutPort{0}, context.now() + 10, Word{}); };
  for (Script& script : scripts) script.earliest_output = [](Time, Time) { return Time{10'000}; };
  const ModelGraph model = ring_of_ranks(scripts, 10);
  for (const std::string& synchroniser : synchroniser_kinds()) {
    CHECK(message_of<InternalError>([&] { play_on(world.comm, model, with(synchroniser)); }) ==
          "actor 0 sends to actor 1 at 510 ps, but its earliest_output() promised nothing before 10000 ps");
  }
}
