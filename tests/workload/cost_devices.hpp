// Devices and cost models for the tests of costs.
#pragma once

#include "models_from.hpp"

namespace tessera::workload {

/// 4 cores of 2 TFLOP/s at 1 GHz, 1 TB/s: round figures for answers by hand.
inline machine::DeviceSpec round_device() {
  machine::DeviceSpec device;
  device.name = "round";
  device.peak = {{"fp16", FlopPerSecond{8'000'000'000'000}}, {"bf16", FlopPerSecond{8'000'000'000'000}}};
  device.memory_bandwidth = BytesPerSecond{1'000'000'000'000};
  device.memory_capacity = Bytes{1'000'000'000};
  device.cores = 4;
  device.clock = 1'000'000'000;
  device.array = machine::ArraySpec{2, 2, 40, 25, Bytes{1'000'000}, 8, 64, 64};
  return device;
}

/// NVIDIA A100 SXM 80 GB: data sheet 2022 (peak, memory), white paper 2020 (108 SMs, 1410 MHz).
inline machine::DeviceSpec a100() {
  machine::DeviceSpec device;
  device.name = "A100";
  device.peak = {{"fp16", FlopPerSecond{312'000'000'000'000}}, {"fp32", FlopPerSecond{19'500'000'000'000}}};
  device.memory_bandwidth = BytesPerSecond{2'039'000'000'000};
  device.memory_capacity = Bytes{80'000'000'000};
  device.cores = 108;
  device.clock = 1'410'000'000;
  // Tensor cores: 1,024 FP16 multiply-adds a clock and SM; as if SMs stood on a mesh with the L2 cut into parts.
  device.array = machine::ArraySpec{12, 9, 32, 32, Bytes{500'000}, 8, 128, 128};
  return device;
}

/// A 3 x 3 window over an image of 8 x 8 with a row of padding, 4 channels to 6, two samples.
inline Operator small_convolution() {
  Operator op = gemm("conv", 1, 2 * 8 * 8, 6, 4 * 9, "fp16");
  op.convolution = {8, 8, 8, 8, 3, 3, 1, 1, 1};
  op.bytes_read = 2 * (2 * 4 * 64 + 6 * 36);
  return op;
}

/// The model of a [cost] table with these keys.
inline std::unique_ptr<CostModel> cost_model(const std::string& toml) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml(toml, "c.toml", diagnostics);
  REQUIRE(table != nullptr);
  auto model = make_cost_model(*table, diagnostics);
  REQUIRE(diagnostics.errors() == Names{});
  REQUIRE(model != nullptr);
  return model;
}

inline Names cost_errors(const std::string& toml) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml(toml, "c.toml", diagnostics);
  REQUIRE(table != nullptr);
  const auto model = make_cost_model(*table, diagnostics);
  CHECK(model == nullptr);
  return diagnostics.errors();
}

}  // namespace tessera::workload
