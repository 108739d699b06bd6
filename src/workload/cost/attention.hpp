// Rates of fused attention, by the library that it comes from.
#pragma once

#include <string>
#include <vector>

#include "tessera/workload/operator.hpp"

namespace tessera::workload::cost {

/// How fast a library's kernels are on a device, for heads of one size.
struct AttentionKernels {
  std::string library;
  std::int64_t head_dim = 0;
  double efficiency = 0;  ///< fraction of peak over many keys
  std::int64_t ramp = 0;  ///< keys a query for which they reach half of that
};

/// Fused attention, for a cost model whose parameters derive from it.
struct AttentionRate {
  double attention_efficiency = 0;  ///< where attention_library has no kernels among attention_kernels
  std::int64_t attention_ramp = 0;  ///< there, too
  std::string attention_library;    ///< empty: the machine's own choice
  std::vector<AttentionKernels> attention_kernels;

  /// FLOP at peak that an attention operator takes as long as: each query is charged `ramp` keys beside those that it
  /// sees, for what a row of blocks costs before, between and behind its products.
  [[nodiscard]] double flops_at_peak(const Operator& op) const;

 private:
  /// Of the library, those whose heads are nearest in size, the smaller ones of two; nullptr: it has none.
  [[nodiscard]] const AttentionKernels* kernels_for(std::int64_t head_dim) const;
};

/// The libraries that are known by name. A machine need not have rates of each.
[[nodiscard]] const std::vector<std::string>& attention_libraries();
[[nodiscard]] const config::Schema<AttentionKernels>& attention_kernels_schema();

/// The keys, for a cost model whose parameters derive from AttentionRate.
template <class Parameters>
void add_attention(config::Schema<Parameters>& schema) {
  schema
      .number("attention_efficiency", &Parameters::attention_efficiency,
              "fraction of peak of fused attention over many keys")
      .at_least("0.01")
      .at_most("1")
      .otherwise("1");
  schema
      .integer("attention_ramp", &Parameters::attention_ramp,
               "keys a query for which fused attention reaches half of attention_efficiency")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  std::string Parameters::*library = &Parameters::attention_library;
  schema
      .choice("attention_library", library, attention_libraries(),
              "that fused attention comes from; of the software, so recipes say it. Its rates are those of "
              "attention_kernels; where it has none there, and when absent, attention_efficiency and attention_ramp")
      .optional();
  std::vector<AttentionKernels> Parameters::*kernels = &Parameters::attention_kernels;
  schema.tables("attention_kernels", kernels, attention_kernels_schema(), "rates of libraries on this device")
      .optional();
}

}  // namespace tessera::workload::cost
