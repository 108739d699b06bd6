// The cost models of src/workload/cost/, one file each, and what they share.
#pragma once

#include <cstdint>

#include "tessera/workload/operator.hpp"

namespace tessera::workload {

[[nodiscard]] CostModelKind roofline_kind();
[[nodiscard]] CostModelKind tile_kind();
[[nodiscard]] CostModelKind dataflow_kind();
[[nodiscard]] CostModelKind predictor_kind();

namespace cost {

/// Shares of the memory bandwidth that streaming kernels sustain. Each cost model has these keys.
struct MemoryShares {
  double all = 0;  ///< memory_efficiency: of kinds without a share of their own
  double gemm = 0, norm = 0, softmax = 0, elementwise = 0, fused = 0, dropout = 0, reduction = 0, copy = 0,
         embedding = 0, optimizer = 0;

  /// Of an operator of that kind. A collective's additions are `all`.
  [[nodiscard]] double of(OperatorKind kind) const;
};

/// The keys of the shares, for a cost model whose parameters derive from them.
template <class Parameters>
void add_memory_shares(config::Schema<Parameters>& schema) {
  const auto share = [&](const char* key, double Parameters::*member, const std::string& help) {
    return schema.number(key, member, help).at_least("0.01").at_most("1");
  };
  share("memory_efficiency", &Parameters::all, "fraction of the memory bandwidth that a streaming kernel sustains")
      .otherwise("1");
  const std::string default_is = "; memory_efficiency when absent";
  share("gemm_memory_efficiency", &Parameters::gemm, "the same of a GEMM's operands and results" + default_is)
      .optional();
  share("norm_memory_efficiency", &Parameters::norm, "the same of norms" + default_is).optional();
  share("softmax_memory_efficiency", &Parameters::softmax, "the same of softmax" + default_is).optional();
  share("elementwise_memory_efficiency", &Parameters::elementwise,
        "the same of single element-wise operations" + default_is)
      .optional();
  share("fused_memory_efficiency", &Parameters::fused,
        "the same of several in one kernel: bias and activation; bias, dropout and residual" + default_is)
      .optional();
  share("dropout_memory_efficiency", &Parameters::dropout, "the same of dropout on its own" + default_is).optional();
  share("reduction_memory_efficiency", &Parameters::reduction, "the same of sums over rows or columns" + default_is)
      .optional();
  share("copy_memory_efficiency", &Parameters::copy, "the same of copies and changes of layout" + default_is)
      .optional();
  share("embedding_memory_efficiency", &Parameters::embedding, "the same of looked-up rows" + default_is).optional();
  share("optimizer_memory_efficiency", &Parameters::optimizer, "the same of the optimizer's kernels" + default_is)
      .optional();
}

/// The keys of MemoryTraffic, for a cost model whose parameters derive from it.
template <class Parameters>
void add_memory_traffic(config::Schema<Parameters>& schema) {
  bool Parameters::*is_shared = &Parameters::is_shared;
  Bytes Parameters::*packet = &Parameters::packet;
  schema
      .template choice<bool>("memory_traffic", is_shared, {{"apart", false}, {"shared", true}},
                             "operators have the memory bandwidth for themselves; or what they and messages read and "
                             "write goes through one server a device")
      .otherwise("apart");
  schema.quantity("memory_packet", packet, "that each flow through that server moves before the next one")
      .at_least("1 B")
      .at_most("1 GiB")
      .otherwise("64 KiB");
}

/// Fused attention, for a cost model whose parameters derive from it.
struct AttentionRate {
  double attention_efficiency = 0;
  std::int64_t attention_ramp = 0;

  /// FLOP at peak that an attention operator takes as long as: each query is charged attention_ramp keys beside those
  /// that it sees, for what a row of blocks costs before, between and behind its products.
  [[nodiscard]] double flops_at_peak(const Operator& op) const;
};

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
}

/// The device's peak for the operator's datatype in FLOP/ps; none: KeyError that names those it has.
[[nodiscard]] double peak_rate(const Operator& op, const machine::DeviceSpec& device);
/// Time in ps that the operator's traffic takes at that share of the memory's bandwidth.
[[nodiscard]] double memory_time(const Operator& op, const machine::DeviceSpec& device, double share);
/// Time in ps to get the operator going: none for the additions of a collective, which run inside its kernel.
[[nodiscard]] double launch(const Operator& op, Time launch_overhead);
/// Parts of an operator, from the model's times on the device and on one whose memory takes no time; `share`: of the
/// memory's bandwidth, that such a kernel reaches.
[[nodiscard]] OperatorParts parts(const CostModel& model, const Operator& op, const machine::DeviceSpec& device,
                                  double share, Time launch_overhead);
/// Rounds up to whole picoseconds. More than simulated time can hold: KeyError.
[[nodiscard]] Time round_up(double picoseconds, const Operator& op, const machine::DeviceSpec& device);
[[nodiscard]] inline bool is_empty(const Operator& op) {
  return op.flops == 0 && op.bytes_read == 0 && op.bytes_written == 0;
}

}  // namespace cost
}  // namespace tessera::workload
