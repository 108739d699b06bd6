#include "tessera/pdes/detail/kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/error.hpp"

namespace tessera::pdes::detail {

namespace {

/// Before each out-of-line message in the bytes of an Outbox. The kind stands in its event.
struct PackedHeader {
  std::uint32_t protocol = 0;
  std::uint32_t size = 0;
};

}  // namespace

void Kernel::pack(const ProtocolInfo* protocol, const MessageType& type, const void* message, Place place) {
  const auto found = std::find(protocols.begin(), protocols.end(), protocol);
  if (found == protocols.end()) {
    throw InternalError(fmt::format(
        "a message of {} bytes crosses ranks, but its protocol is not among ModelGraph::protocols", type.size));
  }
  auto& bytes = outboxes[place - remote_place].bytes;
  const std::size_t start = bytes.size();
  bytes.resize(start + sizeof(PackedHeader));
  type.write(message, bytes);
  const PackedHeader header{static_cast<std::uint32_t>(found - protocols.begin()),
                            static_cast<std::uint32_t>(bytes.size() - start - sizeof(PackedHeader))};
  std::memcpy(bytes.data() + start, &header, sizeof header);
}

const std::byte* Kernel::unpack(Event& event, const std::byte* bytes) {
  PackedHeader header;
  std::memcpy(&header, bytes, sizeof header);
  bytes += sizeof header;
  const MessageType& type = protocols[header.protocol]->messages[event.kind];
  const OutOfLine held{&type, messages.allocate(type.size)};
  type.read(held.message, {bytes, header.size});
  std::memcpy(event.payload.data(), &held, sizeof held);
  return bytes + header.size;
}

}  // namespace tessera::pdes::detail
