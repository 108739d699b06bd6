// What a device moves through its memory where the bandwidth is shared ([cost] memory_traffic): operators, additions of
// collectives, and messages, which are read at their source and written at their destination.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/execution/operator_line.hpp"
#include "sim/network/network_tables.hpp"
#include "sim/network/port.hpp"

namespace tessera::sim {

/// What becomes of it. All of it is told in the order of time; what others can see at its time.
class MemoryOwner {
 public:
  virtual ~MemoryOwner() = default;
  virtual void computed(const ComputeDone& done) = 0;
  /// Of several streams' jobs: the one of this stream is over.
  virtual void job_over(std::uint32_t stream) = 0;
  virtual void added(std::uint32_t stream) = 0;
  /// A message goes to a port of the device, or the last packet of one.
  virtual void leaves_memory(const OwnMessage& message, std::uint32_t port) = 0;
  /// The last packet of a message that has gone to a port as a whole is not to be sent yet.
  virtual void withhold_last(const OwnMessage& message, std::uint32_t port) = 0;
  /// A message is there.
  virtual void written(const MessageName& name, Time waited_until) = 0;
};

/// A message leaves for its link as soon as its bytes begin to be read, and its last packet when all have been. It is
/// there when all of its bytes have been written, which begins with its first packet; the last packet is written when
/// it has come. Messages of one sender, receiver and channel are read one after another, and written so.
class SharedMemory {
 public:
  /// The first two outlive it. `by_job`: jobs of several streams stand in line, each of which waits for its own.
  SharedMemory(const NetworkTables& tables, CostTable& costs, const MemoryServer& server, machine::NodeId self,
               bool by_job)
      : tables_(&tables),
        costs_(&costs),
        first_link_(tables.network().first_link[self]),
        by_job_(by_job),
        server_(server) {}

  /// Behind all that have been queued; nothing is under way that has ended before `now`.
  void compute(const ComputeJob& job, Time now);
  [[nodiscard]] const OperatorLine& operators() const { return operators_; }
  /// Adds received data on behalf of a stream: so many bytes are moved.
  void add(std::uint32_t stream, std::int64_t traffic, Time now);
  void send(const OwnMessage& message, std::uint32_t port, Time now, MemoryOwner& owner);
  /// False: as NetworkOwner::packets_come.
  [[nodiscard]] bool come(const Segment& segment, Time now);
  [[nodiscard]] bool amend(const Amend& amend);

  /// Goes on to `now`: jobs that are over are told of.
  void go_on(Time now, MemoryOwner& owner);
  /// Of messages that are as a whole at their ports, those that may be read too late go on without their last packets.
  /// At the end of each event in which something has come.
  void withhold_late(MemoryOwner& owner);
  /// Tells of what else has happened by then.
  void tell(MemoryOwner& owner);
  /// Whether it has something to tell.
  [[nodiscard]] bool has_told_all() const { return messages_.happened.empty(); }
  /// When it has something to tell next, if nothing new comes, or when to look again. `line_awaited`: a stream waits
  /// for the end of the line of operators.
  [[nodiscard]] Time due(bool line_awaited) const;
  /// Whether a message of this stream and batch (or of any_batch) has not gone to its port as a whole.
  [[nodiscard]] bool holds(std::uint32_t stream, std::uint32_t batch) const;

  /// A message that is read.
  struct Outgoing {
    OwnMessage message;
    std::uint32_t port = 0;
    /// Of one that has gone to its port as a whole: its last packet begins no sooner on the link. 0: it has not.
    Time last_begins = 0;
  };
  /// Those to one destination on one channel.
  struct OutLine {
    std::uint64_t key = 0;
    RingBuffer<Outgoing> messages;  ///< the first one is being read
  };
  /// A message that comes.
  struct Incoming {
    MessageName name;
    Time waited_until = 0;
    std::int64_t bytes = 0;
    std::int64_t told = 0;  ///< B of it that have come or are told of
    Time first = never;     ///< when the first of these comes
    Time last = 0;          ///< when the last of these comes
  };
  enum class Writing : std::uint8_t { nothing, comes, first, waits, last };
  /// Those of one sender on one channel.
  struct InLine {
    std::uint64_t key = 0;
    RingBuffer<Incoming> messages;
    Writing writing = Writing::nothing;  ///< of the first message
    Time since = 0;                      ///< comes, waits: what was written before has been
  };
  /// A segment of a message that has not been written.
  struct Told {
    MessageName name;
    std::uint32_t generation = 0;
    PacketTimes times;
  };
  struct Happened {
    MemoryUser::Kind kind = MemoryUser::Kind::addition;
    std::uint32_t stream = 0;
    std::uint32_t port = 0;
    OwnMessage message;  ///< of one that comes name and waited_until
  };
  struct Messages {
    std::vector<OutLine> out;
    std::vector<InLine> in;
    std::vector<Told> told;
    std::vector<Happened> happened;
  };
  /// All that changes.
  struct State {
    MemoryServer::State server;
    OperatorLine::State operators;
    Messages messages;
  };
  // For laws, which move on all of it:
  [[nodiscard]] MemoryServer& server() { return server_; }
  [[nodiscard]] OperatorLine& operators() { return operators_; }
  [[nodiscard]] Messages& messages() { return messages_; }

  [[nodiscard]] State save() const { return {server_.state(), operators_.state(), messages_}; }
  void restore(State saved);

 private:
  void begin_read(OutLine& line, Time now, const std::function<void(const OwnMessage&, std::uint32_t)>& leaves);
  void leave_out_last(OwnMessage& message) const;
  void leaves_later(const OwnMessage& message, std::uint32_t port);
  void read(OutLine& line, Time now);
  [[nodiscard]] Incoming& find_or_add(InLine& line, const Segment& segment);
  void begin_write(InLine& line, Time now);
  void write_first(InLine& line, Time now);
  void write_last(InLine& line, Time now);
  void end_write(InLine& line, Time now);
  [[nodiscard]] bool is_whole(const Incoming& message) const { return message.told == message.bytes; }
  [[nodiscard]] std::int64_t last_packet(std::int64_t bytes) const;
  void count_told(Incoming& message);
  void moved(const MemoryServer::End& end);

  struct Next {
    enum class What : std::uint8_t { nothing, moved, comes, operator_over };
    What what = What::nothing;
    Time at = never;
    std::size_t line = 0;  ///< comes
  };
  [[nodiscard]] Time comes_at(const InLine& line) const;
  [[nodiscard]] Time read_by(const OutLine& line) const;
  [[nodiscard]] Next next() const;
  [[nodiscard]] bool is_whole_at_port(std::uint64_t key) const;
  [[nodiscard]] bool has_queues() const;
  class Ahead;

  const NetworkTables* tables_;
  CostTable* costs_;
  machine::LinkId first_link_;
  bool by_job_;
  MemoryServer server_;
  OperatorLine operators_;
  Messages messages_;
};

}  // namespace tessera::sim
