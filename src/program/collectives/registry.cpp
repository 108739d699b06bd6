#include <fmt/core.h>

#include "algorithms.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

std::vector<AlgorithmPointer> all_algorithms() {
  std::vector<AlgorithmPointer> all;
  all.push_back(make_ring());
  all.push_back(make_bidirectional_ring());
  all.push_back(make_direct());
  all.push_back(make_binomial_tree());
  all.push_back(make_halving_doubling());
  all.push_back(make_dissemination());
  all.push_back(make_hierarchical());
  all.push_back(make_mesh());
  all.push_back(make_mesh_scatter());
  all.push_back(make_automatic());
  return all;
}

const std::string& choice_of(const CollectiveChoices& choices, CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return choices.all_reduce;
    case CollectiveKind::reduce_scatter:
      return choices.reduce_scatter;
    case CollectiveKind::all_gather:
      return choices.all_gather;
    case CollectiveKind::all_to_all:
      return choices.all_to_all;
    case CollectiveKind::broadcast:
      return choices.broadcast;
  }
  throw InternalError("a collective of unknown kind");
}

}  // namespace

const std::vector<AlgorithmPointer>& collective_algorithms() {
  static const std::vector<AlgorithmPointer> algorithms = all_algorithms();
  return algorithms;
}

std::uint32_t algorithm_index(const std::string& name) {
  const auto& algorithms = collective_algorithms();
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < algorithms.size(); ++i) {
    names.push_back(algorithms[i]->name());
    if (names.back() == name) return i;
  }
  throw InputError(config::unknown("collective algorithm", name, names));
}

std::vector<std::string> algorithms_for(CollectiveKind kind) {
  std::vector<std::string> names;
  for (const auto& algorithm : collective_algorithms()) {
    if (algorithm->supports(kind)) names.push_back(algorithm->name());
  }
  return names;
}

std::uint32_t CollectiveChoices::index_for(CollectiveKind kind) const {
  const std::uint32_t index = algorithm_index(choice_of(*this, kind));
  const CollectiveAlgorithm& algorithm = *collective_algorithms()[index];
  if (algorithm.supports(kind)) return index;
  throw InputError(fmt::format("algorithm \"{}\" has no {}; choices: {}", algorithm.name(), name_of(kind),
                               config::listed(algorithms_for(kind))));
}

void CollectiveChoices::choose_for(Collective& collective) const {
  collective.algorithm = index_for(collective.kind);
  collective.rings = static_cast<std::uint32_t>(rings);
}

const config::Schema<CollectiveChoices>& collective_choices_schema() {
  using Choices = CollectiveChoices;
  using Kind = CollectiveKind;
  static const config::Schema<Choices> schema = [] {
    config::Schema<Choices> s("collectives", "Which algorithm each kind of collective uses.");
    s.choice("all_reduce", &Choices::all_reduce, algorithms_for(Kind::all_reduce), "sum on every member")
        .otherwise("ring");
    s.choice("reduce_scatter", &Choices::reduce_scatter, algorithms_for(Kind::reduce_scatter),
             "a part of the sum on every member")
        .otherwise("ring");
    s.choice("all_gather", &Choices::all_gather, algorithms_for(Kind::all_gather), "the parts of all on every member")
        .otherwise("ring");
    s.choice("all_to_all", &Choices::all_to_all, algorithms_for(Kind::all_to_all), "a part from each to each")
        .otherwise("direct");
    s.choice("broadcast", &Choices::broadcast, algorithms_for(Kind::broadcast), "one member's data on every member")
        .otherwise("binomial-tree");
    s.integer("rings", &Choices::rings,
              "of algorithm ring: at most so many rings side by side, each over NICs of its own; as many as NICs that "
              "the members of a node can use when absent")
        .at_least("1")
        .at_most("64")
        .optional();
    s.integer("channels", &Choices::channels,
              "cores of a device that a collective takes from the operators beside it while it runs, and memory "
              "bandwidth with them; overlap is free when absent")
        .at_least("1")
        .at_most("1024")
        .optional();
    s.choice("reduction", &Choices::reduction, {"memory", "free"},
             "what adding received data costs: reading two operands and writing one at memory bandwidth, or nothing")
        .otherwise("memory");
    return s;
  }();
  return schema;
}

}  // namespace tessera::program
