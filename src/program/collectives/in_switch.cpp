// In-switch: the switch that joins the GPUs of a node adds up what they send and hands the sums to all. Source: NVLink
// SHARP, NCCL's algorithm "NVLS".
//
// Two phases: each member has the switch read a part from all and gets its sum, then gives the sum to the switch, which
// hands it to all. Of S bytes a port carries S up and S/N down in the first one, S/N up and S down in the second one.
// They go in pieces, one phase beside the other: ports carry S (1 + 1/N) each way, but for the first piece and the last
// one, of which one phase runs alone. What ports carry is what is sent here, from each member to the next one; the
// adders keep up with the ports, and nobody has a sum before all have joined.
#include <algorithm>

#include "algorithms.hpp"
#include "chunks.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/message_time.hpp"

namespace tessera::program {
namespace {

constexpr std::int64_t bytes_each = 2'097'152;  // of a member in a piece: 16 channels of 128 KiB, NCCL's default
constexpr std::uint16_t first_phase = 0, second_phase = 1, joins = 2;  // lanes

std::uint32_t pieces_of(const CollectiveCall& call) {
  const std::int64_t piece = bytes_each * call.size;
  return static_cast<std::uint32_t>(std::max<std::int64_t>(1, (call.collective->bytes.value() + piece - 1) / piece));
}

class InSwitch final : public CollectiveAlgorithm {
 public:
  std::string name() const override { return "in-switch"; }
  std::string help() const override { return "the switch of a node adds and hands out: NVLink SHARP (NVLS)"; }
  bool supports(CollectiveKind kind) const override { return kind == CollectiveKind::all_reduce; }

  std::string check(const Collective&, const Group& group, const machine::Machine& machine) const override {
    const machine::Routes routes(machine.network);
    for (const DeviceId member : group.members) {
      if (member == group.members.front()) continue;
      const auto links = routes.links(group.members.front(), member);
      const bool is_switched = links.size() == 2 && machine.network.links[links[0]].to >= machine.devices();
      if (!is_switched || machine.places[member].node != machine.places[group.members.front()].node)
        return name() + " needs members of one node, joined by one switch";
    }
    return {};
  }

  std::uint32_t steps(const CollectiveCall& call) const override { return call.size == 1 ? 0 : pieces_of(call) + 1; }

  /// Of all pieces and of the join, which knows of everybody.
  void destinations(const CollectiveCall& call, std::vector<std::uint32_t>& ranks) const override {
    for (std::uint32_t i = 1; i < call.size; ++i) ranks.push_back(plus_modulo(call.rank, i, call.size));
  }

  // Where parts of a piece differ by an element, whoever has a larger one is not like the others.
  bool is_alike(const CollectiveCall& call, const CollectiveCall& other, std::uint32_t by) const override {
    const std::int64_t elements = call.collective->bytes.value() / call.collective->element.value();
    if (by == 0 || elements % (std::int64_t{pieces_of(call)} * call.size) == 0) return true;
    return CollectiveAlgorithm::is_alike(call, other, by);
  }

  // Pieces differ by an element at most.
  double time(const Collective& collective, const Group& group, const machine::Machine& machine) const override {
    if (group.members.size() == 1) return 0;
    const CollectiveCall call = make_call(collective, group, 0, machine);
    const std::uint32_t pieces = pieces_of(call);
    const std::int64_t piece = chunk_of(collective, pieces, 0).bytes, part = (piece + call.size - 1) / call.size;
    const auto phase = [&](std::int64_t bytes) {
      return message_time(machine, group.members[0], group.members[1], Bytes{bytes});
    };
    return 2 * phase(piece) + (pieces - 1) * phase(piece + part);
  }

  void step(const CollectiveCall& call, std::uint32_t index, Step& step) const override {
    step.clear();
    const std::uint32_t pieces = pieces_of(call);
    const std::uint32_t next = plus_modulo(call.rank, 1, call.size), before = minus_modulo(call.rank, 1, call.size);
    if (index == 0) join(call, step);
    if (index < pieces) {
      const Data piece = chunk_of(*call.collective, pieces, index);
      add_send(step, next, piece, first_phase);
      add_receive(step, before, piece, first_phase);
      step.receives.back().of_all = true;
    }
    if (index == 0) return;
    const Data summed = chunk_of(*call.collective, pieces, index - 1);
    const auto part = [&](std::uint32_t rank) {
      return index == pieces ? summed : chunk_of(summed, call.collective->element, call.size, rank);
    };
    add_send(step, next, part(call.rank), second_phase);
    add_receive(step, before, part(before), second_phase);
    step.follows = true;
  }

 private:
  /// All know of all others.
  static void join(const CollectiveCall& call, Step& step) {
    for (std::uint32_t i = 1; i < call.size; ++i) {
      add_send(step, plus_modulo(call.rank, i, call.size), {}, joins);
      add_receive(step, minus_modulo(call.rank, i, call.size), {}, joins);
    }
  }
};

}  // namespace

AlgorithmPointer make_in_switch() { return std::make_shared<InSwitch>(); }

}  // namespace tessera::program
