// What a fused GEMM computes: matrices of integers go the way of its stores, updates, DMAs and messages, so that the
// sums that the owners end with can be compared with Eigen's, element by element.
#pragma once

#include <Eigen/Core>
#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "gpu_parts.hpp"
#include "sim/gpu/gemm_layout.hpp"

namespace tessera::test {

using Matrix = Eigen::Matrix<std::int64_t, Eigen::Dynamic, Eigen::Dynamic>;

/// The memories of a group of GPUs. What DRAM serves first is there first: what a DMA reads before an update is served,
/// it sends without it.
class GpuSums final : public GpuWatcher {
 public:
  /// GPU r multiplies a[r] and b[r].
  GpuSums(const program::GemmKernel& kernel, std::int64_t granularity, const std::vector<Matrix>& a,
          const std::vector<Matrix>& b);

  /// The output's address space on one GPU.
  [[nodiscard]] const Matrix& memory(std::uint32_t rank) const { return gpus_[rank].memory; }
  /// What came from another GPU for a buffer of its own (all-to-all), and how often each element of it was stored.
  [[nodiscard]] const Matrix& buffer(std::uint32_t rank, std::uint32_t from) const { return gpus_[rank].buffers[from]; }
  [[nodiscard]] const Matrix& stores(std::uint32_t rank, std::uint32_t from) const { return gpus_[rank].stores[from]; }
  /// Messages and updates that were sent and not stored, own stores that are missing or too many.
  [[nodiscard]] std::int64_t left_over() const;
  /// Rows and columns of a tile.
  struct Place {
    Eigen::Index row = 0, column = 0, rows = 0, columns = 0;
  };
  [[nodiscard]] Place place_of(std::uint32_t tile) const;
  [[nodiscard]] Place place_of(std::uint32_t tile, std::uint32_t wavefront) const;

  void served(std::uint32_t rank, const sim::MemoryRequest& request, Time at) override;
  void sent(std::uint32_t rank, std::uint32_t to, const sim::KernelBlock& block, Time leaves) override;
  void came(std::uint32_t rank, std::uint32_t from, const sim::KernelBlock& block, Time now) override;

 private:
  struct Message {
    std::uint32_t from = 0;
    Matrix values;
  };
  struct One {
    program::AddressMap map;
    std::vector<Matrix> parts;  // of the product: by part of k
    Matrix memory;
    Matrix read;                                                        // by DMAs
    std::vector<Matrix> buffers, stores;                                // by sender
    std::map<sim::BlockId, std::int64_t> own;                           // stores so far
    std::map<std::uint32_t, std::int64_t> sent;                         // by wavefront: of the producer itself
    std::vector<std::deque<Message>> under_way;                         // by sender
    std::map<sim::BlockId, std::deque<std::shared_ptr<Message>>> come;  // and not stored yet
  };
  /// A block of the result: in which tile and wavefront, and where in it.
  struct Piece {
    std::uint32_t tile = 0, wavefront = 0, index = 0;
  };

  [[nodiscard]] Piece piece_of(sim::BlockId block) const;
  [[nodiscard]] const program::Region& region_of(std::uint32_t rank, std::uint32_t tile) const;
  /// visit(row, column) of its elements, in the whole matrix.
  template <class Visit>
  void for_each_element(const sim::MemoryRequest& request, Visit&& visit) const;
  void store_own(One& gpu, const sim::MemoryRequest& request);
  void store_come(One& gpu, const sim::MemoryRequest& request, bool counted);

  program::GemmShape shape_;
  std::int64_t granularity_;
  sim::GemmLayout layout_;
  std::vector<One> gpus_;
};

}  // namespace tessera::test
