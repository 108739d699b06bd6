// PHOLD, the standard load of parallel event simulators, as a user of pdes/ alone: each LP starts with K events to
// itself; each event makes one new event after L + Exp(mean - L), to its own LP or, with probability R, to any LP. Run:
// mpirun -n 2 phold --lps 131072 --k 1 --remote 0.1
#include <fmt/format.h>

#include <algorithm>

#include "support/bench_main.hpp"
#include "support/on_ranks.hpp"
#include "support/phold_draws.hpp"
#include "support/stopwatch.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/engine.hpp"

namespace {

using namespace tessera;
using bench::PholdDraws;
using bench::PholdParameters;

struct Phold;
struct Ball {
  using protocol = Phold;
  Time thrown = 0;
};
struct Phold : pdes::Protocol<Ball> {};

class LogicalProcess final : public pdes::Component {
 public:
  LogicalProcess(const PholdDraws& draws, std::uint32_t events) : draws_(draws), events_(events) {}

  void start(pdes::Context& context) override {
    for (std::uint32_t k = 0; k < events_; ++k) {
      context.schedule(draws_(context.self(), drawn_++).delay, Ball{context.now()});
    }
  }

  void handle(pdes::Context& context, const pdes::Event& event) override {
    travelled_ += context.now() - event.as<Ball>().thrown;
    const PholdDraws::Draw draw = draws_(context.self(), drawn_++);
    const Time at = context.now() + draw.delay;
    if (draw.to == context.self()) {
      context.schedule(at, Ball{context.now()});
    } else {
      context.send_to(draw.to, at, Ball{context.now()});
    }
  }

 private:
  const PholdDraws& draws_;
  std::uint32_t events_;
  std::uint32_t drawn_ = 0;
  Time travelled_ = 0;
};

pdes::ModelGraph make_model(const PholdParameters& parameters, const PholdDraws& draws) {
  pdes::ModelGraph model;
  model.components = parameters.lps;
  model.crossbars.push_back({0, parameters.lps, draws.lookahead()});
  model.create = [&](pdes::ComponentId) { return std::make_unique<LogicalProcess>(draws, parameters.events_per_lp); };
  return model;
}

struct Options {
  PholdParameters phold;
  double end = 0;
  std::string synchroniser = "window";
};

void print_summary(const Options& options, int ranks, std::int64_t events, std::int64_t messages,
                   const pdes::RunStatistics& run, double waiting, double cpu_seconds) {
  const double rate = static_cast<double>(events) / run.wall_seconds;
  fmt::print("{} events in {:.3f} s, {:.3f} M events/s, {} rounds, {:.1f} % of the time waiting\n", events,
             run.wall_seconds, rate / 1e6, run.rounds, 100 * waiting);
  fmt::print(
      "summary: bench=phold events={} seconds={:.4f} events_per_second={:.0f} ranks={} lps={} k={} mean={} "
      "lookahead={} remote={} "
      "sync={} rounds={} messages={} waiting_share={:.4f} cpu_seconds={:.4f}\n",
      events, run.wall_seconds, rate, ranks, options.phold.lps, options.phold.events_per_lp, options.phold.mean,
      options.phold.lookahead, options.phold.remote, options.synchroniser, run.rounds, messages, waiting, cpu_seconds);
}

void simulate(const Options& options, Communicator& comm) {
  const PholdDraws draws(options.phold);
  const pdes::ModelGraph model = make_model(options.phold, draws);
  pdes::Simulation simulation(model, pdes::make_partition(model, comm.size(), "block"), comm);
  pdes::RunOptions run_options;
  run_options.synchroniser = options.synchroniser;
  run_options.end = static_cast<Time>(options.end * bench::unit_time);
  comm.barrier();
  const bench::Stopwatch watch;
  const pdes::RunStatistics mine = simulation.run(run_options);
  const double cpu_seconds = watch.cpu_seconds();
  const std::int64_t events = comm.sum(static_cast<std::int64_t>(mine.events));
  const std::int64_t messages = comm.sum(static_cast<std::int64_t>(mine.messages));
  const auto waiting_us = static_cast<double>(comm.sum(static_cast<std::int64_t>(mine.waiting_seconds * 1e6)));
  const double waiting = waiting_us / 1e6 / comm.size() / mine.wall_seconds;
  if (comm.rank() == 0) print_summary(options, comm.size(), events, messages, mine, waiting, cpu_seconds);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  return bench::main_of("PHOLD on the engine",
                        {{"--lps", &options.phold.lps, "logical processes"},
                         {"--k", &options.phold.events_per_lp, "events that each LP starts with"},
                         {"--mean", &options.phold.mean, "mean delay of an event"},
                         {"--lookahead", &options.phold.lookahead, "least delay of an event"},
                         {"--remote", &options.phold.remote, "probability that an event goes to any LP"},
                         {"--end", &options.end, "end time; without it about 8 million events are made"},
                         {"--sync", &options.synchroniser, "window or null-message"},
                         {"--seed", &options.phold.seed, "of the draws"}},
                        argc, argv, [&] {
                          if (options.end <= 0)
                            options.end = std::max(
                                1.0, 8e6 * options.phold.mean / options.phold.lps / options.phold.events_per_lp);
                          return on_ranks(argc, argv, [&](Communicator& world) { simulate(options, world); });
                        });
}
