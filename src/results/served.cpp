#include "served.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "human.hpp"

namespace tessera::results {
namespace {

double a_second(Time time) { return time > 0 ? static_cast<double>(second) / static_cast<double>(time) : 0; }

/// In sequences.
std::string batch_text(std::int64_t sequences) {
  return sequences == 0 ? "none fits" : short_count(static_cast<double>(sequences));
}

}  // namespace

void add_served(Table<SummaryRow>& table, const RunResults& results) {
  using Row = SummaryRow;
  if (!results.served) return;
  const auto served = [](const Row& s) -> const ServedRow& { return *s.results->served; };
  table
      .text("phase", "prompt, generation or prompt-and-generation", results.served->phase.size(),
            [=](const Row& s) -> std::string_view { return served(s).phase; })
      .integer("sequences", "1", "of the batch, all replicas together",
               [=](const Row& s) { return served(s).sequences; })
      .integer("prompt_tokens", "1", "of each sequence", [=](const Row& s) { return served(s).prompt; })
      .integer("generated_tokens", "1", "made for each sequence; 0: only the first, by its prompt",
               [=](const Row& s) { return served(s).generated; })
      .integer("time_to_first_token_ps", "ps", "until each sequence has it; 0: prompts were in the cache",
               [=](const Row& s) { return served(s).first_token; })
      .integer("time_per_token_ps", "ps", "from one token of a sequence to the next, mean, rounded; 0: there is one",
               [=](const Row& s) { return served(s).token; })
      .number("tokens_per_second_per_user", "1/s", "1 / time per token",
              [=](const Row& s) { return a_second(served(s).token); })
      .integer("largest_batch", "1", "sequences of all replicas that fit into memory; 0: none does",
               [=](const Row& s) { return served(s).largest_batch; });
}

Table<PhaseRow> phases_table(const RunResults& results) {
  std::size_t width = 1;
  for (const PhaseRow& phase : results.phases) width = std::max(width, phase.name.size());
  Table<PhaseRow> table("/phases", "Parts of the iteration, in order.");
  table.text("phase", "name", width, [](const PhaseRow& p) -> std::string_view { return p.name; })
      .integer("end_ps", "ps", "from time zero until the last device is over with it",
               [](const PhaseRow& p) { return p.end; })
      .integer("time_ps", "ps", "since the end of the one before", [&results](const PhaseRow& p) {
        const auto at = std::ranges::find(results.phases, p.name, &PhaseRow::name);
        return p.end - (at == results.phases.begin() ? 0 : std::prev(at)->end);
      });
  return table;
}

std::string served_text(const h5::Rows& s) {
  if (std::ranges::find(s.columns(), "largest_batch", &Column::name) == s.columns().end()) return {};
  std::vector<std::pair<std::string, std::string>> figures;
  if (const Time first = s.integer(0, "time_to_first_token_ps"); first > 0)
    figures.emplace_back("time to first token", precise_time(first));
  if (const Time token = s.integer(0, "time_per_token_ps"); token > 0) {
    figures.emplace_back("time per token", precise_time(token));
    figures.emplace_back("tokens/s of a user", rate_text(s.number(0, "tokens_per_second_per_user")));
  }
  figures.emplace_back("largest batch", batch_text(s.integer(0, "largest_batch")));
  std::string text;
  for (std::size_t i = 0; i < figures.size(); i += 2) {
    const auto& [name, value] = figures[i];
    if (i + 1 < figures.size())
      text += pair_line(name, value, figures[i + 1].first, figures[i + 1].second);
    else
      text += fmt::format("  {:<20}{:>14}\n", name, value);
  }
  return text;
}

}  // namespace tessera::results
