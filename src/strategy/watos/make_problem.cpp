#include "make_problem.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "placement.hpp"
#include "replica_sums.hpp"
#include "tessera/program/loans.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::strategy::watos {
namespace {

/// Recalled one pass ahead.
constexpr std::uint32_t lead = 1;

/// Times of layers at places of one pace.
struct LayerTimes {
  std::vector<std::array<Time, workload::LayerOperators::section_count>> sections;  // by kind of layers
  std::vector<Time> backward;
};

class Maker {
 public:
  Maker(const PipelineProfile& profile, std::uint32_t replicas, const Job& job, Pricing& pricing)
      : profile_(profile), replicas_(replicas), job_(job), pricing_(pricing) {}

  NamedProblem make(std::vector<Place> places) {
    Problem& problem = found_.problem;
    problem.places = std::move(places);
    problem.replicas = replicas_;
    problem.memory = job_.machine.device.usable_memory().value();
    problem.part_bytes = profile_.part_bytes;
    problem.micro_batches = profile_.micro_batches;
    find_paces();
    for (const std::vector<const Place*>& pace : paces_) layers_.push_back(layer_times(pace));
    for (std::size_t stage = 0; stage < profile_.stages.size(); ++stage) fronts_.push_back(front(stage));
    choose_sets();
    for (std::size_t stage = 0; stage < profile_.stages.size(); ++stage) problem.stages.push_back(stage_problem(stage));
    problem.start = serpentines(problem).front();
    for (const std::vector<const Place*>& pace : paces_) problem.update.push_back(update(pace));
    problem.hop = hop();
    problem.per_mebibyte = per_mebibyte();
    for (const StageProfile& stage : profile_.stages) found_.layers.push_back(layers_of(stage));
    for (std::size_t pace = 0; pace < paces_.size(); ++pace) found_.layer_time.push_back(layer_time(pace));
    return std::move(found_);
  }

 private:
  /// Of each pace, places for all replicas: the first ones of it, again where there are too few.
  void find_paces() {
    const std::vector<Place>& places = found_.problem.places;
    std::uint32_t count = 0;
    for (const Place& place : places) count = std::max(count, place.pace + 1);
    paces_.resize(count);
    for (const Place& place : places)
      if (paces_[place.pace].empty()) paces_[place.pace].push_back(&place);
    for (std::vector<const Place*>& pace : paces_) {
      for (const Place& place : places)
        if (pace.size() < replicas_ && &place != pace.front()) pace.push_back(&place);
    }
  }

  [[nodiscard]] LayerTimes layer_times(const std::vector<const Place*>& pace) {
    LayerTimes times;
    for (const LayerProfile& layer : profile_.layers) {
      auto& sections = times.sections.emplace_back();
      for (std::size_t i = 0; i < layer.sections.size(); ++i)
        sections.at(i) = pricing_.time(layer.sections.at(i), pace);
      times.backward.push_back(pricing_.time(layer.backward, pace));
    }
    return times;
  }

  [[nodiscard]] static std::int64_t layers_of(const StageProfile& stage) {
    return std::accumulate(stage.layers.begin(), stage.layers.end(), std::int64_t{0});
  }
  /// The mean of all layers of the model.
  [[nodiscard]] Time layer_time(std::size_t pace) const {
    Time sum = 0;
    std::int64_t count = 0;
    for (const StageProfile& stage : profile_.stages) {
      count += layers_of(stage);
      for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind) {
        Time once = layers_[pace].backward.at(kind);
        for (const Time section : layers_[pace].sections.at(kind)) once += section;
        sum += stage.layers.at(kind) * once;
      }
    }
    return sum / count;
  }

