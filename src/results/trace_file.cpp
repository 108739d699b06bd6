#include "trace_file.hpp"

namespace tessera::results {
namespace {

constexpr std::size_t bytes_at_once = std::size_t{1} << 20;

}  // namespace

TraceFile::TraceFile(const std::string& name)
    : file_(DiskFile::open_to_write(name)), waiting_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[") {}

void TraceFile::event(const std::string& json) {
  waiting_ += first_ ? "\n" : ",\n";
  waiting_ += json;
  first_ = false;
  if (waiting_.size() >= bytes_at_once) flush();
}

void TraceFile::finish() {
  waiting_ += "\n]}\n";
  flush();
  file_.flush();
  file_.close();
}

void TraceFile::flush() {
  file_.write(written_, reinterpret_cast<const std::byte*>(waiting_.data()), waiting_.size());
  written_ += static_cast<std::int64_t>(waiting_.size());
  waiting_.clear();
}

}  // namespace tessera::results
