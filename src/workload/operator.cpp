#include "tessera/workload/operator.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

const std::vector<std::pair<std::string, std::int64_t>>& datatypes() {
  static const std::vector<std::pair<std::string, std::int64_t>> known = {{"fp32", 4}, {"tf32", 4}, {"fp16", 2},
                                                                          {"bf16", 2}, {"fp8", 1},  {"int8", 1}};
  return known;
}

/// Its FLOP, and its bytes at 4 a number, have to fit into 63 bits.
void refuse_too_large(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const auto real = [](std::int64_t count) { return static_cast<double>(count); };
  const double multiplications = real(batch) * real(m) * real(n) * real(k);
  const double numbers = real(batch) * (real(m) * real(k) + real(k) * real(n) + real(m) * real(n));
  if (2 * multiplications < 9e18 && 32 * numbers < 9e18) return;
  throw KeyError("workload", "operator \"" + name + "\" of more than 9 x 10^18 FLOP or bytes: larger than is counted");
}

}  // namespace

void CostModel::check(const machine::DeviceSpec&, const std::string&) const {}

double CostModel::memory_share(OperatorKind) const { return 1; }

const char* name_of(OperatorKind kind) {
  switch (kind) {
    case OperatorKind::gemm:
      return "gemm";
    case OperatorKind::attention:
      return "attention";
    case OperatorKind::norm:
      return "norm";
    case OperatorKind::elementwise:
      return "elementwise";
    case OperatorKind::fused:
      return "fused";
    case OperatorKind::dropout:
      return "dropout";
    case OperatorKind::softmax:
      return "softmax";
    case OperatorKind::embedding:
      return "embedding";
    case OperatorKind::optimizer:
      return "optimizer";
    case OperatorKind::reduction:
      return "reduction";
    case OperatorKind::addition:
      return "addition";
    case OperatorKind::copy:
      return "copy";
    case OperatorKind::host:
      return "host";
  }
  throw InternalError("operator kind out of range");
}

const std::vector<std::string>& datatype_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const auto& datatype : datatypes()) result.push_back(datatype.first);
    return result;
  }();
  return names;
}

std::int64_t bytes_per_element(const std::string& datatype) {
  const auto& known = datatypes();
  const auto found = std::find_if(known.begin(), known.end(), [&](const auto& d) { return d.first == datatype; });
  if (found != known.end()) return found->second;
  std::string choices;
  for (const std::string& name : datatype_names()) choices += (choices.empty() ? "" : ", ") + name;
  throw InputError("unknown datatype \"" + datatype + "\"; choices are " + choices);
}

std::int64_t bits_per_element(const std::string& datatype) {
  constexpr std::int64_t bits_of_fp4 = 4, bits_a_byte = 8;
  return datatype == "fp4" ? bits_of_fp4 : bits_a_byte * bytes_per_element(datatype);
}

Operator gemm(const std::string& name, std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k,
              const std::string& datatype) {
  const std::int64_t bits = bits_per_element(datatype);
  refuse_too_large(name, batch, m, n, k);
  Operator op;
  op.kind = OperatorKind::gemm;
  op.name = name;
  op.datatype = datatype;
  op.batch = batch;
  op.m = m;
  op.n = n;
  op.k = k;
  op.flops = 2 * batch * m * n * k;
  constexpr std::int64_t bits_a_byte = 8;
  op.bytes_read = ceil_div(bits * batch * (m * k + k * n), bits_a_byte);
  op.bytes_written = ceil_div(bits * batch * m * n, bits_a_byte);
  return op;
}

Operator streaming(OperatorKind kind, const std::string& name, Bytes bytes_read, Bytes bytes_written,
                   const std::string& datatype) {
  Operator op;
  op.kind = kind;
  op.name = name;
  op.datatype = datatype;
  op.bytes_read = bytes_read.value();
  op.bytes_written = bytes_written.value();
  return op;
}

Operator host_pause(const std::string& name, Duration duration) {
  Operator op;
  op.kind = OperatorKind::host;
  op.name = name;
  op.host_time = duration.value();
  return op;
}

OperatorParts CostModel::parts(const Operator& op, const machine::DeviceSpec& device) const {
  const Time whole = time(op, device);
  if (op.kind == OperatorKind::host) return {whole, 0, 0};
  const Bytes moved{op.bytes_read + op.bytes_written};
  return {whole, std::min(whole, duration_at_rate(moved, device.memory_bandwidth)), 0};
}

std::optional<DataTable> CostModel::table(const std::vector<Operator>&, const machine::DeviceSpec&) const {
  return std::nullopt;
}

std::string CostModel::worked_out(bool) const { return {}; }

bool CostModel::learn(const std::string& text) { return text.empty(); }

std::int64_t total_flops(const std::vector<Operator>& operators) {
  return std::accumulate(operators.begin(), operators.end(), std::int64_t{0},
                         [](std::int64_t sum, const Operator& op) { return sum + op.flops; });
}

}  // namespace tessera::workload
