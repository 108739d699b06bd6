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

program::search::ListedKeys keys_of_lines(const FastestReport& report) {
  std::vector<std::size_t> candidates;
  for (std::size_t i = 0; i < lines_of(report); ++i) candidates.push_back(report.found.ranked[i].candidate);
  return program::search::listed_keys(report, candidates);
}

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
  add("to spare", [&](const auto& line) {
    const std::int64_t usable = experiment.machine.device.usable_memory().value();
    return config::format_rounded(usable - line.evaluation.most_memory(), config::Unit::bytes);
  });
  share("compute %", {Activity::forward, Activity::backward, Activity::optimizer});
  share("again %", {Activity::recomputation});
  share("tensor %", {Activity::tensor_communication});
  share("data %", {Activity::data_communication});
  share("pipeline %", {Activity::pipeline_communication});
  share("experts %", {Activity::expert_communication});
  share("waiting %", {Activity::waiting, Activity::other_communication, Activity::redistribution});
  share("bubble %", {Activity::bubble, Activity::idle});
  const std::vector<std::string> keys = keys_of_lines(report).differing;
  add("cut",
      [&](const auto& line) { return report.part ? report.part(line.candidate, keys) : report.text(line.candidate); });
  return columns;
}

/// What the lines of the table have in common.
std::string common_line(const FastestReport& report) {
  const std::vector<std::string> keys = keys_of_lines(report).common;
  if (keys.empty()) return {};
  return fmt::format("  {:<26}{}\n", "all of the following", report.part(report.found.ranked[0].candidate, keys));
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

/// What was under way, or had not been begun, when time was over.
void add_cut_off(const program::search::Fastest& found,
                 const std::function<void(const char*, const std::string&)>& line) {
  const auto time = [](Time t) { return config::format_rounded(t, config::Unit::time); };
  for (const program::search::Judged& one : found.judged)
    if (one.fate == Fate::unfinished) line("not finished", "at least " + time(one.least));
  const auto is_unseen = [](const auto& one) { return one.fate == Fate::left && one.least == 0; };
  const auto unseen = std::ranges::count_if(found.judged, is_unseen);
  line("left", std::to_string(found.count(Fate::left) - unseen));
  if (unseen > 0) line("not looked at", std::to_string(unseen));
  if (found.ranked.empty())
    line("taken", fmt::format("the least estimate, {}: no simulation came to its end", time(found.time_of_taken())));
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
  if (found.is_cut_off) add_cut_off(found, line);
  if (!found.ranked.empty()) line("best", time(found.ranked[0].evaluation.time));
  if (found.ranked.size() > 1) line("runner-up", time(found.ranked[1].evaluation.time));
  line("proven", experiment::proven_text(report));
  if (found.ranked.empty()) return text + "  cut                       " + report.text(*found.taken()) + "\n\n";
  return text + common_line(report) + table_of(columns_of(experiment, report), lines_of(report)) + "\n";
}

}  // namespace tessera::app
