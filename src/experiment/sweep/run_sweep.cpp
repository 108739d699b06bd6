// Teams of ranks that take points until none is left.
#include "tessera/experiment/run_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "claims.hpp"
#include "folder.hpp"
#include "run_point.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

namespace tessera::experiment {
namespace sweep {
namespace {

constexpr std::int64_t no_point = -1;
constexpr auto pause_for_others = std::chrono::milliseconds(200);
constexpr auto shortest_pause = std::chrono::milliseconds(100);  ///< between looks at how far all are

Fate fate_of(const results::SweepRow& row) {
  switch (static_cast<ExitCode>(row.code)) {
    case ExitCode::done:
      return Fate::done;
    case ExitCode::bad_input:
    case ExitCode::infeasible:
      return Fate::refused;
    default:
      return Fate::failed;
  }
}

Time iteration_time(const results::Digest& digest) {
  const auto column =
      std::ranges::find(digest.summary, "iteration_time_ps", &decltype(digest.summary)::value_type::first);
  const auto* time = column == digest.summary.end() ? nullptr : std::get_if<std::int64_t>(&column->second);
  if (time == nullptr) throw InternalError("a row without a time");
  return *time;
}

/// What stands in the folder when the call begins, the same on every rank.
struct Before {
  std::vector<std::uint8_t> marks;
  std::vector<std::uint8_t> complete;  ///< by point

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& marks& complete;
  }
};

class Worker {
 public:
  Worker(const Sweep& sweep, Communicator& comm, const SweepRunOptions& options);
  /// Once through all points; whether some are left that others hold.
  [[nodiscard]] bool pass();
  /// Of all points of the call, also those that others have done.
  [[nodiscard]] SweepOutcome outcome();
  void go_on() const;

 private:
  [[nodiscard]] std::int64_t next();
  [[nodiscard]] bool take(std::int64_t point);
  [[nodiscard]] bool is_for_another_team(std::size_t place) const;
  void carry_out(std::int64_t point);
  void show();

