#include "tessera/workload/precision.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

std::string Precision::kept_weights(const std::string& datatype, bool training) const {
  if (has_own_weights()) return name_of(weight_datatype);
  return !training && has_low_products(datatype) ? products() : datatype;
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

std::int64_t operand_bytes(std::int64_t elements, const std::string& datatype, Scaling scaling) {
  constexpr std::int64_t bits_a_byte = 8;
  const std::int64_t bits = bits_per_element(datatype);
  std::int64_t bytes = ceil_div(elements * bits, bits_a_byte);
  if (bits > bits_a_byte) return bytes;
  if (scaling == Scaling::blocks) bytes += 4 * ceil_div(elements, std::int64_t{128});
  if (scaling == Scaling::mx) bytes += ceil_div(elements, std::int64_t{32});
  return bytes;
}

}  // namespace tessera::workload
