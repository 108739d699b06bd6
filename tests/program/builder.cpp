#include <catch2/catch.hpp>

#include "machines.hpp"
#include "tessera/program/collective.hpp"
#include "tessera/program/program.hpp"

namespace tessera::program {
namespace {

workload::Operator gemm(std::int64_t m) {
  workload::Operator op;
  op.kind = workload::OperatorKind::gemm;
  op.m = m;
  op.n = op.k = 64;
  op.flops = 2 * m * 64 * 64;
  return op;
}

}  // namespace

TEST_CASE("a builder stores equal operators, collectives and labels once") {
  Program program;
  Collective collective;
  collective.bytes = Bytes{64};
  BlockBuilder builder(program, "layer");
  builder.label("attention").activity(Activity::forward).compute(gemm(8)).compute(gemm(16), 3).collective(collective);
  builder.label("mlp")
      .activity(Activity::backward)
      .compute(gemm(8))
      .collective(collective)
      .label("attention")
      .wait_sends();
  const BlockId block = builder.done();
  CHECK(program.operators.size() == 2);
  CHECK(program.collectives.size() == 1);
  CHECK(program.labels == std::vector<std::string>{"", "attention", "mlp"});
  const std::vector<Instruction>& code = program.blocks[block].code;
  REQUIRE(code.size() == 6);
  CHECK(code[1].count == 3);
  CHECK(code[1].label == 1);
  CHECK(code[3].a == code[0].a);
  CHECK(code[3].activity == Activity::backward);
  CHECK(code[5].label == 1);
}

TEST_CASE("collectives are the same by what their protocols say, wherever these stand") {
  const auto named = [](const char* name) {
    Protocol protocol;
    protocol.name = name;
    return std::make_shared<const Protocols>(Protocols{protocol});
  };
  Collective one, other;
  one.protocols = named("LL");
  other.protocols = named("LL");
  CHECK(one == other);
  other.protocols = named("LL128");
  CHECK_FALSE(one == other);
  other.protocols = nullptr;
  CHECK_FALSE(one == other);
  // The built-in ones stand first in every list: of these the index says it all, of one behind them it does not.
  const AlgorithmList& built_in = list_of({});
  AlgorithmList first = built_in, second = built_in;
  first.push_back(built_in.front());
  second.push_back(built_in.back());
  one.protocols = nullptr;
  one.algorithm = AlgorithmId(0, first);
  CHECK(one == other);
  const auto behind = static_cast<std::uint32_t>(built_in.size());
  one.algorithm = AlgorithmId(behind, first);
  other.algorithm = AlgorithmId(behind, second);
  CHECK_FALSE(one == other);
}

TEST_CASE("what does nothing is not stored") {
  Program program;
  const BlockId empty = BlockBuilder(program, "empty").done();
  const BlockId block = BlockBuilder(program, "nothing")
                            .compute(gemm(8), 0)
                            .allocate(MemoryCategory::weights, Bytes{0})
                            .release(MemoryCategory::weights, Bytes{0})
                            .signal(0, 0)
                            .wait(0, 0)
                            .call(empty, 0)
                            .done();
  CHECK(program.blocks[block].code.empty());
}

TEST_CASE("every enumerator has a name") {
  CHECK(std::string(name_of(Activity::tensor_communication)) == "tensor_communication");
  CHECK(std::string(name_of(Activity::idle)) == "idle");
  CHECK(std::string(name_of(MemoryCategory::buffers)) == "buffers");
  CHECK(std::string(name_of(CollectiveKind::broadcast)) == "broadcast");
}

TEST_CASE("totals multiply through nested repeats and count what collectives send") {
  const machine::Machine machine = line_of(4);
  Program program;
  program.groups = {{{0, 1, 2, 3}}};
  Collective reduce;
  reduce.bytes = Bytes{4000};
  reduce.algorithm = algorithm_index("ring");
  const BlockId layer = BlockBuilder(program, "layer").compute(gemm(1), 2).collective(reduce).done();
  const Kernel pass{CopyKernel{4000, CopyKind::reduce_scatter}}, other{CopyKernel{4000, CopyKind::all_gather}};
  const BlockId micro = BlockBuilder(program, "micro-batch").call(layer, 5).send(0, Bytes{300}).kernel(pass).done();
  const BlockId main = BlockBuilder(program, "main").call(micro, 7).kernel(other).kernel(pass).done();
  const BlockId side = BlockBuilder(program, "side").receive(0, Bytes{300}).done();
  program.devices.resize(4);
  program.devices[2] = {{main, side}, {3}, {0}, 0};
  const ProgramTotals sum = totals(program, machine, 2);
  // 35 layers of two operators of 8,192 FLOP; the ring sends 6 messages of 1,000 bytes a call; 7 messages of 300 bytes
  // beside it.
  CHECK(sum.flops == 35 * 2 * 8192);
  CHECK(sum.messages == 35 * 6 + 7);
  CHECK(sum.bytes_sent == 35 * 6000 + 7 * 300);
  // Layers: 35 x 2; micro-batches: 7 x 3; main 3; side 1.
  CHECK(sum.instructions == 70 + 21 + 3 + 1);
  CHECK(sum.kernels == std::vector<std::int64_t>{7 + 1, 1});
  CHECK(totals(program, machine, 0).instructions == 0);
}

TEST_CASE("totals beyond 2^63 are counted, not cut off") {
  const machine::Machine machine = line_of(2);
  Program program;
  workload::Operator large = gemm(1);
  large.flops = 1'000'000'000'000'000'000;
  const BlockId step = BlockBuilder(program, "step").compute(large, 20).send(0, Bytes{large.flops}).done();
  const BlockId main = BlockBuilder(program, "main").call(step, 1'000'000).done();
  program.devices.resize(2);
  program.devices[0] = {{main}, {1}, {}, 0};
  // 20 x 10^18 FLOP and 10^18 B a step, a million steps.
  CHECK(totals(program, machine, 0).flops == Int128{20'000'000} * large.flops);
  CHECK(totals(program, machine, 0).bytes_sent == Int128{1'000'000} * large.flops);
  CHECK(executed_flops(program) == 2e25);
}

}  // namespace tessera::program
