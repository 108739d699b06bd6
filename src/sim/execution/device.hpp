// A device: carries out the streams of its program, and sends and receives what they say.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/execution/accounts.hpp"
#include "sim/execution/compute_engine.hpp"
#include "sim/execution/cost_table.hpp"
#include "sim/execution/distances.hpp"
#include "sim/execution/mailboxes.hpp"
#include "sim/execution/own_gpu.hpp"
#include "sim/execution/stream.hpp"
#include "sim/network/node.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/pdes/component.hpp"
#include "tessera/program/program.hpp"
#include "tessera/results/results.hpp"
#include "tessera/sim/execution/program_facts.hpp"

namespace tessera::sim {

/// What all devices of a rank are handed.
struct ExecutionEnvironment {
  const machine::Machine* machine = nullptr;
  const program::Program* program = nullptr;
  const ProgramFacts* facts = nullptr;
  NetworkEnvironment network;
  CostTables* costs = nullptr;
  program::Lowerings* lowerings = nullptr;
  Distances* distances = nullptr;  ///< null: nothing is promised (on one rank)
  CollectiveAccount* collectives = nullptr;
  program::Step* step = nullptr;  ///< room for one step of a collective
  bool record_timeline = false;
  bool record_memory = false;
  Time traffic_interval = 0;  ///< of traffic over time; 0: not recorded
};

class Device final : public pdes::Component, private NetworkOwner, private KernelOwner {
 public:
  Device(ExecutionEnvironment& environment, program::DeviceId self);

  void start(pdes::Context& context) override;
  void handle(pdes::Context& context, const pdes::Event& event) override;
  /// At least the compute time before the next message that may cross ranks.
  [[nodiscard]] Time earliest_output(Time from, Time latency) const override;

  [[nodiscard]] NetworkNode& node() { return node_; }
  [[nodiscard]] program::DeviceId id() const { return self_; }
  [[nodiscard]] Int128 flops() const { return flops_; }
  [[nodiscard]] Int128 bytes_sent() const { return bytes_sent_; }
  /// When its last stream ended.
  [[nodiscard]] Time finished() const;
  /// What each stream that has not ended waits for, and since when; empty when all have.
  [[nodiscard]] std::vector<std::string> waits() const;
  /// Appends this device's rows.
  void collect(Time iteration_time, results::RunResults& results) const;

 private:
  // device.cpp: events
  void on_delivered(const Delivered& message);
  void notify(std::uint32_t stream, Time waited_until);
  void act_on(const pdes::Event& event);
  void run_ready();
  void run_all_ready();
  [[nodiscard]] Stream& stream_at(std::uint32_t index) {
    return index < streams_.size() ? streams_[index] : *strands_[index - streams_.size()];
  }
  void recheck_departure(Stream& stream);
  void recheck_departures();
  void message_left(const OwnMessage& message, Time at) override;
  [[nodiscard]] bool reach_clock(Stream& stream);
  void wake_at(Stream& stream, Time at);
  /// Names what a stream does that goes beyond the range of time.
  [[noreturn]] void refuse_time(Stream& stream) const;

