#include "report.hpp"

#include <fmt/format.h>

#include "judging.hpp"

namespace tessera::strategy::watos {
namespace {

using program::search::Tried;

/// Cuts that are out.
void add_pruned(const std::vector<Candidate>& candidates, std::vector<Tried>& table) {
  for (const Candidate& one : candidates) {
    if (one.pruned.empty()) continue;
    Tried row;
    row.step = static_cast<std::int64_t>(table.size());
    row.candidate = one.text();
    row.fidelity = program::Fidelity::estimate;
    row.reason = one.pruned;
    row.origin = "cuts";
    row.predicted = one.predicted;
    table.push_back(std::move(row));
  }
}

void add_contenders(const std::vector<Contender>& contenders, const std::vector<program::Evaluation>& found,
                    std::vector<Tried>& table) {
  const std::size_t best = fastest_of(found);
  Time so_far = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const program::Evaluation& one = found[i];
    if (one.feasible && (so_far == 0 || one.time < so_far)) so_far = one.time;
    Tried row;
    row.step = static_cast<std::int64_t>(table.size());
    row.candidate = contenders[i].text;
    row.cost = one.feasible ? one.time : 0;
    row.accepted = i == best;
    row.reason = !one.feasible ? one.reason : i == best ? "" : "slower";
    row.best = so_far;
    row.origin = contenders[i].origin;
    row.predicted = contenders[i].predicted;
    row.most_memory = one.most_memory();
    row.at_least = one.feasible ? 0 : one.time;
    table.push_back(std::move(row));
  }
}

/// Which constraint leaves nothing, and how near the nearest cut is to what would fit.
std::string nothing_fits(const std::vector<Candidate>& candidates, const std::vector<Contender>& contenders,
                         const std::vector<program::Evaluation>& found) {
  if (!contenders.empty())
    return fmt::format("none of {} plans can run; the first, {}: {}", contenders.size(), contenders.front().text,
                       found.front().reason);
  const Candidate* nearest = nullptr;
  for (const Candidate& one : candidates)
    if (one.missing > 0 && (nearest == nullptr || one.missing < nearest->missing)) nearest = &one;
  if (nearest != nullptr)
    return fmt::format("none of {} cuts fits into memory; the nearest, {}: {}", candidates.size(), nearest->text(),
                       nearest->pruned);
  return fmt::format("none of {} cuts can be; the first, {}: {}", candidates.size(), candidates.front().text(),
                     candidates.front().pruned);
}

DataTable curves_table(const std::vector<Curve>& curves) {
  std::vector<std::int32_t> candidate, generation;
  std::vector<std::string> text;
  std::vector<double> best;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    for (std::size_t step = 0; step < curves[i].best.size(); ++step) {
      candidate.push_back(static_cast<std::int32_t>(i));
      text.push_back(curves[i].text);
      generation.push_back(static_cast<std::int32_t>(step));
      best.push_back(curves[i].best[step]);
    }
  }
  DataTable table{"genetic", "The best individual of genetic searches, a generation a row.", {}};
  table.index("candidate", "in the order of their prediction", candidate);
  table.text("cut", "and tile of it", text).index("generation", "0: the start", generation);
  table.number("fitness", "1", "of the best one so far, the smaller the better", best);
  return table;
}

/// Of cuts that are not out by their sizes alone.
DataTable bounds_table(const std::vector<Candidate>& candidates) {
  std::vector<std::string> text;
  std::vector<std::int64_t> iteration, work, again;
  for (const Candidate& one : candidates) {
    if (!one.least.fits) continue;
    text.push_back(one.text());
    iteration.push_back(one.least.iteration);
    work.push_back(one.least.work);
    again.push_back(one.least.again);
  }
  DataTable table{
      "bounds",
      "Cuts with layers as they are dealt out: the least time to first order, memory one pool and work spread evenly.",
      {}};
  table.text("candidate", "cut and tile", text);
  table.integer("iteration_ps", "ps", "of an iteration, to first order", iteration);
  table.integer("work_ps", "ps", "of a micro-batch on all stages, what runs again included", work);
  return table.integer("again_ps", "ps", "of that for what runs again", again);
}

/// The least of all cuts.
Time bound_of(const std::vector<Candidate>& candidates) {
  Time least = never;
  for (const Candidate& one : candidates)
    if (one.least.fits) least = std::min(least, one.least.iteration);
  return least;
}

}  // namespace

Searched report(const Question& question, const std::vector<Candidate>& candidates,
                const std::vector<Contender>& contenders, const std::vector<program::Evaluation>& found,
                const std::vector<Curve>& curves) {
  Searched searched;
  add_pruned(candidates, searched.table);
  add_contenders(contenders, found, searched.table);
  const std::size_t best = fastest_of(found);
  if (best == contenders.size()) {
    searched.nothing_fits = nothing_fits(candidates, contenders, found);
    return searched;
  }
  searched.found = contenders[best].keys;
  searched.predicted = {{"all", found[best].time}, {"model", contenders[best].predicted}};
  if (const Time bound = bound_of(candidates); bound < never) searched.predicted.push_back({"bound", bound});
  if (!question.health.is_sound()) searched.tables.push_back(health_table(question.health, question.job.machine));
  searched.tables.push_back(splits_table());
  searched.tables.push_back(bounds_table(candidates));
  if (!curves.empty()) searched.tables.push_back(curves_table(curves));
  return searched;
}

}  // namespace tessera::strategy::watos
