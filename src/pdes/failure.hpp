// Errors of components: every rank ends with the same one, the smallest in (time, component id).
#pragma once

#include <optional>
#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/event.hpp"

namespace tessera::pdes {

struct Failure {
  Time time = 0;  ///< -1: before time zero
  ComponentId component = 0;
  ExitCode code = ExitCode::internal;
  std::string message;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& time& component& code& message;
  }
};

/// The exception being handled, as a failure; to be called in a catch block.
[[nodiscard]] Failure current_failure(Time time, ComponentId component);

/// Collective: throws the smallest failure of all ranks on every rank, and returns when there is none.
void throw_smallest(Communicator& comm, const std::optional<Failure>& mine);

}  // namespace tessera::pdes
