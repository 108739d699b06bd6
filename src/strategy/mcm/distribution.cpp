#include "distribution.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tessera/base/error.hpp"
#include "tessera/base/random.hpp"

namespace tessera::strategy::mcm {
namespace {

constexpr std::int32_t steps_per_chip = 64;

ChipId draw_uniform(const ChipSet& domain, std::uint64_t bits) {
  const std::uint32_t size = domain.size();
  return static_cast<ChipId>(
      domain.member(size == 1 ? 0 : static_cast<std::uint32_t>(KeyedRandom::to_below(bits, size))));
}

/// weight(chip) of the members; `none()` where they have none.
template <class Weight, class None>
ChipId draw_weighted(const ChipSet& domain, std::uint64_t bits, const Weight& weight, const None& none) {
  double total = 0;
  domain.for_each([&](std::uint32_t chip) { total += static_cast<double>(weight(chip)); });
  if (!(total > 0)) return none();
  double rest = KeyedRandom::to_real(bits) * total;
  std::uint32_t chosen = max_chips, last = max_chips;
  domain.for_each([&](std::uint32_t chip) {
    const auto part = static_cast<double>(weight(chip));
    if (chosen != max_chips || part <= 0) return;
    last = chip;
    if (rest < part) chosen = chip;
    rest -= part;
  });
  return static_cast<ChipId>(chosen != max_chips ? chosen : last);  // the last one: rest was rounded up to the total
}

}  // namespace

Distribution Distribution::weights(std::span<const float> weights, std::uint32_t nodes, std::uint32_t chips) {
  if (weights.size() != std::size_t{nodes} * chips)
    throw InputError(fmt::format("{} weights for {} nodes on {} chips", weights.size(), nodes, chips));
  for (const float weight : weights) {
    if (!(weight >= 0) || !std::isfinite(weight))
      throw InputError(fmt::format("a weight of {}: weights are numbers from 0 on", weight));
  }
  Distribution result;
  result.weights_ = weights;
  result.nodes_ = nodes;
  result.chips_ = chips;
  return result;
}

Distribution Distribution::normal(const std::vector<double>& centres, double sigma, std::uint32_t chips) {
  if (!(sigma > 0)) throw InputError(fmt::format("a prior of width {}: it must be above 0", sigma));
  Distribution result;
  result.nodes_ = centres.size();
  result.chips_ = chips;
  const double limit = 2.0 * chips;  // beyond, the table would end
  for (const double centre : centres) {
    if (std::isnan(centre)) throw InputError("the centre of a prior is no number");
    result.centres_.push_back(
        static_cast<std::int32_t>(std::lround(std::clamp(centre, -limit, limit) * steps_per_chip)));
  }
  result.by_distance_.resize(std::size_t{3} * chips * steps_per_chip + 1);
  for (std::size_t distance = 0; distance < result.by_distance_.size(); ++distance) {
    const double sigmas = static_cast<double>(distance) / (steps_per_chip * sigma);
    // As float, so that libraries whose exp() differs in the last bit draw alike.
    result.by_distance_[distance] = static_cast<float>(std::exp(-0.5 * sigmas * sigmas));
  }
  return result;
}

void Distribution::check(std::uint32_t nodes, std::uint32_t chips) const {
  if (chips_ != 0 && (nodes_ != nodes || chips_ != chips))
    throw InputError(
        fmt::format("a distribution of {} nodes over {} chips for {} over {}", nodes_, chips_, nodes, chips));
}

ChipId Distribution::draw(NodeId node, const ChipSet& domain, std::uint64_t bits) const {
  if (!centres_.empty()) return draw_normal(node, domain, bits);
  if (weights_.empty()) return draw_uniform(domain, bits);
  const float* row = weights_.data() + std::size_t{node} * chips_;
  return draw_weighted(
      domain, bits, [&](std::uint32_t chip) { return row[chip]; }, [&] { return draw_uniform(domain, bits); });
}

ChipId Distribution::draw_normal(NodeId node, const ChipSet& domain, std::uint64_t bits) const {
  const std::int32_t centre = centres_[node];
  const auto distance = [&](std::uint32_t chip) {
    return std::abs(static_cast<std::int32_t>(chip) * steps_per_chip - centre);
  };
  const auto nearest = [&] {
    std::uint32_t best = domain.first();
    domain.for_each([&](std::uint32_t chip) {
      if (distance(chip) < distance(best)) best = chip;
    });
    return static_cast<ChipId>(best);
  };
  return draw_weighted(
      domain, bits, [&](std::uint32_t chip) { return by_distance_[static_cast<std::size_t>(distance(chip))]; },
      nearest);
}

std::vector<double> centres_by_time(const Problem& problem, std::span<const double> times) {
  if (times.size() != problem.nodes)
    throw InputError(fmt::format("{} times for {} nodes", times.size(), problem.nodes));
  double all = 0;
  for (const double time : times) all += time;
  const bool is_timed = all > 0;
  if (!is_timed) all = problem.nodes;
  std::vector<double> centres(problem.nodes);
  double before = 0;
  for (const NodeId node : topological_order(problem)) {
    const double time = is_timed ? times[node] : 1.0;
    centres[node] = problem.chips * (before + time / 2) / all - 0.5;
    before += time;
  }
  return centres;
}

}  // namespace tessera::strategy::mcm
