// Partitions that meet the constraints, from a distribution (Algorithm 1, SAMPLE) or from a candidate that need not
// (Algorithm 2, FIX). Every draw is keyed by (seed, sample), so that results depend on nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "chip_graph.hpp"
#include "distribution.hpp"
#include "solver.hpp"

namespace tessera::strategy::mcm {

/// In which order nodes are decided.
enum class NodeOrder : std::uint8_t {
  random,       ///< another one each time, the paper's default
  topological,  ///< nodes behind those that they read from
};

/// Numbers of one (seed, stream), one after another.
class Draws {
 public:
  explicit Draws(const KeyedRandom& random) : random_(random) {}
  std::uint64_t next() {
    if ((drawn_++ & 1U) != 0) return pair_[1];
    pair_ = random_.pair(drawn_ / 2);
    return pair_[0];
  }

 private:
  KeyedRandom random_;
  std::uint64_t drawn_ = 0;
  std::array<std::uint64_t, 2> pair_{};
};

/// Algorithm 1, with a solver that init() has been called for. `order`: each node once. `result` has the size of the
/// order.
void run_sample(Solver& solver, const std::vector<NodeId>& order, const Distribution& distribution, Draws& draws,
                Partition& result);
/// Algorithm 2. A candidate that the solver's template allows comes out as it was.
void run_fix(Solver& solver, const std::vector<NodeId>& order, const Partition& candidate, Draws& draws,
             Partition& result);

/// A problem with a solver and all the memory that sampling takes.
class Partitioner {
 public:
  /// `name` of a template. InputError for an unknown one, and as check_problem().
  Partitioner(const Problem& problem, std::string_view name, NodeOrder order = NodeOrder::random);

  /// Valid (verifier.hpp), of the template's partitions. The result stands until the next call.
  /// InputError for a distribution over others.
  const Partition& sample(const Distribution& distribution, std::uint64_t seed, std::uint64_t index);
  /// Valid, near the candidate. One that is valid comes back unchanged, whether the template allows it or not.
  /// InputError for a candidate with another number of nodes; its chips may be any.
  const Partition& fix(const Partition& candidate, std::uint64_t seed, std::uint64_t index);

  [[nodiscard]] const Effort& effort() const { return solver_->effort(); }
  [[nodiscard]] Solver& solver() { return *solver_; }
  [[nodiscard]] const Wiring& wiring() const { return *wiring_; }

 private:
  void arrange(std::uint64_t seed, std::uint64_t index);

  std::unique_ptr<const Wiring> wiring_;
  std::unique_ptr<Solver> solver_;
  NodeOrder kind_;
  std::vector<NodeId> order_;
  ChipGraph chip_graph_;
  Partition result_;
};

}  // namespace tessera::strategy::mcm
