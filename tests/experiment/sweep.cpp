// The points of a sweep: which there are, what they are called, and what each is as an experiment.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "tessera/base/error.hpp"
#include "tessera/experiment/run_sweep.hpp"
#include "tessera/experiment/sweep.hpp"

using namespace tessera;
using namespace tessera::experiment;
using tessera::test::Folder;

namespace {

using Lines = std::vector<std::string>;

const std::string model = R"(name = "tiny"
family = "gpt2"
layers = 4
hidden = 64
heads = 4
vocabulary = 128
max_positions = 32
source = "a test"
)";

const std::string experiment_text = R"(title = "tiny on a ring"
machine = "ring"
model = "tiny"
[workload]
phase = "training"
sequence = 32
global_batch = 8
[strategy]
name = "megatron"
)";

/// A folder with a machine, a model, and a sweep of them.
struct Files : Folder {
  explicit Files(const std::string& sweep, const std::string& experiment = experiment_text) {
    write("ring.toml", test::ring);
    write("tiny.toml", model);
    write("x.toml", experiment + "[sweep]\n" + sweep);
  }
};

struct Loaded {
  InputFiles files;
  std::unique_ptr<Sweep> sweep;
  Lines errors;  ///< without the folder
};

std::unique_ptr<Loaded> load(const Folder& folder, const Lines& settings = {}) {
  auto loaded = std::make_unique<Loaded>();
  SweepOptions options;
  for (const std::string& text : settings) options.settings.push_back(parse_setting(text));
  config::Diagnostics diagnostics;
  loaded->sweep = load_sweep(folder.path("x.toml"), options, {}, loaded->files, diagnostics);
  loaded->errors = diagnostics.errors();
  for (std::string& line : loaded->errors)
    for (std::size_t at = line.find(folder.path("")); at != std::string::npos; at = line.find(folder.path("")))
      line.erase(at, folder.path("").size());
  return loaded;
}

Lines names(const Loaded& loaded) {
  REQUIRE(loaded.errors == Lines{});
  Lines all;
  for (std::int64_t i = 0; i < loaded.sweep->points(); ++i) {
    CHECK(loaded.sweep->point(i).number == i);
    all.push_back(loaded.sweep->point(i).name);
  }
  return all;
}

/// The point's value of a key, as its resolved experiment has it.
std::string value_in(const Loaded& loaded, std::int64_t point, const std::string& key) {
  config::Diagnostics diagnostics;
  const Source source = loaded.sweep->source(loaded.sweep->point(point), diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  const config::Table* table = source.table.get();
  const config::Value* value = nullptr;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    value = table->find(key.substr(begin, end - begin));
    if (value == nullptr) return "";
    table = value->table();
    begin = end + 1;
  }
  config::Table one;
  one.set("v", *value);
  const std::string text = config::to_toml(one);
  return text.substr(4, text.size() - 5);
}

std::string error_of(const std::string& sweep) {
  const auto loaded = load(Files(sweep));
  REQUIRE(loaded->errors.size() == 1);
  return loaded->errors[0];
}

}  // namespace

TEST_CASE("sweep: all combinations, the last axis first, numbered from 0") {
  const Files files("axes.\"strategy.tensor\" = [1, 2]\naxes.\"workload.global_batch\" = [8, 16, 32]\n");
  const auto loaded = load(files);
  CHECK(names(*loaded) == Lines{"tensor=1 global_batch=8", "tensor=1 global_batch=16", "tensor=1 global_batch=32",
                                "tensor=2 global_batch=8", "tensor=2 global_batch=16", "tensor=2 global_batch=32"});
  CHECK(loaded->sweep->combinations() == 6);
  CHECK(value_in(*loaded, 4, "strategy.tensor") == "2");
  CHECK(value_in(*loaded, 4, "workload.global_batch") == "16");
  CHECK(value_in(*loaded, 4, "title") == "\"tiny on a ring: tensor=2 global_batch=16\"");
  CHECK(loaded->sweep->point(4).cells == std::vector<Cell>{std::int64_t{2}, std::int64_t{16}});
}

