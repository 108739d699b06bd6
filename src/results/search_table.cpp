// What a strategy's search leaves: /search and /predicted, what it simulated and foretold.
#include <algorithm>

#include "tables.hpp"

namespace tessera::results {
namespace {

template <class Row>
std::size_t longest_of(const std::vector<Row>& rows, std::string Row::*member) {
  std::size_t width = 1;
  for (const Row& row : rows) width = std::max(width, (row.*member).size());
  return width;
}

}  // namespace

Table<SearchRow> search_table(const RunResults& r) {
  using Row = SearchRow;
  Table<Row> table(r.search_is_timed ? "/provenance/search" : "/search",
                   "What the strategy's search tried, in its order.");
  table.integer("step", "1", "of the search", [](const Row& s) { return s.step; })
      .text("origin", "which part of the search, or which rule, it is from", longest_of(r.search, &Row::origin),
            [](const Row& s) -> std::string_view { return s.origin; })
      .text("fidelity", "lower-bound, estimate or simulated", longest_of(r.search, &Row::fidelity),
            [](const Row& s) -> std::string_view { return s.fidelity; })
      .integer("predicted_ps", "ps", "what the search's own model foretold; 0: nothing",
               [](const Row& s) { return s.predicted; })
      .integer("cost_ps", "ps", "iteration time; 0: it cannot run", [](const Row& s) { return s.cost; })
      .integer("best_ps", "ps", "the least cost up to here; 0: none can run", [](const Row& s) { return s.best; })
      .integer("interval_ps", "ps", "in steady state, of a program that repeats; 0: it does not, or cannot run",
               [](const Row& s) { return s.interval; })
      .integer("most_memory_B", "B", "of the fullest device at its peak; 0: not known",
               [](const Row& s) { return s.most_memory; })
      .number("reward", "1", "by which the search learns, or would; 0: it has none, or it cannot run",
              [](const Row& s) { return s.reward; })
      .index("accepted", "1: the search took it, or went on from it", [](const Row& s) { return s.accepted ? 1 : 0; })
      .text("reason", "why it cannot run, or was not accepted", longest_of(r.search, &Row::reason),
            [](const Row& s) -> std::string_view { return s.reason; })
      .text("candidate", "in the strategy's own words", longest_of(r.search, &Row::candidate),
            [](const Row& s) -> std::string_view { return s.candidate; });
  return table;
}

Table<SearchSecondsRow> search_seconds_table() {
  using Row = SearchSecondsRow;
  Table<Row> table("/provenance/search_seconds", "When each row of the search's table was known.");
  table.integer("row", "1", "of the search's table, from 0", [](const Row& s) { return s.row; })
      .number("seconds", "s", "of wall time since the search began; rows that were evaluated together have one end",
              [](const Row& s) { return s.seconds; });
  return table;
}

Table<PredictedRow> predicted_table(const RunResults& r) {
  using Row = PredictedRow;
  Table<Row> table("/predicted", "Times that the strategy foretold, of the iteration and of parts of it.");
  table
      .text("what", "an operator or a part, over all layers; all: the iteration", longest_of(r.predicted, &Row::what),
            [](const Row& p) -> std::string_view { return p.what; })
      .integer("time_ps", "ps", "of the iteration, as the search adds it up", [](const Row& p) { return p.time; });
  return table;
}

}  // namespace tessera::results
