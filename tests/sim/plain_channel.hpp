// A channel that knows no shortcuts: it keeps every command that was given, and asks
// all of them when the next one may be.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <deque>
#include <vector>

#include "memory_channel_case.hpp"

namespace tessera::sim {

/// Commands of a channel's banks. Each distance is asked of each command so far.
class PlainBanks {
 public:
  explicit PlainBanks(const ChannelSpec& spec) : spec_(spec), open_(spec.banks, none), opened_(spec.banks, false) {}

  [[nodiscard]] bool is_open(DramPlace place) const { return open_[place.bank] == place.row; }
  void open(DramPlace place, Time now) {
    Time at = now;
    if (open_[place.bank] != none) {
      Time closed = now;
      for (const Activation& one : activations_)
        if (one.bank == place.bank) closed = std::max(closed, one.at + clocks(spec_.ras));
      for (const Burst& one : bursts_)
        if (one.bank == place.bank)
          closed = std::max(closed, one.at + clocks(one.reads ? spec_.rtp : spec_.cwl + spec_.ccds + spec_.wr));
      at = closed + clocks(spec_.rp);
      for (const Activation& one : activations_)
        if (one.bank == place.bank) at = std::max(at, one.at + clocks(spec_.rc));
    }
    while (too_near(place.bank, at)) ++at;
    activations_.push_back({place.bank, at});
    if (activations_.size() > 2'000)
      activations_.erase(activations_.begin(), activations_.begin() + 1'000);  // long past
    open_[place.bank] = place.row;
    opened_[place.bank] = true;
    ++activations;
  }
  [[nodiscard]] Time earliest(std::uint32_t bank, MemoryOp op) const {
    const bool reads = op == MemoryOp::read;
    Time at = bus_free;
    for (const Activation& one : activations_)
      if (one.bank == bank) at = std::max(at, one.at + clocks(op == MemoryOp::write ? spec_.rcdwr : spec_.rcd));
    for (const Burst& one : bursts_) {
      if (one.bank % spec_.bank_groups == bank % spec_.bank_groups) at = std::max(at, one.at + one.apart);
      if (one.reads && !reads) at = std::max(at, one.at + clocks(spec_.rtw));
      if (!one.reads && reads) at = std::max(at, one.at + clocks(spec_.cwl + spec_.ccds + spec_.wtr));
    }
    return at;
  }
  /// When the last data have been moved.
  Time serve(std::uint32_t bank, const MemoryRequest& request, Time start) {
    const bool reads = request.op == MemoryOp::read;
    const Time apart = clocks(request.op == MemoryOp::update ? spec_.ccdwl : spec_.ccdl);
    const std::uint32_t bursts = bursts_of(request.bytes);
    row_hits += opened_[bank] ? 0 : 1;
    opened_[bank] = false;
    for (std::uint32_t i = 0; i < bursts; ++i) bursts_.push_back({bank, start + i * apart, apart, reads});
    if (bursts_.size() > 2'000) bursts_.erase(bursts_.begin(), bursts_.begin() + 1'000);  // long past
    bus_free = start + bursts * clocks(spec_.ccds);
    return bursts_.back().at + clocks((reads ? spec_.cl : spec_.cwl) + spec_.ccds);
  }
  Time bus_free = 0;
  std::int64_t activations = 0;
  std::int64_t row_hits = 0;  // requests before which their bank had not opened a row

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Activation {
    std::uint32_t bank = 0;
    Time at = 0;
  };
  struct Burst {
    std::uint32_t bank = 0;
    Time at = 0;
    Time apart = 0;
    bool reads = false;
  };
  [[nodiscard]] Time clocks(std::uint32_t count) const { return count * spec_.clock_period; }
  [[nodiscard]] bool too_near(std::uint32_t bank, Time at) const {
    return std::any_of(activations_.begin(), activations_.end(), [&](const Activation& one) {
      return one.bank != bank && std::abs(one.at - at) < clocks(spec_.rrd);
    });
  }
  ChannelSpec spec_;
  std::vector<std::uint32_t> open_;
  std::vector<bool> opened_;  // since the bank's last request
  std::vector<Activation> activations_;
  std::vector<Burst> bursts_;
};

/// The rules as they stand in the text, without any shortcut.
class PlainChannel {
 public:
  PlainChannel(const ChannelSpec& spec, const ArbitrationSpec& rules)
      : spec_(spec), rules_(rules), first_threshold_(rules.threshold), banks_(spec), chosen_(spec.banks, nobody) {}

  /// All that happens until then, in order of time.
  void run_until(Time time) {
    while (next() <= time) step(next());
  }
  void push(Time now, const MemoryRequest& request) {
    run_until(now);
    std::deque<MemoryRequest>& stream = streams_[static_cast<std::size_t>(request.stream)];
    if (stream.empty() && request.stream == MemoryStream::communication) waiting_since_ = now;
    stream.push_back(request);
    step(now);
  }
  void set_threshold(Time now, std::uint32_t bursts) {
    run_until(now);
    rules_.threshold = bursts;
    step(now);
  }
  void set_draining(Time now, bool draining) {
    run_until(now);
    draining_ = draining;
    if (!draining) rules_.threshold = first_threshold_;
    step(now);
  }

  [[nodiscard]] const PlainBanks& banks() const { return banks_; }

  std::vector<Stamp> entered;
  std::vector<Stamp> served;
  Time busy = 0;
  std::int64_t turns = 0;

 private:
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  struct Waiting {
    MemoryRequest request;
    DramPlace place;
    std::uint64_t age = 0;
    std::uint32_t overtaken = 0;  // bursts
  };

  [[nodiscard]] Time limit() const { return bursts_of(streams_[1].front().bytes) * rules_.starvation_limit; }
  [[nodiscard]] bool starves(Time now) const { return now - waiting_since_ >= limit(); }
  [[nodiscard]] std::uint32_t occupancy() const {
    std::uint32_t bursts = 0;
    for (const Waiting& waiting : queue_) bursts += bursts_of(waiting.request.bytes);
    return bursts;
  }
  /// When something may happen by itself.
  [[nodiscard]] Time next() const {
    Time time = queue_.empty() ? never : std::max(banks_.bus_free, start_of(best()));
    if (rules_.policy == "mca" && !streams_[1].empty() && waiting_since_ + limit() > now_) {
      time = std::min(time, waiting_since_ + limit());
    }
    return time;
  }
  /// 0: compute, 1: communication, 2: none.
  [[nodiscard]] std::size_t chosen(Time now) const {
    const bool compute = !streams_[0].empty();
    const bool communication = !streams_[1].empty();
    if (rules_.policy == "mca" && communication) {
      if (starves(now)) return 1;
      if (!compute) return draining_ || occupancy() < rules_.threshold ? 1 : 2;
    }
    if (rules_.policy == "round-robin" && compute && communication) return turn_;
    return compute ? 0 : communication ? 1 : 2;
  }
  void fill(Time now) {
    for (std::size_t name = chosen(now); name < 2; name = chosen(now)) {
      const MemoryRequest request = streams_[name].front();
      if (!queue_.empty() && occupancy() + bursts_of(request.bytes) > spec_.queue) return;
      streams_[name].pop_front();
      queue_.push_back({request, dram_place(spec_, request.place), entered.size(), 0});
      if (chosen_[queue_.back().place.bank] == nobody) choose(queue_.back().place.bank, now);
      entered.push_back({request.block, now});
      turn_ = 1 - name;
      if (name == 1) waiting_since_ = now;
    }
  }
  /// The bank's oldest request to its open row; or the oldest one, whose row is opened.
  void choose(std::uint32_t bank, Time now) {
    chosen_[bank] = nobody;
    for (const Waiting& one : queue_) {
      if (chosen_[bank] == nobody && one.place.bank == bank && banks_.is_open(one.place)) chosen_[bank] = one.age;
    }
    if (chosen_[bank] != nobody) return;
    const auto first =
        std::find_if(queue_.begin(), queue_.end(), [&](const Waiting& w) { return w.place.bank == bank; });
    if (first == queue_.end()) return;
    chosen_[bank] = first->age;
    banks_.open(first->place, now);
  }
  void turn_to_the_overtaken(Time now) {
    if (queue_.empty() || queue_.front().overtaken < spec_.max_bypass) return;
    const Waiting& first = queue_.front();
    if (chosen_[first.place.bank] == first.age) return;
    chosen_[first.place.bank] = first.age;
    if (!banks_.is_open(first.place)) banks_.open(first.place, now);
  }
  [[nodiscard]] Time start_of(std::size_t index) const {
    const Waiting& one = queue_[index];
    return std::max(now_, banks_.earliest(one.place.bank, one.request.op));
  }
  [[nodiscard]] std::size_t best() const {
    if (queue_.front().overtaken >= spec_.max_bypass) return 0;
    std::size_t best = queue_.size();
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      if (chosen_[queue_[i].place.bank] != queue_[i].age) continue;
      if (best == queue_.size() || start_of(i) < start_of(best)) best = i;
    }
    return best;
  }
  void serve(Time now) {
    const std::size_t index = best();
    const Waiting taken = queue_[index];
    for (std::size_t i = 0; i < index; ++i) queue_[i].overtaken += bursts_of(taken.request.bytes);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(index));
    const Time data = banks_.serve(taken.place.bank, taken.request, now);
    busy += banks_.bus_free - now;
    turns += !first_ && is_read(taken.request) != reading_ ? 1 : 0;
    first_ = false;
    reading_ = is_read(taken.request);
    choose(taken.place.bank, now);
    served.push_back({taken.request.block, data + (reading_ ? spec_.latency : 0)});
  }
  void step(Time now) {
    now_ = now;
    fill(now);
    turn_to_the_overtaken(now);
    if (queue_.empty() || banks_.bus_free > now || start_of(best()) > now) return;
    serve(now);
    fill(now);
    turn_to_the_overtaken(now);
  }
  [[nodiscard]] static bool is_read(const MemoryRequest& request) { return request.op == MemoryOp::read; }

  ChannelSpec spec_;
  ArbitrationSpec rules_;
  std::uint32_t first_threshold_;
  std::array<std::deque<MemoryRequest>, 2> streams_;
  std::vector<Waiting> queue_;  // oldest first
  PlainBanks banks_;
  std::vector<std::uint64_t> chosen_;  // by bank: age of the request that its row is open for
  Time waiting_since_ = 0;
  Time now_ = -1;
  std::size_t turn_ = 0;
  bool draining_ = false;
  bool first_ = true;
  bool reading_ = true;
};

}  // namespace tessera::sim