TEST_CASE("sweep: ranges, linear, by ratios and by doubling") {
  // 1 to 8 doubled: 1, 2, 4, 8. Three steps of equal ratio from 100 to 400 GB/s: times 2 each. Whole numbers one by
  // one. Two from 1 us to 2 us: the ends.
  const Files files(
      "axes.\"strategy.tensor\" = { from = 1, to = 9, scale = \"log2\" }\n"
      "axes.\"machine.topology.bandwidth\" = { from = \"100 GB/s\", to = \"400 GB/s\", steps = 3, scale = \"log\" }\n"
      "axes.\"simulation.seed\" = { from = 7, to = 5 }\n"
      "axes.\"machine.topology.latency\" = { from = \"1 us\", to = \"2 us\", steps = 2 }\n");
  const auto loaded = load(files);
  const Lines all = names(*loaded);
  REQUIRE(all.size() == 4 * 3 * 3 * 2);
  CHECK(all[0] == "tensor=1 bandwidth=100 GB/s seed=7 latency=1 us");
  CHECK(all[1] == "tensor=1 bandwidth=100 GB/s seed=7 latency=2 us");
  CHECK(all[2] == "tensor=1 bandwidth=100 GB/s seed=6 latency=1 us");
  CHECK(all[6] == "tensor=1 bandwidth=200 GB/s seed=7 latency=1 us");
  CHECK(all[71] == "tensor=8 bandwidth=400 GB/s seed=5 latency=2 us");
  const auto axes = loaded->sweep->axes();
  CHECK(axes[0].unit.empty());
  CHECK(axes[1].unit == "B/s");
  CHECK(axes[3].unit == "ps");
  // 2 us are 2,000,000 ps.
  CHECK(loaded->sweep->point(71).cells[3] == Cell{std::int64_t{2'000'000}});
}

TEST_CASE("sweep: values of a range are rounded to what a person would write, and stay apart") {
  // 75 x 16^(1/3) = 188.99, 75 x 16^(2/3) = 476.2. Steps of 0.08 % of the values need six digits.
  const Files files(
      "axes.\"machine.topology.bandwidth\" = { from = \"75 GB/s\", to = \"1200 GB/s\", steps = 4, scale = \"log\" }\n"
      "axes.\"machine.topology.latency\" = { from = \"3 us\", to = \"4 us\", steps = 300 }\n");
  const auto loaded = load(files);
  const Lines all = names(*loaded);
  REQUIRE(all.size() == 1200);
  CHECK(all[300] == "bandwidth=189 GB/s latency=3 us");
  CHECK(all[600] == "bandwidth=476 GB/s latency=3 us");
  CHECK(all[1] == "bandwidth=75 GB/s latency=3003340 ps");
  CHECK(all[2] == "bandwidth=75 GB/s latency=3006690 ps");
}

TEST_CASE("sweep: axes that move together count once") {
  const Files files(
      "axes.\"strategy.tensor\" = [1, 2]\naxes.\"workload.global_batch\" = [8, 16]\n"
      "axes.\"strategy.pipeline\" = [4, 2]\nzip = [[\"strategy.pipeline\", \"strategy.tensor\"]]\n");
  const auto loaded = load(files);
  // The group stands where its first axis does, so the batch moves first.
  CHECK(names(*loaded) == Lines{"pipeline=4 global_batch=8", "pipeline=4 global_batch=16", "pipeline=2 global_batch=8",
                                "pipeline=2 global_batch=16"});
  CHECK(value_in(*loaded, 3, "strategy.tensor") == "2");
  CHECK(value_in(*loaded, 3, "strategy.pipeline") == "2");
}

TEST_CASE("sweep: values that follow from others, and a condition") {
  // Four devices: t x p = 1, 2, 4, 2, 4, 8; 8 is more than there are, and data is 4, 2, 1, 2, 1.
  const Files files(
      "axes.\"strategy.tensor\" = [1, 2]\naxes.\"strategy.pipeline\" = [1, 2, 4]\n"
      "set.\"strategy.data\" = \"devices / (strategy.tensor * strategy.pipeline)\"\n"
      "where = \"strategy.tensor * strategy.pipeline <= devices and strategy.data >= 1\"\n");
  const auto loaded = load(files);
  REQUIRE(names(*loaded).size() == 5);
  const Lines data{"4", "2", "1", "2", "1"};
  for (std::size_t i = 0; i < data.size(); ++i)
    CHECK(value_in(*loaded, static_cast<std::int64_t>(i), "strategy.data") == data[i]);
  CHECK(loaded->sweep->axes()[2].set);
  CHECK(loaded->sweep->point(0).cells[2] == Cell{std::int64_t{4}});
}

