// What kernels that copy leave behind: an integer in each block, added and passed on as the blocks are.
#include <catch2/catch.hpp>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "gpu_parts.hpp"

using namespace tessera;
using sim::BlockId;
using sim::MemoryOp;

namespace {

constexpr std::int64_t block_bytes = 256;
constexpr std::uint32_t unit_blocks = 4;

machine::GpuSpec copying_gpu(const char* arbitration) {
  machine::GpuSpec spec;
  spec.granularity = block_bytes;
  spec.copy_block = unit_blocks * block_bytes;
  spec.outstanding = 3 * spec.copy_block;
  spec.cus = 2;
  spec.channels = 4;
  spec.l2_capacity = 64 << 10;
  spec.arbitration = arbitration;
  return spec;
}

/// A GPU's memory, by block: what it holds, and behind it, in the same order, what it receives. Whatever is read is
/// added up, block by block, until it is sent or stored.
class PassSums final : public test::GpuWatcher {
 public:
  /// 10^rank and the block's number in each block, so that no two sums are alike.
  PassSums(std::uint32_t ranks, BlockId blocks) : blocks_(blocks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      gpus_.emplace_back();
      gpus_.back().read.assign(blocks, 0);
      for (BlockId block = 0; block < blocks; ++block) gpus_.back().memory.push_back(own(rank, block));
      gpus_.back().memory.resize(2 * blocks, 0);
    }
  }
  /// What is added: the block's number and the rank in a decimal place of their own.
  void lay_out_residual() {
    for (std::uint32_t rank = 0; rank < gpus_.size(); ++rank) {
      for (BlockId block = 0; block < blocks_; ++block) gpus_[rank].memory[blocks_ + block] = residual(rank, block);
    }
  }
  [[nodiscard]] static std::int64_t residual(std::uint32_t rank, BlockId block) {
    return 10'000'000 * (rank + 1) + 1'000'000'000 * static_cast<std::int64_t>(block);
  }
  /// What a GPU sends to the one at distance d is its chunk for that one, and place d there.
  bool exchanges = false;
  [[nodiscard]] static std::int64_t own(std::uint32_t rank, BlockId block) {
    std::int64_t power = 1'000;
    for (std::uint32_t i = 0; i < rank; ++i) power *= 10;
    return power + static_cast<std::int64_t>(block);
  }
  [[nodiscard]] std::int64_t held(std::uint32_t rank, BlockId block) const { return gpus_[rank].memory[block]; }
  [[nodiscard]] std::int64_t received(std::uint32_t rank, BlockId block) const {
    return gpus_[rank].memory[blocks_ + block];
  }
  [[nodiscard]] bool all_stored() const {
    for (const One& gpu : gpus_) {
      for (const auto& [block, values] : gpu.come) {
        if (!values.empty()) return false;
      }
    }
    return true;
  }

  void served(std::uint32_t rank, const sim::MemoryRequest& request, Time) override {
    One& gpu = gpus_[rank];
    std::int64_t& value = gpu.memory[request.block];
    std::int64_t& read = gpu.read[request.block % blocks_];
    if (request.op == MemoryOp::read) {
      read += value;
    } else if (request.stream == sim::MemoryStream::compute) {  // the last reduction's
      value = std::exchange(read, 0);
    } else {
      auto& come = gpu.come[request.block % blocks_];
      const bool is_here = come.empty();  // near memory, what this GPU has read
      value = (request.op == MemoryOp::update ? value : 0) + (is_here ? std::exchange(read, 0) : come.at(0));
      if (!is_here) come.pop_front();
    }
  }
  void sent(std::uint32_t rank, std::uint32_t to, const sim::KernelBlock& unit, Time) override {
    const BlockId first = BlockId{unit.first} * unit_blocks;
    const BlockId shift = exchanges ? BlockId{rank} * blocks_ / gpus_.size() : 0;
    for (BlockId block = first; block * block_bytes < first * block_bytes + unit.bytes; ++block)
      gpus_[to].come[block].push_back(std::exchange(gpus_[rank].read[(block + shift) % blocks_], 0));
  }

 private:
  struct One {
    std::vector<std::int64_t> memory;
    std::vector<std::int64_t> read;                    // and not sent or stored yet
    std::map<BlockId, std::deque<std::int64_t>> come;  // and not stored yet
  };
  BlockId blocks_;
  std::vector<One> gpus_;
};

/// Chunks of ten blocks, in three units of which the last one is half full.
constexpr std::uint32_t chunk_blocks = 10;
constexpr std::uint32_t places = 3 * unit_blocks;

}  // namespace

