#include "training.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "../judge.hpp"
#include "sharing.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/together.hpp"

namespace tessera::strategy::mcm {
namespace {

/// Seeds that no other graph's draws share.
std::uint64_t seed_of(std::uint64_t seed, const std::string& graph) {
  return KeyedRandom(seed, random_stream("mcm training graph")).bits(random_stream(graph));
}

Question question_of(const TrainingGraph& graph, const Job& job, std::uint64_t seed) {
  Question question{graph.package, graph.options, seed, [&graph, &job](const std::vector<Partition>& all) {
                      return judge(graph.package, all, graph.options, job);
                    }};
  if (graph.options.evaluator == EvaluatorKind::analytic) question.fidelity = program::Fidelity::estimate;
  return question;
}

}  // namespace

TrainingGraph::TrainingGraph(std::string its_name, const Options& its_options, const Job& job, std::uint64_t seed)
    : name(std::move(its_name)),
      package(make_package(job, its_options.chips)),
      options(its_options),
      question(question_of(*this, job, seed_of(seed, name))),
      learned(question) {}

void Finalists::add(Finalist finalist) {
  const auto behind =
      std::find_if(all_.begin(), all_.end(), [&](const Finalist& one) { return one.zero_shot < finalist.zero_shot; });
  all_.insert(behind, std::move(finalist));
  if (all_.size() > most_) all_.pop_back();
}

Trainer::Trainer(const Options& options, const Training& training)
    : training_(training), options_(options), finalists_(static_cast<std::size_t>(training.finalists)) {
  const auto make = [&](const std::vector<Training::Graph>& from, Graphs& to) {
    for (const Training::Graph& graph : from)
      to.push_back(std::make_unique<TrainingGraph>(graph.name, options_, *graph.job, training_.seed));
  };
  make(training_.graphs, graphs_);
  make(training_.validation, validation_);
  const NetworkShape shape = shape_for(graphs_.front()->learned.input, training_.resume, false);
  learner_ =
      std::make_unique<Learner>(shape, options_.learning, learning::common_kernels(*training_.comm), training_.seed);
  policy_ = std::make_unique<Policy>(learner_->layout(), learner_->kernels());
  if (training_.resume != nullptr) go_on_from(*training_.resume);
}

std::int64_t Trainer::samples_of_update() const { return training_.together * options_.learning.rollouts; }

/// Graphs in rounds, each in an order of its own.
std::vector<Trainer::Turn> Trainer::graphs_of(std::int64_t number) const {
  std::vector<Turn> chosen;
  for (std::int64_t i = number * training_.together; i < (number + 1) * training_.together; ++i) {
    const auto round = static_cast<std::uint64_t>(i) / graphs_.size();
    std::vector<std::size_t> order(graphs_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    shuffle(order, KeyedRandom(training_.seed, random_stream("mcm training round") + round));
    chosen.push_back({order[static_cast<std::uint64_t>(i) % graphs_.size()], static_cast<std::int64_t>(round)});
  }
  return chosen;
}

/// Rollouts of the graphs that this rank owns, judged.
void Trainer::draw(const std::vector<Turn>& chosen, const std::vector<int>& owners, std::vector<RolloutSet>& drawn,
                   std::vector<Batch>& batches) {
  const std::int64_t rollouts = options_.learning.rollouts;
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (owners[i] != training_.comm->rank()) continue;
    Learned& graph = graphs_[chosen[i].graph]->learned;
    drawn[i] = policy_->draw(graph, learner_->parameters, options_.learning, chosen[i].round * rollouts, rollouts);
    judge(graph, drawn[i].rollouts);
    const double reward = worth_of(drawn[i]).reward;
    batches[i] = {&graph, &drawn[i].rollouts, advantages_of(drawn[i], options_.learning.baseline), reward};
  }
}

void Trainer::update() {
  const std::vector<Turn> chosen = graphs_of(done_);
  std::vector<std::int64_t> weights;
  for (const Turn& turn : chosen) weights.push_back(graphs_[turn.graph]->learned.input.nodes);
  const std::vector<int> owners = owners_of(weights, training_.comm->size());
  std::vector<RolloutSet> drawn(chosen.size());
  std::vector<Batch> batches(chosen.size());
  together(*training_.comm, [&] { draw(chosen, owners, drawn, batches); });
  const std::int64_t rollouts = options_.learning.rollouts;
  const std::vector<UpdateReport> reports = learner_->update(batches, owners, rollouts, done_, *training_.comm);
  std::vector<Worth> worth(chosen.size());
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    if (owners[i] == training_.comm->rank()) worth[i] = worth_of(drawn[i]);
  }
  share(owners, worth, *training_.comm);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const std::int64_t samples = done_ * samples_of_update() + static_cast<std::int64_t>(i + 1) * rollouts;
    updates_.push_back(update_of(worth[i], reports[i], done_, samples, graphs_[chosen[i].graph]->name));
  }
  ++done_;
}

