// Kernels that are simulated by their work-groups and memory transactions (T3). What runs them: sim/gpu/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/program/address_map.hpp"

namespace tessera::program {

enum class TileOrder : std::uint8_t { row_major, column_major };

/// A tiled GEMM: (m x k) (k x n), each work-group computes one tile of the result. Sizes in elements.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t tile_m = 128;
  std::int64_t tile_n = 256;
  std::int64_t tile_k = 32;
  std::int64_t element = 2;     ///< B
  std::int64_t peak = 0;        ///< FLOP/s of all CUs of the device together, for these elements
  bool a_transposed = false;    ///< stored k x m
  bool b_transposed = false;    ///< stored n x k
  std::int64_t split_k = 1;     ///< work-groups that share a tile, each with a part of k
  std::int64_t wavefronts = 8;  ///< of a work-group; each writes an equal share of the tile's rows
  TileOrder order = TileOrder::row_major;

  [[nodiscard]] std::int64_t tile_rows() const { return (m + tile_m - 1) / tile_m; }
  [[nodiscard]] std::int64_t tile_columns() const { return (n + tile_n - 1) / tile_n; }
  [[nodiscard]] std::int64_t tiles() const { return tile_rows() * tile_columns(); }
  [[nodiscard]] std::int64_t output_bytes() const { return m * n * element; }
  [[nodiscard]] std::int64_t flops() const { return 2 * m * n * k; }
  bool operator==(const GemmShape&) const = default;
};

/// What adds updates to what is there (T3, sections 4.3 and 7.4).
enum class Reduction : std::uint8_t {
  near_memory,  ///< the memory, by op-and-store
  atomics,      ///< units at the L2: they read a block, add, and write it
  in_switch,    ///< what several devices store to one is added on its way there; the memory adds the rest
};

/// A GEMM whose output address space may communicate, and whose input may come from others.
struct GemmKernel {
  GemmShape shape;
  std::uint32_t map = 0;        ///< index into address_map_kinds()
  std::uint16_t input_map = 0;  ///< of A by rows of tiles, likewise; "local": all of A is here from the start
  Reduction reduction = Reduction::near_memory;
  std::vector<MapCall> calls;  ///< instead of `map`, where there are any
  std::int64_t dma_tiles = 1;  ///< WF tiles of a DMA command
  std::string arbitration;     ///< of the memory; empty: the device's own
  bool operator==(const GemmKernel&) const = default;

  /// The output address space of one member of the kernel's group.
  [[nodiscard]] AddressMap address_map(std::uint32_t rank, std::uint32_t ranks) const;
  /// Its operand A, the gathered array of one shard of each member (section 7.2); tiles are rows of tiles.
  [[nodiscard]] AddressMap input_address_map(std::uint32_t rank, std::uint32_t ranks) const;
};

/// What a kernel of work-groups that copy does with its array, which is cut into a chunk for each member of its group.
enum class CopyKind : std::uint8_t {
  reduce_scatter,  ///< round the ring, to member r-1 as T3's maps do: a step adds what has come and stores it there
  all_gather,      ///< the same, and adds nothing
  all_to_all,      ///< chunk c is stored to member c
  send,            ///< all of it is stored to member r+1, as between stages of a pipeline
  add,             ///< another array is added to it here: an operation that follows a sum (T3, section 7.6)
};

/// As in labels: "reduce-scatter".
[[nodiscard]] std::string_view name_of(CopyKind kind);

struct CopyKernel {
  std::int64_t bytes = 0;  ///< of the whole array
  CopyKind kind = CopyKind::reduce_scatter;
  /// By DMAs and op-and-stores instead of work-groups. reduce_scatter: one read a step, no last reduction; add: only to
  /// the chunk that a reduce-scatter leaves here, that of member r-1.
  bool near_memory = false;
  bool operator==(const CopyKernel&) const = default;
};

/// What Op::kernel runs. All members of the group run the same kernels of it in the same order.
struct Kernel {
  std::variant<GemmKernel, CopyKernel> work;
  std::uint32_t group_slot = 0;
  std::int64_t cus = 0;  ///< that it gets; 0: all
  /// Kernels of one device run one after the other on one memory; where a study assumes that two do not disturb each
  /// other (T3, section 5.3: ideal overlap), each has a memory of its own: 1, 2, ... beside the device's, 0.
  std::uint32_t memory = 0;
  bool operator==(const Kernel&) const = default;
};
/// Ranks of the group to which member `rank` of `ranks` stores.
[[nodiscard]] std::vector<std::uint32_t> destinations(const Kernel& kernel, std::uint32_t rank, std::uint32_t ranks);

/// So many memories at most.
inline constexpr std::uint32_t kernel_memories = 2;

}  // namespace tessera::program
