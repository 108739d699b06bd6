#include "synchroniser.hpp"

#include <fmt/format.h>

#include "agreement.hpp"
#include "tessera/base/error.hpp"
#include "tessera/pdes/engine.hpp"
#include "window.hpp"

namespace tessera::pdes {

namespace {

/// One rank: nothing crosses, so there is nothing to agree on.
class Alone final : public Synchroniser {
 public:
  explicit Alone(const detail::Kernel& kernel) : kernel_(kernel) {}
  [[nodiscard]] Step exchange(const Standing& mine) override {
    return {never, Agreement(mine, kernel_).finished(mine.end)};
  }

 private:
  const detail::Kernel& kernel_;
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
constexpr Entry registry[] = {{"window", make<WindowSynchroniser>}};

}  // namespace

std::vector<std::string> synchroniser_kinds() {
  std::vector<std::string> kinds;
  for (const Entry& entry : registry) kinds.emplace_back(entry.kind);
  return kinds;
}

std::unique_ptr<Synchroniser> make_synchroniser(const std::string& kind, Communicator& comm, const Wiring& wiring,
                                                detail::Kernel& kernel) {
  for (const Entry& entry : registry) {
    if (kind != entry.kind) continue;
    if (comm.size() == 1) return std::make_unique<Alone>(kernel);
    return entry.make(*static_cast<MPI_Comm*>(comm.native()), wiring, kernel);
  }
  throw InputError(
      fmt::format("there is no synchroniser \"{}\", allowed are {}", kind, fmt::join(synchroniser_kinds(), ", ")));
}

}  // namespace tessera::pdes
