// One round of messages between the ranks that share links.
#pragma once

#include <mpi.h>

#include <vector>

#include "patience.hpp"
#include "wiring.hpp"

namespace tessera::pdes {

/// Goes ahead of the events in each message; has the size of an event so that both lie in one array.
struct RoundHeader {
  std::uint32_t events = 0;
  std::uint32_t bytes = 0;      ///< of out-of-line messages
  std::int64_t values[5] = {};  ///< the synchroniser's own
};
static_assert(sizeof(RoundHeader) == sizeof(Event));

/// Each round sends one message to every rank in wiring.out and receives one from every rank in wiring.in.
/// A message is a header with the events; longer ones continue in a second part, and out-of-line messages follow on
/// their own.
class NeighbourRound {
 public:
  NeighbourRound(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel);
  ~NeighbourRound();
  NeighbourRound(const NeighbourRound&) = delete;
  NeighbourRound& operator=(const NeighbourRound&) = delete;

  /// Sets the values that go to out-neighbour k in the next round.
  [[nodiscard]] RoundHeader& header(std::size_t k) { return headers_[k]; }
  /// Starts to send all outboxes, which must not be touched until the round has ended.
  void begin();
  /// Makes progress; true when everything is received and sent. Then received(k) is valid and the outboxes are empty.
  [[nodiscard]] bool poll();
  /// The header that came from in-neighbour k in the round that ended last.
  [[nodiscard]] const RoundHeader& received(std::size_t k) const { return inboxes_[k].header; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 private:
  struct Inbox {
    RoundHeader header;
    std::vector<Event> records;
    std::vector<std::byte> bytes;
    int parts_left = 0;
  };
  void send(std::size_t k);
  void on_first_part(std::size_t k);

  MPI_Comm comm_;
  MPI_Datatype record_ = MPI_DATATYPE_NULL;  // one event, so that counts stay far from 2^31
  const Wiring& wiring_;
  detail::Kernel& kernel_;
  int first_part_;  // records in the first part of a message
  std::vector<RoundHeader> headers_;
  std::vector<Inbox> inboxes_;
  std::vector<MPI_Request> sends_;
  std::vector<MPI_Request> receives_;  // first parts, second parts, out-of-line bytes of each in-neighbour
  std::vector<int> completed_;
  std::size_t open_parts_ = 0;
  bool sent_ = true;
  std::uint64_t messages_ = 0;
};

}  // namespace tessera::pdes
