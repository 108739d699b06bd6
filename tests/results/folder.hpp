// A folder for the files of one test.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace tessera::results::sample {

/// Vanishes with the test.
struct Folder {
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-results-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (std::filesystem::path(path) / name).string();
  }
  std::string path;
};

}  // namespace tessera::results::sample
