// Units as people write them: which are the same as those of the lists, and which may have been meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

/// The unit as the lists have it, where it is written in another way that can mean nothing else: "Gbps", "Gbit/s" are
/// "Gb/s", "GBps" is "GB/s", and a micro sign is a u. All else as it is.
[[nodiscard]] std::string respelled(std::string_view unit);

/// Those of the list that a unit which is not in it may have meant, such as `"GB/s" or "Gb/s"` of "gb/s"; empty where
/// that cannot be said. Never one of another prefix, and never bytes for what are bits for certain.
[[nodiscard]] std::string units_meant(std::string_view unit, const std::vector<std::string>& known);

}  // namespace tessera::config
