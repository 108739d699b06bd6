#include "sim/rings/ring_path.hpp"

#include <algorithm>
#include <utility>

#include "sim/rings/port_chain.hpp"
#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

std::vector<pdes::ComponentId> servers_of(const NetworkTables& tables, const std::vector<machine::LinkId>& links) {
  std::vector<pdes::ComponentId> servers;
  for (const machine::LinkId link : links) servers.push_back(tables.server(link));
  return servers;
}

/// When a message posted from then on provably finds all links idle, whatever its size.
Time clear_behind(const NetworkTables& tables, const std::vector<machine::LinkId>& links,
                  const std::vector<Time>& latencies, const std::vector<BusyPeriod>& busy) {
  Time clear = 0;
  for (std::size_t i = 0; i < links.size(); ++i)
    if (busy[i].bytes > 0) clear = std::max(clear, busy[i].end(tables.rate(links[i])) - latencies[i] + 1);
  return clear;
}

/// Ports of links that are idle, as they would be behind such busy periods: to find out what becomes of messages.
class TrialPorts {
 public:
  TrialPorts(const NetworkTables& tables, const std::vector<machine::LinkId>& links,
             const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends)
      : tables_(tables), links_(links) {
    for (std::size_t i = 0; i < links.size(); ++i) {
      ports_.emplace_back(tables, links[i], tables.server(links[i]));
      ports_.back().begin_behind(busy[i], short_ends[i]);
    }
  }

  /// When the last of these is delivered.
  Time pass(const std::vector<RingPath::Posted>& posted) {
    std::vector<OutputPort*> ports;
    for (OutputPort& port : ports_) ports.push_back(&port);
    PortChain chain(ports, servers_of(tables_, links_));
    const machine::NodeId to = tables_.link(links_.back()).to;
    for (std::size_t i = 0; i < posted.size(); ++i) {
      OwnMessage message = message_of(tables_, posted[i].bytes, to);
      message.name.sequence = static_cast<std::uint32_t>(i);
      chain.post(posted[i].at, message);
    }
    chain.run_until({never, 0});
    for (OutputPort& port : ports_) port.finish(chain);
    return chain.last_delivery();
  }

  [[nodiscard]] std::vector<LinkCounts> counts() const {
    std::vector<LinkCounts> counts;
    for (const OutputPort& port : ports_) counts.push_back(port.counts());
    return counts;
  }
  [[nodiscard]] std::vector<BusyPeriod> busy() const {
    std::vector<BusyPeriod> busy;
    for (const OutputPort& port : ports_) busy.push_back(port.state().busy);
    return busy;
  }

 private:
  const NetworkTables& tables_;
  const std::vector<machine::LinkId>& links_;
  std::vector<OutputPort> ports_;
};

}  // namespace

WayFacts::WayFacts(const NetworkTables& tables, std::vector<machine::LinkId> links)
    : tables_(&tables), links_(std::move(links)) {
  Time latency = 0;
  for (const machine::LinkId link : links_) {
    latencies_.push_back(latency);
    latency = time_after(latency, tables.link(link).latency.value());
  }
}

std::uint32_t WayFacts::size_of(std::int64_t bytes) {
  const auto known =
      std::find_if(lone_.begin(), lone_.end(), [bytes](const LonePassage& one) { return one.bytes == bytes; });
  if (known != lone_.end()) return static_cast<std::uint32_t>(known - lone_.begin());
  lone_.push_back(pass_alone(bytes));
  return static_cast<std::uint32_t>(lone_.size() - 1);
}

LonePassage WayFacts::pass_alone(std::int64_t bytes) const {
  TrialPorts ports(*tables_, links_, std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()));
  LonePassage lone;
  lone.bytes = bytes;
  lone.after.resize(links_.size());
  lone.counts.resize(links_.size());
  lone.delivered = lone.clear = never;
  try {
    lone.delivered = ports.pass({{0, bytes}});
    lone.after = ports.busy();
    lone.counts = ports.counts();
    lone.clear = clear_behind(*tables_, links_, latencies_, lone.after);
  } catch (const BeyondTimeError&) {
    // Whoever sends it says so.
  }
  return lone;
}

WayFacts& WayTable::of(const std::vector<machine::LinkId>& links) {
  std::vector<std::pair<std::int64_t, Time>> key;
  for (const machine::LinkId link : links)
    key.emplace_back(tables_->link(link).bandwidth.value(), tables_->link(link).latency.value());
  std::unique_ptr<WayFacts>& facts = known_[key];
  if (facts == nullptr) facts.reset(new WayFacts(*tables_, links));
  return *facts;
}

RingPath::RingPath(WayTable& ways, std::vector<machine::LinkId> links)
    : facts_(&ways.of(links)), links_(std::move(links)), tables_(&ways.tables()) {
  begin(std::vector<BusyPeriod>(links_.size()), std::vector<ShortEnds>(links_.size()));
}

void RingPath::begin(const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends) {
  busy_ = begun_ = busy;
  short_ends_ = short_ends;
  has_bursts_ = false;
  marked_.clear();
  mark_ = {};
  last_ = none;
  last_delivery_ = 0;
  burst_.clear();
  passed_.assign(passed_.size(), 0);
  counts_.assign(links_.size(), {});
  clear_at_ = clear_behind(*tables_, links_, facts_->latencies(), busy_);
}

