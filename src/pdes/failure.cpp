#include "failure.hpp"

#include <algorithm>
#include <new>
#include <tuple>

#include "tessera/base/messages.hpp"
#include "tessera/base/together.hpp"

namespace tessera::pdes {

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
  const std::vector<Failure> own = mine ? std::vector<Failure>{*mine} : std::vector<Failure>();
  const std::vector<Failure> all = joined(all_gather(comm, own));
  const auto& first = *std::ranges::min_element(
      all, {}, [](const Failure& failure) { return std::tie(failure.time, failure.component); });
  throw_error(first.code, first.message);
}

}  // namespace tessera::pdes
