#include "tessera/base/together.hpp"

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"

namespace tessera {
namespace {

/// In place of an exit code: behind it come the key, a line's end, and the message.
constexpr char key_error = 'k';

/// The exit code as the first character, then the message; empty when all is well.
std::string problem_of(const std::function<void()>& step) {
  const auto encode = [](ExitCode code, const char* what) {
    return static_cast<char>('0' + static_cast<int>(code)) + std::string(what);
  };
  try {
    step();
  } catch (const KeyError& error) {
    return key_error + error.key + '\n' + error.what();
  } catch (const Error& error) {
    return encode(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return encode(ExitCode::io, out_of_memory);
  } catch (const std::exception& error) {
    return encode(ExitCode::internal, error.what());
  }
  return {};
}

std::string first_of(const std::vector<std::vector<std::byte>>& problems) {
  for (const auto& problem : problems) {
    if (!problem.empty()) return {reinterpret_cast<const char*>(problem.data()), problem.size()};
  }
  return {};
}

}  // namespace

void together(Communicator& comm, const std::function<void()>& step) {
  const std::string own = problem_of(step);
  if (comm.max(own.empty() ? 0 : 1) == 0) return;
  std::vector<std::byte> bytes(own.size());
  if (!own.empty()) std::memcpy(bytes.data(), own.data(), own.size());
  const std::string problem = comm.broadcast(first_of(comm.gather(bytes)));
  if (problem.front() == key_error) {
    const std::size_t end = problem.find('\n');
    throw KeyError(problem.substr(1, end - 1), problem.substr(end + 1));
  }
  const auto code = static_cast<ExitCode>(problem.front() - '0');
  if (code == ExitCode::io) throw IoError(problem.substr(1));
  if (code == ExitCode::bad_input) throw InputError(problem.substr(1));
  if (code == ExitCode::infeasible) throw InfeasibleError(problem.substr(1));
  if (code == ExitCode::internal) throw InternalError(problem.substr(1));
  throw Error(code, problem.substr(1));
}

}  // namespace tessera
