#include "space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>

#include "../../place_of.hpp"
#include "../cuts/layouts.hpp"
#include "../options.hpp"
#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

using config::Table;

std::string Partitions::*member(const std::string& name) {
  for (const auto& [key, found] : partition_keys()) {
    if (name == key) return found;
  }
  throw InternalError("no key for the partition of operator " + name);
}

class SpaceReader {
 public:
  SpaceReader(const Table& table, const Options& options, const Graph& graph, std::int64_t layers, int bits,
              config::Diagnostics& diagnostics)
      : table_(table), options_(options), graph_(graph), layers_(layers), bits_(bits), diagnostics_(diagnostics) {}

  Space read() {
    const Table& given = inner("partitions");
    Space space;
    bool all_given = true;
    check_tensor();
    std::vector<std::vector<std::size_t>> chosen;  // by node and layer
    for (const Node& node : graph_.nodes) {
      const std::string& own = options_.partitions.*member(node.op.name);
      const std::string text = own.empty() ? of_tensor(node.op.name) : own;
      chosen.emplace_back();
      all_given = all_given && !text.empty();
      try {
        space.choices.push_back(text.empty() ? searched(node.op) : read_layers(node.op, text, chosen.back()));
      } catch (const InputError& problem) {
        error(text.empty()  ? place_of(table_, "name")
              : own.empty() ? place_of(table_, "tensor")
                            : place_of(given, node.op.name.c_str()),
              problem.what());
      }
    }
    refuse_unused(given);
    if (!diagnostics_.ok()) return space;
    if (all_given) {
      space.given = by_layer(chosen);
    } else {
      refuse_search(space, given);
    }
    read_compared(space);
    return space;
  }

 private:
  void error(const config::Location& where, const std::string& text) { diagnostics_.error(where, text); }

  [[nodiscard]] const Table& inner(const char* key) const {
    static const Table none;
    const config::Value* value = table_.find(key);
    return value == nullptr ? none : *value->table();
  }

  void check_tensor() {
    const auto tensor = static_cast<std::uint64_t>(options_.tensor);
    if (tensor == 0 || (std::has_single_bit(tensor) && tensor <= std::uint64_t{1} << bits_)) return;
    error(place_of(table_, "tensor"), fmt::format("tensor = {}, allowed: powers of two up to the {} devices of a stage",
                                                  tensor, std::uint64_t{1} << bits_));
  }

  /// The batch over the most significant bits, and tensor parallelism over the others; empty: searched.
  [[nodiscard]] std::string of_tensor(const std::string& name) const {
    if (options_.tensor == 0 || !diagnostics_.ok()) return {};
    const int inner = std::countr_zero(static_cast<std::uint64_t>(options_.tensor));
    std::vector<char> cut(static_cast<std::size_t>(bits_ - inner), 'B');
    cut.insert(cut.end(), static_cast<std::size_t>(inner), tensor_dimension(name));
    return fmt::format("{{{}}}", fmt::join(cut, ", "));
  }

  static std::vector<Choice> by_layer(const std::vector<std::vector<std::size_t>>& by_node) {
    std::vector<Choice> layers(by_node.front().size());
    for (const std::vector<std::size_t>& node : by_node) {
      for (std::size_t layer = 0; layer < layers.size(); ++layer) layers[layer].push_back(node[layer]);
    }
    return layers;
  }

  /// The different partitions of an operator, and by layer which one it has.
  [[nodiscard]] std::vector<Partition> read_layers(const Operator& op, const std::string& text,
                                                   std::vector<std::size_t>& chosen) const {
    std::vector<Partition> different;
    for (const Partition& partition : parse_layers(op, text, layers_)) {
      check_partition(op, partition, bits_);
      const auto found = std::find(different.begin(), different.end(), partition);
      chosen.push_back(static_cast<std::size_t>(found - different.begin()));
      if (found == different.end()) different.push_back(partition);
    }
    return different;
  }

