// All ranks in one process: the agreement of the windows without messages.
#include "tessera/pdes/side_by_side.hpp"

#include <algorithm>
#include <tuple>

#include "agreement.hpp"
#include "engine_core.hpp"
#include "tessera/base/error.hpp"

namespace tessera::pdes {

namespace {

using Ranks = std::vector<Engine*>;

Agreement agree(const Ranks& ranks) {
  std::optional<Agreement> all;
  for (Engine* rank : ranks) {
    const Agreement mine(rank->standing(), rank->kernel(), rank->wiring().lookahead);
    all ? all->take_minimum(mine.values.data()) : void(all = mine);
  }
  return *all;
}

void deliver(const Ranks& ranks, std::vector<RunStatistics>& statistics) {
  for (std::size_t from = 0; from < ranks.size(); ++from) {
    const auto& out = ranks[from]->wiring().out;
    for (std::size_t k = 0; k < out.size(); ++k) {
      detail::Outbox& box = ranks[from]->kernel().outboxes[k];
      statistics[from].messages += box.count();
      const auto to = static_cast<std::size_t>(out[k].rank);
      ranks[to]->kernel().take_in(std::span(box.records).subspan(1), box.bytes.data());
      box.clear();
    }
  }
}

void work(Engine& rank, Time horizon) {
  rank.work(horizon);
  const std::vector<Time> promised(rank.wiring().out.size(), horizon);
  if (auto broken = broken_promise(rank.kernel(), promised)) rank.fail(std::move(*broken));
}

void throw_smallest(const Ranks& ranks, bool interrupted) {
  if (interrupted) throw IoError("the run was interrupted");
  const Failure* first = nullptr;
  for (const Engine* rank : ranks) {
    if (!rank->failure()) continue;
    if (first == nullptr ||
        std::tie(rank->failure()->time, rank->failure()->component) < std::tie(first->time, first->component))
      first = &*rank->failure();
  }
  if (first != nullptr) throw_error(first->code, first->message);
}

/// All that asks others is answered by the one rank alone.
class VirtualRank final : public Communicator {
 public:
  VirtualRank(int rank, int ranks) : rank_(rank), ranks_(ranks) {}
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return ranks_; }
  [[nodiscard]] ByteVector broadcast(ByteVector bytes) override { return alone_->broadcast(std::move(bytes)); }
  [[nodiscard]] std::vector<ByteVector> gather(const ByteVector& bytes) override { return alone_->gather(bytes); }
  [[nodiscard]] std::vector<ByteVector> all_gather(const ByteVector& bytes) override {
    return alone_->all_gather(bytes);
  }
  [[nodiscard]] std::vector<ByteVector> all_to_all(const std::vector<ByteVector>& bytes) override { return bytes; }
  [[nodiscard]] std::int64_t min(std::int64_t value) override { return value; }
  [[nodiscard]] std::int64_t max(std::int64_t value) override { return value; }
  [[nodiscard]] std::int64_t sum(std::int64_t value) override { return value; }
  void barrier() override {}
  [[nodiscard]] std::unique_ptr<Communicator> split(int) override { return make_serial_communicator(); }

 private:
  int rank_;
  int ranks_;
  std::unique_ptr<Communicator> alone_ = make_serial_communicator();
};

}  // namespace

std::unique_ptr<Communicator> make_virtual_rank(int rank, int ranks) {
  return std::make_unique<VirtualRank>(rank, ranks);
}

SideBySide::SideBySide(std::span<Simulation* const> ranks) {
  for (Simulation* simulation : ranks) ranks_.push_back(simulation->engine_.get());
}

std::vector<RunStatistics> SideBySide::run(const RunOptions& options, const std::function<void(const Window&)>& each) {
  const Ranks& ranks = ranks_;
  for (Engine* rank : ranks) rank->begin(options);
  std::vector<RunStatistics> statistics(ranks.size());
  std::vector<std::uint64_t> events(ranks.size());
  Agreement all = agree(ranks);
  for (; !all.finished(options.end); all = agree(ranks)) {
    deliver(ranks, statistics);
    const Time horizon = all.horizon(ranks.front()->wiring().lookahead);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const std::uint64_t before = ranks[r]->events();
      work(*ranks[r], horizon);
      events[r] = ranks[r]->events() - before;
    }
    if (each) each({all.next_event(), std::min(horizon, options.end), events});
  }
  throw_smallest(ranks, all.interrupted());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::uint64_t messages = statistics[r].messages;
    statistics[r] = ranks[r]->statistics();
    statistics[r].messages = messages;
  }
  return statistics;
}

}  // namespace tessera::pdes
