// The fastest of many candidates, proven: each has a lower bound, those with the smallest estimates are simulated
// first, and the search ends when no candidate that is left can be faster than the best one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/program/search/limits.hpp"
#include "tessera/program/search/searches.hpp"

namespace tessera::program::search {

/// What became of a candidate.
enum class Fate : std::uint8_t {
  too_large,  ///< does not fit into memory
  refused,    ///< cannot run for another reason, or was found to when it was simulated
  beaten,     ///< its bound is no better than the best that was simulated
  left,       ///< might be faster: the search ended before
  simulated,
  unfinished,  ///< its simulation was cut off, since time was over; might be faster
};
/// "does not fit", "cannot run", "struck out by its bound", "left", "simulated", "not finished"
[[nodiscard]] const char* name_of(Fate fate);

struct Judged {
  Fate fate = Fate::left;
  std::string reason;                      ///< too_large, refused: why
  Time least = 0, estimate = 0, time = 0;  ///< least 0: it was not looked at. Of what is unfinished it is not below
                                           ///< the time that was reached
};

/// One that was simulated.
struct Ranked {
  std::size_t candidate = 0;
  Evaluation evaluation;
};

struct Fastest {
  std::vector<Judged> judged;      ///< by candidate
  std::vector<Ranked> ranked;      ///< those that were simulated and can run, the fastest first, equals in their order
  std::vector<Tried> table;        ///< those that were simulated, in the order of their simulation; candidates unnamed
  std::vector<std::size_t> tried;  ///< which candidate each row of the table is
  double gap = 0;                  ///< proven: nothing is faster than the best by more than this part of its time
  bool is_timed = false;           ///< Limits::seconds may have ended it
  bool is_cut_off = false;         ///< they have

  [[nodiscard]] std::int64_t count(Fate fate) const;
  /// Those of which it is not known whether they are faster.
  [[nodiscard]] std::int64_t open() const { return count(Fate::left) + count(Fate::unfinished); }
  /// The plan: the fastest that was simulated. Where time was over before one was, that with the least estimate, if any
  /// has one.
  [[nodiscard]] std::optional<std::size_t> taken() const;
  /// Of the plan: simulated, or the estimate.
  [[nodiscard]] Time time_of_taken() const;
};

struct FastestOptions {
  Limits limits;
  Communicator* comm = nullptr;  ///< for Limits::seconds alone: ranks agree on when they are over
  std::size_t round = 8;  ///< candidates that are simulated together, with Limits::within fewer at first; results
                          ///< depend on it
};

/// Simulations of some candidates, in their order: the same on all ranks.
using Simulate = std::function<std::vector<Evaluation>(const std::vector<std::size_t>&)>;

/// On all ranks alike. Candidates that take as long as the best are simulated, too: of equals the first is taken.
[[nodiscard]] Fastest fastest(const std::vector<Outlook>& outlooks, const Simulate& simulate,
                              const FastestOptions& options);

/// What a strategy's search leaves for people: what became of its candidates, and what they are called.
struct FastestReport {
  std::vector<std::string> keys;  ///< of the [strategy] table that were open
  Fastest found;
  std::function<std::string(std::size_t candidate)> text;                       ///< in the strategy's own words
  std::function<std::shared_ptr<config::Table>(std::size_t candidate)> values;  ///< of the keys
  /// As text, of some of the keys, where what is off is named as well. Empty: the strategy has no words for single
  /// keys.
  std::function<std::string(std::size_t candidate, const std::vector<std::string>& some)> part;
};

/// Keys of a list of candidates: those that differ among them, and those that are the same for all, of more than one.
struct ListedKeys {
  std::vector<std::string> differing, common;
};
[[nodiscard]] ListedKeys listed_keys(const FastestReport& report, const std::vector<std::size_t>& candidates);

}  // namespace tessera::program::search
