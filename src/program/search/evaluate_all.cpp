#include <exception>
#include <functional>
#include <map>
#include <numeric>

#include "phase.hpp"
#include "tasks.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {
namespace {

/// What each rank does alone. What one of them throws all throw, when all have come to the end.
void by_itself(Communicator& comm, PhaseProgress& phase, const std::function<void()>& step) {
  std::exception_ptr problem;
  try {
    step();
  } catch (...) {
    problem = std::current_exception();
  }
  phase.finish();
  together(comm, [&] {
    if (problem) std::rethrow_exception(problem);
  });
}

/// What each candidate is, found by one rank each; fewer where time is over.
std::vector<Task> described(const Evaluations& evaluations, PhaseProgress phase, std::size_t count,
                            const std::function<Program(std::size_t)>& make, Fidelity fidelity) {
  Communicator& comm = evaluations.comm();
  std::vector<Task> own;
  by_itself(comm, phase, [&] {
    const WorkRange work = work_of(count, comm.rank(), comm.size());
    for (std::size_t i = work.begin; i < work.end && !evaluations.is_over(); ++i) {
      evaluations.go_on();
      const Program program = make(i);
      own.push_back({key_of(program, fidelity), length_of(program), i});
      phase.done(1);
    }
  });
  return joined(all_gather(comm, own));
}

[[noreturn]] void throw_interrupted() { throw IoError("the search was interrupted"); }

/// What the ranks of a team do. What all of a team throw, all ranks throw. A mistake in the program or a lack of memory
/// is one rank's alone: it goes on up, since the rest of its team waits in a message, and only an abort ends that.
void in_teams(Communicator& comm, const Communicator& team, PhaseProgress& phase, const std::function<void()>& step) {
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
  by_itself(comm, phase, [&] {
    if (problem) std::rethrow_exception(problem);
  });
}

/// From one number of 0 .. count-1 to the next, so that all come and any few in turn lie far from each other.
std::size_t leap_over(std::size_t count) {
  constexpr double golden = 0.6180339887498949;
  auto leap = std::max<std::size_t>(1, static_cast<std::size_t>(golden * static_cast<double>(count)));
  while (std::gcd(leap, count) > 1) ++leap;
  return leap;
}

/// While it lives, the phase hears how far evaluations are.
class UnderWay {
 public:
  UnderWay(PhaseProgress*& slot, PhaseProgress* phase) : slot_(slot) { slot_ = phase; }
  ~UnderWay() { slot_ = nullptr; }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  PhaseProgress*& slot_;
};

}  // namespace

Evaluations::Evaluations(Evaluator& evaluator, Communicator& comm, Memo& memo, Hooks hooks, const Limits& limits)
    : evaluator_(&evaluator), comm_(&comm), memo_(&memo), hooks_(std::move(hooks)), limits_(limits) {
  if (hooks_.progress) news_ = std::make_shared<News>(comm);
}

void Evaluations::go_on() const {
  if (hooks_.interrupted && hooks_.interrupted()) throw_interrupted();
}

bool Evaluations::is_over_somewhere() const { return limits_.is_timed() && comm_->max(is_over() ? 1 : 0) != 0; }

void Evaluations::has_listed(std::size_t candidates) const {
  if (hooks_.progress && comm_->rank() == 0) hooks_.progress({Phase::listing, candidates, 0});
}

void Evaluations::has_simulated(Time reached) const {
  if (under_way_ != nullptr) under_way_->at(reached);
}

Evaluation Evaluations::one(const Program& program, Fidelity fidelity) const {
  const std::uint64_t key = key_of(program, fidelity);
  if (const Evaluation* known = memo_->find(key); known != nullptr) return *known;
  const auto alone = make_serial_communicator();
  go_on();
  Evaluation found = evaluator_->evaluate(program, fidelity, *alone);
  if (!found.cut_off) memo_->add(key, found);
  return found;
}

