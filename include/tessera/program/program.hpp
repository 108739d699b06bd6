// What each device does: streams of instructions, stored once and iterated, never unrolled.
//
// A Program holds blocks (straight-line code with calls and repeats) that all devices share, and a small binding per
// device: where its streams start, and what the slots in the code mean for it (which device is "next stage", which
// group is "tensor").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/machine/routes.hpp"
#include "tessera/program/kernel.hpp"
#include "tessera/program/protocol.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::program {

using DeviceId = machine::NodeId;
using BlockId = std::uint32_t;
using OperatorId = std::uint32_t;
using GroupId = std::uint32_t;
inline constexpr DeviceId no_device = ~DeviceId{0};  ///< a peer slot that means nothing to a device
inline constexpr GroupId no_group = ~GroupId{0};     ///< a group slot that means nothing to a device

/// What a stretch of a device's main stream is counted as in the breakdown (docs/results.md). These every program has;
/// a strategy's own follow them (Program::own_activities).
enum class Activity : std::uint8_t {
  forward,
  backward,
  recomputation,
  optimizer,
  tensor_communication,    ///< tensor/sequence-parallel collectives
  data_communication,      ///< gradient and parameter collectives of data parallelism
  pipeline_communication,  ///< stage-to-stage data that is under way
  expert_communication,    ///< MoE dispatch and combine
  redistribution,          ///< parts of a tensor that the next operator wants elsewhere
  other_communication,
  waiting,  ///< in a collective, for members that have not joined yet and whose data it needs
  bubble,   ///< for a peer that has not sent yet
  idle,     ///< until the host has launched the next kernel, and after the device's last instruction
};
inline constexpr int activity_count = 13;
[[nodiscard]] const char* name_of(Activity activity);

/// What device memory holds (docs/results.md). These every program has; a strategy's own follow them
/// (Program::own_categories).
enum class MemoryCategory : std::uint8_t { weights, gradients, optimizer_state, activations, kv_cache, buffers };
inline constexpr int memory_category_count = 6;
[[nodiscard]] const char* name_of(MemoryCategory category);

enum class Op : std::uint8_t {
  compute,     ///< operator `a`, `count` times in a row
  send,        ///< `bytes` to peer slot `a` on channel `b`: posted, the stream goes on (wait_sends waits for it)
  receive,     ///< `bytes` from peer slot `a` on channel `b`: waits until the whole message is here
  wait_sends,  ///< waits until all messages that this stream sent have left the device
  collective,  ///< collective `a` (index into Program::collectives): waits until this device's part is done
  signal,      ///< raises event `a` of this device by `count`
  wait,        ///< waits until event `a` has been raised `count` more times than earlier waits have taken
  allocate,    ///< `bytes` of memory category `b`
  release,     ///< `bytes` of memory category `b`
  call,        ///< block `a`, `count` times; `b` > 0: each time it is pass `b` of the next micro-batch
  kernel,      ///< kernel `a`, by its work-groups and memory transactions: waits until it has ended
  mark,        ///< one more of what the program repeats is over on this device; one stream of it says so (steady.hpp)
  end_phase,   ///< phase `a` (index into Program::phases) is over on this device; not inside what repeats
};

/// 24 bytes. Messages of one (sender, receiver, channel) match in order; there are no tags. Only one stream of a device
/// may send to a peer on a channel, only one may receive from it there, and only one may call the collectives of a
/// group: between streams the order would depend on time. (Two streams that need the same members use two groups.) Any
/// stream allocates and releases, also what another one has allocated: memory is the device's.
struct Instruction {
  Op op = Op::compute;
  Activity activity = Activity::forward;
  std::uint16_t label = 0;  ///< index into Program::labels: what the timeline shows
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::uint32_t count = 1;
  std::int64_t bytes = 0;

  bool operator==(const Instruction&) const = default;
};
static_assert(sizeof(Instruction) == 24);

struct Block {
  std::string name;  ///< "layer forward", "1F1B steady state"
  std::vector<Instruction> code;

  bool operator==(const Block&) const = default;
};

/// An ordered group of devices; a device's rank in it is its index.
struct Group {
  std::vector<DeviceId> members;

  bool operator==(const Group&) const = default;
};

enum class CollectiveKind : std::uint8_t { all_reduce, reduce_scatter, all_gather, all_to_all, broadcast };
[[nodiscard]] const char* name_of(CollectiveKind kind);

class CollectiveAlgorithm;  // program/collective.hpp
using AlgorithmPointer = std::shared_ptr<const CollectiveAlgorithm>;
using AlgorithmList = std::vector<AlgorithmPointer>;

/// An algorithm of collectives by its place in a list (program/collective.hpp), which outlives it. The built-in ones
/// stand first in every list, so that of these the index says it all.
struct AlgorithmId {
  std::uint32_t index = 0;
  const AlgorithmList* list = nullptr;  ///< null: the built-in ones

