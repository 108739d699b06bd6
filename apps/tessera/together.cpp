#include "together.hpp"

#include <cstring>
#include <limits>
#include <string>

#include "tessera/base/error.hpp"

namespace tessera::app {

void together(Communicator& comm, const std::function<void()>& action) {
  int code = 0;
  std::string message;
  try {
    action();
  } catch (const Error& error) {
    code = static_cast<int>(error.code());
    message = error.what();
  } catch (const std::exception& error) {
    code = static_cast<int>(ExitCode::internal);
    message = error.what();
  }
  const std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const std::int64_t first = comm.min(code == 0 ? none : comm.rank());
  if (first == none) return;
  std::vector<std::byte> bytes(message.size() + 1);
  bytes[0] = static_cast<std::byte>(code);
  std::memcpy(bytes.data() + 1, message.data(), message.size());
  const auto all = comm.gather(bytes);
  std::string chosen;
  if (comm.rank() == 0) {
    const auto& of_first = all[static_cast<std::size_t>(first)];
    chosen.assign(reinterpret_cast<const char*>(of_first.data()), of_first.size());
  }
  chosen = comm.broadcast(chosen);
  throw Error(static_cast<ExitCode>(chosen[0]), chosen.substr(1));
}

}  // namespace tessera::app
