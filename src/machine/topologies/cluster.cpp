// Nodes of GPUs with a switched fabric between them.
#include <algorithm>
#include <array>
#include <cmath>

#include "../networks/cluster_network.hpp"
#include "../reading.hpp"
#include "topologies.hpp"

namespace tessera::machine {
namespace {

/// What joins the NICs of several nodes. A kind with leaves takes one line.
struct FabricKind {
  const char* name;
  bool has_leaves;  ///< below spines; else one switch joins all
  bool has_rails;   ///< NIC i of each node hangs on leaf i of its nodes; else all NICs of a node on one leaf
};
constexpr std::array fabric_kinds{FabricKind{"switch", false, false}, FabricKind{"fat-tree", true, false},
                                  FabricKind{"rail-optimised", true, true}};

std::string kinds_with(bool FabricKind::*part) {
  std::string names;
  for (const FabricKind& kind : fabric_kinds)
    if (kind.*part) names += (names.empty() ? "\"" : " and \"") + std::string(kind.name) + '"';
  return names;
}

struct ClusterSpec {
  int nodes = 0;
  int gpus_per_node = 0;
  Inside inside = Inside::nvswitch;
  BytesPerSecond nvlink_bandwidth;
  Duration nvlink_latency;
  double nvlink_efficiency = 1;
  int nics_per_node = 0;
  BytesPerSecond nic_bandwidth;
  Duration nic_latency;
  double nic_efficiency = 1;
  double fabric_loss = 0;
  BytesPerSecond pcie_bandwidth;
  Duration pcie_latency;
  std::string fabric;
  bool pxn = true;
  int nodes_per_leaf = 0;
  int spines = 1;
  double oversubscription = 1;
  Duration spine_latency;

