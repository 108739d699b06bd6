// What software stacks do differently from Megatron-LM of 2022 in a layer, and what they run besides.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/base/config.hpp"
#include "tessera/workload/operator.hpp"
#include "tessera/workload/precision.hpp"

namespace tessera::workload {

/// Cross entropy of the logits, whose columns are cut over the tensor ranks.
enum class Loss {
  vocabulary_parallel,  ///< Megatron-LM: single operations on each rank's columns in FP32
  compiled,             ///< Megatron core's fused cross entropy: the same, those between two sums in one kernel
  gathered,             ///< all logits gathered by each rank, then PyTorch's single operations on all of them
  fused,                ///< FlashAttention's: one kernel each way, which reads logits in their own datatype
};

/// Kernels of the QKV projection's bias beside those of its products.
enum class BiasKernels {
  both,      ///< one adds it, one sums its gradient
  gradient,  ///< the product adds it (PyTorch's linear layer)
  none,      ///< the products do both (Transformer Engine)
};

/// [[workload.operations]]: kernels that run behind a section besides, each of which moves so many bytes for each
/// element.
struct AddedOperation {
  std::string name;
  std::string section;               ///< of section_names, or "embedding", "loss"
  std::string replaces;              ///< an operator of the section that is not there then; empty: none
  std::string width = "hidden";      ///< whose columns count, of operation_widths()
  std::string tokens = "all";        ///< or "own": under sequence parallelism those of the rank
  std::vector<std::string> with;     ///< of operation_conditions(): all of these hold, or it does not run
  std::vector<std::string> without;  ///< nor where one of these holds
  Bytes forward{}, backward{};       ///< read and written for an element
  std::int64_t forward_kernels = 1, backward_kernels = 1;
  OperatorKind kind = OperatorKind::elementwise;
};
[[nodiscard]] const config::Schema<AddedOperation>& operation_schema();
/// What cannot be meant; empty: nothing.
[[nodiscard]] std::string problem_of(const AddedOperation& operation);

/// What stacks do differently; each at what Megatron-LM of 2022 does.
struct Stack : Precision {
  Loss loss = Loss::vocabulary_parallel;
  BiasKernels qkv_bias_kernels = BiasKernels::both;
  bool separate_gate = false;   ///< the two column-parallel products of a gated MLP are linear layers of their own
  bool single_experts = false;  ///< products of experts one after another; false: one grouped kernel for all of a rank
  std::vector<AddedOperation> operations;
};

}  // namespace tessera::workload