  [[nodiscard]] Time again(const SetProfile& set, const StageProfile& stage, std::size_t pace) const {
    Time time = 0;
    for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind)
      for (std::size_t i = 0; i < set.recomputed.again.size(); ++i)
        if (set.recomputed.again[i]) time += stage.layers.at(kind) * layers_[pace].sections.at(kind).at(i);
    return time;
  }
  [[nodiscard]] std::int64_t kept(const SetProfile& set, const StageProfile& stage) const {
    std::int64_t bytes = stage.edge_kept;
    for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind)
      bytes += stage.layers.at(kind) * set.kept.at(kind);
    return bytes;
  }
  [[nodiscard]] std::int64_t fixed(const SetProfile& set, const StageProfile& stage) const {
    std::int64_t most = 0;
    for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind)
      if (stage.layers.at(kind) > 0) most = std::max(most, set.again.at(kind));
    return stage.held + most;
  }
  [[nodiscard]] std::int64_t in_flight(std::size_t stage) const {
    return std::min(static_cast<std::int64_t>(profile_.stages.size() - stage), profile_.micro_batches);
  }

  /// Of a stage's sets, by number in the profile, those that nothing beats, the fastest first.
  [[nodiscard]] std::vector<std::size_t> front(std::size_t stage) const {
    struct Point {
      Time time = 0;
      std::int64_t bytes = 0;
      std::size_t set = 0;
      auto operator<=>(const Point&) const = default;
    };
    const StageProfile& one = profile_.stages[stage];
    std::vector<Point> points;
    for (std::size_t set = 0; set < profile_.sets.size(); ++set) {
      const SetProfile& what = profile_.sets[set];
      points.push_back({again(what, one, 0), fixed(what, one) + in_flight(stage) * kept(what, one), set});
    }
    std::ranges::sort(points);
    std::vector<std::size_t> best;
    std::int64_t least = impossible;
    for (const Point& point : points) {
      if (point.bytes >= least) continue;
      least = point.bytes;
      best.push_back(point.set);
    }
    return best;
  }

  /// Those of some stage's front and those with a name, by time on the first stage.
  void choose_sets() {
    std::set<std::size_t> all;
    for (const std::vector<std::size_t>& front : fronts_) all.insert(front.begin(), front.end());
    using workload::Recomputation;
    for (std::size_t set = 0; set < profile_.sets.size(); ++set)  // Megatron knows these three alone
      for (const auto named : {Recomputation::none, Recomputation::selective, Recomputation::full})
        if (profile_.sets[set].recomputed == workload::recomputed_by(named)) all.insert(set);
    sets_.assign(all.begin(), all.end());
    const auto first = [&](std::size_t set) { return again(profile_.sets[set], profile_.stages.front(), 0); };
    std::ranges::stable_sort(sets_, {}, first);
    for (const std::size_t set : sets_) {
      const workload::Recomputed& recomputed = profile_.sets[set].recomputed;
      found_.problem.sets.push_back(recomputed.again.to_ullong());
      found_.sets.push_back(names_of(recomputed));
    }
  }

  [[nodiscard]] static std::vector<std::string> names_of(const workload::Recomputed& recomputed) {
    if (recomputed == recomputed_by(workload::Recomputation::full)) return {"full"};
    if (recomputed == recomputed_by(workload::Recomputation::selective)) return {"selective"};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < workload::section_names.size(); ++i)
      if (recomputed.again[i]) names.emplace_back(workload::section_names.at(i));
    return names.empty() ? std::vector<std::string>{"none"} : names;
  }

  [[nodiscard]] StageProblem stage_problem(std::size_t stage) {
    const StageProfile& one = profile_.stages[stage];
    const std::size_t count = profile_.stages.size();
    StageProblem found;
    found.in_flight = in_flight(stage);
    const program::PipelineShape shape{static_cast<std::uint32_t>(count), 1,
                                       static_cast<std::uint32_t>(std::min(profile_.micro_batches, enough(count))),
                                       true};
    const auto actions =
        with_loan(program::find_pipeline_order("1f1b")->actions(shape, static_cast<std::uint32_t>(stage)), 0, lead);
    found.at_once = program::most_lent(actions, 0);
    found.resident = program::most_at_home(actions, 0);
    for (const std::size_t set : sets_) {
      found.kept.push_back(kept(profile_.sets[set], one));
      found.fixed.push_back(fixed(profile_.sets[set], one));
    }
    for (std::size_t pace = 0; pace < paces_.size(); ++pace) {
      const Time arrival = pricing_.time(profile_.arrival, paces_[pace]);
      Time forward = pricing_.time(one.edge_forward, paces_[pace]) + (stage > 0 ? arrival : 0);
      Time backward = pricing_.time(one.edge_backward, paces_[pace]) + (stage + 1 < count ? arrival : 0);
      for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind) {
        for (const Time section : layers_[pace].sections.at(kind)) forward += one.layers.at(kind) * section;
        backward += one.layers.at(kind) * layers_[pace].backward.at(kind);
      }
      found.forward.push_back(forward);
      std::vector<Time> times;
      for (const std::size_t set : sets_) times.push_back(forward + backward + again(profile_.sets[set], one, pace));
      found.time.push_back(std::move(times));
    }
    found.until_next = until_next(one, found.time.front().front());
    for (const std::size_t set : fronts_[stage])
      found.front.push_back(static_cast<std::size_t>(std::ranges::find(sets_, set) - sets_.begin()));
    return found;
  }
  /// Micro-batches after which nothing is new.
  [[nodiscard]] static std::int64_t enough(std::size_t stages) { return 2 * static_cast<std::int64_t>(stages) + 4; }

  /// Half of the mean time between collectives of a micro-batch.
  [[nodiscard]] Time until_next(const StageProfile& stage, Time time) const {
    std::int64_t count = 0;
    for (std::size_t kind = 0; kind < profile_.layers.size(); ++kind) {
      const LayerProfile& layer = profile_.layers.at(kind);
      std::size_t once = layer.backward.collectives.size();
      for (const Work& section : layer.sections) once += section.collectives.size();
      count += stage.layers.at(kind) * static_cast<std::int64_t>(once);
    }
    return count == 0 ? latest : time / (2 * count);
  }

  /// On the fastest link between two dies.
  [[nodiscard]] Time per_mebibyte() const {
    std::int64_t most = 1;
    for (const machine::Link& link : job_.machine.network.links)
      if (job_.machine.computes(link.from) && job_.machine.computes(link.to))
        most = std::max(most, link.bandwidth.value());
    return static_cast<Time>(static_cast<Int128>(mebibyte) * second / most);
  }

  [[nodiscard]] Time update(const std::vector<const Place*>& pace) {
    Time most = 0;
    for (const StageProfile& stage : profile_.stages)
      most = std::max(most, pricing_.time(inside_replicas(stage.update, pace.front()->devices.size()), pace));
    return most;
  }

  [[nodiscard]] Time hop() const {
    const std::vector<Place>& places = found_.problem.places;
    if (places.size() < 2) return 0;
    return static_cast<Time>(program::message_time(job_.machine, places[0].devices.front(), places[1].devices.front(),
                                                   Bytes{profile_.part_bytes}));
  }

  const PipelineProfile& profile_;
  std::uint32_t replicas_;
  const Job& job_;
  Pricing& pricing_;
  NamedProblem found_;
  std::vector<std::vector<const Place*>> paces_;
  std::vector<LayerTimes> layers_;                // by pace
  std::vector<std::vector<std::size_t>> fronts_;  // by stage: numbers in the profile
  std::vector<std::size_t> sets_;                 // numbers in the profile
};

}  // namespace

NamedProblem make_problem(const PipelineProfile& profile, std::vector<Place> places, std::uint32_t replicas,
                          const Job& job, Pricing& pricing) {
  return Maker(profile, replicas, job, pricing).make(std::move(places));
}

}  // namespace tessera::strategy::watos
