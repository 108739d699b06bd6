// Products whose operands have fewer bits than activations: training in FP8 as stacks do it, quantised inference.
#pragma once

#include <cstdint>
#include <string>

namespace tessera::workload {

/// Datatypes that operands and weights may have beside the workload's.
enum class OperandType : std::uint8_t { same, fp8, int8, fp4 };
[[nodiscard]] const char* name_of(OperandType type);

/// Where the scales of such operands come from.
enum class Scaling {
  delayed,  ///< one a tensor, from its largest numbers in iterations before (Transformer Engine, DelayedScaling)
  current,  ///< one a tensor, from itself: it is read once more before it is cast (Transformer Engine,
            ///< Float8CurrentScaling)
  blocks,   ///< one of 4 B for 128 numbers in a row, of weights for 128 x 128 (DeepSeek-AI 2024, arXiv 2412.19437,
            ///< section 3.3.2)
  mx,       ///< one of 1 B for 32 numbers in a row (OCP Microscaling Formats 1.0)
};

/// What linear layers of a model's layers compute and keep in. Attention, norms, router, logits, loss, what is between
/// layers, and messages but for gathered operands are of the workload's datatype.
struct Precision {
  OperandType product_datatype = OperandType::same;  ///< of both operands of their products
  OperandType weight_datatype = OperandType::same;   ///< that their weights are kept in; same: the workload's datatype
                                                     ///< in training, that of products otherwise
  Scaling scaling = Scaling::delayed;
  bool gathers_operands = false;  ///< with sequence parallelism operands are cast before they are gathered

  [[nodiscard]] bool has_low_products(const std::string& datatype) const {
    return product_datatype != OperandType::same && operand_datatype() != datatype;
  }
  [[nodiscard]] bool has_own_weights() const { return weight_datatype != OperandType::same; }
  /// The name of the datatype of operands, where they have their own.
  [[nodiscard]] std::string operand_datatype() const { return name_of(product_datatype); }
  /// The datatype that weights of linear layers are kept in.
  [[nodiscard]] std::string kept_weight_datatype(const std::string& datatype, bool training) const;
};

/// B of so many numbers of an activation, or of its gradient, with their scales, where these are a part of them.
[[nodiscard]] std::int64_t operand_bytes(std::int64_t elements, const std::string& datatype, Scaling scaling);
/// The same of weights. Of blocks, that those at an edge have fewer numbers is not counted.
[[nodiscard]] std::int64_t weight_operand_bytes(std::int64_t elements, const std::string& datatype, Scaling scaling);

}  // namespace tessera::workload
