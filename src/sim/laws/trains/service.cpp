#include "sim/laws/trains/service.hpp"

#include <algorithm>

#include "tessera/base/integers.hpp"

namespace tessera::sim {
namespace {

/// The packets of `arrivals` that are of full size and at times of the closed form, as a server meets them.
struct Flow {
  const PacketTimes& arrivals;
  const ServiceRates& rates;
  BusyPeriod period;  // of the first packet

  [[nodiscard]] Time arrival(std::uint32_t index) const { return arrivals.at(index, rates.arrivals); }

  /// Sufficient for packet `index` to find the server busy with the one before it: no rounding can change it.
  [[nodiscard]] bool finds_busy(std::uint32_t index) const {
    return arrival(index) <=
           saturating_add(period.start,
                          rates.server.down(period.bytes + static_cast<std::int64_t>(index) * rates.packet));
  }

  /// How many of the first `packets` provably leave back to back. Arrivals and departures are straight lines but for
  /// rounding up: where the arrivals are no slower, the first comparison decides; where they are slower, the last one
  /// does.
  [[nodiscard]] std::uint32_t back_to_back(std::uint32_t packets) const {
    if (packets < 2) return packets;
    if (arrivals.stride == rates.packet && rates.arrivals == rates.server) {
      const bool always = rates.server.no_later(arrivals.base, arrivals.offset, period.start, period.bytes);
      return always ? packets : 1;
    }
    if (!finds_busy(1)) return 1;
    const bool slower = rates.arrivals.longer(arrivals.stride, rates.server, rates.packet);
    if (!slower || finds_busy(packets - 1)) return packets;
    std::uint32_t low = 1;
    std::uint32_t high = packets - 1;  // finds_busy(low), not finds_busy(high)
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (finds_busy(middle) ? low : high) = middle;
    }
    return low + 1;
  }

  /// Whether each packet finds the server idle.
  [[nodiscard]] bool paced() const {
    if (period.bytes != 0 || period.start > arrival(0)) return false;
    const Time gap = rates.arrivals.down(arrivals.stride);
    const Time service = rates.server.up(rates.packet);
    return gap > service || (gap == service && rates.server.exact(rates.packet));
  }
};

/// All members are given, so that none is cleared first: these are built for every message and link.
Service serve_full(const Flow& flow, std::uint32_t packets, Time first_start) {
  const ServiceRates& rates = flow.rates;
  std::uint32_t covered = flow.back_to_back(packets);
  const bool paced = covered < packets && flow.paced();
  if (paced) covered = packets;
  const BusyPeriod after = paced ? BusyPeriod{flow.arrival(packets - 1), rates.packet}
                                 : BusyPeriod{flow.period.start, flow.period.bytes + covered * rates.packet};
  const PacketTimes& arrivals = flow.arrivals;
  const PacketTimes out{.base = paced ? time_after(arrivals.base, rates.server.up(rates.packet)) : flow.period.start,
                        .offset = paced ? arrivals.offset : flow.period.bytes + rates.packet,
                        .stride = paced ? arrivals.stride : rates.packet,
                        .last = after.end(rates.server),
                        .last_bytes = rates.packet,
                        .count = covered,
                        .rate = paced ? arrivals.rate : rates.server_link};
  return {paced, false, after, first_start, 0, out};
}

void serve_last(const PacketTimes& arrivals, const Rate& server, Service& service) {
  if (service.out.count > 0 && arrivals.last > service.out.last) {
    service.rest = arrivals.last - service.out.last;
    service.after = {arrivals.last, 0};
  }
  service.after.bytes += arrivals.last_bytes;
  service.last_apart = true;
  ++service.out.count;
  service.out.last = service.after.end(server);
  service.out.last_bytes = arrivals.last_bytes;
}

}  // namespace

Service serve(const BusyPeriod& given, const PacketTimes& arrivals, std::uint32_t limit, const ServiceRates& rates) {
  const BusyPeriod before = with_room(given, rates.server);
  const Time free = before.end(rates.server);
  const Time first = arrivals.at(0, rates.arrivals);
  const Flow flow{arrivals, rates, first > free ? BusyPeriod{first, 0} : before};
  const bool with_last = limit >= arrivals.count;
  const std::uint32_t full = with_last ? arrivals.count - 1 : limit;
  Service service = serve_full(flow, full, std::max(first, free));
  if (with_last && service.out.count == full) serve_last(arrivals, rates.server, service);
  return service;
}

Service serve_own(const BusyPeriod& given, Time offered, std::uint32_t packets, std::int64_t last_bytes,
                  const ServiceRates& rates) {
  const BusyPeriod before = with_room(given, rates.server);
  const Time free = before.end(rates.server);
  const BusyPeriod period = offered > free ? BusyPeriod{offered, 0} : before;
  const BusyPeriod after{period.start, period.bytes + (packets - 1) * rates.packet + last_bytes};
  const PacketTimes out{.base = period.start,
                        .offset = period.bytes + rates.packet,
                        .stride = rates.packet,
                        .last = after.end(rates.server),
                        .last_bytes = last_bytes,
                        .count = packets,
                        .rate = rates.server_link};
  return {false, false, after, std::max(offered, free), 0, out};
}

BusyPeriod Service::behind(std::uint32_t packets, const PacketTimes& arrivals, const Rate& arrival_rate,
                           std::int64_t packet) const {
  if (packets == out.count) return after;
  if (paced) return {arrivals.at(packets - 1, arrival_rate), packet};
  return {out.base, out.offset + (packets - 1) * packet};
}

Time Service::busy(const Rate& server, const Rate& out_rate, std::int64_t packet) const {
  if (!paced) return out.last - first_start - rest;
  const Time each = server.up(packet);
  if (!last_apart) return out.count * each;
  const std::uint32_t full = out.count - 1;
  return full * each + out.last - out.at(full - 1, out_rate) - rest;
}

}  // namespace tessera::sim
