// What a run of the topological order holds on a chip, as far as it is known before the nodes' order is: weights, and
// buffers for what comes in and goes out.
#pragma once

#include <cstdint>
#include <vector>

#include "../package.hpp"

namespace tessera::strategy::mcm {

/// One segment at a time, which grows at its end.
class SegmentMemory {
 public:
  /// `order`: nodes of the problem. Both outlive this.
  SegmentMemory(const Package& package, const std::vector<NodeId>& order);

  /// An empty segment, from the node at this place on.
  void begin(std::size_t place);
  /// B of the segment with the node at the next place, which is added.
  std::int64_t after_adding(std::size_t place);

 private:
  const Package& package_;
  const std::vector<NodeId>& order_;
  std::vector<std::size_t> last_read_;  // by tensor: place of the last node that reads it
  std::vector<std::uint32_t> seen_;     // by tensor: in which segment it was counted
  std::vector<std::size_t> place_made_;
  std::vector<std::vector<workload::TensorId>> leaving_at_;  // by place: tensors whose last reader stands there
  std::uint32_t segment_ = 1;
  std::size_t begin_ = 0;
  std::int64_t weights_ = 0, received_ = 0, open_ = 0;
};

}  // namespace tessera::strategy::mcm
