// Every file in inputs/machines: builds, names its sources, and says what its data sheet says.
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "machine_from.hpp"
#include "support/source_folder.hpp"

namespace tessera::machine {
namespace {

std::map<std::string, std::string> files() {
  std::map<std::string, std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/inputs/machines")) {
    std::ifstream file(entry.path());
    std::stringstream text;
    text << file.rdbuf();
    result[entry.path().stem().string()] = text.str();
  }
  return result;
}

TEST_CASE("every machine file builds under its own name and has routes") {
  const auto all = files();
  for (const char* name : {"a100-80g-cluster",
                           "h100-cluster",
                           "v100-ring",
                           "v100-cluster",
                           "torus-tpu-v3",
                           "wafer-config1",
                           "wafer-config2",
                           "wafer-config3",
                           "wafer-config4",
                           "mcm-36",
                           "wafer-config3-host",
                           "wafer-config3-x4",
                           "mesh-switch-config3",
                           "blackwell-ultra-56",
                           "blackwell-ultra-8",
                           "blackwell-ultra-8-host",
                           "blackwell-ultra-4x8",
                           "blackwell-ultra-8-scaled",
                           "a100-40g-cluster",
                           "h200-cluster",
                           "b200-cluster",
                           "gb200-nvl72",
                           "mi300x-cluster",
                           "gaudi3-cluster",
                           "tpu-v5p",
                           "trn2",
                           "trn2-ultraserver"})
    CHECK(all.count(name) == 1);
  for (const auto& [name, text] : all) {
    INFO(name);
    const Machine machine = machine_from(text);
    CHECK(machine.name == name);
    CHECK(!machine.source.empty());
    CHECK(!machine.device.name.empty());
    CHECK(!Routes(machine.network).links(0, machine.devices() - 1).empty());
    CHECK(!Routes(machine.network).links(machine.devices() - 1, 0).empty());
  }
}

TEST_CASE("every figure of a machine file has its source beside it") {
  const std::regex figure("^[a-z_.0-9]+ = .*[0-9].*$");
  const std::regex exempt("^(name|source|kind) = .*$");
  for (const auto& [name, text] : files()) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      INFO(name << ": " << line);
      if (std::regex_match(line, figure) && !std::regex_match(line, exempt))
        CHECK(line.find(" # ") != std::string::npos);
    }
  }
}

TEST_CASE("resolved machine files say the same") {
  for (const auto& [name, text] : files()) {
    INFO(name);
    config::Diagnostics diagnostics;
    const auto table = parse_machine_file(text, name, diagnostics);
    REQUIRE(table != nullptr);
    const Machine before = build_machine(*table, diagnostics);
    complete_machine(*table);
    const Machine after = build_machine(*table, diagnostics);
    for (const std::string& error : diagnostics.errors()) FAIL_CHECK(error);
    CHECK(before.network.packet == after.network.packet);
    CHECK(before.network.links.size() == after.network.links.size());
    CHECK(table->find("topology")->table()->entries().size() >= 4);
  }
}

