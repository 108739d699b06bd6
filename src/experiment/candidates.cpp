#include "tessera/experiment/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/error.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/results/sweep_folder.hpp"

namespace tessera::experiment {
namespace {

using program::Activity;
using program::Evaluation;
using program::search::FastestReport;
using program::search::Fate;
using program::search::Judged;
using results::PointCell;
using results::PointKind;

/// Devices that hold something.
std::vector<program::DeviceId> taking_part(const Evaluation& run) {
  std::vector<program::DeviceId> devices;
  for (program::DeviceId device = 0; device < run.computing(); ++device)
    if (run.peak_memory[device] > 0) devices.push_back(device);
  return devices;
}

std::int64_t count_of(const std::vector<program::DeviceId>& devices) {
  return static_cast<std::int64_t>(devices.size());
}

PointCell cell_of(const config::Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value.content())) return *number;
  if (const auto* flag = std::get_if<bool>(&value.content())) return std::string(*flag ? "true" : "false");
  const config::Array* list = value.array();
  if (list == nullptr) return *value.string();
  std::string joined;  // "fc1+activation"
  for (const config::Value& text : *list) joined += (joined.empty() ? "" : "+") + *text.string();
  return joined;
}

/// mean_<activity>_ps and max_<activity>_ps, as /summary has them.
void add_activities(const Experiment& experiment, const Evaluation& run, results::Digest& digest) {
  const std::vector<program::DeviceId> devices = taking_part(run);
  for (std::size_t i = 0; i < program::activities_of(experiment.plan.program); ++i) {
    const auto activity = static_cast<Activity>(i);
    Time longest = 0;
    for (const program::DeviceId device : devices) longest = std::max(longest, run.busy_of(device, activity));
    const std::string column = results::activity_column(program::name_of(experiment.plan.program, activity));
    digest.summary.emplace_back("mean_" + column, mean_busy(run, activity));
    digest.summary.emplace_back("max_" + column, longest);
  }
}

results::Digest digest_of(const Experiment& experiment, const Evaluation& run) {
  results::Digest digest;
  digest.summary = {{"devices", count_of(taking_part(run))},
                    {"iteration_time_ps", run.time},
                    {"model_flops_utilisation", model_flops_utilisation(experiment, run)}};
  add_activities(experiment, run, digest);
  digest.summary.emplace_back("peak_memory", run.most_memory());
  return digest;
}

int code_of(const Judged& judged) {
  const bool runs = judged.fate != Fate::too_large && judged.fate != Fate::refused;
  return static_cast<int>(runs ? ExitCode::done : ExitCode::infeasible);
}

std::vector<results::SweepRow> rows_of(const Experiment& experiment, const FastestReport& report) {
  std::vector<results::SweepRow> rows(report.found.judged.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results::SweepRow& row = rows[i];
    row.point = static_cast<std::int64_t>(i);
    row.name = report.text(i);
    row.code = code_of(report.found.judged[i]);
    row.message = report.found.judged[i].reason;
    const std::shared_ptr<config::Table> values = report.values(i);
    for (const std::string& key : report.keys) row.values.emplace_back("strategy." + key, cell_of(*values->find(key)));
  }
  for (const program::search::Ranked& one : report.found.ranked)
    rows[one.candidate].digest = digest_of(experiment, one.evaluation);
  return rows;
}

PointCell known(Time time) { return time > 0 ? PointCell{time} : PointCell{}; }

/// What other sweeps do not have: why a candidate has no time, and what is known of it nevertheless.
void add_judgements(const FastestReport& report, results::PointsTable& table) {
  table.columns.push_back({"fate", "text", "what became of the candidate", PointKind::text});
  table.columns.push_back({"bound_ps", "ps", "no simulated time is below it; 0: not known", PointKind::integer});
  table.columns.push_back({"estimate_ps", "ps", "by which candidates are ordered; 0: not known", PointKind::integer});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const Judged& judged = report.found.judged[i];
    table.rows[i].emplace_back(program::search::name_of(judged.fate));
    table.rows[i].push_back(known(judged.least));
    table.rows[i].push_back(known(judged.estimate));
  }
}

}  // namespace

Time mean_busy(const Evaluation& run, Activity activity) {
  const std::vector<program::DeviceId> devices = taking_part(run);
  if (devices.empty()) return 0;
  Int128 sum = 0;
  for (const program::DeviceId device : devices) sum += run.busy_of(device, activity);
  return static_cast<Time>((sum + count_of(devices) / 2) / count_of(devices));
}

double model_flops_utilisation(const Experiment& experiment, const Evaluation& run) {
  return results::utilisation(experiment.plan.model_flops, run.time, peak_flops(experiment),
                              count_of(taking_part(run)));
}

std::string proven_text(const FastestReport& report) {
  const program::search::Fastest& found = report.found;
  const std::int64_t left = found.open();
  if (left == 0) return "nothing is faster";
  const std::string why = found.is_cut_off ? "cut off by the budget of time: " : "";
  const auto unseen =
      std::ranges::count_if(found.judged, [](const Judged& one) { return one.fate == Fate::left && one.least == 0; });
  if (unseen > 0)
    return fmt::format("{}nothing; {} of {} candidates were not looked at", why, unseen, found.judged.size());
  const std::string might =
      fmt::format("; {} {} left that might be faster", left, left == 1 ? "candidate is" : "candidates are");
  if (found.ranked.empty()) return why + "nothing, since no simulation came to its end" + might;
  const double percent = std::ceil(1e4 * found.gap) / 100;  // upwards: it is proven
  return fmt::format("{}nothing is more than {:.2f} % faster{}", why, percent, might);
}

results::PointsTable candidates_table(const Experiment& experiment, const std::string& given,
                                      const config::Table& resolved, const std::string& version) {
  if (!experiment.searched.report) throw InternalError("no candidates are known of this search");
  const FastestReport& report = *experiment.searched.report;
  results::SweepHead head;
  head.title = experiment.title;
  for (const std::string& key : report.keys) head.axes.push_back({"strategy." + key, "", false});
  results::PointsTable table = results::table_of(head, rows_of(experiment, report));
  add_judgements(report, table);
  table.provenance = {{"experiment_given", given, "The experiment file as it was given."},
                      {"experiment", config::to_toml(resolved), "The resolved experiment."},
                      {"proven", proven_text(report), "What follows from the bounds of those not simulated."},
                      {"version", version, "Version of Tessera that searched."}};
  return table;
}

}  // namespace tessera::experiment
