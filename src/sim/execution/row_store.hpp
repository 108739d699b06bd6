// Rows that are written one after the other and handed over once, at the end.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::sim {

/// In chunks: a row stays where it is written, and the room of those that are handed over is given back at once. A
/// vector would be copied each time it grows, and be there twice when its rows become part of the results.
template <class Row>
class RowStore {
 public:
  Row& emplace_back() {
    if (chunks_.empty() || chunks_.back().size() == chunks_.back().capacity()) {
      const std::size_t more = std::clamp(size(), least, most);
      chunks_.emplace_back().reserve(more);
    }
    return chunks_.back().emplace_back();
  }
  [[nodiscard]] Row& back() { return chunks_.back().back(); }
  [[nodiscard]] std::size_t size() const {
    std::size_t rows = 0;
    for (const std::vector<Row>& chunk : chunks_) rows += chunk.size();
    return rows;
  }
  /// Nothing is left.
  void hand_over(std::vector<Row>& to) {
    for (std::vector<Row>& chunk : chunks_) {
      to.insert(to.end(), chunk.begin(), chunk.end());
      chunk = {};
    }
    chunks_.clear();
  }

 private:
  static constexpr std::size_t least = 16, most = 4096;  // rows of a chunk
  std::vector<std::vector<Row>> chunks_;
};

}  // namespace tessera::sim
