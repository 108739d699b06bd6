#include "sim/laws/rings/way_facts.hpp"

#include <algorithm>
#include <utility>

#include "sim/laws/rings/trial_ports.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

constexpr std::size_t most_bursts = 4096, most_in_burst = 8;  // that are kept, for ways of one kind

}  // namespace

std::vector<BusyPeriod> Passage::busy_since(Time first) const {
  std::vector<BusyPeriod> busy = after;
  for (BusyPeriod& one : busy) one.start = time_after(one.start, first);
  return busy;
}

WayFacts::WayFacts(const NetworkTables& tables, std::vector<machine::LinkId> links)
    : tables_(&tables), links_(std::move(links)) {
  latest_.fill({Key{}, none});
  Time latency = 0;
  for (const machine::LinkId link : links_) {
    latencies_.push_back(latency);
    latency = time_after(latency, tables.link(link).latency.value());
  }
}

std::uint32_t WayFacts::size_of(std::int64_t bytes) {
  const auto known = std::find_if(lone_.begin(), lone_.end(), [bytes](const Lone& one) { return one.bytes == bytes; });
  if (known != lone_.end()) return static_cast<std::uint32_t>(known - lone_.begin());
  lone_.push_back({bytes, pass({{0, bytes}})});
  return static_cast<std::uint32_t>(lone_.size() - 1);
}

std::uint32_t WayFacts::behind(std::uint32_t burst, Time at, std::uint32_t size) {
  const Key key{burst, at, size};
  const std::uint32_t known = find_burst(key);
  return known != none ? known : add_burst(key, bursts_[burst].posted);
}

std::uint32_t WayFacts::behind_lone(std::uint32_t lone, Time at, std::uint32_t size) {
  const Key key{~lone, at, size};
  const std::uint32_t known = find_burst(key);
  return known != none ? known : add_burst(key, {{0, bytes(lone)}});
}

// Most are those that were looked for last.
std::uint32_t WayFacts::find_burst(const Key& key) {
  const auto [before, at, size] = key;
  const std::uint64_t mixed = (static_cast<std::uint64_t>(at) + before + size) * 0x9e3779b97f4a7c15U;
  auto& [latest, number] = latest_[mixed >> (64 - latest_bits)];
  if (latest != key || number == none) {
    const auto known = burst_of_.find(key);
    if (known == burst_of_.end()) return none;
    latest = key;
    number = known->second;
  }
  return number;
}

std::uint32_t WayFacts::add_burst(const Key& key, const std::vector<PostedMessage>& before) {
  if (bursts_.size() == most_bursts || before.size() == most_in_burst) return none;
  Burst burst{before, {}};
  burst.posted.push_back({std::get<1>(key), bytes(std::get<2>(key))});
  burst.passage = pass(burst.posted);
  bursts_.push_back(std::move(burst));
  const auto number = static_cast<std::uint32_t>(bursts_.size() - 1);
  burst_of_.emplace(key, number);
  return number;
}

Passage WayFacts::pass(const std::vector<PostedMessage>& posted) const {
  TrialPorts ports(*tables_, links_, std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()), 0);
  Passage passage;
  passage.after.resize(links_.size());
  passage.counts.resize(links_.size());
  passage.delivered = passage.clear = never;
  try {
    passage.delivered = ports.pass(posted, {});
    passage.after = ports.busy();
    passage.counts = ports.counts();
    passage.clear = clear_behind(passage.after);
  } catch (const BeyondTimeError&) {
    // Whoever sends it says so.
  }
  return passage;
}

std::vector<LinkCounts> WayFacts::counts_of(const std::vector<machine::LinkId>& links, Over burst) {
  const auto known = std::ranges::find(over_, burst, &std::pair<Over, std::vector<LinkCounts>>::first);
  if (known != over_.end()) return known->second;
  TrialPorts trial(*tables_, links, burst.before, burst.short_ends, burst.own_left);
  static_cast<void>(trial.pass(burst.posted.all(), {}));
  if (over_.size() == most_over) over_.pop_back();
  over_.emplace_front(std::move(burst), trial.counts());
  return over_.front().second;
}

Time WayFacts::clear_behind(const std::vector<BusyPeriod>& busy) const {
  Time clear = 0;
  for (std::size_t i = 0; i < links_.size(); ++i)
    if (busy[i].bytes > 0) clear = std::max(clear, busy[i].end(tables_->rate(links_[i])) - latencies_[i] + 1);
  return clear;
}

WayFacts& WayTable::of(const std::vector<machine::LinkId>& links) {
  std::vector<std::pair<std::int64_t, Time>> key;
  for (const machine::LinkId link : links)
    key.emplace_back(tables_->link(link).bandwidth.value(), tables_->link(link).latency.value());
  std::unique_ptr<WayFacts>& facts = known_[key];
  if (facts == nullptr) facts.reset(new WayFacts(*tables_, links));
  return *facts;
}

}  // namespace tessera::sim
