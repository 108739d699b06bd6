// Where the blocks of a GEMM lie in memory.
#include <catch2/catch.hpp>

#include <set>

#include "gpu_shapes.hpp"
#include "sim/gpu/gemm_layout.hpp"

using namespace tessera;
using sim::GemmLayout;
using sim::MemoryBlocks;
using test::gemm;

TEST_CASE("memory layout: the rows of operands and result, by hand") {
  // Tiles of 128 x 256 x 32, 2 B an element, blocks of 256 B. A row of A, 256 elements along k, is 512 B: two blocks. A
  // row of B or of the result, 512 elements, is four; a tile has two of them.
  program::GemmShape shape = gemm(256, 512, 256);
  shape.order = program::TileOrder::column_major;
  const GemmLayout layout(shape, 256);
  const sim::MemoryLayout memory = layout.in_memory(256);
  // A fetch takes 256 B of a row of A, 4 chunks of k: chunk 0 those of rows 0 to 31, chunk 1 of rows 32 to 63.
  CHECK(memory.find(layout.a_block(0, 0)).first == 0);
  CHECK(memory.find(layout.a_block(0, 0) + 31).first == 31 * 2);
  CHECK(memory.find(layout.a_block(0, 1)).first == 32 * 2);
  CHECK(memory.find(layout.a_block(0, 4)).first == 1);  // the second half of row 0
  CHECK(memory.find(layout.a_block(1, 0)).first == 128 * 2);
  // B begins behind the 256 rows of A. A chunk is 32 rows; tile 2 is in the second column of tiles.
  const std::uint32_t b = 256 * 2;
  CHECK(memory.find(layout.b_block(0, 0) + 1).first == b + 1);
  CHECK(memory.find(layout.b_block(0, 0) + 2).first == b + 4);
  CHECK(memory.find(layout.b_block(2, 1)).first == b + 32 * 4 + 2);
  // The result: tile 1 is below tile 0, tile 2 beside it.
  const std::uint32_t c = b + 256 * 4;
  CHECK(memory.find(layout.c_block(1)).first == c + 128 * 4);
  CHECK(memory.find(layout.c_block(2) + 3).first == c + 4 + 3);
}

TEST_CASE("memory layout: fetches of less than a block take several rows") {
  const GemmLayout layout(gemm(256, 512, 256), 256);
  // Of 128 B: chunk 0 has two rows in each block, of rows 0 to 63; with 64 B four, of all rows.
  const MemoryBlocks two = layout.in_memory(128).find(layout.a_block(0, 0) + 1);
  CHECK((two.count == 2 && two.first == 2 * 2 && two.apart == 2));
  CHECK(layout.in_memory(128).find(layout.a_block(0, 1)).first == 64 * 2);
  const MemoryBlocks four = layout.in_memory(64).find(layout.a_block(0, 1) + 31);
  CHECK((four.count == 4 && four.first == 124 * 2 && four.apart == 2));
}

TEST_CASE("memory layout: all results of an array lie like the first") {
  // 2 x 2 tiles; three results behind each other: each as far from the one before it as the result is large.
  const GemmLayout layout(gemm(256, 512, 256), 256);
  const sim::MemoryLayout memory = layout.in_memory(128, 3);
  const sim::BlockId of_result = 4 * layout.c_blocks();
  const auto at = [&](sim::BlockId block) { return memory.find(layout.c_block(0) + block).first; };
  for (sim::BlockId block = 0; block < of_result; ++block) {
    CHECK(at(of_result + block) - at(block) == of_result);
    CHECK(at(2 * of_result + block) - at(block) == 2 * of_result);
  }
}

TEST_CASE("memory layout: no two blocks are in the same place") {
  for (const bool transposed : {false, true}) {
    for (const auto order : {program::TileOrder::row_major, program::TileOrder::column_major}) {
      for (const std::int64_t granularity : {256, 512, 1024}) {
        program::GemmShape shape = gemm(600, 900, 200);
        shape.a_transposed = shape.b_transposed = transposed;
        shape.order = order;
        const GemmLayout layout(shape, granularity);
        const sim::MemoryLayout memory = layout.in_memory(granularity);
        CAPTURE(transposed, granularity);
        std::set<std::uint32_t> places;
        for (sim::BlockId block = 0; block < 2 * layout.blocks(); ++block) places.insert(memory.find(block).first);
        CHECK(places.size() == 2 * layout.blocks());
      }
    }
  }
}
