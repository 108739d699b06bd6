// What the hardware is: plain descriptions, no behaviour over time (that is sim/).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/quantities.hpp"
#include "tessera/machine/array.hpp"
#include "tessera/machine/gpu.hpp"

namespace tessera::machine {

using NodeId = std::uint32_t;  ///< devices are 0 .. devices-1 (accelerators, then hosts), switches follow
using LinkId = std::uint32_t;
inline constexpr LinkId no_link = ~LinkId{0};

/// A device: an accelerator (GPU, wafer die, chiplet), or a host, which has memory alone: no peak, no cores.
struct DeviceSpec {
  std::string name;
  std::map<std::string, FlopPerSecond> peak;  ///< by datatype: "fp16", "bf16", "tf32", "fp32", "fp8", "int8", "fp4"
  BytesPerSecond memory_bandwidth{};
  Bytes memory_capacity{};             ///< that the driver offers
  Bytes memory_reserve{};              ///< of it, what no job can have: context, communication buffers, fragmentation
  std::int64_t cores = 1;              ///< SMs, CUs or cores: the unit of wave quantisation
  Bytes cache{};                       ///< last-level cache, 0 when unknown
  std::int64_t clock = 0;              ///< Hz, 0 when unknown
  std::optional<GpuSpec> transaction;  ///< for simulation at transaction level
  std::optional<ArraySpec> array;      ///< for cost model dataflow

  /// What is there for a job.
  [[nodiscard]] Bytes usable_memory() const { return memory_capacity - memory_reserve; }
};
/// Of what is there for a job, for messages: "80.0 GB", "83.1 GB (85.0 GB less a reserve of 1.87 GB)".
[[nodiscard]] std::string memory_text(const DeviceSpec& device);

/// One directed link of the network, a FIFO server.
struct Link {
  NodeId from = 0;
  NodeId to = 0;
  BytesPerSecond bandwidth{};  ///< more than 0, faults applied
  Duration latency{};
  std::uint16_t link_class = 0;  ///< index into Network::link_classes
  bool dead = false;             ///< a fault, or an end that is dead: no route uses it
};

/// Finds the way, one hop at a time; deterministic, never over a dead link or through a dead node.
/// Routers own what they need, so that copies of a Machine share them; they are immutable and may be asked from any
/// thread.
class Router {
 public:
  virtual ~Router() = default;
  /// The link to take at `at` towards device `to`; no_link when at == to, when there is no way, and at switches that
  /// are not on the way from any device to `to`.
  [[nodiscard]] virtual LinkId next(NodeId at, NodeId to) const = 0;
};

/// A directed multigraph of devices and switches.
struct Network {
  NodeId devices = 0;
  NodeId hosts = 0;  ///< of the devices the last ones: they pass on no messages of others
  NodeId switches = 0;
  NodeId bridges = 0;       ///< of the switches the last ones: a host's own, to which its first link leads and back
  std::vector<Link> links;  ///< those of one node are consecutive, in order of `from`
  std::vector<LinkId> first_link;         ///< links of node n: first_link[n] .. first_link[n+1]-1; size nodes+1
  std::vector<std::string> link_classes;  ///< "nvlink", "nic", "fabric", "d2d", ...: for results and figures
  std::vector<std::string> switch_names;  ///< by switch, "nvswitch 3", "leaf 0", "core"
  std::shared_ptr<const Router> router;
  Bytes packet{};                    ///< messages are cut into packets of this size
  std::string arbitration = "fifo";  ///< which waiting packet a link sends next (tessera/sim/network/arbitration.hpp)