/// Mean over the validation graphs of the mean reward of what the policy draws, which learns nothing from them.
double Trainer::zero_shot() {
  std::vector<double> rewards(validation_.size(), 0);
  std::vector<std::int64_t> weights;
  for (const auto& graph : validation_) weights.push_back(graph->learned.input.nodes);
  const std::vector<int> owners = owners_of(weights, training_.comm->size());
  together(*training_.comm, [&] {
    for (std::size_t i = 0; i < validation_.size(); ++i) {
      if (owners[i] != training_.comm->rank()) continue;
      Learned& graph = validation_[i]->learned;
      RolloutSet drawn = policy_->draw(graph, learner_->parameters, options_.learning, 0, training_.validation_samples);
      judge(graph, drawn.rollouts);
      rewards[i] = worth_of(drawn).reward;
    }
  });
  share(owners, rewards, *training_.comm);
  return std::accumulate(rewards.begin(), rewards.end(), 0.0) / static_cast<double>(rewards.size());
}

Tensors Trainer::policy_of(const std::vector<float>& parameters) const {
  Tensors data = policy_data(learner_->layout(), parameters);
  data.notes.emplace_back("sigma", fmt::format("{}", options_.sigma));
  return data;
}

Tensors Trainer::state() const {
  Tensors data = policy_of(learner_->parameters);
  add_optimizer(learner_->adam, data);
  data.notes.emplace_back("updates", std::to_string(done_));
  std::vector<float> all, numbers;
  for (const Finalist& one : finalists_.all()) {
    data.notes.emplace_back(fmt::format("finalist{}", numbers.size()),
                            fmt::format("{} {:a}", one.checkpoint, one.zero_shot));
    numbers.push_back(static_cast<float>(one.checkpoint));
    all.insert(all.end(), one.parameters.begin(), one.parameters.end());
  }
  if (!all.empty())
    data.all.push_back({"finalists", "weights of the best checkpoints so far, one a row", numbers.size(),
                        all.size() / numbers.size(), std::move(all)});
  return data;
}

void Trainer::go_on_from(const Tensors& state) {
  learner_->parameters = parameters_of(state, learner_->layout());
  learner_->adam = optimizer_of(state, learner_->layout().size);
  done_ = number_of(state, "updates");
  updates_ = updates_of(training_.before);
  const Tensor* all = state.find("finalists");
  for (std::size_t i = 0; all != nullptr && i < all->rows; ++i) {
    Finalist one;
    const std::string text = state.note(fmt::format("finalist{}", i));
    char* end = nullptr;
    one.checkpoint = std::strtoll(text.c_str(), &end, 10);
    one.zero_shot = std::strtod(end, nullptr);
    const auto begin = all->values.begin() + static_cast<std::ptrdiff_t>(i * all->columns);
    one.parameters.assign(begin, begin + static_cast<std::ptrdiff_t>(all->columns));
    if (one.parameters.size() != learner_->layout().size)
      throw InputError("the checkpoint's finalists have another shape");
    finalists_.add(std::move(one));
  }
}

