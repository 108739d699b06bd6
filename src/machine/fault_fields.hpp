// The kinds of parameters that only faults and hosts have.
#pragma once

#include <memory>

#include "tessera/base/config.hpp"

namespace tessera::machine {

/// The least that a fault may leave of a speed or a bandwidth: what is slower is as good as gone.
inline constexpr double least_share = 1e-6;

/// A share of what is healthy: 0.5 or "50 %", from least_share to 1.
[[nodiscard]] std::unique_ptr<config::detail::FieldBase> share_field(const std::string& key, const std::string& help,
                                                                     config::detail::Access<double> member);
/// Two nodes, by name or by coordinates: ["gpu 0", "gpu 1"] or [[2, 5], [3, 5]]. The array is handed on as it is.
[[nodiscard]] std::unique_ptr<config::detail::FieldBase> ends_field(const std::string& key, const std::string& help,
                                                                    config::detail::Access<config::Array> member);

/// Any number of nodes, written as those.
[[nodiscard]] std::unique_ptr<config::detail::FieldBase> nodes_field(const std::string& key, const std::string& help,
                                                                     config::detail::Access<config::Array> member);

}  // namespace tessera::machine
