#include "sim/laws/rings/way_ports.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "tessera/base/error.hpp"

namespace tessera::sim {
namespace {

constexpr auto later = [](const WayPorts::Announced& a, const WayPorts::Announced& b) {
  return std::tie(b.at, b.number) < std::tie(a.at, a.number);
};

}  // namespace

WayPorts::WayPorts(std::vector<TrainPort*> ports, std::vector<pdes::ComponentId> servers, Left left, Rename rename)
    : ports_(std::move(ports)), servers_(std::move(servers)), left_(std::move(left)), rename_(std::move(rename)) {}

void WayPorts::post(Time at, OwnMessage message) {
  const Moment posted = std::min(Moment{at, servers_[0]}, limit_);
  run_until(posted);
  message.joined = at;
  active_ = 0;
  place_ = ports_[0]->post(at, message, place_, *this);
  ports_[0]->flush(at, posted.source, *this);
}

void WayPorts::arrive(const Guest& guest) {
  run_until(guest.at);
  guests_.push_back(guest);
  active_ = ports_.size() - 1;
  ports_.back()->arrive(guest.at.time, guest.at.source, guest.segment, *this);
}

const Guest* WayPorts::guest(const MessageName& name) const {
  const auto found = std::ranges::find(guests_, name, [](const Guest& one) { return one.segment.name; });
  return found == guests_.end() ? nullptr : &*found;
}

std::vector<Guest> WayPorts::waiting_guests() const {
  std::vector<Guest> waiting = guests_;
  std::erase_if(waiting, [this](const Guest& one) {
    return std::ranges::find(told_guests_, one.segment.name) != told_guests_.end();
  });
  return waiting;
}

void WayPorts::run_until(const Moment& end) {
  while (!pending_.empty() && pending_.front().at < end) {
    std::pop_heap(pending_.begin(), pending_.end(), later);
    const Announced next = std::move(pending_.back());
    pending_.pop_back();
    take_place(next);
  }
}

void WayPorts::take_place(const Announced& announced) {
  active_ = std::min(announced.to, ports_.size() - 1);
  switch (announced.kind) {
    case Announced::Kind::segment:
      ports_[announced.to]->arrive(announced.at.time, announced.at.source, announced.segment, *this);
      return;
    case Announced::Kind::delivered: {
      const std::pair what{announced.delivered.name, announced.delivered.generation};
      if (std::erase(taken_back_, what) == 0) last_delivery_ = std::max(last_delivery_, announced.at.time);
      return;
    }
    case Announced::Kind::amend:
      taken_back_.emplace_back(announced.amend.name, announced.amend.generation);
      return;
    case Announced::Kind::wake:
      return ports_[announced.to]->wake(announced.at.time, announced.token, *this);
  }
}

std::vector<WayPorts::Announced> WayPorts::left_over() {
  std::sort(pending_.begin(), pending_.end(), [](const Announced& a, const Announced& b) { return later(b, a); });
  std::erase_if(pending_, [this](const Announced& one) {
    return one.kind == Announced::Kind::delivered &&
           std::erase(taken_back_, std::pair{one.delivered.name, one.delivered.generation}) > 0;
  });
  return std::exchange(pending_, {});
}

std::size_t WayPorts::hop_of(const Port& port) const {
  return static_cast<std::size_t>(std::find(ports_.begin(), ports_.end(), &port) - ports_.begin());
}

void WayPorts::announce(Announced announced, std::size_t from, Time at) {
  using Kind = Announced::Kind;
  announced.at = {at, servers_[from]};
  const Guest* one = announced.kind == Kind::segment     ? guest(announced.segment.name)
                     : announced.kind == Kind::delivered ? guest(announced.delivered.name)
                                                         : nullptr;
  if (one != nullptr) {
    ports_[from]->tell_as(one->segment, one->generation);
    told_guests_.push_back(one->segment.name);
    last_guest_ = std::move(announced);
    return;
  }
  announced.by = servers_[from];
  announced.number = announced_++;
  if (rename_ && announced.kind != Kind::wake) rename_(announced, from);
  pending_.push_back(std::move(announced));
  std::push_heap(pending_.begin(), pending_.end(), later);
}

void WayPorts::deliver(const Port& port, Time at, machine::NodeId, const Delivered& message) {
  Announced announced;
  announced.kind = Announced::Kind::delivered;
  announced.to = ports_.size();
  announced.delivered = message;
  announce(std::move(announced), hop_of(port), at);
}

void WayPorts::forward(const Port& port, Time at, const Segment& segment) {
  const std::size_t hop = hop_of(port);
  Announced announced;
  announced.kind = Announced::Kind::segment;
  announced.to = hop + 1;
  announced.segment = segment;
  announce(std::move(announced), hop, at);
}

void WayPorts::forward_together(const Port&, Time, const Segments&) {
  throw InternalError("links that carry one connection tell of several messages");
}

// A guest cuts what is planned on the last link. Guests themselves have their turns when they come.
void WayPorts::amend(const Port& port, Time at, const Amend& amend) {
  if (hop_of(port) + 1 < ports_.size() || guest(amend.name) != nullptr)
    throw InternalError("links that carry one connection take a message back");
  Announced announced;
  announced.kind = Announced::Kind::amend;
  announced.to = ports_.size();
  announced.amend = amend;
  announce(std::move(announced), ports_.size() - 1, at);
}

void WayPorts::wake(const Port& port, Time at, std::uint32_t token) {
  Announced announced;
  announced.to = hop_of(port);
  announced.token = token;
  announce(std::move(announced), announced.to, at);
}

void WayPorts::left(const OwnMessage& message, Time at) {
  if (left_) left_(message, at);
}

}  // namespace tessera::sim
