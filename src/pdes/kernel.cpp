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

std::uint32_t Kernel::index_of(const ProtocolInfo* protocol) const {
  const auto found = std::find(protocols.begin(), protocols.end(), protocol);
  if (found == protocols.end()) {
    throw InternalError(
        "a message that does not fit into its event may cross ranks, so its protocol must be among "
        "ModelGraph::protocols");
  }
  return static_cast<std::uint32_t>(found - protocols.begin());
}

void Kernel::pack(std::uint32_t protocol, const MessageType& type, const void* message, Place place) {
  auto& bytes = outboxes[place - remote_place].bytes;
  const std::size_t start = bytes.size();
  if (start > INT32_MAX / 2)
    throw InternalError("a rank sends more than 1 GiB of out-of-line messages to another within one round");
  bytes.resize(start + sizeof(PackedHeader));
  type.write(message, bytes);
  const PackedHeader header{protocol, static_cast<std::uint32_t>(bytes.size() - start - sizeof(PackedHeader))};
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

void Kernel::take_in(std::span<Event> records, const std::byte* bytes) {
  for (Event& event : records) {
    if ((event.flags & out_of_line) != 0) bytes = unpack(event, bytes);
    if (foresight != nullptr) foresight->comes(event);
    post_local(places[event.destination], event.time, [&](Event& posted) { posted = event; });
    prompted = true;
  }
}

}  // namespace tessera::pdes::detail
