// Searches by name: a file here and a line of built_in.cpp each. Adding one: docs/extending.md.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../learning/update.hpp"
#include "../options.hpp"
#include "../package.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/program/evaluator.hpp"
#include "tessera/program/search/searches.hpp"

namespace tessera::strategy::mcm {

/// What is asked, and how a partition is judged.
struct Question {
  const Package& package;
  const Options& options;
  std::uint64_t seed = 1;
  /// In the partitions' order, on all ranks alike. Evaluation::time is what is to be small: the interval, or with
  /// objective latency the time of one input. All partitions are valid.
  std::function<std::vector<program::Evaluation>(const std::vector<Partition>&)> judge;
  program::Fidelity fidelity = program::Fidelity::simulated;  ///< of the judge
  Communicator* comm = nullptr;                               ///< of the ranks that search; null: one alone
  const Tensors* policy = nullptr;                            ///< what learns begins with; null: from scratch
  std::function<void()> go_on = [] {};  ///< called now and then, on all ranks alike: throws when all is to end

  /// What the analytic model says of the same.
  [[nodiscard]] Time foretell(const Partition& partition) const;
};

/// One of a search's candidates: what program/search calls one.
struct Candidate {
  Partition partition;
  std::string origin;      ///< the search, and which of its samples: "random 17"
  Time analytic_cost = 0;  ///< Question::foretell

  /// For searches that bring no candidates of their own.
  [[nodiscard]] Candidate neighbour(std::uint64_t) const { return *this; }
  [[nodiscard]] std::string text() const { return origin; }
  [[nodiscard]] Time foretold() const { return analytic_cost; }
};

struct Found {
  Partition partition;
  program::Evaluation evaluation;  ///< not feasible: nothing that was tried fits
  std::vector<program::search::Tried> table;
  std::vector<Update> updates = {};  ///< of searches that learn
  std::string kernels = {};          ///< strategy::Searched
};

struct SearchKind {
  std::string name;
  std::string help;
  Found (*run)(const Question& question);
};
/// In built_in.cpp.
[[nodiscard]] const std::vector<SearchKind>& search_kinds();

/// Of searches that make one partition: it is judged, and that is all.
[[nodiscard]] Found judged(const Question& question, std::string name, Partition partition);

/// The candidate itself where it is valid, otherwise what FIX makes of it, nodes in topological order.
[[nodiscard]] Partition made_valid(const Question& question, const Partition& candidate);

/// By node of the problem in topological order where it belongs, in chips: 2.5 is the middle of chip 2.
[[nodiscard]] Partition spread_at(const Question& question, const std::vector<double>& places);

/// Where a part of all work ends, from 0 to 1, when each chip has as much of it as its speed allows, in chips.
[[nodiscard]] double place_by_speed(const Package& package, double part);

/// The headline heuristic: equally many nodes a chip, in topological order.
[[nodiscard]] Partition equal_nodes(const Question& question);

/// Of equal nodes, by the same judge; by the analytic model where they do not fit. What rewards are reckoned by.
[[nodiscard]] Time cost_of_heuristic(const Question& question);

/// B that a chip may hold: without a limit where the analytic model judges.
[[nodiscard]] std::int64_t memory_limit(const Question& question);
/// B that the fullest chip of a valid partition holds at its peak.
[[nodiscard]] std::int64_t most_held_by_a_chip(const Question& question, const Partition& partition);
/// `make` a partition by a limit that knows nothing of what nodes hold while they run, with limits that leave room for
/// it until it fits; the last one where none does.
[[nodiscard]] Partition within_memory(const Question& question, std::int64_t memory,
                                      const std::function<Partition(std::int64_t limit)>& make);

[[nodiscard]] Found search_equal_nodes(const Question& question);
[[nodiscard]] Found search_equal_time(const Question& question);
[[nodiscard]] Found search_fill(const Question& question);
[[nodiscard]] Found search_contiguous(const Question& question);
[[nodiscard]] Found search_random(const Question& question);
[[nodiscard]] Found search_annealing(const Question& question);
[[nodiscard]] Found search_ppo(const Question& question);
/// The one that needs a policy.
inline constexpr const char* zero_shot = "zero-shot";
[[nodiscard]] Found search_zero_shot(const Question& question);

/// Moves nodes from the most loaded chip as long as that makes it faster, then asks the judge; the better of both, with
/// the table of the search and a row more.
[[nodiscard]] Found refined(const Question& question, Found found);

}  // namespace tessera::strategy::mcm
