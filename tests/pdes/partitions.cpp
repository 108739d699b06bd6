// The partitioners: balance, whole groups, shapes, and what they refuse.
#include "tessera/pdes/partition.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "actors.hpp"

namespace {

using namespace tessera;
using namespace tessera::pdes;
using namespace tessera::pdes::test;

ModelGraph plain(ComponentId count) {
  static const std::vector<Script> scripts(4096);
  ModelGraph model = actors(scripts, {});
  model.components = count;
  return model;
}

/// width x height components with links to the right and down and back, positions set, id = y * width + x.
ModelGraph mesh(int width, int height) {
  ModelGraph model = plain(static_cast<ComponentId>(width * height));
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto id = static_cast<ComponentId>(y * width + x);
      model.positions.emplace_back(x, y);
      const auto connect = [&](ComponentId other) {
        model.links.push_back({id, other, 100});
        model.links.push_back({other, id, 100});
      };
      if (x + 1 < width) connect(id + 1);
      if (y + 1 < height) connect(id + static_cast<ComponentId>(width));
    }
  }
  return model;
}

std::vector<double> loads(const ModelGraph& model, const Partition& partition) {
  std::vector<double> load(static_cast<std::size_t>(partition.ranks));
  for (ComponentId id = 0; id < model.components; ++id) {
    load[partition.rank_of[id]] += model.weights.empty() ? 1 : static_cast<double>(model.weights[id]);
  }
  return load;
}

std::size_t cut_links(const ModelGraph& model, const Partition& partition) {
  return static_cast<std::size_t>(std::count_if(model.links.begin(), model.links.end(), [&](const LinkInfo& link) {
    return partition.rank_of[link.from] != partition.rank_of[link.to];
  }));
}

}  // namespace

TEST_CASE("every kind uses every rank and keeps groups whole") {
  for (const std::string& kind : partition_kinds()) {
    for (int ranks = 1; ranks <= 12; ++ranks) {
      ModelGraph model = mesh(6, 4);
      // Pairs of neighbours in a row: 12 groups.
      for (ComponentId id = 0; id < model.components; ++id) model.groups.push_back(id / 2);
      for (ComponentId id = 0; id < model.components; ++id) model.weights.push_back(static_cast<float>(id % 5));
      const Partition partition = make_partition(model, ranks, kind);
      INFO(kind << " on " << ranks);
      CHECK(partition.ranks == ranks);
      CHECK(std::set<int>(partition.rank_of.begin(), partition.rank_of.end()).size() ==
            static_cast<std::size_t>(ranks));
      for (ComponentId id = 0; id < model.components; id += 2)
        CHECK(partition.rank_of[id] == partition.rank_of[id + 1]);
    }
  }
}

