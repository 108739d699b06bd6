// Which rank simulates which component.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/pdes/model.hpp"

namespace tessera::pdes {

/// rank_of[c] is the rank of component c; nowhere: it is not simulated, and nobody sends it anything.
struct Partition {
  static constexpr std::uint16_t nowhere = 0xFFFF;
  int ranks = 1;
  std::vector<std::uint16_t> rank_of;
};

/// Cuts a model by weight and keeps groups whole. Kinds: "block" (consecutive ids), "tile" (rectangles, needs
/// positions), "metis" (least cut), "auto" (tile with positions, block for groups in id order, else METIS). Throws
/// InputError: more ranks than groups, a kind that does not exist or does not fit, and a link of zero latency between
/// components of different groups (it could be split; named by the model's names, on any rank count).
[[nodiscard]] Partition make_partition(const ModelGraph& model, int ranks, const std::string& kind);
[[nodiscard]] std::vector<std::string> partition_kinds();

}  // namespace tessera::pdes
