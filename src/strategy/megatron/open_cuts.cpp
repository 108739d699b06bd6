#include "open_cuts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "open_values.hpp"
#include "same_cuts.hpp"

namespace tessera::strategy::megatron {
namespace {

using config::Diagnostics;
using config::Table;

constexpr std::size_t most_candidates = 10'000'000;
constexpr std::size_t combinations_per_look = 256;  ///< at the clock, and at signals

class Enumeration {
 public:
  Enumeration(const Table& table, const Job& job, const Options& given) : table_(table), job_(job), given_(given) {
    for (machine::NodeId device = 0; device < job.machine.accelerators(); ++device)
      devices_ += job.machine.speed[device] > 0 ? 1 : 0;
  }

  void add(OpenDimension dimension) { open_.push_back(std::move(dimension)); }

  std::vector<Options> all() {
    next(0, given_);
    return std::move(found_);
  }
  [[nodiscard]] std::size_t combinations() const { return combinations_; }
  [[nodiscard]] bool is_cut_off() const { return is_cut_off_; }
  /// Where nothing is accepted: what is wrong with all combinations alike, or null.
  [[nodiscard]] const Diagnostics* common() const { return combinations_ > 0 && is_alike_ ? &refused_ : nullptr; }

 private:
  void next(std::size_t dimension, const Options& so_far) {
    if (found_.size() > most_candidates || is_cut_off_ || is_enough()) return;
    if (dimension == open_.size()) return take(so_far);
    const OpenDimension& open = open_[dimension];
    Options options = so_far;
    const std::vector<Options> following =
        open.values ? open.values({so_far, table_, job_, devices_}) : std::vector<Options>();
    for (const Options& value : open.values ? following : open.fixed) {
      open.copy(value, options);
      next(dimension + 1, options);
    }
  }

  /// Something can be searched: what it is need not be known yet.
  [[nodiscard]] bool is_enough() const { return job_.is_searched_next && !found_.empty(); }

  void take(const Options& options) {
    if (++combinations_ % combinations_per_look == 0) look_up();
    Diagnostics checked;
    Cut cut = make_cut(options, table_, job_, checked);
    if (checked.ok()) {
      settle_idle_keys(cut);
      if (seen_.insert(same_.key(cut)).second) found_.push_back(cut.options);
      return;
    }
    if (combinations_ == 1) refused_ = checked;
    is_alike_ = is_alike_ && checked.errors() == refused_.errors();
  }

  void look_up() {
    job_.evaluations.go_on();
    is_cut_off_ = job_.evaluations.is_over();
    job_.evaluations.has_listed(found_.size());
  }

  const Table& table_;
  const Job& job_;
  const Options& given_;
  std::int64_t devices_ = 0;  // that work
  std::vector<OpenDimension> open_;
  std::vector<Options> found_;
  SameCuts same_;
  std::set<SameCuts::Key> seen_;
  std::size_t combinations_ = 0;
  Diagnostics refused_;  // the first combination
  bool is_alike_ = true;
  bool is_cut_off_ = false;
};

}  // namespace

OpenCuts open_cuts(const Table& table, const Job& job, Diagnostics& diagnostics) {
  Diagnostics reading;
  const Options given = options_schema().read(table, reading);
  diagnostics.add(reading);
  OpenCuts cuts;
  if (!reading.ok()) return cuts;
  const std::vector<config::OpenKey> open = options_schema().open_keys(table);
  if (given.sublayers != "operators") {
    diagnostics.error(open.front().where,
                      fmt::format("\"{}\" is open, and sublayers = \"{}\" has no lower bound by which a cut could be "
                                  "proven the fastest, allowed: sublayers = \"operators\"",
                                  open.front().key, given.sublayers));
    return cuts;
  }
  Enumeration combinations(table, job, given);
  config::Diagnostics lists;
  for (auto& [key, dimension] : open_dimensions(table, job, lists)) {
    combinations.add(std::move(dimension));
    cuts.keys.push_back(key);
  }
  diagnostics.add(lists);
  if (!lists.ok()) return cuts;
  cuts.candidates = combinations.all();
  cuts.is_cut_off = combinations.is_cut_off();
  if (cuts.is_cut_off) return cuts;
  const std::string keys = fmt::format("{}", fmt::join(cuts.keys, ", "));
  if (cuts.candidates.empty() && combinations.common() != nullptr) {
    diagnostics.add(*combinations.common());
  } else if (cuts.candidates.empty()) {
    diagnostics.error(open.front().where, fmt::format("none of {} combinations of {} cuts {} over the {} devices of {}",
                                                      combinations.combinations(), keys, job.model->name,
                                                      job.machine.accelerators(), job.machine.name));
  } else if (const std::string problem = too_many(cuts); !problem.empty()) {
    diagnostics.error(open.front().where, problem);
  }
  return cuts;
}

std::string too_many(const OpenCuts& cuts) {
  if (cuts.candidates.size() <= most_candidates) return {};
  return fmt::format("more than {} combinations of {}: lists of values make fewer", most_candidates,
                     fmt::join(cuts.keys, ", "));
}

std::string open_text(const Table& table, const Job& job, Diagnostics& diagnostics) {
  const OpenCuts cuts = open_cuts(table, job, diagnostics);
  if (!diagnostics.ok()) return {};
  if (job.is_searched_next) return fmt::format("candidates for {}", fmt::join(cuts.keys, ", "));
  const std::size_t count = cuts.candidates.size();
  return fmt::format("{} {} for {}", count, count == 1 ? "candidate" : "candidates", fmt::join(cuts.keys, ", "));
}

}  // namespace tessera::strategy::megatron
