#include "sim/fold/block_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "sim/fold/unfold_results.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/together.hpp"

namespace tessera::sim {
namespace {

/// When it is looked first whether replicas of all orders have done the same.
constexpr Time first_look = 1'000'000;

std::string tie_before(Time end) {
  const std::string when = end == never ? "" : " before " + config::format_rounded(end, config::Unit::time);
  return "somewhere" + when +
         " several messages come at the same time, and another one of them comes first in other replicas";
}

/// Replicas of each order, each simulated for a while that is twice as long every time: where they part, little more
/// has been simulated in vain than what lies before.
class BlocksOfAllOrders {
 public:
  explicit BlocksOfAllOrders(const FoldedJob& job) : job_(job) {
    for (const std::uint32_t base : job.fold.orders()) blocks_.push_back(std::make_unique<BlockSimulation>(job, base));
    events_.resize(blocks_.size());
  }

  /// Up to `end`; why they have not done the same, or nothing. Nothing as well where the first one has failed.
  std::string run_before(Time end) {
    Time until = std::min(first_look, end);
    while (true) {
      run_before(until, 0);
      for (std::size_t i = 1; i < blocks_.size() && !first().splits().failed; ++i) run_before(until, i);
      if (first().is_broken()) return {};
      if (!first().splits().failed && !agree()) return tie_before(until);
      if (until == end || first().simulation().simulation().pending().empty()) return {};
      until = until > end / 2 ? end : 2 * until;
    }
  }
  /// Behind the end: whether the results are those of the first one.
  [[nodiscard]] std::string compare(const results::RunResults& results) {
    for (std::size_t i = 1; i < blocks_.size(); ++i) {
      SimulationResult other;
      blocks_[i]->simulation().run(quiet(), other);
      if (!did_the_same(job_.fold, blocks_[i]->base(), results, other.results)) return tie_before(never);
    }
    return {};
  }
  [[nodiscard]] BlockSimulation& first() { return *blocks_.front(); }
  [[nodiscard]] std::unique_ptr<BlockSimulation> take_first() { return std::move(blocks_.front()); }
  [[nodiscard]] const pdes::RunStatistics& statistics() const { return statistics_; }

 private:
  void run_before(Time until, std::size_t index) {
    pdes::RunOptions options = job_.options.run;
    if (job_.options.progress)
      options.progress = [this, index](const pdes::ProgressReport& report) { show(report, index); };
    blocks_[index]->try_to([&](RankSimulation& one) {
      const pdes::RunStatistics statistics = one.run_before(until, options);
      events_[index] = statistics.events;
      if (index == 0) statistics_ = statistics;
    });
  }
  [[nodiscard]] bool agree() const {
    return std::ranges::all_of(blocks_, [this](const auto& block) {
      return !block->splits().failed && block->witness() == blocks_.front()->witness();
    });
  }
  [[nodiscard]] SimulationOptions quiet() const {
    SimulationOptions options = job_.options;
    options.progress = nullptr;
    return options;
  }
  /// Of all of them, one of which is at work.
  void show(pdes::ProgressReport report, std::size_t index) {
    events_[index] = report.events;
    report.events = 0;
    for (const std::uint64_t events : events_) report.events += events;
    report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    WorkDone all;
    for (const auto& block : blocks_) {
      const WorkDone done = block->simulation().work_done();
      all.devices += done.devices;
      all.flops += done.flops;
      all.bytes_sent += done.bytes_sent;
    }
    job_.options.progress(report, all);
  }

  const FoldedJob& job_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<BlockSimulation>> blocks_;
  std::vector<std::uint64_t> events_;  // of each, so far
  pdes::RunStatistics statistics_;     // of the first one
};

std::unique_ptr<BlockSimulation> simulate_first(const FoldedJob& job, SimulationResult& result) {
  auto block = std::make_unique<BlockSimulation>(job, 0);
  block->try_to([&](RankSimulation& one) { one.run(job.options, result); });
  return block;
}

SimulatedBlock simulate_all_orders(const FoldedJob& job, SimulationResult& result) {
  BlocksOfAllOrders blocks(job);
  SimulatedBlock made;
  made.problem = blocks.run_before(never);
  if (made.problem.empty()) {
    BlockSimulation& first = blocks.first();
    if (!first.is_broken()) first.try_to([&](RankSimulation& one) { one.run(job.options, result); });
    if (first.splits().starts.empty()) made.problem = blocks.compare(result.results);
  }
  made.block = blocks.take_first();
  return made;
}

}  // namespace

SimulatedBlock simulate_block(const FoldedJob& job, Communicator& comm, SimulationResult& result) {
  const std::uint32_t replicas = job.fold.block();
  result.fold = fmt::format("{} of {} replicas simulated for all", replicas, replicas * job.fold.order());
  SimulatedBlock made;
  together(comm, [&] {
    made = job.fold.orders().size() > 1 ? simulate_all_orders(job, result)
                                        : SimulatedBlock{simulate_first(job, result), {}};
    made.block->usage().sort();
  });
  return made;
}

SimulatedBlock simulate_block_before(const FoldedJob& job, Communicator& comm, Time end,
                                     pdes::RunStatistics& statistics) {
  SimulatedBlock made;
  together(comm, [&] {
    BlocksOfAllOrders blocks(job);
    made.problem = blocks.run_before(end);
    statistics = blocks.statistics();
    made.block = blocks.take_first();
  });
  return made;
}

}  // namespace tessera::sim
