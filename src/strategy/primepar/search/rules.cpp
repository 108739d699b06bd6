#include "rules.hpp"

#include <algorithm>
#include <string>

#include "tessera/base/error.hpp"

namespace tessera::strategy::primepar {
namespace {

/// What tensor parallelism cuts of each operator.
const std::string& dimension_cut_by_tensor(const std::string& name) {
  static const std::map<std::string, std::string> cut{{"attention_norm", "R"},
                                                      {"qkv", "K"},
                                                      {"scores", "H"},
                                                      {"softmax", "H"},
                                                      {"context", "H"},
                                                      {"projection", "N"},
                                                      {"attention_residual", "R"},
                                                      {"mlp_norm", "R"},
                                                      {"fc1", "K"},
                                                      {"activation", "F"},
                                                      {"fc2", "N"},
                                                      {"mlp_residual", "R"}};
  const auto found = cut.find(name);
  if (found == cut.end()) throw InternalError("tensor parallelism does not know operator " + name);
  return found->second;
}

int dimension_of(const Operator& op, const std::string& name) {
  for (int i = 0; i < op.dimension_count(); ++i) {
    if (op.dimensions[static_cast<std::size_t>(i)].name == name) return i;
  }
  throw InternalError("operator " + op.name + " has no dimension " + name);
}

/// Whether every device has what it needs.
bool is_as_left(const Edge& edge, const Slices& producer, const Slices& consumer) {
  const int last = producer.steps() - 1;
  for (int device = 0; device < producer.devices(); ++device) {
    if (region(producer, edge.shared.made, device, Phase::forward, last) !=
        region(consumer, edge.shared.read, device, Phase::forward, 0))
      return false;
  }
  return true;
}

}  // namespace

std::vector<Choice> tensor_parallel(const Graph& graph, const Space& space, int bits) {
  std::vector<Choice> found;
  for (int tensor_bits = 0; tensor_bits <= bits; ++tensor_bits) {
    Choice layer;
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      const Operator& op = graph.nodes[node].op;
      Partition partition(static_cast<std::size_t>(bits - tensor_bits), cut(dimension_of(op, "B")));
      partition.insert(partition.end(), static_cast<std::size_t>(tensor_bits),
                       cut(dimension_of(op, dimension_cut_by_tensor(op.name))));
      const auto choice = find_choice(space, node, partition);
      if (!choice) break;
      layer.push_back(*choice);
    }
    if (layer.size() == graph.nodes.size()) found.push_back(std::move(layer));
  }
  return found;
}

std::vector<Choice> AsLeft::layers(std::vector<Choice> layers) {
  for (Choice& layer : layers) {
    for (std::size_t node = 0; node < layer.size(); ++node) {
      if (graph_.nodes[node].op.kind != Kind::streaming) continue;
      std::vector<const Edge*> read;
      for (const Edge& edge : graph_.edges) {
        if (static_cast<std::size_t>(edge.to) == node) read.push_back(&edge);
      }
      if (read.size() == 1 && !read.front()->to_next_layer)
        layer[node] = choice(*read.front(), layer[static_cast<std::size_t>(read.front()->from)], layer[node]);
    }
  }
  return layers;
}

std::size_t AsLeft::choice(const Edge& edge, std::size_t producer, std::size_t otherwise) {
  const auto [found, added] = known_.try_emplace({edge.to, producer});
  if (added) {
    const auto from = static_cast<std::size_t>(edge.from), to = static_cast<std::size_t>(edge.to);
    const Partition& made = space_.choices[from][producer];
    const int bits = bits_of(made);
    const Slices before(graph_.nodes[from].op, made, bits);
    const std::vector<Partition>& choices = space_.choices[to];
    const auto same = std::ranges::find_if(choices, [&](const Partition& one) {
      return is_as_left(edge, before, Slices(graph_.nodes[to].op, one, bits));
    });
    if (same != choices.end()) found->second = static_cast<std::size_t>(same - choices.begin());
  }
  return found->second.value_or(otherwise);
}

}  // namespace tessera::strategy::primepar
