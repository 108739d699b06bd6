#include "random_sites.hpp"

#include <algorithm>
#include <memory>

#include "machine/detour_router.hpp"
#include "machine/networks/dragonfly_network.hpp"
#include "machine/networks/grid_network.hpp"
#include "machine/networks/ring_network.hpp"
#include "machine/networks/torus_3d_network.hpp"
#include "tessera/base/random.hpp"

namespace tessera::test {
namespace {

using machine::LinkId;
using machine::NodeId;
using program::DeviceId;

class SiteMaker {
 public:
  SiteMaker(SiteKind kind, std::uint64_t index) : random_(index, random_stream("sites")), kind_(kind) {}

  Site make() {
    make_network();
    machine::Machine& made = site_.machine;
    made.network.packet = Bytes{packet_bytes};
    const std::vector<machine::DevicePlace> places = made.places;
    const machine::Grid grid = made.grid;
    made = machine_of(made.network);
    made.places = places;
    made.grid = grid;
    if (below(3) == 0) make_faults();
    return std::move(site_);
  }

 private:
  void make_network() {
    switch (kind_) {
      case SiteKind::mesh:
      case SiteKind::torus:
        return make_grid();
      case SiteKind::ring:
      case SiteKind::package:
        return make_ring();
      case SiteKind::rails:
        return make_rails();
      case SiteKind::torus_3d:
        return make_torus_3d();
      case SiteKind::dragonfly:
        return make_dragonfly();
    }
  }
  std::uint64_t below(std::uint64_t count) { return random_.below(draws_++, count); }
  std::uint32_t divisor_of(std::uint32_t number) {
    std::uint32_t divisor = 1 + static_cast<std::uint32_t>(below(number));
    while (number % divisor != 0) --divisor;
    return divisor;
  }
  [[nodiscard]] BytesPerSecond bandwidth() { return BytesPerSecond{below(2) == 0 ? 1'000'000'000 : 3'000'000'000}; }
  [[nodiscard]] Duration latency() { return Duration{below(2) == 0 ? 500 : 1301}; }

  // Tiles of a rectangle of the grid, row by row; what is beside the rectangle is spare.
  void make_grid() {
    const auto columns = static_cast<std::uint32_t>(1 + below(5)), rows = static_cast<std::uint32_t>(1 + below(5));
    const bool has_spares = below(3) == 0;
    const auto margin = [&] { return has_spares ? static_cast<std::uint32_t>(below(2)) : 0; };
    const std::uint32_t left = margin(), right = margin(), above = margin(), under = margin();
    const machine::Grid grid{static_cast<int>(left + columns + right), static_cast<int>(above + rows + under),
                             kind_ == SiteKind::torus};
    machine::build_grid(grid, bandwidth(), latency(), "d2d", site_.machine);
    const std::uint32_t width = divisor_of(columns), height = divisor_of(rows);
    const bool down_first = below(2) == 0;
    for (std::uint32_t y = 0; y < rows; y += height) {
      for (std::uint32_t x = 0; x < columns; x += width) {
        std::vector<DeviceId>& replica = site_.replicas.emplace_back();
        for (std::uint32_t i = 0; i < width * height; ++i) {
          const std::uint32_t dx = down_first ? i / height : i % width, dy = down_first ? i % height : i / width;
          replica.push_back((above + y + dy) * static_cast<std::uint32_t>(grid.columns) + left + x + dx);
        }
      }
    }
    site_.is_even = kind_ == SiteKind::torus && left + right + above + under == 0;
  }

  // Some devices one after another, or every so many-th one; those behind are spare.
  void make_ring() {
    const auto replicas = static_cast<std::uint32_t>(1 + below(6)), width = static_cast<std::uint32_t>(1 + below(4));
    const auto spares = static_cast<std::uint32_t>(below(3) == 0 ? 1 + below(3) : 0);
    machine::build_ring(replicas * width + spares, {bandwidth(), latency(), kind_ == SiteKind::ring}, "ring",
                        site_.machine);
    add_replicas(replicas, width, below(3) == 0);
    site_.is_even = spares == 0;
  }

  // Replicas of so many devices one after another, or of every so many-th one; in some the last node is spare. Leaves
  // may have one node or all, and the last ones fewer than others.
  void make_rails() {
    const auto nodes = static_cast<std::uint32_t>(2 + below(4)), gpus = static_cast<std::uint32_t>(1 + below(4));
    const std::uint32_t spares = below(4) == 0 ? 1 : 0;
    machine::ClusterShape shape = small_cluster(nodes + spares, gpus);
    shape.inside =
        std::array{machine::Inside::nvswitch, machine::Inside::ring, machine::Inside::fully_connected}[below(3)];
    if (below(4) == 0) shape.nics_per_node = divisor_of(gpus);
    shape.rails = shape.nics_per_node;
    shape.pxn = below(2) == 0;
    shape.nodes_per_leaf = below(2) == 0 ? divisor_of(nodes) : static_cast<NodeId>(1 + below(nodes));
    shape.spines = static_cast<NodeId>(1 + below(3));
    shape.uplink_bandwidth = bandwidth();
    shape.uplink_latency = latency();
    machine::build_cluster(shape, site_.machine);
    const std::uint32_t width = below(2) == 0 ? gpus : divisor_of(nodes * gpus);
    add_replicas(nodes * gpus / width, width, below(3) == 0);
    site_.is_even = spares == 0;
  }