TEST_CASE("sweep: a count that is not whole makes a refused point, which keeps its number") {
  const Files files("axes.\"strategy.tensor\" = [1, 3]\nset.\"strategy.data\" = \"devices / strategy.tensor\"\n");
  const auto loaded = load(files);
  REQUIRE(names(*loaded).size() == 2);
  CHECK(loaded->sweep->point(0).refused.empty());
  const std::string why = loaded->sweep->point(1).refused;
  CHECK(why.substr(why.find("x.toml")) ==
        "x.toml:12:23: strategy.data = devices / strategy.tensor is 1.33333 here, which is no whole number");
  config::Diagnostics diagnostics;
  CHECK_THROWS_AS(loaded->sweep->source(loaded->sweep->point(1), diagnostics), InputError);
}

TEST_CASE("sweep: rules may stand in any order, and devices follow a machine that is computed") {
  // 2 x 2 = 4 replicas want a ring of 2 x 4 = 8 devices.
  const Files files(
      "axes.\"strategy.tensor\" = [2]\n"
      "set.\"strategy.data\" = \"devices / strategy.tensor\"\n"
      "set.\"machine.topology.devices\" = \"strategy.tensor * 4\"\n");
  const auto loaded = load(files);
  REQUIRE(names(*loaded).size() == 1);
  CHECK(value_in(*loaded, 0, "machine.topology.devices") == "8");
  CHECK(value_in(*loaded, 0, "strategy.data") == "4");
}

TEST_CASE("sweep: quantities are computed in B, s and FLOP, and come out in the key's unit") {
  // 8 x 64 kB / 4 us = 131.072 GB/s with 64 KiB = 65,536 B: 524,288 B / 4e-6 s.
  const Files files(
      "axes.\"machine.packet\" = [\"64 KiB\"]\n"
      "set.\"machine.topology.bandwidth\" = \"8 * machine.packet / (4e-6 * s)\"\n"
      "set.\"machine.topology.latency\" = \"machine.packet / machine.device.memory_bandwidth\"\n");
  const auto loaded = load(files);
  REQUIRE(names(*loaded).size() == 1);
  CHECK(value_in(*loaded, 0, "machine.topology.bandwidth") == "\"131072 MB/s\"");
  // 65,536 B at 1 TB/s: 65,536 ps.
  CHECK(value_in(*loaded, 0, "machine.topology.latency") == "\"65536 ps\"");
}

TEST_CASE("sweep: whole tables by name, files, and values over them") {
  Files files(
      "axes.machine = [\"ring\", \"other\"]\n"
      "axes.strategy = { deep = { pipeline = 4 }, wide = { tensor = 4, sequence_parallel = true } }\n"
      "axes.\"machine.topology.bandwidth\" = [\"10 GB/s\"]\n");
  std::string other = test::ring;
  other.replace(other.find("latency = \"500 ns\""), 18, "latency = \"9 us\"");
  files.write("other.toml", other);
  const auto loaded = load(files);
  CHECK(names(*loaded) ==
        Lines{"machine=ring strategy=deep bandwidth=10 GB/s", "machine=ring strategy=wide bandwidth=10 GB/s",
              "machine=other strategy=deep bandwidth=10 GB/s", "machine=other strategy=wide bandwidth=10 GB/s"});
  CHECK(value_in(*loaded, 3, "strategy.tensor") == "4");
  CHECK(value_in(*loaded, 3, "strategy.pipeline") == "1");
  CHECK(value_in(*loaded, 3, "strategy.name") == "\"megatron\"");
  CHECK(value_in(*loaded, 3, "machine.topology.latency") == "\"9 us\"");
  CHECK(value_in(*loaded, 3, "machine.topology.bandwidth") == "\"10 GB/s\"");
  CHECK(value_in(*loaded, 0, "machine.topology.latency") == "\"500 ns\"");
  CHECK(loaded->sweep->axes()[0].unit == "name");
}

TEST_CASE("sweep: a model by name below values that hold for all of them") {
  Files files("axes.\"model.include\" = [\"tiny\", \"wide\"]\nwhere = \"model.hidden / model.heads <= 32\"\n",
              "title = \"x\"\nmachine = \"ring\"\n[model]\nlayers = 2\n[workload]\nphase = \"training\"\n"
              "sequence = 32\nglobal_batch = 8\n[strategy]\nname = \"megatron\"\n");
  std::string wide = model;
  wide.replace(wide.find("hidden = 64"), 11, "hidden = 128");
  files.write("wide.toml", wide);
  const auto loaded = load(files);
  CHECK(names(*loaded) == Lines{"include=tiny", "include=wide"});
  CHECK(value_in(*loaded, 0, "model.hidden") == "64");
  CHECK(value_in(*loaded, 1, "model.hidden") == "128");
  CHECK(value_in(*loaded, 1, "model.layers") == "2");
}

