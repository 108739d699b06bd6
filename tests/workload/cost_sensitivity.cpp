// Constants of the tile model that are neither on a data sheet nor fitted: nothing depends on them
// (docs/models.md#constants).
#include "cost_devices.hpp"

namespace tessera::workload {
namespace {

/// Forward and backward pass of one layer on an A100, t = 8, sequence parallelism, selective recomputation.
double layer_time(const std::string& file, std::int64_t micro_batch, const std::string& keys) {
  const auto cost = cost_model("model = \"tile\"\n" + keys);
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

/// Change against the defaults, in percent.
double change(const std::string& file, std::int64_t micro_batch, const std::string& keys) {
  return 100 * (layer_time(file, micro_batch, keys) / layer_time(file, micro_batch, "") - 1);
}

TEST_CASE("half and double of each constant") {
  for (const auto& [file, micro_batch] : {std::pair{"megatron-22b.toml", 4}, std::pair{"megatron-175b.toml", 1},
                                          std::pair{"megatron-530b.toml", 1}, std::pair{"megatron-1t.toml", 1}}) {
    CAPTURE(file);
    CHECK(std::abs(change(file, micro_batch, "tile_latency = \"165 ns\"\n")) < 0.1);
    CHECK(std::abs(change(file, micro_batch, "tile_latency = \"660 ns\"\n")) < 0.1);
    CHECK(std::abs(change(file, micro_batch, "launch_overhead = \"450 ns\"\n")) < 0.5);
    CHECK(std::abs(change(file, micro_batch, "launch_overhead = \"1800 ns\"\n")) < 0.5);
    CHECK(change(file, micro_batch, "operand_bytes_per_clock = 94\n") > -2);
    CHECK(change(file, micro_batch, "operand_bytes_per_clock = 94\n") <= 0);
  }
}

}  // namespace
}  // namespace tessera::workload
