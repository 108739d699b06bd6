#include "sim/run/block_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "sim/laws/fold/unfold_results.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/together.hpp"

namespace tessera::sim {
namespace {

/// When it is looked first whether parts of all orders have done the same.
constexpr Time first_look = 1'000'000;

/// Replicas that are simulated to see whether they are alike although their numbers are in another order, at most.
constexpr std::size_t most_orders = 16;

std::string too_many_orders(std::size_t orders) {
  return fmt::format("of what comes at the same time, parts that are alike would see {} different orders first",
                     orders);
}

std::string tie_before(Time end) {
  const std::string when = end == never ? "" : " before " + config::format_rounded(end, config::Unit::time);
  return "somewhere" + when + " several messages come at the same time, and another one of them comes first elsewhere";
}

/// The first block, and from when on that may make a difference parts of each order, each simulated for a while that
/// is twice as long every time: where they part, little more has been simulated in vain than what lies before.
class BlocksOfAllOrders {
 public:
  explicit BlocksOfAllOrders(const FoldedJob& job) : job_(job) { add(0); }

  /// To the end, with the results of the first one; why they have not done the same, or nothing. Cut off, it has a time
  /// alone.
  std::string run(SimulationResult& result) {
    const Time end = job_.options.run.end;
    for (Time until = std::min(first_look, end);; until = until > end / 2 ? end : 2 * until) {
      if (!run_before(until, 0)) return cut_off(result);
      if (blocks_.size() == 1 && blocks_.front()->may_differ(until)) {
        if (job_.fold.goes_by_ends()) return tie_before(until);  // no other block is simulated for all
        if (job_.fold.orders().size() > most_orders) return too_many_orders(job_.fold.orders().size());
        for (const std::uint32_t base : job_.fold.orders())
          if (base != 0) add(base);
      }
      for (std::size_t i = 1; i < blocks_.size(); ++i)
        if (!run_before(until, i)) return cut_off(result);
      if (!agree()) return tie_before(until);
      if (until == end || blocks_.front()->simulation().simulation().pending().empty()) break;
    }
    blocks_.front()->simulation().run(job_.options, result);
    return compare(result.results);
  }

 private:
  void add(std::uint32_t base) {
    blocks_.push_back(std::make_unique<BlockSimulation>(job_, base));
    events_.push_back(0);
  }
  /// Whether the results are those of the first one.
  [[nodiscard]] std::string compare(const results::RunResults& results) {
    for (std::size_t i = 1; i < blocks_.size(); ++i) {
      SimulationResult other;
      blocks_[i]->simulation().run(quiet(), other);
      if (!did_the_same(job_.fold, blocks_[i]->base(), results, other.results)) return tie_before(never);
    }
    return {};
  }
  std::string cut_off(SimulationResult& result) {
    result.statistics.cut_off = true;
    result.results.iteration_time = blocks_.front()->simulation().finished();
    return {};
  }
  /// False: it has been cut off.
  [[nodiscard]] bool run_before(Time until, std::size_t index) {
    pdes::RunOptions options = job_.options.run;
    if (job_.options.progress)
      options.progress = [this, index](const pdes::ProgressReport& report) { show(report, index); };
    const pdes::RunStatistics done = blocks_[index]->simulation().run_before(until, options);
    events_[index] = done.events;
    return !done.cut_off;
  }
  [[nodiscard]] bool agree() const {
    return std::ranges::all_of(blocks_,
                               [this](const auto& block) { return block->witness() == blocks_.front()->witness(); });
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
};

}  // namespace

std::string simulate_block(const FoldedJob& job, Communicator& comm, SimulationResult& result) {
  std::string problem;
  together(comm, [&] {
    if (!job.fold.contested().empty()) {
      problem = BlocksOfAllOrders(job).run(result);
    } else {
      BlockSimulation(job, 0).simulation().run(job.options, result);
    }
  });
  // Each rank has its own clock: what is over on one is over on all.
  if (comm.max(result.statistics.cut_off ? 1 : 0) == 0) return problem;
  const Time time = comm.max(result.results.iteration_time);
  result = {};
  result.statistics.cut_off = true;
  result.results.iteration_time = time;
  return {};
}

}  // namespace tessera::sim