/// The best reward of a policy that learns on with a validation graph.
double Trainer::fine_tuned(const Finalist& finalist, const TrainingGraph& graph) const {
  const Tensors start = policy_data(learner_->layout(), finalist.parameters);
  Options options = graph.options;
  options.samples = training_.fine_tuning_samples;
  const Question again{graph.package, options, graph.question.seed, graph.question.judge, graph.question.fidelity,
                       nullptr,       &start};
  const Found found = search_by_policy(again, "fine-tuning", true, &learner_->kernels());
  if (!found.evaluation.feasible) return 0;
  return static_cast<double>(graph.learned.heuristic) / static_cast<double>(found.evaluation.time);
}

/// What each of them comes to on each validation graph when it learns on. In rounds: of each rank one of its own.
void Trainer::fine_tune(std::vector<Finalist>& finalists) {
  const std::size_t graphs = validation_.size(), tasks = finalists.size() * graphs;
  std::vector<std::int64_t> weights;
  for (std::size_t task = 0; task < tasks; ++task) weights.push_back(validation_[task % graphs]->learned.input.nodes);
  const std::vector<int> owners = owners_of(weights, training_.comm->size());
  std::vector<std::size_t> own;
  for (std::size_t task = 0; task < tasks; ++task) {
    if (owners[task] == training_.comm->rank()) own.push_back(task);
  }
  // The heaviest first, as they were given to ranks, so that those of a round take about as long.
  std::stable_sort(own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  std::vector<double> best(tasks, 0);
  const std::int64_t rounds = training_.comm->max(static_cast<std::int64_t>(own.size()));
  for (std::int64_t round = 0; round < rounds; ++round) {
    training_.progress(1, "learning on with the graphs of the validation");
    together(*training_.comm, [&] {
      if (static_cast<std::size_t>(round) >= own.size()) return;
      const std::size_t task = own[static_cast<std::size_t>(round)];
      best[task] = fine_tuned(finalists[task / graphs], *validation_[task % graphs]);
    });
  }
  share(owners, best, *training_.comm);
  for (std::size_t task = 0; task < tasks; ++task)
    finalists[task / graphs].fine_tuned += best[task] / static_cast<double>(graphs);
}

Trained Trainer::run() {
  const std::int64_t updates = std::max<std::int64_t>(1, training_.samples / samples_of_update());
  // Steps get shorter in a line: without that the policy collapses (docs/validation/mcm-learning.md).
  const auto step_of = [&](std::int64_t update) {
    return options_.learning.step * (1 - static_cast<double>(update) / static_cast<double>(updates));
  };
  const std::int64_t checkpoints = std::min(training_.checkpoints, updates);
  while (done_ < updates) {
    const std::int64_t before = done_ * checkpoints / updates;
    learner_->step = step_of(done_);
    update();
    if (done_ * checkpoints / updates != before) {
      finalists_.add({done_ * checkpoints / updates, zero_shot(), 0, learner_->parameters});
      training_.keep({state(), {learning_table(updates_)}, updates_.back().samples, {}, learner_->kernels().name});
    }
    training_.progress(static_cast<double>(done_) / static_cast<double>(updates), progress_text(updates_.back()));
  }
  std::vector<Finalist> finalists = finalists_.all();
  fine_tune(finalists);
  std::stable_sort(finalists.begin(), finalists.end(),
                   [](const Finalist& a, const Finalist& b) { return a.fine_tuned > b.fine_tuned; });
  Trained trained;
  trained.policy = policy_of(finalists.front().parameters);
  trained.tables = {learning_table(updates_)};
  trained.samples = updates_.back().samples;
  trained.kernels = learner_->kernels().name;
  for (const Finalist& one : finalists) trained.finalists.push_back({one.checkpoint, one.zero_shot, one.fine_tuned});
  return trained;
}

}  // namespace tessera::strategy::mcm
