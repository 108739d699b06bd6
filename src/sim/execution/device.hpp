// A device: carries out the streams of its program, and sends and receives what they say.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/execution/device_state.hpp"

namespace tessera::sim {

class Device final : public pdes::Component,
                     private NetworkOwner,
                     private MemoryOwner,
                     private KernelOwner,
                     private TakenMember {
 public:
  /// Both outlive it.
  Device(ExecutionEnvironment& environment, OwnRecord& record, program::DeviceId self);

  void start(pdes::Context& context) override;
  void handle(pdes::Context& context, const pdes::Event& event) override;
  [[nodiscard]] Time earliest_output(Time from, Time latency) const override;

  [[nodiscard]] NetworkNode& node() { return node_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Port>>& ports() const { return node_.ports(); }
  [[nodiscard]] TakenMember& taken_member() { return *this; }
  [[nodiscard]] program::DeviceId id() const { return config_.self; }
  [[nodiscard]] Int128 flops() const { return state_.flops; }
  [[nodiscard]] Int128 bytes_sent() const { return state_.bytes_sent; }
  /// When its last stream ended.
  [[nodiscard]] Time finished() const;
  /// What each stream that has not ended waits for, and since when; empty when all have.
  [[nodiscard]] std::vector<std::string> waits() const;
  /// Appends this device's rows, once: those of a timeline are handed over.
  void collect(Time iteration_time, results::RunResults& results) const;

  /// For laws, which read what a device does next, or move on all of it.
  [[nodiscard]] DeviceView view() const { return {config_, state_, node_}; }
  [[nodiscard]] DeviceParts parts() { return {config_, state_, node_, memory_.get(), *shared_.record, program()}; }
  /// Whether a pending event may still do something: an earlier one of the same kind of call has none.
  [[nodiscard]] bool awaits(const StreamWake& wake) { return stream_at(wake.stream).token == wake.token; }
  [[nodiscard]] bool awaits(const MemoryWake& wake) const {
    return state_.memory_call.at != never && state_.memory_call.token == wake.token;
  }
  /// Of its main stream.
  [[nodiscard]] const std::vector<Frame>& position() const { return state_.streams[0].frames; }

  [[nodiscard]] SavedDevice save() const;
  /// Goes on from the state of another Device of this id and program, which has begun.
  void restore(SavedDevice saved);

 private:
  // device.cpp: events
  void on_delivered(const Delivered& message);
  void notify(std::uint32_t stream, Time waited_until);
  void act_on(const pdes::Event& event);
  void run_ready();
  void run_all_ready();
  [[nodiscard]] std::uint32_t in_turn() const;
  [[nodiscard]] Stream& stream_at(std::uint32_t index) {
    return index < config_.streams ? state_.streams[index] : state_.strands[index - config_.streams];
  }
  void recheck_departure(Stream& stream);
  void recheck_departures();
  void message_left(const OwnMessage& message, Time at) override;
  [[nodiscard]] bool reach_clock(Stream& stream);
  void wake_at(Stream& stream, Time at);
  void await_departure(Stream& stream, Time left);
  void wake_all_due();
  /// Names what a stream does that goes beyond the range of time.
  [[noreturn]] void refuse_time(Stream& stream) const;
  /// Names what a stream releases although no stream has allocated so much by then.
  [[noreturn]] void refuse_release(const Stream& stream, const program::Instruction& instruction) const;
  /// Names what the device holds when it is too much.
  [[noreturn]] void refuse_memory(const Stream& stream) const;

  // device_instructions.cpp: each carries out one instruction, or begins it; false when the stream has to wait
  void run(Stream& stream);
  void go_on_later(Stream& stream);
  [[nodiscard]] bool execute(Stream& stream, const program::Instruction& instruction);
  static void go_to_next(Stream& stream);
  [[nodiscard]] bool issue(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute_in_turn(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute_beside(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool compute_beside_in_turn(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool computes_ahead(const Stream& stream) const;
  [[nodiscard]] bool follows_computing(const program::Instruction& instruction) const;
  [[nodiscard]] bool computing_is_over(Stream& stream);
  void wait_for_computing(Stream& stream);
  void end_jobs();
  void begin_job();
  void follow_job();
  [[nodiscard]] bool send(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool receive(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool wait_sends(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool signal(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] bool wait(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] Stream* longest_waiting(std::uint32_t event);
  [[nodiscard]] bool change_memory(Stream& stream, const program::Instruction& instruction);
  void change_level(Stream& stream, const program::Instruction& instruction);
  void call(Stream& stream, const program::Instruction& instruction);
  void received(Stream& stream, Time waited_until);
  [[nodiscard]] const program::Instruction* present(Stream& stream) const;
  void tell_round(const Stream& stream) const;

  // device_record.cpp
  void record(const Stream& stream, const program::Instruction& instruction, program::Activity activity, Time begin,
              Time end);
  void record_message(const Stream& stream, const program::Instruction& instruction, Time begin, Time end);
  [[nodiscard]] MicroBatch micro_batch_of(const Stream& stream) const;

  // device_memory.cpp: where operators and messages share the memory
  [[nodiscard]] bool stands_in_line() const { return config_.shares_cores || config_.shares_bandwidth; }
  [[nodiscard]] bool is_line_busy() const;
  [[nodiscard]] const ComputeJob& line_job() const;
  void queue(const ComputeJob& job);
  void go_on_with_memory();
  void tell_of_memory();
  void call_back_memory();
  [[nodiscard]] bool begin_addition(Stream& stream);
  void computed(const ComputeDone& done) override;
  void job_over(std::uint32_t stream) override;
  void added(std::uint32_t stream) override;
  void leaves_memory(const OwnMessage& message, std::uint32_t port) override;
  void withhold_last(const OwnMessage& message, std::uint32_t port) override;
  void written(const MessageName& name, Time waited_until) override;
  bool packets_come(const Segment& segment) override;
  bool packets_amended(const Amend& amend) override;

  // device_collective.cpp
  [[nodiscard]] bool begin_collective(Stream& stream, const program::Instruction& instruction);
  [[nodiscard]] program::CollectiveCall call_of(const CollectiveRun& run) const;
  [[nodiscard]] Taken taken_by(const CollectiveRun& run) const;
  [[nodiscard]] bool begin_strands(Stream& stream);
  void stand_before_strands(Stream& stream) const;
  void begin_strand(const Stream& stream, Stream& strand, std::uint32_t number) const;
  [[nodiscard]] Stream& strand_of(std::uint32_t parent, std::uint32_t number);
  void run_strand(Stream& strand);
  void end_strand(Stream& stream, const Stream& strand) const;
  [[nodiscard]] bool go_on_with_collective(Stream& stream);
  [[nodiscard]] bool post_step(Stream& stream);
  [[nodiscard]] bool step_departed(Stream& stream);
  [[nodiscard]] bool end_collective(Stream& stream);

  // device_ring.cpp
  [[nodiscard]] bool is_taken_over(Stream& stream);
  [[nodiscard]] TakenStream taken_stream(std::uint32_t stream, std::uint32_t strand, std::uint32_t strands) override;
  [[nodiscard]] std::uint32_t next_message(program::DeviceId to, std::uint32_t channel) override;
  void taken_ends(pdes::Context& context, std::uint32_t stream, const TakenEnd& end, Time waited_until,
                  bool is_now) override;
  void taken_delivers(pdes::Context& context, const Moment& at, const Delivered& message) override;
  void broken_off(pdes::Context* own, const BrokenOff& broken) override;
  void count_taken(const TakenMessages& messages) override;
  void wake_in_name(const pdes::Context& context, const Moment& at, Stream& stream) const;
  void not_yet_in_event(const Stream& stream);
  void go_on_in_event(Stream& stream);
  void go_on_with_strand(pdes::Context* own, Stream& stream, const BrokenOff::Strand& broken);

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
  [[nodiscard]] Outboxes::Box& box_to_send(program::DeviceId destination, std::uint32_t channel, std::uint32_t& hint,
                                           std::uint32_t turn);
  [[nodiscard]] bool goes_with_takeover(Stream& stream, Outboxes::Box& box, program::DeviceId destination,
                                        std::uint32_t channel, std::int64_t bytes, Time waited_until);
  [[nodiscard]] bool has_come(const Delivered& message);
  [[nodiscard]] OwnMessage own_message(const MessageName& name, program::DeviceId destination, std::int64_t bytes,
                                       Time waited_until) const;
  [[nodiscard]] Time departure(const Stream& stream, std::uint32_t batch) const;
  /// The time from `begin` to `end` goes to an activity.
  void spend(Stream& stream, const program::Instruction& instruction, program::Activity activity, Time begin, Time end);
  void spend_like(Stream& stream, const program::Instruction& wait, const Stream& other, Time end);
  void keep_wait(Stream& stream, const WaitSpan& wait) const;
  [[nodiscard]] std::string wait_of(const Stream& stream) const;
  [[nodiscard]] const Stream& strand_of(const Stream& stream) const;
  void tell_promises() const {
    if (environment().promises != nullptr) environment().promises->changes(config_.self);
  }
  [[nodiscard]] const program::DeviceProgram& own_program() const { return program().devices[config_.self]; }

  [[nodiscard]] ExecutionEnvironment& environment() const { return *shared_.environment; }
  [[nodiscard]] const program::Program& program() const { return *environment().program; }
  [[nodiscard]] Handling& handling() const { return environment().handling; }
  [[nodiscard]] pdes::Context& context() const { return *handling().context; }

  DeviceShared shared_;
  DeviceConfig config_;
  NetworkNode node_;
  DeviceState state_;
  std::unique_ptr<SharedMemory> memory_;                                // null: operators and messages do not share it
  std::array<std::unique_ptr<OwnGpu>, program::kernel_memories> gpus_;  // made at their first kernel
};

}  // namespace tessera::sim
