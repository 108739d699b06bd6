// What is refused before time zero.
#include <catch2/catch.hpp>
#include <cmath>

#include "actors.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

const std::vector<Script> three(3);

std::string problem(const ModelGraph& model) {
  return message_of<InternalError>([&] { check_model(model); });
}

struct Other;
struct Shout {
  using protocol = Other;
};
struct Other : Protocol<Shout> {};

}  // namespace

TEST_CASE("a sound model passes") { CHECK(problem(actors(three, {{0, 1, 1}, {1, 2, 0}})) == "no error"); }

TEST_CASE("a model needs components and a way to create them") {
  ModelGraph model;
  CHECK(problem(model) == "the model has no components\nthe model has no function that creates its components");
}

TEST_CASE("dangling links and crossbars are refused") {
  CHECK(problem(actors(three, {{0, 3, 1}})) ==
        "link 0 leads from component 0 to component 3, but the model has 3 components");
  ModelGraph model = actors(three, {});
  model.crossbars = {{1, 3, 1}};
  CHECK(problem(model) == "a crossbar spans 3 components from 1, but the model has 3 components");
  model.crossbars = {{1, 0, 1}};
  CHECK(problem(model) == "a crossbar spans 0 components from 1, but the model has 3 components");
  model.crossbars = {{0, 2, 1}, {1, 2, 1}};
  CHECK(problem(model) == "actor 1 is a member of two crossbars");
}

TEST_CASE("negative latencies and weights are refused") {
  CHECK(problem(actors(three, {{0, 1, -1}})) ==
        "the link from actor 0 to actor 1 has a latency of -1 ps, allowed are 0 and more");
  ModelGraph model = actors(three, {});
  model.weights = {1, -2, 1};
  CHECK(problem(model) == "actor 1 has the weight -2, allowed are 0 and more");
  model.weights = {1, 1, std::nanf("")};
  CHECK(problem(model) == "actor 2 has the weight nan, allowed are 0 and more");
}

TEST_CASE("sizes have to fit the number of components") {
  ModelGraph model = actors(three, {});
  model.weights = {1};
  model.groups = {0, 0};
  model.positions.resize(4);
  CHECK(problem(model) ==
        "the model has 3 components but 1 weights\nthe model has 3 components but 2 groups\nthe model has 3 components "
        "but 4 positions");
}

TEST_CASE("a component without links is taken for a mistake") {
  ModelGraph model = actors(three, {{0, 1, 1}});
  model.unconnected_allowed = false;
  CHECK(problem(model) == "actor 2 has no link, so nothing can reach it");
}

TEST_CASE("a link has to carry a protocol that its end handles") {
  ModelGraph model = actors(three, {{0, 1, 1, protocol_info<Talk>()}, {1, 2, 1, protocol_info<Talk>()}});
  model.handles = [](ComponentId id) { return id == 2 ? protocol_info<Other>() : protocol_info<Talk>(); };
  CHECK(problem(model) == "the link from actor 1 to actor 2 carries a protocol that actor 2 does not handle");
}

TEST_CASE("many problems are cut short") {
  const std::vector<Script> many(20);
  ModelGraph model = actors(many, {});
  model.unconnected_allowed = false;
  const std::string text = problem(model);
  CHECK(text.substr(0, 45) == "actor 0 has no link, so nothing can reach it\n");
  CHECK(text.substr(text.size() - 16) == "\n... and 12 more");
}

TEST_CASE("a partition has to fit the model and the ranks") {
  const ModelGraph model = actors(three, {});
  const auto comm = make_serial_communicator();
  CHECK(message_of<InternalError>([&] {
          Simulation(model, Partition{2, {0, 0, 1}}, *comm);
        }) == "a partition of 3 components into 2 ranks does not fit a model of 3 components on 1 ranks");
}
