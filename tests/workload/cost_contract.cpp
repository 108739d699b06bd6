// What every cost model promises.
#include "predictor_files.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

Operator attention(std::int64_t heads, std::int64_t queries, std::int64_t keys) {
  Operator op = streaming(OperatorKind::attention, "attention", Bytes{4 * heads * keys * 64},
                          Bytes{2 * heads * queries * 64}, "fp16");
  op.batch = heads;
  op.m = queries;
  op.n = keys;
  op.k = 64;
  op.flops = 4 * heads * queries * keys * 64;
  return op;
}

/// Every kind of work, from nothing to a few seconds.
std::vector<Operator> samples() {
  std::vector<Operator> all = {gemm("one", 1, 1, 1, 1, "fp16"),
                               gemm("vector", 1, 1, 4096, 4096, "fp16"),
                               gemm("large", 1, 8192, 8192, 8192, "fp16"),
                               gemm("batch", 96, 2048, 2048, 128, "fp16"),
                               gemm("odd", 3, 129, 65, 31, "fp16"),
                               gemm("deep", 1, 64, 64, 1'000'000, "fp16"),
                               attention(32, 2048, 2048),
                               attention(32, 1, 4096)};
  for (const OperatorKind kind :
       {OperatorKind::norm, OperatorKind::elementwise, OperatorKind::fused, OperatorKind::dropout,
        OperatorKind::softmax, OperatorKind::embedding, OperatorKind::optimizer, OperatorKind::reduction,
        OperatorKind::addition, OperatorKind::copy}) {
    all.push_back(streaming(kind, name_of(kind), Bytes{1}, Bytes{0}, "fp16"));
    all.push_back(streaming(kind, name_of(kind), Bytes{1'000'000}, Bytes{500'000}, "fp32"));
    all.push_back(streaming(kind, name_of(kind), Bytes{2'000'000'000'000}, Bytes{7}, "fp16"));
  }
  return all;
}

/// Of a kind, with these keys; a predictor's file is made here, for that device.
std::unique_ptr<CostModel> model_of(const std::string& kind, const std::string& keys,
                                    const machine::DeviceSpec& device = a100()) {
  if (kind != "predictor") return cost_model("model = \"" + kind + "\"\n" + keys);
  config::Diagnostics diagnostics;
  return predictor_of(trained_on(HalfAgain(), device).data, keys, diagnostics);
}

TEST_CASE("contract of a cost model") {
  REQUIRE(cost_model_kinds().size() >= 3);
  for (const CostModelKind& kind : cost_model_kinds()) {
    CAPTURE(kind.name);
    const machine::DeviceSpec device = a100();
    const auto model = model_of(kind.name, "launch_overhead = \"0 s\"\n");
    const auto with_launch = model_of(kind.name, "launch_overhead = \"1 us\"\n");
    // A network serves the device that it was trained for, and nobody asks it to be monotonic.
    const bool is_formula = kind.name != "predictor";
    for (const Operator& op : samples()) {
      CAPTURE(op.name, op.bytes_read);
      const Time time = model->time(op, device);
      // Positive, the same each time, never shorter than peak and bandwidth allow.
      CHECK(time > 0);
      CHECK(model->time(op, device) == time);
      CHECK(time >= duration_at_rate(Bytes{op.bytes_read + op.bytes_written}, device.memory_bandwidth));
      CHECK(time >= duration_at_rate(Flop{op.flops}, device.peak.at("fp16")));
      // The additions of a collective run inside its kernel: memory time alone.
      const Time launch = op.kind == OperatorKind::addition ? 0 : microsecond;
      CHECK(with_launch->time(op, device) >= time + launch);
      if (op.kind == OperatorKind::addition) CHECK(with_launch->time(op, device) == time);
      if (!is_formula) continue;
      // More traffic takes at least as long.
      Operator more = op;
      more.bytes_read += 1'000'000'000;
      CHECK(model->time(more, device) >= time);
      // A device that is twice as fast in everything is never slower, and at most twice as fast.
      machine::DeviceSpec twice = device;
      for (auto& peak : twice.peak) peak.second *= 2;
      twice.memory_bandwidth *= 2;
      twice.clock *= 2;
      CHECK(model->time(op, twice) <= time);
      CHECK(2 * model->time(op, twice) + 1 >= time);
      // A cut into two halves along m takes at least as long in sum.
      if (op.kind == OperatorKind::gemm && op.m % 2 == 0) {
        const Operator half = gemm("half", op.batch, op.m / 2, op.n, op.k, op.datatype);
        CHECK(2 * model->time(half, device) >= time);
        CHECK(model->time(half, device) <= time);
      }
    }
    CHECK(model->time(Operator{}, device) == 0);
    CHECK(kind.schema().path() == "cost." + kind.name);
    CHECK(!kind.help.empty());
  }
}

TEST_CASE("a larger product takes longer") {
  for (const CostModelKind& kind : cost_model_kinds()) {
    CAPTURE(kind.name);
    const auto model = model_of(kind.name, "");
    Time before = 0;
    for (std::int64_t size = 64; size <= 16384; size *= 2) {
      const Time time = model->time(gemm("square", 1, size, size, size, "fp16"), a100());
      CHECK(time >= before);
      before = time;
    }
    // Large ones approach the efficiency that they are given, small ones stay below it.
    const double peak = 312e12;
    const auto achieved = [&](std::int64_t size) {
      const Operator op = gemm("square", 1, size, size, size, "fp16");
      return static_cast<double>(op.flops) / (static_cast<double>(model->time(op, a100())) * 1e-12) / peak;
    };
    CHECK(achieved(16384) > (kind.name == "predictor" ? 0.6 : 0.7));  // of half as long again: two thirds
    if (kind.name != "predictor") CHECK(achieved(512) < achieved(16384));
  }
}

TEST_CASE("a datatype without a peak is refused where the matrix units work, and fine where they do not") {
  for (const CostModelKind& kind : cost_model_kinds()) {
    const auto model = model_of(kind.name, "", round_device());
    CHECK_THROWS_AS(model->time(gemm("qkv", 1, 8, 8, 8, "fp8"), round_device()), InputError);
    CHECK_THROWS_WITH(model->time(gemm("qkv", 1, 8, 8, 8, "fp8"), round_device()),
                      "device round states no peak for datatype fp8 (operator \"qkv\"); it has bf16, fp16");
    CHECK(model->time(streaming(OperatorKind::optimizer, "adam", Bytes{16}, Bytes{12}, "fp32"), round_device()) > 0);
  }
}

TEST_CASE("work that would outlast simulated time is refused") {
  machine::DeviceSpec slow = round_device();
  slow.memory_bandwidth = BytesPerSecond{1};
  for (const CostModelKind& kind : cost_model_kinds()) {
    const auto model = model_of(kind.name, "", round_device());
    CHECK_THROWS_WITH(model->time(streaming(OperatorKind::copy, "copy", Bytes{100'000'000}, Bytes{0}, "fp16"), slow),
                      "operator \"copy\" takes more than 46 days on device round: longer than can be simulated");
  }
}

TEST_CASE("bad [cost] tables") {
  CHECK(cost_errors("model = \"tile\"\nattention_library = \"flash\"\n") ==
        Names{"c.toml:2:21: \"attention_library\": unknown choice \"flash\" (did you mean \"flash-attention-1\"?), "
              "allowed: flash-attention-1, flash-attention-triton, flash-attention-2, cudnn"});
  CHECK(cost_errors("matrix_efficiency = 1\n") ==
        Names{"c.toml:1:1: missing key \"model\" in [cost], expected one of roofline, tile, dataflow, predictor"});
  CHECK(cost_errors("model = 3\n") ==
        Names{"c.toml:1:9: \"model\": expected one of roofline, tile, dataflow, predictor, not a whole number"});
  CHECK(cost_errors("model = \"tiel\"\n") == Names{"c.toml:1:9: \"model\": unknown choice \"tiel\" (did you mean "
                                                   "\"tile\"?), allowed: roofline, tile, dataflow, predictor"});
  CHECK(
      cost_errors("model = \"tile\"\nmatrix_efficiency = 1.5\nmemory_efficiency = 0\nlaunch_overhead = \"-1 us\"\n") ==
      Names{"c.toml:2:21: \"matrix_efficiency\": 1.5 is out of range, allowed: 0.01 to 1",
            "c.toml:3:21: \"memory_efficiency\": 0 is out of range, allowed: 0.01 to 1",
            "c.toml:4:19: \"launch_overhead\": \"-1 us\" is out of range, allowed: 0 ps to 1000000 s"});
  CHECK(cost_errors("model = \"roofline\"\ntile_latency = \"1 us\"\n") ==
        Names{"c.toml:2:1: unknown key \"tile_latency\" in [cost.roofline], allowed: model, matrix_efficiency, "
              "attention_efficiency, attention_ramp, attention_library, attention_kernels, memory_efficiency, "
              "gemm_memory_efficiency, norm_memory_efficiency, softmax_memory_efficiency, "
              "elementwise_memory_efficiency, fused_memory_efficiency, "
              "dropout_memory_efficiency, reduction_memory_efficiency, copy_memory_efficiency, "
              "embedding_memory_efficiency, optimizer_memory_efficiency, memory_traffic, memory_packet, matrix_ramp, "
              "kernel_floor, launch_overhead, issue_interval, power_limit, idle_power, matrix_power, memory_power"});
}

}  // namespace
}  // namespace tessera::workload
