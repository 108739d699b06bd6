#include "ways.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "loans.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/ways.hpp"

namespace tessera::strategy::megatron {
namespace {

using machine::BoundWay;
using machine::Connection;
using machine::LinkId;
using program::DeviceId;

/// What goes between two devices of stages in an iteration.
struct Load {
  std::string what;  ///< as WayOptions::what
  Connection connection;
  std::int64_t bytes = 0;
};

void add_neighbours(const Cut& cut, const Place& at, std::vector<Load>& loads) {
  const auto stages = static_cast<std::uint32_t>(cut.options.pipeline);
  Place next = at;
  next.stage = (at.stage + 1) % stages;
  if (stages == 1 || (next.stage == 0 && cut.options.interleave == 1)) return;
  const DeviceId from = cut.device(at), to = cut.device(next);
  const std::int64_t bytes = cut.part_bytes() * cut.micro_batches * cut.options.interleave;
  loads.push_back({"activations", {from, to, activations_channel}, bytes});
  if (cut.training()) loads.push_back({"gradients", {to, from, gradients_channel}, bytes});
}

std::vector<Load> loads_of(const Cut& cut) {
  std::vector<Load> loads;
  for (std::uint32_t rank = 0; rank < cut.devices.size(); ++rank) add_neighbours(cut, cut.place(rank), loads);
  for (std::uint32_t number = 0; number < cut.loans.size(); ++number) {
    const Loan& loan = cut.loans[number];
    const program::LoanChannels along = program::channels_of(loan_slots(number));
    for (const LoanPair& pair : pairs_of(cut, loan)) {
      loads.push_back({"loans", {pair.lender, pair.helper, along.there}, loan.bytes * cut.micro_batches});
      loads.push_back({"returns", {pair.helper, pair.lender, along.back}, loan.bytes * cut.micro_batches});
    }
  }
  return loads;
}

/// The live link from one device to another. InputError where there is none.
LinkId link_between(const machine::Machine& machine, DeviceId from, DeviceId to) {
  bool is_dead = false;
  for (LinkId link = machine.network.first_link[from]; link < machine.network.first_link[from + 1]; ++link) {
    if (machine.network.links[link].to != to) continue;
    if (!machine.network.links[link].dead) return link;
    is_dead = true;
  }
  throw InputError(fmt::format("{} from {} to {}", is_dead ? "the link is dead" : "there is no link",
                               machine.node_name(from), machine.node_name(to)));
}

std::vector<LinkId> links_of(const WayOptions& way, const machine::Machine& machine) {
  std::vector<std::int64_t> nodes{way.from};
  nodes.insert(nodes.end(), way.through.begin(), way.through.end());
  nodes.push_back(way.to);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i] >= machine.devices())
      throw InputError(fmt::format("there is no device {}, allowed: 0 to {}", nodes[i], machine.devices() - 1));
    if (std::count(nodes.begin(), nodes.end(), nodes[i]) > 1)
      throw InputError(fmt::format("device {} stands twice on it", nodes[i]));
  }
  std::vector<LinkId> links;
  for (std::size_t i = 1; i < nodes.size(); ++i)
    links.push_back(link_between(machine, static_cast<DeviceId>(nodes[i - 1]), static_cast<DeviceId>(nodes[i])));
  return links;
}

/// One for each connection that sends such things from the one device to the other.
void add_ways(const WayOptions& way, const machine::Machine& machine, const std::vector<Load>& loads,
              std::vector<BoundWay>& ways) {
  const std::vector<LinkId> links = links_of(way, machine);
  bool is_used = false;
  for (const Load& load : loads) {
    const bool is_it = load.what == way.what && load.connection.from == way.from && load.connection.to == way.to;
    if (!is_it) continue;
    const auto is_same = [&](const BoundWay& other) { return other.connection == load.connection; };
    if (std::ranges::any_of(ways, is_same)) throw InputError("it is given twice");
    ways.push_back({load.connection, links});
    is_used = true;
  }
  if (!is_used) throw InputError("nothing of that kind is sent there");
}

}  // namespace

void read_ways(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  if (options.ways.empty() || !diagnostics.ok()) return;
  const config::Location where = where_of(table, "ways");
  if (options.unused_first)
    return diagnostics.error(where, "ways: routes = \"unused-first\" chooses all of them, allowed: one of the two");
  const std::vector<Load> loads = loads_of(cut);
  for (const WayOptions& way : options.ways) {
    try {
      add_ways(way, job.machine, loads, cut.ways);
    } catch (const InputError& error) {
      diagnostics.error(
          where, fmt::format("ways: {} from device {} to device {}: {}", way.what, way.from, way.to, error.what()));
    }
  }
}

std::vector<BoundWay> ways_of(const Cut& cut, const machine::Machine& machine) {
  if (!cut.options.unused_first) return cut.ways;
  std::vector<program::ConnectionLoad> loads;
  for (const Load& load : loads_of(cut)) loads.push_back({load.connection, Bytes{load.bytes}});
  return unused_first(machine, loads, cut.options.link_factor);
}

DataTable ways_table(const std::vector<BoundWay>& ways) {
  std::vector<std::int32_t> from, to, channel, place, link;
  for (const BoundWay& way : ways) {
    for (std::size_t i = 0; i < way.links.size(); ++i) {
      from.push_back(static_cast<std::int32_t>(way.connection.from));
      to.push_back(static_cast<std::int32_t>(way.connection.to));
      channel.push_back(static_cast<std::int32_t>(way.connection.channel));
      place.push_back(static_cast<std::int32_t>(i));
      link.push_back(static_cast<std::int32_t>(way.links[i]));
    }
  }
  DataTable table{"ways", "Ways of what goes between stages, a link a row.", {}};
  table.index("from", "device that sends", from).index("to", "device that receives", to);
  table.index("channel", "0 activations, 1 gradients, 3 and up loans: there, their questions, back", channel);
  table.index("place", "of the link on the way", place).index("link", "its number in /links", link);
  return table;
}

}  // namespace tessera::strategy::megatron
