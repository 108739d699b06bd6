// A set of chips: the domain of a node.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "problem.hpp"

namespace tessera::strategy::mcm {

/// Chips 0 .. 64 size_in_words - 1. Solvers with a domain a node take as few words as the package needs.
template <std::size_t size_in_words>
class BasicChipSet {
 public:
  static constexpr std::uint32_t words = size_in_words;

  [[nodiscard]] static BasicChipSet of(std::uint32_t chip) {
    BasicChipSet set;
    set.insert(chip);
    return set;
  }
  /// first .. last, both included.
  [[nodiscard]] static BasicChipSet range(std::uint32_t first, std::uint32_t last) {
    BasicChipSet set;
    for (std::uint32_t word = first / 64; word <= last / 64; ++word) set.words_[word] = ~std::uint64_t{0};
    set.words_[first / 64] &= ~std::uint64_t{0} << (first % 64);
    set.words_[last / 64] &= ~std::uint64_t{0} >> (63 - last % 64);
    return set;
  }
  /// The members that this size has room for.
  template <std::size_t other_words>
  [[nodiscard]] static BasicChipSet from(const BasicChipSet<other_words>& other) {
    BasicChipSet set;
    for (std::uint32_t word = 0; word < std::min(words, other.words); ++word) set.words_[word] = other.word(word);
    return set;
  }

  void insert(std::uint32_t chip) { words_[chip / 64] |= std::uint64_t{1} << (chip % 64); }
  void erase(std::uint32_t chip) { words_[chip / 64] &= ~(std::uint64_t{1} << (chip % 64)); }
  [[nodiscard]] bool contains(std::uint32_t chip) const { return ((words_[chip / 64] >> (chip % 64)) & 1U) != 0; }
  [[nodiscard]] std::uint64_t word(std::size_t index) const { return words_[index]; }

  [[nodiscard]] bool empty() const {
    std::uint64_t any = 0;
    for (const std::uint64_t word : words_) any |= word;
    return any == 0;
  }
  [[nodiscard]] std::uint32_t size() const {
    std::uint32_t count = 0;
    for (const std::uint64_t word : words_) count += static_cast<std::uint32_t>(std::popcount(word));
    return count;
  }
  /// Exactly one member; the set is not empty.
  [[nodiscard]] bool is_single() const {
    std::uint64_t seen = 0, more = 0;
    for (const std::uint64_t word : words_) {
      more |= (word & (word - 1)) | (word != 0 ? seen : 0);
      seen |= word;
    }
    return more == 0;
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

  /// Each member's next chip, and the one before; without those that there is no room for.
  [[nodiscard]] BasicChipSet up() const {
    BasicChipSet set;
    for (std::uint32_t index = 0; index < words; ++index)
      set.words_[index] = words_[index] << 1U | (index > 0 ? words_[index - 1] >> 63U : 0);
    return set;
  }
  [[nodiscard]] BasicChipSet down() const {
    BasicChipSet set;
    for (std::uint32_t index = 0; index < words; ++index)
      set.words_[index] = words_[index] >> 1U | (index + 1 < words ? words_[index + 1] << 63U : 0);
    return set;
  }

  friend BasicChipSet operator&(const BasicChipSet& a, const BasicChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & y; });
  }
  friend BasicChipSet operator|(const BasicChipSet& a, const BasicChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x | y; });
  }
  /// Without the members of b.
  friend BasicChipSet operator-(const BasicChipSet& a, const BasicChipSet& b) {
    return combine(a, b, [](std::uint64_t x, std::uint64_t y) { return x & ~y; });
  }
  friend bool operator==(const BasicChipSet&, const BasicChipSet&) = default;

 private:
  template <class Operation>
  static BasicChipSet combine(const BasicChipSet& a, const BasicChipSet& b, const Operation& operation) {
    BasicChipSet result;
    for (std::size_t index = 0; index < words; ++index)
      result.words_[index] = operation(a.words_[index], b.words_[index]);
    return result;
  }

  std::array<std::uint64_t, words> words_{};
};

using ChipSet = BasicChipSet<max_chips / 64>;

}  // namespace tessera::strategy::mcm
