// What of one finished run goes into its row of a table of many (points.hpp), without a file in between.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/results/points.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// Equal to what the run's result file says, whatever the number of ranks.
struct Digest {
  /// Mean and greatest of the busy time of the links of a class, over the iteration time.
  struct LinkClass {
    std::string name;
    double mean_use = 0, peak_use = 0;
    bool operator==(const LinkClass&) const = default;
  };
  std::vector<std::pair<std::string, PointCell>> summary;    ///< the columns of /summary, in their order
  std::vector<LinkClass> links;                              ///< classes that have links, in the machine's order
  std::vector<std::pair<std::string, std::int64_t>> memory;  ///< B of each category on the fullest device, at its peak
  bool operator==(const Digest&) const = default;
};

/// "forward" -> "forward_ps", "tensor communication" -> "tensor_communication_ps": the column of an activity.
[[nodiscard]] std::string activity_column(const std::string& activity);

/// Of what the devices could have done in the time, by their peak in FLOP/s; 0 where nothing is known of that.
[[nodiscard]] double utilisation(double flops, Time time, std::int64_t peak_flops, std::int64_t devices);

/// On rank 0; empty elsewhere. `results` as sim::simulate() gives them, each rank its own rows. `seed`: of the
/// experiment. Every rank calls it. InternalError as for write().
[[nodiscard]] Digest digest(const RunResults& results, std::uint64_t seed, Communicator& comm);

}  // namespace tessera::results