TEST_CASE("the A100 cluster is the one of the validation") {
  const Machine it = machine_from(files().at("a100-80g-cluster"));
  CHECK(it.devices() == 64);
  CHECK(it.device.peak.at("fp16").value() == 312'000'000'000'000);
  CHECK(it.device.memory_bandwidth.value() == 2'039'000'000'000);
  // 79.15 GiB, of which jobs can have 77.41: 81,050 MiB less 1,785.
  CHECK(it.device.memory_capacity.value() == 81'050LL << 20);
  CHECK(it.device.usable_memory().value() == 79'265LL << 20);
  CHECK(memory_text(it.device) == "83.1 GB (85.0 GB less a reserve of 1.87 GB)");
  CHECK(it.device.cores == 108);
  CHECK(it.device.clock == 1'410'000'000);
  // 300 GB/s of NVLink, of which its calibration gives 0.7833 to the communication library.
  CHECK(it.network.links[Routes(it.network).links(0, 7)[0]].bandwidth.value() == 234'990'000'000);
  CHECK(it.network.links[Routes(it.network).links(0, 8)[0]].bandwidth.value() == 24'000'000'000);
}

TEST_CASE("what a cluster's driver offers is below what the data sheet's GB are in GiB, and something is kept of it") {
  // A data sheet's GB of HBM are GiB; error correction, the driver and what runs beside a job take 1 to 8 % of them.
  for (const auto& [name, gib] :
       {std::pair{"a100-80g-cluster", 80}, {"h100-cluster", 80}, {"v100-cluster", 32}, {"a100-40g-cluster", 40}}) {
    INFO(name);
    const DeviceSpec device = machine_from(files().at(name)).device;
    const auto share = [&](Bytes bytes) { return static_cast<double>(bytes.value()) / (gib * 1073741824.0); };
    CHECK(share(device.memory_capacity) < 1);
    CHECK(share(device.memory_capacity) > 0.98);
    CHECK(share(device.usable_memory()) > 0.92);
    CHECK(device.memory_reserve.value() > 1'000'000'000);
  }
}

TEST_CASE("machines of today have the figures of their data sheets: all links of a device one way, and its peak") {
  struct Row {
    const char* name;
    NodeId devices;
    std::int64_t links_gb, bf16_tflop, fp8_tflop, memory_gb;
  };
  // Both ways together: 900, 1,800, 1,800, 7 x 128, 7 x 150, 1,200, 1,024 and 1,024 + 256 GB/s; of NVLink the share
  // that the calibration leaves is taken out again.
  const std::vector<Row> rows{{"h200-cluster", 64, 450, 989, 1979, 4800},
                              {"b200-cluster", 64, 900, 2250, 4500, 7700},
                              {"gb200-nvl72", 72, 900, 2500, 5000, 8000},
                              {"mi300x-cluster", 64, 448, 1307, 2614, 5300},
                              {"gaudi3-cluster", 64, 525, 1835, 1835, 3670},
                              {"tpu-v5p", 64, 600, 459, 459, 2765},
                              {"trn2", 16, 512, 667, 1299, 2900},
                              {"trn2-ultraserver", 64, 640, 667, 1299, 2900}};
  const std::map<std::string, double> shares{{"h200-cluster", 0.824}, {"b200-cluster", 0.802}, {"gb200-nvl72", 0.802}};
  constexpr std::int64_t giga = 1'000'000'000, tera = 1000 * giga;
  const auto all = files();
  for (const Row& row : rows) {
    INFO(row.name);
    const Machine it = machine_from(all.at(row.name));
    CHECK(it.devices() == row.devices);
    double links = 0;
    for (LinkId link = 0; link < it.network.first_link[1]; ++link) {
      const Link& one = it.network.links[link];
      if (it.network.link_classes[one.link_class] != "nic") links += static_cast<double>(one.bandwidth.value());
    }
    const auto share = shares.find(row.name);
    CHECK(links == Approx(static_cast<double>(row.links_gb * giga) * (share == shares.end() ? 1 : share->second)));
    CHECK(it.device.peak.at("bf16").value() / tera == row.bf16_tflop);
    CHECK(it.device.peak.at("fp8").value() / tera == row.fp8_tflop);
    CHECK(it.device.memory_bandwidth.value() / giga == row.memory_gb);
  }
}

TEST_CASE("T3's ring has half of its bi-directional bandwidth in each direction") {
  const Machine it = machine_from(files().at("v100-ring"));
  CHECK(it.network.links[0].bandwidth.value() == 75'000'000'000);
  CHECK(it.network.links[0].latency.value() == 500 * nanosecond);
  CHECK(it.device.cores == 80);
  // 80 CUs x 512 multiply-adds x 2 x 1.4 GHz.
  CHECK(it.device.peak.at("fp16").value() == std::int64_t{80} * 512 * 2 * 1'400'000'000);
}

TEST_CASE("wafer links share the die's D2D bandwidth over four edges") {
  struct Row {
    const char* name;
    int columns, rows;
    std::int64_t d2d_total, dram;
  };
  const std::vector<Row> rows{{"wafer-config1", 8, 8, 4'500'000'000'000, 1'000'000'000'000},
                              {"wafer-config2", 7, 8, 4'500'000'000'000, 1'500'000'000'000},
                              {"wafer-config3", 7, 8, 4'000'000'000'000, 2'000'000'000'000},
                              {"wafer-config4", 6, 8, 3'500'000'000'000, 2'500'000'000'000}};
  const auto all = files();
  for (const Row& row : rows) {
    INFO(row.name);
    const Machine it = machine_from(all.at(row.name));
    CHECK(it.grid.columns == row.columns);
    CHECK(it.grid.rows == row.rows);
    CHECK(it.network.links[0].bandwidth.value() * 4 == row.d2d_total);
    CHECK(it.device.memory_bandwidth.value() == row.dram);
  }
}

TEST_CASE("what WATOS compares has as much compute where it says so, and the links and memory that it says") {
  const auto all = files();
  const auto peak_of = [](const Machine& it) { return it.accelerators() * it.device.peak.at("fp16").value(); };
  constexpr std::int64_t tera = 1'000'000'000'000, giga = 1'000'000'000;
  const Machine wafer = machine_from(all.at("wafer-config3")), eight = machine_from(all.at("blackwell-ultra-8"));
  CHECK(peak_of(wafer) == 39'648 * tera);
  CHECK(peak_of(eight) == 40'000 * tera);
  CHECK(peak_of(machine_from(all.at("blackwell-ultra-56"))) == 39'648 * tera);
  CHECK(wafer.accelerators() * wafer.device.memory_capacity.value() == 3920 * giga);
  CHECK(eight.accelerators() * eight.device.memory_capacity.value() == 3920 * giga);
  const Machine meshes = machine_from(all.at("mesh-switch-config3"));
  CHECK(peak_of(meshes) == 33'984 * tera);
  CHECK(peak_of(machine_from(all.at("blackwell-ultra-8-scaled"))) == 33'984 * tera);
  // 1.6 TB/s a mesh over four dies; 1.8 TB/s a joint over eight rows; 400 GB/s a server over eight NICs.
  CHECK(meshes.network.links[Routes(meshes.network).links(0, 4)[0]].bandwidth.value() == 400 * giga);
  const Machine wafers = machine_from(all.at("wafer-config3-x4"));
  CHECK(wafers.network.links[Routes(wafers.network).links(6, 56)[0]].bandwidth.value() == 225 * giga);
  const Machine servers = machine_from(all.at("blackwell-ultra-4x8"));
  CHECK(servers.network.links[Routes(servers.network).links(0, 8)[0]].bandwidth.value() == 50 * giga);
  // Seven links of the host share 160 GB/s, each can have all of it; GPT-175B's training state fits, 16 B a parameter.
  const Machine host = machine_from(all.at("wafer-config3-host"));
  const NodeId bridge = 57;
  CHECK(host.network.is_bridge(bridge));
  CHECK(host.network.first_link[bridge] - host.network.first_link[bridge - 1] == 1);
  CHECK(host.network.first_link[bridge + 1] - host.network.first_link[bridge] == 1 + 7);
  for (LinkId link = host.network.first_link[bridge]; link < host.network.first_link[bridge + 1]; ++link)
    CHECK(host.network.links[link].bandwidth.value() == 160 * giga);
  CHECK(host.spec(56).memory_capacity.value() > 16 * 175 * giga);
}

TEST_CASE("help knows the device under both names, faults and every topology") {
  std::map<std::string, std::size_t> paths;
  for (const config::SchemaPointer& schema : schemas()) paths[schema->path()] = schema->parameters().size();
  CHECK(paths.at("machine.gpu") == paths.at("machine.device"));
  CHECK(paths.at("machine.gpu") == 10);
  CHECK(paths.count("machine.fault") == 1);
  CHECK(paths.count("machine.topology") == 1);
  CHECK(paths.count("machine.host") == 1);
  for (const TopologyKind& kind : built_in_topologies()) CHECK(paths.count("machine.topology." + kind.name) == 1);
}

}  // namespace
}  // namespace tessera::machine
