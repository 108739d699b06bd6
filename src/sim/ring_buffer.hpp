#pragma once

#include <cstddef>
#include <vector>

namespace tessera::sim {

/// A first-in-first-out queue that allocates only where it grows beyond its greatest length so far.
template <class T>
class RingBuffer {
 public:
  RingBuffer() = default;
  RingBuffer(RingBuffer&&) noexcept = default;
  RingBuffer& operator=(RingBuffer&&) noexcept = default;
  /// A copy has no room but for what is in it.
  RingBuffer(const RingBuffer& other) {
    for (std::size_t i = 0; i < other.size_; ++i) push(other.items_[(other.head_ + i) & (other.items_.size() - 1)]);
  }
  RingBuffer& operator=(const RingBuffer& other) { return *this = RingBuffer(other); }
  ~RingBuffer() = default;

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// Must not be empty, nor for pop().
  [[nodiscard]] const T& front() const { return items_[head_]; }
  [[nodiscard]] T& back() { return (*this)[size_ - 1]; }
  /// Counted from the front.
  [[nodiscard]] const T& operator[](std::size_t index) const { return items_[(head_ + index) & (items_.size() - 1)]; }
  [[nodiscard]] T& operator[](std::size_t index) { return items_[(head_ + index) & (items_.size() - 1)]; }

  void push(const T& item) {
    if (size_ == items_.size()) grow();
    items_[(head_ + size_++) & (items_.size() - 1)] = item;
  }
  T pop() {
    const T item = items_[head_];
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 2 : 2 * items_.size());  // a power of two, for the masks
    for (std::size_t i = 0; i < size_; ++i) larger[i] = (*this)[i];
    items_.swap(larger);
    head_ = 0;
  }
  std::vector<T> items_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tessera::sim
