// Which devices send to which, in numbers: what is the same for millions of pairs of partitions.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tessera::strategy::primepar {

/// Devices are bits of a mask: 64 of them at most.
inline constexpr int most_searched_bits = 6;

/// By receiver, the devices that send to it: itself among them where it has what it needs.
using Senders = std::span<const std::uint64_t>;

/// Different ones by number: by whom who sends, and whether each message has as many elements.
class Patterns {
 public:
  explicit Patterns(std::size_t devices) : devices_(devices), numbers_(0, Hash{this}, Equal{this}) {}
  Patterns(const Patterns&) = delete;
  Patterns& operator=(const Patterns&) = delete;

  [[nodiscard]] std::size_t size() const { return weights_.size(); }
  [[nodiscard]] Senders senders(std::uint32_t number) const { return {&senders_[number * devices_], devices_}; }
  /// 0: each message has as many elements; else a number for how they differ.
  [[nodiscard]] std::uint32_t weights(std::uint32_t number) const { return weights_[number]; }
  [[nodiscard]] std::uint32_t number(Senders senders, std::uint32_t weights = 0);
  /// For messages that differ as no others do.
  [[nodiscard]] std::uint32_t new_weights() { return ++last_weights_; }
  /// The messages that are in both, with the product of their elements.
  [[nodiscard]] std::uint32_t both(std::uint32_t one, std::uint32_t other);

 private:
  struct Hash {
    const Patterns* patterns;
    std::size_t operator()(std::uint32_t number) const;
  };
  struct Equal {
    const Patterns* patterns;
    bool operator()(std::uint32_t one, std::uint32_t other) const;
  };
  [[nodiscard]] std::uint32_t number_of_last();
  [[nodiscard]] std::uint32_t product(std::uint32_t weights, std::uint32_t others);

  std::size_t devices_;
  std::vector<std::uint64_t> senders_;  // by pattern and receiver
  std::vector<std::uint32_t> weights_;
  std::unordered_set<std::uint32_t, Hash, Equal> numbers_;
  std::unordered_map<std::uint64_t, std::uint32_t> both_;  // by both numbers
  std::uint32_t last_weights_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> products_;
};

}  // namespace tessera::strategy::primepar
