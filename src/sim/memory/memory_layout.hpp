// Where the blocks of a kernel lie in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/sim/memory/request.hpp"

namespace tessera::sim {

/// A matrix that kernels number by parts of tiles, and that lies in memory by
/// lines, one behind the other: columns, or rows. A part holds the same piece
/// of so many lines. Parts are numbered along the lines first or across them.
/// Several such matrices may follow each other.
struct MatrixPlace {
  std::uint32_t part_blocks = 1;
  std::uint32_t parts = 1;      ///< of a matrix
  std::uint32_t minors = 1;     ///< parts along the side that is numbered first
  bool along_first = true;      ///< ... which is that of the lines
  std::uint32_t run = 1;        ///< blocks of a line's piece, consecutive in memory
  std::uint32_t per_block = 1;  ///< or pieces, of neighbouring parts, that a block of memory holds
  std::uint32_t shared = 1;    ///< of them, pieces that are accessed as one; each of their parts has those of its share
                               ///< of the lines
  std::uint32_t accesses = 1;  ///< to different lines, of a block of a part
  std::uint32_t lines = 1;     ///< of a part
  std::uint32_t line = 1;      ///< blocks of a whole line
  std::uint32_t matrix = 1;    ///< blocks of a whole matrix in memory
};

/// What a block of a kernel is in memory: equal parts of so many blocks.
struct MemoryBlocks {
  std::uint32_t first = 0;
  std::uint32_t apart = 0;
  std::uint32_t count = 1;
};

class MemoryLayout {
 public:
  /// Blocks lie in order of their numbers.
  MemoryLayout() = default;
  /// `blocks` more blocks, behind those so far: a matrix, or several.
  void add(BlockId blocks, const MatrixPlace& place);

  /// In blocks, from the start of memory.
  [[nodiscard]] MemoryBlocks find(BlockId block) const {
    for (const Piece& piece : pieces_) {
      if (block >= piece.end) continue;
      const std::uint32_t first =
          piece.first_address + within(piece.place, static_cast<std::uint32_t>(block - piece.first));
      return {first, piece.place.line, piece.place.accesses};
    }
    return {next_address_ + static_cast<std::uint32_t>(block - end_), 0, 1};
  }

 private:
  struct Piece {
    BlockId first = 0;
    BlockId end = 0;
    std::uint32_t first_address = 0;
    MatrixPlace place;
  };
  [[nodiscard]] static std::uint32_t within(const MatrixPlace& place, std::uint32_t block) {
    const std::uint32_t number = block / place.part_blocks;
    const std::uint32_t of_part = block - number * place.part_blocks;
    const std::uint32_t copy = number / place.parts;
    const std::uint32_t part = number - copy * place.parts;
    const std::uint32_t major = part / place.minors;
    const std::uint32_t minor = part - major * place.minors;
    const std::uint32_t along = place.along_first ? minor : major;
    const std::uint32_t across = place.along_first ? major : minor;
    const std::uint32_t of_line = of_part / place.run;
    const std::uint32_t share = along % place.shared * (place.lines / place.shared);
    const std::uint32_t line = across * place.lines + share + of_line * place.accesses;
    return copy * place.matrix + line * place.line + along / place.per_block * place.run + of_part -
           of_line * place.run;
  }

  std::vector<Piece> pieces_;
  BlockId end_ = 0;                 // of the blocks of all pieces
  std::uint32_t next_address_ = 0;  // behind them
};

}  // namespace tessera::sim
