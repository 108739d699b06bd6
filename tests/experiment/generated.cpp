// Sweeps whose machines a template generates: what the axes are, which points are forbidden, and that a point is the
// machine that its keys would be in an experiment.
#include <catch2/catch.hpp>
#include <chrono>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/sweep.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;

namespace {

using Texts = std::vector<std::string>;

/// Dies of 20 mm x 10 mm on 100 mm x 80 mm, as in tests/machine/templates.cpp: 4 x 8 with DRAM on one side, 5 x 8 with
/// DRAM on top.
const std::string wafer_job = R"(title = "t"
[machine.template.wafer]
width = "100 mm"
height = "80 mm"
latency = "100 ns"
[machine.template.die]
height = "10 mm"
edge_bandwidth = "3 TB/s"
edge_length = "60 mm"
[machine.template.core]
width = "2 mm"
height = "2.5 mm"
peak.fp16 = "1 TFLOP/s"
[machine.template.dram]
place = "one-side"
width = "4 mm"
depth = "5 mm"
capacity = "8 GB"
bandwidth = "300 GB/s"
)" + tessera::test::one_all_reduce;

struct Generated {
  Folder folder;
  InputFiles files;
  std::unique_ptr<Sweep> sweep;
  Texts errors;  ///< without the folder

  explicit Generated(const std::string& text, const std::string& job = wafer_job) {
    folder.write("x.toml", job + text);
    config::Diagnostics diagnostics;
    sweep = load_sweep(folder.path("x.toml"), {}, {}, files, diagnostics);
    for (const std::string& line : diagnostics.errors()) errors.push_back(without_folder(line));
  }
  [[nodiscard]] std::string without_folder(std::string line) const {
    for (std::size_t at = 0; (at = line.find(folder.path(""), at)) != std::string::npos;)
      line.erase(at, folder.path("").size());
    return line;
  }
  [[nodiscard]] Source source(std::int64_t point) const {
    config::Diagnostics diagnostics;
    Source made = sweep->source(sweep->point(point), diagnostics);
    diagnostics.throw_if_errors();
    return made;
  }
  /// What refuses a point; empty: it is a machine.
  [[nodiscard]] std::string refusal(std::int64_t point) const {
    try {
      static_cast<void>(source(point));
      return {};
    } catch (const InputError& error) {
      return without_folder(error.what());
    }
  }
  [[nodiscard]] machine::Machine machine(std::int64_t point) const {
    config::Diagnostics diagnostics;
    const Source made = source(point);
    auto experiment = build(*made.table, diagnostics);
    REQUIRE(diagnostics.errors() == Texts{});
    return experiment->machine;
  }
};

}  // namespace

TEST_CASE("generated: keys with several values are axes, names that are no keys are values of their table") {
  const Generated made(R"([sweep]
generate = "wafer-template"
axes."simulation.seed" = [1, 2]
[sweep.wafer-template]
wafer.spacing = "0 mm"
dram.place = ["one-side", "on-top"]
[sweep.wafer-template.die]
wide = { width = "20 mm" }
narrow = { width = "15 mm" }
)");
  REQUIRE(made.errors == Texts{});
  REQUIRE(made.sweep->points() == 8);
  const auto axes = made.sweep->axes();
  REQUIRE(axes.size() == 3);
  CHECK(axes[0].key == "machine.template.dram.place");
  CHECK(axes[1].key == "machine.template.die");
  CHECK(axes[2].key == "simulation.seed");
  CHECK(made.sweep->point(0).name == "place=one-side die=wide seed=1");
  CHECK(made.sweep->point(7).name == "place=on-top die=narrow seed=2");
  // Tiles of 25 mm, 20 mm with DRAM beside the narrow die, 20 and 15 mm with DRAM on top: 4, 5, 5 and 6 columns.
  for (const auto& [point, columns] : {std::pair{0, 4}, std::pair{2, 5}, std::pair{4, 5}, std::pair{6, 6}})
    CHECK(made.machine(point).grid.columns == columns);
}

