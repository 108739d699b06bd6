// What a strategy hands back: what its search found, and the program.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/program/program.hpp"
#include "tessera/program/search/fastest.hpp"
#include "tessera/program/search/tried.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::strategy {

/// What a search leaves behind.
struct Searched {
  /// Keys of the [strategy] table that make what was found come out again without a search; null: nothing was open.
  std::shared_ptr<config::Table> found;
  std::vector<std::pair<std::string, Time>> predicted;   ///< of the iteration ("all") and of parts of it
  std::vector<program::search::Tried> table;             ///< what it tried, in its order
  std::string nothing_fits;                              ///< why there is no `found`; empty: there is, or all was given
  bool is_timed = false;                                 ///< it went on for a time: what it tried is not repeatable
  std::vector<DataTable> tables = {};                    ///< as Plan::tables: of the search, whatever it finds
  std::string kernels = {};                              ///< which products its networks used: they decide last bits
  std::optional<program::search::FastestReport> report;  ///< where it is proven how far what was found is the fastest
  /// Choices for parts of a plan, and those of them that were struck out since another costs less beside any others.
  std::int64_t choices = 0, struck_out = 0;
};

/// A batch of requests that a plan serves.
struct Served {
  workload::Phase phase = workload::Phase::prompt;
  std::int64_t sequences = 0;      ///< of all replicas
  std::int64_t prompt = 0;         ///< tokens of a sequence before those that are made
  std::int64_t generated = 0;      ///< tokens that are made for a sequence; of a prompt alone 0
  std::int64_t largest_batch = 0;  ///< sequences of all replicas that fit into memory, cut alike; 0: none does
};

/// A program and what the summary says about it.
struct Plan {
  program::Program program;
  std::vector<std::pair<std::string, std::string>> description;  ///< "tensor parallel" -> "8"
  double model_flops = 0;     ///< FLOP of the iteration without recomputation (for model FLOPs utilisation); 0: none.
                              ///< double: 1T parameters times 6 million tokens is beyond 2^63
  double hardware_flops = 0;  ///< with recomputation
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;             ///< per iteration
  std::optional<Served> served = {};   ///< none in training
  std::vector<DataTable> tables = {};  ///< of the strategy's own, for result files: a dataset of its name each
};

}  // namespace tessera::strategy
