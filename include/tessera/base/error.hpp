// The ways in which a run can end, as exceptions (DESIGN section 6).
#pragma once

#include <stdexcept>
#include <string>

#include "tessera/base/text.hpp"

namespace tessera {

/// Process exit codes: documented, and never renumbered.
enum class ExitCode : int { done = 0, bad_input = 2, infeasible = 3, io = 4, internal = 5 };

/// Base of everything that Tessera throws on purpose. what() is the complete message for the user, made printable.
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& message) : std::runtime_error(printable(message)), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The experiment, machine, model or command line is wrong. May hold several lines, one a problem.
struct InputError : Error {
  explicit InputError(const std::string& message) : Error(ExitCode::bad_input, message) {}
};

/// The plan cannot run: out of memory, or a deadlock. Says which device, how much, of what.
struct InfeasibleError : Error {
  explicit InfeasibleError(const std::string& message) : Error(ExitCode::infeasible, message) {}
};

/// A file could not be read or written.
struct IoError : Error {
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

/// A violated invariant of Tessera itself. The application adds the request for a report.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(ExitCode::internal, message) {}
};

}  // namespace tessera
