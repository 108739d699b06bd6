#include "redistribution_times.hpp"

namespace tessera::strategy::primepar {

std::vector<Time> RedistributionTimes::times(std::size_t held) {
  const std::vector<Redistributions::Messages> messages = redistributions_.messages(held);
  std::vector<Time> found;
  found.reserve(messages.size());
  for (std::size_t needed = 0; needed < messages.size(); ++needed) {
    const auto& [senders, elements] = messages[needed];
    if (elements == 0) {
      found.push_back(uneven(held, needed, redistributions_.senders(senders)));
      continue;
    }
    Known& alike = known(senders);
    const std::int64_t bytes = element_ * elements;
    auto time = alike.times.begin();
    while (time != alike.times.end() && time->first != bytes) ++time;
    if (time == alike.times.end()) time = alike.times.insert(time, {bytes, loads_->time(alike.of_one_byte, bytes)});
    found.push_back(time->second);
  }
  return found;
}

Time RedistributionTimes::uneven(std::size_t held, std::size_t needed, const Senders& senders) {
  redistributions_.visit(senders, held, needed, [&](int from, int to, std::int64_t elements) {
    loads_->add(from, to, Bytes{element_ * elements});
  });
  return loads_->take();
}

RedistributionTimes::Known& RedistributionTimes::known(std::uint32_t senders) {
  if (senders >= known_.size()) known_.resize(senders + 1);
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
