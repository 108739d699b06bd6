// p_u of Algorithm 1: how likely a node is put on each of the chips that its domain has left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chip_set.hpp"

namespace tessera::strategy::mcm {

/// A distribution over chips for each node. Draws cost as much as the domain has members, no more.
class Distribution {
 public:
  /// 1 / C each: the paper's random search.
  [[nodiscard]] static Distribution uniform() { return {}; }
  /// weights[node * chips + chip], of any sum; the caller keeps them. Where a domain has no weight, all its chips are
  /// as likely. InputError for another size than nodes x chips, and for a weight that is negative or no number.
  [[nodiscard]] static Distribution weights(std::span<const float> weights, std::uint32_t nodes, std::uint32_t chips);
  /// Normal of `sigma` chips round each node's centre (in chips, 0 is the middle of chip 0), taken at the middles of
  /// the chips. Centres are rounded to 1/64 chip. Far from its centre a node goes to the nearest chip. InputError
  /// unless sigma > 0 and centres are numbers.
  [[nodiscard]] static Distribution normal(const std::vector<double>& centres, double sigma, std::uint32_t chips);

  /// InputError unless it is one of that many nodes over that many chips. A uniform one fits all.
  void check(std::uint32_t nodes, std::uint32_t chips) const;
  /// Of a domain that is not empty; a function of the 64 random bits.
  [[nodiscard]] ChipId draw(NodeId node, const ChipSet& domain, std::uint64_t bits) const;

 private:
  [[nodiscard]] ChipId draw_normal(NodeId node, const ChipSet& domain, std::uint64_t bits) const;

  std::span<const float> weights_;
  std::size_t nodes_ = 0;
  std::uint32_t chips_ = 0;            // 0: uniform
  std::vector<std::int32_t> centres_;  // in 1/64 chip; empty: not normal
  std::vector<float> by_distance_;     // weight by distance in 1/64 chip
};

/// Of each node the middle of its share of the time, in chips: C (t before it + t / 2) / t of all - 1/2, nodes one
/// after another in topological order. Where no node takes time all count alike.
[[nodiscard]] std::vector<double> centres_by_time(const Problem& problem, std::span<const double> times);

}  // namespace tessera::strategy::mcm