  [[nodiscard]] NodeId nodes() const { return devices + switches; }
  [[nodiscard]] bool is_host(NodeId node) const { return node < devices && node >= devices - hosts; }
  [[nodiscard]] bool is_bridge(NodeId node) const { return node >= nodes() - bridges; }
  /// The host that a bridge belongs to.
  [[nodiscard]] NodeId host_of(NodeId bridge) const { return links[first_link[bridge]].to; }
  /// Whether what `from` sends to `to` may pass through `node`, which is neither: a host passes on nothing, a bridge
  /// what its host sends and receives. What is dead is not looked at.
  [[nodiscard]] bool passes_on(NodeId node, NodeId from, NodeId to) const {
    if (!is_bridge(node)) return !is_host(node);
    return host_of(node) == from || host_of(node) == to;
  }
};

/// Where a device stands, for placement and partition.
struct DevicePlace {
  int node = 0;  ///< server, wafer, package, plane of a torus in three dimensions, or router's devices
  int x = 0;     ///< column on a mesh, index in the node otherwise
  int y = 0;     ///< row on a mesh, 0 otherwise
  int nic = -1;  ///< that it reaches other nodes over, numbered over all nodes; -1: none
};

/// Devices in columns and rows, on one grid or on several alike: which one a device is on is its DevicePlace::node.
struct Grid {
  int columns = 0;  ///< 0: the devices are on no grid
  int rows = 0;
  bool wrap = false;     ///< torus: the edges are joined
  int count = 1;         ///< grids, such as wafers: devices are numbered grid by grid, along the rows of each
  bool stacked = false;  ///< the grids are planes one above the other: places are (x, y, z)

  /// The device at (x, y) of a grid.
  [[nodiscard]] NodeId device(int x, int y, int grid = 0) const {
    return static_cast<NodeId>((std::int64_t{grid} * rows + y) * columns + x);
  }
};

/// Which kind of device, and how fast it is: what devices have to have in common to take as long for an operator.
struct KindAndSpeed {
  std::uint32_t kind = 0;  ///< 0: an accelerator; Machine::kind()
  double speed = 1;
  auto operator<=>(const KindAndSpeed&) const = default;
};

/// A machine as built: faults applied, routes known.
struct Machine {
  std::string name;
  std::string topology;                ///< name of the topology kind: "cluster", "ring", "mesh", "torus", "package"
  DeviceSpec device;                   ///< of all accelerators
  std::vector<DeviceSpec> host_kinds;  ///< [[machine.host]]; a host is called by its kind's name
  std::vector<std::uint32_t> kind_of_host;  ///< index into host_kinds, by host: network.hosts of them
  std::vector<DevicePlace> places;          ///< by device; of a host, of one that it is linked to
  std::string device_noun = "gpu";          ///< what an accelerator is called: "gpu", "die", "chip", "chiplet"
  std::string node_noun = "node";           ///< what a grid is called where there are several: "wafer", "mesh"
  std::vector<double> speed;                ///< by device: 1 normal, 0.5 half speed (compute and memory), 0 dead
  int devices_per_node = 1;
  Grid grid;
  Network network;
  std::string source;  ///< where the figures come from (data sheet, paper)

  [[nodiscard]] NodeId devices() const { return network.devices; }
  /// How many devices compute: they are the first ones, hosts follow.
  [[nodiscard]] NodeId accelerators() const { return network.devices - network.hosts; }
  [[nodiscard]] NodeId hosts() const { return network.hosts; }
  [[nodiscard]] bool computes(NodeId index) const { return index < accelerators(); }
  /// 0: an accelerator; of a host, one more than its index among host_kinds.
  [[nodiscard]] std::uint32_t kind(NodeId index) const {
    return computes(index) ? 0 : 1 + kind_of_host[index - accelerators()];
  }
  /// Memory, its bandwidth, and what an accelerator computes.
  [[nodiscard]] const DeviceSpec& spec(NodeId index) const {
    return computes(index) ? device : host_kinds[kind_of_host[index - accelerators()]];
  }
  [[nodiscard]] KindAndSpeed kind_and_speed(NodeId index) const { return {kind(index), speed[index]}; }
  [[nodiscard]] bool alive(NodeId index) const { return speed[index] > 0; }
  [[nodiscard]] std::string node_name(NodeId node) const;  ///< "gpu 3", "die (2,5)", "host 0", "nvswitch 0"
  [[nodiscard]] std::string link_name(LinkId link) const;  ///< "gpu 3 to nvswitch 0"
};

/// What takes `time` at normal speed, on a device of another speed (above 0): rounded up; `never` beyond all time.
[[nodiscard]] Time slowed(Time time, double speed);

}  // namespace tessera::machine
