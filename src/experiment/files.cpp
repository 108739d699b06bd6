// Finding and reading files.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/text.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace fs = std::filesystem;

namespace {

/// How long a pipe may say nothing, ms.
constexpr int patience = 10'000;

/// Closes a file when it goes out of scope.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void refuse(const fs::path& path, const std::string& what) {
  throw InputError(one_line(path.string()) + ": " + what);
}

[[noreturn]] void cannot_read(const fs::path& path) {
  throw IoError("cannot read '" + one_line(path.string()) + "': " + std::strerror(errno));
}

/// Devices such as /dev/zero never end, and sockets are no files at all. A pipe is one that ends: `<(...)`, /dev/stdin.
void check_kind(const fs::path& path, mode_t mode) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return;
  const char* kind = S_ISDIR(mode) ? "a directory" : S_ISSOCK(mode) ? "a socket" : "a device";
  refuse(path, std::string("is ") + kind + ", expected a file");
}

void wait_for_more(const fs::path& path, int file) {
  pollfd waiting{file, POLLIN, 0};
  const int ready = poll(&waiting, 1, patience);
  if (ready < 0 && errno != EINTR) cannot_read(path);
  if (ready == 0) refuse(path, "is a pipe from which nothing has come for 10 s, expected a file");
}

[[noreturn]] void refuse_length(const fs::path& path, std::size_t most_bytes) {
  refuse(path, "is longer than " + std::to_string(most_bytes >> 20U) + " MiB, the limit for an input");
}

std::string read_all(const fs::path& path, int file, std::size_t most_bytes) {
  std::string text;
  std::vector<char> piece(std::size_t{1} << 16);
  while (text.size() <= most_bytes) {
    const ssize_t count = ::read(file, piece.data(), piece.size());
    if (count == 0) return text;
    if (count > 0) {
      text.append(piece.data(), static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      wait_for_more(path, file);
    } else if (errno != EINTR) {
      cannot_read(path);
    }
  }
  refuse_length(path, most_bytes);
}

}  // namespace

std::optional<std::string> InputFiles::read(const fs::path& path, std::size_t most) {
  const auto known = texts_.find(path.string());
  if (known != texts_.end()) return known->second;
  if (kind_of(path) == none) return std::nullopt;
  if (is_closed_) throw InternalError("'" + path.string() + "' has not been read");
  const auto text = read_file(path, most);
  if (text) texts_.emplace(path.string(), *text);
  return text;
}

bool InputFiles::is_file(const fs::path& path) { return kind_of(path) == file; }

bool InputFiles::exists(const fs::path& path) { return kind_of(path) != none; }

int InputFiles::kind_of(const fs::path& path) {
  const auto known = kinds_.find(path.string());
  if (known != kinds_.end()) return known->second;
  if (is_closed_) throw InternalError("'" + path.string() + "' has not been looked for");
  struct stat facts {};
  // What cannot be looked at exists: reading it says why it cannot be read.
  const bool is_there = ::stat(path.c_str(), &facts) == 0 || (errno != ENOENT && errno != ENOTDIR);
  return kinds_[path.string()] = !is_there ? none : S_ISREG(facts.st_mode) ? file : other;
}

std::uint64_t InputFiles::hash() const {
  std::string all;
  for (const auto& [path, text] : texts_) all += std::to_string(text.size()) + ' ' + text;
  return hash_of(all);
}

std::optional<std::string> read_file(const fs::path& path, std::size_t most_bytes) {
  // Without O_NONBLOCK a pipe that nobody writes into would be waited for, for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat facts {};
  if (file.number() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    if (errno == ENXIO && ::stat(path.c_str(), &facts) == 0) check_kind(path, facts.st_mode);
    cannot_read(path);
  }
  if (::fstat(file.number(), &facts) != 0) cannot_read(path);
  check_kind(path, facts.st_mode);
  if (S_ISREG(facts.st_mode) && static_cast<std::uintmax_t>(facts.st_size) > most_bytes)
    refuse_length(path, most_bytes);
  std::string text = read_all(path, file.number(), most_bytes);
  if (text.empty() && S_ISFIFO(facts.st_mode)) refuse(path, "is a pipe into which nobody writes, expected a file");
  return text;
}

std::vector<fs::path> input_folders() {
  std::vector<fs::path> folders;
  if (const char* variable = std::getenv("TESSERA_INPUTS")) {
    std::istringstream list(variable);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) folders.emplace_back(folder);
    }
    return folders;
  }
  std::array<char, PATH_MAX> program{};
  if (readlink("/proc/self/exe", program.data(), program.size() - 1) > 0) {
    folders.push_back(fs::path(program.data()).parent_path().parent_path() / "share" / "tessera" / "inputs");
  }
  return folders;
}

}  // namespace tessera::experiment
