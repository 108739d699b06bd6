// Schedules that put weight gradients apart or run forward beside backward passes, as programs: what devices hold.
#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "jobs.hpp"

namespace tessera::strategy::split_backward {
namespace {

using program::MemoryCategory;

constexpr std::int64_t sequence = 256, hidden = 512, vocabulary = 1024;

/// A layer a stage, FP16, micro-batches of one sequence.
TestJob job_of(std::int64_t stages, std::int64_t micro_batches, std::int64_t replicas = 1) {
  TestJob job(static_cast<std::uint32_t>(stages * replicas), gpt(stages, hidden, 8, vocabulary),
              micro_batches * replicas);
  job.workload.sequence = sequence;
  job.model.tied_embeddings = false;
  return job;
}

/// 1 ps a FLOP.
class PerFlop final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override { return op.flops; }
};

/// At the peak of a device.
std::int64_t kept(TestJob& job, program::DeviceId device, const std::string& keys) {
  return at_peak(sound_plan(job, keys).program, device, MemoryCategory::activations);
}

bool communicates(const program::Instruction& one) {
  return one.op == program::Op::send || one.op == program::Op::receive || one.op == program::Op::collective;
}

/// Whole, and in two parts.
void check_computes_alike(TestJob& job, const std::string& keys) {
  const Plan whole = sound_plan(job, keys + "schedule = \"1f1b\""),
             apart = sound_plan(job, keys + "schedule = \"zb-h1\"");
  CHECK(apart.hardware_flops == whole.hardware_flops);
  CHECK(program::totals(apart.program, job.machine, 0).bytes_sent ==
        program::totals(whole.program, job.machine, 0).bytes_sent);
}

std::string error_of(TestJob job, const std::string& keys) {
  static_cast<void>(job.plan(keys));
  return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
}

}  // namespace

TEST_CASE("what weight gradients need is 32 s b h bytes a layer (Qi et al. 2023, table 1)") {
  // Inputs and outputs' gradients of the linear layers, 2 B each: qkv 1 + 3, projection 1 + 1, fc1 1 + 4, fc2 4 + 1.
  // Those of the logits: s b h of input and s b V of logits.
  // The last of two stages runs F B F B W W: the second F comes on top of what the first W needs. 1F1B runs F B F B,
  // and holds one micro-batch at a time.
  TestJob job = job_of(2, 2);
  const std::string cut = "pipeline = 2\nschedule = ";
  CHECK(kept(job, 1, cut + "\"zb-h1\"") - kept(job, 1, cut + "\"1f1b\"") ==
        32 * sequence * hidden + 2 * sequence * (hidden + vocabulary));
  // Norms of queries and keys are between the product and its output, and have theirs along with it.
  job.model.query_key_norm = workload::QueryKeyNorm::shared;
  CHECK(kept(job, 1, cut + "\"zb-h1\"") - kept(job, 1, cut + "\"1f1b\"") ==
        (32 + 4) * sequence * hidden + 2 * sequence * (hidden + vocabulary));
}

TEST_CASE("ZB-H1 holds what 1F1B does on its first stage, ZB-H2 2p-1 micro-batches for p") {
  TestJob job = job_of(4, 16);
  const std::string cut = "pipeline = 4\nschedule = ";
  const std::int64_t in_turn = kept(job, 0, cut + "\"1f1b\"");
  CHECK(in_turn % 4 == 0);
  for (const program::DeviceId stage : {0U, 1U, 2U}) CHECK(kept(job, stage, cut + "\"zb-h1\"") <= in_turn);
  CHECK(kept(job, 0, cut + "\"zb-h1\"") == in_turn);
  CHECK(kept(job, 0, cut + "\"zb-h2\"") == in_turn / 4 * 7);
}