  // Replicas of so many chips one after another, or of every so many-th one; in some the last plane is spare.
  void make_torus_3d() {
    const auto columns = static_cast<std::uint32_t>(1 + below(3)), rows = static_cast<std::uint32_t>(1 + below(3)),
               planes = static_cast<std::uint32_t>(1 + below(3)), in_plane = columns * rows;
    const std::uint32_t spares = below(4) == 0 ? 1 : 0;
    const machine::Grid grid{static_cast<int>(columns), static_cast<int>(rows), true, static_cast<int>(planes + spares),
                             true};
    const machine::TorusLinks links{bandwidth(), latency()};
    machine::build_torus_3d(grid, links, below(2) == 0 ? links : machine::TorusLinks{bandwidth(), latency()},
                            site_.machine);
    const std::uint32_t width = below(2) == 0 ? in_plane : divisor_of(in_plane * planes);
    add_replicas(in_plane * planes / width, width, below(3) == 0);
    site_.is_even = spares == 0;
  }

  // Replicas of so many devices one after another, or of every so many-th one; the last group may be spare.
  void make_dragonfly() {
    machine::DragonflyShape shape;
    const auto groups = static_cast<std::uint32_t>(1 + below(3));
    const std::uint32_t spares = below(4) == 0 ? 1 : 0;
    shape.groups = groups + spares;
    shape.routers_per_group = static_cast<NodeId>(1 + below(3));
    shape.devices_per_router = static_cast<NodeId>(1 + below(2));
    shape.global_links =
        (shape.groups + shape.routers_per_group - 1) / shape.routers_per_group + static_cast<NodeId>(below(3));
    shape.device_bandwidth = bandwidth();
    shape.local_bandwidth = bandwidth();
    shape.global_bandwidth = bandwidth();
    shape.device_latency = latency();
    shape.local_latency = latency();
    shape.global_latency = latency();
    machine::build_dragonfly(shape, site_.machine);
    const std::uint32_t in_group = shape.routers_per_group * shape.devices_per_router;
    const std::uint32_t width = below(2) == 0 ? in_group : divisor_of(in_group * groups);
    add_replicas(in_group * groups / width, width, below(3) == 0);
    site_.is_even = spares == 0;
  }

  void add_replicas(std::uint32_t replicas, std::uint32_t width, bool is_mixed) {
    for (std::uint32_t replica = 0; replica < replicas; ++replica) {
      site_.replicas.emplace_back();
      for (std::uint32_t part = 0; part < width; ++part)
        site_.replicas.back().push_back(is_mixed ? part * replicas + replica : replica * width + part);
    }
  }

  // A slow device, dead spares, and dead links: one, or the corresponding ones of all replicas.
  void make_faults() {
    machine::Machine& made = site_.machine;
    if (below(6) == 0) made.speed[below(made.devices())] = 0.5;
    machine::Network network = made.network;
    std::vector<bool> dead(network.nodes(), false);
    for (NodeId device = 0; device < network.devices; ++device) dead[device] = !is_used(device) && below(3) == 0;
    for (std::uint64_t i = 0; i < below(3); ++i) kill_links(network);
    for (machine::Link& link : network.links) link.dead = link.dead || dead[link.from] || dead[link.to];
    if (std::ranges::none_of(network.links, &machine::Link::dead)) return;
    auto router = std::make_shared<machine::DetourRouter>(network, dead);
    if (router->disconnected()) return;
    for (NodeId device = 0; device < network.devices; ++device)
      if (dead[device]) made.speed[device] = 0;
    network.router = std::move(router);
    made.network = std::move(network);
  }

  [[nodiscard]] bool is_used(DeviceId device) const {
    return std::ranges::any_of(site_.replicas, [device](const std::vector<DeviceId>& replica) {
      return std::ranges::find(replica, device) != replica.end();
    });
  }

  void kill_links(machine::Network& network) {
    if (network.links.empty()) return;
    const auto kill = [&](NodeId from, NodeId to) {
      for (LinkId link = network.first_link[from]; link < network.first_link[from + 1]; ++link)
        network.links[link].dead = network.links[link].dead || network.links[link].to == to;
    };
    const machine::Link& chosen = network.links[below(network.links.size())];
    const NodeId from = chosen.from, to = chosen.to;
    const bool both_ways = below(2) == 0, everywhere = below(3) > 0;
    const auto part = [&](NodeId node, const std::vector<DeviceId>& replica) {
      return static_cast<std::size_t>(std::ranges::find(replica, node) - replica.begin());
    };
    kill(from, to);
    if (both_ways) kill(to, from);
    const std::size_t width = site_.replicas.front().size();
    for (const std::vector<DeviceId>& replica : site_.replicas) {
      if (!everywhere || part(from, replica) == width || part(to, replica) == width) continue;
      for (const std::vector<DeviceId>& other : site_.replicas) {
        const NodeId there = other[part(from, replica)], end = other[part(to, replica)];
        kill(there, end);
        if (both_ways) kill(end, there);
      }
    }
  }

  KeyedRandom random_;
  std::uint64_t draws_ = 0;
  SiteKind kind_;
  Site site_;
};

}  // namespace

Site random_site(SiteKind kind, std::uint64_t index) { return SiteMaker(kind, index).make(); }

}  // namespace tessera::test
