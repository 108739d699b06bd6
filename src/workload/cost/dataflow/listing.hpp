// What a run says of its operators: each dataflow that one can have, and which of them was taken.
#pragma once

#include <vector>

#include "table.hpp"
#include "tessera/base/data_table.hpp"

namespace tessera::workload::dataflow {

/// A row of the table `dataflow`.
struct Listed {
  const Operator* op = nullptr;
  const Answer::Of* of = nullptr;  ///< null: the operator streams through the device's memory
  bool is_taken = true;
  Time time = 0, least = 0;  ///< least: as peak and memory bandwidth allow
};
[[nodiscard]] DataTable listing(const std::vector<Listed>& rows, const machine::ArraySpec& array);

}  // namespace tessera::workload::dataflow