TEST_CASE("a split backward pass computes what a whole one does") {
  for (const std::string keys :
       {"pipeline = 4\n", "pipeline = 4\ntensor = 2\n", "pipeline = 4\ntensor = 2\nsequence_parallel = true\n",
        "pipeline = 4\ntensor = 2\nsequence_parallel = true\nuser_buffers = true\n",
        "pipeline = 4\ntensor = 4\ntensor_rows = 2\nsequence_parallel = true\n",
        "pipeline = 4\ndata = 2\noverlap_gradient_reduction = true\nrecomputation = \"full\"\n"}) {
    TestJob job = job_of(4, 8, 2);
    if (keys.find("tensor = 4") != std::string::npos) job = job_of(4, 8, 4);
    check_computes_alike(job, keys);
    if (keys.find("tensor_rows") != std::string::npos || keys.find("user_buffers") != std::string::npos) continue;
    job.model.parallel_block = workload::ParallelBlock::one_norm;  // what attention gathers the MLP has as well
    check_computes_alike(job, keys);
  }
}

TEST_CASE("of products in FP8 weight gradients need a byte a number, and a scale for 32 of them in MXFP8") {
  // As above with half of the bytes but for the logits, whose product stays in FP16.
  TestJob job = job_of(2, 2);
  job.machine.device.peak["fp8"] = FlopPerSecond{200'000'000'000'000};
  job.workload.product_datatype = workload::OperandType::fp8;
  const std::string cut = "pipeline = 2\nschedule = ";
  const auto apart = [&] { return kept(job, 1, cut + "\"zb-h1\"") - kept(job, 1, cut + "\"1f1b\""); };
  const std::int64_t logits = 2 * sequence * (hidden + vocabulary);
  CHECK(apart() == 16 * sequence * hidden + logits);
  job.workload.scaling = workload::Scaling::mx;
  CHECK(apart() == 16 * sequence * hidden / 32 * 33 + logits);
}

TEST_CASE("exchanges of context ranks are in the first part of a backward pass that is split") {
  TestJob job = job_of(2, 8, 2);
  job.workload.flash_attention = true;
  for (const std::string exchange : {"ring", "all-to-all", "all-gather"}) {
    const std::string cut = "pipeline = 2\ncontext_parallel = 2\ncontext_exchange = \"" + exchange + "\"\nschedule = ";
    const Plan in_turn = sound_plan(job, cut + "\"1f1b\""), apart = sound_plan(job, cut + "\"zb-h1\"");
    CHECK(apart.hardware_flops == in_turn.hardware_flops);
    for (program::DeviceId device = 0; device < 4; ++device)
      CHECK(program::totals(apart.program, job.machine, device).bytes_sent ==
            program::totals(in_turn.program, job.machine, device).bytes_sent);
    std::size_t second_parts = 0;
    for (const program::Block& block : apart.program.blocks) {
      if (block.name.find("weight gradient") == std::string::npos) continue;
      ++second_parts;
      CHECK(std::ranges::none_of(block.code, communicates));
    }
    CHECK(second_parts > 0);
  }
}

TEST_CASE("DualPipe holds the weights of two stages, and updates each on one of all that hold it") {
  TestJob job = job_of(4, 8, 2);
  const std::string cut = "pipeline = 4\ndata = 2\ndistributed_optimizer = true\nschedule = ";
  const program::Program once = sound_plan(job, cut + "\"1f1b\"").program,
                         twice = sound_plan(job, cut + "\"dualpipe\"").program;
  // Stages 1 and 2 have a layer each and neither embedding nor logits; all four devices of theirs hold both layers.
  const auto weights = MemoryCategory::weights, optimizer = MemoryCategory::optimizer_state;
  CHECK(at_peak(twice, 2, weights) == 2 * at_peak(once, 2, weights));
  CHECK(at_peak(twice, 4, weights) == at_peak(twice, 2, weights));
  // Two replicas of two copies: a quarter of two layers each, where it was a half of one.
  CHECK(at_peak(twice, 2, optimizer) == at_peak(once, 2, optimizer));
  // The first stage holds the embedding and the last layer's logits as well, as the last stage does.
  CHECK(at_peak(twice, 0, weights) == at_peak(twice, 6, weights));
}

