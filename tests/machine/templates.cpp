// Wafers that are computed from areas and edges: hand-solved ones, and what forbids others.
#include "machine_from.hpp"
#include "tessera/machine/template.hpp"

namespace tessera::machine {
namespace {

Length mm(double length) { return Length{static_cast<std::int64_t>(length * 1000 + 0.5)}; }

constexpr std::int64_t giga = 1'000'000'000;

/// A wafer of 100 mm x 80 mm, dies of 20 mm x 10 mm. Their edge is 2 x (20 + 10) = 60 mm long and has 3 TB/s. A core is
/// 2 mm x 2.5 mm, so that 10 x 4 fit. Two chiplets of 4 mm stand along one edge of 10 mm and are 5 mm deep.
WaferTemplate small_wafer() {
  WaferTemplate of;
  of.wafer = {mm(100), mm(80), Length{0}, 0, 0, Duration{100'000}};
  of.die = {mm(20), mm(10), BytesPerSecond{3000 * giga}, mm(60)};
  of.core.width = mm(2);
  of.core.height = mm(2.5);
  of.core.sram = Bytes{1'000'000};
  of.dram = {DramPlace::one_side, 2, "a", "b", mm(4), mm(5), Bytes{8 * giga}, BytesPerSecond{300 * giga}};
  return of;
}

std::vector<std::string> conflicts_of(const WaferTemplate& of) {
  std::vector<std::string> lines;
  for (const Conflict& conflict : layout_of(of).conflicts) lines.push_back(conflict.constraint + ": " + conflict.what);
  return lines;
}

const std::string keys =
    "[machine.template]\n"
    "kind = \"wafer-template\"\n"
    "wafer = { width = \"100 mm\", height = \"80 mm\", latency = \"100 ns\" }\n"
    "die = { width = \"20 mm\", height = \"10 mm\", edge_bandwidth = \"3 TB/s\", edge_length = \"60 mm\" }\n"
    "core = { width = \"2 mm\", height = \"2.5 mm\", peak.fp16 = \"1 TFLOP/s\", sram = \"1 MB\", clock = \"2 GHz\" }\n";
const std::string dram = "width = \"4 mm\", depth = \"5 mm\", capacity = \"8 GB\", bandwidth = \"300 GB/s\" }\n";

std::string template_text(const std::string& place, const std::string& rest = "") {
  return keys + "dram = { place = \"" + place + "\", chiplets = 2, " + dram + rest;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("wafer template: DRAM on one side") {
  // A site is 20 + 5 = 25 mm wide and 10 mm high: 100 / 25 = 4 columns, 80 / 10 = 8 rows. Two chiplets have 16 GB and
  // 600 GB/s; the edge's 3,000 GB/s less those leave 2,400 for four directions, 600 each. 10 x 4 cores, 40 MB.
  const WaferLayout layout = layout_of(small_wafer());
  CHECK(conflicts_of(small_wafer()) == Lines{});
  CHECK(layout.columns == 4);
  CHECK(layout.rows == 8);
  CHECK(layout.core_columns == 10);
  CHECK(layout.core_rows == 4);
  CHECK(layout.chiplets == 2);
  CHECK(layout.site_width == mm(25));
  CHECK(layout.edge_bandwidth == BytesPerSecond{3000 * giga});
  CHECK(layout.link_bandwidth == BytesPerSecond{600 * giga});
  CHECK(layout.memory_capacity == Bytes{16 * giga});
  CHECK(layout.memory_bandwidth == BytesPerSecond{600 * giga});
  CHECK(layout.sram == Bytes{40'000'000});
}

TEST_CASE("wafer template: DRAM on both sides takes twice the area and twice the edge") {
  // 20 + 2 x 5 = 30 mm: 3 columns, 10 mm stay empty. Four chiplets take 1,200 GB/s of 3,000: 1,800 / 4 = 450.
  WaferTemplate of = small_wafer();
  of.dram.place = DramPlace::both_sides;
  const WaferLayout layout = layout_of(of);
  CHECK(layout.columns == 3);
  CHECK(layout.chiplets == 4);
  CHECK(layout.memory_capacity == Bytes{32 * giga});
  CHECK(layout.link_bandwidth == BytesPerSecond{450 * giga});
}

TEST_CASE("wafer template: stacked DRAM takes neither area nor edge") {
  // 100 / 20 = 5 columns, and the whole edge for links: 3,000 / 4 = 750 GB/s. The memory is that of the two chiplets.
  WaferTemplate of = small_wafer();
  of.dram.place = DramPlace::on_top;
  const WaferLayout layout = layout_of(of);
  CHECK(layout.columns == 5);
  CHECK(layout.site_width == mm(20));
  CHECK(layout.link_bandwidth == BytesPerSecond{750 * giga});
  CHECK(layout.memory_capacity == Bytes{16 * giga});
  CHECK(layout.memory_bandwidth == BytesPerSecond{600 * giga});
  // On 20 mm x 10 mm there is room for 5 x 2 chiplets of 4 mm x 5 mm; turned round for 4 x 2.
  of.dram.chiplets = 10;
  CHECK(conflicts_of(of) == Lines{});
  of.dram.chiplets = 11;
  CHECK(
      conflicts_of(of) ==
      Lines{"chiplets on the die: 11 chiplets of 4 mm x 5 mm on a die of 20 mm x 10 mm, on which 10 fit: 1 too many"});
}

TEST_CASE("wafer template: without DRAM a die has its SRAM") {
  // 40 cores of 1 MB and 100 GB/s.
  WaferTemplate of = small_wafer();
  of.dram.place = DramPlace::none;
  CHECK(conflicts_of(of) ==
        Lines{"memory: a die without DRAM computes from its SRAM, which core.sram and core.sram_bandwidth do not "
              "say"});
  of.core.sram_bandwidth = BytesPerSecond{100 * giga};
  const WaferLayout layout = layout_of(of);
  CHECK(layout.conflicts.empty());
  CHECK(layout.memory_capacity == Bytes{40'000'000});
  CHECK(layout.memory_bandwidth == BytesPerSecond{4000 * giga});
  CHECK(layout.columns == 5);
}

TEST_CASE("wafer template: spacing stands between neighbours alone") {
  // With 1 mm a site is 20 + 1 + 5 = 26 mm wide; three take 3 x 26 + 2 = 80 mm, four would take 107 of 100. Seven rows
  // take 70 + 6 = 76 mm of 80, eight 87. Two chiplets take 4 + 1 + 4 = 9 mm of 10.
  WaferTemplate of = small_wafer();
  of.wafer.spacing = mm(1);
  const WaferLayout layout = layout_of(of);
  CHECK(layout.conflicts.empty());
  CHECK(layout.columns == 3);
  CHECK(layout.rows == 7);
}

TEST_CASE("wafer template: each constraint says by how much, all of them at once") {
  WaferTemplate of = small_wafer();
  of.wafer.columns = 5;
  of.wafer.rows = 9;
  of.core.columns = 11;
  of.dram.chiplets = 3;
  of.dram.bandwidth = BytesPerSecond{1100 * giga};
  // 5 x 25 = 125 mm, 9 x 10 = 90 mm, 11 x 2 = 22 mm, 3 x 4 = 12 mm; 3 x 1.1 = 3.3 TB/s.
  CHECK(
      conflicts_of(of) ==
      Lines{"columns of cores: 11 cores of 2 mm take 22 mm, the die's width is 20 mm: 2 mm too much",
            "chiplets along the die's edge: 3 chiplets of 4 mm take 12 mm, the die's edge is 10 mm: 2 mm too much",
            "bandwidth of the die's edge: 3 chiplets of 1.10 TB/s take 3.30 TB/s, the die's edge of 60 mm has 3.00 "
            "TB/s: 300 GB/s "
            "too much, nothing is left for links",
            "columns of dies: 5 dies with their DRAM of 25 mm take 125 mm, the wafer's width is 100 mm: 25 mm too much",
            "rows of dies: 9 dies of 10 mm take 90 mm, the wafer's height is 80 mm: 10 mm too much"});
  // Where not one fits, that one is too large.
  of = small_wafer();
  of.die.width = mm(97);
  CHECK(conflicts_of(of) ==
        Lines{"columns of dies: 1 die with its DRAM of 102 mm takes 102 mm, the wafer's width is 100 "
              "mm: 2 mm too much"});
  // All of the edge is as bad as more of it.
  of = small_wafer();
  of.dram.bandwidth = BytesPerSecond{1500 * giga};
  CHECK(conflicts_of(of) ==
        Lines{"bandwidth of the die's edge: 2 chiplets of 1.50 TB/s take 3.00 TB/s, the die's edge of 60 mm has "
              "3.00 TB/s: nothing is left for links"});
  of = small_wafer();
  of.core.width = Length{0};
  CHECK(conflicts_of(of) ==
        Lines{"columns of cores: neither the cores of a die are counted nor is the size of one said"});
}

TEST_CASE("wafer template: the edge of table II's larger die leaves the links that table II has") {
  // 12 TB/s both ways are 6 one way, on 2 x (25.5 + 25.2) = 101.4 mm. Configurations 2, 3 and 4 of WATOS have DRAM of
  // 1.5, 2 and 2.5 TB/s and links of 4.5, 4 and 3.5 TB/s over four edges.
  WaferTemplate of = small_wafer();
  of.die = {mm(25.5), mm(25.2), BytesPerSecond{6000 * giga}, mm(101.4)};
  of.wafer.width = of.wafer.height = mm(198);
  of.dram.chiplets = 1;
  for (const std::int64_t dram_bandwidth : {1500, 2000, 2500}) {
    of.dram.bandwidth = BytesPerSecond{dram_bandwidth * giga};
    CHECK(4 * layout_of(of).link_bandwidth == BytesPerSecond{(6000 - dram_bandwidth) * giga});
  }
}

TEST_CASE("wafer template: what 64 bits do not count is a conflict") {
  // 20 mm / 1 um x 10 mm / 1 um are 2 x 10^8 cores, more than the 2^20 that are allowed; 40 of 10^18 FLOP/s are more
  // than 9.2 x 10^18.
  WaferTemplate of = small_wafer();
  of.core.width = of.core.height = Length{1};
  CHECK(conflicts_of(of) == Lines{"cores of a die: 20000 x 10000 of them, or what they have together, are more than is "
                                  "counted, allowed: 1048576 cores"});
  of = small_wafer();
  of.core.peak.fp16 = FlopPerSecond{1'000'000'000 * giga};
  CHECK(conflicts_of(of).size() == 1);
}

TEST_CASE("wafer template: a machine file may be one") {
  const Machine machine = machine_from(template_text("one-side"));
  CHECK(machine.name == "wafer-template");
  CHECK(machine.source ==
        "wafer template: 4 x 8 dies of 20 mm x 10 mm on 100 mm x 80 mm, 10 x 4 cores a die, 2 chiplets "
        "on one side of a die");
  CHECK(machine.topology == "mesh");
  CHECK(machine.grid.columns == 4);
  CHECK(machine.grid.rows == 8);
  CHECK(machine.device.peak.at("fp16") == FlopPerSecond{40'000 * giga});
  CHECK(machine.device.peak.size() == 1);
  CHECK(machine.device.cores == 40);
  CHECK(machine.device.cache == Bytes{40'000'000});
  CHECK(machine.device.clock == 2 * giga);
  CHECK(machine.device.memory_capacity == Bytes{16 * giga});
  CHECK(link_between(machine, 0, 1).bandwidth == BytesPerSecond{600 * giga});
  CHECK(link_between(machine, 0, 1).latency == Duration{100'000});
  // Its own name, a reserve and faults stand beside it.
  const Machine other = machine_from(template_text("on-top", fault("die = [4, 7]\ndead = true") +
                                                                 "[machine.device]\nmemory_reserve = \"1 GB\"\n"
                                                                 "[machine]\nname = \"mine\"\n"));
  CHECK(other.name == "mine");
  CHECK(other.device.usable_memory() == Bytes{15 * giga});
  CHECK_FALSE(other.alive(39));
}

TEST_CASE("wafer template: cores that are described make the device's array") {
  const auto with_core = [](const std::string& more) {
    std::string text = template_text("one-side");
    const std::string clock = "clock = \"2 GHz\"";
    return text.insert(text.find(clock) + clock.size(), more);
  };
  const std::string array = ", pe_columns = 16, pe_rows = 8, banks = 4, bank_bytes = 32";
  CHECK_FALSE(machine_from(with_core("")).device.array.has_value());
  const Machine machine = machine_from(with_core(array + ", link_bytes = 64"));
  CHECK(machine.device.array == ArraySpec{10, 4, 16, 8, Bytes{1'000'000}, 4, 32, 64});
  CHECK(errors_of(with_core(array)) ==
        Lines{"m.toml:5:8: \"link_bytes\" of [machine.template.core] is 0 or not said beside others of "
              "[machine.device.array], expected 1 or more"});
}

TEST_CASE("wafer template: its table and that of the machine that it comes to are one machine") {
  config::Diagnostics diagnostics;
  const auto table = parse_machine_file(template_text("both-sides"), "m.toml", diagnostics);
  REQUIRE(table != nullptr);
  const auto expanded = config::clone(*table);
  REQUIRE(expand_template(*expanded, diagnostics));
  CHECK(expanded->find("template") == nullptr);
  const auto again = parse_machine_file(
      [&] {
        config::Table whole;
        whole.set("machine", {config::clone(*expanded), {}});
        return config::to_toml(whole);
      }(),
      "again.toml", diagnostics);
  REQUIRE(again != nullptr);
  CHECK(config::same_content(*again, *expanded));
  const Machine a = build_machine(*table, diagnostics), b = build_machine(*again, diagnostics);
  CHECK(diagnostics.errors() == Lines{});
  CHECK(a.devices() == b.devices());
  CHECK(a.device.memory_bandwidth == b.device.memory_bandwidth);
}

TEST_CASE("wafer template: bad input is one line with its place") {
  CHECK(
      errors_of(template_text("one-side", "[machine.topology]\ncolumns = 4\n")) ==
      Lines{"m.toml:8:1: \"columns\" of [machine.topology] follows from [machine.template], allowed: the keys of that "
            "table"});
  CHECK(errors_of(keys + "dram = { place = \"one-side\", chiplets = 3, " + dram) ==
        Lines{"m.toml:6:41: wafer template, chiplets along the die's edge: 3 chiplets of 4 mm take 12 mm, the die's "
              "edge is 10 mm: 2 mm "
              "too much"});
  CHECK(errors_of(keys + "dram = { place = \"beside\", " + dram) ==
        Lines{"m.toml:6:18: \"place\": unknown choice \"beside\", allowed: none, one-side, both-sides, on-top"});
  CHECK(
      errors_of(keys +
                "dram = { place = \"one-side\", width = \"4 mm\", depth = \"5 mm\", bandwidth = \"1 GB/s\" }\n") ==
      Lines{"m.toml:6:8: \"capacity\" of [machine.template.dram] is 0 or not said, expected that of the chiplet's data "
            "sheet"});
  CHECK(errors_of("[machine]\ntemplate = 3\n").front().find("\"template\": ") != std::string::npos);
  CHECK(errors_of("[machine.template]\nkind = \"wafer\"\n").front().find("wafer-template") != std::string::npos);
  CHECK(errors_of(template_text("one-side") + "[machine.template.die]\nwidth = \"20 GB\"\n").size() == 1);
}

}  // namespace tessera::machine
