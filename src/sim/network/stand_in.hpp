// Who is simulated for whom. Where several parts of a machine do the same, one of them may stand for all: what it sends
// to a part like itself it sends to itself, under the name of the part from which it would get the same.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/network/messages.hpp"

namespace tessera::sim {

class StandIn {
 public:
  /// Component `of` is simulated for one that is `shifts` further on.
  struct Place {
    pdes::ComponentId of = 0;
    std::uint32_t shifts = 0;
  };

  virtual ~StandIn() = default;
  /// Of a component that is simulated, or that another one is simulated for.
  [[nodiscard]] virtual Place place(pdes::ComponentId id) const = 0;
  [[nodiscard]] virtual bool is_simulated(pdes::ComponentId id) const = 0;
  /// The simulated devices, in order of id.
  [[nodiscard]] virtual const std::vector<machine::NodeId>& devices() const = 0;

  /// Where a message goes from here: to a component that is so many shifts further on than the one that is simulated
  /// for it, on its way to a device.
  struct Ahead {
    std::uint32_t shifts = 0;
    machine::NodeId destination = 0;
  };
  /// What `sender` sends there, as it comes to the one that is simulated for it; returned: in whose name.
  virtual pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Segment& message) const = 0;
  virtual pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Delivered& message) const = 0;
  virtual pdes::ComponentId as_received(pdes::ComponentId sender, const Ahead& ahead, Amend& message) const = 0;
};

/// Who is shown what is sent over a link.
class SentMessages {
 public:
  virtual ~SentMessages() = default;
  virtual void sees(Time at, machine::LinkId link, machine::NodeId destination, const Segment& message) = 0;
  virtual void sees(Time at, machine::LinkId link, machine::NodeId destination, const Segments& message) = 0;
  virtual void sees(Time at, machine::LinkId link, machine::NodeId destination, const Delivered& message) = 0;
  virtual void sees(Time at, machine::LinkId link, machine::NodeId destination, const Amend& message) = 0;
};

}  // namespace tessera::sim
