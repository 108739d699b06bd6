// The ways in which a run can end, as exceptions (DESIGN section 6).
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

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

/// The same where one key of the experiment is to blame, by its path: "machine.packet". Whoever has the experiment adds
/// the place where it stands.
struct KeyError : InputError {
  KeyError(std::string path, const std::string& message) : InputError(message), key(std::move(path)) {}
  std::string key;
};

/// The plan cannot run: out of memory, a deadlock, or beyond the range of time. Says which device, how much, of what.
struct InfeasibleError : Error {
  explicit InfeasibleError(const std::string& message) : Error(ExitCode::infeasible, message) {}
};

/// Simulated time would go beyond what 64 bits of picoseconds hold (time.hpp). Whoever knows what takes so long catches
/// it and throws an InfeasibleError with the text that names it.
struct BeyondTimeError : InfeasibleError {
  BeyondTimeError() : InfeasibleError(text("")) {}
  /// `what`: "operator \"fc1\" on gpu 3".
  [[nodiscard]] static std::string text(const std::string& what) {
    return "simulated time goes beyond 106 days, the longest that can be simulated" + (what.empty() ? "" : ": " + what);
  }
};

/// A file could not be read or written.
struct IoError : Error {
  explicit IoError(const std::string& message) : Error(ExitCode::io, message) {}
};

/// A violated invariant of Tessera itself. The application adds the request for a report.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error(ExitCode::internal, message) {}
};

/// The exception of this code.
[[noreturn]] inline void throw_error(ExitCode code, const std::string& message) {
  switch (code) {
    case ExitCode::bad_input:
      throw InputError(message);
    case ExitCode::infeasible:
      throw InfeasibleError(message);
    case ExitCode::io:
      throw IoError(message);
    case ExitCode::done:
    case ExitCode::internal:
      break;
  }
  throw InternalError(message);
}

}  // namespace tessera
