#include "tessera/program/search/fastest.hpp"

#include <algorithm>
#include <tuple>

#include "tessera/base/error.hpp"

namespace tessera::program::search {
namespace {

class Search {
 public:
  Search(const std::vector<Outlook>& outlooks, const Simulate& simulate, const FastestOptions& options)
      : simulate_(simulate), options_(options), round_(std::max<std::size_t>(1, options.round)) {
    const std::int64_t most = options.limits.evaluations;
    most_ = most > 0 ? static_cast<std::size_t>(most) : outlooks.size();
    if (options.limits.is_timed() && options.comm == nullptr)
      throw InternalError("a search with a limit of time needs its ranks");
    found_.is_timed = options.limits.is_timed();
    for (std::size_t i = 0; i < outlooks.size(); ++i) {
      const Outlook& one = outlooks[i];
      Fate fate = Fate::left;
      if (one.is_known && !one.feasible) fate = one.fits ? Fate::refused : Fate::too_large;
      found_.judged.push_back({fate, one.reason, one.least, one.estimate, 0});
      if (one.is_known && one.feasible) waiting_.push_back(i);
      found_.is_cut_off = found_.is_cut_off || !one.is_known;
    }
    std::ranges::sort(waiting_, {}, [&](std::size_t i) { return std::tuple(found_.judged[i].estimate, i); });
  }

  Fastest run() {
    for (std::vector<std::size_t> round = next(); !round.empty() && !found_.is_cut_off && !is_over(); round = next())
      add(round, simulate_(round));
    for (Judged& one : found_.judged) {
      if (best_ == 0 || (one.fate != Fate::left && one.fate != Fate::unfinished)) continue;
      if (one.least >= best_) one.fate = Fate::beaten;  // might be as fast, if the search ended before
      if (one.least < best_)
        found_.gap = std::max(found_.gap, 1 - static_cast<double>(one.least) / static_cast<double>(best_));
    }
    std::ranges::stable_sort(found_.ranked, {},
                             [](const Ranked& one) { return std::tuple(one.evaluation.time, one.candidate); });
    return std::move(found_);
  }

 private:
  /// On all ranks alike.
  [[nodiscard]] bool is_over() {
    if (!options_.limits.is_timed() || options_.comm->max(options_.limits.is_over() ? 1 : 0) == 0) return false;
    found_.is_cut_off = true;
    return true;
  }

  /// It may be faster by more than is asked for; without a limit also as fast, since it may come first among equals.
  [[nodiscard]] bool is_worth_it(const Judged& one) const {
    if (best_ == 0) return true;
    const double within = options_.limits.within;
    if (within == 0) return one.least <= best_;
    return static_cast<double>(one.least) < (1 - within) * static_cast<double>(best_);
  }

  /// To be simulated next; none: the search is over.
  [[nodiscard]] std::vector<std::size_t> next() const {
    std::vector<std::size_t> round;
    const std::size_t simulated = found_.tried.size();
    const std::size_t most = std::min(round_size(simulated), most_ - std::min(most_, simulated));
    for (const std::size_t i : waiting_) {
      if (round.size() == most) break;
      if (found_.judged[i].fate == Fate::left && is_worth_it(found_.judged[i])) round.push_back(i);
    }
    return round;
  }

  /// Who asks for less than a proof wants to hear soon that it is enough: 1, 2, 4, 8 and so on. So does who has little
  /// time, with something to do for each rank.
  [[nodiscard]] std::size_t round_size(std::size_t simulated) const {
    const Limits& limits = options_.limits;
    if (limits.within == 0 && !limits.is_timed()) return round_;
    const std::size_t ranks = limits.is_timed() ? static_cast<std::size_t>(options_.comm->size()) : 1;
    return std::min(round_, std::max(ranks, simulated + 1));
  }