TEST_CASE("a reduce-scatter on its own leaves each chunk's sum with its owner") {
  for (const bool near_memory : {false, true}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      CAPTURE(near_memory, ranks);
      PassSums sums(ranks, BlockId{ranks} * places);
      const machine::GpuSpec spec = copying_gpu("round-robin");
      const program::CopyKernel pass{ranks * chunk_blocks * block_bytes, program::CopyKind::reduce_scatter,
                                     near_memory};
      REQUIRE(test::GpuParts(spec, {pass}, ranks, sums).run());
      CHECK(sums.all_stored());
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        // It sends chunks rank, rank + 1, ... and keeps the one before its own.
        const BlockId first = BlockId{(rank + ranks - 1) % ranks} * places;
        for (BlockId block = first; block < first + chunk_blocks; ++block) {
          std::int64_t expected = 0;
          for (std::uint32_t other = 0; other < ranks; ++other) expected += PassSums::own(other, block);
          REQUIRE(sums.held(rank, block) == expected);
        }
      }
    }
  }
}

TEST_CASE("an all-gather leaves each chunk with all") {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    CAPTURE(ranks);
    PassSums sums(ranks, BlockId{ranks} * places);
    const machine::GpuSpec spec = copying_gpu("round-robin");
    REQUIRE(test::GpuParts(spec,
                           {program::CopyKernel{ranks * chunk_blocks * block_bytes, program::CopyKind::all_gather}},
                           ranks, sums)
                .run());
    CHECK(sums.all_stored());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t chunk = 0; chunk < ranks; ++chunk) {
        for (BlockId block = BlockId{chunk} * places; block < BlockId{chunk} * places + chunk_blocks; ++block) {
          const std::int64_t there = chunk == rank ? sums.held(rank, block) : sums.received(rank, block);
          REQUIRE(there == PassSums::own(chunk, block));
        }
      }
    }
  }
}

TEST_CASE("an all-to-all leaves with each what all have for it; a send, what the member before it has") {
  for (const std::uint32_t ranks : {2U, 3U, 4U}) {
    CAPTURE(ranks);
    const machine::GpuSpec spec = copying_gpu("round-robin");
    const std::int64_t bytes = ranks * chunk_blocks * block_bytes;
    PassSums exchanged(ranks, BlockId{ranks} * places);
    exchanged.exchanges = true;
    REQUIRE(test::GpuParts(spec, {program::CopyKernel{bytes, program::CopyKind::all_to_all}}, ranks, exchanged).run());
    CHECK(exchanged.all_stored());
    PassSums sent(ranks, BlockId{ranks} * places);
    REQUIRE(test::GpuParts(spec, {program::CopyKernel{bytes, program::CopyKind::send}}, ranks, sent).run());
    CHECK(sent.all_stored());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t chunk = 0; chunk < ranks; ++chunk) {
        for (BlockId block = 0; block < chunk_blocks; ++block) {
          const std::uint32_t from = (rank + ranks - chunk) % ranks;  // in place `chunk` is what came so far
          const std::int64_t exchange = chunk == 0 ? 0 : PassSums::own(from, BlockId{rank} * places + block);
          REQUIRE(exchanged.received(rank, BlockId{chunk} * places + block) == exchange);
          REQUIRE(sent.received(rank, BlockId{chunk} * places + block) ==
                  PassSums::own((rank + ranks - 1) % ranks, BlockId{chunk} * places + block));
        }
      }
    }
  }
}

TEST_CASE("an addition: to all of the array by CUs, near memory to the chunk that a reduce-scatter leaves") {
  for (const bool near_memory : {false, true}) {
    for (const std::uint32_t ranks : {2U, 3U, 4U}) {
      CAPTURE(near_memory, ranks);
      PassSums sums(ranks, BlockId{ranks} * places);
      sums.lay_out_residual();
      const machine::GpuSpec spec = copying_gpu("round-robin");
      const program::CopyKernel add{ranks * chunk_blocks * block_bytes, program::CopyKind::add, near_memory};
      test::GpuParts parts(spec, {add}, ranks, sums);
      REQUIRE(parts.run());
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        CHECK(parts.kernel(rank).bytes_received() == 0);
        for (std::uint32_t chunk = 0; chunk < ranks; ++chunk) {
          const bool is_added = !near_memory || chunk == (rank + ranks - 1) % ranks;
          for (BlockId block = BlockId{chunk} * places; block < BlockId{chunk} * places + chunk_blocks; ++block)
            REQUIRE(sums.held(rank, block) ==
                    PassSums::own(rank, block) + (is_added ? PassSums::residual(rank, block) : 0));
        }
      }
    }
  }
}
