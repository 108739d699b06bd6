// What was worked out for a device, once for each operator.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "mapping.hpp"

namespace tessera::workload::dataflow {

/// What a time depends on.
struct Question {
  std::int64_t batch = 0, m = 0, n = 0, k = 0, bytes_read = 0, bytes_written = 0;
  std::string datatype;
  Convolution convolution;
  double clock = 0, memory = 0, link = 0, bank = 0;  ///< Rates
  machine::ArraySpec array;

  auto operator<=>(const Question&) const = default;
};
[[nodiscard]] Question question_of(const Operator& op, const Rates& rates);

/// The fastest mapping of each dataflow that the operator can have, in their order.
struct Answer {
  struct Of {
    std::size_t dataflow = 0;  ///< index into dataflows()
    Found found;
  };
  std::vector<Of> all;
  std::size_t best = 0;

  [[nodiscard]] const Of& taken() const { return all[best]; }
};

class Table {
 public:
  /// Works it out where nobody has asked before. KeyError where no tile fits into the SRAM.
  const Answer& answer(const Operator& op, const Rates& rates);

  /// All that is known, for a file, or without what was learnt; with a hash by which one that was cut off or changed is
  /// recognised.
  [[nodiscard]] std::string text(bool own_alone) const;
  /// Learns what such a text has. False: it is none, and nothing is learnt.
  bool learn(const std::string& text);

 private:
  struct Known {
    Answer answer;
    bool is_learnt = false;
  };
  std::map<Question, Known> known_;
};

}  // namespace tessera::workload::dataflow
