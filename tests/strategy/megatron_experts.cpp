// Mixture-of-experts models, padded heads, and phases without a backward pass.
#include <catch2/catch.hpp>

#include <algorithm>

#include "strategy/jobs.hpp"

namespace tessera::strategy {
namespace {

using program::MemoryCategory;

std::vector<program::Collective> all_to_alls(const program::Program& program) {
  std::vector<program::Collective> found;
  for (const program::Collective& collective : program.collectives) {
    if (collective.kind == program::CollectiveKind::all_to_all) found.push_back(collective);
  }
  return found;
}

TestJob mixture_job() {
  TestJob job(16, mixture(4, 8), 64);
  job.workload.sequence = 128;
  return job;
}

}  // namespace

TEST_CASE("experts: sound programs with tokens sent to them and back") {
  for (const std::string cut :
       {"expert_parallel = 8", "expert_parallel = 4\npipeline = 2", "expert_parallel = 1",
        "tensor = 4\nexpert_parallel = 4", "tensor = 2\nsequence_parallel = true\nexpert_parallel = 2\npipeline = 4",
        "expert_parallel = 8\nrecomputation = \"full\"", "expert_parallel = 2\noverlap_gradient_reduction = true",
        "expert_parallel = 4\ndistributed_optimizer = true\nexpert_imbalance = 0.4"}) {
    CAPTURE(cut);
    TestJob job = mixture_job();
    const Plan plan = job.plan(cut);
    CHECK(job.diagnostics.errors() == std::vector<std::string>{});
    CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
    CHECK(all_to_alls(plan.program).empty() == (cut == "expert_parallel = 1"));
  }
}

TEST_CASE("experts: an all-to-all carries two copies of every token") {
  TestJob job = mixture_job();
  const Plan plan = job.plan("expert_parallel = 8");
  const auto found = all_to_alls(plan.program);
  REQUIRE(found.size() == 1);
  // s b h elements of two bytes, to two experts each.
  CHECK(found[0].bytes.value() == 2 * 2 * 128 * 512);
  CHECK(found[0].shares.empty());
}

TEST_CASE("experts: weights are spread over the expert-parallel ranks") {
  TestJob job = mixture_job();
  const auto weights = [&](const std::string& cut) {
    return at_peak(job.plan(cut).program, 0, MemoryCategory::weights) / 2;
  };
  // Two layers have 8 experts of 8 h^2 + 5 h parameters.
  const std::int64_t expert = 8 * 512 * 512 + 5 * 512;
  CHECK(weights("expert_parallel = 1") - weights("expert_parallel = 8") == 2 * 7 * expert);
}

TEST_CASE("experts: load is drawn with the seed, keeps its mean, and is cut off by the capacity") {
  TestJob job = mixture_job();
  const auto shares = [&](const std::string& more) {
    const auto found = all_to_alls(job.plan("expert_parallel = 8\nexpert_imbalance = 0.5\n" + more).program);
    REQUIRE(found.size() == 1);
    return found[0];
  };
  const auto first = shares("");
  REQUIRE(first.shares.size() == 8);
  double sum = 0;
  for (const double share : first.shares) sum += share;
  CHECK(sum == Approx(8));
  CHECK(shares("").shares == first.shares);
  job.seed = 2;
  CHECK(shares("").shares != first.shares);
  job.seed = 1;
  const double largest = *std::max_element(first.shares.begin(), first.shares.end());
  REQUIRE(largest > 1.1);
  const auto capped = shares("capacity_factor = 1.1");
  CHECK(*std::max_element(capped.shares.begin(), capped.shares.end()) == Approx(1.1));
  // What is dropped is not sent.
  CHECK(capped.bytes < first.bytes);
}

TEST_CASE("uneven heads: refused, or padded on every rank") {
  TestJob job(4, gpt(4, 768, 6, 1024), 4);
  job.workload.sequence = 128;
  (void)job.plan("tensor = 4");
  REQUIRE(job.diagnostics.errors().size() == 1);
  CHECK(job.diagnostics.errors()[0] ==
        "strategy.toml:1:10: tensor = 4 does not divide the 6 heads of gpt; uneven_heads = \"pad\" lets every rank "
        "carry 2");
  const Plan padded = job.plan("tensor = 4\nuneven_heads = \"pad\"");
  CHECK(job.diagnostics.ok());
  CHECK(program::check_program(padded.program, job.machine).empty());
  // Eight heads of 128 instead of six: the attention's matrices and products are a third larger.
  const double attention = 3.0 * 4 * 512 * (2.0 * 4 * 768 * 768 + 4.0 * 128 * 768);
  CHECK(padded.hardware_flops == Approx(padded.model_flops + attention / 3));
}

TEST_CASE("more tensor ranks than heads are refused, padded or not") {
  TestJob job(8, gpt(4, 768, 6, 1024), 4);
  job.workload.sequence = 128;
  (void)job.plan("tensor = 8\nuneven_heads = \"pad\"");
  CHECK(job.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:1:10: tensor = 8 is more than the 6 heads"});
}

TEST_CASE("three tensor ranks of eight heads, 2,048 columns and 128 tokens") {
  TestJob job(3, gpt(4, 512, 8, 1024), 4);
  job.workload.sequence = 128;
  const Plan plan =
      job.plan("tensor = 3\nmicro_batch = 2\nsequence_parallel = true\nuneven_heads = \"pad\"\nuneven_width = \"pad\"");
  CHECK(job.diagnostics.errors() == std::vector<std::string>{});
  CHECK(program::check_program(plan.program, job.machine).empty());
  // Nine heads instead of eight, 3 x 683 = 2,049 columns, and a vocabulary of 3 x 384 = 1,152 for 1,024; three passes.
  const double passes = 3.0 * 4 * 128, layers = 4;
  const double attention = layers * (2.0 * 4 * 512 * 512 + 4.0 * 128 * 512) / 8;
  const double mlp = layers * 2.0 * 2 * 512;
  const double logits = 2.0 * 512 * 128;
  CHECK(plan.hardware_flops == Approx(plan.model_flops + passes * (attention + mlp + logits)));
  // Parts are whole tokens of both sequences, 2 x 512 numbers of two bytes: 43, 43 and 42 of 128.
  int scattered = 0;
  for (const program::Collective& one : plan.program.collectives) {
    if (one.kind != program::CollectiveKind::reduce_scatter || one.group_slot != 0) continue;
    ++scattered;
    CHECK(one.element == Bytes{2 * 512 * 2});
    CHECK(one.bytes == Bytes{128 * 2 * 512 * 2});
    CHECK(program::chunk_bytes(one.bytes, one.element, 3, 0) == Bytes{43 * 2048});
    CHECK(program::chunk_bytes(one.bytes, one.element, 3, 2) == Bytes{42 * 2048});
  }
  CHECK(scattered > 0);
  // Where they are as long on all ranks, numbers are cut.
  const Plan even = job.plan("tensor = 1\nsequence_parallel = true");
  for (const program::Collective& one : even.program.collectives) CHECK(one.element <= Bytes{4});
}

TEST_CASE("a rank carries the largest part of a sequence that its ranks share unevenly") {
  const workload::Model model = gpt(4, 512, 8);
  workload::LayerShape shape;
  shape.sequence = 128;
  shape.tensor = 3;
  shape.heads_per_rank = shape.kv_heads_per_rank = 3;
  shape.pad_width = true;
  shape.sequence_parallel = true;
  const workload::LayerOperators layer = workload::transformer_layer(model, shape);
  // ceil(128 / 3) = 43 tokens of 512 numbers in two bytes.
  CHECK(layer.qkv.kept_input == 43 * 512 * 2);
  CHECK(layer.attention_norm.forward.front().bytes_written == 43 * 512 * 2);
  CHECK(layer.fc1.forward.front().n == 683);
  CHECK(layer.fc2.forward.front().k == 683);
  // h (2 x 683) weights of both products, a bias a column.
  CHECK(workload::layer_parameters(model, shape).sharded == 512 * 3 * 3 * 64 + 3 * 3 * 64 + 3 * 64 * 512 + 683 * 1025);
}

TEST_CASE("prompt: one forward pass, with its keys and values kept") {
  TestJob job(16, gpt(8, 512, 8, 1024), 8);
  job.workload.phase = workload::Phase::prompt;
  job.workload.sequence = 128;
  const Plan plan = job.plan("tensor = 2\npipeline = 4");
  job.diagnostics.throw_if_errors();
  CHECK(program::check_program(plan.program, job.machine).empty());
  // Two layers a stage, 4 sequences a replica, keys and values of 128 tokens and 256 columns in two bytes.
  CHECK(at_peak(plan.program, 0, MemoryCategory::kv_cache) == 2 * 4 * 2 * 128 * 256 * 2);
  CHECK(at_peak(plan.program, 0, MemoryCategory::gradients) == 0);
  CHECK(at_peak(plan.program, 0, MemoryCategory::optimizer_state) == 0);
  CHECK(plan.tokens == 8 * 128);
  // 2 FLOP a parameter of the layers and token, 4 s h of attention; the logits of the last token alone.
  const double layers = 8.0 * 128 * (2 * 12 * 512 * 512 + 4 * 128 * 512);
  CHECK(plan.model_flops == Approx(8 * (layers + 2.0 * 512 * 1024)));
}

TEST_CASE("generation: tokens follow each other through the stages") {
  for (const std::int64_t generated : {1, 2, 3, 40}) {
    for (const std::string cut : {"", "tensor = 8", "pipeline = 4", "tensor = 2\npipeline = 4"}) {
      CAPTURE(generated, cut);
      TestJob job(8, gpt(8, 512, 8, 1024), 16);
      job.workload.phase = workload::Phase::generation;
      job.workload.sequence = 128;
      job.workload.generated = generated;
      const Plan plan = job.plan(cut);
      CHECK(job.diagnostics.errors() == std::vector<std::string>{});
      CHECK(program::check_program(plan.program, job.machine) == std::vector<std::string>{});
      CHECK(plan.tokens == 16 * generated);
    }
  }
}

TEST_CASE("outside training the whole batch of a replica goes together unless a micro-batch is given") {
  TestJob job(16, gpt(8, 512, 8, 1024), 32);
  job.workload.phase = workload::Phase::generation;
  job.workload.sequence = 128;
  job.workload.generated = 4;
  const auto said = [&](const std::string& text, const std::string& key) {
    const Plan plan = job.plan(text);
    job.diagnostics.throw_if_errors();
    for (const auto& [name, value] : plan.description) {
      if (name == key) return value;
    }
    return std::string();
  };
  // 32 sequences over 16 / 8 = 2 replicas.
  CHECK(said("tensor = 8", "micro-batch") == "16 sequences of 128 tokens");
  CHECK(said("tensor = 8", "micro-batches a replica") == "1");
  CHECK(said("tensor = 8\nmicro_batch = 4", "micro-batches a replica") == "4");
  CHECK(said("tensor = 8\nmicro_batch = 1", "micro-batches a replica") == "16");
  // Keys and values are those of 16 sequences either way; each holds 132 tokens of 512 / 8 columns in two bytes.
  const std::int64_t cache = 8 * 16 * 2 * 132 * 64 * 2;
  CHECK(at_peak(job.plan("tensor = 8").program, 0, MemoryCategory::kv_cache) == cache);
  CHECK(at_peak(job.plan("tensor = 8\nmicro_batch = 4").program, 0, MemoryCategory::kv_cache) == cache);
  // In a pipeline a part for each stage: 32 sequences of a replica over 4; 28 over 8 do not come out even.
  for (const workload::Phase phase :
       {workload::Phase::generation, workload::Phase::prompt, workload::Phase::prompt_and_generation}) {
    job.workload.phase = phase;
    CHECK(said("tensor = 8", "micro-batches a replica") == "1");
    CHECK(said("tensor = 4\npipeline = 4", "micro-batch") == "8 sequences of 128 tokens");
    CHECK(said("tensor = 4\npipeline = 4", "micro-batches a replica") == "4");
    job.workload.global_batch = 28;
    CHECK(said("tensor = 2\npipeline = 8", "micro-batches a replica") == "1");
    job.workload.global_batch = 32;
  }
  // In training it is one sequence.
  job.workload.phase = workload::Phase::training;
  CHECK(said("tensor = 8", "micro-batches a replica") == "16");
  job.workload.phase = workload::Phase::generation;
  job.workload.global_batch = 33;
  (void)job.plan("tensor = 8");
  CHECK(job.diagnostics.errors() ==
        std::vector<std::string>{"strategy.toml:1:1: global_batch = 33 is not a multiple of micro_batch 1 x data 2"});
}

TEST_CASE("generation: weights are read once for all sequences that decode together") {
  TestJob job(1, gpt(2, 512, 8, 1024), 32);
  job.workload.phase = workload::Phase::generation;
  job.workload.sequence = 128;
  const auto weight_bytes = [&](const std::string& text) {
    const program::Program program = job.plan(text).program;
    std::int64_t bytes = 0;
    std::vector<std::int64_t> times(program.blocks.size(), 0);
    times[program.devices[0].streams[0]] = 1;
    for (std::size_t block = program.blocks.size(); block-- > 0;) {  // callees stand before their callers
      for (const program::Instruction& instruction : program.blocks[block].code) {
        if (instruction.op == program::Op::call) times[instruction.a] += times[block] * instruction.count;
        if (instruction.op == program::Op::compute) {
          const workload::Operator& op = program.operators[instruction.a];
          if (op.kind == workload::OperatorKind::gemm && op.batch == 1) bytes += times[block] * 2 * op.k * op.n;
        }
      }
    }
    return bytes;
  };
  CHECK(weight_bytes("micro_batch = 1") == 32 * weight_bytes(""));
}

TEST_CASE("outside training, keys of the backward pass and of the update warn when they are given") {
  TestJob job(8, gpt(8, 512, 8, 1024), 16);
  job.workload.sequence = 128;
  const std::string keys =
      "distributed_optimizer = true\noverlap_gradient_reduction = true\noverlap_tensor_communication = false\n"
      "gradient_precision = \"fp16\"\nfused_gradient_accumulation = false\nschedule = \"gpipe\"\n"
      "exchange_overhead = \"1 us\"\nmoment_precision = \"fp16\"\nmaster_weights = \"none\"";
  (void)job.plan(keys);
  CHECK(job.diagnostics.warnings() == std::vector<std::string>{});
  job.workload.phase = workload::Phase::generation;
  (void)job.plan(keys);
  CHECK(job.diagnostics.warnings() ==
        std::vector<std::string>{"strategy.toml:1:25: distributed_optimizer has no effect outside training",
                                 "strategy.toml:2:30: overlap_gradient_reduction has no effect outside training",
                                 "strategy.toml:3:32: overlap_tensor_communication has no effect outside training",
                                 "strategy.toml:4:22: gradient_precision has no effect outside training",
                                 "strategy.toml:5:31: fused_gradient_accumulation has no effect outside training",
                                 "strategy.toml:6:12: schedule has no effect in generation",
                                 "strategy.toml:7:21: exchange_overhead has no effect in generation",
                                 "strategy.toml:8:20: moment_precision has no effect outside training",
                                 "strategy.toml:9:18: master_weights has no effect outside training"});
  (void)job.plan("distributed_optimizer = false\nschedule = \"auto\"\nmicro_batch = 0");
  CHECK(job.diagnostics.warnings() == std::vector<std::string>{});
}

TEST_CASE("generation: windows that become full, and tiny chunks of attention") {
  TestJob job(1, gpt(1, 512, 8, 1024), 1);
  job.model.max_positions = 100'000;
  job.workload.phase = workload::Phase::generation;
  job.workload.sequence = 1000;
  job.workload.generated = 16 * 999;
  const double others = 16 * 999 * (24.0 * 512 * 512 + 2.0 * 512 * 1024);
  // Amid a sixteenth of the tokens, behind three of 999 and 501 of the fourth, the window is full.
  const double before = 3 * 999 + 501, window = 1000 + before, keys = 1000 * before + before * (before + 1) / 2;
  job.model.sliding_window = 1000 + 3 * 999 + 501;
  CHECK(job.plan("").model_flops == Approx(4 * 512 * (keys + (16 * 999 - before) * window) + others).epsilon(1e-12));
  // Chunks of 7 tokens have a mean of 4 keys.
  job.model.sliding_window = 0;
  job.model.attention_chunk = 7;
  CHECK(job.plan("").model_flops - others == Approx(4 * 512 * 4.0 * 16 * 999).epsilon(1e-6));
}

TEST_CASE("generation: attention of all tokens adds up to that of their number of keys") {
  TestJob job(1, gpt(1, 512, 8, 1024), 1);
  job.workload.phase = workload::Phase::generation;
  job.workload.sequence = 100;
  job.workload.generated = 64;
  const Plan plan = job.plan("");
  job.diagnostics.throw_if_errors();
  // Token i = 1 .. 64 sees 100 + i keys: 4 h FLOP each; 64 tokens of 24 h^2 in the layer and 2 h v logits.
  const double keys = 64 * 100 + 64 * 65 / 2;
  CHECK(plan.model_flops == Approx(4 * 512 * keys + 64 * (24.0 * 512 * 512 + 2.0 * 512 * 1024)));
  // What is executed takes the mean of every 4 tokens, rounded to a whole number of keys: within half a key each.
  CHECK(plan.hardware_flops == Approx(plan.model_flops).epsilon(0.005));
  CHECK(at_peak(plan.program, 0, MemoryCategory::kv_cache) == 2 * 164 * 512 * 2);
}

TEST_CASE("refused jobs, each with its place and a sentence") {
  TestJob job(16, gpt(8, 512, 8, 1024), 64);
  job.workload.sequence = 128;
  const auto errors = [&](const std::string& text) {
    (void)job.plan(text);
    std::string all;
    for (const std::string& error : job.diagnostics.errors()) all += (all.empty() ? "" : "|") + error;
    return all;
  };
  CHECK(
      errors("tensor = 3\npipeline = 5\ndata = 1") ==
      "strategy.toml:1:10: tensor = 3 does not divide the 8 heads of gpt; uneven_heads = \"pad\" lets every rank "
      "carry 3|"
      "strategy.toml:1:10: tensor = 3 does not divide the MLP's width of 2048; uneven_width = \"pad\" lets every rank "
      "carry 683|"
      "strategy.toml:2:12: pipeline 5 x interleave 1 = 5 does not divide the 8 layers of gpt; uneven_layers = "
      "\"spread\" gives some stages one more|"
      "strategy.toml:3:8: tensor 3 x pipeline 5 x data 1 = 15 devices, but machine test machine has 16; "
      "spare_devices = \"idle\" leaves the others out");
  CHECK(errors("data = 2") ==
        "strategy.toml:1:8: tensor 1 x pipeline 1 x data 2 = 2 devices, but machine test machine has 16; "
        "spare_devices = \"idle\" leaves the others out");
  CHECK(errors("micro_batch = 3") ==
        "strategy.toml:1:15: global_batch = 64 is not a multiple of micro_batch 3 x data 16");
  CHECK(errors("interleave = 2") == "strategy.toml:1:14: schedule \"interleaved-1f1b\" needs pipeline > 1");
  CHECK(errors("pipeline = 4\ninterleave = 2\nschedule = \"1f1b\"") ==
        "strategy.toml:2:14: schedule \"1f1b\" has one model chunk a stage; interleave > 1 needs \"interleaved-1f1b\"");
  CHECK(errors("expert_parallel = 2\ncapacity_factor = 1.0\nexpert_imbalance = 0.1") ==
        "strategy.toml:1:19: model gpt has no experts: expert_parallel = 1|"
        "strategy.toml:2:19: model gpt has no experts: capacity_factor = 0|"
        "strategy.toml:3:20: model gpt has no experts: expert_imbalance = 0");
  CHECK(errors("recomputation = \"some\"").find("recomputation") != std::string::npos);
  CHECK(errors("tensr = 2").find("did you mean \"tensor\"?") != std::string::npos);

  job.workload.sequence = 4096;
  CHECK(errors("tensor = 2") ==
        "strategy.toml:1:1: sequences of 4096 tokens, but model gpt has 2048 learned positions");
  job.workload.sequence = 7;
  CHECK(errors("tensor = 8\nsequence_parallel = true") ==
        "strategy.toml:2:21: tensor = 8 is more than the 7 tokens of a sequence");
  job.workload.phase = workload::Phase::prompt;
  CHECK(errors("recomputation = \"full\"") ==
        "strategy.toml:1:17: there is no backward pass to recompute for: recomputation = \"none\" outside training");
  job.workload.phase = workload::Phase::generation;
  job.model.causal = false;
  CHECK(errors("interleave = 2\npipeline = 2").find("model gpt is not causal: it cannot generate") !=
        std::string::npos);
}

TEST_CASE("experts that do not divide are refused") {
  TestJob job = mixture_job();
  (void)job.plan("expert_parallel = 3");
  CHECK(job.diagnostics.errors() ==
        std::vector<std::string>{
            "strategy.toml:1:19: expert_parallel = 3 does not divide the 8 experts of mixture",
            "strategy.toml:1:19: expert_parallel = 3 does not divide the 16 data-parallel replicas"});
}

TEST_CASE("dead devices are left out") {
  TestJob job(8, gpt(8, 512, 8, 1024), 64);
  job.workload.sequence = 128;
  job.machine.speed[3] = 0;
  (void)job.plan("tensor = 8");
  REQUIRE(job.diagnostics.errors().size() == 1);
  CHECK(job.diagnostics.errors()[0].find("= 8 devices, but machine test machine has 7 that work") != std::string::npos);
  job.workload.global_batch = 7;
  const Plan plan = job.plan("data = 7");
  CHECK(job.diagnostics.ok());
  CHECK(plan.program.devices[3].streams.empty());
  CHECK(program::check_program(plan.program, job.machine).empty());
}

}  // namespace tessera::strategy