TEST_CASE("sweep: experiments of other files, and tables over them") {
  Files files(
      "axes.experiment = { two = { experiment = \"other/y.toml\", strategy.tensor = 2 }, one = { experiment = "
      "\"other/y.toml\" } }\n",
      "[simulation]\nseed = 3\n");
  // Its machine is looked up beside it.
  files.write("other/y.toml", experiment_text);
  files.write("other/ring.toml", test::ring);
  files.write("other/tiny.toml", model);
  const auto loaded = load(files, {"workload.global_batch=32"});
  CHECK(names(*loaded) == Lines{"experiment=two", "experiment=one"});
  CHECK(value_in(*loaded, 0, "strategy.tensor") == "2");
  CHECK(value_in(*loaded, 1, "strategy.tensor") == "1");
  CHECK(value_in(*loaded, 0, "simulation.seed") == "3");
  CHECK(value_in(*loaded, 1, "workload.global_batch") == "32");
}

TEST_CASE("sweep: an empty table in an axis takes the place of what is there") {
  // The first point keeps the experiment's own [collectives]; the second has none, and so the default, a ring.
  const Files experiments("axes.experiment = { kept = {}, cleared = { collectives = {} } }\n",
                          experiment_text + "[collectives]\nall_reduce = \"hierarchical\"\n");
  const auto of_experiments = load(experiments);
  CHECK(value_in(*of_experiments, 0, "collectives.all_reduce") == "\"hierarchical\"");
  CHECK(value_in(*of_experiments, 1, "collectives.all_reduce") == "\"ring\"");
  const Files files(
      "axes.strategy = { given = {}, open = { partitions = {} } }\n",
      "title = \"x\"\nmachine = \"ring\"\nmodel = \"tiny\"\n[workload]\nphase = \"training\"\nsequence = 32\n"
      "global_batch = 8\n[strategy]\nname = \"primepar\"\npartitions.qkv = \"{B, B}\"\n");
  const auto loaded = load(files);
  CHECK(value_in(*loaded, 0, "strategy.partitions.qkv") == "\"{B, B}\"");
  CHECK(value_in(*loaded, 1, "strategy.partitions.qkv").empty());
  CHECK(value_in(*loaded, 1, "strategy.name") == "\"primepar\"");
}

TEST_CASE("sweep: a point is the experiment that its text is") {
  const Files files("axes.\"strategy.tensor\" = [1, 2]\naxes.\"machine.topology.latency\" = [\"1 us\"]\n");
  const auto loaded = load(files);
  config::Diagnostics diagnostics;
  const Source source = loaded->sweep->source(loaded->sweep->point(1), diagnostics);
  Folder elsewhere;
  elsewhere.write("p.toml", config::to_toml(*source.table));
  const Source again = experiment::load(elsewhere.path("p.toml"), {}, {}, diagnostics);
  CHECK(diagnostics.errors() == Lines{});
  CHECK(config::same_content(*again.table, *source.table));
}

TEST_CASE("sweep: other ranks need no file") {
  auto files = std::make_unique<Files>("axes.machine = [\"ring\"]\naxes.\"strategy.tensor\" = [1, 2]\n");
  const auto first = load(*files);
  const std::string path = files->path("x.toml");
  InputFiles handed = first->files;
  files.reset();  // the folder is gone
  handed.close();
  config::Diagnostics diagnostics;
  const auto second = load_sweep(path, {}, {}, handed, diagnostics);
  REQUIRE(diagnostics.errors() == Lines{});
  CHECK(second->identity() == first->sweep->identity());
  CHECK(second->point(1).identity == first->sweep->point(1).identity);
  const Source a = second->source(second->point(1), diagnostics);
  const Source b = first->sweep->source(first->sweep->point(1), diagnostics);
  CHECK(config::to_toml(*a.table) == config::to_toml(*b.table));
}

TEST_CASE("sweep: another value, setting or machine is another sweep") {
  const std::string axes = "axes.\"strategy.tensor\" = [1, 2]\n";
  const auto one = load(Files(axes));
  CHECK(load(Files(axes))->sweep->identity() == one->sweep->identity());
  CHECK(load(Files("axes.\"strategy.tensor\" = [1, 4]\n"))->sweep->identity() != one->sweep->identity());
  CHECK(load(Files(axes), {"workload.global_batch=16"})->sweep->identity() != one->sweep->identity());
  Files other(axes);
  other.write("ring.toml", test::ring + "# changed\n");
  CHECK(load(other)->sweep->identity() != one->sweep->identity());
}

