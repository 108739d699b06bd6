#include "tessera/experiment/fits_computer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/memory_limit.hpp"
#include "tessera/base/together.hpp"
#include "tessera/program/program.hpp"

namespace tessera::experiment {
namespace {

using config::format_rounded;
using config::Unit;

/// An estimate is right within a factor of two.
constexpr double certain = 0.5;
constexpr double most_counted_bytes = 9e18;

std::string bytes_text(double bytes) {
  return format_rounded(static_cast<std::int64_t>(std::min(bytes, most_counted_bytes)), Unit::bytes);
}

}  // namespace

std::string does_not_fit(const Range& bytes, int here) {
  const double each = certain * bytes.least;
  const auto text = [&](double needed, int ranks, const MemoryLimit& limit) {
    return fmt::format(
        "the simulation needs at least {} on this computer{}, which has {} ({}): use more ranks on more computers, or "
        "record less ([record] in the experiment)",
        bytes_text(needed), ranks > 1 ? fmt::format(" for {} ranks", ranks) : "",
        format_rounded(limit.bytes, Unit::bytes), limit.source);
  };
  if (const MemoryLimit own = memory_of_process(); each > static_cast<double>(own.bytes)) return text(each, 1, own);
  const MemoryLimit all = memory_of_computer();
  return here * each > static_cast<double>(all.bytes) ? text(here * each, here, all) : std::string();
}

Estimate estimate_where_it_can_run(const Experiment& experiment, Communicator& comm) {
  Estimate expected;
  double least = 0;
  together(comm, [&] {
    // The figures of a program with mistakes mean nothing; all ranks refuse it in a moment.
    if (comm.rank() != 0 || !program::check_program(experiment.plan.program, experiment.machine).empty()) return;
    expected = estimate(experiment);
    least = expected.bytes_per_rank(comm.size()).least;
  });
  least = static_cast<double>(comm.max(static_cast<std::int64_t>(std::min(least, most_counted_bytes))));
  const int here = ranks_on_computer(comm);
  together(comm, [&] {
    const std::string problem = does_not_fit({least, least}, here);
    if (!problem.empty()) throw IoError(problem);
  });
  return expected;
}

}  // namespace tessera::experiment
