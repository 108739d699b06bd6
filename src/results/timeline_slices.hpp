// The intervals of a timeline as slices of a trace, with what is known of them, and messages as arrows between them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "h5/reader.hpp"
#include "tessera/results/results.hpp"
#include "trace_file.hpp"

namespace tessera::results {

class TimelineSlices {
 public:
  /// All outlive it.
  TimelineSlices(const h5::Reader& file, const TimelinePart& part, TraceFile& trace);
  /// Rows of /timeline, in their order.
  void write(const h5::Rows& rows);
  /// So many slices.
  [[nodiscard]] std::int64_t written() const { return written_; }

 private:
  struct Columns;
  void begin_device(std::int64_t device);
  void begin_stream(std::int64_t stream);
  void write_slice(const h5::Rows& rows, std::size_t row, const Columns& columns);
  void write_arrow(const h5::Rows& rows, std::size_t row, const Columns& columns);
  [[nodiscard]] std::string arguments(const h5::Rows& rows, std::size_t row, const Columns& columns) const;
  [[nodiscard]] bool is_shown(std::int64_t device) const;
  [[nodiscard]] std::string node_name(std::int64_t device) const;

  TraceFile* trace_;
  TimelinePart part_;
  std::vector<std::string> nodes_, activities_, labels_, groups_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> streams_;                // by device and stream
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t> lines_;  // sender, receiver, channel
  std::int64_t device_ = -1, stream_ = -1, thread_ = 0, written_ = 0;  // rows come in order of device and stream
};

}  // namespace tessera::results
