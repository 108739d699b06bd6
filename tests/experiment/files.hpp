// A folder of its own for each test, gone afterwards, and a machine to put into it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace tessera::test {

/// A machine file: four GPUs.
inline const std::string ring = R"([machine]
name = "ring"
[machine.device]
name = "gpu"
peak.fp16 = "100 TFLOP/s"
memory_bandwidth = "1 TB/s"
memory_capacity = "40 GB"
[machine.topology]
kind = "ring"
devices = 4
bandwidth = "100 GB/s"
latency = "500 ns"
)";

/// All devices sum up 1 MB.
inline const std::string one_all_reduce = R"([strategy]
name = "script"
[[strategy.step]]
op = "all-reduce"
group = "all"
bytes = "1 MB"
)";

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace tessera::test
