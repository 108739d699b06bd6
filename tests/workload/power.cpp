// The clock under a power limit and a kernel's floor, by hand, on a device of round figures: 8 TFLOP/s, memory 1 TB/s.
#include "cost_devices.hpp"

namespace tessera::workload {
namespace {

/// 100 W are left for kernels. At peak, products draw 800 W.
const std::string limited = "power_limit = \"200 W\"\nidle_power = \"100 W\"\nmatrix_power = \"800 W\"\n";

/// 2 x 2000 x 2000 x 1000 FLOP: 1 ms at peak.
const Operator product = gemm("product", 1, 2000, 2000, 1000, "fp16");
/// 100 MB: 100 us.
const Operator stream = streaming(OperatorKind::norm, "norm", Bytes{60'000'000}, Bytes{40'000'000}, "fp16");

TEST_CASE(
    "power: a product that draws eight times what is left runs at half the clock, one that draws it at all of it") {
  // The cube root of 1/8. The launch is the host's.
  const auto at_peak = cost_model("model = \"roofline\"\nlaunch_overhead = \"3 us\"\n" + limited);
  const Time hot = at_peak->time(product, round_device());
  CHECK(hot >= 2 * millisecond + 3 * microsecond);
  CHECK(hot <= 2 * millisecond + 3 * microsecond + 1);  // the root is rounded
  // An eighth of peak draws 100 W.
  const auto slow =
      cost_model("model = \"roofline\"\nmatrix_efficiency = 0.125\nlaunch_overhead = \"0 s\"\n" + limited);
  CHECK(slow->time(product, round_device()) == 8 * millisecond);
}

TEST_CASE("power: what streams draws by its bytes, and a kernel that does both by both") {
  // All of the bandwidth draws 64 W, less than 100. The product's 16 MB in a millisecond draw 1 W beside its 800.
  const std::string power = limited + "memory_power = \"64 W\"\n";
  const auto model = cost_model("model = \"roofline\"\nlaunch_overhead = \"0 s\"\n" + power);
  CHECK(model->time(stream, round_device()) == 100 * microsecond);
  const double moved = static_cast<double>(product.bytes_read + product.bytes_written);
  const double clock = std::cbrt(100 / (800 + 64 * moved / 1e9));
  CHECK(static_cast<double>(model->time(product, round_device())) == Approx(1e9 / clock).epsilon(1e-9));
}

TEST_CASE("power: a product that was measured hot is slowed down once") {
  const auto time = [](const std::string& ratio) {
    const auto model = cost_model(
        "model = \"tile\"\nmatrix_efficiency = 1\nlaunch_overhead = \"0 s\"\noperand_bytes_per_clock = 1000000\n" +
        limited + "gemm_deviations = [{ m = 8192, n = 8192, k = 8192, ratio = " + ratio + " }]\n");
    // 2 x 8192^3 FLOP at 8 TFLOP/s: 137.438953472 ms, and what tiles store.
    return static_cast<double>(model->time(gemm("large", 1, 8192, 8192, 8192, "fp16"), round_device())) /
           137'438'953'472;
  };
  CHECK(time("1") == Approx(2).epsilon(1e-3));
  CHECK(time("3") == Approx(3).epsilon(1e-3));    // measured slower than at half the clock
  CHECK(time("1.5") == Approx(2).epsilon(1e-3));  // hot, from the time of the tiles
  // Measured faster than the tiles it draws twice as much: half the time, at the cube root of 1/16.
  CHECK(time("0.5") == Approx(0.5 * std::cbrt(16.0)).epsilon(1e-3));
}

TEST_CASE("a kernel's floor: of what streams, of fused attention and of products of few rows, beside the launch") {
  const std::string text = "kernel_floor = \"5 us\"\nlaunch_overhead = \"1 us\"\n";
  const Operator rows = gemm("rows", 1, 64, 50'000, 1000, "fp16"), more = gemm("more", 1, 65, 50'000, 1000, "fp16");
  for (const char* kind : {"roofline", "tile"}) {
    CAPTURE(kind);
    const auto model = cost_model("model = \"" + std::string(kind) + "\"\n" + text);
    const auto without = cost_model("model = \"" + std::string(kind) + "\"\nlaunch_overhead = \"1 us\"\n");
    CHECK(model->time(stream, round_device()) == 106 * microsecond);
    CHECK(model->time(product, round_device()) == without->time(product, round_device()));
    const OperatorParts parts = model->parts(stream, round_device());
    CHECK(parts.traffic == 100 * microsecond);
    CHECK(parts.launch == 6 * microsecond);
  }
  // 64 rows stream 100 MB of the other operand: 106.528 us with what they read and write, and computing takes 800 us on
  // a device that is not faster at that; on one of a hundred times the peak the memory decides.
  machine::DeviceSpec fast = round_device();
  fast.peak["fp16"] = FlopPerSecond{800'000'000'000'000};
  const auto tile = cost_model("model = \"tile\"\noperand_bytes_per_clock = 1000000\n" + text);
  const auto bytes = [](const Operator& op) { return op.bytes_read + op.bytes_written; };  // 1 ps each
  CHECK(tile->time(rows, fast) == bytes(rows) + 6 * microsecond);
  CHECK(tile->time(more, fast) == bytes(more) + 1 * microsecond);
}

}  // namespace
}  // namespace tessera::workload
