// Chrome's trace event format, which Perfetto reads: one event a line, written as it is read, so that a timeline of
// millions of intervals needs no memory.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "failure.hpp"
#include "h5/reader.hpp"
#include "temporary_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/results.hpp"
#include "timeline_slices.hpp"
#include "trace_file.hpp"
#include "trace_text.hpp"

namespace tessera::results {
namespace {

constexpr std::int64_t rows_at_once = 1 << 16;

/// Rows first .. end - 1 of a table.
struct RowRange {
  std::int64_t first = 0, end = 0;
};

/// The first row of a table in order of devices that is of this device or a later one.
std::int64_t first_row_from(const h5::Reader& file, const std::string& table, std::int64_t device) {
  std::int64_t low = 0, high = file.rows(table);
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (file.read(table, middle, 1).integer(0, "device") < device) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// The rows of the chosen devices, in the table's order.
std::vector<RowRange> chosen_rows(const h5::Reader& file, const std::string& table, const TimelinePart& part) {
  if (part.devices.empty()) return {{0, file.rows(table)}};
  std::vector<RowRange> ranges;
  for (const auto& [first, last] : part.devices) {
    ranges.push_back({first_row_from(file, table, first), first_row_from(file, table, last + 1)});
  }
  std::sort(ranges.begin(), ranges.end(), [](const RowRange& a, const RowRange& b) { return a.first < b.first; });
  for (std::size_t i = 1; i < ranges.size(); ++i) {  // devices that were named twice
    ranges[i].first = std::max(ranges[i].first, ranges[i - 1].end);
    ranges[i].end = std::max(ranges[i].end, ranges[i].first);
  }
  return ranges;
}

/// `action` on the chosen rows, some of them at a time.
template <class Action>
void read_chosen(const h5::Reader& file, const std::string& table, const TimelinePart& part, Action action) {
  for (const RowRange& range : chosen_rows(file, table, part)) {
    for (std::int64_t first = range.first; first < range.end; first += rows_at_once) {
      action(file.read(table, first, std::min(rows_at_once, range.end - first)));
    }
  }
}

struct Level {
  std::int64_t device = 0;
  std::string category;
  Time time = 0;
  std::int64_t bytes = 0;
};

/// One counter track a device with a value a category; viewers stack them.
void write_level(TraceFile& trace, const Level& level) {
  trace.event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}}}})",
                          json_text("memory: " + level.category), process_of(level.device), microseconds(level.time),
                          level.bytes));
}

/// Levels at the begin of the span are those of the last changes before it.
void write_memory(const h5::Reader& file, const TimelinePart& part, TraceFile& trace) {
  const std::vector<std::string> categories = names(file, "/names/categories");
  std::map<std::pair<std::int64_t, std::int64_t>, Level> before;  // by device and category, until its first change
  const auto write_before = [&](std::int64_t device) {
    for (auto at = before.lower_bound({device, 0}); at != before.end() && at->first.first == device;) {
      write_level(trace, at->second);
      at = before.erase(at);
    }
  };
  read_chosen(file, "/memory_timeline", part, [&](const h5::Rows& rows) {
    const std::size_t of_device = rows.column("device"), of_category = rows.column("category"),
                      of_time = rows.column("time_ps"), bytes = rows.column("bytes");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::int64_t device = rows.integer(i, of_device), category = rows.integer(i, of_category);
      const Level level{device, name_of(rows, category, categories), rows.integer(i, of_time), rows.integer(i, bytes)};
      if (device < 0 || level.time < 0) rows.damaged("a change of memory is before time zero, or of no device");
      if (level.time < part.from) {
        before[{device, category}] = {device, level.category, part.from, level.bytes};
      } else if (level.time < part.to) {
        write_before(device);
        write_level(trace, level);
      }
    }
  });
  while (!before.empty()) write_before(before.begin()->first.first);
}

/// Parts of which there is nothing are mistakes.
void check_part(const h5::Reader& file, const TimelinePart& part) {
  const std::int64_t total = file.rows("/timeline");
  const Time end = file.read("/summary").integer(0, "iteration_time_ps");
  if (part.from > 0 && part.from >= end) {
    throw InputError(
        fmt::format("the span begins at {} ps, when all is over: the last device finishes at {} ps", part.from, end));
  }
  if (total == 0 || part.devices.empty()) return;
  const std::int64_t last = file.read("/timeline", total - 1, 1).integer(0, "device");
  for (const auto& [from, to] : part.devices) {
    if (to > last || first_row_from(file, "/timeline", from) == first_row_from(file, "/timeline", to + 1)) {
      throw InputError(fmt::format("there is no timeline of device {}: the devices with one are among {} to {}", to,
                                   file.read("/timeline", 0, 1).integer(0, "device"), last));
    }
  }
}

}  // namespace

void export_timeline(const std::string& path, const std::string& json_path, const TimelinePart& part) {
  const h5::Reader file(path);
  if (!file.has("/timeline")) {
    throw InputError("'" + path + "' has no timeline; [record] timeline = true in the experiment keeps one");
  }
  check_part(file, part);
  check_output(json_path, true);
  try {
    TemporaryFile temporary(json_path);
    TraceFile trace(temporary.name());
    TimelineSlices slices(file, part, trace);
    read_chosen(file, "/timeline", part, [&](const h5::Rows& rows) { slices.write(rows); });
    if (slices.written() == 0 && file.rows("/timeline") > 0) throw InputError("these devices do nothing in this span");
    if (file.has("/memory_timeline")) write_memory(file, part, trace);
    trace.finish();
    temporary.become(json_path, {});
  } catch (const Failure& failure) {
    throw IoError("cannot write '" + json_path + "': " + failure.what());
  }
}

}  // namespace tessera::results
