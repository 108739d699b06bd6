// What a CopyKernel does on one GPU, step by step (T3, figures 3, 10 and 13).
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/program/kernel.hpp"

namespace tessera::program {

/// Reads a chunk and puts it somewhere.
struct CopyStep {
  std::uint32_t chunk = 0;
  bool own = true;     ///< reads what this GPU holds, ...
  bool other = false;  ///< ... or what it has received, or adds: both are added
  bool waits = false;  ///< what it has received of the chunk has to be there
  /// Member that it is stored to; this GPU itself: what it holds is replaced, or near memory added to.
  std::uint32_t destination = 0;
  std::uint32_t slot = 0;  ///< by which the destination knows it: its place among what that receives
};

struct CopySteps {
  std::vector<CopyStep> steps;
  bool in_turn = false;  ///< a unit of each at a time; otherwise one step after the other
  /// B by slot that the memory controller gets in all: from others, or to add to what is here.
  std::vector<std::int64_t> expected;
};

/// B of one of the chunks, which differ by at most one.
[[nodiscard]] std::int64_t chunk_bytes(const CopyKernel& kernel, std::uint32_t chunk, std::uint32_t size);
/// Of member `rank` of `size`.
[[nodiscard]] CopySteps copy_steps(const CopyKernel& kernel, std::uint32_t rank, std::uint32_t size);

}  // namespace tessera::program
