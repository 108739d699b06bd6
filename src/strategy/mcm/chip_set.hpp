// A set of chips: the domain of a node.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "problem.hpp"

namespace tessera::strategy::mcm {

class ChipSet {
 public:
  static constexpr std::size_t words = max_chips / 64;

  [[nodiscard]] static ChipSet of(std::uint32_t chip) {
    ChipSet set;
    set.insert(chip);
    return set;
  }
  /// first .. last, both included.
  [[nodiscard]] static ChipSet range(std::uint32_t first, std::uint32_t last) {
    ChipSet set;
    for (std::uint32_t word = first / 64; word <= last / 64; ++word) set.words_[word] = ~std::uint64_t{0};
    set.words_[first / 64] &= ~std::uint64_t{0} << (first % 64);
    set.words_[last / 64] &= ~std::uint64_t{0} >> (63 - last % 64);
    return set;
  }

  void insert(std::uint32_t chip) { words_[chip / 64] |= std::uint64_t{1} << (chip % 64); }
  void erase(std::uint32_t chip) { words_[chip / 64] &= ~(std::uint64_t{1} << (chip % 64)); }
  [[nodiscard]] bool contains(std::uint32_t chip) const { return ((words_[chip / 64] >> (chip % 64)) & 1U) != 0; }
  [[nodiscard]] std::uint64_t& word(std::size_t index) { return words_[index]; }
  [[nodiscard]] std::uint64_t word(std::size_t index) const { return words_[index]; }

  [[nodiscard]] bool empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  [[nodiscard]] std::uint32_t size() const {
    std::uint32_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::uint32_t>(std::popcount(word));
    return count;
  }
  /// Of a set that is not empty.
  [[nodiscard]] std::uint32_t first() const {
    std::uint32_t index = 0;
    while (words_[index] == 0) ++index;
    return 64 * index + static_cast<std::uint32_t>(std::countr_zero(words_[index]));
  }
  [[nodiscard]] std::uint32_t last() const {
    std::uint32_t index = words - 1;
    while (words_[index] == 0) --index;
    return 64 * index + 63 - static_cast<std::uint32_t>(std::countl_zero(words_[index]));
  }
  /// The member with this many smaller ones; rank < size().
  [[nodiscard]] std::uint32_t member(std::uint32_t rank) const {
    for (std::uint32_t index = 0;; ++index) {
      std::uint64_t rest = words_[index];
      const auto count = static_cast<std::uint32_t>(std::popcount(rest));
      if (rank >= count) {
        rank -= count;
        continue;
      }
      for (; rank > 0; --rank) rest &= rest - 1;
      return 64 * index + static_cast<std::uint32_t>(std::countr_zero(rest));
    }
  }
  /// visit(chip) of each, ascending.
  template <class Visit>
  void for_each(const Visit& visit) const {
    for (std::uint32_t index = 0; index < words; ++index) {
      for (std::uint64_t rest = words_[index]; rest != 0; rest &= rest - 1)
        visit(64 * index + static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }

  friend ChipSet operator&(const ChipSet& a, const ChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
  }
  friend ChipSet operator|(const ChipSet& a, const ChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x | y; });
  }
  /// Without the members of b.
  friend ChipSet operator-(const ChipSet& a, const ChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & ~y; });
  }
  friend bool operator==(const ChipSet&, const ChipSet&) = default;

 private:
  template <class Operation>
  static ChipSet combine(const ChipSet& a, const ChipSet& b, const Operation& operation) {
    ChipSet result;
    for (std::size_t index = 0; index < words; ++index)
      result.words_[index] = operation(a.words_[index], b.words_[index]);
    return result;
  }

  std::array<std::uint64_t, words> words_{};
};

}  // namespace tessera::strategy::mcm