TEST_CASE("sweep: what is wrong is said in a line, with its place") {
  CHECK(error_of("axes.\"strategy.tensr\" = [1]\n") ==
        "x.toml:11:6: unknown parameter \"strategy.tensr\" (did you mean \"strategy.tensor\"?)");
  CHECK(error_of("axes.\"strategy.tensor\" = []\n").starts_with("x.toml:11:26: axis \"strategy.tensor\" is empty"));
  CHECK(error_of("axes.\"strategy.tensor\" = 3\n")
            .starts_with("x.toml:11:26: axis \"strategy.tensor\" is a whole number"));
  CHECK(error_of("axes.\"strategy.tensor\" = [2, 2]\n") ==
        "x.toml:11:30: axis \"strategy.tensor\" has the value 2 twice");
  CHECK(error_of("axes.\"strategy.tensor\" = [1, 2]\naxes.\"strategy.data\" = [1]\n"
                 "zip = [[\"strategy.tensor\", \"strategy.data\"]]\n") ==
        "x.toml:13:8: axes that move together need values of the same number: strategy.tensor has 2, strategy.data has "
        "1");
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nwhere = \"strategy.tensor + \"\n") ==
        "x.toml:12:28: \"strategy.tensor + \" does not parse: Unexpected end of expression");
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nwhere = \"strategy.tensor = 1\"\n") ==
        "x.toml:12:26: \"=\" assigns, and an expression only computes, allowed: == to compare");
  CHECK(error_of("axes.\"machine.topology.bandwidth\" = [\"1 us\"]\n") ==
        "x.toml:11:38: axis \"machine.topology.bandwidth\": \"1 us\" is a time, expected a bandwidth such as \"150 "
        "GB/s\"");
  CHECK(
      error_of("axes.\"strategy.tensor\" = [1]\nset.\"strategy.data\" = \"machine.packet / 2\"\n")
          .starts_with("x.toml:12:23: strategy.data = machine.packet / 2 is not a plain number: it mixes dimensions"));
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nwhere = \"machine.packet > 7\"\n")
            .starts_with("x.toml:12:9: \"machine.packet > 7\" compares different dimensions"));
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nset.\"strategy.data\" = \"2 * strategy.pipeline\"\n"
                 "set.\"strategy.pipeline\" = \"strategy.data / 2\"\n") ==
        "x.toml:12:5: set.\"strategy.data\" needs itself, directly or through others");
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nset.\"strategy.name\" = \"2\"\n")
            .starts_with("x.toml:12:5: \"strategy.name\" is no number, quantity or boolean"));
  CHECK(error_of("axes.\"strategy.tensor\" = [1]\nwhere = \"strategy.tensor > 1\"\n") ==
        "x.toml:10:1: no point: \"where\" leaves out all 1 combinations");
  CHECK(error_of("axes.\"workload.sequence\" = { from = 1, to = 20000, steps = 20000 }\n"
                 "axes.\"simulation.seed\" = { from = 1, to = 1000 }\n") ==
        "x.toml:10:1: 20000000 combinations, allowed: at most 10000000, or any number with --yes");
  CHECK(error_of("axes.\"workload.sequence\" = { from = 1, to = 8, steps = 3 }\n")
            .starts_with("x.toml:11:28: axis \"workload.sequence\": 3 steps from 1 to 8 meet 4.5, which is no whole"));
}

TEST_CASE("sweep: shares cost about the same, and have every point once") {
  // 8, 5, 4, 3, 2, 2 over three: the longest that is left goes to whoever has the least: {8}, {5, 2, 2}, {4, 3}.
  const std::vector<PointCost> costs{{2}, {8}, {3}, {5}, {2}, {4}};
  CHECK(share_of(costs, 1, 3) == std::vector<std::int64_t>{1});
  CHECK(share_of(costs, 2, 3) == std::vector<std::int64_t>{3, 0, 4});
  CHECK(share_of(costs, 3, 3) == std::vector<std::int64_t>{5, 2});
  CHECK(longest_first(costs) == std::vector<std::int64_t>{1, 3, 5, 2, 0, 4});
  // What costs nothing is dealt out by number.
  CHECK(share_of(std::vector<PointCost>(5), 1, 2) == std::vector<std::int64_t>{0, 2, 4});
}
