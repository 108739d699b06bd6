// A model for the engine's tests: components that pass messages around and digest every event they see, so that two
// runs are the same exactly when all digests are.
#pragma once

#include <memory>
#include <vector>

#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::pdes::test {

/// A 64-bit mix of two values (SplitMix64's finaliser), for digests and for choices that depend on nothing but the
/// model.
[[nodiscard]] inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a + 0x9E3779B97F4A7C15U * (b + 1);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

struct Relay;

/// Something to do at a component; `hops` more are to follow.
struct Task {
  using protocol = Relay;
  std::uint64_t tag = 0;
  std::uint32_t hops = 0;
};

/// Too long for an event.
struct Parcel {
  using protocol = Relay;
  std::uint64_t tag = 0;
  std::uint32_t hops = 0;
  std::array<std::uint64_t, 9> load{};
};

struct Relay : Protocol<Task, Parcel> {};

/// What a relay component does; equal for all components of a model.
struct RelayRules {
  std::uint32_t tasks = 3;  ///< started by each component
  std::uint32_t hops = 40;  ///< that each task lives
  Time step = 100;          ///< times are multiples of it, so that many events take place at once
  Time latency = 0;         ///< of links between groups; 0: some steps
  bool crossbar = false;    ///< send over a crossbar of all components as well
  bool parcels = false;
  ComponentId failing = 0xFFFF'FFFFU;  ///< this component throws
  Time fails_at = never;               ///< from this time on
};

class RelayComponent : public Component {
 public:
  RelayComponent(ComponentId id, std::uint32_t ports, ComponentId components, const std::vector<Time>& latencies,
                 const RelayRules& rules)
      : id_(id), ports_(ports), components_(components), latencies_(latencies), rules_(rules) {}

  void start(Context& context) override {
    for (std::uint32_t k = 0; k < rules_.tasks; ++k)
      context.schedule(rules_.step * (k % 2), Task{mix(id_, k), rules_.hops});
  }

  void handle(Context& context, const Event& event) override {
    if (id_ == rules_.failing && context.now() >= rules_.fails_at) throw failure(id_, context.now());
    std::uint64_t tag = 0;
    std::uint32_t hops = 0;
    switch (event.kind) {
      case Relay::kind_of<Task>: {
        const Task task = event.as<Task>();
        tag = task.tag, hops = task.hops;
        break;
      }
      case Relay::kind_of<Parcel>: {
        const Parcel& parcel = context.get<Parcel>(event);
        tag = parcel.tag, hops = parcel.hops;
        for (const std::uint64_t value : parcel.load) digest_ = mix(digest_, value);
        break;
      }
      default:
        throw InternalError("a message that no relay knows");
    }
    digest_ = mix(mix(mix(mix(digest_, context.now()), event.source), event.sequence), tag);
    ++events_;
    if (hops > 0) pass_on(context, mix(tag, digest_), hops - 1);
  }

  [[nodiscard]] std::uint64_t digest() const { return digest_; }
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  static InfeasibleError failure(ComponentId id, Time now) {
    return InfeasibleError("component " + std::to_string(id) + " fails at " + std::to_string(now));
  }

  /// Where to and when depends on the digest, so a single event out of order changes everything after it.
  void pass_on(Context& context, std::uint64_t choice, std::uint32_t hops) {
    const Time later = rules_.step * static_cast<Time>(choice >> 8 & 3);
    const std::uint64_t target = choice % (ports_ + (rules_.crossbar ? 2 : 1));
    if (target < ports_) {
      const OutPort port{static_cast<std::uint32_t>(target)};
      const Time at = context.now() + latencies_[target] + later;
      if (rules_.parcels && (choice >> 20 & 1) != 0) {
        Parcel parcel{choice, hops, {}};
        for (std::size_t k = 0; k < parcel.load.size(); ++k) parcel.load[k] = mix(choice, k);
        context.send(port, at, parcel);
      } else {
        context.send(port, at, Task{choice, hops});
      }
    } else if (target == ports_) {
      context.schedule(context.now() + later, Task{choice, hops});  // often at once
    } else {
      const auto to = static_cast<ComponentId>((choice >> 32) % components_);
      if (to == id_) return context.schedule(context.now() + rules_.step, Task{choice, hops});
      context.send_to(to, context.now() + rules_.step + later, Task{choice, hops});
    }
  }

  ComponentId id_;
  std::uint32_t ports_;
  ComponentId components_;
  std::vector<Time> latencies_;
  RelayRules rules_;
  std::uint64_t digest_ = 0;
  std::uint64_t events_ = 0;
};

/// `count` components on a ring in both directions, with groups of `group_size` inside which links have no latency.
[[nodiscard]] inline ModelGraph relay_ring(ComponentId count, ComponentId group_size, const RelayRules& rules) {
  ModelGraph model;
  model.components = count;
  auto latencies = std::make_shared<std::vector<std::vector<Time>>>(count);
  const auto connect = [&](ComponentId from, ComponentId to) {
    const bool together = from / group_size == to / group_size;
    const Time latency = together ? 0 : rules.latency > 0 ? rules.latency : rules.step * (1 + from % 3);
    model.links.push_back({from, to, latency, protocol_info<Relay>()});
    (*latencies)[from].push_back(latency);
  };
  for (ComponentId id = 0; id < count && count > 1; ++id) {
    connect(id, (id + 1) % count);
    connect(id, (id + count - 1) % count);
  }
  for (ComponentId id = 0; id < count; ++id) model.groups.push_back(id / group_size);
  for (ComponentId id = 0; id < count; ++id) model.weights.push_back(static_cast<float>(1 + id % 2));
  if (rules.crossbar) model.crossbars.push_back({0, count, rules.step});
  model.protocols = {protocol_info<Relay>()};
  model.name = [](ComponentId id) { return "relay " + std::to_string(id); };
  model.create = [latencies, count, rules](ComponentId id) {
    const auto& mine = (*latencies)[id];
    return std::make_unique<RelayComponent>(id, static_cast<std::uint32_t>(mine.size()), count, mine, rules);
  };
  return model;
}

/// Every component's digest in order of id, on every rank.
struct Outcome {
  std::vector<std::int64_t> digests;
  std::uint64_t events = 0;  ///< of all ranks
  RunStatistics statistics;  ///< of this rank
};

inline Outcome run(const ModelGraph& model, const Partition& partition, Communicator& comm, const RunOptions& options) {
  Simulation simulation(model, partition, comm);
  Outcome outcome;
  outcome.statistics = simulation.run(options);
  std::vector<std::int64_t> mine(model.components);
  for (std::size_t k = 0; k < simulation.local_ids().size(); ++k) {
    mine[simulation.local_ids()[k]] =
        static_cast<std::int64_t>(dynamic_cast<RelayComponent&>(simulation.local(k)).digest());
  }
  for (const std::int64_t digest : mine) outcome.digests.push_back(comm.sum(digest));
  outcome.events = static_cast<std::uint64_t>(comm.sum(static_cast<std::int64_t>(outcome.statistics.events)));
  return outcome;
}

/// The same model on one rank without MPI.
inline Outcome run_serially(const ModelGraph& model, const RunOptions& options = {}) {
  const auto comm = make_serial_communicator();
  return run(model, make_partition(model, 1, "block"), *comm, options);
}

}  // namespace tessera::pdes::test