TEST_CASE("blocks are consecutive and balanced by weight") {
  ModelGraph model = plain(8);
  // Half of the weight of 16 is in the first two: they make the first block.
  model.weights = {5, 3, 1, 1, 1, 1, 2, 2};
  const Partition partition = make_partition(model, 2, "block");
  CHECK(partition.rank_of == std::vector<std::uint16_t>{0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("a single heavy component does not leave later ranks without any") {
  ModelGraph model = plain(4);
  model.weights = {100, 0, 0, 0};
  CHECK(make_partition(model, 4, "block").rank_of == std::vector<std::uint16_t>{0, 1, 2, 3});
  model.weights = {0, 0, 0, 100};
  CHECK(make_partition(model, 4, "block").rank_of == std::vector<std::uint16_t>{0, 1, 2, 3});
}

TEST_CASE("tiles of a mesh are rectangles of its share") {
  // 8 x 4 on 4 ranks: cut across the longer side twice, so four tiles of 4 x 2 or 2 x 4 with 8 components each.
  const ModelGraph model = mesh(8, 4);
  const Partition partition = make_partition(model, 4, "tile");
  CHECK(loads(model, partition) == std::vector<double>{8, 8, 8, 8});
  for (int rank = 0; rank < 4; ++rank) {
    std::set<int> xs, ys;
    for (ComponentId id = 0; id < model.components; ++id) {
      if (partition.rank_of[id] != rank) continue;
      xs.insert(model.positions[id].first);
      ys.insert(model.positions[id].second);
    }
    CHECK(xs.size() * ys.size() == 8);  // nothing of another rank inside
  }
}

TEST_CASE("tiles follow the weights") {
  // 4 x 1 with weights 3 1 1 1: the cut that halves 6 is behind the first.
  ModelGraph model = mesh(4, 1);
  model.weights = {3, 1, 1, 1};
  CHECK(make_partition(model, 2, "tile").rank_of == std::vector<std::uint16_t>{0, 1, 1, 1});
}

TEST_CASE("METIS finds the small cut between two clusters, whatever the order of ids") {
  // Even and odd components form two cliques; one pair of links joins them.
  ModelGraph model = plain(16);
  for (ComponentId a = 0; a < 16; ++a) {
    for (ComponentId b = 0; b < 16; ++b) {
      if (a != b && a % 2 == b % 2) model.links.push_back({a, b, 100});
    }
  }
  model.links.push_back({0, 1, 100});
  model.links.push_back({1, 0, 100});
  const Partition partition = make_partition(model, 2, "metis");
  CHECK(cut_links(model, partition) == 2);
  CHECK(loads(model, partition) == std::vector<double>{8, 8});
}

TEST_CASE("METIS rather cuts links of long latency") {
  // A ring of 8: cutting it in two halves cuts two edges anywhere, but only two of the edges are long.
  ModelGraph model = plain(8);
  for (ComponentId id = 0; id < 8; ++id) {
    const Time latency = id == 1 || id == 5 ? 100'000 : 1'000;
    model.links.push_back({id, (id + 1) % 8, latency});
    model.links.push_back({(id + 1) % 8, id, latency});
  }
  const Partition partition = make_partition(model, 2, "metis");
  for (const LinkInfo& link : model.links) {
    if (partition.rank_of[link.from] != partition.rank_of[link.to]) CHECK(link.latency == 100'000);
  }
}

TEST_CASE("auto takes tiles with a geometry, blocks for groups in order, METIS otherwise") {
  const ModelGraph flat = mesh(8, 4);
  CHECK(make_partition(flat, 3, "auto").rank_of == make_partition(flat, 3, "tile").rank_of);
  ModelGraph ordered = plain(16);
  CHECK(make_partition(ordered, 3, "auto").rank_of == make_partition(ordered, 3, "block").rank_of);
  ModelGraph scattered = plain(16);
  for (ComponentId id = 0; id < 16; ++id) scattered.groups.push_back(id % 4);
  for (ComponentId id = 0; id < 16; ++id) scattered.links.push_back({id, (id + 1) % 16, 1});
  CHECK(make_partition(scattered, 3, "auto").rank_of == make_partition(scattered, 3, "metis").rank_of);
}

TEST_CASE("more ranks than groups are refused") {
  ModelGraph model = plain(6);
  model.groups = {0, 0, 0, 1, 1, 1};
  CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(model, 3, "block")); }) ==
        "3 ranks for 2 groups of devices: start at most 2 ranks");
  CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(plain(1), 2, "auto")); }) ==
        "2 ranks for 1 group of devices: start at most 1 rank");
}

TEST_CASE("a link without latency between groups is refused on any number of ranks, inside a group it is not") {
  ModelGraph model = plain(4);
  model.groups = {0, 0, 1, 1};
  model.links = {{0, 1, 0}, {1, 2, 0}};
  const std::string expected =
      "the link from actor 1 to actor 2 has no latency, but the two may be simulated on different ranks: "
      "give it a latency of at least 1 ps";
  for (const int ranks : {1, 2}) {
    CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(model, ranks, "block")); }) == expected);
  }
  model.links[1].latency = 1;
  CHECK(make_partition(model, 2, "block").rank_of == std::vector<std::uint16_t>{0, 0, 1, 1});
  model.crossbars = {{0, 4, 0}};
  CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(model, 1, "block")); }) ==
        "the crossbar from actor 0 to actor 2 has no latency, but the two may be simulated on different ranks: "
        "give it a latency of at least 1 ps");
}

TEST_CASE("kinds that do not exist or do not fit are refused") {
  CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(plain(4), 2, "blocks")); }) ==
        "there is no partition \"blocks\", allowed are auto, block, tile, metis");
  CHECK(message_of<InputError>([&] { static_cast<void>(make_partition(plain(4), 2, "tile")); }) ==
        "the partition \"tile\" needs a machine with a geometry; use \"block\" or \"metis\"");
}
