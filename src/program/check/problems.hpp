// The parts of check_program (program.hpp), one file a concern, and how they report.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "block_traffic.hpp"

namespace tessera::program {

/// Problems of one concern. A mistake in shared code shows on thousands of devices: the first ones are named, the rest
/// is counted.
class Problems {
 public:
  void add(std::string text) {
    if (std::find(texts_.begin(), texts_.end(), text) != texts_.end()) return;
    if (texts_.size() < limit)
      texts_.push_back(std::move(text));
    else
      ++more_;
  }
  [[nodiscard]] bool empty() const { return texts_.empty(); }
  /// Moves the texts to the end of `all`.
  void append_to(std::vector<std::string>& all);

 private:
  static constexpr std::size_t limit = 8;
  std::vector<std::string> texts_;
  std::size_t more_ = 0;
};

/// Indexes in the code, recursion, bindings of devices, members of groups. The other checks need a program without
/// these problems.
[[nodiscard]] Problems check_code(const Program& program);
[[nodiscard]] Problems check_groups(const Program& program, const machine::Machine& machine);
[[nodiscard]] Problems check_bindings(const Program& program, const machine::Machine& machine, ProgramTraffic& traffic);

[[nodiscard]] Problems check_channels(const Program& program, ProgramTraffic& traffic);
[[nodiscard]] Problems check_events(const Program& program, ProgramTraffic& traffic);
[[nodiscard]] Problems check_collectives(const Program& program, const machine::Machine& machine,
                                         ProgramTraffic& traffic);
[[nodiscard]] Problems check_kernels(const Program& program, ProgramTraffic& traffic);
[[nodiscard]] Problems check_memory(const Program& program);
[[nodiscard]] Problems check_ways(const Program& program, const machine::Machine& machine, ProgramTraffic& traffic);

/// "[0..7]", "[0, 8, .. 56]", "[4, 1, 3]".
[[nodiscard]] std::string group_text(const Group& group);
/// "4 MB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);
/// "once", "3 times".
[[nodiscard]] std::string times_text(std::int64_t count);

}  // namespace tessera::program
