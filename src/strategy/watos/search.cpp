#include "search.hpp"

#include <algorithm>

#include "contenders.hpp"
#include "genome.hpp"
#include "judging.hpp"
#include "layers.hpp"
#include "prediction.hpp"
#include "report.hpp"
#include "steps.hpp"
#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/search/genetic.hpp"

namespace tessera::strategy::watos {
namespace {

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
      for (const double share : slow_shares(question_.health)) leave_out(share);
      for (Candidate& one : candidates_) {
        question_.job.evaluations.go_on();
        if (one.pruned.empty()) begin(one);
      }
      if (options_.take == Take::fastest) choose();
    });
    if (options_.take == Take::fastest) {
      if (options_.step == Step::genetic) breed_all();
      list_contenders();
    } else {
      list_rivals();
    }
    std::vector<Curve> curves;
    for (std::size_t i = 0; i < bred_.size(); ++i) curves.push_back({candidates_[chosen_[i]].text(), bred_[i].curve});
    return report(question_, candidates_, contenders_, judged(question_, contenders_), curves);
  }

 private:
  [[nodiscard]] Communicator& comm() const { return question_.job.evaluations.comm(); }

  /// A group is as slow as its slowest die, so that a wafer without these may be faster: cuts of it stand beside the
  /// others.
  void leave_out(double share) {
    const Health left = without_slow(question_.health, share);
    const Question fewer{question_.cut, question_.table, question_.options, question_.job, left};
    for (Candidate& one : all_candidates(fewer, pricing_)) {
      if (!one.pruned.empty()) continue;
      one.left_out = question_.health.alive() - left.alive();
      candidates_.push_back(std::move(one));
    }
  }

  /// Where stages stand along a serpentine.
  void begin(Candidate& one) const {
    const Problem& problem = one.named.problem;
    one.least = first_order(one.plain.problem);
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

  [[nodiscard]] static bool is_same_size(const Candidate& a, const Candidate& b) {
    return a.cut.tensor == b.cut.tensor && a.cut.pipeline == b.cut.pipeline && a.cut.data == b.cut.data &&
           a.left_out == b.left_out;
  }

  /// Of each cut its best tile and split, and of these the best predicted ones: the others are out.
  void choose() {
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < candidates_.size(); ++i)
      if (candidates_[i].pruned.empty()) left.push_back(i);
    std::ranges::stable_sort(left, {}, [&](std::size_t i) { return candidates_[i].predicted; });
    for (const std::size_t i : left) {
      Candidate& one = candidates_[i];
      const auto has_cut = [&](std::size_t other) { return is_same_size(candidates_[other], one); };
      if (std::ranges::any_of(chosen_, has_cut)) {
        one.pruned = "another tile or split of the cut is predicted to be faster";
      } else if (static_cast<std::int64_t>(chosen_.size()) >= std::max(options_.candidates, options_.simulated)) {
        one.pruned = "predicted to be slower than those that went on";
      } else {
        chosen_.push_back(i);
        if (options_.step == Step::scheduler) continue;
        Layers(question_, pricing_).move_by_time(one);
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
        solution, name_of(step), step >= Step::memory ? &question_.job.machine : nullptr));
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
    const std::size_t certain = std::min(contenders_.size(), static_cast<std::size_t>(options_.simulated));
    for (std::size_t i = 0; i < certain; ++i) contenders_[i].is_certain = true;
    add_steps_before();
    if (options_.rivals)
      for (Contender& rival : rivals(candidates_, rivals_at_best)) contenders_.push_back(std::move(rival));
    for (Contender& one : random_plans(candidates_, question_.job, options_.random_plans))
      contenders_.push_back(std::move(one));
  }

  /// Those alone.
  void list_rivals() {
    for (Contender& rival : rivals(candidates_, rivals_at_best)) {
      if (options_.take == Take::megatron_rule && rival.origin != by_rule) continue;
      contenders_.push_back(std::move(rival));
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

  const Question& question_;
  const SearchOptions& options_;
  Pricing pricing_;
  std::vector<Candidate> candidates_;
  std::vector<std::size_t> chosen_;  // candidates that go on, the best predicted first
  std::vector<Bred> bred_;           // of the first ones of these
  std::vector<Contender> contenders_;
};

}  // namespace

Searched search(const Question& question) { return Search(question).run(); }

}  // namespace tessera::strategy::watos
