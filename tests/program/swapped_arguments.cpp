// Sizes in a program have a type of their own: in the place of a peer, a channel or a number of parts they do not
// compile, and neither do those in theirs.
#include <catch2/catch.hpp>
#include <concepts>

#include "tessera/program/collective.hpp"
#include "tessera/program/held_state.hpp"
#include "tessera/program/message_time.hpp"
#include "tessera/program/stage_passes.hpp"

using namespace tessera;
using namespace tessera::program;

namespace {

using Slot = std::uint32_t;
using Channel = std::uint32_t;

template <class... Arguments>
concept sends = requires(BlockBuilder& block, Arguments... arguments) {
  block.send(arguments...);
  block.receive(arguments...);
};
template <class... Arguments>
concept allocates = requires(BlockBuilder& block, Arguments... arguments) {
  block.allocate(arguments...);
  block.release(arguments...);
};
template <class... Arguments>
concept cuts = requires(Arguments... arguments) {
  chunk_bytes(arguments...);
};
template <class... Arguments>
concept is_timed = requires(const machine::Machine& machine, Arguments... arguments) {
  message_time(machine, arguments...);
};
template <class... Arguments>
concept pauses = requires(const std::string& name, Arguments... arguments) {
  workload::host_pause(name, arguments...);
};
template <class Member, class Value>
concept takes = std::assignable_from<Member&, Value>;

}  // namespace

TEST_CASE("a message's peer, size and channel cannot change places") {
  STATIC_REQUIRE(sends<Slot, Bytes>);
  STATIC_REQUIRE(sends<Slot, Bytes, Channel>);
  STATIC_REQUIRE(!sends<Bytes, Slot>);
  STATIC_REQUIRE(!sends<Bytes, Slot, Channel>);
  STATIC_REQUIRE(!sends<Slot, Channel, Bytes>);
  STATIC_REQUIRE(!sends<Slot, std::int64_t>);  // a bare number
}

TEST_CASE("memory is allocated and released by category and size, in that order") {
  STATIC_REQUIRE(allocates<MemoryCategory, Bytes>);
  STATIC_REQUIRE(!allocates<Bytes, MemoryCategory>);
  STATIC_REQUIRE(!allocates<MemoryCategory, Flop>);
  STATIC_REQUIRE(!allocates<MemoryCategory, std::int64_t>);
}

TEST_CASE("a buffer is cut into parts of whole elements: sizes first, then counts") {
  STATIC_REQUIRE(cuts<Bytes, Bytes, std::uint32_t, std::uint32_t>);
  STATIC_REQUIRE(!cuts<Bytes, std::uint32_t, Bytes, std::uint32_t>);
  STATIC_REQUIRE(!cuts<std::uint32_t, std::uint32_t, Bytes, Bytes>);
}

TEST_CASE("a message's ends are not its size") {
  STATIC_REQUIRE(is_timed<DeviceId, DeviceId, Bytes>);
  STATIC_REQUIRE(is_timed<DeviceId, DeviceId, Bytes, Bytes>);
  STATIC_REQUIRE(!is_timed<Bytes, DeviceId, DeviceId>);
  STATIC_REQUIRE(!is_timed<DeviceId, Bytes, DeviceId>);
}

TEST_CASE("what a device holds, exchanges and sums is a size, and its memory moves at a rate") {
  STATIC_REQUIRE(takes<decltype(HeldState::weights), Bytes>);
  STATIC_REQUIRE(!takes<decltype(HeldState::weights), std::int64_t>);
  STATIC_REQUIRE(!takes<decltype(StageNeighbours::activations), std::uint32_t>);
  STATIC_REQUIRE(!takes<decltype(StageNeighbours::activations_channel), Bytes>);
  STATIC_REQUIRE(!takes<decltype(Collective::bytes), std::uint32_t>);
  STATIC_REQUIRE(!takes<decltype(Collective::group_slot), Bytes>);
  STATIC_REQUIRE(!takes<decltype(Lowering::memory_rate), Bytes>);
}

TEST_CASE("the host pauses for a duration") {
  STATIC_REQUIRE(pauses<Duration>);
  STATIC_REQUIRE(!pauses<Bytes>);
  STATIC_REQUIRE(!pauses<Time>);
}
