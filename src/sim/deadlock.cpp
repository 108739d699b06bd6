#include "deadlock.hpp"

#include <algorithm>
#include <cstring>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

constexpr std::size_t most_named = 8;

/// Device and text of the first waits of a rank, for rank 0.
std::vector<std::byte> to_bytes(const std::vector<DeviceWaits>& waits) {
  std::vector<std::byte> bytes;
  const auto append = [&bytes](const void* data, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), begin, begin + size);
  };
  std::size_t count = 0;
  for (const DeviceWaits& device : waits) {
    for (const std::string& text : device.texts) {
      if (++count > most_named) return bytes;
      const auto size = static_cast<std::uint32_t>(text.size());
      append(&device.device, sizeof device.device);
      append(&size, sizeof size);
      append(text.data(), text.size());
    }
  }
  return bytes;
}

struct Named {
  std::uint32_t device = 0;
  std::string text;
};

void read_into(const std::vector<std::byte>& bytes, std::vector<Named>& named) {
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t head[2] = {};
    std::memcpy(head, &bytes[at], sizeof head);
    at += sizeof head;
    named.push_back({head[0], std::string(reinterpret_cast<const char*>(&bytes[at]), head[1])});
    at += head[1];
  }
}

}  // namespace

void refuse_deadlock(const std::vector<DeviceWaits>& waits, Communicator& comm) {
  std::int64_t count = 0;
  for (const DeviceWaits& device : waits) count += static_cast<std::int64_t>(device.texts.size());
  count = comm.sum(count);
  if (count == 0) return;
  std::vector<DeviceWaits> sorted = waits;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.device < b.device; });
  std::vector<Named> named;
  for (const auto& bytes : comm.gather(to_bytes(sorted))) read_into(bytes, named);
  std::stable_sort(named.begin(), named.end(), [](const Named& a, const Named& b) { return a.device < b.device; });
  std::string text = "deadlock: ";
  for (std::size_t i = 0; i < std::min(named.size(), most_named); ++i) text += (i > 0 ? "; " : "") + named[i].text;
  const auto more = count - static_cast<std::int64_t>(most_named);
  if (more > 0) text += "; and " + std::to_string(more) + " more";
  throw InfeasibleError(comm.broadcast(text));
}

}  // namespace tessera::sim
