// The nodes of one rank as steps of strategy `script`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "chakra_order.hpp"

namespace tessera::experiment::importing {

/// What all ranks of a job share.
struct ChakraJob {
  std::int64_t ranks = 0;
  std::map<std::string, std::vector<std::int64_t>> groups;  ///< by process group: who uses it; "" is all
  /// Of messages from one rank to another a channel for each tag.
  std::map<std::int64_t, std::int64_t> channels;
  bool by_shift = false;  ///< partners by their distance, which is the same on all ranks
};
/// What the group is called in the script.
[[nodiscard]] std::string group_name(const std::string& process_group);
/// The process group of a collective.
[[nodiscard]] std::string process_group_of(const ChakraNode& node);

/// TOML of each step, without `devices`. A stream for what computes, one for each process group, one for each partner
/// and direction; what waits for a node of another stream waits for its signal. What cannot be said is refused.
[[nodiscard]] std::vector<std::string> steps_of(const ChakraTrace& trace, const std::vector<OrderedNode>& order,
                                                const ChakraJob& job, config::Diagnostics& diagnostics);

}  // namespace tessera::experiment::importing
