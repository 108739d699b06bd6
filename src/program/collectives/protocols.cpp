// Which protocol moves a collective's data, and what it makes of the steps. Source of the model: NCCL,
// src/graph/tuning.cc, which adds a start, a latency for each step and the time of the data, and takes the least sum.
#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/message_time.hpp"

#include "protocols.hpp"

namespace tessera::program {
namespace {

/// Where the members of a group stand.
class Places {
 public:
  Places(const Group& group, const machine::Machine& machine) : group_(group), machine_(machine) {
    for (std::uint32_t rank = 0; rank < size(); ++rank) crossings_ += is_apart(rank, next(rank)) ? 1 : 0;
  }
  [[nodiscard]] bool is_apart(std::uint32_t a, std::uint32_t b) const {
    return machine_.places[group_.members[a]].node != machine_.places[group_.members[b]].node;
  }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(group_.members.size()); }
  /// Of the hops round the group, those between nodes.
  [[nodiscard]] std::uint32_t crossings() const { return crossings_; }

  /// What a hop's links lack of a step's latency, in ps; of the first hop of that kind.
  [[nodiscard]] double lack(double step, bool apart) const {
    for (std::uint32_t rank = 0; rank < size(); ++rank) {
      if (is_apart(rank, next(rank)) != apart) continue;
      return std::max(0.0, step - message_time(machine_, group_.members[rank], group_.members[next(rank)], Bytes{0}));
    }
    return 0;
  }
  /// B/ps of the slowest link of the first hop within a node, or else of the first one.
  [[nodiscard]] double rate() const {
    std::uint32_t at = 0;
    while (at + 1 < size() && is_apart(at, next(at))) ++at;
    if (is_apart(at, next(at))) at = 0;
    double slowest = 0;
    const machine::Routes routes(machine_.network);
    routes.for_each_link({group_.members[at], group_.members[next(at)]}, [&](machine::LinkId link) {
      const auto rate = static_cast<double>(machine_.network.links[link].bandwidth.value());
      slowest = slowest == 0 ? rate : std::min(slowest, rate);
    });
    return slowest;
  }

 private:
  [[nodiscard]] std::uint32_t next(std::uint32_t rank) const { return rank + 1 == size() ? 0 : rank + 1; }

  const Group& group_;
  const machine::Machine& machine_;
  std::uint32_t crossings_ = 0;
};

std::uint32_t payload_of(const Protocol& protocol, const Places& places) {
  double share = protocol.payload;
  const BytesPerSecond most = places.crossings() > 0 ? protocol.most_across : protocol.most;
  if (most.value() > 0) share = std::min(share, static_cast<double>(most.value()) / places.rate());
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(std::lround(share * OnWire::all)));
}

OnWire on_wire(const Protocols& protocols, std::uint32_t index, const CollectiveAlgorithm& algorithm,
               CollectiveKind kind, const Places& places) {
  const Protocol& protocol = protocols[index];
  OnWire wire;
  wire.protocol = index;
  wire.payload = payload_of(protocol, places);
  wire.start = protocol.start;
  const double inside = places.lack(static_cast<double>(protocol.step), false);
  const double across = places.lack(static_cast<double>(protocol.step_across), true);
  wire.pause = static_cast<Time>(std::llround(inside));
  wire.pause_across = static_cast<Time>(std::llround(across));
  if (!algorithm.goes_round(kind)) return wire;
  const double crossings = places.crossings(), others = places.size() - crossings;
  wire.pause = wire.pause_across =
      static_cast<Time>(std::llround((crossings * across + others * inside) / places.size()));
  return wire;
}

/// A collective without protocols, with all else that its steps ask for.
class Plain {
 public:
  Plain(const Collective& collective, const Group& group, const machine::Machine& machine)
      : data_(collective.bytes.value()), collective_(collective), group_(group), machine_(machine) {
    collective_.protocols = nullptr;
    call_ = make_call(collective_, group_, 0, machine_);
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;

  /// In ps, with that protocol.
  [[nodiscard]] double time(const OnWire& wire) {
    const std::int64_t element = collective_.element.value();
    collective_.bytes = Bytes{ceil_div(wire.bytes(data_), element) * element};
    return static_cast<double>(wire.start) + algorithm_of(call_).time_with_pauses(call_, wire);
  }

 private:
  std::int64_t data_;
  Collective collective_;
  const Group& group_;
  const machine::Machine& machine_;
  CollectiveCall call_;
};

/// Of algorithm `name`: its own ones, or those of all.
std::vector<std::uint32_t> protocols_for(const Protocols& protocols, const std::string& name) {
  std::vector<std::uint32_t> own, others;
  for (std::uint32_t i = 0; i < protocols.size(); ++i) {
    if (protocols[i].algorithm == name) own.push_back(i);
    if (protocols[i].algorithm.empty()) others.push_back(i);
  }
  return own.empty() ? others : own;
}

}  // namespace

