#include "sim/laws/fold/ties.hpp"

#include <algorithm>

namespace tessera::sim {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

}  // namespace

PossibleTies::PossibleTies(const Fold& fold, const NetworkTables& tables)
    : fold_(&fold), tables_(&tables), contested_of_(tables.components(), none), coming_(fold.contested().size()) {
  for (std::uint32_t i = 0; i < fold.contested().size(); ++i) contested_of_[fold.contested()[i].at] = i;
}

void PossibleTies::comes(pdes::ComponentId at, pdes::ComponentId source, Time now) {
  if (any_ || contested_of_[at] == none) return;
  PacketTimes once;
  once.base = once.last = now;
  once.count = 1;
  comes(at, now, {source, {}, 0, once});
}

// The port itself takes turns with all of them: it is busy until one of them comes, or with messages of its device.
void PossibleTies::come(pdes::ComponentId at, pdes::ComponentId source, Time now, const Segment& segment,
                        pdes::ComponentId meets) {
  if (any_ || contested_of_[at] == none) return;
  comes(at, now, {source, segment.name, segment.generation, segment.times});
  any_ = any_ || is_critical(at, at, source) || (meets != nobody && is_critical(at, meets, source));
}

void PossibleTies::comes(pdes::ComponentId at, Time now, const Coming& one) {
  retire(at, now);
  coming_[contested_of_[at]].push_back(one);
}

// What has come whole is compared with all that was there meanwhile: by then everybody knows of what was taken back.
void PossibleTies::retire(pdes::ComponentId at, Time now) {
  std::vector<Coming>& coming = coming_[contested_of_[at]];
  const auto is_over = [now](const Coming& one) { return one.times.last < now; };
  for (std::size_t i = 0; i < coming.size() && !any_; ++i)
    for (std::size_t j = 0; j < coming.size() && !any_ && is_over(coming[i]); ++j)
      any_ = i != j && is_critical(at, coming[i].source, coming[j].source) && may_tie(coming[i].times, coming[j].times);
  std::erase_if(coming, is_over);
}

bool PossibleTies::any(Time before) {
  for (const Fold::Contested& contested : fold_->contested()) {
    if (any_) break;
    std::vector<Coming>& coming = coming_[contested_of_[contested.at]];
    const std::vector<Coming> all = coming;
    for (Coming& one : coming) {
      const Rate& speed = tables_->rate(one.times.rate);
      one.times.truncate(one.times.until(before - 1, speed), speed, tables_->packet());
      if (one.times.count == 0) one.times.last = -1;
    }
    retire(contested.at, before);
    coming = all;
  }
  return any_;
}

void PossibleTies::amended(pdes::ComponentId at, const Amend& amend) {
  if (any_ || contested_of_[at] == none) return;
  for (Coming& one : coming_[contested_of_[at]]) {
    if (one.name != amend.name || one.generation != amend.generation) continue;
    if (amend.packets == 0) one.times.last = -1;
    one.times.truncate(amend.packets, tables_->rate(one.times.rate), tables_->packet());
  }
}

// Whether packets of both may come in the same picosecond.
bool PossibleTies::may_tie(const PacketTimes& a, const PacketTimes& b) const {
  const Rate &speed = tables_->rate(a.rate), &other_speed = tables_->rate(b.rate);
  if (a.last < b.at(0, other_speed) || b.last < a.at(0, speed)) return false;
  const auto comes_at = [](const PacketTimes& times, const Rate& rate, Time time) {
    return times.count == 1 ? times.last == time : times.until(time, rate) > times.until(time - 1, rate);
  };
  if (comes_at(b, other_speed, a.last) || comes_at(a, speed, b.last)) return true;
  if (speed == other_speed && a.stride == b.stride && a.count > 1 && b.count > 1) {
    // Straight lines side by side; two bytes for what is rounded.
    const std::int64_t apart = (speed.within_either(a.base - b.base) + a.offset - b.offset) % a.stride;
    const std::int64_t ahead = apart < 0 ? apart + a.stride : apart;
    return std::min(ahead, a.stride - ahead) <= 2 + speed.within(1);
  }
  const bool is_shorter = a.count < b.count;
  const PacketTimes &few = is_shorter ? a : b, &many = is_shorter ? b : a;
  const Rate &few_speed = is_shorter ? speed : other_speed, &many_speed = is_shorter ? other_speed : speed;
  for (std::uint32_t i = 0; i + 1 < few.count; ++i)
    if (comes_at(many, many_speed, few.at(i, few_speed))) return true;
  return false;
}

bool PossibleTies::is_critical(pdes::ComponentId at, pdes::ComponentId a, pdes::ComponentId b) {
  if (b < a) std::swap(a, b);
  if (fold_->goes_by_ends()) return std::ranges::binary_search(pairs_at(at), std::pair{a, b});
  const auto [known, is_new] = known_.try_emplace({at, a, b});
  if (is_new) known->second = a == b ? links_change_order(at, a) : changes_order(a, b);
  return known->second;
}

bool PossibleTies::changes_order(pdes::ComponentId a, pdes::ComponentId b) const {
  for (std::uint32_t times = 1; times < fold_->order(); ++times)
    if (fold_->shifted(b, times) < fold_->shifted(a, times)) return true;
  return false;
}

// Where one has several links to the component.
bool PossibleTies::links_change_order(pdes::ComponentId at, pdes::ComponentId source) const {
  std::vector<machine::LinkId> links = fold_->contested()[contested_of_[at]].links;
  std::erase_if(links, [&](machine::LinkId link) { return tables_->server(link) != source; });
  for (std::uint32_t times = 1; times < fold_->order(); ++times) {
    const auto place = [&](machine::LinkId link) { return fold_->shifted_link(link, times); };
    if (!std::ranges::is_sorted(links, {}, place)) return true;
  }
  return false;
}

}  // namespace tessera::sim