  [[nodiscard]] const FabricKind& kind_of_fabric() const {
    return *std::ranges::find(fabric_kinds, fabric, &FabricKind::name);
  }
};

void declare_nodes(config::Schema<ClusterSpec>& s) {
  s.also_accept("kind", "\"cluster\"");
  s.integer("nodes", &ClusterSpec::nodes, "number of nodes").at_least("1").at_most(std::to_string(most_devices));
  s.integer("gpus_per_node", &ClusterSpec::gpus_per_node, "GPUs in a node").at_least("1").at_most("1024");
  s.choice("inside", &ClusterSpec::inside,
           {{"switch", Inside::nvswitch}, {"ring", Inside::ring}, {"fully-connected", Inside::fully_connected}},
           "what joins the GPUs of a node: a non-blocking switch, a ring both ways round, or a link for each pair")
      .otherwise("switch");
  s.quantity(
       "nvlink_bandwidth", &ClusterSpec::nvlink_bandwidth,
       "inside a node, per direction: of a GPU's port on the switch, of one ring link, or of the link of one pair")
      .at_least("1 B/s");
  s.quantity("nvlink_latency", &ClusterSpec::nvlink_latency,
             "from GPU to GPU inside a node; half of it in front of a switch, half behind")
      .at_least("1 ps")
      .at_most("1 s");
  s.number("nvlink_efficiency", &ClusterSpec::nvlink_efficiency,
           "share of the bandwidth that packet headers leave to payload")
      .at_least("0.01")
      .at_most("1")
      .otherwise("1.0");
}

void declare_fabric(config::Schema<ClusterSpec>& s) {
  s.integer("nics_per_node", &ClusterSpec::nics_per_node,
            "NICs of a node, a divisor of gpus_per_node; one for each GPU when absent. GPUs that share a NIC reach it "
            "over PCIe")
      .at_least("1")
      .optional();
  s.quantity("nic_bandwidth", &ClusterSpec::nic_bandwidth, "of one NIC, per direction; required with several nodes")
      .at_least("1 B/s")
      .optional();
  s.quantity("nic_latency", &ClusterSpec::nic_latency,
             "from NIC to NIC through one switch, half of it in front of the switch; required with several nodes")
      .at_least("1 ps")
      .at_most("1 s")
      .optional();
  s.number("nic_efficiency", &ClusterSpec::nic_efficiency,
           "share of the bandwidth that packet headers leave to payload")
      .at_least("0.01")
      .at_most("1")
      .otherwise("1.0");
  s.number("fabric_loss", &ClusterSpec::fabric_loss,
           "share of the NICs' bandwidth that is lost each time the nodes double, where that leaves less than "
           "nic_efficiency: to routes that meet and to those who come late. Calibrated: no mechanism is simulated")
      .at_least("0")
      .at_most("0.1")
      .otherwise("0.0");
  s.quantity("pcie_bandwidth", &ClusterSpec::pcie_bandwidth,
             "between a GPU and a NIC that it shares, per direction; required where NICs are shared")
      .at_least("1 B/s")
      .optional();
  s.quantity("pcie_latency", &ClusterSpec::pcie_latency, "between a GPU and a NIC that it shares")
      .at_least("1 ps")
      .at_most("1 s")
      .otherwise("1 us");
}

void declare_leaves(config::Schema<ClusterSpec>& s) {
  std::vector<std::string> names;
  for (const FabricKind& kind : fabric_kinds) names.emplace_back(kind.name);
  s.choice("fabric", &ClusterSpec::fabric, names,
           "between nodes: one non-blocking switch, or leaf switches below spine switches, with all NICs of a node on "
           "one leaf (fat-tree) or NIC i of each node on leaf i (rail-optimised)")
      .otherwise("switch");
  s.integer("nodes_per_leaf", &ClusterSpec::nodes_per_leaf,
            "nodes on one leaf switch, or rail-optimised on as many leaves as a node has NICs; required with leaves")
      .at_least("1")
      .optional();
  s.integer("spines", &ClusterSpec::spines, "spine switches, each linked to every leaf")
      .at_least("1")
      .at_most("1024")
      .otherwise("1");
  s.number("oversubscription", &ClusterSpec::oversubscription,
           "bandwidth of the NICs below a full leaf over that of its links to the spines; 1 is non-blocking")
      .at_least("0.01")
      .at_most("1000")
      .otherwise("1.0");
  s.quantity("spine_latency", &ClusterSpec::spine_latency, "of each link between a leaf and a spine")
      .at_least("1 ps")
      .at_most("1 s")
      .otherwise("500 ns");
  s.boolean("pxn", &ClusterSpec::pxn,
            "rail-optimised: what goes to another rail of another node goes inside the node to the GPU of that rail "
            "first, as NCCL does since 2.12 (PXN), and not over the spines")
      .otherwise("true");
}

const config::Schema<ClusterSpec>& cluster_schema() {
  static const config::Schema<ClusterSpec> schema = [] {
    config::Schema<ClusterSpec> s(
        "machine.topology.cluster",
        "Nodes of GPUs; NVLink (or its like) inside, NICs and a switched fabric between them.");
    declare_nodes(s);
    declare_fabric(s);
    declare_leaves(s);
    return s;
  }();
  return schema;
}

/// What no single key can be blamed for, or what only some clusters need.
class Checks {
 public:
  Checks(const config::Table& table, config::Diagnostics& diagnostics) : table_(table), diagnostics_(diagnostics) {}