TEST_CASE("generated: a point that is forbidden names the constraint, and the others go on") {
  // Two chiplets of 4 mm fit along 10 mm, three do not. Expressions know the machine of each point: 4 x 8 dies.
  const Generated made(R"([sweep]
generate = "wafer-template"
set."simulation.seed" = "machine.topology.columns * 100 + machine.topology.rows + devices * 1000"
where = "machine.template.die.width > 15 * mm"
[sweep.wafer-template]
die.width = ["15 mm", "20 mm"]
dram.chiplets = [2, 3]
)");
  REQUIRE(made.errors == Texts{});
  REQUIRE(made.sweep->points() == 3);  // that of 15 mm with two chiplets is left out, with three it has no seed
  CHECK(made.sweep->point(1).name == "width=20 mm chiplets=2");
  CHECK(made.refusal(1).empty());
  CHECK(made.sweep->point(1).cells[2] == Cell{std::int64_t{32'408}});
  CHECK(made.without_folder(made.sweep->point(2).refused) == made.refusal(2));
  CHECK(made.refusal(2).find("wafer template, chiplets along the die's edge: 3 chiplets of 4 mm take 12 mm, the die's "
                             "edge is 10 mm: 2 mm too much") != std::string::npos);
}

TEST_CASE("generated: a point is the machine of its keys, and its resolved text is that machine again") {
  const Generated made(
      "[sweep]\ngenerate = \"wafer-template\"\n[sweep.wafer-template.a]\ndie.width = \"20 mm\"\ndram.chiplets = 2\n");
  REQUIRE(made.errors == Texts{});
  CHECK(made.sweep->point(0).name == "template=a");
  const Source point = made.source(0);
  const Folder folder;
  folder.write("one.toml", wafer_job);
  config::Diagnostics diagnostics;
  const Source alone =
      load(folder.path("one.toml"),
           {parse_setting("machine.template.kind=wafer-template"), parse_setting("machine.template.die.width=20 mm"),
            parse_setting("machine.template.dram.chiplets=2")},
           {}, diagnostics);
  REQUIRE(diagnostics.errors() == Texts{});
  REQUIRE(point.table->find("machine") != nullptr);
  CHECK(config::same_content(*point.table->find("machine")->table(), *alone.table->find("machine")->table()));
  CHECK(point.table->find("machine")->table()->find("template") == nullptr);
  folder.write("printed.toml", config::to_toml(*point.table));
  const Source again = load(folder.path("printed.toml"), {}, {}, diagnostics);
  CHECK(diagnostics.errors() == Texts{});
  CHECK(config::same_content(*again.table, *point.table));
}

TEST_CASE("generated: what is wrong with the generator itself is one line") {
  CHECK(Generated("[sweep]\ngenerate = \"wafer\"\n").errors ==
        Texts{"x.toml:27:12: unknown generator \"wafer\" (did you mean \"wafer-template\"?), allowed: wafer-template"});
  CHECK(Generated("[sweep]\ngenerate = 3\n").errors ==
        Texts{"x.toml:27:12: \"generate\": a whole number is not allowed here, expected a name"});
  CHECK(
      Generated("[sweep]\ngenerate = \"wafer-template\"\n").errors ==
      Texts{"x.toml:27:12: generate = \"wafer-template\" needs a table [sweep.wafer-template], whose keys are those of "
            "[machine.template]; see tessera help machine.template.wafer-template"});
  CHECK(Generated("[sweep]\ngenerate = \"wafer-template\"\n[sweep.wafer-template]\ndie.width = \"20 mm\"\n").errors ==
        Texts{"x.toml:27:12: [sweep] has no axes"});
  CHECK(
      Generated("[sweep]\ngenerate = \"wafer-template\"\n[sweep.wafer-template]\ndie.width = [\"20 GB\"]\n").errors ==
      Texts{"x.toml:29:14: axis \"machine.template.die.width\": \"20 GB\" is a size, expected a length such as \"25.5 "
            "mm\""});
}

TEST_CASE("generated: ten thousand points are machines or refused in five seconds") {
  // 34 x 34 sizes of dies x 3 places x 3 numbers of chiplets are 10,404 points.
  const Generated made(R"([sweep]
generate = "wafer-template"
[sweep.wafer-template]
die.width = { from = "12 mm", to = "28.5 mm", steps = 34 }
die.height = { from = "12 mm", to = "28.5 mm", steps = 34 }
dram.place = ["one-side", "both-sides", "on-top"]
dram.chiplets = [1, 2, 5]
)");
  REQUIRE(made.errors == Texts{});
  REQUIRE(made.sweep->points() == 10'404);
  const auto begin = std::chrono::steady_clock::now();
  std::int64_t legal = 0;
  for (std::int64_t i = 0; i < made.sweep->points(); ++i) legal += made.refusal(i).empty() ? 1 : 0;
  [[maybe_unused]] const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  CHECK(legal > 0);
  CHECK(legal < made.sweep->points());
#ifndef __SANITIZE_ADDRESS__
  CHECK(took.count() < 5);
#endif
}
