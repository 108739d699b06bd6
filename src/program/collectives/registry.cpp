#include <fmt/core.h>

#include "algorithms.hpp"
#include "tessera/base/config.hpp"
#include "tessera/base/error.hpp"

namespace tessera::program {
namespace {

AlgorithmList all_algorithms() {
  AlgorithmList all;
  all.push_back(make_ring());
  all.push_back(make_bidirectional_ring());
  all.push_back(make_direct());
  all.push_back(make_binomial_tree());
  all.push_back(make_halving_doubling());
  all.push_back(make_dissemination());
  all.push_back(make_hierarchical());
  all.push_back(make_mesh());
  all.push_back(make_mesh_scatter());
  all.push_back(make_torus());
  all.push_back(make_ring_bi_odd());
  all.push_back(make_multitree());
  all.push_back(make_synthesised());
  all.push_back(make_double_tree());
  all.push_back(make_in_switch());
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

Collectives built_in_collectives() {
  static const auto algorithms = std::make_shared<const AlgorithmList>(all_algorithms());
  return Collectives(algorithms);
}

void Collectives::add(AlgorithmPointer algorithm) {
  const std::string name = algorithm->name();
  for (const AlgorithmPointer& one : *all_) {
    if (one->name() == name) throw InternalError(fmt::format("two collective algorithms are called \"{}\"", name));
  }
  AlgorithmList more = *all_;
  more.push_back(std::move(algorithm));
  all_ = std::make_shared<const AlgorithmList>(std::move(more));
}

AlgorithmId Collectives::find(const std::string& name) const {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < all_->size(); ++i) {
    names.push_back((*all_)[i]->name());
    if (names.back() == name) return {i, *all_};
  }
  throw InputError(config::unknown("collective algorithm", name, names));
}

std::vector<std::string> Collectives::names_for(CollectiveKind kind) const {
  std::vector<std::string> names;
  for (const AlgorithmPointer& algorithm : *all_) {
    if (algorithm->supports(kind)) names.push_back(algorithm->name());
  }
  return names;
}

AlgorithmId algorithm_index(const std::string& name) { return built_in_collectives().find(name); }

const AlgorithmList& list_of(AlgorithmId id) {
  static const AlgorithmList& built_in = built_in_collectives().all();
  return id.list == nullptr ? built_in : *id.list;
}

const CollectiveAlgorithm& algorithm_of(AlgorithmId id) { return *list_of(id)[id.index]; }

const AlgorithmList& algorithms_of(const Program& program) {
  const AlgorithmList* longest = &list_of({});
  for (const Collective& collective : program.collectives) {
    const AlgorithmList& list = list_of(collective.algorithm);
    if (list.size() > longest->size()) longest = &list;
  }
  return *longest;
}

AlgorithmId CollectiveChoices::index_for(CollectiveKind kind) const {
  const AlgorithmId id = known.find(choice_of(*this, kind));
  const CollectiveAlgorithm& algorithm = algorithm_of(id);
  if (algorithm.supports(kind)) return id;
  throw InputError(fmt::format("algorithm \"{}\" has no {}; choices: {}", algorithm.name(), name_of(kind),
                               config::listed(known.names_for(kind))));
}

void CollectiveChoices::choose_for(Collective& collective) const {
  collective.algorithm = index_for(collective.kind);
  complete(collective);
}

void CollectiveChoices::complete(Collective& collective) const {
  collective.rings = static_cast<std::uint32_t>(rings);
  collective.protocols = library;
}

config::Schema<CollectiveChoices> collective_choices_schema(const Collectives& known) {
  using Choices = CollectiveChoices;
  using Kind = CollectiveKind;
  config::Schema<Choices> s("collectives", "Which algorithm each kind of collective uses.");
  s.choice("all_reduce", &Choices::all_reduce, known.names_for(Kind::all_reduce), "sum on every member")
      .otherwise("ring");
  s.choice("reduce_scatter", &Choices::reduce_scatter, known.names_for(Kind::reduce_scatter),
           "a part of the sum on every member")
      .otherwise("ring");
  s.choice("all_gather", &Choices::all_gather, known.names_for(Kind::all_gather), "the parts of all on every member")
      .otherwise("ring");
  s.choice("all_to_all", &Choices::all_to_all, known.names_for(Kind::all_to_all), "a part from each to each")
      .otherwise("direct");
  s.choice("broadcast", &Choices::broadcast, known.names_for(Kind::broadcast), "one member's data on every member")
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
  s.tables("protocols", &Choices::protocols, protocol_schema(),
           "the library's protocols, of which each collective takes the fastest for its size and group; without them "
           "steps wait for links alone")
      .optional();
  return s;
}

}  // namespace tessera::program
