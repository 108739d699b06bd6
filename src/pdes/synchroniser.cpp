#include "synchroniser.hpp"

#include <fmt/format.h>

#include "agreement.hpp"
#include "null_message.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/engine.hpp"
#include "window.hpp"

namespace tessera::pdes {

namespace {

/// One rank: nothing crosses, so there is nothing to agree on.
class Alone final : public Synchroniser {
 public:
  using Synchroniser::Synchroniser;
  [[nodiscard]] Step exchange(const Standing& mine) override {
    return {never, Agreement(mine, kernel_, wiring_.lookahead).finished(mine.end)};
  }
};

using Factory = std::unique_ptr<Synchroniser> (*)(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel);

template <class Kind>
std::unique_ptr<Synchroniser> make(MPI_Comm comm, const Wiring& wiring, detail::Kernel& kernel) {
  return std::make_unique<Kind>(comm, wiring, kernel);
}

struct Entry {
  const char* kind;
  Factory make;
};
constexpr Entry registry[] = {{"window", make<WindowSynchroniser>}, {"null-message", make<NullMessageSynchroniser>}};

}  // namespace

std::optional<Failure> broken_promise(const detail::Kernel& kernel, const std::vector<Time>& promised) {
  for (std::size_t k = 0; k < promised.size(); ++k) {
    const detail::Outbox& box = kernel.outboxes[k];
    if (box.earliest >= promised[k]) continue;
    for (std::size_t i = 1; i < box.records.size(); ++i) {
      const Event& event = box.records[i];
      if (event.time >= promised[k]) continue;
      return Failure{-1, event.source, ExitCode::internal,
                     fmt::format("{} sends to {} at {} ps, but its earliest_output() promised nothing before {} ps",
                                 kernel.name(event.source), kernel.name(event.destination), event.time, promised[k])};
    }
  }
  return std::nullopt;
}

std::vector<std::string> synchroniser_kinds() {
  std::vector<std::string> kinds;
  for (const Entry& entry : registry) kinds.emplace_back(entry.kind);
  return kinds;
}

std::unique_ptr<Synchroniser> make_synchroniser(const std::string& kind, Communicator& comm, const Wiring& wiring,
                                                detail::Kernel& kernel) {
  for (const Entry& entry : registry) {
    if (kind != entry.kind) continue;
    if (comm.size() == 1) return std::make_unique<Alone>(wiring, kernel);
    return entry.make(*static_cast<MPI_Comm*>(comm.native()), wiring, kernel);
  }
  throw InputError(
      fmt::format("there is no synchroniser \"{}\", allowed are {}", kind, fmt::join(synchroniser_kinds(), ", ")));
}

}  // namespace tessera::pdes
