// Typed messages. A protocol lists the messages that its users may exchange, as value structs that name their protocol:
//
//   struct Network;
//   struct Arrive { using protocol = Network; std::int64_t bytes; };
//   struct Delivered { using protocol = Network; std::uint32_t message; };
//   struct Network : pdes::Protocol<Arrive, Delivered> {};
//
//   context.send(port, at, Delivered{7});  // does not compile for a message that the protocol does not list
//   switch (event.kind) {
//     case Network::kind_of<Delivered>: deliver(event.as<Delivered>());
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "tessera/pdes/event.hpp"

namespace tessera::pdes {

/// Messages that travel inside the event; all others are kept beside it, in pooled storage.
template <class Message>
inline constexpr bool fits_in_event = std::is_trivially_copyable_v<Message> && sizeof(Message) <= inline_payload &&
                                      alignof(Message) <= alignof(Event);

/// How an out-of-line message becomes bytes for another rank. Trivially copyable messages are copied as they are; for
/// the others include "tessera/pdes/serialized_message.hpp", which uses their Boost.Serialization member.
template <class Message>
struct MessageBytes {
  static_assert(
      std::is_trivially_copyable_v<Message>,
      "a message that is not trivially copyable needs a serialize member and tessera/pdes/serialized_message.hpp");
  static void write(const Message& message, std::vector<std::byte>& out) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&message);
    out.insert(out.end(), bytes, bytes + sizeof message);
  }
  static void read(void* place, std::span<const std::byte> bytes) { std::memcpy(place, bytes.data(), sizeof(Message)); }
};

/// What the engine knows of one type of out-of-line message.
struct MessageType {
  const std::type_info* type = nullptr;
  std::size_t size = 0;
  void (*write)(const void* message, std::vector<std::byte>& out) = nullptr;
  void (*read)(void* place, std::span<const std::byte> bytes) = nullptr;  ///< constructs the message at `place`
  void (*destroy)(void* message) = nullptr;                               ///< null: nothing to do
};

/// A protocol as a value, for ModelGraph::protocols and LinkInfo::protocol.
struct ProtocolInfo {
  const std::type_info* type = nullptr;
  std::span<const MessageType> messages;  ///< by kind
};

template <class... Messages>
struct Protocol {
  static constexpr std::uint16_t message_count = sizeof...(Messages);

  template <class Message>
  static constexpr bool lists = (std::is_same_v<Message, Messages> || ...);

  /// Event::kind of a message: its place in the list.
  template <class Message>
  static constexpr std::uint16_t kind_of = [] {
    static_assert(lists<Message>, "this protocol does not list this message");
    std::uint16_t kind = 0;
    bool found = false;
    ((found = found || std::is_same_v<Message, Messages>, kind = static_cast<std::uint16_t>(kind + (found ? 0 : 1))),
     ...);
    return kind;
  }();

  template <template <class> class Table>
  static constexpr auto each() {
    return std::array<MessageType, sizeof...(Messages)>{Table<Messages>::type()...};
  }
};

namespace detail {

template <class Message>
struct MessageTable {
  static constexpr MessageType type() {
    MessageType type{&typeid(Message), sizeof(Message), nullptr, nullptr, nullptr};
    if constexpr (!fits_in_event<Message>) {
      static_assert(alignof(Message) <= alignof(std::max_align_t), "over-aligned messages are not supported");
      type.write = [](const void* message, std::vector<std::byte>& out) {
        MessageBytes<Message>::write(*static_cast<const Message*>(message), out);
      };
      type.read = [](void* place, std::span<const std::byte> bytes) { MessageBytes<Message>::read(place, bytes); };
      if constexpr (!std::is_trivially_destructible_v<Message>) {
        type.destroy = [](void* message) { static_cast<Message*>(message)->~Message(); };
      }
    }
    return type;
  }
};

template <class P>
inline constexpr auto message_types = P::template each<MessageTable>();

template <class P>
inline constexpr ProtocolInfo protocol_table{&typeid(P), message_types<P>};

}  // namespace detail

/// The protocol as a value. Constant for the whole program, so its address identifies it within a process.
template <class P>
[[nodiscard]] constexpr const ProtocolInfo* protocol_info() {
  return &detail::protocol_table<P>;
}

}  // namespace tessera::pdes
