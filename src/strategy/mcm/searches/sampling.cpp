#include "sampling.hpp"

#include <algorithm>
#include <cmath>

namespace tessera::strategy::mcm {
namespace {

/// Up to here a float holds exp(-exponent) with all its digits, also where many are added up.
constexpr double most_exponent = 60;

/// exp(-x^2 / 2) as its logarithm. Beyond what a float holds it still falls, so that of chips that are all far away the
/// nearest is the likeliest.
double log_of_normal(double exponent) {
  return exponent < most_exponent ? -exponent : -most_exponent - std::log(exponent / most_exponent);
}

}  // namespace

std::vector<double> centres(const Question& question) {
  std::vector<double> times;
  for (const Time time : solved_times(question.package)) times.push_back(static_cast<double>(time));
  std::vector<double> middles = centres_by_time(question.package.reduced.problem, times);
  if (has_equal_speeds(question.package)) return middles;
  for (double& middle : middles)
    middle = place_by_speed(question.package, (middle + 0.5) / question.package.chips()) - 0.5;
  return middles;
}

Distribution prior(const Question& question) {
  if (question.options.sigma <= 0) return Distribution::uniform();
  return Distribution::normal(centres(question), question.options.sigma, question.package.chips());
}

std::vector<double> prior_logs(const Question& question) {
  const Problem& problem = question.package.reduced.problem;
  const std::size_t chips = problem.chips;
  std::vector<double> logs(problem.nodes * chips, 0.0);
  const double sigma = question.options.sigma;
  if (sigma <= 0) return logs;
  const std::vector<double> middles = centres(question);
  for (std::size_t node = 0; node < problem.nodes; ++node) {
    double* row = logs.data() + node * chips;
    for (std::size_t chip = 0; chip < chips; ++chip) {
      const double away = (static_cast<double>(chip) - middles[node]) / sigma;
      row[chip] = away * away / 2;
    }
    // Where sigma is so small that even the nearest chip is far from the middle, it is the nearest all the same.
    const double least = *std::min_element(row, row + chips);
    const double origin = least < most_exponent / 2 ? 0 : least;
    for (std::size_t chip = 0; chip < chips; ++chip) row[chip] = log_of_normal(row[chip] - origin);
  }
  return logs;
}

Partitioner make_partitioner(const Question& question) {
  return {question.package.reduced.problem, question.options.chip_graph, question.options.order};
}

}  // namespace tessera::strategy::mcm