  AlgorithmId(std::uint32_t of_built_in = 0) : index(of_built_in) {}
  AlgorithmId(std::uint32_t place, const AlgorithmList& in) : index(place), list(&in) {}
  operator std::uint32_t() const { return index; }
};

/// A collective as the code names it; the group is a slot, bound per device.
struct Collective {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t group_slot = 0;
  /// all_reduce, broadcast: size of the buffer. reduce_scatter, all_gather: size of the whole (unscattered) buffer.
  /// all_to_all: bytes that each member holds for all members together.
  Bytes bytes{};
  Bytes element{2};        ///< chunks are whole elements and differ by at most one
  AlgorithmId algorithm;   ///< all of a program are of one list
  std::uint32_t root = 0;  ///< broadcast: rank in the group
  /// all_to_all with uneven load: relative share of each destination rank; empty means even.
  std::vector<double> shares;
  /// Of algorithm "ring": at most so many rings side by side; 0: as many as NICs that the members of a node can use.
  std::uint32_t rings = 0;
  /// The library's protocols; null: what a step sends is data alone, and waits for its links only.
  std::shared_ptr<const Protocols> protocols = {};

  /// With the same protocols, wherever these stand.
  bool operator==(const Collective& other) const;
};

/// One device's meaning of the shared code.
struct DeviceProgram {
  /// Entry block of each stream, whose name says what the stream is for; stream 0 is the main one.
  std::vector<BlockId> streams;
  std::vector<DeviceId> peers;  ///< by peer slot
  std::vector<GroupId> groups;  ///< by group slot
  std::uint32_t events = 0;     ///< number of events used by signal and wait

  bool operator==(const DeviceProgram&) const = default;
};

/// A way to divide the devices of a program into parts that do the same, each with the part before and behind it: the
/// first one is behind the last.
struct AlikeParts {
  std::string name;  ///< what they are, more than one: "replicas"
  /// The devices of each, in the same order; no device twice.
  std::vector<std::vector<DeviceId>> parts;

  bool operator==(const AlikeParts&) const = default;
};

/// Launches that wait on a device, at most: what CUDA's queues hold.
inline constexpr std::int64_t most_launches = 1024;

/// A whole job. Sizes do not grow with layers, micro-batches or repeats.
struct Program {
  std::vector<workload::Operator> operators;
  std::vector<Block> blocks;
  std::vector<Collective> collectives;
  std::vector<Kernel> kernels;
  std::vector<Group> groups;
  std::vector<DeviceProgram> devices;  ///< by device; no streams: the device takes no part
  std::vector<std::string> labels;     ///< labels[0] is ""
  /// What a strategy knows to be alike; copies of the model that do the same with other data are called "replicas".
  std::vector<AlikeParts> alike;
  std::vector<std::string> own_activities, own_categories;  ///< names; activity_named(), category_named()
  bool free_reductions = false;                             ///< reductions of collectives cost no memory time
  /// Cores that each collective takes on its devices while it runs, and memory bandwidth with them; 0: neither.
  std::uint32_t channels = 0;
  /// B; more than 0: what operators and messages read and write goes through one server a device, its memory's
  /// bandwidth, in packets of this size (workload::MemoryTraffic). Not beside `channels`, nor kernels.
  std::int64_t memory_packet = 0;
  /// ps; more than 0: a device's host launches what its main stream computes, sends and joins, one launch after
  /// another, each so long after the one before. The queue holds most_launches; behind an operator of kind host it is
  /// empty, and the host goes on when the device has come so far.
  Time issue_interval = 0;
  /// Messages by `send` that take other ways than the machine's own, which is fixed by where they are and where they
  /// go: all of a sender, receiver and channel go over these links of the network, in order. Each binding is of a
  /// connection on which something is sent; its way is whole and alive and passes no node twice (check_program says
  /// otherwise). Messages of collectives and kernels cannot be bound. Empty: nothing is.
  std::vector<machine::BoundWay> ways;
  /// Names of what an iteration consists of, one behind the other on each device, in this order: "prompt". Each is over
  /// when the last device says so (Op::end_phase).
  std::vector<std::string> phases;

  /// With the same names too, which evaluations' keys leave out.
  bool operator==(const Program&) const = default;
};

/// So many activities and categories of memory a program has.
[[nodiscard]] inline std::size_t activities_of(const Program& program) {
  return activity_count + program.own_activities.size();
}
[[nodiscard]] inline std::size_t categories_of(const Program& program) {
  return memory_category_count + program.own_categories.size();
}
[[nodiscard]] std::string name_of(const Program& program, Activity activity);
[[nodiscard]] std::string name_of(const Program& program, MemoryCategory category);
/// The one of that name, which is added where no program has it yet: "sram_reload". Names are small letters, digits and
/// '_', for they become columns of results; InternalError otherwise, and for more than 200 of them.
[[nodiscard]] Activity activity_named(Program& program, const std::string& name);
[[nodiscard]] MemoryCategory category_named(Program& program, const std::string& name);