TEST_CASE(
    "waits for a backward pass beside a forward pass have an activity of their own, passes alone their usual ones") {
  TestJob job = job_of(4, 8, 2);
  const std::string cut = "pipeline = 4\ndata = 2\nrecomputation = \"full\"\nschedule = ";
  const program::Program both = sound_plan(job, cut + "\"dualpipe\"").program;
  CHECK(both.own_activities == std::vector<std::string>{"backward_beside_forward"});
  CHECK(sound_plan(job, cut + "\"1f1b\"").program.own_activities.empty());
  std::set<std::string> waits, computes;
  for (const program::Block& block : both.blocks) {
    for (const program::Instruction& one : block.code) {
      // The backward pass's own stream waits under no label.
      if (one.op == program::Op::wait && !both.labels[one.label].empty())
        waits.insert(both.labels[one.label] + ": " + name_of(both, one.activity));
      if (one.op == program::Op::compute) computes.insert(name_of(both, one.activity));
    }
  }
  CHECK(waits == std::set<std::string>{"backward beside forward: backward_beside_forward"});
  CHECK(computes == std::set<std::string>{"forward", "backward", "recomputation", "optimizer"});
}

TEST_CASE("DualPipe and DualPipeV are sound programs with experts, tensor ranks and gradients beside passes") {
  TestJob job(16, mixture(8, 4), 32);
  job.workload.sequence = 256;
  const std::string more =
      "distributed_optimizer = true\noverlap_gradient_reduction = true\n"
      "overlap_parameter_gathering = true\n";
  for (const std::string cut : {"pipeline = 4\ndata = 4\nexpert_parallel = 4\nrecomputation = \"full\"\n",
                                "pipeline = 4\ntensor = 2\ndata = 2\nexpert_parallel = 2\n",
                                "pipeline = 4\ntensor = 2\ndata = 2\nsequence_parallel = true\nexpert_tensor = 1\n"
                                "expert_parallel = 4\n"}) {
    const double flops = sound_plan(job, cut).hardware_flops;
    CHECK(sound_plan(job, cut + "schedule = \"dualpipe\"").hardware_flops == flops);
    CHECK(sound_plan(job, cut + more + "schedule = \"dualpipe\"").hardware_flops > 0);
    CHECK(sound_plan(job, cut + "schedule = \"dualpipe-v\"\ninterleave = 2\n").hardware_flops == flops);
  }
}

TEST_CASE("the first n layers of each chunk run again, or all in groups of n") {
  // One stage of two layers and one micro-batch, with so many logits that the peak is at the loss. A layer keeps K
  // bytes, of which its input is I = 2 s b h.
  TestJob job(1, gpt(2, hidden, 8, 51200), 1);
  job.workload.sequence = sequence;
  const std::string full = "recomputation = \"full\"\nrecomputed_layers = ";
  const std::int64_t input = 2 * sequence * hidden;
  const std::int64_t none = kept(job, 0, ""), all = kept(job, 0, full + "0"), saved = (none - all) / 2;  // K - I
  CHECK(none - kept(job, 0, full + "1") == saved);
  CHECK(none - kept(job, 0, full + "2") == 2 * saved);
  CHECK(none - kept(job, 0, full + "1\nrecomputation_method = \"uniform\"") == 2 * saved);
  CHECK(none - kept(job, 0, full + "2\nrecomputation_method = \"uniform\"") == 2 * saved + input);  // one input for two
  // With few logits a group of two layers is all there when its backward pass begins.
  TestJob few(1, gpt(2, hidden, 8, vocabulary), 1);
  few.workload.sequence = sequence;
  const std::int64_t layer = saved + input;
  const std::int64_t embedding = kept(few, 0, full + "0") - layer - input;  // the second layer is there, and one input
  CHECK(kept(few, 0, full + "2\nrecomputation_method = \"uniform\"") == embedding + 2 * layer);
}

TEST_CASE("a stage may say how many of its layers run again, and what") {
  TestJob job = job_of(4, 8);
  job.model.layers = 8;
  job.cost = std::make_shared<PerFlop>();
  const Plan plan =
      sound_plan(job,
                 "pipeline = 4\nrecomputed_sections = [\"fc1\", \"activation\"]\nrecomputed_layers = 1\n"
                 "[[stages]]\nrecomputation = [\"full\"]\nrecomputed_layers = 0\n[[stages]]\n[[stages]]\n[[stages]]\n"
                 "recomputation = [\"none\"]\n");
  for (const auto& [name, value] : plan.description)
    if (name == "recomputation") CHECK(value == "full x 1; fc1, activation of 1 layer x 2; none x 1");
}

