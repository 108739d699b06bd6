// What a rank's hot path works on: its components, their links, the pending events, and what leaves for other ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/pdes/detail/event_pool.hpp"
#include "tessera/pdes/detail/message_pool.hpp"
#include "tessera/pdes/foresight.hpp"
#include "tessera/pdes/pending/ladder_queue.hpp"
#include "tessera/pdes/protocol.hpp"

namespace tessera::pdes {

class Component;

namespace detail {

/// Where a component is: its place among the components of this rank, or remote_place + the outbox of its rank.
using Place = std::uint32_t;
inline constexpr Place remote_place = 0x8000'0000U;
/// On a rank to which no link leads.
inline constexpr Place no_place = 0xFFFF'FFFFU;

struct LinkEnd {
  Time latency = 0;
  ComponentId to = 0;
  Place place = 0;
  const ProtocolInfo* protocol = nullptr;  ///< null: any
};

struct CrossbarEnd {
  Time latency = 0;
  ComponentId first = 0;
  ComponentId count = 0;
};
inline constexpr std::uint32_t no_crossbar = 0xFFFF'FFFFU;

/// What the engine keeps of a component, inside it: both are fetched together.
struct Station {
  const LinkEnd* links = nullptr;
  std::uint32_t link_count = 0;
  std::uint32_t sequence = 0;
  ComponentId id = 0;
  std::uint32_t crossbar = no_crossbar;
};

/// The events of one round for one other rank. The first record is room for the header of the message that carries
/// them.
struct Outbox {
  std::vector<Event> records = std::vector<Event>(1);
  std::vector<std::byte> bytes;  ///< out-of-line messages, in the order of their events
  Time earliest = never;

  [[nodiscard]] std::size_t count() const { return records.size() - 1; }
  void clear() {
    records.resize(1);
    bytes.clear();
    earliest = never;
  }
};

/// Who is told of everything that one component sends to another one.
class SendWatch {
 public:
  virtual ~SendWatch() = default;
  /// True: RunOptions::pause is called behind the event that is handled.
  [[nodiscard]] virtual bool sends(ComponentId source, ComponentId destination) = 0;
};

struct Kernel {
  EventPool events;
  LadderQueue pending{events};
  MessagePool messages;
  std::vector<Component*> components;  ///< of this rank, in order of id
  std::vector<LinkEnd> links;          ///< grouped by component
  std::vector<CrossbarEnd> crossbars;
  std::vector<Place> places;     ///< of every component of the model
  std::vector<Outbox> outboxes;  ///< one a rank to which links lead
  std::vector<const ProtocolInfo*> protocols;
  std::function<std::string(ComponentId)> name;
  bool pause_asked = false;        ///< Context::ask_for_pause()
  SendWatch* watch = nullptr;      ///< null: none
  Foresight* foresight = nullptr;  ///< null: none
  bool prompted = false;           ///< something has come from another rank since this was set to false

  /// An event for a component of this rank: fill(event) writes it where it stays, before the pending set compares it.
  template <class Fill>
  void post_local(Place place, Time at, Fill&& fill) {
    const std::uint32_t slot = events.allocate();
    fill(events[slot]);
    pending.push({at, slot, place});
  }
  /// An event for another rank.
  template <class Fill>
  void post_remote(Place place, Time at, Fill&& fill) {
    Outbox& box = outboxes[place - remote_place];
    if (at < box.earliest) box.earliest = at;
    fill(box.records.emplace_back());
  }
  /// Its index in `protocols`, on all ranks the same; InternalError where the model does not list it.
  [[nodiscard]] std::uint32_t index_of(const ProtocolInfo* protocol) const;
  /// Appends an out-of-line message to what leaves with the event that is posted next to the same place.
  void pack(std::uint32_t protocol, const MessageType& type, const void* message, Place place);
  /// Takes events from another rank into the pending set; `bytes`: their out-of-line messages. Both may change.
  void take_in(std::span<Event> records, const std::byte* bytes);

 private:
  /// The message of an event that came from another rank; returns the bytes that follow it.
  const std::byte* unpack(Event& event, const std::byte* bytes);
};

}  // namespace detail
}  // namespace tessera::pdes
