#include "failure.hpp"

#include <cstring>
#include <new>
#include <tuple>

#include "tessera/base/together.hpp"

namespace tessera::pdes {

namespace {

std::vector<std::byte> pack(const std::optional<Failure>& failure) {
  if (!failure) return {};
  const std::int64_t fixed[3] = {failure->time, failure->component, static_cast<std::int64_t>(failure->code)};
  std::vector<std::byte> bytes(sizeof fixed + failure->message.size());
  std::memcpy(bytes.data(), fixed, sizeof fixed);
  std::memcpy(bytes.data() + sizeof fixed, failure->message.data(), failure->message.size());
  return bytes;
}

Failure unpack(const char* bytes, std::size_t size) {
  std::int64_t fixed[3];
  std::memcpy(fixed, bytes, sizeof fixed);
  return {fixed[0], static_cast<ComponentId>(fixed[1]), static_cast<ExitCode>(fixed[2]),
          std::string(bytes + sizeof fixed, size - sizeof fixed)};
}

[[noreturn]] void throw_failure(const Failure& failure) {
  switch (failure.code) {
    case ExitCode::bad_input:
      throw InputError(failure.message);
    case ExitCode::infeasible:
      throw InfeasibleError(failure.message);
    case ExitCode::io:
      throw IoError(failure.message);
    case ExitCode::done:
    case ExitCode::internal:
      break;
  }
  throw InternalError(failure.message);
}

}  // namespace

Failure current_failure(Time time, ComponentId component) {
  try {
    throw;
  } catch (const Error& error) {
    return {time, component, error.code(), error.what()};
  } catch (const std::bad_alloc&) {
    return {time, component, ExitCode::io, out_of_memory};
  } catch (const std::exception& error) {
    return {time, component, ExitCode::internal, error.what()};
  } catch (...) {
    return {time, component, ExitCode::internal, "an exception of unknown type"};
  }
}

void throw_smallest(Communicator& comm, const std::optional<Failure>& mine) {
  if (comm.max(mine.has_value()) == 0) return;
  std::string smallest;
  std::optional<Failure> best;
  for (const auto& bytes : comm.gather(pack(mine))) {
    if (bytes.empty()) continue;
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    Failure failure = unpack(text, bytes.size());
    if (best && std::tie(best->time, best->component) <= std::tie(failure.time, failure.component)) continue;
    best = std::move(failure);
    smallest.assign(text, bytes.size());
  }
  smallest = comm.broadcast(smallest);
  throw_failure(unpack(smallest.data(), smallest.size()));
}

}  // namespace tessera::pdes
