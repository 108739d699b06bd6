// What the components of a rank know together of the messages that they send to other ranks.
#pragma once

#include "tessera/pdes/event.hpp"

namespace tessera::pdes {

/// A component's own promise (Component::earliest_output) must hold whatever comes to it. Where it waits for another
/// rank, it can promise nothing then; all components of the rank together can: the first message that crosses ranks
/// anywhere is caused by no other one that crosses, so nobody needs to reckon with an answer.
class Foresight {
 public:
  virtual ~Foresight() = default;
  /// An event of another rank has come to this one, and will take place at its time.
  virtual void comes(const Event& event) = 0;
  /// No message of this rank takes place on another one before the returned time, given that nothing is handled here
  /// before `from` and that nothing comes from other ranks but what has come(). `latency`: the smallest of any link
  /// that crosses ranks. What promises nothing returns `from`.
  [[nodiscard]] virtual Time earliest_unprompted(Time from, Time latency) = 0;
};

}  // namespace tessera::pdes
