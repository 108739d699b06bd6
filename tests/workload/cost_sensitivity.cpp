// Constants of an A100's calibration that are neither on a data sheet nor fitted: nothing depends on them
// (docs/cost-models.md#constants).
#include <map>

#include "cost_devices.hpp"

namespace tessera::workload {
namespace {

/// Forward and backward pass of one layer on an A100, t = 8, sequence parallelism, selective recomputation.
double layer_time(const std::string& file, std::int64_t micro_batch, std::map<std::string, std::string> keys) {
  keys.insert({{"matrix_efficiency", "0.85"},
               {"memory_efficiency", "0.85"},
               {"operand_bytes_per_clock", "47"},
               {"tile_latency", "\"330 ns\""},
               {"launch_overhead", "\"900 ns\""}});
  std::string text = "model = \"tile\"\n";
  for (const auto& [key, value] : keys) text += key + " = " + value + "\n";
  const auto cost = cost_model(text);
  const machine::DeviceSpec device = a100();
  const LayerOperators layer = transformer_layer(model_named(file), shape_of_paper(micro_batch, true));
  Time total = 0;
  const auto add = [&](const std::vector<Operator>& operators) {
    for (const Operator& op : operators) total += cost->time(op, device);
  };
  for (const OperatorSet* section : layer.in_order()) {
    add(section->forward);
    add(section->input_gradient);
    add(section->weight_gradient);
  }
  add(layer.attention_core.forward);
  return static_cast<double>(total);
}

/// Change against those values, in percent.
double change(const std::string& file, std::int64_t micro_batch, const std::string& key, const std::string& value) {
  return 100 * (layer_time(file, micro_batch, {{key, value}}) / layer_time(file, micro_batch, {}) - 1);
}

TEST_CASE("half and double of each constant") {
  for (const auto& [file, micro_batch] : {std::pair{"megatron-22b.toml", 4}, std::pair{"megatron-175b.toml", 1},
                                          std::pair{"megatron-530b.toml", 1}, std::pair{"megatron-1t.toml", 1}}) {
    CAPTURE(file);
    CHECK(std::abs(change(file, micro_batch, "tile_latency", "\"165 ns\"")) < 0.1);
    CHECK(std::abs(change(file, micro_batch, "tile_latency", "\"660 ns\"")) < 0.1);
    CHECK(std::abs(change(file, micro_batch, "launch_overhead", "\"450 ns\"")) < 0.5);
    CHECK(std::abs(change(file, micro_batch, "launch_overhead", "\"1800 ns\"")) < 0.5);
    CHECK(change(file, micro_batch, "operand_bytes_per_clock", "94") > -2);
    CHECK(change(file, micro_batch, "operand_bytes_per_clock", "94") <= 0);
  }
}

}  // namespace
}  // namespace tessera::workload
