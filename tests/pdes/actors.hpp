// Components whose behaviour a test writes as functions, and models made of a few of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/message_of.hpp"
#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/engine.hpp"

namespace tessera::pdes::test {

struct Talk;
struct Word {
  using protocol = Talk;
  std::int64_t value = 0;
};
struct Letter {
  using protocol = Talk;
  std::array<std::int64_t, 8> text{};
};
struct Talk : Protocol<Word, Letter> {};

struct Script {
  std::function<void(Context&)> start = [](Context&) {};
  std::function<void(Context&, const Event&)> handle = [](Context&, const Event&) {};
  std::function<Time(Time, Time)> earliest_output;  ///< empty: the default
};

class Actor final : public Component {
 public:
  explicit Actor(const Script& script) : script_(script) {}
  void start(Context& context) override { script_.start(context); }
  void handle(Context& context, const Event& event) override { script_.handle(context, event); }
  [[nodiscard]] Time earliest_output(Time from, Time latency) const override {
    return script_.earliest_output ? script_.earliest_output(from, latency) : Component::earliest_output(from, latency);
  }

 private:
  const Script& script_;
};

/// Actors named "actor 0" and so on; `scripts` must outlive the simulation.
[[nodiscard]] inline ModelGraph actors(const std::vector<Script>& scripts, std::vector<LinkInfo> links) {
  ModelGraph model;
  model.components = static_cast<ComponentId>(scripts.size());
  model.links = std::move(links);
  model.protocols = {protocol_info<Talk>()};
  model.unconnected_allowed = true;
  model.name = [](ComponentId id) { return "actor " + std::to_string(id); };
  model.create = [&scripts](ComponentId id) { return std::make_unique<Actor>(scripts[id]); };
  return model;
}

/// On one rank without MPI.
inline RunStatistics play(const ModelGraph& model, const RunOptions& options = {}) {
  const auto comm = make_serial_communicator();
  Simulation simulation(model, make_partition(model, 1, "auto"), *comm);
  return simulation.run(options);
}

using tessera::test::message_of;

}  // namespace tessera::pdes::test
