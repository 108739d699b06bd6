#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {
namespace {

/// Instructions of a simulation for which another rank is worth what its messages cost.
constexpr std::int64_t worth_a_rank = 100'000;

struct Task {
  std::uint64_t key = 0;
  std::int64_t length = 0;
  std::size_t candidate = 0;
};

/// What each candidate is, found by one rank each.
std::vector<Task> described(Communicator& comm, std::size_t count, const std::function<Program(std::size_t)>& make,
                            Fidelity fidelity) {
  std::vector<Task> own;
  together(comm, [&] {
    const WorkRange work = work_of(count, comm.rank(), comm.size());
    for (std::size_t i = work.begin; i < work.end; ++i) {
      const Program program = make(i);
      own.push_back({key_of(program, fidelity), length_of(program), i});
    }
  });
  return joined(all_gather(comm, own));
}

/// Each key once.
std::vector<Task> different(const std::vector<Task>& tasks) {
  std::set<std::uint64_t> seen;
  std::vector<Task> found;
  for (const Task& task : tasks) {
    if (seen.insert(task.key).second) found.push_back(task);
  }
  return found;
}

/// Those that no rank knows, the longest first. What some rank knows all ranks are told.
std::vector<Task> unknown(Communicator& comm, Memo& memo, const std::vector<Task>& tasks) {
  std::vector<std::uint8_t> knows;
  for (const Task& task : tasks) knows.push_back(memo.find(task.key) == nullptr ? 0 : 1);
  const std::vector<std::vector<std::uint8_t>> all = all_gather(comm, knows);
  std::vector<Known> told;
  std::vector<Task> left;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    const auto first = std::ranges::find_if(all, [&](const auto& rank) { return rank[i] != 0; }) - all.begin();
    if (first == comm.size()) left.push_back(tasks[i]);
    const bool is_news = std::ranges::any_of(all, [&](const auto& rank) { return rank[i] == 0; });
    if (first == comm.rank() && is_news) told.push_back({tasks[i].key, *memo.find(tasks[i].key)});
  }
  for (Known& one : joined(all_gather(comm, told))) memo.learn(one.key, std::move(one.evaluation));
  std::ranges::stable_sort(left, std::greater(), &Task::length);
  return left;
}

/// Which team takes which tasks: the longest that is left goes to the team that has the least to do.
std::vector<std::vector<Task>> dealt(const std::vector<Task>& tasks, std::size_t teams) {
  std::vector<std::vector<Task>> all(teams);
  std::vector<double> load(teams, 0);
  for (const Task& task : tasks) {
    const auto least = static_cast<std::size_t>(std::ranges::min_element(load) - load.begin());
    all[least].push_back(task);
    load[least] += 1 + static_cast<double>(task.length);
  }
  return all;
}

[[noreturn]] void throw_interrupted() { throw IoError("the search was interrupted"); }

/// What the ranks of a team do. What all of a team throw, all ranks throw. A mistake in the program or a lack of memory
/// is one rank's alone: it goes on up, since the rest of its team waits in a message, and only an abort ends that.
void in_teams(Communicator& comm, const Communicator& team, const std::function<void()>& step) {
  std::exception_ptr problem;
  try {
    step();
  } catch (const Error& error) {
    if (team.size() > 1 && error.code() == ExitCode::internal) throw;
    problem = std::current_exception();
  } catch (...) {
    if (team.size() > 1) throw;
    problem = std::current_exception();
  }
  together(comm, [&] {
    if (problem) std::rethrow_exception(problem);
  });
}

/// As many teams as tasks, or as ranks; fewer ranks take part where a team's would have too little to do.
struct Teams {
  std::size_t count = 1, ranks_each = 1;
};
Teams teams_for(const std::vector<Task>& tasks, int ranks, Fidelity fidelity, int most_ranks) {
  const auto all = static_cast<std::size_t>(ranks);
  const std::size_t count = std::min(tasks.size(), all);
  if (fidelity != Fidelity::simulated) return {count, 1};
  const std::int64_t shortest = tasks.back().length;
  const std::size_t worth = static_cast<std::size_t>(shortest / worth_a_rank) + 1;
  return {count, std::min({all / count, worth, static_cast<std::size_t>(most_ranks)})};
}

}  // namespace

