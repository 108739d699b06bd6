// The files of a sweep's folder: which of their lines count.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "line_checksum.hpp"
#include "sweep_rows.hpp"
#include "tessera/base/error.hpp"

namespace tessera::results {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& path) {
  const auto refuse = [&](const std::string& reason) {
    throw IoError("cannot read '" + path.string() + "': " + reason);
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) refuse("it is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) refuse(std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad()) refuse("it cannot be read to its end");
  return text.str();
}

std::vector<fs::path> row_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (fs::directory_iterator at(folder / "rows", failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".jsonl") files.push_back(at->path());
  }
  if (failed && failed != std::errc::no_such_file_or_directory)
    throw IoError("cannot read '" + (folder / "rows").string() + "': " + failed.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// Takes the lines of one file after the other.
class RowReader {
 public:
  explicit RowReader(const SweepHead& head) : head_(head) {}

  void read(const fs::path& path) {
    const std::string text = read_text(path);
    std::size_t begin = 0;
    for (std::int64_t number = 1; begin < text.size(); ++number) {
      const std::size_t end = text.find('\n', begin);
      if (end == std::string::npos) return;  // a kill has cut it off
      if (end > begin && !take(text.substr(begin, end - begin)))
        rows_.damaged.push_back(path.string() + ":" + std::to_string(number));
      begin = end + 1;
    }
  }

  SweepRows rows() {
    for (auto& [point, row] : last_) rows_.rows.push_back(std::move(row));
    return std::move(rows_);
  }

 private:
  /// False: it is damaged.
  bool take(const std::string& line) {
    const LineState state = state_of_line(line);
    if (state == LineState::damaged) return false;
    // An earlier Tessera's, which this sweep does over again.
    if (state == LineState::without_checksum && head_.has_checksums) return true;
    std::optional<SweepRow> row = parse_row(line);
    if (!row) return false;
    const bool is_of_head = row->version == head_.version && row->results_schema == head_.results_schema;
    if (is_of_head && row->point >= 0 && row->point < head_.points) last_.insert_or_assign(row->point, std::move(*row));
    return true;
  }

  const SweepHead& head_;
  std::map<std::int64_t, SweepRow> last_;
  SweepRows rows_;
};

}  // namespace

SweepHead read_head(const std::string& folder) {
  const fs::path path = fs::path(folder) / "sweep.json";
  std::error_code ignored;
  if (fs::is_directory(folder, ignored) && !fs::exists(path, ignored))
    throw InputError("'" + folder + "' is not the folder of a sweep: there is no sweep.json in it");
  std::string text = read_text(path);
  while (text.ends_with('\n')) text.pop_back();
  const LineState state = state_of_line(text);
  SweepHead head = state == LineState::damaged ? SweepHead{} : parse_head(text, path.string());
  if (state == LineState::whole || (state == LineState::without_checksum && !head.has_checksums)) return head;
  throw IoError("cannot read '" + path.string() +
                "': it is damaged: it differs from its checksum (remove it and call tessera sweep again: what is done "
                "stays)");
}

std::string read_given(const std::string& folder) {
  const fs::path path = fs::path(folder) / "sweep.toml";
  std::error_code ignored;
  return fs::exists(path, ignored) ? read_text(path) : "";
}

SweepRows read_rows(const std::string& folder, const SweepHead& head) {
  RowReader reader(head);
  for (const fs::path& path : row_files(folder)) reader.read(path);
  return reader.rows();
}

std::string damage_text(const std::vector<std::string>& damaged) {
  if (damaged.empty()) return {};
  constexpr std::size_t most_named = 5;
  std::string text = damaged.size() == 1 ? "1 row is damaged and passed over: "
                                         : std::to_string(damaged.size()) + " rows are damaged and passed over: ";
  for (std::size_t i = 0; i < std::min(damaged.size(), most_named); ++i) text += (i == 0 ? "" : ", ") + damaged[i];
  return damaged.size() > most_named ? text + " and more" : text;
}

}  // namespace tessera::results
