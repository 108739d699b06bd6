#include "sim/laws/rings/ring_work.hpp"

#include <algorithm>
#include <utility>

namespace tessera::sim {
namespace {

using program::CollectiveCall;
using program::Step;
using program::Transfer;

/// Where a transfer of the first member goes: what tells its ways apart.
using Towards = std::pair<std::uint16_t, std::uint32_t>;  // lane, peer
Towards towards(const Transfer& transfer) { return {transfer.lane, transfer.peer}; }

class Planner {
 public:
  explicit Planner(CollectiveCall call) : call_(call), algorithm_(program::algorithm_of(call)) {}

  std::optional<RingPlan> plan() {
    call_.rank = call_.strand = 0;
    plan_.shape.members = call_.group->members;
    plan_.shape.strands = algorithm_.strands(call_);
    plan_.work.steps = algorithm_.steps(call_);
    plan_.work.pause = call_.lowering.wire.pause;
    if (!find_passes()) return std::nullopt;
    plan_.shape.to.assign(plan_.shape.ways(), nobody);
    plan_.shape.lanes.assign(plan_.shape.ways(), 0);
    if (!fill_passes() || !matches()) return std::nullopt;
    senders_ = plan_.shape.senders();
    if (std::ranges::find(senders_, nobody) != senders_.end()) return std::nullopt;
    for (std::uint32_t way = 0; way < plan_.shape.ways(); ++way) {
      plan_.shape.next.push_back(plan_.shape.device(plan_.shape.to[way]));
      plan_.shape.previous.push_back(plan_.shape.device(senders_[way]));
    }
    for (RingPass& pass : plan_.work.passes) {
      find_uniform(pass);
      if (pass.sums_up && pass.slots > 1) plan_.work.others = 1 + static_cast<std::uint32_t>(plan_.work.sizes.size());
    }
    return std::move(plan_);
  }

 private:
  // Of the first member: a pass ends where it sends to others, or does something else with what comes.
  bool find_passes() {
    std::vector<Towards> ways;
    std::vector<std::vector<Towards>> used;
    for (std::uint32_t index = 0; index < plan_.work.steps; ++index) {
      algorithm_.step_on_wire(call_, index, step_);
      if (!is_plain()) return false;
      std::vector<Towards> sends;
      for (const Transfer& send : step_.sends) sends.push_back(towards(send));
      const bool sums_up = step_.receives[0].add;
      std::vector<RingPass>& passes = plan_.work.passes;
      if (passes.empty() || used.back() != sends || passes.back().sums_up != sums_up) {
        passes.push_back({0, 0, static_cast<std::uint32_t>(sends.size()), sums_up, true, {}});
        ways.insert(ways.end(), sends.begin(), sends.end());
        used.push_back(std::move(sends));
      }
      ++passes.back().steps;
    }
    std::ranges::sort(ways);
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    plan_.shape.slots = static_cast<std::uint32_t>(ways.size());
    for (std::size_t i = 0; i < used.size(); ++i) {
      const auto first = std::ranges::search(ways, used[i]);  // in a row
      if (first.empty()) return false;
      plan_.work.passes[i].first = static_cast<std::uint32_t>(first.begin() - ways.begin());
    }
    return !ways.empty() && ways.size() <= most_slots;
  }

  [[nodiscard]] bool is_plain() const {
    return !step_.wait_sends && step_.pause == plan_.work.pause && !step_.sends.empty() &&
           step_.sends.size() == step_.receives.size() &&
           std::ranges::all_of(step_.receives,
                               [this](const Transfer& receive) { return receive.add == step_.receives[0].add; });
  }

  // The ways of all seats, and what goes over them in the first step of each pass.
  bool fill_passes() {
    std::uint32_t index = 0;
    for (RingPass& pass : plan_.work.passes) {
      const bool filled = for_all_seats([&](std::uint32_t seat, std::uint32_t strand) {
        algorithm_.step_on_wire(call_, index, step_);
        if (!is_plain() || step_.sends.size() != pass.slots || step_.receives[0].add != pass.sums_up) return false;
        for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
          const Transfer& send = step_.sends[slot];
          const std::uint32_t way = plan_.shape.way(pass.first + slot, seat);
          const std::uint32_t to = strand * call_.size + send.peer;
          std::uint32_t& known = plan_.shape.to[way];
          if (known != nobody && (known != to || plan_.shape.lanes[way] != send.lane)) return false;
          known = to;
          plan_.shape.lanes[way] = send.lane;
          pass.kinds.resize(std::size_t{pass.slots} * plan_.shape.seats());
          pass.kinds[slot * plan_.shape.seats() + seat] = kind_of(send.bytes);
        }
        return true;
      });
      if (!filled) return false;
      index += pass.steps;
    }
    return true;
  }

