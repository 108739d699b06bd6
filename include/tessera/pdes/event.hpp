// The event record and the one total order of events (DESIGN section 3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tessera/base/time.hpp"

namespace tessera::pdes {

/// Ids are given by the model, 0 .. n-1, and never depend on the partition.
using ComponentId = std::uint32_t;

/// Bytes of a message that travel inside the event; longer ones are kept beside it (see Context::send).
inline constexpr std::size_t inline_payload = 24;

/// One event: 48 bytes, trivially copyable, so that queues and MPI move it as plain bytes.
struct Event {
  Time time = 0;                ///< when it takes place at the destination
  ComponentId source = 0;       ///< who made it
  ComponentId destination = 0;  ///< who handles it
  std::uint32_t sequence = 0;   ///< per-source count, wraps; compared as a serial number
  std::uint16_t kind = 0;       ///< index of the message type in its protocol
  std::uint16_t flags = 0;      ///< engine's own: payload kept out of line
  std::array<std::byte, inline_payload> payload;

  /// The payload as the message type that `kind` names.
  template <class Message>
  [[nodiscard]] Message as() const {
    static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= inline_payload);
    Message message;
    std::memcpy(&message, payload.data(), sizeof message);
    return message;
  }
  /// Another one of that type.
  template <class Message>
  void put(const Message& message) {
    static_assert(std::is_trivially_copyable_v<Message> && sizeof(Message) <= inline_payload);
    std::memcpy(payload.data(), &message, sizeof message);
  }
};
static_assert(sizeof(Event) == 48 && std::is_trivially_copyable_v<Event>);

/// The total order: (time, source, sequence). Nothing in it depends on ranks, so no rank count changes a result.
/// Sequences compare modulo 2^32: two pending events of one source at one time are never 2^31 events apart.
[[nodiscard]] inline bool before(const Event& a, const Event& b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.source != b.source) return a.source < b.source;
  return static_cast<std::int32_t>(a.sequence - b.sequence) < 0;
}

}  // namespace tessera::pdes
