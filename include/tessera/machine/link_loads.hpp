// How long messages take that set out together, from the links that they share.
#pragma once

#include <cstdint>
#include <vector>

#include "tessera/machine/machine.hpp"

namespace tessera::machine {

/// Between accelerators, numbered as by device_order().
class LinkLoads {
 public:
  explicit LinkLoads(const Machine& machine);

  /// What decides how long it takes.
  struct Burden {
    std::vector<std::int64_t> most;  ///< B of a link, by rate, from the slowest links on
    Time latency = 0;                ///< of the longest way
  };

  void add(int from, int to, Bytes bytes);
  /// Of what was added, which is forgotten.
  [[nodiscard]] Burden burden();
  /// Until the link with the most to do has done so many times that burden, and the farthest message has arrived, in
  /// ps; 0 without messages.
  [[nodiscard]] Time time(const Burden& burden, std::int64_t times = 1) const;
  [[nodiscard]] Time take() { return time(burden()); }

 private:
  struct Route {
    std::vector<LinkId> links;
    Time latency = 0;
  };
  [[nodiscard]] const Route& route(int from, int to) const {
    return routes_[static_cast<std::size_t>(from * devices_ + to)];
  }

  int devices_;
  std::vector<Route> routes_;
  std::vector<std::int64_t> rates_;   // B/s, all that links have
  std::vector<std::size_t> rate_of_;  // by link
  std::vector<std::int64_t> bytes_;   // by link
  std::vector<LinkId> in_use_;
  Time latency_ = 0;
};

}  // namespace tessera::machine
