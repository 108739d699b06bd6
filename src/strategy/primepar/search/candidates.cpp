#include "candidates.hpp"

#include <algorithm>

#include "handful.hpp"
#include "rules.hpp"

namespace tessera::strategy::primepar {
namespace {

class Collector {
 public:
  Collector(CostTables& tables, const Graph& graph, const Space& space, std::int64_t layers, const Capacity& capacity)
      : tables_(tables), graph_(graph), space_(space), layers_(layers), capacity_(capacity) {
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      if (graph.nodes[node].op.kind == Kind::linear) linears_.push_back(node);
    }
  }

  void add(const std::string& origin, const std::vector<Choice>& layers, std::int64_t struck_out = 0) {
    const bool is_known = std::ranges::any_of(found_, [&](const Proposal& one) { return one.layers == layers; });
    if (is_known) return;
    const Time predicted = total_cost(tables_, layers) + exposed_sums(tables_, layers);
    found_.push_back({origin, layers, predicted, struck_out});
  }

  /// False: nothing is to be simulated, since its best does not fit or `count` is below 2.
  bool add_searched(const std::string& origin, std::int64_t count) {
    const Found best = search_that_fits(tables_, layers_, capacity_);
    const bool is_one_of_many = count > 1 && best.cost < too_much && capacity_.fits(best);
    if (found_.empty() || is_one_of_many) add(origin, best.layers, best.struck_out);
    if (!is_one_of_many) return false;
    for (const Found& one : handful(tables_, layers_, capacity_, best, linears_, static_cast<std::size_t>(count)))
      add(origin, one.layers);
    return true;
  }

  /// Of operators for which P is all there is it may be chosen.
  void add_without_squares(std::int64_t count) {
    const std::vector<std::vector<Time>> costs = tables_.nodes;
    bool any = false;
    for (std::size_t node = 0; node < costs.size(); ++node) {
      for (std::size_t choice = 0; choice < costs[node].size(); ++choice) {
        if (!has_square(space_.choices[node][choice]) || costs[node].size() == 1) continue;
        tables_.nodes[node][choice] = too_much;
        any = true;
      }
    }
    if (any) static_cast<void>(add_searched("search without P", count));
    tables_.nodes = costs;
  }

  /// The plans up to here with what streams cut otherwise.
  void add_as_left() {
    AsLeft as_left(graph_, space_);
    const std::vector<Proposal> before = found_;
    for (const Proposal& one : before) add(one.origin + ", layouts kept", as_left.layers(one.layers));
  }

  void add_rules(int bits) {
    for (const Choice& layer : tensor_parallel(graph_, space_, bits))
      add("tensor parallel", std::vector<Choice>(static_cast<std::size_t>(layers_), layer));
    if (!space_.compared.empty()) add("compared", space_.compared);
  }

  std::vector<Proposal> take() { return std::move(found_); }

 private:
  CostTables& tables_;
  const Graph& graph_;
  const Space& space_;
  std::int64_t layers_;
  const Capacity& capacity_;
  std::vector<std::size_t> linears_;
  std::vector<Proposal> found_;
};

}  // namespace

std::vector<Proposal> find_candidates(CostTables& tables, const Graph& graph, const Space& space, std::int64_t layers,
                                      int bits, std::int64_t simulated, const Capacity& capacity) {
  Collector found(tables, graph, space, layers, capacity);
  if (found.add_searched("search", simulated)) {
    found.add_without_squares(simulated);
    found.add_as_left();
    found.add_rules(bits);
  }
  return found.take();
}

}  // namespace tessera::strategy::primepar
