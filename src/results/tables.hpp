// The schema of a result file (docs/results.md): which tables there are and what stands in their columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "table.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {

/// Raised when a column or table is renamed, removed or changes its meaning; additions leave it.
inline constexpr std::int64_t schema_version = 2;
inline constexpr std::int64_t oldest_schema_version = 1;  ///< that is read: waiting was part of communication
inline constexpr const char* format_name = "tessera results";
inline constexpr const char* points_format_name = "tessera points";    ///< of a table of many runs
inline constexpr const char* history_format_name = "tessera history";  ///< of what a search tried
inline constexpr const char* policy_format_name = "tessera policy";    ///< of what training has learnt

/// Sums over all devices and ranks, and the names of the job: the one row of /summary.
struct SummaryRow {
  const RunResults* results = nullptr;
  std::uint64_t seed = 0;
  std::vector<Time> mean, longest;  ///< by activity: over the devices taking part
  Int128 bytes_sent = 0;
  std::int64_t messages = 0;
  std::int64_t peak_memory = 0, peak_memory_device = 0;
};

/// When a row of the search's table was known.
struct SearchSecondsRow {
  std::int64_t row = 0;
  double seconds = 0;
};

/// A name and its index, of /names.
struct NameRow {
  std::int64_t index = 0;
  std::string_view name;
};

/// Names in this run's order; `results` and the vectors in it outlive the table.
[[nodiscard]] Table<SummaryRow> summary_table(const RunResults& results);
[[nodiscard]] Table<DeviceRow> device_table(const RunResults& results);
[[nodiscard]] Table<LinkRow> link_table(const RunResults& results);
[[nodiscard]] Table<MemoryRow> memory_table(const RunResults& results);
[[nodiscard]] Table<CollectiveRow> collective_table(const RunResults& results);
[[nodiscard]] Table<Interval> timeline_table();
[[nodiscard]] Table<StreamName> stream_names_table(const std::vector<StreamName>& names);
[[nodiscard]] Table<MemoryChange> memory_timeline_table();
[[nodiscard]] Table<KernelRow> kernel_table(const RunResults& results);
[[nodiscard]] Table<TrafficRow> traffic_table(const RunResults& results);
[[nodiscard]] Table<TrafficBin> traffic_timeline_table(const RunResults& results);
[[nodiscard]] Table<std::pair<std::string, std::string>> plan_table(const RunResults& results);
[[nodiscard]] Table<SearchRow> search_table(const RunResults& results);
[[nodiscard]] Table<SearchSecondsRow> search_seconds_table();
[[nodiscard]] Table<PredictedRow> predicted_table(const RunResults& results);
[[nodiscard]] Table<PhaseRow> phases_table(const RunResults& results);
[[nodiscard]] Table<NameRow> names_table(const std::string& path, const std::string& index,
                                         const std::string& description, const std::vector<std::string>& names);
[[nodiscard]] Table<NamedCount> events_table(const std::vector<NamedCount>& counts);
[[nodiscard]] Table<LawUse> laws_table(const std::vector<LawUse>& uses);
[[nodiscard]] Table<Provenance> provenance_table(const Provenance& provenance);

}  // namespace tessera::results