Fastest fastest_on_wire(const Collective& collective, const Group& group, const machine::Machine& machine) {
  const CollectiveAlgorithm& algorithm = algorithm_of(collective.algorithm);
  Plain plain(collective, group, machine);
  Fastest fastest;
  if (collective.protocols != nullptr && group.members.size() > 1) {
    const Places places(group, machine);
    for (const std::uint32_t index : protocols_for(*collective.protocols, algorithm.name())) {
      const OnWire wire = on_wire(*collective.protocols, index, algorithm, collective.kind, places);
      const double time = plain.time(wire);
      if (fastest.wire.protocol == OnWire::no_protocol || time < fastest.time) fastest = {wire, time};
    }
  }
  if (fastest.wire.protocol == OnWire::no_protocol) fastest.time = plain.time({});
  return fastest;
}

CollectiveAlgorithm::Choice CollectiveAlgorithm::chosen(const Collective& collective, const Group& group,
                                                        const machine::Machine& machine) const {
  if (collective.protocols == nullptr || !check(collective, group, machine).empty()) return {this, {}};
  return {this, fastest_on_wire(collective, group, machine).wire};
}

double time_on_wire(const CollectiveCall& call) {
  Collective own = *call.collective;
  own.algorithm = call.lowering.algorithm;
  return Plain(own, *call.group, *call.machine).time(call.lowering.wire);
}

std::int64_t OnWire::bytes(std::int64_t data) const {
  if (payload == all) return data;
  const Int128 whole = (static_cast<Int128>(data) * all + payload - 1) / payload;
  if (whole > std::numeric_limits<std::int64_t>::max()) throw_beyond_time();
  return static_cast<std::int64_t>(whole);
}

void CollectiveAlgorithm::step_on_wire(const CollectiveCall& call, std::uint32_t index, Step& step) const {
  this->step(call, index, step);
  const OnWire& wire = call.lowering.wire;
  if (wire.protocol == OnWire::no_protocol) return;
  for (Transfer& send : step.sends) send.bytes = wire.bytes(send.bytes);
  step.reduce = 0;
  for (Transfer& receive : step.receives) {
    receive.bytes = wire.bytes(receive.bytes);
    if (receive.add) step.reduce += receive.bytes;  // flags and all
  }
  if (step.receives.empty() || step.follows) return;
  step.pause = wire.pause;
  if (wire.pause_across == wire.pause) return;
  const auto node = [&](std::uint32_t rank) { return call.machine->places[call.group->members[rank]].node; };
  const int here = node(call.rank);
  if (std::ranges::any_of(step.receives, [&](const Transfer& one) { return node(one.peer) != here; }))
    step.pause = wire.pause_across;
}

double CollectiveAlgorithm::time_with_pauses(const CollectiveCall& call, const OnWire& wire) const {
  const Waits all = waits(call);
  return time(*call.collective, *call.group, *call.machine) + all.inside * static_cast<double>(wire.pause) +
         all.across * static_cast<double>(wire.pause_across);
}

CollectiveAlgorithm::Waits CollectiveAlgorithm::waits(const CollectiveCall& call) const {
  const double count = steps(call);
  const Places places(*call.group, *call.machine);
  return places.crossings() > 0 ? Waits{0, count} : Waits{count, 0};
}

const config::Schema<Protocol>& protocol_schema() {
  static const config::Schema<Protocol> schema = [] {
    config::Schema<Protocol> s("collectives.protocols", "How the communication library moves the data of a step.");
    s.text("name", &Protocol::name, "as the library calls it: LL, LL128, Simple");
    s.text("algorithm", &Protocol::algorithm,
           "of which it is a protocol; of all that have none of their own when absent")
        .optional();
    s.number("payload", &Protocol::payload, "of what goes over the wire, the share that is data; the rest is flags")
        .at_least("0.01")
        .at_most("1")
        .otherwise("1");
    s.quantity("most", &Protocol::most,
               "data a second of a device in groups within a node; as much as links carry when absent")
        .at_least("1 B/s")
        .optional();
    s.quantity("most_across", &Protocol::most_across, "the same in groups over several nodes")
        .at_least("1 B/s")
        .optional();
    const auto time = [&](const char* key, Time Protocol::*member, const char* help) {
      s.quantity(key, member, config::Unit::time, help).at_most("1 s").otherwise("0 s");
    };
    time("start", &Protocol::start, "before the first step");
    time("step", &Protocol::step, "from one member to the next within a node; at least the latency of their links");
    time("step_across", &Protocol::step_across,
         "from one member to the next in another node; at least the latency of their links");
    return s;
  }();
  return schema;
}

}  // namespace tessera::program
