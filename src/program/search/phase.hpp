// A stretch of a search in which each rank works by itself, and how far all of them are.
#pragma once

#include <chrono>

#include "tessera/base/news.hpp"
#include "tessera/program/search/evaluations.hpp"

namespace tessera::program::search {

/// On all ranks. Where nobody is told how far it is, it does nothing.
class PhaseProgress {
 public:
  /// `of`: what all ranks together have to do; 0: not known. All outlive it. `news`: null, where nobody is told.
  PhaseProgress(News* news, const Hooks& hooks, Phase phase, std::size_t of);
  /// So much more has been done here. `time`: of a program that was simulated and runs; 0: none.
  void done(std::size_t more, Time time = 0);
  /// A program is being simulated here, and has come so far.
  void at(Time reached);
  /// Rank 0 waits for the others. On all ranks, before anything else that they do together.
  void finish();

 private:
  [[nodiscard]] News::Numbers own() const;
  void tell();
  void show();

  News* news_;
  const Hooks& hooks_;
  Phase phase_;
  std::size_t of_, done_ = 0;
  Time best_ = 0, reached_ = 0;
  std::chrono::steady_clock::time_point told_;
};

}  // namespace tessera::program::search