  void add(const std::vector<std::size_t>& round, const std::vector<Evaluation>& evaluations) {
    for (std::size_t k = 0; k < round.size(); ++k) {
      Judged& one = found_.judged[round[k]];
      const Evaluation& evaluation = evaluations[k];
      if (evaluation.cut_off) {
        cut_off(round[k], evaluation.time);
        continue;
      }
      one.fate = evaluation.feasible ? Fate::simulated : Fate::refused;
      one.reason = evaluation.reason;
      if (evaluation.feasible) {
        if (evaluation.time < one.least) throw InternalError("a simulated time is below its bound");
        one.time = evaluation.time;
        found_.ranked.push_back({round[k], evaluation});
      }
      const bool is_better = evaluation.feasible && (best_ == 0 || evaluation.time < best_);
      if (is_better) best_ = evaluation.time;
      const std::string otherwise = evaluation.feasible && !is_better ? "not the best" : evaluation.reason;
      found_.table.push_back({rounds_,
                              {},
                              Fidelity::simulated,
                              one.time,
                              is_better,
                              otherwise,
                              best_,
                              {},
                              one.estimate,
                              evaluation.interval,
                              0,
                              evaluation.most_memory()});
      found_.tried.push_back(round[k]);
    }
    ++rounds_;
  }

  /// One that was not begun is left as it is.
  void cut_off(std::size_t candidate, Time reached) {
    found_.is_cut_off = true;
    if (reached == 0) return;
    Judged& one = found_.judged[candidate];
    one.fate = Fate::unfinished;
    one.least = std::max(one.least, reached);
    Tried row{rounds_, {}, Fidelity::simulated, 0, false, {}, best_, {}, one.estimate};
    row.at_least = one.least;
    row.reason = "not finished when time was over, at least " + config::format_rounded(one.least, config::Unit::time);
    found_.table.push_back(std::move(row));
    found_.tried.push_back(candidate);
  }

  const Simulate& simulate_;
  const FastestOptions& options_;
  std::size_t round_, most_ = 0;
  std::vector<std::size_t> waiting_;  // by estimate
  Time best_ = 0;
  std::int64_t rounds_ = 0;
  Fastest found_;
};

}  // namespace

const char* name_of(Fate fate) {
  switch (fate) {
    case Fate::too_large:
      return "does not fit";
    case Fate::refused:
      return "cannot run";
    case Fate::beaten:
      return "struck out by its bound";
    case Fate::left:
      return "left";
    case Fate::unfinished:
      return "not finished";
    default:
      return "simulated";
  }
}

std::int64_t Fastest::count(Fate fate) const { return std::ranges::count(judged, fate, &Judged::fate); }

std::optional<std::size_t> Fastest::taken() const {
  if (!ranked.empty()) return ranked.front().candidate;
  std::optional<std::size_t> found;
  const auto expected = [this](std::size_t i) { return std::max(judged[i].least, judged[i].estimate); };
  for (std::size_t i = 0; is_cut_off && i < judged.size(); ++i) {
    const bool may_run = judged[i].fate == Fate::left || judged[i].fate == Fate::unfinished;
    if (may_run && expected(i) > 0 && (!found || expected(i) < expected(*found))) found = i;
  }
  return found;
}

Time Fastest::time_of_taken() const {
  if (!ranked.empty()) return ranked.front().evaluation.time;
  const auto found = taken();
  return found ? std::max(judged[*found].least, judged[*found].estimate) : 0;
}

ListedKeys listed_keys(const FastestReport& report, const std::vector<std::size_t>& candidates) {
  ListedKeys found;
  for (const std::string& key : report.keys) {
    const auto is_same = [&](std::size_t one) {
      return report.part(one, {key}) == report.part(candidates.front(), {key});
    };
    const bool is_common = report.part && candidates.size() > 1 && std::ranges::all_of(candidates, is_same);
    (is_common ? found.common : found.differing).push_back(key);
  }
  return found;
}

Fastest fastest(const std::vector<Outlook>& outlooks, const Simulate& simulate, const FastestOptions& options) {
  return Search(outlooks, simulate, options).run();
}

}  // namespace tessera::program::search
