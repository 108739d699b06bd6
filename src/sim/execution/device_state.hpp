// The three structs of a device, and what it writes down.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sim/execution/accounts.hpp"
#include "sim/execution/compute_engine.hpp"
#include "sim/execution/cost_table.hpp"
#include "sim/execution/mailboxes.hpp"
#include "sim/execution/own_gpu.hpp"
#include "sim/execution/promises.hpp"
#include "sim/execution/shared_memory.hpp"
#include "sim/execution/stream.hpp"
#include "sim/execution/takeover.hpp"
#include "sim/lazy.hpp"
#include "sim/network/node.hpp"
#include "tessera/pdes/component.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/execution/program_facts.hpp"

namespace tessera::sim {

/// The event that one of a rank's devices handles, at a time: nothing of it is left between events.
struct Handling {
  pdes::Context* context = nullptr;
  pdes::ComponentId source = 0;      ///< of the event
  Stream* at_work = nullptr;         ///< that is carried on with
  std::vector<std::uint32_t> ready;  ///< streams to run
  std::size_t next = 0;              ///< of these
  std::size_t in_turn = 0;           ///< so many of these at first are due, in the order of their numbers
};

/// Where the main stream of a device goes round a loop, for whoever looks for what repeats itself (laws/rounds).
struct LoopRound {
  std::vector<char> is_looked_at;                 ///< by device; empty: none is
  program::DeviceId device = program::no_device;  ///< of these
  std::size_t depth = 0;                          ///< Stream::frames[depth] has begun a repeat,
  program::BlockId block = 0;                     ///< of this block
  bool is_new = false;                            ///< in the event that is handled, or was last
  [[nodiscard]] bool looks_at(program::DeviceId one) const {
    return one < is_looked_at.size() && is_looked_at[one] != 0;
  }
};

/// What all devices of a rank are handed.
struct ExecutionEnvironment {
  const machine::Machine* machine = nullptr;
  const program::Program* program = nullptr;
  const ProgramFacts* facts = nullptr;
  NetworkEnvironment network;
  CostTables* costs = nullptr;
  program::Lowerings* lowerings = nullptr;
  bool takes_memory_rounds = false;  ///< MemoryServer
  Promises* promises = nullptr;      ///< null: nothing is promised, as on one rank
  program::Step* step = nullptr;     ///< room for one step of a collective
  Takeover* takeover = nullptr;      ///< null: all collectives go step by step
  Handling handling;
  LoopRound loop_round;
  /// Devices whose streams share memory are refused more than they have: what they hold is not known before.
  bool limits_memory = false;
  bool record_timeline = false;
  bool record_memory = false;
  Time traffic_interval = 0;  ///< of traffic over time; 0: not recorded
};

/// What a device writes down as time goes on; it never reads it.
struct DeviceRecord {
  std::vector<results::StreamIntervals> intervals;  ///< by stream, as far as they have any
  std::vector<results::MemoryChange> memory_changes;
  std::vector<results::KernelRow> kernel_rows;
  std::vector<Time> marks;
  std::vector<std::pair<std::uint32_t, Time>> phase_ends;  ///< by number of the phase
  // For what a timeline says of its intervals:
  using Line = std::pair<program::DeviceId, std::uint32_t>;                  ///< the other device, and the channel
  std::map<Line, std::int64_t> sent, taken;                                  ///< messages
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t> passes{};  ///< called, by stream and pass

  [[nodiscard]] results::StreamIntervals& intervals_of(std::uint32_t stream) {
    if (intervals.size() <= stream) intervals.resize(stream + std::size_t{1});
    return intervals[stream];
  }
};
using OwnRecord = Lazy<DeviceRecord>;  ///< most devices write nothing down

struct DeviceConfig {
  program::DeviceId self = 0;
  std::uint32_t streams = 0;    ///< of its program
  bool shares_compute = false;  ///< ProgramFacts
  bool shares_cores = false;
  bool shares_events = false;
  bool shares_memory = false;        ///< of its streams, by allocating
  bool shares_bandwidth = false;     ///< operators and messages, of the memory
  std::vector<std::uint32_t> ranks;  ///< of this device in its groups, by group slot
};

/// The MemoryWake that is under way.
struct MemoryCall {
  Time at = never;  ///< never: none is
  std::uint32_t token = 0;
};

struct DeviceShared {
  ExecutionEnvironment* environment = nullptr;
  CostTable* costs = nullptr;  ///< null: its program has no stream
  OwnRecord* record = nullptr;
};

/// All that changes in a device between events, but for its node and its GPUs. What most messages touch stands first
/// and together: thousands of devices take turns in the cache.
struct DeviceState {
  std::vector<Stream> streams;
  Mailboxes mailboxes;
  Outboxes outboxes;
  bool departures_awaited = false;
  std::int64_t messages_received = 0;
  Int128 bytes_received = 0;
  Int128 bytes_sent = 0;
  std::vector<Stream> strands;        ///< of collectives; indices follow those of the streams
  std::vector<std::uint64_t> events;  ///< raised and not taken
  Time engine_free = 0;               ///< the compute engine, where streams take turns
  TimeAccount time;
  Int128 flops = 0;
  std::optional<ComputeEngine> engine;  ///< where collectives take cores from operators
  MemoryCall memory_call;
  MemoryAccount memory;
  CollectiveAccount collectives;
  Lazy<std::map<std::pair<program::GroupId, std::uint32_t>, std::uint32_t>> kernels_begun;  ///< by group and memory
};

/// A device as laws see it.
struct DeviceView {
  const DeviceConfig& config;
  const DeviceState& state;
  const NetworkNode& node;
};
struct DeviceParts {
  const DeviceConfig& config;
  DeviceState& state;
  NetworkNode& node;
  SharedMemory* shared;  ///< null: operators and messages do not share the memory
  OwnRecord& record;
  const program::Program& program;
};

/// A device as it is between two events, in plain data: a Device of the same program goes on from it.
struct SavedDevice {
  DeviceState device;
  NodeState node;
  std::optional<SharedMemory::State> memory;
  std::array<std::optional<SavedOwnGpu>, program::kernel_memories> gpus;
};

}  // namespace tessera::sim