  // device_instructions.cpp: each carries out one instruction, or begins it; false when the stream has to wait
  void run(Stream& stream);
  void go_on_later(Stream& stream);
  [[nodiscard]] bool execute(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute_in_turn(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute_beside(Stream& stream, const program::Instruction& instruction);
  void begin_job();
  void follow_job();
  [[nodiscard]] bool send(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool receive(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool wait_sends(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool signal(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool wait(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] Stream* longest_waiting(std::uint32_t event);
  void change_memory(Stream& stream, const program::Instruction& instruction, std::int64_t bytes);
  void call(Stream& stream, const program::Instruction& instruction);
  void received(Stream& stream, Time waited_until);
  [[nodiscard]] const program::Instruction* present(Stream& stream) const;

  // device_collective.cpp
  [[nodiscard]] bool begin_collective(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] Taken taken_by(const Stream& stream) const;
  [[nodiscard]] bool begin_strands(Stream& stream);
  [[nodiscard]] Stream& unused_strand();
  void run_strand(Stream& strand);
  [[nodiscard]] bool go_on_with_collective(Stream& stream);
  [[nodiscard]] bool post_step(Stream& stream);
  [[nodiscard]] bool step_departed(Stream& stream);
  [[nodiscard]] bool end_collective(Stream& stream);

  // device_kernel.cpp
  [[nodiscard]] bool begin_kernel(Stream& stream, const program::Instruction& instruction);
  void end_kernel(Stream& stream, const program::Instruction& instruction, const OwnGpu& own);
  [[nodiscard]] OwnGpu& gpu(std::uint32_t memory);
  [[nodiscard]] const OwnGpu& gpu_of(const Stream& stream) const;
  void count_copy(const Stream& stream, const program::Instruction& instruction, const program::CopyKernel& kernel,
                  const OwnGpu& own);
  void on_gpu_call(const GpuCall& call);
  void on_block(const Delivered& message);
  void wake_gpu(std::uint32_t memory, Time at, const GpuWake& wake) override;
  void send_block(const OwnGpu& gpu, std::uint32_t member, const KernelBlock& block) override;
  void kernel_ended(const OwnGpu& gpu) override;
  void collect_kernels(results::RunResults& results) const;

  void post(Stream& stream, program::DeviceId destination, std::uint32_t channel, std::int64_t bytes,
            std::uint32_t batch, Time waited_until);
  [[nodiscard]] Outboxes::Box& outbox(program::DeviceId destination, std::uint32_t channel, std::uint32_t& hint);
  [[nodiscard]] OwnMessage own_message(const MessageName& name, program::DeviceId destination, std::int64_t bytes,
                                       Time waited_until) const;
  [[nodiscard]] Time departure(const Stream& stream, std::uint32_t batch) const;
  /// The time from `begin` to `end` goes to an activity.
  void spend(Stream& stream, const program::Instruction& instruction, program::Activity activity, Time begin, Time end);
  void spend_like(Stream& stream, const program::Instruction& wait, const Stream& other, Time end);
  void keep_wait(Stream& stream, const WaitSpan& wait) const;
  [[nodiscard]] std::string wait_of(const Stream& stream) const;
  [[nodiscard]] const Stream& strand_of(const Stream& stream) const;
  [[nodiscard]] Distance ahead(const Stream& stream, Time from) const;
  [[nodiscard]] const program::DeviceProgram& own_program() const { return environment_->program->devices[self_]; }

  // What most messages touch stands first and together: thousands of devices take turns in the cache.
  ExecutionEnvironment* environment_;
  program::DeviceId self_;
  pdes::ComponentId source_ = 0;      // of the event that is handled
  pdes::Context* context_ = nullptr;  // in that event
  Stream* at_work_ = nullptr;         // in that event, the stream that is carried on with
  CostTable* costs_ = nullptr;
  const DistanceTable* distances_ = nullptr;
  bool shares_compute_ = false;
  bool shares_cores_ = false;
  bool shares_events_ = false;
  bool departures_awaited_ = false;
  std::int64_t messages_received_ = 0;
  Int128 bytes_received_ = 0;
  Int128 bytes_sent_ = 0;
  std::vector<Stream> streams_;
  std::vector<std::unique_ptr<Stream>> strands_;  // of collectives; indices follow those of the streams
  std::vector<std::uint32_t> ready_;              // streams to run in this event
  Mailboxes mailboxes_;
  Outboxes outboxes_;
  NetworkNode node_;
  std::vector<std::uint32_t> ranks_;   // of this device in its groups, by group slot
  std::vector<std::uint64_t> events_;  // raised and not taken
  Time engine_free_ = 0;               // the compute engine, where streams take turns
  TimeAccount time_;
  Int128 flops_ = 0;
  std::unique_ptr<ComputeEngine> engine_;  // where collectives take cores from operators

  MemoryAccount memory_;
  std::vector<results::Interval> intervals_;
  std::vector<results::MemoryChange> memory_changes_;
  std::array<std::unique_ptr<OwnGpu>, program::kernel_memories> gpus_;                 // made at their first kernel
  std::map<std::pair<program::GroupId, std::uint32_t>, std::uint32_t> kernels_begun_;  // by group and memory
  std::vector<results::KernelRow> kernel_rows_;
};

}  // namespace tessera::sim
