// What software stacks send differently: exchanges between stages, input gradients of a gate, logits.
#include <algorithm>
#include <catch2/catch.hpp>

#include "strategy/jobs.hpp"

namespace tessera::strategy {
namespace {

constexpr std::int64_t activation = 2LL * 2048 * 1024;  // of one sequence, B

workload::Model gated() {
  workload::Model model = gpt(4, 1024, 16);
  model.gated_mlp = true;
  return model;
}

}  // namespace

TEST_CASE("each tensor rank sends a part of an activation to the next stage, or the whole") {
  // Two stages of two ranks, one micro-batch. A part: half of A to the other stage, and its gradient gathered back by
  // sending the half that arrived to the neighbour. The whole: A, and nothing is gathered.
  TestJob job(4, gpt(4, 1024, 16), 1);
  const std::string cut = "tensor = 2\npipeline = 2\n";
  const std::int64_t parts = sent_by(job, cut), whole = sent_by(job, cut + "exchange = \"whole\"");
  CHECK(whole - parts == activation - (activation / 2 + activation / 2));
  // Of four ranks: a quarter and three quarters, or the whole.
  TestJob four(8, gpt(4, 1024, 16), 1);
  CHECK(sent_by(four, "tensor = 4\npipeline = 2\nexchange = \"whole\"") == sent_by(four, "tensor = 4\npipeline = 2"));
  const auto crossing = [&](const std::string& keys) {
    const Plan plan = four.plan("tensor = 4\npipeline = 2\n" + keys);
    four.diagnostics.throw_if_errors();
    return at_peak(plan.program, 0, program::MemoryCategory::buffers);
  };
  CHECK(crossing("exchange = \"whole\"") - crossing("") == 2 * (activation - activation / 4));
  // Under sequence parallelism each rank has its part alone.
  CHECK(sent_by(job, cut + "sequence_parallel = true\nexchange = \"whole\"") ==
        sent_by(job, cut + "sequence_parallel = true"));
}

TEST_CASE("a gate's own linear layer sums its input gradient over the tensor ranks") {
  TestJob job(4, gated(), 1);
  const std::string cut = "tensor = 4\noverlap_tensor_communication = false\n";
  const std::int64_t joint = sent_by(job, cut);
  const std::int64_t joint_parallel = sent_by(job, cut + "sequence_parallel = true");
  job.workload.separate_gate = true;
  // An all-reduce over four ranks sends 2 x 3/4 of A: one more in each of four layers.
  CHECK(sent_by(job, cut) - joint == 4 * activation * 3 / 2);
  // Under sequence parallelism the sum of both is scattered once.
  CHECK(sent_by(job, cut + "sequence_parallel = true") == joint_parallel);
  for (const auto& [keys, said] :
       {std::pair{"tensor = 4", "allowed: false, or sequence_parallel = true"},
        {"tensor = 4\nsequence_parallel = true\ntensor_rows = 2", "allowed: tensor_rows = 1"}}) {
    static_cast<void>(job.plan(keys));
    REQUIRE(job.diagnostics.errors().size() == 1);
    CHECK(job.diagnostics.errors()[0].find("workload.gated_linears = \"separate\" sums two input gradients in turn") !=
          std::string::npos);
    CHECK(job.diagnostics.errors()[0].find(said) != std::string::npos);
  }
}

TEST_CASE("a tensor of each shape of weight is kept for autograd, however many layers have it") {
  // Of h = 1024 on two ranks: 3 h x h / 2 of qkv, h x h / 2 of the projection, 4 h x h / 2 of either side of the MLP,
  // 6 h^2 elements of 2 B; two layers of a stage have the same. The last stage has 51200 / 2 x h of the logits as well.
  TestJob job(4, gpt(4, 1024, 16), 1);
  const auto buffers = [&](const std::string& keys, program::DeviceId device) {
    const Plan plan = job.plan("tensor = 2\npipeline = 2\n" + keys);
    job.diagnostics.throw_if_errors();
    return at_peak(plan.program, device, program::MemoryCategory::buffers);
  };
  const std::string unused = "unused_gradients = true\n";
  CHECK(buffers(unused, 0) - buffers("", 0) == 2 * 6 * 1024 * 1024);
  CHECK(buffers(unused, 2) - buffers("", 2) == 2 * (6 * 1024 + 25600) * 1024);
  // Where another kernel adds gradients up, autograd has that of the weight itself.
  const std::string apart = "fused_gradient_accumulation = false\n";
  CHECK(buffers(unused + apart, 0) == buffers(apart, 0));
  CHECK(job.diagnostics.warnings() ==
        std::vector<std::string>{
            "strategy.toml:3:20: unused_gradients has no effect without fused_gradient_accumulation"});
}

TEST_CASE("weights are gathered beside the first forward pass, instead of behind the update") {
  const std::string cut = "distributed_optimizer = true\ngradient_precision = \"fp16\"\n";
  const std::string beside = "overlap_parameter_gathering = true\n";
  for (const std::string more :
       {"data = 8", "pipeline = 2\ninterleave = 2\ndata = 4\n", "tensor = 2\npipeline = 2\ndata = 2\n",
        "pipeline = 2\ndata = 4\noverlap_gradient_reduction = true\n"}) {
    CAPTURE(more);
    TestJob job(8, gpt(8, 512, 8, 1024), 64);
    job.workload.sequence = 128;
    const Plan behind = job.plan(cut + more), ahead = job.plan(cut + beside + more);
    job.diagnostics.throw_if_errors();
    CHECK(program::check_program(ahead.program, job.machine) == std::vector<std::string>{});
    // One stream is that of the replicas, whatever it does.
    const bool has_stream = more.find("reduction") != std::string::npos;
    CHECK(ahead.program.devices[0].streams.size() == behind.program.devices[0].streams.size() + (has_stream ? 0 : 1));
    for (const program::DeviceId device : {0U, 7U}) {
      const auto sent = [&](const Plan& plan) { return program::totals(plan.program, job.machine, device).bytes_sent; };
      CHECK(sent(ahead) == sent(behind));
    }
  }
  TestJob job(8, gpt(8, 512, 8, 1024), 64);
  static_cast<void>(job.plan("data = 8\n" + beside));
  REQUIRE(job.diagnostics.warnings().size() == 1);
  CHECK(job.diagnostics.warnings()[0].find("overlap_parameter_gathering has no effect without distributed_optimizer") !=
        std::string::npos);
}

TEST_CASE("Megatron-LM's host reads the infinity check, of FP16 alone, and the norm of the gradients") {
  TestJob job(2, gpt(4, 1024, 16), 1);
  const auto read = [&](const std::string& datatype, const std::string& keys) {
    job.workload.datatype = datatype;
    const Plan plan = job.plan("tensor = 2\n" + keys);
    job.diagnostics.throw_if_errors();
    std::vector<std::string> names;
    for (const workload::Operator& op : plan.program.operators)
      if (op.kind == workload::OperatorKind::host) names.push_back(op.name);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(read("fp16", "") == Names{"infinity check", "gradient norm"});
  CHECK(read("bf16", "") == Names{"gradient norm"});
  CHECK(read("bf16", "optimizer = \"eager\"").empty());
}

TEST_CASE("products in chunks send what they send without, beside themselves but for one chunk") {
  const std::string cut = "sequence_parallel = true\n";
  for (const std::string more :
       {"tensor = 8", "tensor = 4\npipeline = 2\ninterleave = 2", "tensor = 2\npipeline = 4\nrecomputation = \"full\"",
        "tensor = 4\npipeline = 2\nrecomputed_sections = [\"mlp_norm\", \"fc1\", \"activation\"]"}) {
    CAPTURE(more);
    TestJob job(8, gpt(8, 512, 8, 1024), 16);
    job.workload.sequence = 128;
    job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
    const Plan whole = job.plan(cut + more), chunks = job.plan(cut + "user_buffers = true\n" + more);
    job.diagnostics.throw_if_errors();
    CHECK(program::check_program(chunks.program, job.machine) == std::vector<std::string>{});
    CHECK(chunks.program.devices[0].streams.size() == whole.program.devices[0].streams.size() + 2);
    CHECK(chunks.hardware_flops == whole.hardware_flops);
    for (const program::DeviceId device : {0U, 7U}) {
      const auto sent = [&](const Plan& plan) { return program::totals(plan.program, job.machine, device).bytes_sent; };
      CHECK(sent(chunks) == sent(whole));
    }
  }
  TestJob job(8, gpt(8, 512, 8, 1024), 16);
  job.workload.sequence = 128;
  // Of 128 rows four ranks make chunks of 32, each a kernel: three run beside the gathering, the fourth behind it.
  const Plan plan = job.plan("tensor = 4\npipeline = 2\nuser_buffers = true\n" + cut);
  std::vector<std::int64_t> rows;
  for (const auto& op : plan.program.operators)
    if (op.name == "fc2" || op.name == "fc2 dgrad" || op.name == "fc2 wgrad") rows.push_back(op.m);
  std::ranges::sort(rows);
  CHECK(rows == std::vector<std::int64_t>{32, 32, 512});  // the weight gradient is whole: 512 rows
  static_cast<void>(job.plan("tensor = 4\npipeline = 2\nuser_buffers = true"));
  REQUIRE(job.diagnostics.warnings().size() == 1);
  CHECK(job.diagnostics.warnings()[0].find("user_buffers has no effect without sequence_parallel") !=
        std::string::npos);
}

TEST_CASE("gathered logits go round the tensor ranks, and no sums of the loss do") {
  TestJob job(4, gpt(4, 1024, 16), 1);
  const std::int64_t apart = sent_by(job, "tensor = 4");
  job.workload.loss = workload::Loss::gathered;
  // 51,200 logits of two bytes for 2,048 tokens, of which each rank sends three quarters; three all-reduces of 4 B a
  // token less.
  CHECK(sent_by(job, "tensor = 4") - apart == 2LL * 51200 * 2048 * 3 / 4 - 3 * 4 * 2048 * 3 / 2);
  job.workload.loss = workload::Loss::compiled;
  CHECK(sent_by(job, "tensor = 4") - apart == -4 * 2048 * 3 / 2);
}

}  // namespace tessera::strategy