  const Sweep& sweep_;
  Communicator& comm_;
  SweepRunOptions options_;
  std::unique_ptr<Communicator> team_;
  int number_ = 0, teams_ = 1;
  Before before_;
  std::unique_ptr<Claims> claims_;  ///< of the first rank of a team
  std::unique_ptr<RowFile> rows_;   ///< of the first rank of a team
  std::int64_t found_complete_ = 0;
  std::size_t place_ = 0;
  std::chrono::steady_clock::time_point shown_;  ///< progress was
  bool others_hold_ = false;
};

Worker::Worker(const Sweep& sweep, Communicator& comm, const SweepRunOptions& options)
    : sweep_(sweep), comm_(comm), options_(options) {
  const int size = std::clamp(options.ranks_per_point, 1, comm.size());
  number_ = comm.rank() / size;
  teams_ = (comm.size() + size - 1) / size;
  team_ = comm.split(number_);
  const std::string& folder = options.folder;
  together(comm, [&] {
    if (comm.rank() != 0) return;
    prepare_folder(sweep, folder, options.record.version);
    // Marks first: what is done between the two counts as done since, and is not done again.
    Claims claims(claims_path(folder), sweep.points());
    if (!claims.has_locks() && options.warn)
      options.warn("the file system of '" + folder + "' has no locks: no other process may work on this folder");
    before_.marks = claims.marks();
    const auto complete = complete_points(sweep, folder, options.record.version, options.keep_files);
    before_.complete.assign(complete.begin(), complete.end());
    if (options.repeat) before_.complete.assign(complete.size(), 0);
  });
  before_ = broadcast(comm, std::move(before_));
  for (const std::int64_t point : options.points)
    found_complete_ += before_.complete[static_cast<std::size_t>(point)] != 0 ? 1 : 0;
  together(comm, [&] {
    if (team_->rank() != 0) return;
    claims_ = std::make_unique<Claims>(claims_path(folder), sweep.points());
    rows_ = std::make_unique<RowFile>(folder, options.record.started);
  });
}

void Worker::go_on() const {
  if (options_.interrupted && options_.interrupted())
    throw IoError("ended by a signal: what is done stays, and the same command goes on with the rest");
}

/// Without locks teams of one process take turns.
bool Worker::is_for_another_team(std::size_t place) const {
  return !claims_->has_locks() && static_cast<int>(place % static_cast<std::size_t>(teams_)) != number_;
}

/// Whether the point is this team's from now on.
bool Worker::take(std::int64_t point) {
  const auto index = static_cast<std::size_t>(point);
  if (before_.complete[index] != 0) return false;
  if (!claims_->claim(point)) {
    others_hold_ = true;
    return false;
  }
  if (claims_->mark(point) == before_.marks[index]) return true;
  claims_->release(point);  // done since this call began
  before_.complete[index] = 1;
  return false;
}

std::int64_t Worker::next() {
  for (; place_ < options_.points.size(); ++place_) {
    const std::int64_t point = options_.points[place_];
    if (!is_for_another_team(place_) && take(point)) return point;
  }
  return no_point;
}

void Worker::carry_out(std::int64_t number) {
  const bool is_first = team_->rank() == 0;
  const Point point = sweep_.point(number);
  const std::string result = options_.keep_files ? result_path(options_.folder, number) : "";
  const results::SweepRow row = run_point(sweep_, point, result, *team_, options_, [this] { show(); });
  together(*team_, [&] {
    if (!is_first) return;
    rows_->add(row);
    claims_->set_fate(number, fate_of(row));
    claims_->release(number);
    before_.complete[static_cast<std::size_t>(number)] = 1;
  });
  show();
}

bool Worker::pass() {
  place_ = 0;
  others_hold_ = false;
  for (;;) {
    std::int64_t point = no_point;
    together(*team_, [&] {
      go_on();
      if (team_->rank() == 0) point = next();
    });
    point = broadcast(*team_, point);
    if (point == no_point) return others_hold_;
    carry_out(point);
  }
}

void Worker::show() {
  const auto now = std::chrono::steady_clock::now();
  if (comm_.rank() != 0 || !options_.progress || now - shown_ < shortest_pause) return;
  shown_ = now;
  SweepProgress progress;
  progress.points = static_cast<std::int64_t>(options_.points.size());
  const std::vector<std::uint8_t> marks = claims_->marks();
  double all = 0, over = 0;
  for (const std::int64_t point : options_.points) {
    const auto index = static_cast<std::size_t>(point);
    const double cost = std::max(1.0, options_.costs[index].events);
    const bool is_new = marks[index] != before_.marks[index];
    if (before_.complete[index] != 0 && !is_new) {
      ++progress.done;
      continue;
    }
    all += cost;
    if (!is_new) continue;
    over += cost;
    const Fate fate = Claims::fate_of(marks[index]);
    ++(fate == Fate::done ? progress.done : fate == Fate::refused ? progress.refused : progress.failed);
  }
  progress.share = all > 0 ? over / all : 1;
  options_.progress(progress);
}

/// From the rows, which others have written too.
SweepOutcome Worker::outcome() {
  remove_left_behind(options_.folder, *claims_);
  SweepOutcome outcome;
  outcome.points = static_cast<std::int64_t>(options_.points.size());
  outcome.found_complete = found_complete_;
  std::vector<bool> is_meant(static_cast<std::size_t>(sweep_.points()), false);
  for (const std::int64_t point : options_.points) is_meant[static_cast<std::size_t>(point)] = true;
  const auto head = head_of(sweep_, options_.record.version);
  for (const results::SweepRow& row : results::read_rows(options_.folder, head)) {
    if (row.point >= sweep_.points() || !is_meant[static_cast<std::size_t>(row.point)]) continue;
    const auto code = static_cast<ExitCode>(row.code);
    if (code == ExitCode::done && row.digest) {
      ++outcome.done;
      const Time time = iteration_time(*row.digest);
      if (outcome.fastest.empty() || time < outcome.fastest_time) {
        outcome.fastest = row.name;
        outcome.fastest_time = time;
      }
    } else if (fate_of(row) == Fate::failed) {
      ++outcome.failed;
      outcome.code = std::max(outcome.code, code);
    } else {
      ++(code == ExitCode::infeasible ? outcome.infeasible : outcome.refused);
    }
  }
  return outcome;
}

}  // namespace
}  // namespace sweep

void check_folder(const Sweep& sweep, const std::string& folder) { sweep::refuse_other_sweep(sweep, folder); }

SweepOutcome run_sweep(const Sweep& sweep, Communicator& comm, const SweepRunOptions& options) {
  sweep::Worker worker(sweep, comm, options);
  for (;;) {
    bool others_hold = false;
    // Each team ends when it finds nothing to do, and one that a signal ends tells the others here.
    together(comm, [&] { others_hold = worker.pass(); });
    if (comm.max(others_hold ? 1 : 0) == 0) break;
    std::this_thread::sleep_for(sweep::pause_for_others);
  }
  SweepOutcome outcome;
  together(comm, [&] {
    if (comm.rank() == 0) outcome = worker.outcome();
  });
  return outcome;
}

}  // namespace tessera::experiment
