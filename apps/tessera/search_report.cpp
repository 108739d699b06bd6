#include "search_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "tessera/experiment/candidates.hpp"

namespace tessera::app {
namespace {

using program::Activity;
using program::search::FastestReport;
using program::search::Fate;
using program::search::Ranked;

/// Columns of the table of the best.
struct Column {
  std::string name;
  std::vector<std::string> cells;
  bool is_shown = true;
};

std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

/// Of an average device that takes part, of the iteration.
double share_of(const program::Evaluation& run, std::initializer_list<Activity> activities) {
  double sum = 0;
  for (const Activity activity : activities) sum += static_cast<double>(experiment::mean_busy(run, activity));
  return run.time == 0 ? 0 : sum / static_cast<double>(run.time);
}

constexpr std::size_t most_lines = 10;

/// Of the best, the fastest first.
std::size_t lines_of(const FastestReport& report) { return std::min(most_lines, report.found.ranked.size()); }

std::vector<Column> columns_of(const experiment::Experiment& experiment, const FastestReport& report) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, const std::function<std::string(const Ranked&)>& cell) {
    Column& column = columns.emplace_back(Column{name, {}});
    for (std::size_t i = 0; i < lines_of(report); ++i) column.cells.push_back(cell(report.found.ranked[i]));
  };
  const auto share = [&](const std::string& name, std::initializer_list<Activity> activities) {
    add(name, [&](const auto& line) { return percent(share_of(line.evaluation, activities)); });
    columns.back().is_shown = std::ranges::any_of(columns.back().cells, [](const auto& cell) { return cell != "0.0"; });
  };
  add("time", [](const auto& line) { return config::format_rounded(line.evaluation.time, config::Unit::time); });
  add("model FLOP/s %",
      [&](const auto& line) { return percent(experiment::model_flops_utilisation(experiment, line.evaluation)); });
  add("memory",
      [](const auto& line) { return config::format_rounded(line.evaluation.most_memory(), config::Unit::bytes); });
  share("compute %", {Activity::forward, Activity::backward, Activity::optimizer});
  share("again %", {Activity::recomputation});
  share("tensor %", {Activity::tensor_communication});
  share("data %", {Activity::data_communication});
  share("pipeline %", {Activity::pipeline_communication});
  share("experts %", {Activity::expert_communication});
  share("waiting %", {Activity::waiting, Activity::other_communication, Activity::redistribution});
  share("bubble %", {Activity::bubble, Activity::idle});
  add("cut", [&](const auto& line) { return report.text(line.candidate); });
  return columns;
}

std::string table_of(const std::vector<Column>& columns, std::size_t rows) {
  std::string text;
  const auto width = [](const Column& column) {
    std::size_t most = column.name.size();
    for (const std::string& cell : column.cells) most = std::max(most, cell.size());
    return most;
  };
  for (std::size_t row = 0; row <= rows; ++row) {
    std::string line = " ";
    for (const Column& column : columns) {
      const std::string& cell = row == 0 ? column.name : column.cells[row - 1];
      if (&column == &columns.back())
        line += "  " + cell;  // to the left: it is long
      else if (column.is_shown)
        line += fmt::format("  {:>{}}", cell, width(column));
    }
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::string struck_out_report(const experiment::Experiment& experiment) {
  const strategy::Searched& searched = experiment.searched;
  if (searched.choices == 0) return {};
  return fmt::format("search among {} choices, of which {} are struck out: others cost less beside any others\n",
                     searched.choices, searched.struck_out);
}

std::string search_report(const experiment::Experiment& experiment) {
  if (!experiment.searched.report) return {};
  const FastestReport& report = *experiment.searched.report;
  std::string text = fmt::format("search over {}\n", fmt::join(report.keys, ", "));
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<26}{}\n", name, value);
  };
  const auto time = [](Time t) { return config::format_rounded(t, config::Unit::time); };
  const program::search::Fastest& found = report.found;
  const auto count = [&](const char* name, std::int64_t candidates) { line(name, std::to_string(candidates)); };
  count("candidates", static_cast<std::int64_t>(found.judged.size()));
  count("do not fit into memory", found.count(Fate::too_large));
  if (const std::int64_t refused = found.count(Fate::refused); refused > 0) count("cannot run", refused);
  count("struck out by their bound", found.count(Fate::beaten));
  count("simulated", found.count(Fate::simulated));
  line("best", time(found.ranked[0].evaluation.time));
  if (found.ranked.size() > 1) line("runner-up", time(found.ranked[1].evaluation.time));
  line("proven", experiment::proven_text(report));
  return text + table_of(columns_of(experiment, report), lines_of(report)) + "\n";
}

}  // namespace tessera::app
