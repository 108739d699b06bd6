#include "patterns.hpp"

#include <algorithm>

namespace tessera::strategy::primepar {

std::size_t Patterns::Hash::operator()(std::uint32_t number) const {
  std::uint64_t hash = patterns->weights(number);
  for (const std::uint64_t senders : patterns->senders(number)) {
    hash = (hash ^ senders) * 0x9e3779b97f4a7c15u;  // 2^64 / the golden ratio
    hash ^= hash >> 32;
  }
  return hash;
}

bool Patterns::Equal::operator()(std::uint32_t one, std::uint32_t other) const {
  return patterns->weights(one) == patterns->weights(other) &&
         std::ranges::equal(patterns->senders(one), patterns->senders(other));
}

std::uint32_t Patterns::number(Senders senders, std::uint32_t weights) {
  senders_.insert(senders_.end(), senders.begin(), senders.end());
  weights_.push_back(weights);
  return number_of_last();
}

/// Which is forgotten where it was known.
std::uint32_t Patterns::number_of_last() {
  const auto [found, added] = numbers_.insert(static_cast<std::uint32_t>(size() - 1));
  if (!added) {
    weights_.pop_back();
    senders_.resize(senders_.size() - devices_);
  }
  return *found;
}

std::uint32_t Patterns::both(std::uint32_t one, std::uint32_t other) {
  const auto [known, added] = both_.try_emplace(std::uint64_t{one} << 32 | other);
  if (!added) return known->second;
  for (std::size_t to = 0; to < devices_; ++to)
    senders_.push_back(senders_[one * devices_ + to] & senders_[other * devices_ + to]);
  weights_.push_back(product(weights_[one], weights_[other]));
  return known->second = number_of_last();
}

std::uint32_t Patterns::product(std::uint32_t weights, std::uint32_t others) {
  if (weights == 0 || others == 0) return weights + others;
  const auto [found, added] = products_.try_emplace({weights, others}, 0);
  if (added) found->second = new_weights();
  return found->second;
}

}  // namespace tessera::strategy::primepar