  // Each waits for what is sent to it, on the lane and of the size.
  bool matches() {
    std::uint32_t index = 0;
    for (const RingPass& pass : plan_.work.passes) {
      const bool matched = for_all_seats([&](std::uint32_t seat, std::uint32_t strand) {
        algorithm_.step_on_wire(call_, index, step_);
        for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
          const Transfer& receive = step_.receives[slot];
          const std::uint32_t from = strand * call_.size + receive.peer;
          const std::uint32_t way = plan_.shape.way(pass.first + slot, from);
          const std::uint32_t kind = pass.kinds[slot * plan_.shape.seats() + from];
          if (plan_.shape.to[way] != seat || plan_.shape.lanes[way] != receive.lane ||
              plan_.work.sizes[kind] != receive.bytes)
            return false;
        }
        return true;
      });
      if (!matched) return false;
      index += pass.steps;
    }
    return true;
  }

  template <class Act>
  bool for_all_seats(Act&& act) {
    for (call_.strand = 0; call_.strand < plan_.shape.strands; ++call_.strand) {
      for (call_.rank = 0; call_.rank < call_.size; ++call_.rank) {
        if (algorithm_.steps(call_) != plan_.work.steps) return false;
        if (!act(call_.strand * call_.size + call_.rank, call_.strand)) return false;
      }
    }
    return true;
  }

  std::uint32_t kind_of(std::int64_t bytes) {
    std::vector<std::int64_t>& sizes = plan_.work.sizes;
    const auto known = std::ranges::find(sizes, bytes);
    if (known != sizes.end()) return static_cast<std::uint32_t>(known - sizes.begin());
    sizes.push_back(bytes);
    return static_cast<std::uint32_t>(sizes.size() - 1);
  }

  void find_uniform(RingPass& pass) const {
    const std::uint32_t seats = plan_.shape.seats();
    for (std::uint32_t slot = 0; slot < pass.slots; ++slot) {
      const std::uint32_t* kinds = &pass.kinds[std::size_t{slot} * seats];
      const std::uint32_t* from = &senders_[plan_.shape.way(pass.first + slot, 0)];
      for (std::uint32_t seat = 0; seat < seats; ++seat)
        if (kinds[from[seat]] != kinds[seat]) pass.is_uniform = false;
    }
  }

  CollectiveCall call_;
  const program::CollectiveAlgorithm& algorithm_;
  Step step_;
  RingPlan plan_;
  std::vector<std::uint32_t> senders_;
};

}  // namespace

std::vector<std::uint32_t> RingShape::senders() const {
  std::vector<std::uint32_t> senders(ways(), nobody);
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    for (std::uint32_t seat = 0; seat < seats(); ++seat) {
      const std::uint32_t receiver = to[way(slot, seat)];
      if (receiver != nobody) senders[way(slot, receiver)] = seat;
    }
  }
  return senders;
}

std::optional<RingPlan> plan_rings(CollectiveCall call) { return Planner(call).plan(); }

RingSum sent_on(const RingWork& work, const RingShape& shape, const std::vector<std::uint32_t>& senders,
                std::uint32_t way, std::uint32_t steps) {
  if (work.part != nullptr) {
    const RingPlan& whole = work.part->whole;
    return sent_on(whole.work, whole.shape, work.part->senders, work.part->ways[way], steps);
  }
  const std::uint32_t slot = way / shape.seats(), seat = way % shape.seats();
  RingSum sum;
  for (const RingPass& pass : work.passes) {
    const std::uint32_t taken = std::min(steps, pass.steps);
    steps -= taken;
    if (slot < pass.first || slot >= pass.first + pass.slots) continue;
    sum.messages += taken;
    const std::uint32_t* kinds = &pass.kinds[std::size_t{slot - pass.first} * shape.seats()];
    if (pass.is_uniform) {
      sum.bytes += taken * work.sizes[kinds[seat]];
      continue;
    }
    std::uint32_t origin = seat;
    for (std::uint32_t step = 0; step < taken; ++step, origin = senders[shape.way(slot, origin)])
      sum.bytes += work.sizes[kinds[origin]];
  }
  return sum;
}

std::int64_t bytes_added(const RingWork& work, const RingShape& shape, const std::vector<std::uint32_t>& senders,
                         std::uint32_t seat, std::uint32_t step) {
  if (work.part != nullptr) {
    const RingPlan& whole = work.part->whole;
    return bytes_added(whole.work, whole.shape, work.part->senders, work.part->seats[seat], step);
  }
  for (const RingPass& pass : work.passes) {
    if (step >= pass.steps) {
      step -= pass.steps;
      continue;
    }
    std::int64_t bytes = 0;
    for (std::uint32_t slot = 0; slot < pass.slots && pass.sums_up; ++slot) {
      std::uint32_t origin = seat;
      for (std::uint32_t back = 0; back <= step; ++back) origin = senders[shape.way(pass.first + slot, origin)];
      bytes += work.sizes[pass.kinds[slot * shape.seats() + origin]];
    }
    return bytes;
  }
  return 0;
}

}  // namespace tessera::sim
