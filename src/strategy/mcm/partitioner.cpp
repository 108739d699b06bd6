#include "partitioner.hpp"

#include <fmt/core.h>

#include "tessera/base/error.hpp"

namespace tessera::strategy::mcm {
namespace {

// Of sample after sample a stream of its own.
KeyedRandom draws_of(std::uint64_t seed, std::string_view what, std::uint64_t index) {
  return {seed, random_stream(what) + index};
}

}  // namespace

void run_sample(Solver& solver, const std::vector<NodeId>& order, const Distribution& distribution, Draws& draws,
                Partition& result) {
  for (std::size_t decided = 0; decided < order.size();) {
    const NodeId node = order[decided];
    const ChipSet& domain = solver.get_domain(node);
    result[node] = distribution.draw(node, domain, draws.next());
    decided = solver.set_domain(node, ChipSet::of(result[node]));
  }
}

void run_fix(Solver& solver, const std::vector<NodeId>& order, const Partition& candidate, Draws& draws,
             Partition& result) {
  const Distribution uniform = Distribution::uniform();
  const std::size_t nodes = order.size();
  for (std::size_t decided = 0; decided < 2 * nodes;) {
    const NodeId node = order[decided % nodes];
    const ChipSet domain = solver.get_domain(node);
    const bool is_first_pass = decided < nodes;
    if (is_first_pass && (candidate[node] >= max_chips || !domain.contains(candidate[node]))) {
      decided = solver.set_domain(node, domain);  // left open: later decisions may settle it
      continue;
    }
    result[node] = is_first_pass ? candidate[node] : uniform.draw(node, domain, draws.next());
    decided = solver.set_domain(node, ChipSet::of(result[node]));
  }
}

Partitioner::Partitioner(const Problem& problem, std::string_view name, NodeOrder order)
    : wiring_(std::make_unique<const Wiring>(make_wiring(problem))),
      solver_(make_solver(name, *wiring_)),
      kind_(order),
      order_(wiring_->order),
      chip_graph_(problem.chips),
      result_(problem.nodes) {}

void Partitioner::arrange(std::uint64_t seed, std::uint64_t index) {
  if (kind_ == NodeOrder::topological) return;
  order_ = wiring_->order;  // in the memory that it has
  Draws draws(draws_of(seed, "mcm order", index));
  for (std::size_t i = order_.size(); i > 1; --i)
    std::swap(order_[i - 1], order_[KeyedRandom::to_below(draws.next(), i)]);
}

const Partition& Partitioner::sample(const Distribution& distribution, std::uint64_t seed, std::uint64_t index) {
  distribution.check(wiring_->nodes, wiring_->chips);
  arrange(seed, index);
  solver_->init(draws_of(seed, "mcm template", index));
  Draws draws(draws_of(seed, "mcm sample", index));
  run_sample(*solver_, order_, distribution, draws, result_);
  return result_;
}

const Partition& Partitioner::fix(const Partition& candidate, std::uint64_t seed, std::uint64_t index) {
  if (candidate.size() != wiring_->nodes)
    throw InputError(fmt::format("a candidate of {} nodes for a graph of {}", candidate.size(), wiring_->nodes));
  if (is_solved(*wiring_, candidate, chip_graph_)) return result_ = candidate;
  arrange(seed, index);
  solver_->init(draws_of(seed, "mcm template", index), &candidate);
  Draws draws(draws_of(seed, "mcm fix", index));
  run_fix(*solver_, order_, candidate, draws, result_);
  return result_;
}

}  // namespace tessera::strategy::mcm