std::vector<Outlook> Evaluations::outlooks(std::size_t count, const std::function<Outlook(std::size_t)>& look) const {
  Communicator& comm = *comm_;
  const auto ranks = static_cast<std::size_t>(comm.size()), first = static_cast<std::size_t>(comm.rank());
  // Neighbours are alike: in turn, all ranks have as much to do; and in leaps, those known when time is over are not
  // all alike.
  const std::size_t leap = limits_.is_timed() ? leap_over(count) : 1;
  const auto candidate = [&](std::size_t turn) { return turn * leap % count; };
  std::vector<Outlook> own;
  PhaseProgress phase(news_.get(), hooks_, Phase::judging, count);
  by_itself(comm, phase, [&] {
    for (std::size_t turn = first; turn < count && !is_over(); turn += ranks) {
      go_on();
      own.push_back(look(candidate(turn)));
      phase.done(1);
    }
  });
  const std::vector<std::vector<Outlook>> all = all_gather(comm, std::move(own));
  Outlook unknown;
  unknown.is_known = false;
  std::vector<Outlook> found(count, unknown);
  for (std::size_t turn = 0; turn < count; ++turn)
    if (turn / ranks < all[turn % ranks].size()) found[candidate(turn)] = all[turn % ranks][turn / ranks];
  return found;
}

Done Evaluations::evaluate(const std::vector<Task>& tasks, const std::function<Program(std::size_t)>& make,
                           Fidelity fidelity, int most_together) const {
  Communicator& comm = *comm_;
  const Teams teams = teams_for(tasks, comm.size(), fidelity, std::min(most_together, evaluator_->most_ranks()));
  const std::size_t team = static_cast<std::size_t>(comm.rank()) / teams.ranks_each;
  const auto own_team = comm.split(static_cast<int>(std::min(team, teams.count)));
  const bool speaks = own_team->rank() == 0;
  PhaseProgress phase(news_.get(), hooks_, Phase::evaluating, tasks.size());
  Done done;
  in_teams(comm, *own_team, phase, [&] {
    if (team >= teams.count) return go_on();
    const UnderWay under_way(under_way_, speaks ? &phase : nullptr);
    const std::vector<Task> own_tasks = dealt(tasks, teams.count)[team];
    for (const Task& task : own_tasks) {
      // What one rank of a team hears of alone would leave the others waiting for it.
      const std::int64_t heard = hooks_.interrupted && hooks_.interrupted() ? 2 : is_over() ? 1 : 0;
      const std::int64_t end = own_team->max(heard);
      if (end == 2) throw_interrupted();
      Evaluation found =
          end == 1 ? cut_off_at(0) : evaluator_->evaluate_candidate(make(task.candidate), fidelity, *own_team);
      if (!speaks) continue;
      if (found.cut_off) {
        done.cut_off.push_back({task.key, found.time});
        continue;
      }
      phase.done(1, found.feasible ? found.time : 0);
      memo_->add(task.key, found);  // now: what comes next may end the search
      done.known.push_back({task.key, std::move(found)});
    }
  });
  return done;
}

std::vector<Evaluation> Evaluations::all(std::size_t count, const std::function<Program(std::size_t)>& make,
                                         Fidelity fidelity, int most_together) const {
  Communicator& comm = *comm_;
  const std::vector<Task> tasks = described(*this, {news_.get(), hooks_, Phase::writing, count}, count, make, fidelity);
  std::vector<Evaluation> found(count, cut_off_at(0));
  if (tasks.size() < count || is_over_somewhere()) return found;
  std::map<std::uint64_t, Time> cut_off;
  if (const std::vector<Task> left = unknown(comm, *memo_, different(tasks)); !left.empty()) {
    Done done = evaluate(left, make, fidelity, most_together);
    for (Known& one : joined(all_gather(comm, std::move(done.known)))) memo_->learn(one.key, std::move(one.evaluation));
    if (limits_.is_timed())
      for (const CutOff& one : joined(all_gather(comm, std::move(done.cut_off)))) cut_off[one.key] = one.reached;
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = cut_off.find(tasks[i].key);
    found[i] = at == cut_off.end() ? *memo_->find(tasks[i].key) : cut_off_at(at->second);
  }
  return found;
}

}  // namespace tessera::program::search
