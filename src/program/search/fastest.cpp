#include "tessera/program/search/fastest.hpp"

#include <algorithm>
#include <tuple>

#include "tessera/base/error.hpp"

namespace tessera::program::search {
namespace {

class Search {
 public:
  Search(const std::vector<Outlook>& outlooks, const Simulate& simulate, const FastestOptions& options)
      : simulate_(simulate), within_(options.limits.within), round_(std::max<std::size_t>(1, options.round)) {
    const std::int64_t most = options.limits.evaluations;
    most_ = most > 0 ? static_cast<std::size_t>(most) : outlooks.size();
    if (options.limits.seconds > 0) {
      if (options.comm == nullptr) throw InternalError("a search with a limit of time needs its ranks");
      budget_ = program::search::within(options.limits.seconds, most, *options.comm);
    }
    found_.is_timed = budget_.is_timed;
    for (std::size_t i = 0; i < outlooks.size(); ++i) {
      const Outlook& one = outlooks[i];
      Fate fate = Fate::left;
      if (!one.feasible) fate = one.fits ? Fate::refused : Fate::too_large;
      found_.judged.push_back({fate, one.reason, one.least, one.estimate, 0});
      if (one.feasible) waiting_.push_back(i);
    }
    std::ranges::sort(waiting_, {}, [&](std::size_t i) { return std::tuple(found_.judged[i].estimate, i); });
  }

  Fastest run() {
    while (!next().empty() && (found_.tried.empty() || !budget_.is_over())) {
      const std::vector<std::size_t> round = next();
      add(round, simulate_(round));
    }
    for (const std::size_t i : waiting_) {
      Judged& one = found_.judged[i];
      if (one.fate != Fate::left) continue;
      if (best_ > 0 && one.least >= best_) one.fate = Fate::beaten;  // might be as fast, if the search ended before
      if (best_ > 0 && one.least < best_)
        found_.gap = std::max(found_.gap, 1 - static_cast<double>(one.least) / static_cast<double>(best_));
    }
    std::ranges::stable_sort(found_.ranked, {},
                             [](const Ranked& one) { return std::tuple(one.evaluation.time, one.candidate); });
    return std::move(found_);
  }

 private:
  /// It may be faster by more than is asked for; without a limit also as fast, since it may come first among equals.
  [[nodiscard]] bool is_worth_it(const Judged& one) const {
    if (best_ == 0) return true;
    if (within_ == 0) return one.least <= best_;
    return static_cast<double>(one.least) < (1 - within_) * static_cast<double>(best_);
  }

  /// To be simulated next; none: the search is over.
  [[nodiscard]] std::vector<std::size_t> next() const {
    std::vector<std::size_t> round;
    const std::size_t simulated = found_.tried.size();
    // Who asks for less than a proof wants to hear soon that it is enough: 1, 2, 4, 8 and so on.
    const std::size_t size = within_ > 0 ? std::min(round_, simulated + 1) : round_;
    const std::size_t most = std::min(size, most_ - std::min(most_, simulated));
    for (const std::size_t i : waiting_) {
      if (round.size() == most) break;
      if (found_.judged[i].fate == Fate::left && is_worth_it(found_.judged[i])) round.push_back(i);
    }
    return round;
  }

  void add(const std::vector<std::size_t>& round, const std::vector<Evaluation>& evaluations) {
    for (std::size_t k = 0; k < round.size(); ++k) {
      Judged& one = found_.judged[round[k]];
      const Evaluation& evaluation = evaluations[k];
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

  const Simulate& simulate_;
  double within_;
  std::size_t round_, most_ = 0;
  Budget budget_;
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
    default:
      return "simulated";
  }
}

std::int64_t Fastest::count(Fate fate) const { return std::ranges::count(judged, fate, &Judged::fate); }

Fastest fastest(const std::vector<Outlook>& outlooks, const Simulate& simulate, const FastestOptions& options) {
  return Search(outlooks, simulate, options).run();
}

}  // namespace tessera::program::search
