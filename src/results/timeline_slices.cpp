#include "timeline_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "trace_text.hpp"

namespace tessera::results {
namespace {

/// Whether an interval, perhaps of no length, has a moment in the span.
bool overlaps(Time begin, Time end, const TimelinePart& part) {
  return begin < part.to && (end > part.from || (begin == end && begin == part.from));
}

std::map<std::pair<std::int64_t, std::int64_t>, std::string> stream_names(const h5::Reader& file) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> found;
  if (!file.has("/names/streams")) return found;
  const h5::Rows rows = file.read("/names/streams");
  const std::size_t device = rows.column("device"), stream = rows.column("stream"), name = rows.column("name");
  for (std::size_t i = 0; i < rows.size(); ++i)
    found[{rows.integer(i, device), rows.integer(i, stream)}] = rows.text(i, name);
  return found;
}

}  // namespace

/// Where the columns of /timeline stand.
struct TimelineSlices::Columns {
  explicit Columns(const h5::Rows& rows)
      : device(rows.column("device")),
        stream(rows.column("stream")),
        label(rows.column("label")),
        activity(rows.column("activity")),
        begin(rows.column("begin_ps")),
        end(rows.column("end_ps")) {
    const auto& all = rows.columns();
    has_details = std::ranges::any_of(all, [](const Column& one) { return one.name == "end_of_message"; });
    if (!has_details) return;
    bytes = rows.column("bytes");
    group = rows.column("group");
    micro_batch = rows.column("micro_batch");
    peer = rows.column("peer");
    channel = rows.column("channel");
    message = rows.column("message");
    end_of_message = rows.column("end_of_message");
  }
  std::size_t device, stream, label, activity, begin, end;
  bool has_details = false;  ///< files of earlier versions have none of the others
  std::size_t bytes = 0, group = 0, micro_batch = 0, peer = 0, channel = 0, message = 0, end_of_message = 0;
};

TimelineSlices::TimelineSlices(const h5::Reader& file, const TimelinePart& part, TraceFile& trace)
    : trace_(&trace),
      part_(part),
      nodes_(names(file, "/names/nodes")),
      activities_(names(file, "/names/activities")),
      labels_(names(file, "/names/labels")),
      streams_(stream_names(file)) {
  if (file.has("/names/groups")) groups_ = names(file, "/names/groups");
}

void TimelineSlices::write(const h5::Rows& rows) {
  const Columns columns(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Time begin = rows.integer(i, columns.begin), end = rows.integer(i, columns.end);
    const std::int64_t device = rows.integer(i, columns.device), stream = rows.integer(i, columns.stream);
    if (begin < 0 || end < begin || device < 0 || stream < 0)
      rows.damaged("an interval ends before it begins, or is of no device");
    if (!overlaps(begin, end, part_)) continue;
    const bool is_new = device != device_;
    if (is_new) begin_device(device);
    if (is_new || stream != stream_) begin_stream(stream);
    write_slice(rows, i, columns);
    if (columns.has_details && rows.integer(i, columns.end_of_message) != 0) write_arrow(rows, i, columns);
    ++written_;
  }
}

std::string TimelineSlices::node_name(std::int64_t device) const {
  const auto index = static_cast<std::size_t>(device);
  return index < nodes_.size() ? nodes_[index] : "device " + std::to_string(device);
}

void TimelineSlices::begin_device(std::int64_t device) {
  device_ = device;
  trace_->event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process_of(device),
                            json_text(node_name(device))));
  trace_->event(fmt::format(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})",
                            process_of(device), device));
}

/// "main stream: stage 0", "stream 1: tensor communication"
void TimelineSlices::begin_stream(std::int64_t stream) {
  stream_ = stream;
  ++thread_;
  std::string name = stream == 0 ? "main stream" : "stream " + std::to_string(stream);
  const auto known = streams_.find({device_, stream});
  if (known != streams_.end() && !known->second.empty() && known->second != "main") name += ": " + known->second;
  trace_->event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})",
                            process_of(device_), thread_, json_text(name)));
  trace_->event(fmt::format(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})",
                            process_of(device_), thread_, stream));
}

/// `,"args":{...}`; empty where nothing is known.
std::string TimelineSlices::arguments(const h5::Rows& rows, std::size_t row, const Columns& columns) const {
  if (!columns.has_details) return {};
  std::string text;
  const auto add = [&text](const char* name, const auto& value) {
    text += fmt::format(R"({}"{}":{})", text.empty() ? "" : ",", name, value);
  };
  const std::int64_t group = rows.integer(row, columns.group), batch = rows.integer(row, columns.micro_batch),
                     peer = rows.integer(row, columns.peer), message = rows.integer(row, columns.message);
  if (group >= 0 || peer >= 0) add("bytes", rows.integer(row, columns.bytes));
  if (group >= 0) add("group", json_text(name_of(rows, group, groups_)));
  if (batch >= 0) add("micro_batch", batch);
  if (peer >= 0) {
    add("peer", json_text(node_name(peer)));
    add("channel", rows.integer(row, columns.channel));
  }
  if (message >= 0) add("message", message);
  return text.empty() ? text : R"(,"args":{)" + text + "}";
}

void TimelineSlices::write_slice(const h5::Rows& rows, std::size_t row, const Columns& columns) {
  const Time begin = rows.integer(row, columns.begin), end = rows.integer(row, columns.end);
  const std::string& category = name_of(rows, rows.integer(row, columns.activity), activities_);
  const std::string& name = name_of(rows, rows.integer(row, columns.label), labels_);
  trace_->event(fmt::format(R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{}{}}})",
                            json_text(name.empty() ? category : name), json_text(category), process_of(device_),
                            thread_, microseconds(begin), microseconds(end - begin), arguments(rows, row, columns)));
}

bool TimelineSlices::is_shown(std::int64_t device) const {
  const auto has = [device](const auto& range) { return range.first <= device && device <= range.second; };
  return part_.devices.empty() || std::ranges::any_of(part_.devices, has);
}

/// From the slice of the send to that in which the message is received: each end names the same number, and stands
/// behind its slice, at its begin.
void TimelineSlices::write_arrow(const h5::Rows& rows, std::size_t row, const Columns& columns) {
  constexpr std::int64_t most_messages = std::int64_t{1} << 31;  // on a line
  const std::int64_t peer = rows.integer(row, columns.peer);
  if (!is_shown(peer)) return;
  const bool is_sent = rows.integer(row, columns.end_of_message) == static_cast<std::int64_t>(MessageEnd::sent);
  const std::tuple line(is_sent ? device_ : peer, is_sent ? peer : device_, rows.integer(row, columns.channel));
  const auto found = lines_.try_emplace(line, static_cast<std::int64_t>(lines_.size())).first;
  const std::int64_t id = found->second * most_messages + rows.integer(row, columns.message);
  trace_->event(fmt::format(R"({{"ph":"{}"{},"name":"message","cat":"message","id":{},"pid":{},"tid":{},"ts":{}}})",
                            is_sent ? "s" : "f", is_sent ? "" : R"(,"bp":"e")", id, process_of(device_), thread_,
                            microseconds(rows.integer(row, columns.begin))));
}

}  // namespace tessera::results
