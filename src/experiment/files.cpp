// Finding and reading files.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tessera/base/error.hpp"
#include "tree.hpp"

namespace tessera::experiment {
namespace fs = std::filesystem;

std::optional<std::string> read_file(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return std::nullopt;
  if (fs::is_directory(path, ignored)) throw InputError(path.string() + ": is a directory, expected a file");
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), {});
  if (!file || file.bad()) throw IoError("cannot read '" + path.string() + "': " + std::strerror(errno));
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