  /// A whole plan, of partitions that the search may choose too, where there is one.
  void read_compared(Space& space) {
    const Table& table = inner("compared");
    refuse_unused(table);
    if (table.entries().empty() || !diagnostics_.ok()) return;
    std::vector<std::vector<std::size_t>> chosen;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Operator& op = graph_.nodes[i].op;
      chosen.emplace_back();
      try {
        const std::string& text = options_.compared.*member(op.name);
        if (text.empty())
          throw InputError("a plan to compare with has a partition of every operator, and none of " + op.name);
        for (const Partition& partition : parse_layers(op, text, layers_)) {
          check_partition(op, partition, bits_);
          if (space.given.empty()) chosen.back().push_back(allowed(space, i, partition));
        }
      } catch (const InputError& problem) {
        error(place_of(table, op.name.c_str()), problem.what());
      }
    }
    if (!diagnostics_.ok()) return;
    if (!space.given.empty()) {
      diagnostics_.warn(table.where(), "a plan to compare with has no effect where all partitions are given");
    } else if (options_.simulated < 2) {
      diagnostics_.warn(table.where(), "a plan to compare with has no effect where simulated is below 2");
    } else {
      space.compared = by_layer(chosen);
    }
  }

  [[nodiscard]] std::size_t allowed(const Space& space, std::size_t node, const Partition& partition) const {
    const Operator& op = graph_.nodes[node].op;
    if (const auto found = find_choice(space, node, partition)) return *found;
    throw InputError(
        fmt::format("operator {}: {} is not among what the search may choose", op.name, to_text(op, partition)));
  }

  /// Layers that differ are for plans in which nothing is left to choose.
  void refuse_search(const Space& space, const Table& given) {
    if (bits_ > most_searched_bits)
      error(place_of(table_, "name"),
            fmt::format("the search goes up to {} devices; on more give all partitions", 1 << most_searched_bits));
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string& name = graph_.nodes[i].op.name;
      if (!(options_.partitions.*member(name)).empty() && space.choices[i].size() > 1)
        error(place_of(given, name.c_str()),
              "operator " + name + ": layers may differ only where the partitions of all operators are given");
    }
  }

  [[nodiscard]] std::vector<Partition> searched(const Operator& op) const {
    std::vector<Partition> found = all_partitions(op, bits_);
    if (!options_.temporal) std::erase_if(found, has_square);
    if (found.empty())
      throw InputError(fmt::format("operator {} has too few elements to be cut over {} devices", op.name, 1 << bits_));
    return found;
  }

  /// Keys of operators that the graph lacks.
  void refuse_unused(const Table& table) {
    for (const auto& [key, value] : table.entries()) {
      const bool is_used =
          std::ranges::any_of(graph_.nodes, [&name = key](const Node& node) { return node.op.name == name; });
      if (!is_used) error(value.where(), fmt::format("graph \"{}\" has no operator {}", options_.graph, key));
    }
  }

  const Table& table_;
  const Options& options_;
  const Graph& graph_;
  std::int64_t layers_;
  int bits_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

std::vector<std::vector<Partition>> partitions_of(const Space& space, const std::vector<Choice>& layers) {
  std::vector<std::vector<Partition>> found;
  for (const Choice& layer : layers) {
    found.emplace_back();
    for (std::size_t i = 0; i < layer.size(); ++i) found.back().push_back(space.choices[i][layer[i]]);
  }
  return found;
}

std::optional<std::size_t> find_choice(const Space& space, std::size_t node, const Partition& partition) {
  const std::vector<Partition>& choices = space.choices[node];
  const auto found = std::ranges::find(choices, partition);
  if (found == choices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices.begin());
}

Space read_space(const Table& strategy, const Options& options, const Graph& graph, std::int64_t layers, int bits,
                 config::Diagnostics& diagnostics) {
  return SpaceReader(strategy, options, graph, layers, bits, diagnostics).read();
}

}  // namespace tessera::strategy::primepar
