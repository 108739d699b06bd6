// The hold model over each pending-event set alone: take the next event, draw as PHOLD does, put the new event back.
// Run: hold --pending 1000 100000 10000000
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/bench_main.hpp"
#include "support/calendar_queue.hpp"
#include "support/phold_draws.hpp"
#include "support/record_heap.hpp"
#include "support/stopwatch.hpp"
#include "tessera/pdes/pending/heap.hpp"
#include "tessera/pdes/pending/ladder_queue.hpp"

namespace {

using namespace tessera;
using bench::PholdDraws;
using bench::PholdParameters;

/// The records beside the set: 48-byte events in an EventPool, keys in the set.
template <pdes::PendingSet Set>
class PooledHold {
 public:
  void push(const pdes::Event& event) {
    const std::uint32_t slot = events_.allocate();
    events_[slot] = event;
    set_.push({event.time, slot, event.destination});
  }
  pdes::Event pop() {
    static_cast<void>(set_.next_time());
    const std::uint32_t slot = set_.pop().slot;
    const pdes::Event event = events_[slot];
    events_.release(slot);
    return event;
  }

 private:
  pdes::detail::EventPool events_;
  Set set_{events_};
};

struct Seconds {
  double wall = 0;
  double cpu = 0;
};

/// Draws are counted per LP, as in PHOLD.
template <class Hold>
Seconds seconds_for(const PholdParameters& parameters, std::uint64_t operations) {
  const PholdDraws draws(parameters);
  std::vector<std::uint32_t> drawn(parameters.lps);
  Hold hold;
  const auto make = [&](Time now, std::uint32_t from) {
    const PholdDraws::Draw draw = draws(from, drawn[from]++);
    pdes::Event event{now + draw.delay, from, draw.to, drawn[from], 0, 0, {}};
    std::memcpy(event.payload.data(), &now, sizeof now);
    return event;
  };
  for (std::uint32_t k = 0; k < parameters.events_per_lp; ++k) {
    for (std::uint32_t lp = 0; lp < parameters.lps; ++lp) hold.push(make(0, lp));
  }
  const auto turn = [&](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const pdes::Event event = hold.pop();
      hold.push(make(event.time, event.destination));
    }
  };
  turn(operations / 2);  // into the steady state, where the distribution of pending times no longer changes
  const bench::Stopwatch watch;
  turn(operations);
  return {watch.wall_seconds(), watch.cpu_seconds()};
}

struct Candidate {
  const char* name;
  Seconds (*seconds_for)(const PholdParameters&, std::uint64_t);
};
constexpr Candidate candidates[] = {
    {"fixed-4-ary-heap", seconds_for<bench::RecordHeap<4>>},
    {"binary-heap", seconds_for<PooledHold<pdes::Heap<2>>>},
    {"4-ary-heap", seconds_for<PooledHold<pdes::Heap<4>>>},
    {"calendar", seconds_for<PooledHold<bench::CalendarQueue>>},
    {"ladder", seconds_for<PooledHold<pdes::LadderQueue>>},
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Options {
  PholdParameters phold;
  std::vector<std::uint64_t> pending = {1'000, 100'000, 10'000'000};
  std::vector<std::string> sets;
  std::uint64_t operations = 4'000'000;
  int repeats = 5;
};

void run(Options options) {
  PholdParameters& parameters = options.phold;
  for (const std::uint64_t count : options.pending) {
    parameters.lps = static_cast<std::uint32_t>(count / parameters.events_per_lp);
    const std::uint64_t measured = std::max(options.operations, 2 * count);
    std::vector<std::vector<double>> wall(std::size(candidates)), cpu(std::size(candidates));
    // All sets in turn, so that a noisy moment of the machine meets all of them.
    for (int repeat = 0; repeat < options.repeats; ++repeat) {
      for (std::size_t k = 0; k < std::size(candidates); ++k) {
        if (!options.sets.empty() &&
            std::find(options.sets.begin(), options.sets.end(), candidates[k].name) == options.sets.end())
          continue;
        const Seconds seconds = candidates[k].seconds_for(parameters, measured);
        wall[k].push_back(seconds.wall);
        cpu[k].push_back(seconds.cpu);
      }
    }
    for (std::size_t k = 0; k < std::size(candidates); ++k) {
      if (wall[k].empty()) continue;
      const auto events = static_cast<double>(measured);
      fmt::print(
          "summary: bench=hold events={} seconds={:.4f} events_per_second={:.0f} set={} pending={} k={} remote={} "
          "ns_per_event={:.1f} "
          "cpu_seconds={:.4f} cpu_ns_per_event={:.1f}\n",
          measured, median(wall[k]), events / median(wall[k]), candidates[k].name, count, parameters.events_per_lp,
          parameters.remote, 1e9 * median(wall[k]) / events, median(cpu[k]), 1e9 * median(cpu[k]) / events);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return bench::main_of(
      "Hold model over each pending-event set",
      {{"--pending", &options.pending, "numbers of pending events"},
       {"--set", &options.sets, "only these sets"},
       {"--k", &options.phold.events_per_lp, "events per LP"},
       {"--mean", &options.phold.mean, "mean delay"},
       {"--lookahead", &options.phold.lookahead, "least delay"},
       {"--remote", &options.phold.remote, "probability that an event leaves its LP"},
       {"--seed", &options.phold.seed, "of the draws"},
       {"--operations", &options.operations, "hold operations measured, at least twice the pending events"},
       {"--repeats", &options.repeats, "of which the median counts"}},
      argc, argv, [&] { run(options); });
}
