// Lists of candidates whose names are long and mostly alike.
#pragma once

#include <string>
#include <vector>

namespace tessera::results {

/// Names that are lists of parts, "tensor 8, pipeline 2, sequence_parallel".
struct ListedNames {
  std::string common;            ///< parts that all of several names have; empty: none, or names are whole
  std::vector<std::string> own;  ///< the others; "-" where there is none
};
/// Names with braces are no lists of parts: these stay whole, and so do equal ones.
[[nodiscard]] ListedNames listed_names(const std::vector<std::string>& names);

}  // namespace tessera::results
