#include "sim/run/deadlock.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/base/messages.hpp"

namespace tessera::sim {
namespace {

constexpr std::size_t most_named = 8;

struct Named {
  std::uint32_t device = 0;
  std::string text;

  template <class Archive>
  void serialize(Archive& archive, unsigned) {
    archive& device& text;
  }
};

/// The first waits of a rank; more than these are not named.
std::vector<Named> first_of(const std::vector<DeviceWaits>& waits) {
  std::vector<Named> named;
  for (const DeviceWaits& device : waits) {
    for (const std::string& text : device.texts) {
      if (named.size() == most_named) return named;
      named.push_back({device.device, text});
    }
  }
  return named;
}

}  // namespace

void refuse_deadlock(const std::vector<DeviceWaits>& waits, Communicator& comm) {
  std::int64_t count = 0;
  for (const DeviceWaits& device : waits) count += static_cast<std::int64_t>(device.texts.size());
  count = comm.sum(count);
  if (count == 0) return;
  std::vector<DeviceWaits> sorted = waits;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.device < b.device; });
  std::vector<Named> named = joined(all_gather(comm, first_of(sorted)));
  std::stable_sort(named.begin(), named.end(), [](const Named& a, const Named& b) { return a.device < b.device; });
  std::string text = "deadlock: ";
  for (std::size_t i = 0; i < std::min(named.size(), most_named); ++i) text += (i > 0 ? "; " : "") + named[i].text;
  const auto more = count - static_cast<std::int64_t>(most_named);
  if (more > 0) text += "; and " + std::to_string(more) + " more";
  throw InfeasibleError(text);
}

}  // namespace tessera::sim
