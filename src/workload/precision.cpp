#include "tessera/workload/precision.hpp"

#include "tessera/base/integers.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

std::string Precision::kept_weights(const std::string& datatype, bool training) const {
  if (weight_datatype != "same") return weight_datatype;
  return !training && product_datatype != "same" ? product_datatype : datatype;
}

std::vector<std::string> operand_datatypes() { return {"same", "fp8", "int8", "fp4"}; }

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
