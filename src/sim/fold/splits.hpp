// Devices of a folded simulation that begin a collective whose members do different things: each does nothing more
// there, and goes on from there in a simulation of all (RankSimulation), which has to be as if both were one.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tessera/base/time.hpp"
#include "tessera/pdes/event.hpp"
#include "tessera/program/program.hpp"

namespace tessera::sim {

struct Splits {
  /// A stream is about to begin such a collective, in an event.
  struct Start {
    pdes::ComponentId device = 0;
    std::uint32_t stream = 0;
    std::uint32_t token = 0;  ///< of the call by which it goes on
    Time at = 0;
    pdes::ComponentId source = 0;  ///< of the event
    std::uint32_t sequence = 0;    ///< the same
  };
  std::vector<Start> starts;        ///< in order of time
  std::vector<pdes::Event> events;  ///< that came to such devices afterwards
  /// One of these devices would have done something else meanwhile, or another one waits for it: it is not as if both
  /// were one.
  bool failed = false;

  /// A collective over several replicas that a device has carried out.
  struct Carried {
    program::GroupId group = 0;
    std::uint32_t times = 0;
    Time until = 0;  ///< the last one
  };
  /// By number in Program::collectives and device.
  std::map<std::pair<std::uint32_t, program::DeviceId>, Carried> carried;
};

}  // namespace tessera::sim
