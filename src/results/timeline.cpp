// Chrome's trace event format, which Perfetto reads: one event a line, written as it is read, so that a timeline of
// millions of intervals needs no memory.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "h5/reader.hpp"
#include "temporary_file.hpp"
#include "tessera/base/error.hpp"
#include "tessera/results/results.hpp"

namespace tessera::results {
namespace {

constexpr std::int64_t rows_at_once = 1 << 16;

/// A JSON array, one element a line.
class TraceFile {
 public:
  TraceFile(const std::string& path, const std::string& name)
      : path_(path), file_(std::fopen(name.c_str(), "w"), std::fclose) {
    if (file_ == nullptr) fail();
    put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
  }
  void event(const std::string& json) {
    put(first_ ? "\n" : ",\n");
    put(json);
    first_ = false;
  }
  void finish() {
    put("\n]}\n");
    if (std::fclose(file_.release()) != 0) fail();
  }

 private:
  void put(const std::string& text) {
    if (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size()) fail();
  }
  [[noreturn]] void fail() const { throw IoError("cannot write '" + path_ + "': " + std::strerror(errno)); }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
  bool first_ = true;
};

std::string json_text(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// Names as JSON strings, by index.
std::vector<std::string> names(const h5::Reader& file, const std::string& table) {
  const h5::Rows rows = file.read(table);
  const std::size_t name = rows.column("name");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < rows.size(); ++i) texts.push_back(rows.text(i, name));
  return texts;
}

/// Trace time is in microseconds; six decimals keep every picosecond.
std::string microseconds(Time time) { return fmt::format("{}.{:06}", time / microsecond, time % microsecond); }

/// Process 0 means the idle process to some viewers.
std::int64_t process_of(std::int64_t device) { return device + 1; }

void name_process(TraceFile& trace, std::int64_t device, const std::vector<std::string>& nodes) {
  const auto index = static_cast<std::size_t>(device);
  const std::string name = index < nodes.size() ? nodes[index] : "device " + std::to_string(device);
  trace.event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process_of(device),
                          json_text(name)));
  trace.event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
                          process_of(device), device));
}

void name_thread(TraceFile& trace, std::int64_t device, std::int64_t stream, std::int64_t thread) {
  const std::string name = stream == 0 ? "main stream" : "stream " + std::to_string(stream);
  trace.event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})",
                          process_of(device), thread, name));
  trace.event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                          process_of(device), thread, stream));
}

void write_intervals(const h5::Reader& file, TraceFile& trace, const std::vector<std::string>& nodes) {
  const std::vector<std::string> activities = names(file, "/names/activities"), labels = names(file, "/names/labels");
  std::int64_t device = -1, stream = -1, thread = 0;  // rows come in order of device and stream
  const std::int64_t total = file.rows("/timeline");
  for (std::int64_t first = 0; first < total; first += rows_at_once) {
    const h5::Rows rows = file.read("/timeline", first, std::min(rows_at_once, total - first));
    const std::size_t of_device = rows.column("device"), of_stream = rows.column("stream"),
                      label = rows.column("label"), activity = rows.column("activity"), begin = rows.column("begin_ps"),
                      end = rows.column("end_ps");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool new_device = rows.integer(i, of_device) != device;
      if (new_device) name_process(trace, device = rows.integer(i, of_device), nodes);
      if (new_device || rows.integer(i, of_stream) != stream) {
        name_thread(trace, device, stream = rows.integer(i, of_stream), ++thread);
      }
      const std::string& category = activities.at(static_cast<std::size_t>(rows.integer(i, activity)));
      const std::string& name = labels.at(static_cast<std::size_t>(rows.integer(i, label)));
      trace.event(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{}}})",
                              json_text(name.empty() ? category : name), json_text(category), process_of(device),
                              thread, microseconds(rows.integer(i, begin)),
                              microseconds(rows.integer(i, end) - rows.integer(i, begin))));
    }
  }
}

/// One counter track a device with a value a category; viewers stack them.
void write_memory(const h5::Reader& file, TraceFile& trace) {
  const std::vector<std::string> categories = names(file, "/names/categories");
  const std::int64_t total = file.rows("/memory_timeline");
  for (std::int64_t first = 0; first < total; first += rows_at_once) {
    const h5::Rows rows = file.read("/memory_timeline", first, std::min(rows_at_once, total - first));
    const std::size_t device = rows.column("device"), category = rows.column("category"), time = rows.column("time_ps"),
                      bytes = rows.column("bytes");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::string& name = categories.at(static_cast<std::size_t>(rows.integer(i, category)));
      trace.event(fmt::format(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{"bytes":{}}}}})",
                              json_text("memory: " + name), process_of(rows.integer(i, device)),
                              microseconds(rows.integer(i, time)), rows.integer(i, bytes)));
    }
  }
}

}  // namespace

void export_timeline(const std::string& path, const std::string& json_path) {
  const h5::Reader file(path);
  if (!file.has("/timeline")) {
    throw InputError("'" + path + "' has no timeline; [record] timeline = true in the experiment keeps one");
  }
  check_output(json_path, true);
  TemporaryFile temporary(temporary_name(json_path), true);
  TraceFile trace(json_path, temporary.name());
  write_intervals(file, trace, names(file, "/names/nodes"));
  if (file.has("/memory_timeline")) write_memory(file, trace);
  trace.finish();
  temporary.become(json_path);
}

}  // namespace tessera::results