/// Builds a block: `block.compute(op).collective(c).call(layer, 4)`. Thin helpers for strategies and tests.
class BlockBuilder {
 public:
  BlockBuilder(Program& program, std::string name);
  BlockBuilder& label(const std::string& text);                                  ///< of the instructions that follow
  BlockBuilder& activity(Activity activity);                                     ///< of the instructions that follow
  BlockBuilder& compute(const workload::Operator& op, std::uint32_t times = 1);  ///< equal operators are stored once
  BlockBuilder& send(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel = 0);
  BlockBuilder& receive(std::uint32_t peer_slot, Bytes bytes, std::uint32_t channel = 0);
  BlockBuilder& wait_sends();
  BlockBuilder& collective(Collective collective);
  BlockBuilder& signal(std::uint32_t event, std::uint32_t count = 1);
  BlockBuilder& wait(std::uint32_t event, std::uint32_t count = 1);
  BlockBuilder& allocate(MemoryCategory category, Bytes bytes);  ///< 0 bytes: nothing is added
  BlockBuilder& release(MemoryCategory category, Bytes bytes);
  BlockBuilder& kernel(const Kernel& kernel);
  BlockBuilder& mark();
  BlockBuilder& end_phase(const std::string& name);  ///< added to Program::phases where it is not there yet
  /// 0 times: nothing is added. `pass` > 0: of micro-batches, the n-th of which the n-th such call of a stream carries
  /// out; only timelines show it.
  BlockBuilder& call(BlockId block, std::uint32_t times = 1, std::uint32_t pass = 0);
  [[nodiscard]] BlockId done();  ///< adds the block to the program

 private:
  BlockBuilder& add(Op op, std::uint32_t a, std::uint32_t b, std::uint32_t count, Bytes bytes = {});

  Program* program_;
  Block block_;
  Activity activity_ = Activity::forward;
  std::uint16_t label_ = 0;
};

/// Problems that can be seen before time zero, as in DESIGN 6: receives without sends and sizes that differ (sequences
/// of each channel compared without unrolling), collectives that a member never joins or joins with another size or
/// order, groups with repeated members, events raised less often than awaited, memory released that was not allocated,
/// slots out of range, recursive blocks, ways that do not lead where they should. Returns texts that name devices;
/// empty when all is well. A cycle of waits is found by the simulator.
[[nodiscard]] std::vector<std::string> check_program(const Program& program, const machine::Machine& machine);

/// Appends the devices that `device` stores to in the program's kernels.
void append_kernel_destinations(const Program& program, DeviceId device, std::vector<DeviceId>& destinations);

/// Peak memory by walking a device's streams without time; a repeated block is walked once and its repeats follow in
/// closed form. Exact where one stream alone allocates and releases. Of several, how they meet in time decides: `total`
/// is certain, and `most` is what they hold where all are at their peaks at once.
struct MemoryPeak {
  std::int64_t total = 0;                 ///< B; 2^63 - 1: that, or more
  std::vector<std::int64_t> by_category;  ///< at the moment of the peak; as many as categories_of(), 0 without streams
  std::int64_t most = 0;
  [[nodiscard]] bool is_exact() const { return most == total; }
};
[[nodiscard]] MemoryPeak memory_peak(const Program& program, DeviceId device);

/// The blocks that a stream runs, and how often each; at most 2^63 - 1 times.
struct BlockRuns {
  BlockId block = 0;
  std::int64_t times = 0;
};
[[nodiscard]] std::vector<BlockRuns> block_runs(const Program& program, BlockId entry);

/// Totals of one device's streams, without unrolling: for `tessera check` and for rates.
/// 128 bits: more than any time suffices for, and they stay at 2^127 - 1.
struct ProgramTotals {
  std::int64_t instructions = 0;
  Int128 flops = 0;
  Int128 bytes_sent = 0;              ///< by sends and collectives
  std::int64_t messages = 0;          ///< sent by sends and collectives
  std::vector<std::int64_t> kernels;  ///< runs of each of Program::kernels
};
[[nodiscard]] ProgramTotals totals(const Program& program, const machine::Machine& machine, DeviceId device);
class Lowerings;
/// Of many devices: lowerings are found once.
[[nodiscard]] ProgramTotals totals(Lowerings& lowerings, DeviceId device);
/// FLOP of all devices, whatever they are for (recomputation, padding). double: they may exceed 2^63.
[[nodiscard]] double executed_flops(const Program& program);

}  // namespace tessera::program
