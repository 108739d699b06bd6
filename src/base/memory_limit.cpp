#include "tessera/base/memory_limit.hpp"

#include <sys/resource.h>

#include <fstream>
#include <utility>

namespace tessera {
namespace {

namespace fs = std::filesystem;

void lower(MemoryLimit& limit, std::int64_t bytes, const std::string& source) {
  if (bytes > 0 && bytes < limit.bytes) limit = {bytes, source};
}

/// The number that a file begins with; 0: none ("max", or no such file).
std::int64_t number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  return in >> number ? number : 0;
}

/// "MemTotal:       24683520 kB"
std::int64_t total_memory(const fs::path& root) {
  std::ifstream in(root / "proc/meminfo");
  std::string word;
  std::int64_t kibibytes = 0;
  while (in >> word) {
    if (word == "MemTotal:" && in >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

/// The limits of a control group and of all above it.
void lower_by_groups(MemoryLimit& limit, const fs::path& mount, const std::string& group, const char* file) {
  fs::path path = fs::path(group).relative_path();
  while (true) {
    lower(limit, number_in(mount / path / file), "the limit of its control group");
    if (path.empty()) return;
    path = path.parent_path();
  }
}

}  // namespace

MemoryLimit memory_of_computer(const fs::path& root) {
  MemoryLimit limit;
  lower(limit, total_memory(root), "its memory");
  std::ifstream groups(root / "proc/self/cgroup");  // hierarchy:controllers:group
  for (std::string line; std::getline(groups, line);) {
    const std::size_t hierarchy_end = line.find(':');
    const std::size_t controllers_end =
        line.find(':', hierarchy_end == std::string::npos ? hierarchy_end : hierarchy_end + 1);
    if (controllers_end == std::string::npos) continue;
    const std::string controllers = line.substr(hierarchy_end + 1, controllers_end - hierarchy_end - 1);
    const std::string group = line.substr(controllers_end + 1);
    if (controllers.empty()) {
      lower_by_groups(limit, root / "sys/fs/cgroup", group, "memory.max");
    } else if ((',' + controllers + ',').find(",memory,") != std::string::npos) {
      lower_by_groups(limit, root / "sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
    }
  }
  return limit;
}

MemoryLimit memory_of_process() {
  MemoryLimit limit;
  for (const auto& [resource, source] : {std::pair{RLIMIT_AS, "ulimit -v"}, std::pair{RLIMIT_DATA, "ulimit -d"}}) {
    rlimit values{};
    if (getrlimit(resource, &values) != 0 || values.rlim_cur == RLIM_INFINITY) continue;
    if (values.rlim_cur <= static_cast<rlim_t>(limit.bytes))
      lower(limit, static_cast<std::int64_t>(values.rlim_cur), source);
  }
  return limit;
}

}  // namespace tessera
