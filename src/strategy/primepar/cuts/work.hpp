// What a device of a partitioned operator computes and sums: the same for the program that is simulated and for the
// costs that a search adds up.
#pragma once

#include <cstdint>
#include <vector>

#include "cut_graph.hpp"

namespace tessera::strategy::primepar {

/// Elements of a tensor's slice on a device.
[[nodiscard]] std::int64_t elements(const Slices& slices, const Moment& moment, int device);
/// A device's share of something that the whole of O takes, in bytes.
[[nodiscard]] std::int64_t share_of(const Slices& slices, int device, std::int64_t whole);

/// The product of a phase in one step. From the second step on, and into the gradient buffer, it is added to what is
/// there.
[[nodiscard]] workload::Operator product_on(const Slices& slices, int device, Phase phase, int step,
                                            const std::string& datatype);
/// A node's other operators.
[[nodiscard]] std::vector<workload::Operator> streams_on(const Node& node, const Slices& slices, int device,
                                                         Phase phase);
/// Adds sums that have come to those that are here.
[[nodiscard]] workload::Operator addition(const Operator& op, std::int64_t bytes, const std::string& datatype);

/// B of W's slice, with all that stands beside each element (a norm's gain and bias); 0 where W is an activation.
[[nodiscard]] std::int64_t parameter_bytes(const Node& node, const Slices& slices, int device, std::int64_t element);
/// B of I's slice as the forward phase begins with it.
[[nodiscard]] std::int64_t input_bytes(const Slices& slices, int device, std::int64_t element);
/// B that stay from a node's forward to its gradient phase.
[[nodiscard]] std::int64_t kept_bytes(const Node& node, const Slices& slices, int device, std::int64_t element);

/// B beside what a phase's steps work on: what comes for the next one, or, as W on its way home, for the next
/// iteration.
[[nodiscard]] std::int64_t second_buffer_bytes(const CutNode& cut, Phase phase, int device, std::int64_t element);

/// B that enter the all-reduce at the end of a phase, ...
[[nodiscard]] std::int64_t summed_bytes(const Node& node, const Slices& slices, int device, Phase phase,
                                        std::int64_t element);
/// ... and that of the statistics: two FP32 sums a token.
inline constexpr std::int64_t statistics_element = 4;
[[nodiscard]] std::int64_t statistics_bytes(const Slices& slices, int device);

}  // namespace tessera::strategy::primepar
