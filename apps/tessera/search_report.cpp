#include "search_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace tessera::app {
namespace {

using program::Activity;
using program::search::FastestReport;

/// Columns of the table of the best.
struct Column {
  std::string name;
  std::vector<std::string> cells;
  bool is_shown = true;
};

std::string percent(double part) { return fmt::format("{:.1f}", 100 * part); }

/// Of an average device that takes part, of the iteration.
double share_of(const program::Evaluation& run, std::initializer_list<Activity> activities) {
  const auto devices = std::ranges::count_if(run.peak_memory, [](std::int64_t bytes) { return bytes > 0; });
  double sum = 0;
  for (std::size_t device = 0; device < run.peak_memory.size(); ++device) {
    if (run.peak_memory[device] == 0) continue;
    for (const Activity activity : activities)
      sum += static_cast<double>(run.busy_of(static_cast<program::DeviceId>(device), activity));
  }
  return devices == 0 || run.time == 0 ? 0 : sum / static_cast<double>(devices) / static_cast<double>(run.time);
}

/// Of the peak of the devices that take part; 0: the machine states none.
double model_flops_share(const experiment::Experiment& experiment, const program::Evaluation& run) {
  const auto peak = experiment.machine.device.peak.find(experiment.workload.datatype);
  const auto devices = std::ranges::count_if(run.peak_memory, [](std::int64_t bytes) { return bytes > 0; });
  if (peak == experiment.machine.device.peak.end() || run.time == 0 || devices == 0) return 0;
  const double most = static_cast<double>(devices) * static_cast<double>(peak->second.value()) *
                      static_cast<double>(run.time) / static_cast<double>(second);
  return experiment.plan.model_flops / most;
}

std::vector<Column> columns_of(const experiment::Experiment& experiment, const FastestReport& report) {
  std::vector<Column> columns;
  const auto add = [&](const std::string& name, const std::function<std::string(const FastestReport::Line&)>& cell) {
    Column& column = columns.emplace_back(Column{name, {}});
    for (const FastestReport::Line& line : report.best) column.cells.push_back(cell(line));
  };
  const auto share = [&](const std::string& name, std::initializer_list<Activity> activities) {
    add(name, [&](const auto& line) { return percent(share_of(line.evaluation, activities)); });
    columns.back().is_shown = std::ranges::any_of(columns.back().cells, [](const auto& cell) { return cell != "0.0"; });
  };
  add("time", [](const auto& line) { return config::format_rounded(line.evaluation.time, config::Unit::time); });
  add("model FLOP/s %", [&](const auto& line) { return percent(model_flops_share(experiment, line.evaluation)); });
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
  add("cut", [](const auto& line) { return line.candidate; });
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

/// What follows from the bounds of those that were not simulated.
std::string proven(const FastestReport& report) {
  if (report.left == 0) return "nothing is faster";
  return fmt::format("nothing is more than {:.2f} % faster; {} candidates that might be faster are left",
                     100 * report.gap, report.left);
}

}  // namespace

std::string search_report(const experiment::Experiment& experiment) {
  if (!experiment.searched.report) return {};
  const FastestReport& report = *experiment.searched.report;
  std::string text = fmt::format("search over {}\n", fmt::join(report.keys, ", "));
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("  {:<26}{}\n", name, value);
  };
  const auto time = [](Time t) { return config::format_rounded(t, config::Unit::time); };
  line("candidates", std::to_string(report.candidates));
  line("do not fit into memory", std::to_string(report.too_large));
  if (report.refused > 0) line("cannot run", std::to_string(report.refused));
  line("struck out by their bound", std::to_string(report.beaten));
  line("simulated", std::to_string(report.simulated));
  line("best", time(report.best.front().evaluation.time));
  if (report.best.size() > 1) line("runner-up", time(report.best[1].evaluation.time));
  line("proven", proven(report));
  return text + table_of(columns_of(experiment, report), report.best.size()) + "\n";
}

}  // namespace tessera::app
