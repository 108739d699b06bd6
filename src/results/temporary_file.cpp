#include "temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "failure.hpp"
#include "tessera/base/error.hpp"

namespace tessera::results {
namespace {

namespace fs = std::filesystem;

constexpr std::array<int, 3> ending_signals = {SIGTERM, SIGINT, SIGHUP};

// A signal handler can reach nothing but static storage, hence this one exception to "no globals". Written only while
// no handler is installed; the handler itself calls async-signal-safe functions alone.
std::array<char, 4096> name_to_remove{};
std::array<struct sigaction, ending_signals.size()> previous{};
volatile std::sig_atomic_t signal_seen = 0;
volatile std::sig_atomic_t name_is_needed = 0;

void remove_and_pass_on(int signal) {
  const int interrupted_error = errno;
  signal_seen = 1;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    if (ending_signals[i] != signal) continue;
    const struct sigaction& before = previous[i];
    const bool ends_here = before.sa_handler == SIG_DFL;
    if (ends_here || name_is_needed == 0) unlink(name_to_remove.data());
    if (ends_here) {
      sigaction(signal, &before, nullptr);
      raise(signal);
    } else {
      before.sa_handler(signal);
    }
  }
  errno = interrupted_error;
}

/// While it lives, no ending signal is taken: one comes afterwards.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int signal : ending_signals) sigaddset(&ending, signal);
    pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

void install_handlers() {
  signal_seen = 0;
  name_is_needed = 0;
  struct sigaction action {};
  action.sa_handler = remove_and_pass_on;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) {
    sigaction(ending_signals[i], nullptr, &previous[i]);
    const bool takes_more_arguments = (previous[i].sa_flags & SA_SIGINFO) != 0;
    const bool is_ignored = !takes_more_arguments && previous[i].sa_handler == SIG_IGN;  // nohup's, for one
    if (!takes_more_arguments && !is_ignored) sigaction(ending_signals[i], &action, nullptr);
  }
}

void restore_handlers() {
  for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &previous[i], nullptr);
}

/// Where a link leads, which stays one when the file is replaced; any other name as it is.
std::string behind_link(const std::string& path) {
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return path;
  const fs::path target = fs::canonical(path, failed);
  return failed ? path : target.string();
}

std::string in_quotes(const fs::path& path) { return std::string("'").append(path.string()).append("'"); }

/// The nearest ancestor that is in the way, in words; empty when the parent is a directory.
std::string problem_of_parent(const fs::path& path) {
  std::error_code ignored;
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (fs::is_directory(parent, ignored)) return {};
  for (fs::path at = parent; !at.empty(); at = at.parent_path()) {
    if (fs::exists(at, ignored) && !fs::is_directory(at, ignored)) return in_quotes(at) + " is not a directory";
    if (at == at.root_path()) break;
  }
  return "there is no directory " + in_quotes(parent);
}

/// More files that kills have left behind than anybody leaves.
constexpr int most_names = 10'000;

/// Makes an empty file beside `path` under a name that no file had. The name by host and process may be taken: by a run
/// that was killed, and in containers, where processes of all have the same number, by one that lives. Failure.
std::string make_beside(const std::string& path) {
  const std::string first = temporary_name(path);
  for (int number = 1; number <= most_names; ++number) {
    std::string name = number == 1 ? first : first + "-" + std::to_string(number);
    const int file = ::open(name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);
    if (file >= 0) {
      ::close(file);
      return name;
    }
    if (errno != EEXIST) throw Failure(std::strerror(errno));
  }
  throw Failure("runs that were killed have left " + std::to_string(most_names) + " files there, such as " +
                in_quotes(first) + ": remove them");
}

/// Why what stands at `path` cannot be replaced although its folder takes new files; empty when it can.
std::string problem_of_replacing(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {};
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat open {};
    if (::fstat(standard, &open) == 0 && open.st_dev == file.st_dev && open.st_ino == file.st_ino)
      return standard == STDOUT_FILENO ? "standard output goes there" : "standard error goes there";
  }
  // One that nobody may change (EPERM) stays; one that this user may not write into (EACCES) can still be replaced.
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0 && (errno == EPERM || errno == EROFS)) return std::strerror(errno);
  if (descriptor >= 0) ::close(descriptor);
  struct stat folder {};
  const std::string parent = fs::path(behind_link(path)).parent_path().string();
  if (::stat(parent.empty() ? "." : parent.c_str(), &folder) != 0) return {};
  const uid_t user = geteuid();
  const bool is_others = user != 0 && user != file.st_uid && user != folder.st_uid;
  return (folder.st_mode & S_ISVTX) != 0 && is_others ? std::strerror(EPERM) : "";
}

