// Cost model dataflow: what it keeps, refuses and lists.
#include "cost_devices.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

TEST_CASE("what was worked out comes back from a text as it was, and from no other text") {
  const auto model = cost_model("model = \"dataflow\"\n");
  const machine::DeviceSpec device = a100();
  const std::vector<Operator> all{gemm("qkv", 1, 512, 768, 1024, "fp16"), small_convolution()};
  std::vector<Time> times;
  for (const Operator& op : all) times.push_back(model->time(op, device));
  const std::string text = model->worked_out(true);
  const auto other = cost_model("model = \"dataflow\"\n");
  CHECK(other->worked_out(false).empty());
  REQUIRE(other->learn(text));
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(other->time(all[i], device) == times[i]);
  // Nothing was worked out anew, and what is known is the same text.
  CHECK(other->worked_out(true).empty());
  CHECK(other->worked_out(false) == text);
  // Another array, or less memory bandwidth, is another question.
  machine::DeviceSpec narrow = device;
  narrow.memory_bandwidth = BytesPerSecond{500'000'000'000};
  CHECK(other->time(all[0], narrow) > times[0]);
  CHECK(!other->worked_out(true).empty());
  // Cut off, changed, or something else.
  const auto fresh = cost_model("model = \"dataflow\"\n");
  std::string changed = text;
  changed[text.size() / 2] = changed[text.size() / 2] == '1' ? '2' : '1';
  for (const std::string& bad : {text.substr(0, text.size() - 3), changed, std::string("something else\n")})
    CHECK(!fresh->learn(bad));
  CHECK(fresh->worked_out(false).empty());
  CHECK(cost_model("model = \"roofline\"\n")->learn(""));
}

TEST_CASE("the parts of an operator make its time, and its bytes are those of the nest") {
  const auto model = cost_model("model = \"dataflow\"\nlaunch_overhead = \"1 us\"\n");
  machine::DeviceSpec device = a100();
  for (const std::int64_t bandwidth : {200'000'000'000, 2'039'000'000'000}) {
    device.memory_bandwidth = BytesPerSecond{bandwidth};
    for (const Operator& op : {gemm("qkv", 1, 2048, 1536, 3072, "fp16"), gemm("vector", 1, 1, 4096, 4096, "fp16")}) {
      const OperatorParts parts = model->parts(op, device);
      CHECK(parts.launch == microsecond);
      const Time sum = std::max(parts.computing, parts.traffic) + parts.launch;
      CHECK(sum >= model->time(op, device));
      CHECK(sum <= model->time(op, device) + 1);
      // At least each operand once.
      CHECK(parts.traffic >= duration_at_rate(Bytes{op.bytes_read + op.bytes_written}, device.memory_bandwidth));
    }
  }
}

TEST_CASE("a device without an array, clock, room or the peak of its MACs is refused in a line") {
  const Operator op = gemm("qkv", 1, 64, 64, 64, "fp16");
  const auto refused = [&](const machine::DeviceSpec& device) {
    try {
      static_cast<void>(cost_model("model = \"dataflow\"\n")->time(op, device));
    } catch (const KeyError& error) {
      return error.key + ": " + error.what();
    }
    return std::string("taken");
  };
  machine::DeviceSpec none = round_device(), still = none, small = none, slow = none;
  none.array.reset();
  CHECK(refused(none) ==
        "machine.device: cost model dataflow needs [machine.device.array]: cores, MACs and SRAM of "
        "round; models without it: roofline, tile");
  still.clock = 0;
  CHECK(refused(still) ==
        "machine.device: cost model dataflow needs the clock of round: banks and links of "
        "[machine.device.array] move their bytes in each");
  small.array->sram = Bytes{100};
  CHECK(refused(small) ==
        "machine.device.array.sram: \"sram\": 100 B of a core hold no two tiles of operator \"qkv\" "
        "(64 x 64 x 64), allowed: more");
  slow.clock = 800'000'000;
  CHECK(refused(slow) ==
        "machine.device.array: 4000 MACs at 800 MHz make 6.4 TFLOP/s, and no peak of round is within "
        "a tenth of that");
  machine::DeviceSpec more = round_device();
  more.cores = 5;
  CHECK(refused(more) == "machine.device.array: 2 x 2 cores (columns x rows), and round has cores = 5");
  // What streams needs no cores.
  CHECK(cost_model("model = \"dataflow\"\n")
            ->time(streaming(OperatorKind::copy, "copy", Bytes{10}, Bytes{0}, "fp16"), none) > 0);
}

TEST_CASE("a run's table has each dataflow of an operator, and one of them is taken") {
  const auto model = cost_model("model = \"dataflow\"\n");
  const std::vector<Operator> all{gemm("qkv", 1, 512, 768, 1024, "fp16"), small_convolution(),
                                  streaming(OperatorKind::norm, "norm", Bytes{100}, Bytes{50}, "fp16"),
                                  gemm("qkv", 1, 512, 768, 1024, "fp16")};
  const auto table = model->table(all, a100());
  REQUIRE(table.has_value());
  CHECK(problem_of(*table).empty());
  // Three of the product, all four of the convolution, and one that streams; what comes again is there once.
  CHECK(table->rows() == 3 + 4 + 1);
  std::int64_t taken = 0;
  for (const std::int32_t one : table->values<std::int32_t>("taken")) taken += one;
  CHECK(taken == 3);
  CHECK(table->values<std::int64_t>("read_bytes") == table->values<std::int64_t>("formula_read_bytes"));
  CHECK(table->values<std::int64_t>("written_bytes") == table->values<std::int64_t>("formula_written_bytes"));
  CHECK(table->values<std::int64_t>("read_bytes").back() == 100);
  CHECK(!cost_model("model = \"roofline\"\n")->table(all, a100()));
}

}  // namespace
}  // namespace tessera::workload
