// Hand-solved times of both cost models on a device of round figures: 4 cores of 2 TFLOP/s at 1 GHz, memory 1 TB/s.
#include "cost_devices.hpp"

namespace tessera::workload {
namespace {

TEST_CASE("roofline: memory-bound work takes bytes / (bandwidth efficiency), plus the launch") {
  // 3 MB at 0.5 x 1 TB/s are 6 us; 2 us to launch.
  const auto model = cost_model("model = \"roofline\"\nmemory_efficiency = 0.5\nlaunch_overhead = \"2 us\"\n");
  CHECK(model->time(streaming(OperatorKind::norm, "norm", Bytes{2'000'000}, Bytes{1'000'000}, "fp16"),
                    round_device()) == 8 * microsecond);
  // One byte at 0.5 TB/s: 2 ps.
  CHECK(model->time(streaming(OperatorKind::copy, "copy", Bytes{1}, Bytes{0}, "fp16"), round_device()) ==
        2 * microsecond + 2);
}

TEST_CASE("roofline: arithmetic-bound work reaches half the efficiency where peak would take the ramp") {
  // 2 x 1024^3 FLOP at 8 TFLOP/s are 268,435,456 ps; with efficiency 0.5 and a ramp of just that, 4 times as long.
  const auto model = cost_model(
      "model = \"roofline\"\nmatrix_efficiency = 0.5\nmatrix_ramp = \"268435456 ps\"\nlaunch_overhead = \"0 s\"\n");
  CHECK(model->time(gemm("square", 1, 1024, 1024, 1024, "fp16"), round_device()) == 4 * 268'435'456LL);
}

const std::string ideal_tiles =
    "model = \"tile\"\nmatrix_efficiency = 1\nmemory_efficiency = 1\nlaunch_overhead = \"0 s\"\n"
    "tile_latency = \"0 s\"\noperand_bytes_per_clock = 1000000\n";

TEST_CASE("tile: what does not fill the cores costs as much as what does") {
  const auto model = cost_model(ideal_tiles);
  // 512 x 256 results and k = 65,536: 2 x 4 tiles of 128 x 128, or 4 of 256 x 128: one or two for each of the 4 cores,
  // all busy. 2 x 512 x 256 x 65,536 FLOP at 8 TFLOP/s: 2,147,483,648 ps (operands wait 256 B a step at 1 PB/s:
  // nothing; a tile is stored in 32,768 B / 1 PB/s = 32.768 ps, once, behind the last).
  const Operator full = gemm("full", 1, 512, 256, 65536, "fp16");
  const Time time = model->time(full, round_device());
  CHECK(time >= 2'147'483'648);
  CHECK(time <= 2'147'483'648 + 100);
  // One column more is another column of tiles: 64 wide, 12 tiles of 128 x 64 and 8 of 128 x 128 ... the best is
  // 64-wide tiles of 64 rows: 8 x 5 = 40 tiles of 64 x 64 on 4 cores, 10 for each, where 8 were enough before.
  const Operator ragged = gemm("ragged", 1, 512, 257, 65536, "fp16");
  CHECK(static_cast<double>(model->time(ragged, round_device())) == Approx(2'147'483'648.0 * 10 / 8).epsilon(1e-6));
}

TEST_CASE("tile: a batch fills the cores as well as rows do") {
  const auto model = cost_model(ideal_tiles);
  const Time one = model->time(gemm("one", 1, 128, 128, 65536, "fp16"), round_device());
  const Time four = model->time(gemm("four", 4, 128, 128, 65536, "fp16"), round_device());
  const Time five = model->time(gemm("five", 5, 128, 128, 65536, "fp16"), round_device());
  // One product of 128 x 128 is cut into four tiles of 64 x 64; five are 20 tiles, five for each core.
  CHECK(static_cast<double>(four) == Approx(4.0 * static_cast<double>(one)).epsilon(1e-6));
  CHECK(static_cast<double>(five) == Approx(5.0 * static_cast<double>(one)).epsilon(1e-6));
}

TEST_CASE("tile: small tiles wait for their operands") {
  // 2 B x (64 + 64) operands a step of 2 x 64 x 64 FLOP: 256 B at 16 B/ns are 16 ns, the arithmetic of a core 4.096 ns.
  // A 64 x 64 result and k = 8192 without slices: 131.072 us; slices of 512, 16 of them on 4 cores: 4 rounds of 8.192
  // us, and the partial sums, 16 x 64 x 64 x 4 B written and read, 0.524288 us at 1 TB/s. Storing a slice: 16,384 B at
  // 16 B/ns are 1.024 us, hidden but for the last.
  const auto model = cost_model(
      "model = \"tile\"\nmatrix_efficiency = 1\nmemory_efficiency = 1\nlaunch_overhead = \"0 s\"\n"
      "tile_latency = \"0 s\"\noperand_bytes_per_clock = 16\n");
  // Slices of 2048, 4 of them: one round of 32.768 us + 1.024 us + 0.131072 us: the best.
  CHECK(model->time(gemm("small", 1, 64, 64, 8192, "fp16"), round_device()) == 32'768'000 + 1'024'000 + 131'072);
}

TEST_CASE(
    "tile: the fill of a pipeline is paid by every tile that has a core to itself, once by those that share one") {
  // One tile of 128 x 128, k = 32: 2 x 128 x 128 x 32 FLOP at 2 TFLOP/s are 524,288 ps, four of 64 x 64 a quarter of
  // that on each of the four cores: 131,072 ps, + 1 us of fill + the store of 64 x 64 x 2 B (8.192 ps at 1 PB/s).
  const auto model = cost_model(
      "model = \"tile\"\nmatrix_efficiency = 1\nmemory_efficiency = 1\nlaunch_overhead = \"0 s\"\n"
      "tile_latency = \"1 us\"\noperand_bytes_per_clock = 1000000\n");
  CHECK(model->time(gemm("fill", 1, 128, 128, 32, "fp16"), round_device()) == 131'072 + 1'000'000 + 9);
}

TEST_CASE("tile: a product that adds to FP32 gradients stores more") {
  // A weight gradient of 12288 x 6144 over 2048 tokens on an A100: 8 bytes for each result instead of 2, which leave
  // over the 47 B a clock between a core and the cache.
  const auto model = cost_model("model = \"tile\"\noperand_bytes_per_clock = 47\n");
  Operator plain = gemm("wgrad", 1, 12288, 6144, 2048, "fp16");
  Operator added = plain;
  added.bytes_read += 4LL * 12288 * 6144;
  added.bytes_written = 4LL * 12288 * 6144;
  CHECK(model->time(added, a100()) > model->time(plain, a100()));
  // Both are bound by arithmetic, so by much less than the difference in traffic.
  CHECK(10 * model->time(added, a100()) < 11 * model->time(plain, a100()));
}

TEST_CASE("tile: scales come with operands and are added to nothing") {
  // Bound by arithmetic and its stores, 1 B for 32 numbers of both operands is hidden where it is of scales.
  const auto model = cost_model("model = \"tile\"\noperand_bytes_per_clock = 47\n");
  const Operator plain = gemm("product", 1, 12288, 6144, 2048, "fp16");
  Operator scaled = plain, added = plain;
  scaled.scale_bytes = (12288LL + 6144) * 2048 / 32;
  for (Operator* more : {&scaled, &added}) more->bytes_read += scaled.scale_bytes;
  CHECK(model->time(scaled, a100()) == model->time(plain, a100()));
  CHECK(model->time(added, a100()) > model->time(plain, a100()));
}

TEST_CASE("tile: products in FP4 may have rates of their own") {
  const auto half = cost_model(ideal_tiles + "products = [{ datatype = \"fp4\", matrix_efficiency = 0.5 }]\n");
  machine::DeviceSpec device = round_device();
  device.peak["fp4"] = device.peak.at("fp16");
  const Operator product = gemm("full", 1, 512, 256, 65536, "fp4");
  CHECK(half->time(product, device) > cost_model(ideal_tiles)->time(product, device) * 19 / 10);
}

TEST_CASE("tile: a measured GEMM takes its measured time, its neighbours deviate as it does, far ones do not") {
  // Twice the modelled time at 1024 x 1024 x 1024. One octave away in one dimension: weight 1 beside 1/27 for the model
  // alone, 2^(27/28); a factor of 2^30 away: 1.
  const std::string one = "gemm_deviations = [{ m = 1024, n = 1024, k = 1024, ratio = 2.0 }]\n";
  const auto plain = cost_model(ideal_tiles), measured = cost_model(ideal_tiles + one);
  const auto ratio = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    const Operator op = gemm("gemm", 1, m, n, k, "fp16");
    return static_cast<double>(measured->time(op, round_device())) /
           static_cast<double>(plain->time(op, round_device()));
  };
  CHECK(ratio(1024, 1024, 1024) == Approx(2).epsilon(1e-6));
  CHECK(ratio(2048, 1024, 1024) == Approx(std::pow(2, 27.0 / 28)).epsilon(1e-6));
  CHECK(ratio(1024, 1024, 512) == Approx(std::pow(2, 27.0 / 28)).epsilon(1e-6));
  CHECK(ratio(1 << 20, 1 << 20, 1 << 5) == Approx(1).epsilon(0.02));
  // A batch of products has as many rows as they have together.
  const Operator batch = gemm("batch", 4, 256, 1024, 1024, "fp16");
  CHECK(static_cast<double>(measured->time(batch, round_device())) ==
        Approx(2.0 * static_cast<double>(plain->time(batch, round_device()))).epsilon(1e-6));
  // A GEMM has one time.
  config::Diagnostics diagnostics;
  (void)make_cost_model(*config::parse_toml(ideal_tiles + "gemm_deviations = [{ m = 8, n = 8, k = 8, ratio = 2.0 }, "
                                                          "{ m = 8, n = 8, k = 8, ratio = 3.0 }]\n",
                                            "cost.toml", diagnostics),
                        diagnostics);
  REQUIRE(diagnostics.errors().size() == 1);
  CHECK(diagnostics.errors()[0].find("\"gemm_deviations\": m = 8, n = 8, k = 8 stands there twice, allowed: once") !=
        std::string::npos);
  // What is no GEMM has none.
  const Operator norm = streaming(OperatorKind::norm, "norm", Bytes{1'000'000}, Bytes{0}, "fp16");
  CHECK(measured->time(norm, round_device()) == plain->time(norm, round_device()));
}

TEST_CASE("tile: GEMMs may have a share of the memory bandwidth of their own") {
  // 128 x 128 x 32: operands and result are 2 x (2 x 128 x 32 + 128 x 128) B = 49,152 B; at 0.1 of 1 TB/s 491,520 ps.
  const auto slow = cost_model(ideal_tiles + "gemm_memory_efficiency = 0.1\n");
  CHECK(slow->time(gemm("small", 1, 128, 128, 32, "fp16"), round_device()) == 491'520);
  const Operator norm = streaming(OperatorKind::norm, "norm", Bytes{1'000'000}, Bytes{0}, "fp16");
  CHECK(slow->time(norm, round_device()) == 1'000'000);
}

TEST_CASE("a kind of kernel may have a share of the memory bandwidth of its own, in each cost model") {
  // 1 MB at 1 TB/s is 1 us at peak; norms have half of it, all others a quarter.
  for (const std::string model : {"roofline", "tile"}) {
    const auto shares =
        cost_model("model = \"" + model + "\"\nmemory_efficiency = 0.25\nnorm_memory_efficiency = 0.5\n");
    const auto time = [&](OperatorKind kind) {
      return shares->time(streaming(kind, "kernel", Bytes{500'000}, Bytes{500'000}, "fp16"), round_device());
    };
    CHECK(time(OperatorKind::norm) == 2 * microsecond);
    for (const OperatorKind kind : {OperatorKind::softmax, OperatorKind::elementwise, OperatorKind::fused,
                                    OperatorKind::dropout, OperatorKind::copy, OperatorKind::reduction,
                                    OperatorKind::embedding, OperatorKind::optimizer, OperatorKind::addition}) {
      CHECK(time(kind) == 4 * microsecond);
    }
  }
}

TEST_CASE("each kind's key sets the share of that kind alone") {
  const std::vector<std::pair<std::string, OperatorKind>> kinds = {{"norm", OperatorKind::norm},
                                                                   {"softmax", OperatorKind::softmax},
                                                                   {"elementwise", OperatorKind::elementwise},
                                                                   {"fused", OperatorKind::fused},
                                                                   {"dropout", OperatorKind::dropout},
                                                                   {"reduction", OperatorKind::reduction},
                                                                   {"copy", OperatorKind::copy},
                                                                   {"embedding", OperatorKind::embedding},
                                                                   {"optimizer", OperatorKind::optimizer}};
  for (const auto& [key, own] : kinds) {
    const auto model = cost_model("model = \"tile\"\n" + key + "_memory_efficiency = 0.5\n");
    for (const auto& [name, kind] : kinds) {
      const Operator op = streaming(kind, name, Bytes{500'000}, Bytes{500'000}, "fp16");
      CHECK(model->time(op, round_device()) == (kind == own ? 2 : 1) * microsecond);
    }
  }
}

TEST_CASE("tile: exposed stores share the memory bandwidth after the arithmetic") {
  // The product of the first test: 2,147,483,648 ps of arithmetic on all cores; its 512 x 256 x 2 B = 262,144 B leave
  // at 1 TB/s after that, whatever the tiles: 262,144 ps.
  const auto model = cost_model(ideal_tiles + "stores = \"exposed\"\n");
  CHECK(model->time(gemm("full", 1, 512, 256, 65536, "fp16"), round_device()) == 2'147'483'648 + 262'144);
}

TEST_CASE("tile: fused attention by blocks of 128 queries") {
  // 5 heads of 128 queries on 4 cores: two rounds of one head's work. 4 x 128 x 128 x 64 FLOP at 2 TFLOP/s x 0.5:
  // 4,194,304 ps.
  const auto model = cost_model("model = \"tile\"\nattention_efficiency = 0.5\nlaunch_overhead = \"0 s\"\n");
  Operator op = streaming(OperatorKind::attention, "attention", Bytes{1}, Bytes{1}, "fp16");
  op.batch = 5;
  op.m = 128;
  op.n = 128;
  op.k = 64;
  op.flops = 5 * 4LL * 128 * 128 * 64;
  CHECK(model->time(op, round_device()) == 2 * 4'194'304);
}

TEST_CASE("fused attention is slower over few keys, in each cost model") {
  // One head of 128 queries, causal: 128 x 129 / 2 = 8,256 pairs, 64.5 keys a query; 4 x 8,256 x 64 = 2,113,536 FLOP
  // at 8 TFLOP/s and half of that: 528,384 ps. A ramp of 129 keys makes that three times as long. The tile model has
  // one block of 128 queries, which takes one of the four cores: four times as long.
  Operator op = streaming(OperatorKind::attention, "attention", Bytes{1}, Bytes{1}, "fp16");
  op.batch = 1;
  op.m = op.n = 128;
  op.k = 64;
  op.visible = 8256;
  op.flops = 2'113'536;
  const std::string keys = "attention_efficiency = 0.5\nattention_ramp = 129\n";
  CHECK(cost_model("model = \"roofline\"\n" + keys)->time(op, round_device()) == 3 * 528'384);
  CHECK(cost_model("model = \"tile\"\n" + keys)->time(op, round_device()) == 4 * 3 * 528'384);
}

TEST_CASE("fused attention has the rate of its library's kernels for heads of the nearest size") {
  // One head of 128 x 64 over 128 keys, all of them seen: 4 x 128 x 128 x 64 FLOP at 8 TFLOP/s take 524,288 ps.
  Operator op = streaming(OperatorKind::attention, "attention", Bytes{1}, Bytes{1}, "fp16");
  op.batch = 1;
  op.m = op.n = 128;
  op.k = 64;
  op.visible = 128 * 128;
  op.flops = 4LL * 128 * 128 * 64;
  const std::string kernels =
      "model = \"roofline\"\nattention_efficiency = 0.25\nattention_kernels = [\n"
      "{ library = \"cudnn\", head_dim = 48, efficiency = 0.2, ramp = 0 },\n"
      "{ library = \"cudnn\", head_dim = 128, efficiency = 0.5, ramp = 384 },\n"
      "{ library = \"flash-attention-1\", head_dim = 32, efficiency = 0.125, ramp = 0 },\n]\n";
  const auto time = [&](const std::string& library) {
    const std::string named = library.empty() ? "" : "attention_library = \"" + library + "\"\n";
    return cost_model(kernels + named)->time(op, round_device());
  };
  CHECK(time("") == 4 * 524'288);                   // the machine's own, a quarter of the peak
  CHECK(time("flash-attention-1") == 8 * 524'288);  // its only kernels, for heads of any size
  CHECK(time("flash-attention-2") == time(""));     // none of it here
  CHECK(time("cudnn") == 5 * 524'288);              // 64 is nearer to 48 (a factor of 1.33) than to 128 (2)
  // 96 is nearer to 128 (1.33) than to 48 (2): half of the peak, and with a ramp of 384 over 128 keys a quarter of
  // that.
  op.k = 96;
  op.flops = op.flops / 64 * 96;
  CHECK(time("cudnn") == 2 * 4 * 786'432);
}

TEST_CASE("a pause of the host takes what it says, in each cost model") {
  for (const std::string model : {"roofline", "tile"}) {
    const auto found = cost_model("model = \"" + model + "\"\nlaunch_overhead = \"2 us\"\n");
    CHECK(found->time(host_pause("waits", Duration{7 * microsecond}), round_device()) == 7 * microsecond);
  }
}

TEST_CASE("tile: no GEMM is faster than the limit") {
  // 2 x 512 x 256 x 65,536 FLOP at 8 TFLOP/s: 2,147,483,648 ps, and twice that at half of the peak. A launch of 1 us
  // is part of that time.
  const Operator product = gemm("full", 1, 512, 256, 65536, "fp16");
  CHECK(cost_model(ideal_tiles + "matrix_limit = 0.5\n")->time(product, round_device()) == 2 * 2'147'483'648);
  // Without a limit a measurement counts, whatever peak the machine file states.
  const std::string measured = "gemm_deviations = [{ m = 512, n = 256, k = 65536, ratio = 0.5 }]\n";
  const Time faster = cost_model(ideal_tiles + measured)->time(product, round_device());
  CHECK(faster >= 2'147'483'648 / 2);
  CHECK(faster < 2'147'483'648 / 2 + 10);  // the operands wait for some picoseconds
  const std::string slow = "model = \"tile\"\nmatrix_efficiency = 0.25\noperand_bytes_per_clock = 1000000\n";
  CHECK(cost_model(slow + "matrix_limit = 0.5\n")->time(product, round_device()) ==
        cost_model(slow)->time(product, round_device()));
}

TEST_CASE("tile: GEMMs of the 22B model on an A100 are where libraries are") {
  // NVIDIA's own figure for large GEMMs on this chip is 250 to 290 TFLOP/s, 80 to 93 % of peak; with the efficiency at
  // 1 only waves, operands and fills remain, which must not cost more than 15 % in these products (or tiles would be
  // modelled wrongly).
  const auto model = cost_model("model = \"tile\"\nmatrix_efficiency = 1\nlaunch_overhead = \"0 s\"\n");
  const LayerOperators layer = transformer_layer(model_named("megatron-22b.toml"), shape_of_paper(4, true));
  for (const OperatorSet* section : {&layer.qkv, &layer.projection, &layer.fc1, &layer.fc2}) {
    const Operator& op = section->forward.front();
    CAPTURE(op.name);
    const double seconds = static_cast<double>(model->time(op, a100())) * 1e-12;
    const double fraction = static_cast<double>(op.flops) / seconds / 312e12;
    CHECK(fraction > 0.85);
    CHECK(fraction <= 1.0);
  }
}

}  // namespace
}  // namespace tessera::workload
