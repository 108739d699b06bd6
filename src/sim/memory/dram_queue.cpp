#include "sim/memory/dram_queue.hpp"

#include <algorithm>
#include <bit>

namespace tessera::sim {

DramQueue::DramQueue(const ChannelSpec& spec) : spec_(spec), banks_(spec.banks) {}

void DramQueue::push(const MemoryRequest& request, Time now, Banks& banks) {
  const DramPlace place = dram_place(spec_, request.place);
  Bank& bank = banks_[place.bank];
  bank.waiting.push_back({request, entered_++, taken_ + occupancy_, place.row});
  occupancy_ += bursts_of(request.bytes);
  used_ |= std::uint64_t{1} << place.bank;
  if (bank.waiting.size() > 1) return;  // the plan holds: its bank has chosen, and others are older
  plan_.start = never;
  choose(place.bank, now, banks);
}

/// The bank turns to its oldest request to the open row, or opens the row of
/// its oldest one.
void DramQueue::choose(std::uint32_t number, Time now, Banks& banks) {
  Bank& bank = banks_[number];
  const auto open = [&](const Entry& entry) { return banks.is_open({number, entry.row}); };
  const auto hit = std::find_if(bank.waiting.begin(), bank.waiting.end(), open);
  if (hit != bank.waiting.end()) {
    bank.chosen = static_cast<std::size_t>(hit - bank.waiting.begin());
    return;
  }
  open_oldest(number, now, banks);
}

void DramQueue::open_oldest(std::uint32_t number, Time now, Banks& banks) {
  Bank& bank = banks_[number];
  bank.chosen = 0;
  bank.opened = true;
  banks.open({number, bank.waiting.front().row}, now);
}

std::uint32_t DramQueue::oldest() const {
  std::uint32_t oldest = 0;
  std::uint64_t age = ~std::uint64_t{0};
  for (std::uint64_t left = used_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
    if (banks_[number].waiting.front().age >= age) continue;
    age = banks_[number].waiting.front().age;
    oldest = number;
  }
  return oldest;
}

// Nothing overtakes a younger request without overtaking the oldest one: no
// other can have been overtaken by more.
DramQueue::Next DramQueue::plan(Time now, Banks& banks) {
  const std::uint32_t first = oldest();
  Bank& waits = banks_[first];
  if (taken_ >= waits.waiting.front().due + spec_.max_bypass) {
    if (waits.chosen != 0) open_oldest(first, now, banks);
    return {first, banks.earliest(first, waits.waiting.front().request.op)};
  }
  Next best;
  std::uint64_t age = 0;
  for (std::uint64_t left = used_; left != 0; left &= left - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(left));
    const Entry& entry = banks_[number].waiting[banks_[number].chosen];
    const Time start = std::max(now, banks.earliest(number, entry.request.op));
    if (start > best.start || (start == best.start && entry.age > age)) continue;
    best = {number, start};
    age = entry.age;
  }
  return best;
}

DramQueue::Taken DramQueue::take(const Next& next, Time now, Banks& banks) {
  plan_.start = never;
  Bank& bank = banks_[next.bank];
  Taken taken{bank.waiting[bank.chosen].request, {}};
  bank.waiting.erase(bank.waiting.begin() + static_cast<std::ptrdiff_t>(bank.chosen));
  const std::uint32_t bursts = bursts_of(taken.request.bytes);
  taken.served = banks.serve(next.bank, taken.request.op, bursts, next.start);
  occupancy_ -= bursts;
  taken_ += bursts;
  row_hits_ += bank.opened ? 0 : 1;
  bank.opened = false;
  if (bank.waiting.empty()) {
    used_ &= ~(std::uint64_t{1} << next.bank);
  } else {
    choose(next.bank, now, banks);
  }
  return taken;
}

}  // namespace tessera::sim
