// What a model author writes: components that handle events and send messages over typed links.
#pragma once

#include <new>

#include "tessera/pdes/detail/kernel.hpp"
#include "tessera/pdes/event.hpp"
#include "tessera/pdes/protocol.hpp"

namespace tessera::pdes {

/// Index of one of a component's outgoing links, in the order in which the model declared them for it.
struct OutPort {
  std::uint32_t index = 0;
};

/// An OutPort that takes the messages of one protocol only, for messages that do not name their protocol themselves.
template <class P>
struct Port : OutPort {};

class Engine;

/// What a component may do while it handles an event. Cheap to pass; owned by the engine.
/// Every message names its protocol (`using protocol = ...`, see protocol.hpp) or is sent through a Port of it.
class Context {
 public:
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] ComponentId self() const { return station_->id; }

  /// This moment in the name of another component of this rank, for components that know what others do: what it sends
  /// is that one's. It must not be kept beyond the event.
  [[nodiscard]] Context of(ComponentId component) const;

  /// RunOptions::pause is called behind this event, if it is there.
  void ask_for_pause() const { kernel_->pause_asked = true; }

  /// An event to this component itself at `at` >= now(). Throws InternalError for an earlier one.
  template <class Message>
  void schedule(Time at, const Message& message) {
    if (at < now_ || at == never) [[unlikely]]
      refuse_schedule(at);
    emit<typename Message::protocol>(place_, at, station_->id, message);
  }

  /// An event that this component has sent to another one of this rank, or to itself, before now, although nobody
  /// needed it so far; `at` >= now(). See of(). No link is looked at.
  template <class Message>
  void resend(ComponentId destination, Time at, const Message& message) {
    const detail::Place place = kernel_->places[destination];
    if (at < now_ || at == never || place >= detail::remote_place) [[unlikely]]
      refuse_resend(destination, at);
    emit<typename Message::protocol>(place, at, destination, message);
  }

  /// The same for a component that stands for others: this event is that of `source`, one of them.
  template <class Message>
  void resend_as(ComponentId source, ComponentId destination, Time at, const Message& message) {
    in_name_of(source, [&](Context& named) { named.resend(destination, at, message); });
  }

  /// A message over the link behind `port`, to take place at `at` >= now() + the link's latency. Throws InternalError,
  /// naming the link, for an earlier one, for a port that does not exist, and for a link that carries another protocol.
  /// Messages longer than `inline_payload` are kept out of line in pooled storage and cross ranks whole.
  template <class Message>
  void send(OutPort port, Time at, const Message& message) {
    send_in<typename Message::protocol>(port, at, message);
  }
  template <class P, class Message>
  void send(Port<P> port, Time at, const Message& message) {
    send_in<P>(port, at, message);
  }

  /// The same for a component that stands for others: this message is that of `source`, one of them.
  template <class Message>
  void send_as(ComponentId source, OutPort port, Time at, const Message& message) {
    in_name_of(source, [&](Context& named) { named.send(port, at, message); });
  }

  /// A message to any other member of this component's crossbar (ModelGraph::crossbars), at `at` >= now() + its
  /// latency.
  template <class Message>
  void send_to(ComponentId member, Time at, const Message& message) {
    if (station_->crossbar == detail::no_crossbar) [[unlikely]]
      refuse_member(member);
    const detail::CrossbarEnd& crossbar = kernel_->crossbars[station_->crossbar];
    if (member - crossbar.first >= crossbar.count) [[unlikely]]
      refuse_member(member);
    if (at - now_ < crossbar.latency || at == never) [[unlikely]]
      refuse_crossbar_time(member, at);
    emit<typename Message::protocol>(kernel_->places[member], at, member, message);
  }

  /// The message that an event carries out of line (not fits_in_event<Message>); valid while the event is handled.
  template <class Message>
  [[nodiscard]] static const Message& get(const Event& event) {
    static_assert(!fits_in_event<Message>, "this message is inside the event: event.as<Message>()");
    const detail::OutOfLine held = detail::out_of_line_of(event);
    if ((event.flags & detail::out_of_line) == 0 || *held.type->type != typeid(Message)) [[unlikely]]
      refuse_get(event);
    return *static_cast<const Message*>(held.message);
  }
  /// The same in a pause, to be changed.
  template <class Message>
  [[nodiscard]] static Message& change(Event& event) {
    return const_cast<Message&>(get<Message>(event));
  }

