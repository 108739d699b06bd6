#include "folder.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/results/results.hpp"

namespace tessera::experiment::sweep {
namespace {

namespace fs = std::filesystem;

std::string head_path(const std::string& folder) { return folder + "/sweep.json"; }

bool is_there(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw IoError("cannot make the folder '" + one_line(path) + "': " + error.message());
}

}  // namespace

results::SweepHead head_of(const Sweep& sweep, const std::string& version) {
  return {sweep.identity(), sweep.title(), version, results::file_schema_version(), sweep.points(), sweep.axes()};
}

void refuse_other_sweep(const Sweep& sweep, const std::string& folder) {
  if (!is_there(head_path(folder))) return;
  const results::SweepHead there = results::read_head(folder);
  if (there.identity != sweep.identity())
    throw InputError(
        fmt::format("'{}' holds another sweep, or this one before it was changed (\"{}\", {} points): "
                    "allowed is a new folder, or one of this sweep",
                    one_line(folder), one_line(there.title), there.points));
}

void prepare_folder(const Sweep& sweep, const std::string& folder, const std::string& version) {
  for (const char* part : {"", "/rows", "/points"}) make_folder(folder + part);
  refuse_other_sweep(sweep, folder);
  const results::SweepHead head = head_of(sweep, version);
  // Rows of another version of Tessera do not count from now on.
  if (is_there(head_path(folder)) && results::read_head(folder) == head) return;
  results::write_text(folder + "/sweep.toml", sweep.text());
  results::write_text(head_path(folder), results::to_json(head) + "\n");
}

std::string claims_path(const std::string& folder) { return folder + "/claims"; }

std::string result_path(const std::string& folder, std::int64_t point) {
  return fmt::format("{}/points/{:06}.h5", folder, point);
}

RowsFound rows_found(const Sweep& sweep, const std::string& folder, const std::string& version) {
  const auto points = static_cast<std::size_t>(sweep.points());
  RowsFound found{std::vector<std::uint8_t>(points, 0), std::vector<std::uint8_t>(points, 0), {}};
  results::SweepRows read = results::read_rows(folder, head_of(sweep, version));
  for (const results::SweepRow& row : read.rows) {
    if (row.point >= sweep.points() || row.identity != sweep.point(row.point).identity) continue;
    const auto code = static_cast<ExitCode>(row.code);
    if (code == ExitCode::io || code == ExitCode::internal) continue;  // may go better this time
    found.complete[static_cast<std::size_t>(row.point)] = 1;
    found.has_result[static_cast<std::size_t>(row.point)] = code == ExitCode::done ? 1 : 0;
  }
  found.damaged = std::move(read.damaged);
  return found;
}

ResultState result_state(const std::string& folder, std::int64_t point) {
  const std::string path = result_path(folder, point);
  if (!is_there(path)) return ResultState::absent;
  return results::is_whole_result(path) ? ResultState::whole : ResultState::damaged;
}

void remove_left_behind(const std::string& folder, Claims& claims) {
  if (!claims.has_locks()) return;
  std::error_code ignored;
  std::vector<fs::path> unfinished;
  for (const auto& entry : fs::directory_iterator(folder + "/points", ignored))
    if (entry.path().filename().string().find(".tmp-") != std::string::npos) unfinished.push_back(entry.path());
  for (const fs::path& file : unfinished) {
    const std::int64_t point = std::atoll(file.filename().c_str());
    if (!claims.claim(point)) continue;
    fs::remove(file, ignored);
    claims.release(point);
  }
}

RowFile::RowFile(const std::string& folder, const std::string& started) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string time = started;
  std::erase(time, ':');  // which is no part of a name on some file systems
  stem_ = fmt::format("{}/rows/{}-{}-{}", folder, time, host.data(), getpid());
}

RowFile::~RowFile() {
  if (file_ >= 0) ::close(file_);
}

/// Under a name that no file has: in containers, processes of one host and number may work on one folder.
void RowFile::open() {
  for (int number = 1; file_ < 0; ++number) {
    path_ = number == 1 ? stem_ + ".jsonl" : fmt::format("{}-{}.jsonl", stem_, number);
    file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
}

void RowFile::add(const results::SweepRow& row) {
  if (file_ < 0) open();
  struct stat before {};
  if (file_ < 0 || ::fstat(file_, &before) != 0)
    throw IoError("cannot write '" + one_line(path_) + "': " + std::strerror(errno));
  const std::string line = results::to_json(row) + "\n";
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t count = ::write(file_, line.data() + written, line.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      const std::string reason = std::strerror(errno);
      static_cast<void>(::ftruncate(file_, before.st_size));  // what is torn would spoil the next line
      throw IoError("cannot write '" + one_line(path_) + "': " + reason);
    }
    written += static_cast<std::size_t>(count);
  }
}

}  // namespace tessera::experiment::sweep
