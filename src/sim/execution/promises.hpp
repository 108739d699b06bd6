// What is known of a rank's devices that lets other ranks run on: told of all that it depends on.
#pragma once

#include "sim/network/messages.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

class Promises {
 public:
  virtual ~Promises() = default;
  /// See pdes::Component::earliest_output.
  [[nodiscard]] virtual Time earliest_output(program::DeviceId device, Time from, Time latency) const = 0;
  /// A device of this rank is no longer what it was.
  virtual void changes(program::DeviceId device) = 0;
  /// One sends a message / has got one, not from itself.
  virtual void posted(const MessageName& name, machine::NodeId destination) = 0;
  virtual void delivered(const Delivered& message, machine::NodeId destination) = 0;
  /// A message told_by_takeover will come to one then.
  virtual void told(const Delivered& message, machine::NodeId destination, Time at) = 0;
};

}  // namespace tessera::sim
