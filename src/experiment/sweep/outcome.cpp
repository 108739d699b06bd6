#include "outcome.hpp"

#include <algorithm>

namespace tessera::experiment::sweep {
namespace {

/// Null: the row has none of that name and kind.
template <class Value>
const Value* value_in(const results::Digest& digest, std::string_view name) {
  const auto column = std::ranges::find(digest.summary, name, &decltype(digest.summary)::value_type::first);
  return column == digest.summary.end() ? nullptr : std::get_if<Value>(&column->second);
}

/// The best of the rows that are done, one after another.
class Best {
 public:
  void look_at(const results::SweepRow& row) {
    const auto* time = value_in<std::int64_t>(*row.digest, "iteration_time_ps");
    if (time == nullptr) throw InternalError("a row without a time");
    const auto* calibration = value_in<std::string>(*row.digest, "calibration");
    const Named named{row.name, calibration != nullptr && calibration->starts_with("uncalibrated")};
    any_calibrated_ = any_calibrated_ || !named.is_uncalibrated;
    if (fastest_.name.empty() || *time < time_) {
      fastest_ = named;
      time_ = *time;
    }
    const auto* phase = value_in<std::string>(*row.digest, "phase");
    const auto* rate = value_in<double>(*row.digest, "tokens_per_second");
    all_make_tokens_ = all_make_tokens_ && phase != nullptr && rate != nullptr && results::makes_tokens(*phase);
    if (all_make_tokens_ && *rate > rate_) {
      most_tokens_ = named;
      rate_ = *rate;
    }
  }
  void tell(SweepOutcome& outcome) const {
    const bool by_tokens = all_make_tokens_ && !most_tokens_.name.empty();
    const Named& best = by_tokens ? most_tokens_ : fastest_;
    outcome.best = best.name;
    outcome.best_is_uncalibrated = best.is_uncalibrated && any_calibrated_;
    if (by_tokens) outcome.tokens_per_second = rate_;
    if (!by_tokens) outcome.fastest_time = time_;
  }

 private:
  struct Named {
    std::string name;
    bool is_uncalibrated = false;
  };
  Named fastest_, most_tokens_;
  bool any_calibrated_ = false;
  Time time_ = 0;
  double rate_ = 0;
  bool all_make_tokens_ = true;
};

/// A computer that fails one point mostly fails others for the same reason: each code is told once.
void note_failure(const results::SweepRow& row, std::vector<SweepFailure>& failures) {
  const auto code = static_cast<ExitCode>(row.code);
  const auto known = std::ranges::find(failures, code, &SweepFailure::code);
  if (known == failures.end())
    failures.push_back({code, 1, row.point, row.name, row.message});
  else
    ++known->points;
}

/// Whether the same words refuse all rows: then they are about the sweep, and no point of it.
bool are_refused_alike(const std::vector<const results::SweepRow*>& rows) {
  if (rows.empty() || fate_of(*rows.front()) != Fate::refused) return false;
  return std::ranges::all_of(rows, [&](const results::SweepRow* row) {
    return row->code == rows.front()->code && row->message == rows.front()->message;
  });
}

}  // namespace

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

SweepOutcome outcome_of(const std::vector<results::SweepRow>& rows, std::int64_t points,
                        const std::vector<std::int64_t>& wanted) {
  SweepOutcome outcome;
  outcome.points = static_cast<std::int64_t>(wanted.size());
  std::vector<bool> is_wanted(static_cast<std::size_t>(points), false);
  for (const std::int64_t point : wanted) is_wanted[static_cast<std::size_t>(point)] = true;
  std::vector<const results::SweepRow*> counted;
  Best best;
  for (const results::SweepRow& row : rows) {
    if (row.point >= points || !is_wanted[static_cast<std::size_t>(row.point)]) continue;
    counted.push_back(&row);
    const auto code = static_cast<ExitCode>(row.code);
    if (code == ExitCode::done && row.digest) {
      ++outcome.done;
      best.look_at(row);
    } else if (fate_of(row) == Fate::failed) {
      ++outcome.failed;
      outcome.code = std::max(outcome.code, code);
      note_failure(row, outcome.failures);
    } else {
      ++(code == ExitCode::infeasible ? outcome.infeasible : outcome.refused);
    }
  }
  best.tell(outcome);
  if (!are_refused_alike(counted)) return outcome;
  outcome.refused_alike = counted.front()->message;
  // A part of the sweep may well be refused while the rest of it is not.
  if (outcome.points == points) outcome.code = static_cast<ExitCode>(counted.front()->code);
  return outcome;
}

}  // namespace tessera::experiment::sweep
