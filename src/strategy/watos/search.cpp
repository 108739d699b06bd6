#include "search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "contenders.hpp"
#include "genome.hpp"
#include "prediction.hpp"
#include "steps.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/search/genetic.hpp"

namespace tessera::strategy::watos {
namespace {

using program::search::Tried;

/// Of rivals whose cut is open, so many are looked at.
constexpr std::size_t rivals_at_best = 4;

/// What the genetic search does with one candidate; travels between ranks.
struct Bred {
  Solution solution;
  std::vector<double> curve;  ///< the best fitness by generation, the start being the first

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    std::vector<std::uint32_t> pairs;
    for (const Pair& pair : solution.pairs) pairs.insert(pairs.end(), {pair.sender, pair.helper});
    archive& solution.sets& solution.places& pairs& curve;
    solution.pairs.clear();
    for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) solution.pairs.push_back({pairs[i], pairs[i + 1]});
  }
};

class Search {
 public:
  explicit Search(const Question& question)
      : question_(question), options_(question.options.search), pricing_(question.job, question.health) {}

  Searched run() {
    together(comm(), [&] {
      candidates_ = all_candidates(question_, pricing_);
      for (Candidate& one : candidates_) {
        question_.job.evaluations.go_on();
        if (one.pruned.empty()) begin(one);
      }
      choose();
    });
    if (options_.step == Step::genetic) breed_all();
    list_contenders();
    simulate();
    return finish();
  }

 private:
  [[nodiscard]] Communicator& comm() const { return question_.job.evaluations.comm(); }

  /// Where stages stand along a serpentine.
  void begin(Candidate& one) const {
    const Problem& problem = one.named.problem;
    one.scheduled = scheduled(one.plain.problem);
    one.recomputed = recomputed(problem);
    const auto& start = options_.step == Step::scheduler ? one.scheduled : one.recomputed;
    if (!start) {
      one.pruned = options_.step == Step::scheduler ? "nothing that all stages run again makes it fit"
                                                    : "nothing that stages run again makes it fit";
      return;
    }
    one.best = *start;
    one.predicted = predicted(options_.step == Step::scheduler ? one.plain.problem : problem, one.best);
  }

  [[nodiscard]] static bool is_same_size(const Cut& a, const Cut& b) {
    return a.tensor == b.tensor && a.pipeline == b.pipeline && a.data == b.data;
  }

  /// Of each cut its best tile and split, and of these the best predicted ones: the others are out.
  void choose() {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (candidates_[i].pruned.empty()) left.push_back(i);
    std::ranges::stable_sort(left, {}, [&](std::size_t i) { return candidates_[i].predicted; });
    for (const std::size_t i : left) {
      Candidate& one = candidates_[i];
      const auto has_cut = [&](std::size_t other) { return is_same_size(candidates_[other].cut, one.cut); };
      if (std::ranges::any_of(chosen_, has_cut)) {
        one.pruned = "another tile or split of the cut is predicted to be faster";
      } else if (static_cast<std::int64_t>(chosen_.size()) >= std::max(options_.candidates, options_.simulated)) {
        one.pruned = "predicted to be slower than those that went on";
      } else {
        chosen_.push_back(i);
        if (options_.step < Step::memory) continue;
        const Judge judge(one.named.problem, Fitness::time);
        if (const auto better = placed(one.named.problem, judge)) one.best = *better;
      }
    }
  }

  /// Each rank has its share of the candidates.
  void breed_all() {
    const std::size_t count = std::min(chosen_.size(), static_cast<std::size_t>(options_.candidates));
    const auto ranks = static_cast<std::size_t>(comm().size()), rank = static_cast<std::size_t>(comm().rank());
    std::vector<Bred> own;
    together(comm(), [&] {
      for (std::size_t i = rank; i < count; i += ranks) {
        question_.job.evaluations.go_on();
        own.push_back(bred(i));
      }
    });
    const std::vector<std::vector<Bred>> all = all_gather(comm(), own);
    for (std::size_t i = 0; i < count; ++i) bred_.push_back(all[i % ranks][i / ranks]);
  }

