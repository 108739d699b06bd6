#include "network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "../cost_models.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload::predictor {
namespace {

constexpr const char* kind = "predictor of products";
/// Predictions stay within this factor of the bound: a network that is asked for what it has never seen.
constexpr double most_over_bound = 1e4;

/// How much of what it occupies a side fills, where it is cut into pieces of `grain`.
float filled(std::int64_t side, std::int64_t grain) {
  const std::int64_t pieces = (side + grain - 1) / grain;
  return static_cast<float>(side) / static_cast<float>(pieces * grain);
}

/// From 1 to 2^16 it is between -1 and 1.
float log_of(double size) { return static_cast<float>(std::log2(size) / 8 - 1); }

}  // namespace

std::string basis_text(const Basis& basis, const std::string& datatype) {
  const machine::DeviceSpec& device = *basis.device;
  const machine::ArraySpec& array = *device.array;
  const auto peak = device.peak.find(datatype);
  return fmt::format(
      "{} x {} cores of {} x {} MACs at {}, {} in {} banks of {} B, links of {} B, {} {}, memory {} x {}",
      array.columns, array.rows, array.pe_columns, array.pe_rows,
      config::format_quantity(device.clock, config::Unit::frequency),
      config::format_quantity(array.sram.value(), config::Unit::bytes), array.banks, array.bank_bytes, array.link_bytes,
      datatype, peak == device.peak.end() ? "" : config::format_quantity(peak->second.value(), config::Unit::compute),
      config::format_quantity(device.memory_bandwidth.value(), config::Unit::bandwidth), basis.memory_share);
}

double bound(const Basis& basis, const Operator& op) {
  return std::max(static_cast<double>(op.flops) / cost::peak_rate(op, *basis.device),
                  cost::memory_time(op, *basis.device, basis.memory_share));
}

void add_features(const Basis& basis, const Operator& op, std::vector<float>& to) {
  const machine::ArraySpec& array = *basis.device->array;
  const double arithmetic = static_cast<double>(op.flops) / cost::peak_rate(op, *basis.device);
  const double memory = cost::memory_time(op, *basis.device, basis.memory_share);
  for (const std::int64_t size : {op.batch, op.m, op.n, op.k}) to.push_back(log_of(static_cast<double>(size)));
  to.push_back(static_cast<float>(std::log2(arithmetic / memory) / 8));
  to.push_back(log_of(arithmetic * 1e-4));
  to.push_back(log_of(memory * 1e-4));
  const std::array<std::int64_t, 4> grains{array.pe_rows, array.pe_columns, array.pe_rows * array.rows,
                                           array.pe_columns * array.columns};
  for (const std::int64_t side : {op.m, op.n, op.k})
    for (const std::int64_t grain : grains) to.push_back(2 * filled(side, grain) - 1);
}

const learning::PerceptronLayout& layout() {
  static const learning::PerceptronLayout layout({features, 64, 64, 1});
  return layout;
}

Tensors data_of(const std::vector<float>& weights, const std::string& basis, const std::string& datatype) {
  Tensors data;
  data.notes = {{"kind", kind}, {"trained_for", basis}, {"datatype", datatype}};
  learning::add_tensors(layout(), weights, data);
  return data;
}

std::vector<float> weights_of(const Tensors& data, const std::string& basis) {
  if (data.note("kind") != kind) throw InputError("it is no predictor of products (tessera train)");
  if (data.note("trained_for") != basis)
    throw InputError(
        fmt::format("the predictor was trained for {}; this device has {}", data.note("trained_for"), basis));
  return learning::values_of(data, layout(), "predictor");
}

std::vector<double> predicted(const std::vector<float>& weights, const Basis& basis,
                              const std::vector<Operator>& operators) {
  std::vector<float> values;
  for (const Operator& op : operators) add_features(basis, op, values);
  const learning::Kernels<float> kernels = learning::baseline_kernels<float>();
  learning::PerceptronPass<float> pass;
  learning::Perceptron<float>(layout(), kernels).forward(weights.data(), values, pass);
  std::vector<double> times;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const double over = std::clamp(std::exp(static_cast<double>(pass.result()[i])), 1.0, most_over_bound);
    times.push_back(over * bound(basis, operators[i]));
  }
  return times;
}

}  // namespace tessera::workload::predictor