TEST_CASE("the table of stages has both pieces of a stage, and of a micro-batch what it passes") {
  const auto stages = [](const std::string& keys) {
    TestJob job(4, gpt(8, hidden, 8, vocabulary), 8);
    job.cost = std::make_shared<PerFlop>();
    const Plan plan = sound_plan(job, "pipeline = 4\nrecomputed_sections = [\"fc1\"]\n" + keys);
    const auto found = std::ranges::find(plan.tables, "stages", &DataTable::name);
    REQUIRE(found != plan.tables.end());
    return *found;
  };
  const auto kept = [](const DataTable& table) { return table.values<std::int64_t>("kept_bytes"); };
  using Pieces = std::vector<std::string>;
  const DataTable in_turn = stages("schedule = \"1f1b\"");
  CHECK(in_turn.values<std::string>("pieces") == Pieces{"0-1", "2-3", "4-5", "6-7"});
  const DataTable both = stages("schedule = \"dualpipe\"");
  CHECK(both.values<std::string>("pieces") == Pieces{"0-1, 6-7", "2-3, 4-5", "4-5, 2-3", "6-7, 0-1"});
  CHECK(kept(both) == kept(in_turn));  // each micro-batch passes one of them
  const DataTable back = stages("schedule = \"dualpipe-v\"\ninterleave = 2");
  CHECK(back.values<std::string>("pieces") == Pieces{"0-0, 7-7", "1-1, 6-6", "2-2, 5-5", "3-3, 4-4"});
  CHECK(kept(back) == kept(in_turn));  // it passes both of these
}

TEST_CASE("what a schedule or a recomputation cannot do is one line") {
  const TestJob job = job_of(4, 8, 2);
  const std::string cut = "pipeline = 4\ndata = 2\nschedule = ";
  CHECK(
      error_of(job, cut + "\"zb-h1\"\ndata_sharding = \"parameters\"\n") ==
      "strategy.toml:4:17: data_sharding: schedule \"zb-h1\" puts weight gradients apart, and here they leave behind a "
      "layer's backward pass, allowed: \"auto\"");
  CHECK(error_of(job, cut + "\"zb-h2\"\n[[loans]]\nfrom = 0\nto = 3\n")
            .find("what is lent is back for one backward pass") != std::string::npos);
  CHECK(error_of(job, cut + "\"dualpipe\"\nroutes = \"unused-first\"\n") ==
        "strategy.toml:4:10: routes: schedule \"dualpipe\" sends both ways along the stages, and ways are chosen for "
        "one, "
        "allowed: \"machine\"");
  TestJob shared = job;
  shared.workload.flash_attention = true;
  CHECK(error_of(shared, "pipeline = 4\ncontext_parallel = 2\nschedule = \"dualpipe\"\n") ==
        "strategy.toml:2:20: context_parallel: schedule \"dualpipe\" has forward beside backward passes, and context "
        "ranks have one ring for them, allowed: 1");
  CHECK(error_of(job_of(4, 6, 2), cut + "\"dualpipe\"\n") ==
        "strategy.toml:3:12: schedule \"dualpipe\" needs at least 2 x 4 stages micro-batches, not 6");
  CHECK(error_of(job, cut + "\"1f1b\"\nrecomputed_layers = 1\n") ==
        "strategy.toml:4:21: recomputed_layers: no layer runs anything again, allowed: a recomputation, or 0");
  CHECK(
      error_of(job, cut + "\"1f1b\"\nrecomputation_method = \"uniform\"\nrecomputation = \"selective\"\n") ==
      "strategy.toml:4:24: recomputation_method: \"uniform\" repeats whole layers, allowed: recomputation = \"full\"");
}

}  // namespace tessera::strategy::split_backward
