// The passes that ring laws make of a collective, beside its algorithm's steps.
#include "sim/laws/rings/ring_work.hpp"

#include <catch2/catch.hpp>

#include "program_case.hpp"
#include "tessera/base/random.hpp"

using namespace tessera;
using namespace tessera::test;
using program::CollectiveKind;

namespace {

/// Devices in nodes of `locals`, each with a NIC, and a collective of all of them.
struct Case {
  machine::Machine machine;
  program::Group group;
  program::Collective collective;

  Case(std::uint64_t index, const std::string& algorithm) : machine(connected_machine(1)) {
    const KeyedRandom random(index, random_stream("ring work"));
    const std::uint64_t locals = 1 + random.below(0, 4), nodes = 1 + random.below(1, 4);
    machine.places.clear();
    for (program::DeviceId device = 0; device < locals * nodes; ++device) {
      const auto node = static_cast<int>(device / locals);
      machine.places.push_back({node, static_cast<int>(device % locals), 0, static_cast<int>(device)});
      group.members.push_back(device);
    }
    constexpr std::array kinds{CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather};
    collective =
        test::collective(kinds[random.below(2, 3)], 2 * static_cast<std::int64_t>(random.below(3, 300)), algorithm);
    collective.element = Bytes{2};
  }
  [[nodiscard]] program::CollectiveCall call() const { return program::make_call(collective, group, 0, machine); }
};

/// Every step of a seat: to whom what goes, and what is added.
void check_seat(const sim::RingPlan& plan, program::CollectiveCall call, std::uint32_t strand, std::uint32_t rank) {
  const sim::RingShape& shape = plan.shape;
  const std::vector<std::uint32_t> senders = shape.senders();
  const std::uint32_t seat = strand * call.size + rank;
  call.strand = strand;
  call.rank = rank;
  REQUIRE(program::algorithm_of(call).steps(call) == plan.work.steps);
  program::Step step;
  for (std::uint32_t index = 0; index < plan.work.steps; ++index) {
    program::algorithm_of(call).step(call, index, step);
    std::size_t sent = 0;
    for (std::uint32_t slot = 0; slot < shape.slots; ++slot) {
      const std::uint32_t way = shape.way(slot, seat);
      const sim::RingSum before = sent_on(plan.work, shape, senders, way, index);
      const sim::RingSum with = sent_on(plan.work, shape, senders, way, index + 1);
      if (with.messages == before.messages) continue;
      const program::Transfer& send = step.sends.at(sent++);
      REQUIRE(with.bytes - before.bytes == send.bytes);
      REQUIRE(shape.to[way] == strand * call.size + send.peer);
      REQUIRE(shape.lanes[way] == send.lane);
    }
    REQUIRE(sent == step.sends.size());
    REQUIRE(bytes_added(plan.work, shape, senders, seat, index) == step.reduce);
  }
}

}  // namespace

TEST_CASE("ring work: the passes of random collectives are the steps of their algorithms") {
  int with_strands = 0;
  for (const std::string algorithm : {"ring", "bidirectional-ring", "hierarchical"}) {
    for (std::uint64_t index = 0; index < 200; ++index) {
      const Case made(index, algorithm);
      if (made.group.members.size() < 2) continue;
      CAPTURE(algorithm, index);
      const auto plan = sim::plan_rings(made.call());
      REQUIRE(plan);
      with_strands += plan->shape.strands > 1 ? 1 : 0;
      for (std::uint32_t strand = 0; strand < plan->shape.strands; ++strand) {
        for (std::uint32_t rank = 0; rank < made.group.members.size(); ++rank)
          check_seat(*plan, made.call(), strand, rank);
      }
    }
  }
  CHECK(with_strands > 50);
}

TEST_CASE("ring work: what does not go round rings has no passes") {
  for (const std::string algorithm : {"binomial-tree", "direct"}) {
    Case made(1, algorithm);
    made.group.members = {0, 1, 2, 3};
    made.machine.places.assign(4, {});
    made.collective.kind = CollectiveKind::all_reduce;
    CAPTURE(algorithm);
    if (program::check_collective(made.collective, made.group, made.machine).empty())
      CHECK(!sim::plan_rings(made.call()));
  }
}
