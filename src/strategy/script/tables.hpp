// The tables of a script as they are read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"

namespace tessera::strategy::script {

/// [[strategy.group]]
struct GroupTable {
  std::string name;
  std::int64_t size = 0;  ///< 0: all devices of the list are one group
  std::int64_t stride = 1;
};

/// [[strategy.step]] and [[strategy.block.step]]. Which keys an op takes, and which it needs, stands in ops.cpp.
struct StepTable {
  std::string op;
  std::string label, activity, group, algorithm, block, datatype, memory;
  int stream = 0;
  std::int64_t repeat = 1;
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  double flops = 0;
  std::int64_t read = 0, write = 0;
  std::int64_t time = 0;  ///< ps
  std::int64_t peer = 0, shift = 0, channel = 0;
  std::int64_t bytes = 0, element = 2, root = 0;
  std::vector<std::int64_t> shares;
  std::int64_t event = 0, count = 1;
};

/// [[strategy.block]]
struct BlockTable {
  std::string name;
  std::vector<StepTable> steps;
};

/// [strategy]
struct ScriptTable {
  std::vector<GroupTable> groups;
  std::vector<BlockTable> blocks;
  std::vector<StepTable> steps;
};

[[nodiscard]] const config::Schema<GroupTable>& group_schema();
[[nodiscard]] const config::Schema<StepTable>& step_schema();
[[nodiscard]] const config::Schema<BlockTable>& block_schema();
[[nodiscard]] const config::Schema<ScriptTable>& script_schema();

}  // namespace tessera::strategy::script
