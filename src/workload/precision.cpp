#include "tessera/workload/precision.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

std::string Precision::kept_weight_datatype(const std::string& datatype, bool training) const {
  if (has_own_weights()) return name_of(weight_datatype);
  return !training && has_low_products(datatype) ? operand_datatype() : datatype;
}

const char* name_of(OperandType type) {
  switch (type) {
    case OperandType::same:
      return "same";
    case OperandType::fp8:
      return "fp8";
    case OperandType::int8:
      return "int8";
    case OperandType::fp4:
      return "fp4";
  }
  throw InternalError("operand type out of range");
}

namespace {

/// `block`: numbers that share a scale with Scaling::blocks.
std::int64_t bytes_with_scales(std::int64_t elements, const std::string& datatype, Scaling scaling,
                               std::int64_t block) {
  constexpr std::int64_t bits_a_byte = 8, of_mx = 32;
  const std::int64_t bits = bits_per_element(datatype);
  std::int64_t bytes = ceil_div(elements * bits, bits_a_byte);
  if (bits > bits_a_byte) return bytes;
  if (scaling == Scaling::blocks) bytes += 4 * ceil_div(elements, block);
  if (scaling == Scaling::mx) bytes += ceil_div(elements, of_mx);
  return bytes;
}

}  // namespace

std::int64_t operand_bytes(std::int64_t elements, const std::string& datatype, Scaling scaling) {
  return bytes_with_scales(elements, datatype, scaling, 128);
}

std::int64_t weight_operand_bytes(std::int64_t elements, const std::string& datatype, Scaling scaling) {
  return bytes_with_scales(elements, datatype, scaling, std::int64_t{128} * 128);
}

}  // namespace tessera::workload
