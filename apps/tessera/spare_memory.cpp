#include "spare_memory.hpp"

#include <fmt/format.h>

namespace tessera::app {
namespace {

/// Stacks allocate more than is modelled: what leaves less may not fit in reality.
constexpr double least_share = 0.02;

std::string size_text(std::int64_t bytes) { return config::format_rounded(bytes, config::Unit::bytes); }

struct Spare {
  std::int64_t bytes = 0;  ///< below 0: too much
  double share = 0;        ///< of what is there for a job
};

Spare spare_of(const experiment::Experiment& experiment, const experiment::Estimate& estimate) {
  const std::int64_t usable = experiment.machine.spec(estimate.fullest).usable_memory().value();
  const std::int64_t bytes = usable - estimate.peak.most;
  return {bytes, static_cast<double>(bytes) / static_cast<double>(usable)};
}

}  // namespace

std::string spare_text(const experiment::Experiment& experiment, const experiment::Estimate& estimate) {
  const Spare spare = spare_of(experiment, estimate);
  const std::string of = machine::memory_text(experiment.machine.spec(estimate.fullest));
  const std::int64_t best = spare.bytes + estimate.peak.most - estimate.certain_peak;
  if (spare.bytes < 0 && best >= 0)
    return fmt::format("at most {} of {}; whether it fits only the simulation decides", size_text(best), of);
  if (spare.bytes < 0) return fmt::format("none: {} too much for {}", size_text(-spare.bytes), of);
  return fmt::format("{}{}, {:.1f} % of {}", estimate.peak.is_exact() ? "" : "at least ", size_text(spare.bytes),
                     100 * spare.share, of);
}

std::string spare_warning(const experiment::Experiment& experiment, const experiment::Estimate& estimate) {
  const Spare spare = spare_of(experiment, estimate);
  if (spare.bytes < 0 || spare.share >= least_share) return {};
  return fmt::format("the plan leaves {} of memory on {}, {:.1f} %: below {:.0f} % it may not fit in reality",
                     size_text(spare.bytes), experiment.machine.node_name(estimate.fullest), 100 * spare.share,
                     100 * least_share);
}

}  // namespace tessera::app
