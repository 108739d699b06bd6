// What a model author writes: components that handle events and send messages over typed links.
#pragma once

#include <span>
#include <string>

#include "tessera/pdes/event.hpp"

namespace tessera::pdes {

/// Index of one of a component's outgoing links, in the order in which the model declared them for it.
struct OutPort {
  std::uint32_t index = 0;
};

class Engine;

/// What a component may do while it handles an event. Cheap to pass; owned by the engine.
class Context {
 public:
  [[nodiscard]] Time now() const { return now_; }
  [[nodiscard]] ComponentId self() const { return self_; }

  /// An event to this component itself at `at` >= now().
  template <class Message>
  void schedule(Time at, const Message& message);

  /// A message over the link behind `port`, to take place at `at` >= now() + the link's latency.
  /// Messages longer than `inline_payload` are kept out of line in pooled storage and cross ranks whole.
  template <class Message>
  void send(OutPort port, Time at, const Message& message);

  /// A message to any other member of a crossbar (ModelGraph::add_crossbar), at `at` >= now() + its latency.
  template <class Message>
  void send_to(ComponentId member, Time at, const Message& message);

  /// The out-of-line message that an event carries (Message::out_of_line types only); valid while it is handled.
  template <class Message>
  [[nodiscard]] const Message& get(const Event& event) const;

 private:
  friend class Engine;
  Time now_ = 0;
  ComponentId self_ = 0;
  Engine* engine_ = nullptr;
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
};

}  // namespace tessera::pdes
