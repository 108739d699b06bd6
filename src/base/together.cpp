#include "tessera/base/together.hpp"

#include <new>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"

namespace tessera {
namespace {

struct Problem {
  ExitCode code = ExitCode::internal;
  std::string message;
  std::string key = {};  ///< of a KeyError

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& code& message& key;
  }
};

/// None when all is well.
std::vector<Problem> problem_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const KeyError& error) {
    return {{error.code(), error.what(), error.key}};
  } catch (const Error& error) {
    return {{error.code(), error.what()}};
  } catch (const std::bad_alloc&) {
    return {{ExitCode::io, out_of_memory}};
  } catch (const std::exception& error) {
    return {{ExitCode::internal, error.what()}};
  }
  return {};
}

}  // namespace

void together(Communicator& comm, const std::function<void()>& step) {
  const std::vector<Problem> own = problem_of(step);
  if (comm.max(own.empty() ? 0 : 1) == 0) return;
  const Problem first = joined(all_gather(comm, own)).front();
  if (!first.key.empty()) throw KeyError(first.key, first.message);
  throw_error(first.code, first.message);
}

}  // namespace tessera
