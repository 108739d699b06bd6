#include "measure.hpp"

#include <algorithm>

#include "../human.hpp"

namespace tessera::results {

bool makes_tokens(const std::string& phase) { return phase == "generation" || phase == "prompt-and-generation"; }

double Measure::of(const View& view, std::size_t row) const {
  return is_rate ? view.number(row, "tokens_per_second") : static_cast<double>(view.time(row));
}

std::string Measure::text(double value) const {
  return is_rate ? rate_text(value) : precise_time(static_cast<Time>(value));
}

Measure measure_of(const View& view) {
  bool makes_all = false;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    if (view.time(i) == 0) continue;
    if (!makes_tokens(view.text(i, "phase")) || !(view.number(i, "tokens_per_second") > 0)) return {};
    makes_all = true;
  }
  return makes_all ? Measure{"tokens/s", true} : Measure{};
}

std::vector<std::size_t> ranked(const View& view, const Measure& measure) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < view.table.rows.size(); ++i) {
    if (view.time(i) > 0) rows.push_back(i);
  }
  std::ranges::stable_sort(
      rows, [&](std::size_t a, std::size_t b) { return measure.is_better(measure.of(view, a), measure.of(view, b)); });
  return rows;
}

}  // namespace tessera::results
