// The partitions of least cost: segmented dynamic programming (PrimePar, ASPLOS 2024, slides: optimization algorithm).
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "../costs/costs.hpp"

namespace tessera::strategy::primepar {

struct Found {
  std::vector<Choice> layers;    ///< of each layer
  Time cost = 0;                 ///< total_cost() of them, and exposed_sums() where they were searched with those
  std::int64_t relaxations = 0;  ///< sums that were compared
  std::int64_t struck_out = 0;   ///< choices that were left out, see unbeaten()
};

/// Over the choices that no other beats (unbeaten.hpp), which finds the same as over all of them.
[[nodiscard]] Found segmented_search(const CostTables& tables, std::int64_t layers);

/// Of so many layers of a stage, one after the other, which need not be cut alike. Operators run in order; a segment
/// begins at each one that others than its successor read, and within a segment
///
///   C(a,j+1)(Pa,Pj+1) = min over Pj of C(a,j)(Pa,Pj) + e(j,j+1)(Pj,Pj+1), plus e(a,j+1)(Pa,Pj+1) + n(j+1)(Pj+1);
///
/// segments are merged over the operator that they share, which counts once. What one layer costs between two choices
/// of the operators at its ends is added layer by layer to what all layers before it cost at the least. An operator
/// that is read behind the segment that it begins is carried: everything is done for each of its choices. Of all
/// that cost the least, the first wins: the smallest choice of the first operator, then of the second, and so on.
[[nodiscard]] Found search_of_all(const CostTables& tables, std::int64_t layers);

/// segmented_search() with exposed_sums(). Those are no sum over operators: what is found is the best of what is found
/// at several weights between "all sums are hidden" and "they are hidden as far as the backward pass is long", each of
/// which is one. The tables are as before at the end.
[[nodiscard]] Found overlapped_search(CostTables& tables, std::int64_t layers);

/// What a choice costs at the least that is never to be chosen: ps, 13 days. Plans take less than 2^53 ps.
inline constexpr Time too_much = std::int64_t{1} << 60;
/// Makes choices with more second buffers than their operator can have at the least cost too much. False: there are
/// none.
bool forbid_buffers(CostTables& tables);

/// Of each device's memory.
struct Capacity {
  std::int64_t bytes = 0;
  std::function<std::int64_t(const Found&)> peak;  ///< B that a plan's program, as simulated, needs
  [[nodiscard]] bool fits(const Found& found) const { return peak(found) <= bytes; }
};

/// A plan that fits, no slower than `found`, which does: stretches of operators are cut as in `other`, any other plan,
/// as long as that saves time and fits.
[[nodiscard]] Found mixed(const CostTables& tables, Found found, const Found& other, const Capacity& capacity);

/// The overlapped search for latency + lambda x bytes, with about the least lambda for which what it finds fits, mixed
/// with what other lambdas find. Where nothing fits, what holds the least. The cost is the latency alone. The tables
/// are as before at the end.
[[nodiscard]] Found search_that_fits(CostTables& tables, std::int64_t layers, const Capacity& capacity);

}  // namespace tessera::strategy::primepar