 private:
  friend class Engine;

  template <class Act>
  void in_name_of(ComponentId source, Act&& act) {
    detail::Station other = *station_;
    other.id = source;
    Context named = *this;
    named.station_ = &other;
    act(named);
    station_->sequence = other.sequence;
  }

  template <class P, class Message>
  void send_in(OutPort port, Time at, const Message& message) {
    if (port.index >= station_->link_count) [[unlikely]]
      refuse_port(port);
    const detail::LinkEnd& link = station_->links[port.index];
    if (at - now_ < link.latency || at == never) [[unlikely]]
      refuse_link_time(port, at);
    if (link.protocol != nullptr && link.protocol != protocol_info<P>()) [[unlikely]]
      refuse_protocol(port);
    emit<P>(link.place, at, link.to, message);
  }

  template <class P, class Message>
  void emit(detail::Place place, Time at, ComponentId to, const Message& message) {
    if (kernel_->watch != nullptr && to != station_->id) [[unlikely]]
      kernel_->pause_asked |= kernel_->watch->sends(station_->id, to);
    const auto fill = [&](Event& event) {
      event.time = at;
      event.source = station_->id;
      event.destination = to;
      event.sequence = station_->sequence++;
      event.kind = P::template kind_of<Message>;
      event.flags = fits_in_event<Message> ? 0 : detail::out_of_line;
      if constexpr (fits_in_event<Message>) {
        std::memcpy(event.payload.data(), &message, sizeof message);
      } else {
        keep_out_of_line<P>(event, place, message);
      }
    };
    if (place < detail::remote_place) [[likely]] {
      kernel_->post_local(place, at, fill);
    } else {
      kernel_->post_remote(place, at, fill);
    }
  }

  template <class P, class Message>
  void keep_out_of_line(Event& event, detail::Place place, const Message& message) {
    const MessageType& type = detail::message_types<P>[event.kind];
    const std::uint32_t protocol = kernel_->index_of(protocol_info<P>());
    if (place >= detail::remote_place) return kernel_->pack(protocol, type, &message, place);
    const detail::OutOfLine held{&type, new (kernel_->messages.allocate(sizeof message)) Message(message)};
    std::memcpy(event.payload.data(), &held, sizeof held);
  }

  [[noreturn]] void refuse_schedule(Time at) const;
  [[noreturn]] void refuse_resend(ComponentId destination, Time at) const;
  [[noreturn]] void refuse_port(OutPort port) const;
  [[noreturn]] void refuse_link_time(OutPort port, Time at) const;
  [[noreturn]] void refuse_protocol(OutPort port) const;
  [[noreturn]] void refuse_member(ComponentId member) const;
  [[noreturn]] void refuse_crossbar_time(ComponentId member, Time at) const;
  [[noreturn]] static void refuse_get(const Event& event);

  Time now_ = 0;
  detail::Station* station_ = nullptr;
  detail::Kernel* kernel_ = nullptr;
  detail::Place place_ = 0;
};

/// A simulated part. It owns its state, meets others only through links, and never sees ranks.
class Component {
 public:
  virtual ~Component() = default;
  /// Called once, before time zero, in order of id: schedule the first events.
  virtual void start(Context& context);
  /// One event. Events of one component come in the total order.
  virtual void handle(Context& context, const Event& event) = 0;
  /// A promise: no message of this component takes place at another component before the returned time, whatever
  /// arrives from now on, given that nothing arrives before `from`. It widens windows beyond the links' latencies.
  /// `latency` is the smallest latency of its links that cross ranks. The default promises no more than that.
  [[nodiscard]] virtual Time earliest_output(Time from, Time latency) const;

 private:
  friend class Context;
  friend class Engine;
  detail::Station station_;
};

}  // namespace tessera::pdes
