#include "cost_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace cost {
namespace {

constexpr double picoseconds_per_second = 1e12;

}  // namespace

double peak_rate(const Operator& op, const machine::DeviceSpec& device) {
  const auto found = device.peak.find(op.datatype);
  if (found != device.peak.end()) return static_cast<double>(found->second.value()) / picoseconds_per_second;
  std::string known;
  for (const auto& peak : device.peak) known += (known.empty() ? "" : ", ") + peak.first;
  throw KeyError("workload.datatype",
                 fmt::format("device {} states no peak for datatype {} (operator \"{}\"); it has {}", device.name,
                             op.datatype, op.name, known));
}

double MemoryShares::of(OperatorKind kind) const {
  const double own = [&] {
    switch (kind) {
      case OperatorKind::gemm:
        return gemm;
      case OperatorKind::norm:
        return norm;
      case OperatorKind::softmax:
        return softmax;
      case OperatorKind::elementwise:
        return elementwise;
      case OperatorKind::fused:
        return fused;
      case OperatorKind::dropout:
        return dropout;
      case OperatorKind::reduction:
        return reduction;
      case OperatorKind::copy:
        return copy;
      case OperatorKind::embedding:
        return embedding;
      case OperatorKind::optimizer:
        return optimizer;
      case OperatorKind::attention:
      case OperatorKind::addition:
      case OperatorKind::host:
        return 0.0;
    }
    return 0.0;
  }();
  return own > 0 ? own : all;
}

double memory_time(const Operator& op, const machine::DeviceSpec& device, double share) {
  const double bytes = static_cast<double>(op.bytes_read) + static_cast<double>(op.bytes_written);
  return bytes * picoseconds_per_second / (static_cast<double>(device.memory_bandwidth.value()) * share);
}

double streaming_time(const Operator& op, const machine::DeviceSpec& device, const KernelParameters& kernels) {
  double longest = memory_time(op, device, kernels.of(op.kind));
  if (op.kind == OperatorKind::attention)
    longest = std::max(longest, kernels.flops_at_peak(op) / peak_rate(op, device));
  return longest + launch(op, kernels.kernel_floor);
}

double launch(const Operator& op, Time launch_overhead) {
  return op.kind == OperatorKind::addition ? 0 : static_cast<double>(launch_overhead);
}

OperatorParts parts(const CostModel& model, const Operator& op, const machine::DeviceSpec& device,
                    const KernelParameters& kernels) {
  if (op.kind == OperatorKind::host) return {op.host_time, 0, 0};
  if (is_empty(op)) return {};
  machine::DeviceSpec unlimited = device;
  unlimited.memory_bandwidth = BytesPerSecond{std::numeric_limits<std::int64_t>::max()};
  const Time beside = kernels.launch_overhead + (op.kind == OperatorKind::gemm ? 0 : kernels.kernel_floor);
  const Time start = round_up(launch(op, beside), op, device);
  const Time whole = model.time(op, device);
  const Time without = std::max<Time>(0, model.time(op, unlimited) - start);
  // Where memory decides, its part is what the model makes of it, with whatever it corrects by measured kernels.
  if (whole - start > without) return {without, whole - start, start};
  return {whole - start, std::min(whole - start, round_up(memory_time(op, device, kernels.of(op.kind)), op, device)),
          start};
}

Time ProductModel::time(const Operator& op, const machine::DeviceSpec& device) const {
  if (op.kind == OperatorKind::host) return op.host_time;
  if (is_empty(op)) return 0;
  if (op.kind == OperatorKind::gemm) return round_up(product_time(op, device) + launch_of(op), op, device);
  return round_up(streaming_time(op, device, kernels_) + launch_of(op), op, device);
}

OperatorParts ProductModel::parts(const Operator& op, const machine::DeviceSpec& device) const {
  if (op.kind != OperatorKind::gemm || is_empty(op)) return cost::parts(*this, op, device, kernels_);
  const Time start = round_up(launch_of(op), op, device), behind = time(op, device) - start;
  const ProductParts of = product_parts(op, device);
  const Time computing = std::min(behind, round_up(of.computing, op, device));
  if (behind > computing) return {computing, behind, start};
  return {behind, std::min(behind, round_up(of.traffic, op, device)), start};
}

Time round_up(double picoseconds, const Operator& op, const machine::DeviceSpec& device) {
  constexpr double most = 4e18;  // below 2^62
  const double whole = std::ceil(picoseconds);
  if (!(whole < most)) {
    const bool by_memory =
        op.flops == 0 || memory_time(op, device, 1) > static_cast<double>(op.flops) / peak_rate(op, device);
    throw KeyError(by_memory ? "machine.device.memory_bandwidth" : "machine.device.peak." + op.datatype,
                   fmt::format("operator \"{}\" takes more than 46 days on device {}: longer than can be simulated",
                               op.name, device.name));
  }
  return static_cast<Time>(whole);
}

}  // namespace cost

const std::vector<CostModelKind>& cost_model_kinds() {
  static const std::vector<CostModelKind> kinds = {roofline_kind(), tile_kind(), dataflow_kind(), predictor_kind()};
  return kinds;
}

std::unique_ptr<CostModel> make_cost_model(const config::Table& cost, config::Diagnostics& diagnostics,
                                           const Attachments& attached) {
  const std::vector<std::string> names = config::names_of(cost_model_kinds());
  const config::Value* value = cost.find("model");
  if (value == nullptr) {
    diagnostics.error(cost.where(), "missing key \"model\" in [cost], expected one of " + config::listed(names));
    return nullptr;
  }
  if (value->string() == nullptr) {
    diagnostics.error(value->where(),
                      "\"model\": expected one of " + config::listed(names) + ", not " + value->type_name());
    return nullptr;
  }
  for (const CostModelKind& kind : cost_model_kinds()) {
    if (kind.name == *value->string()) return kind.make(cost, attached, diagnostics);
  }
  diagnostics.error(value->where(), "\"model\": " + config::unknown("choice", *value->string(), names));
  return nullptr;
}

}  // namespace tessera::workload
