#include "redistribution_times.hpp"

#include <algorithm>

namespace tessera::strategy::primepar {

void RedistributionTimes::times(std::size_t held, Time* found) {
  redistributions_.visit_messages(held, [&](std::size_t needed, const Redistributions::Messages& messages) {
    const std::int64_t bytes = element_ * messages.elements;
    const Timed* last = messages.senders < last_.size() ? &last_[messages.senders][size_of(bytes)] : nullptr;
    if (last != nullptr && last->bytes == bytes)
      found[needed] = last->time;
    else if (messages.elements > 0)
      found[needed] = even(messages.senders, bytes);
    else
      found[needed] = uneven(held, needed, redistributions_.senders(messages.senders));
  });
}

Time RedistributionTimes::even(std::uint32_t senders, std::int64_t bytes) {
  Known& alike = known(senders);
  auto found = std::ranges::find(alike.times, bytes, &Timed::bytes);
  if (found == alike.times.end()) found = alike.times.insert(found, {bytes, loads_->time(alike.of_one_byte, bytes)});
  last_[senders][size_of(bytes)] = *found;
  return found->time;
}

Time RedistributionTimes::uneven(std::size_t held, std::size_t needed, const Senders& senders) {
  redistributions_.visit(senders, held, needed, [&](int from, int to, std::int64_t elements) {
    loads_->add(from, to, Bytes{element_ * elements});
  });
  return loads_->take();
}

RedistributionTimes::Known& RedistributionTimes::known(std::uint32_t senders) {
  if (senders >= known_.size()) {
    known_.resize(senders + 1);
    last_.resize(senders + 1);
  }
  Known& found = known_[senders];
  if (!found.of_one_byte.most.empty()) return found;
  const Senders& all = redistributions_.senders(senders);
  for (std::size_t to = 0; to < all.size(); ++to) {
    for (std::uint64_t left = all[to] & ~(std::uint64_t{1} << to); left != 0; left &= left - 1)
      loads_->add(std::countr_zero(left), static_cast<int>(to), Bytes{1});
  }
  found.of_one_byte = loads_->burden();
  return found;
}

}  // namespace tessera::strategy::primepar