  [[nodiscard]] Bred bred(std::size_t i) const {
    const Candidate& one = candidates_[chosen_[i]];
    const Judge judge(one.named.problem, options_.fitness);
    program::search::GeneticOptions genetic;
    genetic.seed = question_.job.seed;
    genetic.search = chosen_[i];
    genetic.population = options_.population;
    genetic.generations = options_.generations;
    genetic.elitism = options_.elitism;
    const auto fitness = [](const Genome& genome) { return genome.fitness(); };
    const auto found = program::search::breed(Genome(judge, one.best), fitness, genetic);
    Bred bred{found.best.solution(), {}};
    for (const Int128 value : found.curve) bred.curve.push_back(static_cast<double>(value));
    return bred;
  }

  void contend(std::size_t candidate, const Solution& solution, Step step) {
    contenders_.push_back(contender_of(
        candidates_[candidate], step == Step::scheduler ? candidates_[candidate].plain : candidates_[candidate].named,
        solution, name_of(step), step >= Step::memory));
    contenders_.back().candidate = candidate;
  }

  /// Those of the last step first, which are simulated whatever the others do.
  void list_contenders() {
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      const Candidate& one = candidates_[chosen_[i]];
      const bool is_bred = i < bred_.size();
      contend(chosen_[i], is_bred ? bred_[i].solution : one.best,
              is_bred ? Step::genetic : std::min(options_.step, Step::memory));
    }
    std::ranges::stable_sort(contenders_, {}, &Contender::predicted);
    certain_ = std::min(contenders_.size(), static_cast<std::size_t>(options_.simulated));
    add_steps_before();
    if (options_.rivals)
      for (Contender& rival : rivals(candidates_, rivals_at_best)) contenders_.push_back(std::move(rival));
    for (Contender& one : random_plans(candidates_, question_.job.seed, options_.random_plans)) {
      random_.push_back(contenders_.size());
      contenders_.push_back(std::move(one));
    }
  }

  /// Of each step before the last one, for the candidates that went on.
  void add_steps_before() {
    for (const std::size_t i : chosen_) {
      const Candidate& one = candidates_[i];
      if (options_.step > Step::scheduler && one.scheduled) contend(i, *one.scheduled, Step::scheduler);
      if (options_.step > Step::recomputation) contend(i, *one.recomputed, Step::recomputation);
      if (options_.step > Step::memory) contend(i, one.best, Step::memory);
    }
  }

  [[nodiscard]] program::Program program_of(std::size_t contender) const {
    const TablePointer table = without_search(question_.table);
    config::merge(*table, *contenders_[contender].keys);
    return question_.cut.program(*table, question_.job).program;
  }

  /// Those of the last step, those drawn at random, and the best rival by rule are all simulated; of the others those
  /// whose lower bound is below the fastest.
  void simulate() {
    found_.resize(contenders_.size());
    std::vector<std::size_t> first, rest;
    bool has_rival = false;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const bool is_rival = !has_rival && contenders_[i].origin == by_rule;
      has_rival = has_rival || is_rival;
      const bool is_random = std::ranges::find(random_, i) != random_.end();
      (i < certain_ || is_rival || is_random ? first : rest).push_back(i);
    }
    evaluate(first);
    bounds_ = question_.job.evaluations.outlooks(
        rest.size(), [&](std::size_t i) { return question_.job.evaluations.outlook(program_of(rest[i])); });
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      program::Evaluation& one = found_[rest[i]];
      one.reason = bounds_[i].reason;
      if (!bounds_[i].feasible || !bounds_[i].fits) continue;
      one.time = bounds_[i].least;
      one.reason = "struck out by its lower bound";
      if (fastest() == contenders_.size() || bounds_[i].least < found_[fastest()].time) open.push_back(rest[i]);
    }
    evaluate(open);
  }

  void evaluate(const std::vector<std::size_t>& some) {
    // Ranks share plans and never one simulation: on a wafer two of them wait for each other nine tenths of the time.
    constexpr int alone = 1;
    const auto all = question_.job.evaluations.all(
        some.size(), [&](std::size_t i) { return program_of(some[i]); }, program::Fidelity::simulated, alone);
    for (std::size_t i = 0; i < some.size(); ++i) found_[some[i]] = all[i];
  }

  /// The first of the fastest; as many as there are: none can run.
  [[nodiscard]] std::size_t fastest() const {
    std::size_t best = found_.size();
    for (std::size_t i = 0; i < found_.size(); ++i)
      if (found_[i].feasible && (best == found_.size() || found_[i].time < found_[best].time)) best = i;
    return best;
  }

  void add_pruned(Searched& searched) const {
    for (const Candidate& one : candidates_) {
      if (one.pruned.empty()) continue;
      Tried row;
      row.step = static_cast<std::int64_t>(searched.table.size());
      row.candidate = one.text();
      row.fidelity = program::Fidelity::estimate;
      row.reason = one.pruned;
      row.origin = "cuts";
      row.predicted = one.predicted;
      searched.table.push_back(std::move(row));
    }
  }

  Searched finish() const {
    Searched searched;
    add_pruned(searched);
    const std::size_t best = fastest();
    Time so_far = 0;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const program::Evaluation& found = found_[i];
      const bool is_faster = found.feasible && (so_far == 0 || found.time < so_far);
      if (is_faster) so_far = found.time;
      Tried row;
      row.step = static_cast<std::int64_t>(searched.table.size());
      row.candidate = contenders_[i].text;
      row.cost = found.feasible ? found.time : 0;
      row.accepted = i == best;
      row.reason = found.feasible ? (i == best ? "" : "slower") : found.reason;
      row.best = so_far;
      row.origin = contenders_[i].origin;
      row.predicted = contenders_[i].predicted;
      row.most_memory = found.most_memory();
      row.at_least = found.feasible ? 0 : found.time;
      searched.table.push_back(std::move(row));
    }
    if (best == contenders_.size()) {
      searched.nothing_fits = nothing_fits();
      return searched;
    }
    searched.found = contenders_[best].keys;
    searched.predicted = {{"all", found_[best].time}, {"model", contenders_[best].predicted}};
    if (!question_.health.is_sound()) searched.tables.push_back(health_table(question_.health, question_.job.machine));
    if (!bred_.empty()) searched.tables.push_back(curves());
    return searched;
  }

  /// Which constraint leaves nothing, and how near the nearest cut is to what would fit.
  [[nodiscard]] std::string nothing_fits() const {
    if (!contenders_.empty())
      return fmt::format("none of {} plans can run; the first, {}: {}", contenders_.size(), contenders_.front().text,
                         found_.front().reason);
    const Candidate* nearest = nullptr;
    for (const Candidate& one : candidates_)
      if (one.missing > 0 && (nearest == nullptr || one.missing < nearest->missing)) nearest = &one;
    if (nearest != nullptr)
      return fmt::format("none of {} cuts fits into memory; the nearest, {}: {}", candidates_.size(), nearest->text(),
                         nearest->pruned);
    return candidates_.empty() ? "there is no cut to look at"
                               : fmt::format("none of {} cuts can be; the first, {}: {}", candidates_.size(),
                                             candidates_.front().text(), candidates_.front().pruned);
  }

  [[nodiscard]] DataTable curves() const {
    std::vector<std::int32_t> candidate, generation;
    std::vector<std::string> text;
    std::vector<double> best;
    for (std::size_t i = 0; i < bred_.size(); ++i) {
      for (std::size_t step = 0; step < bred_[i].curve.size(); ++step) {
        candidate.push_back(static_cast<std::int32_t>(i));
        text.push_back(candidates_[chosen_[i]].text());
        generation.push_back(static_cast<std::int32_t>(step));
        best.push_back(bred_[i].curve[step]);
      }
    }
    DataTable table{"genetic", "The best individual of genetic searches, a generation a row.", {}};
    table.index("candidate", "in the order of their prediction", candidate);
    table.text("cut", "and tile of it", text).index("generation", "0: the start", generation);
    table.number("fitness", "1", "of the best one so far, the smaller the better", best);
    return table;
  }

  const Question& question_;
  const SearchOptions& options_;
  Pricing pricing_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> chosen_;  // candidates that go on, the best predicted first
  std::vector<Bred> bred_;           // of the first ones of these
  std::vector<Contender> contenders_;
  std::size_t certain_ = 0;                 // of these the first ones are of the last step
  std::vector<std::size_t> random_;         // drawn
  std::vector<program::Evaluation> found_;  // by contender
  std::vector<program::Outlook> bounds_;
};

}  // namespace

Searched search(const Question& question) { return Search(question).run(); }

}  // namespace tessera::strategy::watos
