// A solution as the genetic search knows it.
#pragma once

#include <string>

#include "fitness.hpp"

namespace tessera::strategy::watos {

/// A solution that fits. The judge outlives it.
class Genome {
 public:
  Genome(const Judge& judge, Solution solution) : judge_(&judge), solution_(std::move(solution)) {}

  /// One of the genetic operators (operators.hpp), drawn; itself where none that was tried leads to one that fits.
  [[nodiscard]] Genome neighbour(std::uint64_t key) const;
  /// Sets of this one's first stages and of the other's last ones, where that fits; else this one.
  [[nodiscard]] Genome crossed(const Genome& other, std::uint64_t key) const;
  [[nodiscard]] Int128 fitness() const { return judge_->score(solution_).fitness; }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] const Solution& solution() const { return solution_; }

  friend bool operator<(const Genome& a, const Genome& b) { return a.solution_ < b.solution_; }

 private:
  const Judge* judge_;
  Solution solution_;
};

}  // namespace tessera::strategy::watos
