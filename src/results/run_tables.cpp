#include "run_tables.hpp"

#include <string>
#include <vector>

#include "data_tables.hpp"
#include "small_tables.hpp"

namespace tessera::results {
namespace {

std::vector<NameRow> name_rows(const std::vector<std::string>& names) {
  std::vector<NameRow> rows;
  for (const std::string& name : names) rows.push_back({static_cast<std::int64_t>(rows.size()), name});
  return rows;
}

void add_names(h5::File& file, const RunResults& r) {
  file.group("/names", "Names of what other tables give by index.");
  const auto add = [&](const std::string& path, const char* index, const char* what,
                       const std::vector<std::string>& names) {
    add_small_table(file, names_table(path, index, what, names), name_rows(names));
  };
  add("/names/activities", "activity", "What a device's time is counted as.", r.activities);
  add("/names/categories", "category", "What memory holds.", r.categories);
  add("/names/nodes", "node", "Nodes of the network: the machine's devices, then its switches.", r.node_names);
  add("/names/labels", "label", "What instructions are for.", r.labels);
  if (r.stream_names.empty()) return;  // no timeline
  add_small_table(file, stream_names_table(r.stream_names), r.stream_names);
  add("/names/groups", "group", "Members of the groups that carry out collectives.", r.groups);
}

}  // namespace

void add_provenance(h5::File& file, const Provenance& p) {
  file.group("/provenance", "What depends on how the run was carried out, and what it was asked for.");
  add_small_table(file, provenance_table(p), std::vector<Provenance>{p});
  if (!p.events_by_kind.empty()) add_small_table(file, events_table(p.events_by_kind), p.events_by_kind);
  if (!p.laws.empty()) add_small_table(file, laws_table(p.laws), p.laws);
  add_text(file, "/provenance/command", p.command, "The command line.");
  add_text(file, "/provenance/calibration", p.calibration,
           "What the machine's rates come from: [machine.calibration], the experiment, or the data sheet alone.");
  if (!p.kernels.empty())
    add_text(file, "/provenance/kernels", p.kernels,
             "Which products the networks of a policy used: they decide last bits.");
  if (!p.fold.empty()) add_text(file, "/provenance/fold", p.fold, "Which parts stood for others that are alike.");
  if (!p.cut_off.empty())
    add_text(file, "/provenance/search_cut_off", p.cut_off,
             "What is proven of the plan: time for its search was over.");
  add_text(file, "/provenance/experiment_given", p.experiment_given,
           "The experiment as given: the file and what --set changed.");
  add_text(file, "/provenance/experiment_resolved", p.experiment_resolved,
           "The experiment with every default and included file written out: a valid experiment itself.");
}

namespace {

/// What the search tried, and when, as that depends on the run.
void add_search(h5::File& file, const RunResults& r) {
  add_small_table(file, search_table(r), r.search);
  std::vector<SearchSecondsRow> seconds;
  for (const SearchRow& one : r.search) seconds.push_back({static_cast<std::int64_t>(seconds.size()), one.seconds});
  add_small_table(file, search_seconds_table(), seconds);
}

}  // namespace

void add_run(h5::File& file, const SummaryRow& summary, const std::vector<CollectiveRow>& collectives,
             const Provenance& provenance) {
  const RunResults& r = *summary.results;
  file.attribute("/", "format", format_name);
  file.attribute("/", "schema_version", schema_version);
  file.attribute("/", "description",
                 "Results of one run of Tessera. Times are picoseconds, sizes bytes; see docs/results.md.");
  add_small_table(file, summary_table(r), std::vector<SummaryRow>{summary});
  add_small_table(file, collective_table(r), collectives);
  add_small_table(file, plan_table(r), r.plan);
  if (!r.predicted.empty()) add_small_table(file, predicted_table(r), r.predicted);
  if (!r.phases.empty()) add_small_table(file, phases_table(r), r.phases);
  add_data_tables(file, r.tables);
  add_names(file, r);
  add_provenance(file, provenance);
  if (!r.search.empty()) add_search(file, r);
}

void add_history(h5::File& file, const RunResults& r, const Provenance& provenance) {
  file.attribute("/", "format", history_format_name);
  file.attribute("/", "schema_version", schema_version);
  file.attribute("/", "title", r.title);
  file.attribute("/", "model", r.model);
  file.attribute("/", "machine", r.machine);
  file.attribute("/", "strategy", r.strategy);
  file.attribute("/", "description",
                 "What a search of Tessera tried. Times are picoseconds, sizes bytes; see docs/results.md.");
  add_provenance(file, provenance);
  add_search(file, r);
  add_data_tables(file, r.tables);
}

}  // namespace tessera::results
