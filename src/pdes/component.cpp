#include "tessera/pdes/component.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::pdes {

void Component::start(Context&) {}

Time Component::earliest_output(Time from, Time latency) const { return saturating_add(from, latency); }

Context Context::of(ComponentId component) const {
  Context other = *this;
  other.place_ = kernel_->places[component];
  if (other.place_ >= detail::remote_place)
    throw InternalError(fmt::format("{} is asked to act for {}, which is on another rank", kernel_->name(self()),
                                    kernel_->name(component)));
  other.station_ = &kernel_->components[other.place_]->station_;
  return other;
}

void Context::refuse_schedule(Time at) const {
  throw InternalError(fmt::format("{} schedules an event to itself at {} ps, but it is {} ps already",
                                  kernel_->name(self()), at, now_));
}

void Context::refuse_resend(ComponentId destination, Time at) const {
  throw InternalError(fmt::format(
      "an event of {} to {} at {} ps cannot be made up for: it is {} ps already, or that is on another rank",
      kernel_->name(self()), kernel_->name(destination), at, now_));
}

void Context::refuse_port(OutPort port) const {
  throw InternalError(
      fmt::format("{} sends on port {}, but it has {} links", kernel_->name(self()), port.index, station_->link_count));
}

void Context::refuse_link_time(OutPort port, Time at) const {
  const detail::LinkEnd& link = station_->links[port.index];
  throw InternalError(fmt::format(
      "the link from {} to {} has a latency of {} ps, so a message sent at {} ps cannot take place at {} ps",
      kernel_->name(self()), kernel_->name(link.to), link.latency, now_, at));
}

void Context::refuse_protocol(OutPort port) const {
  throw InternalError(fmt::format("the link from {} to {} carries another protocol than that of the message sent on it",
                                  kernel_->name(self()), kernel_->name(station_->links[port.index].to)));
}

void Context::refuse_member(ComponentId member) const {
  throw InternalError(
      fmt::format("{} sends to component {}, which is no member of its crossbar", kernel_->name(self()), member));
}

void Context::refuse_crossbar_time(ComponentId member, Time at) const {
  throw InternalError(fmt::format(
      "the crossbar from {} to {} has a latency of {} ps, so a message sent at {} ps cannot take place at {} ps",
      kernel_->name(self()), kernel_->name(member), kernel_->crossbars[station_->crossbar].latency, now_, at));
}

void Context::refuse_get(const Event& event) {
  throw InternalError(fmt::format("event kind {} from component {} does not carry the message that is asked of it",
                                  event.kind, event.source));
}

}  // namespace tessera::pdes