void RingPath::mark() {
  if (marked_.size() < passed_.size()) marked_.resize(passed_.size(), 0);
  for (std::size_t size = 0; size < passed_.size(); ++size) marked_[size] += std::exchange(passed_[size], 0);
  mark_.clear_at = clear_at_;
  mark_.last_at = last_at_;
  mark_.last = last_;
  mark_.has_bursts = has_bursts_;
  if (!has_bursts_) return;
  mark_.burst = burst_;
  mark_.before = before_;
  mark_.busy = busy_;
  mark_.counts = counts_;
}

void RingPath::rewind() {
  clear_at_ = mark_.clear_at;
  last_at_ = mark_.last_at;
  last_ = mark_.last;
  std::fill(passed_.begin(), passed_.end(), 0);
  if (!has_bursts_) return;
  if (mark_.has_bursts) {
    burst_ = mark_.burst;
    before_ = mark_.before;
    busy_ = mark_.busy;
    counts_ = mark_.counts;
  } else {
    burst_.clear();
    counts_.assign(links_.size(), {});
    if (last_ == none) busy_ = begun_;
  }
  has_bursts_ = mark_.has_bursts;
}

std::vector<BusyPeriod> RingPath::busy() const {
  if (!burst_.empty() || last_ == none) return busy_;
  std::vector<BusyPeriod> busy = facts_->lone(last_).after;
  for (BusyPeriod& one : busy) one.start = time_after(one.start, last_at_);
  return busy;
}

Time RingPath::left() const {
  const Rate& rate = tables_->rate(links_[0]);
  if (!burst_.empty() || last_ == none) return busy_[0].end(rate);
  return last_at_ + facts_->lone(last_).after[0].end(rate);
}

Time RingPath::send_behind(Time at, std::uint32_t size) {
  has_bursts_ = true;
  if (burst_.empty()) {
    busy_ = busy();
    before_ = busy_;
    if (last_ != none) {
      --passed_[last_];
      burst_.push_back({last_at_, facts_->lone(last_).bytes});
      before_.assign(links_.size(), {});  // it found them idle
      last_ = none;
    }
  }
  const std::int64_t bytes = facts_->lone(size).bytes;
  burst_.push_back({at, bytes});
  try {
    const Time delivered = pass(at, bytes);
    clear_at_ = clear_behind(*tables_, links_, facts_->latencies(), busy_);
    return delivered;
  } catch (const BeyondTimeError&) {
    return never;  // as of lone messages
  }
}

// One message after the other: a FIFO of one sender is not changed by what comes behind.
Time RingPath::pass(Time at, std::int64_t bytes) {
  const std::int64_t packet = tables_->packet();
  const OwnMessage message = message_of(*tables_, bytes, 0);
  const Rate& first = tables_->rate(links_[0]);
  const Service own =
      serve_own(busy_[0], at, message.packets_left, message.last_bytes, {first, links_[0], first, packet});
  busy_[0] = own.after;
  std::vector<Law> arrivals{own.out};
  arrivals[0].delay(tables_->link(links_[0]).latency.value());
  for (std::size_t i = 1; i < links_.size(); ++i) {
    std::vector<Law> departures;
    for (Law& law : arrivals) {
      const ServiceRates rates{tables_->rate(links_[i]), links_[i], tables_->rate(law.rate), packet};
      while (law.count > 0) {
        const Service service = serve(busy_[i], law, law.count, rates);
        busy_[i] = service.after;
        departures.push_back(service.out);
        departures.back().delay(tables_->link(links_[i]).latency.value());
        law.advance(service.out.count);
      }
    }
    arrivals = std::move(departures);
  }
  return arrivals.back().last;
}

void RingPath::close_burst() {
  TrialPorts ports(*tables_, links_, before_, short_ends_);
  static_cast<void>(ports.pass(burst_));
  const std::vector<LinkCounts> counts = ports.counts();
  for (std::size_t i = 0; i < counts.size(); ++i) counts_[i].add(counts[i]);
  burst_.clear();
}

std::vector<LinkCounts> RingPath::take_counts() {
  if (!burst_.empty()) {
    close_burst();
    last_ = none;
  }
  mark();
  for (std::uint32_t size = 0; size < marked_.size(); ++size) {
    const std::int64_t messages = std::exchange(marked_[size], 0);
    for (std::size_t i = 0; i < links_.size() && messages > 0; ++i) {
      const LinkCounts& one = facts_->lone(size).counts[i];
      counts_[i].add({one.bytes * messages, one.messages * messages, one.busy * messages, one.peak_queue});
    }
  }
  std::vector<LinkCounts> counts(links_.size());
  counts.swap(counts_);
  return counts;
}

// Puts the last message or burst aside.
void RingPath::keep_last() {
  if (kept_.posted.empty()) kept_.busy = burst_.empty() ? std::vector<BusyPeriod>(links_.size()) : before_;
  if (burst_.empty()) {
    kept_.posted.push_back({last_at_, facts_->lone(last_).bytes});
    --passed_[last_];
  } else {
    kept_.posted.insert(kept_.posted.end(), burst_.begin(), burst_.end());
  }
  burst_.clear();
  last_ = none;
}

Time RingPath::send_until(Time at, std::uint32_t size, Time end) {
  const bool any = last_ != none || !burst_.empty();
  if (at >= clear_at_ && any && (!kept_.posted.empty() || last_delivery_ >= end)) keep_last();
  return last_delivery_ = send(at, size);
}

RingPath::UnderWay RingPath::take_last(Time end) {
  const bool any = last_ != none || !burst_.empty();
  const std::vector<BusyPeriod> behind = busy();
  if (any && (!kept_.posted.empty() || last_delivery_ >= end)) keep_last();
  UnderWay last;
  std::swap(last, kept_);
  if (last.posted.empty()) last.busy = behind;
  return last;
}

}  // namespace tessera::sim
