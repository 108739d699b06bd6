#include "judging.hpp"

#include "tessera/program/search/fastest.hpp"

namespace tessera::strategy::watos {
namespace {

class Judging {
 public:
  Judging(const Question& question, const std::vector<Contender>& contenders)
      : question_(question), contenders_(contenders), found_(contenders.size()) {}

  std::vector<program::Evaluation> all() {
    std::vector<std::size_t> first, rest;
    bool has_rival = false;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const bool is_rival = !has_rival && contenders_[i].origin == by_rule;
      has_rival = has_rival || is_rival;
      (contenders_[i].is_certain || is_rival ? first : rest).push_back(i);
    }
    simulate(first);
    simulate(those_below_the_fastest(rest));
    return std::move(found_);
  }

 private:
  [[nodiscard]] program::Program program_of(std::size_t contender) const {
    const TablePointer table = without_search(question_.table);
    config::merge(*table, *contenders_[contender].keys);
    return question_.cut.program(*table, question_.job).program;
  }

  /// By their lower bounds; the others are struck out.
  std::vector<std::size_t> those_below_the_fastest(const std::vector<std::size_t>& some) {
    const auto& evaluations = question_.job.evaluations;
    const std::vector<program::Outlook> bounds =
        evaluations.outlooks(some.size(), [&](std::size_t i) { return evaluations.outlook(program_of(some[i])); });
    const std::size_t best = fastest_of(found_);
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < some.size(); ++i) {
      program::Evaluation& one = found_[some[i]];
      one.reason = bounds[i].reason;
      if (!bounds[i].feasible || !bounds[i].fits) continue;
      one.time = bounds[i].least;
      one.reason = name_of(program::search::Fate::beaten);
      if (best == found_.size() || bounds[i].least < found_[best].time) open.push_back(some[i]);
    }
    return open;
  }

  void simulate(const std::vector<std::size_t>& some) {
    // Ranks share plans and never one simulation: on a wafer two of them wait for each other nine tenths of the time.
    constexpr int alone = 1;
    const auto all = question_.job.evaluations.all(
        some.size(), [&](std::size_t i) { return program_of(some[i]); }, program::Fidelity::simulated, alone);
    for (std::size_t i = 0; i < some.size(); ++i) found_[some[i]] = all[i];
  }

  const Question& question_;
  const std::vector<Contender>& contenders_;
  std::vector<program::Evaluation> found_;
};

}  // namespace

std::vector<program::Evaluation> judged(const Question& question, const std::vector<Contender>& contenders) {
  return Judging(question, contenders).all();
}

std::size_t fastest_of(const std::vector<program::Evaluation>& found) {
  std::size_t best = found.size();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i].feasible && (best == found.size() || found[i].time < found[best].time)) best = i;
  return best;
}

}  // namespace tessera::strategy::watos
