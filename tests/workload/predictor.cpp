// The network of cost model predictor: what it sees, what it learns, and whom it serves.
#include <cmath>

#include "predictor_files.hpp"
#include "tessera/base/error.hpp"
#include "workload/cost/predictor/network.hpp"

namespace tessera::workload {
namespace {

/// For round_device(): 2 x 2 cores of 40 columns and 25 rows of MACs.
const predictor::Basis& round_basis() {
  static const machine::DeviceSpec device = round_device();
  static const predictor::Basis basis{&device, 1};
  return basis;
}

}  // namespace

TEST_CASE("predictor: what the network sees of a product") {
  // 2 x 50 x 80 x 64: half a tile more than a core's 25 rows twice, two full turns of 40 columns.
  const Operator op = gemm("drawn", 2, 50, 80, 64, "fp16");
  std::vector<float> seen;
  predictor::add_features(round_basis(), op, seen);
  REQUIRE(seen.size() == predictor::features);
  CHECK(seen[0] == Approx(1.0 / 8 - 1));
  CHECK(seen[1] == Approx(std::log2(50) / 8 - 1));
  CHECK(seen[3] == Approx(6.0 / 8 - 1));
  // 2 x 2 x 50 x 80 x 64 = 1,024,000 FLOP at 8 FLOP/ps; 2 x 2 x (3,200 + 5,120 + 4,000) = 49,280 B at 1 B/ps.
  CHECK(seen[4] == Approx(std::log2(128'000.0 / 49'280) / 8));
  CHECK(predictor::bound(round_basis(), op) == Approx(128'000));
  // m = 50 fills 25 rows and 2 x 25 rows, of 40 columns 50 / 80, of 2 x 40 as well: 1, 1 / 4, 1, 1 / 4.
  CHECK(seen[7] == Approx(1));
  CHECK(seen[8] == Approx(0.25));
  CHECK(seen[9] == Approx(1));
  CHECK(seen[10] == Approx(0.25));
}

TEST_CASE("predictor: half as long again is learnt, and roofline is a third too fast") {
  const TrainedPredictor trained = trained_on(HalfAgain(), round_device());
  CHECK(trained.predictor.mean < 0.03);
  CHECK(trained.predictor.most < 0.3);
  // 1 - 1 / 1.5; with two thirds of peak it is right where arithmetic decides.
  CHECK(trained.roofline.mean == Approx(1.0 / 3).epsilon(1e-3));
  CHECK(trained.fitted_roofline.mean < trained.roofline.mean);
  CHECK(trained.judged.rows() == 100);
  // The file answers as the network does: never below the bound.
  config::Diagnostics diagnostics;
  const auto model = predictor_of(trained.data, "launch_overhead = \"1 us\"", diagnostics);
  REQUIRE(diagnostics.errors() == Names{});
  model->check(round_device(), "fp16");
  const Operator op = gemm("large", 1, 4096, 4096, 4096, "fp16");
  const double ideal = static_cast<double>(op.flops) / 8;  // 8 FLOP/ps
  CHECK(static_cast<double>(model->time(op, round_device()) - microsecond) == Approx(1.5 * ideal).epsilon(0.05));
  // What is no product streams: 3,000 B at 1 B/ps.
  const Operator stream = streaming(OperatorKind::norm, "norm", Bytes{2000}, Bytes{1000}, "fp16");
  CHECK(model->time(stream, round_device()) == 3000 + microsecond);
}

TEST_CASE("predictor: another seed draws other products, the same one the same") {
  PredictorTraining training = short_training();
  training.samples = training.held_out = 20;
  training.epochs = 2;
  const auto products = [&](std::uint64_t seed) {
    training.seed = seed;
    return trained_on(HalfAgain(), round_device(), training).judged.values<std::int64_t>("m");
  };
  CHECK(products(1) == products(1));
  CHECK(products(1) != products(2));
}

TEST_CASE("predictor: one for another device, and what is none, are refused") {
  PredictorTraining training = short_training();
  training.epochs = 1;
  const TrainedPredictor trained = trained_on(HalfAgain(), round_device(), training);
  const auto refused = [](const Tensors& data, const machine::DeviceSpec& device, const std::string& keys = "") {
    config::Diagnostics diagnostics;
    const auto model = predictor_of(data, keys, diagnostics);
    try {
      model->check(device, "fp16");
    } catch (const KeyError& error) {
      return error.key + ": " + error.what();
    }
    return std::string();
  };
  CHECK(refused(trained.data, round_device()) == "");
  machine::DeviceSpec other = round_device();
  other.array->banks = 4;
  CHECK(
      refused(trained.data, other) ==
      "cost.file: p.h5: the predictor was trained for 2 x 2 cores of 40 x 25 MACs at 1 GHz, 1 MB in 8 banks of 64 B, "
      "links of 64 B, fp16 8 TFLOP/s, memory 1 TB/s x 1; this device has 2 x 2 cores of 40 x 25 MACs at 1 GHz, 1 MB in "
      "4 banks of 64 B, links of 64 B, fp16 8 TFLOP/s, memory 1 TB/s x 1");
  CHECK(refused(trained.data, round_device(), "memory_efficiency = 0.5").find("memory 1 TB/s x 0.5") !=
        std::string::npos);
  other.array.reset();
  CHECK(refused(trained.data, other) == "machine.device: cost model predictor needs [machine.device.array] of round");
  Tensors none = trained.data;
  none.notes.clear();
  CHECK(refused(none, round_device()) == "cost.file: p.h5: it is no predictor of products (tessera train)");
  Tensors cut = trained.data;
  cut.all.pop_back();
  CHECK(refused(cut, round_device()) == "cost.file: p.h5: the predictor has no tensor \"layer2_bias\"");
  CHECK_THROWS_WITH(trained_on(HalfAgain(), other), "a predictor needs [machine.device.array]: round has none");
}

}  // namespace tessera::workload
