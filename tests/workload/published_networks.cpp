// The networks of inputs/graphs against what is published of them, and how they are split for studies.
#include <map>
#include <set>

#include "networks_from.hpp"
#include "tessera/base/random.hpp"

namespace tessera::workload {
namespace {

std::int64_t integer_of(const config::Table& table, const char* key) {
  const config::Value* value = table.find(key);
  return value == nullptr ? 0 : std::get<std::int64_t>(value->content());
}

std::string text_in(const config::Table& table, const char* key) {
  const config::Value* value = table.find(key);
  REQUIRE(value != nullptr);
  return *value->string();
}

TEST_CASE("published networks: 87, with the parameters and multiply-adds that are published") {
  const std::vector<std::string> names = all_networks();
  CHECK(names.size() == 87);
  for (const std::string& name : names) {
    CAPTURE(name);
    const auto table = table_from(graphs_folder + name + ".toml");
    const Graph graph = network_from(*table);
    CHECK(check_graph(graph).empty());
    CHECK(topological_order(graph).size() == graph.nodes.size());
    CHECK(graph.nodes.size() >= 10);
    CHECK(graph.nodes.size() <= 999);
    CHECK_FALSE(text_in(*table, "source").empty());
    // Rows of tables that the host looks up are no part of the graph.
    const std::int64_t parameters = integer_of(*table, "published_parameters") - integer_of(*table, "host_parameters");
    CHECK(static_cast<double>(graph.parameters()) == Approx(static_cast<double>(parameters)).epsilon(0.01));
    const std::int64_t published = integer_of(*table, "published_multiply_adds");
    CHECK(static_cast<double>(multiply_adds(graph)) == Approx(static_cast<double>(published)).epsilon(0.02));
  }
}

TEST_CASE("published networks: none has attention, and every weight and input is read") {
  for (const std::string& name : all_networks()) {
    CAPTURE(name);
    const Graph graph = network_from(*table_from(graphs_folder + name + ".toml"));
    std::set<TensorId> read;
    for (const GraphNode& node : graph.nodes) {
      CHECK(node.name.find("attention") == std::string::npos);
      read.insert(node.reads.begin(), node.reads.end());
    }
    for (TensorId tensor = 0; tensor < graph.tensors.size(); ++tensor)
      if (graph.tensors[tensor].kind != TensorKind::made) CHECK(read.count(tensor) == 1);
  }
}

TEST_CASE("published networks: each family that is registered has one") {
  std::set<std::string> used, registered;
  for (const std::string& name : all_networks())
    used.insert(text_in(*table_from(graphs_folder + name + ".toml"), "network"));
  for (const NetworkFamily& family : network_families()) registered.insert(family.name);
  CHECK(used == registered);
}

/// Training, validation and test of a file.
struct Split {
  std::vector<std::string> training, validation, test;
  std::shared_ptr<config::Table> table;
};

std::vector<std::string> texts_in(const config::Table& table, const std::string& key) {
  const config::Value* value = table.find(key);
  REQUIRE(value != nullptr);
  REQUIRE(value->array() != nullptr);
  std::vector<std::string> texts;
  for (const config::Value& one : *value->array()) texts.push_back(*one.string());
  return texts;
}

Split split_named(const std::string& name) {
  const auto table = table_from(graphs_folder + "splits/" + name + ".toml");
  return {texts_in(*table, "training"), texts_in(*table, "validation"), texts_in(*table, "test"), table};
}

TEST_CASE("published networks: both splits are of all 87, each once: 66, 5 and 16") {
  for (const std::string name : {"random", "by-family"}) {
    CAPTURE(name);
    const Split split = split_named(name);
    CHECK(split.training.size() == 66);
    CHECK(split.validation.size() == 5);
    CHECK(split.test.size() == 16);
    std::vector<std::string> all = split.training;
    all.insert(all.end(), split.validation.begin(), split.validation.end());
    all.insert(all.end(), split.test.begin(), split.test.end());
    std::ranges::sort(all);
    CHECK(all == all_networks());
  }
}

TEST_CASE("published networks: the random split is the draw that it says") {
  std::vector<std::string> drawn = all_networks();
  REQUIRE(drawn.size() == 87);
  shuffle(drawn, KeyedRandom(17, random_stream("graphs")));
  std::sort(drawn.begin(), drawn.begin() + 66);
  std::sort(drawn.begin() + 66, drawn.begin() + 71);
  std::sort(drawn.begin() + 71, drawn.end());
  const Split split = split_named("random");
  CHECK(split.training == std::vector<std::string>(drawn.begin(), drawn.begin() + 66));
  CHECK(split.validation == std::vector<std::string>(drawn.begin() + 66, drawn.begin() + 71));
  CHECK(split.test == std::vector<std::string>(drawn.begin() + 71, drawn.end()));
}

TEST_CASE("published networks: split by family, no two lists have a family in common") {
  const Split split = split_named("by-family");
  std::map<std::string, std::string> family_of;  // by the value of `network`
  const config::Table& families = *split.table->find("families")->table();
  for (const auto& [family, networks] : families.entries())
    for (const std::string& network : texts_in(families, family)) CHECK(family_of.emplace(network, family).second);
  for (const NetworkFamily& family : network_families()) CHECK(family_of.count(family.name) == 1);
  const auto families_of = [&](const std::vector<std::string>& names) {
    std::set<std::string> found;
    for (const std::string& name : names)
      found.insert(family_of.at(text_in(*table_from(graphs_folder + name + ".toml"), "network")));
    return found;
  };
  const auto test = families_of(split.test), validation = families_of(split.validation);
  for (const std::string& family : families_of(split.training)) {
    CAPTURE(family);
    CHECK(test.count(family) == 0);
    CHECK(validation.count(family) == 0);
  }
  for (const std::string& family : validation) CHECK(test.count(family) == 0);
}

}  // namespace
}  // namespace tessera::workload
