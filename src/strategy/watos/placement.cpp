#include "placement.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::strategy::watos {
namespace {

constexpr std::size_t few_partners = 8;
constexpr std::size_t pairs_of_a_sweep = 10000;

/// Places along bands of one coordinate, there and back: one grid after the other, since what joins grids is slower
/// than what joins dies.
template <class Across, class Along>
std::vector<std::uint16_t> along_bands(const Problem& problem, const Across& across, const Along& along) {
  std::map<std::pair<int, int>, std::vector<std::uint16_t>> bands;
  for (std::uint16_t place = 0; place < problem.places.size(); ++place)
    bands[{problem.places[place].grid, across(problem.places[place])}].push_back(place);
  std::vector<std::uint16_t> order;
  bool is_back = false;
  for (auto& [at, band] : bands) {
    std::ranges::sort(band, {}, [&](std::uint16_t place) { return along(problem.places[place]); });
    if (is_back) std::ranges::reverse(band);
    order.insert(order.end(), band.begin(), band.end());
    is_back = !is_back;
  }
  return order;
}

/// Until there are as many as stages and replicas.
void leave_slowest(const Problem& problem, std::vector<std::uint16_t>& order) {
  const auto time = [&](std::uint16_t place) { return problem.stages.front().time[problem.places[place].pace][0]; };
  while (order.size() > problem.count() * problem.replicas) {
    auto slowest = order.begin();
    for (auto place = slowest; place != order.end(); ++place)
      if (time(*place) >= time(*slowest)) slowest = place;
    order.erase(slowest);
  }
}

/// So many of all, or more than are looked at.
std::int64_t arrangements(std::size_t places, std::size_t taken) {
  std::int64_t product = 1;
  for (std::size_t i = 0; i < taken && product <= few_arrangements; ++i)
    product *= static_cast<std::int64_t>(places - i);
  return product;
}

/// The best of what is tried, the first of equals.
class Best {
 public:
  Best(const Judge& judge, Solution start) : judge_(&judge), at_(std::move(start)) {
    const Score score = judge_->score(at_);
    fits_ = score.fits;
    fitness_ = score.fitness;
  }
  bool try_out(const Solution& other) {
    const Score score = judge_->score(other);
    if (!score.fits || (fits_ && score.fitness >= fitness_)) return false;
    at_ = other;
    fits_ = true;
    fitness_ = score.fitness;
    return true;
  }
  [[nodiscard]] const Solution& at() const { return at_; }
  [[nodiscard]] bool beats(const Best& other) const { return fits_ && (!other.fits_ || fitness_ < other.fitness_); }

 private:
  const Judge* judge_;
  Solution at_;
  bool fits_ = false;
  Int128 fitness_ = 0;
};

/// All ways to take some of the places in turn.
void all_arrangements(const Problem& problem, Solution& solution, std::size_t taken, std::vector<bool>& is_taken,
                      Best& best) {
  if (taken == solution.places.size()) {
    best.try_out(solution);
    return;
  }
  for (std::uint16_t place = 0; place < problem.places.size(); ++place) {
    if (is_taken[place]) continue;
    is_taken[place] = true;
    solution.places[taken] = place;
    all_arrangements(problem, solution, taken + 1, is_taken, best);
    is_taken[place] = false;
  }
}

/// By place, those that it is exchanged with: all, or on a large wafer the nearest ones.
std::vector<std::vector<std::uint16_t>> partners(const Problem& problem, std::size_t stand) {
  std::vector<std::uint16_t> all(problem.places.size());
  std::iota(all.begin(), all.end(), std::uint16_t{0});
  const std::size_t most = std::max(few_partners, pairs_of_a_sweep / stand);
  std::vector<std::vector<std::uint16_t>> found(all.size(), all);
  if (all.size() <= most) return found;
  for (std::uint16_t place = 0; place < found.size(); ++place) {
    std::ranges::stable_sort(
        found[place], {}, [&](std::uint16_t other) { return distance(problem.places[place], problem.places[other]); });
    found[place].resize(most);
  }
  return found;
}

/// Exchanges of two places, until none gains.
void exchange(const std::vector<std::vector<std::uint16_t>>& partners, Best& best) {
  for (bool gains = true; gains;) {
    gains = false;
    for (std::size_t i = 0; i < best.at().places.size(); ++i) {
      for (const std::uint16_t place : partners[best.at().places[i]]) {
        Solution other = best.at();
        if (other.places[i] == place) continue;
        const auto holder = std::ranges::find(other.places, place);
        if (holder != other.places.end()) *holder = other.places[i];
        other.places[i] = place;
        gains = best.try_out(other) || gains;
      }
    }
  }
}

}  // namespace

std::vector<std::vector<std::uint16_t>> starts(const Problem& problem) {
  std::vector<std::vector<std::uint16_t>> all = serpentines(problem);
  const std::uint32_t first = problem.places.front().pace;
  if (std::ranges::all_of(problem.places, [&](const Place& place) { return place.pace == first; })) all.resize(1);
  return all;
}

std::vector<std::vector<std::uint16_t>> serpentines(const Problem& problem) {
  const auto x = [](const Place& place) { return place.x; };
  const auto y = [](const Place& place) { return place.y; };
  std::vector<std::vector<std::uint16_t>> orders = {along_bands(problem, y, x), along_bands(problem, x, y)};
  for (int i = 0; i < 2; ++i) {
    orders.push_back(orders[static_cast<std::size_t>(i)]);
    std::ranges::reverse(orders.back());
  }
  for (std::vector<std::uint16_t>& order : orders) leave_slowest(problem, order);
  return orders;
}

std::vector<std::uint16_t> best_places(const Problem& problem, const Solution& solution, const Judge& judge) {
  Best best(judge, solution);
  if (arrangements(problem.places.size(), solution.places.size()) <= few_arrangements) {
    Solution other = solution;
    std::vector<bool> is_taken(problem.places.size());
    all_arrangements(problem, other, 0, is_taken, best);
    return best.at().places;
  }
  std::vector<std::vector<std::uint16_t>> starts = {solution.places};
  for (std::vector<std::uint16_t>& order : serpentines(problem)) {
    starts.push_back(std::move(order));
  }
  const std::vector<std::vector<std::uint16_t>> near = partners(problem, solution.places.size());
  for (std::vector<std::uint16_t>& start : starts) {
    Solution from = solution;
    from.places = std::move(start);
    Best found(judge, std::move(from));
    exchange(near, found);
    if (found.beats(best)) best = found;
  }
  return best.at().places;
}

}  // namespace tessera::strategy::watos
