// /search and /predicted: what a strategy's search simulated, and what it foretold.
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
  Table<Row> table("/search", "Plans that the strategy's search simulated, in its order; the fastest was taken.");
  table
      .text("origin", "which search or rule it is from", longest_of(r.search, &Row::origin),
            [](const Row& s) -> std::string_view { return s.origin; })
      .integer("predicted_ps", "ps", "iteration time, as the search adds it up",
               [](const Row& s) { return s.predicted; })
      .integer("simulated_ps", "ps", "iteration time; 0: it cannot run", [](const Row& s) { return s.simulated; })
      .index("taken", "1: this run's plan", [](const Row& s) { return s.taken ? 1 : 0; })
      .text("reason", "why it cannot run", longest_of(r.search, &Row::reason),
            [](const Row& s) -> std::string_view { return s.reason; })
      .text("plan", "in the strategy's own words", longest_of(r.search, &Row::plan),
            [](const Row& s) -> std::string_view { return s.plan; });
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
