// Messages that are not trivially copyable cross ranks with Boost.Serialization.
#include <boost/serialization/map.hpp>
#include <boost/serialization/string.hpp>
#include <boost/serialization/vector.hpp>
#include <catch2/catch.hpp>

#include "actors.hpp"
#include "support/world.hpp"
#include "tessera/pdes/serialized_message.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

struct Archive;
struct Catalogue {
  using protocol = Archive;
  std::string title;
  std::map<std::string, std::vector<std::int64_t>> entries;
  template <class Stream>
  void serialize(Stream& stream, unsigned) {
    stream& title& entries;
  }
  bool operator==(const Catalogue&) const = default;
};
struct Archive : Protocol<Word, Catalogue> {};

Catalogue catalogue_of(ComponentId id) {
  Catalogue catalogue{"catalogue of " + std::to_string(id) + std::string(5'000, '.'), {}};
  for (ComponentId k = 0; k < 20; ++k)
    catalogue.entries["entry " + std::to_string(k)] = std::vector<std::int64_t>(id + k, k);
  return catalogue;
}

}  // namespace

TEST_CASE("strings and maps arrive as they were sent") {
  tessera::test::World world;
  const ComponentId count = 8;
  std::vector<int> received(count);
  std::vector<Script> scripts(count);
  for (ComponentId id = 0; id < count; ++id) {
    scripts[id].start = [](Context& context) {
      for (ComponentId to = 0; to < count; ++to) {
        // Several of different length in one round, in both directions between any two ranks.
        if (to != context.self()) context.send_to(to, 10 + to % 2, catalogue_of(context.self()));
      }
    };
    scripts[id].handle = [&received](Context& context, const Event& event) {
      REQUIRE(event.kind == Archive::kind_of<Catalogue>);
      REQUIRE(context.get<Catalogue>(event) == catalogue_of(event.source));
      ++received[context.self()];
    };
  }
  ModelGraph model = actors(scripts, {});
  model.crossbars.push_back({0, count, 10});
  model.protocols = {protocol_info<Talk>(), protocol_info<Archive>()};
  for (const std::string& synchroniser : synchroniser_kinds()) {
    std::fill(received.begin(), received.end(), 0);
    RunOptions options;
    options.synchroniser = synchroniser;
    Simulation simulation(model, make_partition(model, world.comm.size(), "block"), world.comm);
    simulation.run(options);
    for (const ComponentId id : simulation.local_ids()) REQUIRE(received[id] == count - 1);
  }
}