  void require(const char* key, const std::string& because) {
    if (table_.find(key) == nullptr)
      fail(table_.where(), std::string("missing key \"") + key + "\", required " + because);
  }
  void divides(const char* key, int value, int whole) {
    if (value > 0 && whole % value == 0) return;
    fail(table_.find(key)->where(), std::string("\"") + key + "\": " + std::to_string(value) +
                                        " does not divide gpus_per_node, which is " + std::to_string(whole));
  }
  void device_count(std::int64_t count) {
    ok_ = check_device_count(count, "nodes x gpus_per_node", table_, diagnostics_) && ok_;
  }
  /// Warns of a key that is given, with another value than its default, and changes nothing.
  void without_effect(const char* key, bool is_default, const std::string& because) {
    if (is_default || table_.find(key) == nullptr) return;
    diagnostics_.warn(table_.find(key)->where(), std::string(key) + " has no effect " + because);
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  void fail(const config::Location& where, const std::string& what) {
    diagnostics_.error(where, what);
    ok_ = false;
  }
  const config::Table& table_;
  config::Diagnostics& diagnostics_;
  bool ok_ = true;
};

bool check(const ClusterSpec& spec, const config::Table& table, config::Diagnostics& diagnostics) {
  Checks checks(table, diagnostics);
  const FabricKind& fabric = spec.kind_of_fabric();
  checks.device_count(std::int64_t{spec.nodes} * spec.gpus_per_node);
  if (spec.nodes > 1) {
    checks.require("nic_bandwidth", "with more than one node");
    checks.require("nic_latency", "with more than one node");
    if (fabric.has_leaves) checks.require("nodes_per_leaf", "with fabric = \"" + spec.fabric + '"');
    if (spec.nics_per_node > 0 && spec.nics_per_node != spec.gpus_per_node) {
      checks.divides("nics_per_node", spec.nics_per_node, spec.gpus_per_node);
      checks.require("pcie_bandwidth", "where GPUs share a NIC");
    }
  }
  const std::string with_this = "with fabric = \"" + spec.fabric + "\"; ";
  if (!fabric.has_rails)
    checks.without_effect("pxn", spec.pxn, with_this + kinds_with(&FabricKind::has_rails) + " has rails");
  if (!fabric.has_leaves) {
    const std::string because = with_this + kinds_with(&FabricKind::has_leaves) + " have leaves and spines";
    checks.without_effect("nodes_per_leaf", spec.nodes_per_leaf == 0, because);
    checks.without_effect("spines", spec.spines == ClusterSpec{}.spines, because);
    checks.without_effect("oversubscription", spec.oversubscription == ClusterSpec{}.oversubscription, because);
  }
  return checks.ok();
}

BytesPerSecond scaled(BytesPerSecond bandwidth, double factor) {
  return BytesPerSecond{std::max<std::int64_t>(1, std::llround(static_cast<double>(bandwidth.value()) * factor))};
}

/// Of the NICs' bandwidth.
double share_in_fabric(const ClusterSpec& spec) {
  constexpr double least = 0.01;
  return std::max(least, std::min(spec.nic_efficiency, 1 - spec.fabric_loss * std::log2(spec.nodes)));
}

ClusterShape shape_of(const ClusterSpec& spec) {
  ClusterShape shape;
  shape.nodes = static_cast<NodeId>(spec.nodes);
  shape.gpus_per_node = static_cast<NodeId>(spec.gpus_per_node);
  shape.inside = spec.inside;
  shape.nvlink_bandwidth = scaled(spec.nvlink_bandwidth, spec.nvlink_efficiency);
  shape.nvlink_latency = spec.nvlink_latency;
  if (!shape.has_fabric()) return shape;
  shape.nics_per_node = spec.nics_per_node == 0 ? shape.gpus_per_node : static_cast<NodeId>(spec.nics_per_node);
  shape.nic_bandwidth = scaled(spec.nic_bandwidth, share_in_fabric(spec));
  shape.nic_latency = spec.nic_latency;
  shape.pcie_bandwidth = spec.pcie_bandwidth;
  shape.pcie_latency = spec.pcie_latency;
  if (!spec.kind_of_fabric().has_leaves) return shape;
  shape.nodes_per_leaf = static_cast<NodeId>(std::min(spec.nodes_per_leaf, spec.nodes));
  if (spec.kind_of_fabric().has_rails) {
    shape.rails = shape.nics_per_node;
    shape.pxn = spec.pxn;
  }
  shape.spines = static_cast<NodeId>(spec.spines);
  const double below = static_cast<double>(spec.nodes_per_leaf) * shape.nics_on_a_leaf_per_node();
  shape.uplink_bandwidth = scaled(shape.nic_bandwidth, below / (spec.oversubscription * spec.spines));
  shape.uplink_latency = spec.spine_latency;
  return shape;
}

void build_from_cluster(const config::Table& table, Machine& machine, config::Diagnostics& diagnostics) {
  const auto spec = read_whole(cluster_schema(), table, diagnostics);
  if (!spec || !check(*spec, table, diagnostics)) return;
  build_cluster(shape_of(*spec), machine);
}

}  // namespace

TopologyKind cluster_topology() {
  return {"cluster",
          "nodes of GPUs (NVSwitch, ring or fully connected inside), NICs, a switch, a fat tree or rails outside",
          []() -> const config::SchemaBase& { return cluster_schema(); }, build_from_cluster};
}

}  // namespace tessera::machine
