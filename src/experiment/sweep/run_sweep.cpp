// Teams of ranks that take points until none is left.
#include "tessera/experiment/run_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "claims.hpp"
#include "folder.hpp"
#include "outcome.hpp"
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

/// What stands in the folder when the call begins, by point, the same on every rank.
struct Before {
  std::vector<std::uint8_t> marks;
  std::vector<std::uint8_t> complete;
  std::vector<std::uint8_t> has_result;  ///< whether a file belongs to its row

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& marks& complete& has_result;
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
  void look_before();
  void look_at_results();
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
  look_before();
  if (options.keep_files) look_at_results();
  for (const std::int64_t point : options.points)
    found_complete_ += before_.complete[static_cast<std::size_t>(point)] != 0 ? 1 : 0;
  together(comm, [&] {
    if (team_->rank() != 0) return;
    claims_ = std::make_unique<Claims>(claims_path(options.folder), sweep.points());
    rows_ = std::make_unique<RowFile>(options.folder, options.record.started);
  });
}

/// Rank 0 reads the rows, and tells the others.
void Worker::look_before() {
  const auto warn = [&](const std::string& what) {
    if (options_.warn && !what.empty()) options_.warn(what);
  };
  const std::string& folder = options_.folder;
  together(comm_, [&] {
    if (comm_.rank() != 0) return;
    prepare_folder(sweep_, folder, options_.record.version);
    // Marks first: what is done between the two counts as done since, and is not done again.
    Claims claims(claims_path(folder), sweep_.points());
    if (!claims.has_locks())
      warn("the file system of '" + folder + "' has no locks: no other process may work on this folder");
    before_.marks = claims.marks();
    RowsFound found = rows_found(sweep_, folder, options_.record.version);
    warn(results::damage_text(found.damaged));
    before_.complete = std::move(found.complete);
    before_.has_result = std::move(found.has_result);
    if (options_.repeat) before_.complete.assign(before_.complete.size(), 0);
  });
  before_ = broadcast(comm_, std::move(before_));
}

/// Points whose result files are absent or damaged are not complete. All ranks share the reading.
void Worker::look_at_results() {
  std::vector<std::int64_t> absent, damaged;
  const auto ranks = static_cast<std::size_t>(comm_.size());
  together(comm_, [&] {
    for (std::size_t i = static_cast<std::size_t>(comm_.rank()); i < options_.points.size(); i += ranks) {
      const std::int64_t point = options_.points[i];
      const auto index = static_cast<std::size_t>(point);
      if (before_.complete[index] == 0 || before_.has_result[index] == 0) continue;
      go_on();
      const ResultState state = result_state(options_.folder, point);
      if (state != ResultState::whole) (state == ResultState::absent ? absent : damaged).push_back(point);
    }
  });
  damaged = joined(all_gather(comm_, std::move(damaged)));
  for (const std::int64_t point : joined(all_gather(comm_, std::move(absent))))
    before_.complete[static_cast<std::size_t>(point)] = 0;
  for (const std::int64_t point : damaged) before_.complete[static_cast<std::size_t>(point)] = 0;
  if (damaged.empty() || comm_.rank() != 0 || !options_.warn) return;
  std::ranges::sort(damaged);
  options_.warn((damaged.size() == 1 ? "the result file of 1 point is" : "result files are") +
                std::string(" damaged and made again, of points ") + results::number_ranges(damaged));
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
  const results::SweepRows read = results::read_rows(options_.folder, head_of(sweep_, options_.record.version));
  SweepOutcome outcome = outcome_of(read.rows, sweep_.points(), options_.points);
  outcome.found_complete = found_complete_;
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
