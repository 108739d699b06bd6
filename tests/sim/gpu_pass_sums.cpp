// What passes round the ring leave behind: an integer in each block, added and passed on as the blocks are.
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

machine::GpuSpec gpu(const char* arbitration) {
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
      value = (request.op == MemoryOp::update ? value : 0) + come.at(0);
      come.pop_front();
    }
  }
  void sent(std::uint32_t rank, std::uint32_t to, const sim::KernelBlock& unit, Time) override {
    const BlockId first = BlockId{unit.first} * unit_blocks;
    for (BlockId block = first; block * block_bytes < first * block_bytes + unit.bytes; ++block)
      gpus_[to].come[block].push_back(std::exchange(gpus_[rank].read[block], 0));
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
      const machine::GpuSpec spec = gpu("round-robin");
      const program::RingPass pass{ranks * chunk_blocks * block_bytes, true, near_memory};
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
    const machine::GpuSpec spec = gpu("round-robin");
    REQUIRE(
        test::GpuParts(spec, {program::RingPass{ranks * chunk_blocks * block_bytes, false, false}}, ranks, sums).run());
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
