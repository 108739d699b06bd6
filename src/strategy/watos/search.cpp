#include "search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "genome.hpp"
#include "prediction.hpp"
#include "steps.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

namespace tessera::strategy::watos {
namespace {

using program::search::Tried;

/// A plan that is to be simulated.
struct Contender {
  std::string text, origin;
  TablePointer keys;  ///< what it adds to the experiment's table
  Time predicted = 0;
};

class Search {
 public:
  explicit Search(const Question& question) : question_(question), pricing_(question.job) {}

  Searched run() {
    candidates_ = all_candidates(question_, pricing_);
    for (Candidate& one : candidates_)
      if (one.pruned.empty()) take_steps(one);
    choose();
    return finish();
  }

 private:
  void take_steps(Candidate& one) {
    const Problem& problem = one.named.problem;
    const Judge judge(problem, question_.options.search.fitness);
    std::optional<Solution> best;
    switch (question_.options.search.step) {
      case Step::scheduler:
        best = scheduled(problem);
        break;
      case Step::recomputation:
        best = recomputed(problem);
        break;
      default:
        best = placed(problem, judge);
    }
    if (!best) {
      one.pruned = "no choice of what runs again fits";
      return;
    }
    one.start = *best;
    one.predicted = predicted(problem, one.start);
  }

  /// The best predicted ones go on; the others are out.
  void choose() {
    std::vector<Candidate*> left;
    for (Candidate& one : candidates_)
      if (one.pruned.empty()) left.push_back(&one);
    if (left.empty()) return;
    std::ranges::stable_sort(left, {}, &Candidate::predicted);
    const SearchOptions& options = question_.options.search;
    for (std::size_t i = 0; i < left.size(); ++i) {
      Candidate& one = *left[i];
      if (static_cast<std::int64_t>(i) >= options.simulated) break;
      if (options.step == Step::genetic) {
        const Judge judge(one.named.problem, options.fitness);
        program::search::GeneticOptions genetic;
        genetic.seed = question_.job.seed;
        genetic.search = i;
        genetic.population = options.population;
        genetic.generations = options.generations;
        genetic.elitism = options.elitism;
        const auto bred = program::search::breed(Genome(judge, one.start),
                                                 [](const Genome& genome) { return genome.fitness(); }, genetic);
        contend(one, bred.best.solution(), "genetic");
      }
      contend(one, one.start, name_of(options.step == Step::genetic ? Step::memory : options.step));
    }
  }

  void contend(const Candidate& one, const Solution& solution, const char* origin) {
    Contender contender;
    contender.text = one.text();
    contender.origin = origin;
    contender.predicted = predicted(one.named.problem, solution);
    contender.keys = with_cut(config::Table(), one.cut, one.layers);
    config::merge(*contender.keys, *keys_of(one.named, solution, question_.options.search.step >= Step::memory));
    contenders_.push_back(std::move(contender));
  }

  [[nodiscard]] TablePointer table_of(const Contender& one) const {
    TablePointer table = without_search(question_.table);
    config::merge(*table, *one.keys);
    return table;
  }

  Searched finish() {
    Searched searched;
    std::int64_t step = 0;
    for (const Candidate& one : candidates_) {
      if (one.pruned.empty()) continue;
      Tried row;
      row.step = step++;
      row.candidate = one.text();
      row.fidelity = program::Fidelity::estimate;
      row.reason = one.pruned;
      row.origin = "scheduler";
      searched.table.push_back(std::move(row));
    }
    const auto evaluations = question_.job.evaluations.all(contenders_.size(), [&](std::size_t i) {
      return question_.cut.program(*table_of(contenders_[i]), question_.job).program;
    });
    std::size_t best = contenders_.size();
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const program::Evaluation& found = evaluations[i];
      if (found.feasible && (best == contenders_.size() || found.time < evaluations[best].time)) best = i;
      Tried row;
      row.step = step++;
      row.candidate = contenders_[i].text;
      row.cost = found.feasible ? found.time : 0;
      row.accepted = best == i;
      row.reason = found.feasible ? (best == i ? "" : "slower") : found.reason;
      row.best = best < contenders_.size() ? evaluations[best].time : 0;
      row.origin = contenders_[i].origin;
      row.predicted = contenders_[i].predicted;
      row.most_memory = found.most_memory();
      searched.table.push_back(std::move(row));
    }
    if (best == contenders_.size()) {
      searched.nothing_fits = fmt::format("none of {} candidates can run; the first: {}", searched.table.size(),
                                          searched.table.empty() ? "there is none" : searched.table.front().reason);
      return searched;
    }
    searched.found = contenders_[best].keys;
    searched.predicted = {{"all", evaluations[best].time}, {"model", contenders_[best].predicted}};
    return searched;
  }

  const Question& question_;
  Pricing pricing_;
  std::vector<Candidate> candidates_;
  std::vector<Contender> contenders_;
};

}  // namespace

Searched search(const Question& question) { return Search(question).run(); }

}  // namespace tessera::strategy::watos
