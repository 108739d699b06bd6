// How ranks stay in step: the interface of the synchronisers, and their registry.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "failure.hpp"
#include "wiring.hpp"

namespace tessera::pdes {

/// Where a rank stands when it has worked off all events before its horizon.
struct Standing {
  Time horizon = 0;
  Time next_event = never;   ///< the earliest that is pending here
  Time promise = never;      ///< no component here sends anything to another rank that takes place earlier
                             ///< (Component::earliest_output)
  Time unprompted = 0;       ///< nor does, unless something comes from another rank (Foresight)
  Time failure = never;      ///< time of the first error of a component here
  Time end = never;          ///< the run ends here
  bool interrupted = false;  ///< or cut off: all ranks end where they are
};

/// What to do next.
struct Step {
  Time horizon = 0;       ///< all events before it may be worked off
  bool finished = false;  ///< on all ranks in the same call
};

/// Every rank calls exchange() in turn with working off events, until it says that all are finished.
class Synchroniser {
 public:
  Synchroniser(const Wiring& wiring, detail::Kernel& kernel)
      : wiring_(wiring), kernel_(kernel), promised_(wiring.out.size(), 0) {}
  virtual ~Synchroniser() = default;
  Synchroniser(const Synchroniser&) = delete;
  Synchroniser& operator=(const Synchroniser&) = delete;
  /// Sends what is in the outboxes, takes what came from other ranks into the pending set, and agrees on how far all
  /// may go.
  [[nodiscard]] virtual Step exchange(const Standing& mine) = 0;
  /// Whether it looks at Standing::unprompted: only who agrees with all ranks at once can.
  [[nodiscard]] virtual bool asks_foresight() const { return false; }
  /// By outbox: nothing that is sent from now on takes place earlier, as other ranks rely on.
  [[nodiscard]] const std::vector<Time>& promised() const { return promised_; }
  [[nodiscard]] double waiting_seconds() const { return waiting_seconds_; }
  [[nodiscard]] std::uint64_t messages() const { return messages_; }

 protected:
  const Wiring& wiring_;
  detail::Kernel& kernel_;
  std::vector<Time> promised_;
  double waiting_seconds_ = 0;
  std::uint64_t messages_ = 0;
};

/// An event in an outbox that is earlier than what was promised: a component broke its earliest_output().
[[nodiscard]] std::optional<Failure> broken_promise(const detail::Kernel& kernel, const std::vector<Time>& promised);

/// `kind` is one of synchroniser_kinds(); InputError otherwise. One rank needs neither, and no MPI.
[[nodiscard]] std::unique_ptr<Synchroniser> make_synchroniser(const std::string& kind, Communicator& comm,
                                                              const Wiring& wiring, detail::Kernel& kernel);

}  // namespace tessera::pdes