std::int64_t length_of(const Program& program) {
  std::map<BlockId, std::int64_t> of_entry;
  Int128 sum = 0;
  for (const DeviceProgram& device : program.devices) {
    for (const BlockId entry : device.streams) {
      const auto [found, added] = of_entry.try_emplace(entry, 0);
      if (added) {
        Int128 length = 0;
        for (const auto& [block, times] : block_runs(program, entry))
          length += static_cast<Int128>(times) * static_cast<Int128>(program.blocks[block].code.size());
        found->second = static_cast<std::int64_t>(std::min<Int128>(length, std::numeric_limits<std::int64_t>::max()));
      }
      sum += found->second;
    }
  }
  return static_cast<std::int64_t>(std::min<Int128>(sum, std::numeric_limits<std::int64_t>::max()));
}

void Evaluations::go_on() const {
  if (hooks_.interrupted && hooks_.interrupted()) throw_interrupted();
}

Evaluation Evaluations::one(const Program& program, Fidelity fidelity) const {
  const std::uint64_t key = key_of(program, fidelity);
  if (const Evaluation* known = memo_->find(key); known != nullptr) return *known;
  const auto alone = make_serial_communicator();
  go_on();
  Evaluation found = evaluator_->evaluate(program, fidelity, *alone);
  memo_->add(key, found);
  return found;
}

std::vector<Outlook> Evaluations::outlooks(std::size_t count, const std::function<Outlook(std::size_t)>& look) const {
  Communicator& comm = *comm_;
  const auto ranks = static_cast<std::size_t>(comm.size()), first = static_cast<std::size_t>(comm.rank());
  std::vector<Outlook> own;
  together(comm, [&] {
    Progress progress{0, (count + ranks - 1 - first) / ranks, 0};
    for (std::size_t i = first; i < count; i += ranks) {  // neighbours are alike: in turn, all ranks have as much to do
      go_on();
      own.push_back(look(i));
      ++progress.done;
      if (hooks_.progress) hooks_.progress(progress);
    }
  });
  const std::vector<std::vector<Outlook>> all = all_gather(comm, std::move(own));
  std::vector<Outlook> found;
  for (std::size_t i = 0; i < count; ++i) found.push_back(all[i % ranks][i / ranks]);
  return found;
}

std::vector<Evaluation> Evaluations::all(std::size_t count, const std::function<Program(std::size_t)>& make,
                                         Fidelity fidelity) const {
  Communicator& comm = *comm_;
  const std::vector<Task> tasks = described(comm, count, make, fidelity);
  const std::vector<Task> left = unknown(comm, *memo_, different(tasks));
  if (!left.empty()) {
    const Teams teams = teams_for(left, comm.size(), fidelity, evaluator_->most_ranks());
    const std::size_t team = static_cast<std::size_t>(comm.rank()) / teams.ranks_each;
    const auto own_team = comm.split(static_cast<int>(std::min(team, teams.count)));
    std::vector<Known> done;
    in_teams(comm, *own_team, [&] {
      if (team >= teams.count) return go_on();
      const std::vector<Task> own_tasks = dealt(left, teams.count)[team];
      Progress progress{0, own_tasks.size(), 0};
      for (const Task& task : own_tasks) {
        // What one rank of a team hears of alone would leave the others waiting for it.
        if (own_team->max(hooks_.interrupted && hooks_.interrupted() ? 1 : 0) != 0) throw_interrupted();
        Evaluation found = evaluator_->evaluate(make(task.candidate), fidelity, *own_team);
        ++progress.done;
        if (found.feasible && (progress.best == 0 || found.time < progress.best)) progress.best = found.time;
        if (hooks_.progress) hooks_.progress(progress);
        if (own_team->rank() != 0) continue;
        memo_->add(task.key, found);  // now: what comes next may end the search
        done.push_back({task.key, std::move(found)});
      }
    });
    for (Known& one : joined(all_gather(comm, std::move(done)))) memo_->learn(one.key, std::move(one.evaluation));
  }
  std::vector<Evaluation> found;
  for (const Task& task : tasks) found.push_back(*memo_->find(task.key));
  return found;
}

}  // namespace tessera::program::search
