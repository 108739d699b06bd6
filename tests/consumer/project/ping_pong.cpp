// Two components of its own throw a ball to and fro on the engine.
#include <iostream>

#include "tessera/pdes/engine.hpp"

namespace {

using tessera::Communicator;
using tessera::Time;
namespace pdes = tessera::pdes;

struct Table;
struct Ball {
  using protocol = Table;
  int throws_left;
};
struct Table : pdes::Protocol<Ball> {};

/// Catches the ball and throws it back as long as throws are left.
class Player final : public pdes::Component {
 public:
  Player(bool serves, int throws, Time latency) : serves_(serves), throws_(throws), latency_(latency) {}

  void start(pdes::Context& context) override {
    if (serves_ && throws_ > 0) throw_ball(context, throws_);
  }
  void handle(pdes::Context& context, const pdes::Event& event) override {
    const int left = event.as<Ball>().throws_left;
    if (left > 0) throw_ball(context, left);
  }

 private:
  void throw_ball(pdes::Context& context, int left) {
    context.send(pdes::OutPort{0}, context.now() + latency_, Ball{left - 1});
  }

  bool serves_;
  int throws_;
  Time latency_;
};

/// The ball is thrown `throws` times over links of `latency`. Returns when it is caught last.
Time play(int throws, Time latency, Communicator& comm) {
  pdes::ModelGraph model;
  model.components = 2;
  model.links = {{0, 1, latency, pdes::protocol_info<Table>()}, {1, 0, latency, pdes::protocol_info<Table>()}};
  model.protocols = {pdes::protocol_info<Table>()};
  model.name = [](pdes::ComponentId id) { return "player " + std::to_string(id); };
  model.create = [=](pdes::ComponentId id) { return std::make_unique<Player>(id == 0, throws, latency); };

  pdes::Simulation simulation(model, pdes::make_partition(model, comm.size(), "block"), comm);
  return comm.max(simulation.run({}).last_event);
}

}  // namespace

int main() {
  // Ten throws of 3 ns each: the last one is caught after 30 ns.
  const auto comm = tessera::make_serial_communicator();
  const Time caught = play(10, 3 * tessera::nanosecond, *comm);
  std::cout << "caught last after " << caught << " ps\n";
  return caught == 30 * tessera::nanosecond ? 0 : 1;
}
