// Ports to find out what becomes of the messages of a way.
#pragma once

#include <span>
#include <vector>

#include "sim/laws/rings/way_facts.hpp"
#include "sim/laws/rings/way_ports.hpp"

namespace tessera::sim {

/// Ports of links that are idle, as they would be behind such busy periods; `own_left`: see TrainPort::passed. Tables
/// and links outlive it.
class TrialPorts {
 public:
  TrialPorts(const NetworkTables& tables, const std::vector<machine::LinkId>& links,
             const std::vector<BusyPeriod>& busy, const std::vector<ShortEnds>& short_ends, Time own_left);

  /// When the last of these messages is delivered; 0: there is none.
  Time pass(std::span<const PostedMessage> posted, const std::vector<Guest>& guests);
  /// What is announced of the last guest.
  WayPorts::Announced let_pass(std::span<const PostedMessage> posted, const std::vector<Guest>& guests);

  [[nodiscard]] std::vector<LinkCounts> counts() const;
  [[nodiscard]] std::vector<BusyPeriod> busy() const;

 private:
  [[nodiscard]] WayPorts chain();
  void begin(WayPorts& chain, std::span<const PostedMessage> posted, const std::vector<Guest>& guests) const;

  const NetworkTables& tables_;
  const std::vector<machine::LinkId>& links_;
  std::vector<TrainPort> ports_;
};

/// post(index of a message) and come(index of a guest) in the order in which they take place; `server`: of the first
/// link.
template <class Post, class Come>
void in_turn(std::span<const PostedMessage> posted, const std::vector<Guest>& guests, pdes::ComponentId server,
             Post&& post, Come&& come) {
  std::size_t guest = 0;
  for (std::size_t i = 0; i < posted.size(); ++i) {
    while (guest < guests.size() && guests[guest].at < Moment{posted[i].at, server}) come(guest++);
    post(i);
  }
  while (guest < guests.size()) come(guest++);
}

}  // namespace tessera::sim