/// Where there is no file yet. False, with errno, on any problem: EEXIST where there is one.
bool rename_to_new(const char* from, const char* to) {
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0) return true;
  if (errno != EINVAL && errno != ENOSYS) return false;
  // File systems that cannot: a second name is refused like a new one where there is a file.
  if (::link(from, to) == 0) {
    ::unlink(from);
    return true;
  }
  return errno == EPERM || errno == EOPNOTSUPP ? std::rename(from, to) == 0 : false;
}

bool is_same(const Replacing& a, const Replacing& b) {
  return a.exists == b.exists && a.device == b.device && a.inode == b.inode && a.changed_ns == b.changed_ns;
}

/// In the place of the one that was known. False, with errno, on any problem: EEXIST where another one is there.
bool rename_to_known(const char* from, const char* to, const Replacing& known) {
  if (!known.exists) return rename_to_new(from, to);
  // What is taken away is looked at only then: between a look and a rename another process could come.
  if (::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE) == 0) {
    if (is_same(what_stands_at(from), known)) return ::unlink(from) == 0;
    ::renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_EXCHANGE);
    errno = EEXIST;
    return false;
  }
  if (errno == ENOENT) return rename_to_new(from, to);
  if (errno != EINVAL && errno != ENOSYS) return false;
  if (is_same(what_stands_at(to), known)) return std::rename(from, to) == 0;
  errno = EEXIST;
  return false;
}

}  // namespace

Replacing what_stands_at(const std::string& path) {
  struct stat file {};
  if (::stat(path.c_str(), &file) != 0) return {false};
  constexpr std::int64_t second = 1'000'000'000;
  return {false, true, file.st_dev, file.st_ino, file.st_mtim.tv_sec * second + file.st_mtim.tv_nsec};
}

std::string why_not_writable(const std::string& path, bool replace) {
  std::error_code ignored;
  if (path.empty()) return "the name is empty";
  if (fs::is_directory(path, ignored)) return "it is a directory";
  if (path.back() == '/') return "a file name cannot end in '/'";
  if (const std::string problem = problem_of_parent(path); !problem.empty()) return problem;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored)) return "it is not a regular file";
  if (fs::is_symlink(path, ignored) && !fs::exists(path, ignored)) {
    return "it is a link to " + in_quotes(fs::read_symlink(path, ignored)) + ", which does not exist";
  }
  if (!replace && fs::exists(path, ignored)) return "it exists already (--force replaces it)";
  if (const std::string problem = problem_of_replacing(path); !problem.empty()) return problem;
  try {
    unlink(make_beside(path).c_str());
  } catch (const Failure& failure) {
    return failure.what();
  }
  return {};
}

std::string temporary_name(const std::string& path) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return behind_link(path) + ".tmp-" + host.data() + "-" + std::to_string(getpid());
}

TemporaryFile::TemporaryFile(const std::string& path) : owner_(true) {
  const WithoutSignals until_it_is_watched;
  name_ = make_beside(path);
  watch();
}

TemporaryFile::TemporaryFile(std::string name, bool owner) : name_(std::move(name)), owner_(owner) { watch(); }

void TemporaryFile::watch() const {
  name_to_remove.fill(0);
  std::strncpy(name_to_remove.data(), name_.c_str(), name_to_remove.size() - 1);
  install_handlers();
}

TemporaryFile::~TemporaryFile() {
  restore_handlers();
  if (owner_ && !name_.empty()) unlink(name_.c_str());
}

TemporaryFile::NameIsNeeded::NameIsNeeded() { name_is_needed = 1; }

TemporaryFile::NameIsNeeded::~NameIsNeeded() {
  name_is_needed = 0;
  if (signal_seen != 0) unlink(name_to_remove.data());
}

bool TemporaryFile::interrupted() { return signal_seen != 0; }

void TemporaryFile::become(const std::string& path, const Replacing& replacing) {
  const std::string target = behind_link(path);
  const bool renamed = replacing.is_anything ? std::rename(name_.c_str(), target.c_str()) == 0
                                             : rename_to_known(name_.c_str(), target.c_str(), replacing);
  if (!renamed && !replacing.is_anything && errno == EEXIST) {
    throw IoError("cannot write " + in_quotes(path) +
                  ": somebody else has written it meanwhile; what was to be there is " +
                  in_quotes(std::exchange(name_, {})));
  }
  if (!renamed) {
    throw IoError("cannot write " + in_quotes(path) + ": " +
                  (interrupted() || errno == ENOENT ? "interrupted by a signal (the temporary file is gone)"
                                                    : std::strerror(errno)));
  }
  name_.clear();
}

}  // namespace tessera::results
