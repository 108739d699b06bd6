// Weights that are gathered over the replicas when they are needed (FSDP): which of that an iteration waits for.
#include <catch2/catch.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ring_of_replicas.hpp"

namespace tessera::strategy {
namespace {

Time time_with(Time forward, const std::string& keys, std::int64_t micro_batches = 1) {
  TestJob job = ring_job(forward, micro_batches);
  Plan plan = job.plan(keys);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  plan.program.free_reductions = true;
  const Time time = result_of(job, plan, sim::Laws::all).results.iteration_time;
  CHECK(result_of(job, plan, sim::Laws::none).results.iteration_time == time);
  return time;
}

Time time_of(Time forward, const std::string& keys, std::int64_t micro_batches = 1) {
  return time_with(forward, "data_sharding = \"parameters\"\n" + keys, micro_batches);
}

/// What flat parameters need takes a picosecond a byte, all else nothing.
class PerFlatByte final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override {
    const bool counts = op.name.starts_with("cast of the") || op.name.starts_with("division of the") ||
                        op.name == "gradients side by side";
    return counts ? op.bytes_read + op.bytes_written : 0;
  }
};

}  // namespace

TEST_CASE("sharded weights: with free computing an iteration is its collectives, one after another") {
  const Time collectives = 2 * (gE + 2 * g + gH) + rE + 2 * r + rH;
  for (const std::string ahead : {"0", "1", "2", "3"}) {
    CAPTURE(ahead);
    CHECK(time_of(0, "gather_ahead = " + ahead) == collectives + norm);
    CHECK(time_of(0, "gather_ahead = " + ahead, 5) == 5 * collectives + norm);
  }
  CHECK(time_of(0, "reshard_after_forward = false") == collectives - gE - 2 * g - gH + norm);
}

TEST_CASE("sharded weights: gathers hide behind the layers before") {
  const Time C = 1000 * us;  // longer than any of the collectives
  // Embedding (free) and first layer are gathered before anything computes; the second layer and the head beside the
  // layers. The head's backward pass follows its forward pass at once, and waits for its weights, since they are
  // gathered when the buffer of the last layer is free: gH. Neither has the last layer been gathered meanwhile: g. Then
  // everything is there, until the first layer's gradients, and then the embedding's, are reduced behind all others.
  const Time forward = gE + g + 2 * C, backward = gH + g + 4 * C, last = r + rE;
  CHECK(time_of(C, "") == forward + backward + last + norm);
  CHECK(time_of(C, "recomputation = \"none\"\ngather_ahead = 1") == forward + backward + last + norm);
  // In the next micro-batch the embedding waits for the reduction of the first layer as well, which was to be begun
  // before; and the first layer for that of the embedding.
  CHECK(time_of(C, "", 2) == forward + backward + (r + rE) + forward + backward + last + norm);
}

TEST_CASE("sharded weights: nothing gathered ahead is waited for unit by unit, but gradients are reduced beside") {
  const Time C = 1000 * us;
  CHECK(time_of(C, "gather_ahead = 0") == 2 * (gE + 2 * g + gH) + 6 * C + r + rE + norm);
}

TEST_CASE("sharded weights: two ahead, the head's are there when its backward pass begins") {
  const Time C = 1000 * us;
  // They are gathered in the place of the first layer, beside the second one; and then that one again.
  CHECK(time_of(C, "gather_ahead = 2") == gE + g + 2 * C + g + 4 * C + r + rE + norm);
}

TEST_CASE("sharded weights: without resharding no backward pass waits for weights") {
  const Time C = 1000 * us;
  CHECK(time_of(C, "reshard_after_forward = false") == gE + g + 6 * C + r + rE + norm);
}

TEST_CASE("sharded weights: a unit waits for the room of its gradients, two units before") {
  // Gradients of a layer take 152.952 us, a layer's backward pass 20: the reductions follow one another. Before the
  // last layer come the gathers of the forward pass, of the head and of itself. With all gathers early, reductions
  // begin with the head's, and each of the others when the one before has ended.
  const Time C = 10 * us;
  const Time gathers = gE + g + g + gH;  // longer than the layers beside them: they follow one another as well
  CHECK(time_of(C, "reshard_after_forward = false") == gathers + rH + r + r + rE + norm);
}

TEST_CASE("sharded gradients: whole weights are waited for once, and the last units' reductions") {
  const Time C = 1000 * us, all = over_ring(2 * (139'264 + 2 * 49'984 + 128)), last = r + rE + norm;
  const std::string behind = "data_sharding = \"gradients\"\n";
  // The head's and the second layer's gradients are reduced beside the layers' backward passes.
  CHECK(time_with(C, behind) == 6 * C + last + all);
  CHECK(time_with(C, behind, 2) == 12 * C + last + all);  // those of the first micro-batch beside the second one
  // Weights that are gathered beside the next forward pass: it waits for the embedding's and the first layer's.
  CHECK(time_with(C, behind + "overlap_parameter_gathering = true") == gE + g + 6 * C + last);
  // With free computing the reductions are all there is.
  CHECK(time_with(0, behind, 3) == 3 * (rH + 2 * r + rE) + norm + all);
}

TEST_CASE("shard groups: parts are all-reduced beside what the group does, and the last ones behind it") {
  // Two rows of two dies: a row is a group, a column holds the same parts, and no message crosses another one's link.
  // Two gather, or reduce and scatter, S bytes in 1 us + S/2 ns, and all-reduce them in twice that.
  constexpr Time C = 1000 * us, P = 139'264 + 2 * 49'984 + 128;
  const auto two = [](Time bytes) { return us + bytes / 2 * 1000; };
  const auto time = [&](const std::string& keys, std::int64_t micro_batches, Time forward = 1000 * us) {
    TestJob job = ring_job(forward, micro_batches);
    job.machine =
        program::machine_of("kind = \"mesh\"\ncolumns = 2\nrows = 2\nbandwidth = \"1 GB/s\"\nlatency = \"1 us\"\n");
    job.machine.device = ring_job(forward, 1).machine.device;
    Plan plan = job.plan(keys + "shard_ranks = 2");
    REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
    plan.program.free_reductions = true;
    const Time with = result_of(job, plan, sim::Laws::all).results.iteration_time;
    CHECK(result_of(job, plan, sim::Laws::none).results.iteration_time == with);
    return with;
  };
  const Time wE = two(2 * 139'264), w = two(2 * 49'984), wH = two(2 * 8'320), all = two(2 * P);
  const Time sE = two(4 * 139'264), s = two(4 * 49'984);
  const Time aE = 2 * two(2 * 139'264), a = 2 * two(2 * 49'984), norm_of_two = us + 4000;
  // As without groups, but that the first layer's part is all-reduced beside the embedding's reduce-scatter, and the
  // embedding's behind both.
  const Time forward = wE + w + 2 * C, backward = wH + w + 4 * C, last = s + std::max(a, sE) + aE + norm_of_two;
  CHECK(time("data_sharding = \"parameters\"\n", 1) == forward + backward + last);
  // The gathers of the next micro-batch wait for the reduce-scatters, and not for the all-reduces.
  CHECK(time("data_sharding = \"parameters\"\n", 2) == 2 * (forward + backward) + s + sE + last);
  CHECK(time("data_sharding = \"gradients\"\n", 2) == 12 * C + last + all);
  CHECK(time("distributed_optimizer = true\n", 2) == 12 * C + two(4 * P) + 2 * two(2 * P) + norm_of_two + all);
  // With free computing: head, second layer, first layer, embedding are reduced one after another. The embedding's
  // gradients want the room of the second layer's, whose part is all-reduced behind its reduce-scatter, a us longer
  // than the first layer's takes; the embedding's part is all-reduced at the end. In the next micro-batch the second
  // layer wants the embedding's room.
  const Time sH = two(4 * 8'320), first = sH + s + a + sE, next = aE + s + a + sE;
  CHECK(time("data_sharding = \"gradients\"\n", 1, 0) == first + aE + norm_of_two + all);
  CHECK(time("data_sharding = \"gradients\"\n", 2, 0) == first + next + aE + norm_of_two + all);
  // Summed over groups in the last one alone, those before are their reduce-scatters, one after another.
  const std::string last_alone = "data_sharding = \"gradients\"\ngroup_reduction = \"last-micro-batch\"\n";
  CHECK(time(last_alone, 3, 0) == 2 * (sH + 2 * s + sE) + first + aE + norm_of_two + all);
}

TEST_CASE("shard groups: a search finds what brute force does") {
  TestJob job = ring_job(20 * us, 2);
  job.evaluator = sim::make_evaluator(job.machine, *job.cost);
  const auto table =
      config::parse_toml("distributed_optimizer = \"any\"\ndata_sharding = \"any\"\nshard_ranks = \"any\"",
                         "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  // Over all four replicas or two groups of two; without anything cut there is one way.
  std::vector<Time> times = {evaluations.one(job.plan("").program).time};
  for (const std::string keys :
       {"distributed_optimizer = true\n", "data_sharding = \"gradients\"\n", "data_sharding = \"parameters\"\n"})
    for (const std::string groups : {"", "shard_ranks = 2"})
      times.push_back(evaluations.one(job.plan(keys + groups).program).time);
  const Searched found = megatron::kind().search(*table, job.job_with(evaluations));
  CHECK(found.report->found.judged.size() == times.size());
  CHECK(found.report->found.ranked.front().evaluation.time == std::ranges::min(times));
}

TEST_CASE("sharded weights: a search finds them where nothing else fits, and the fastest of all where much does") {
  TestJob job = ring_job(20 * us, 4);
  job.model = gpt(12, 64, 4, 128);
  job.model.max_positions = 64;
  job.evaluator = sim::make_evaluator(job.machine, *job.cost);
  const auto table = config::parse_toml(
      "tensor = [1, 2]\nmicro_batch = \"any\"\ndistributed_optimizer = \"any\"\ndata_sharding = \"any\"",
      "strategy.toml", job.diagnostics);
  const auto evaluations = job.evaluations();
  // 4 and 2 replicas have 3 and 4 micro-batches; there are 4 ways to hold what they hold.
  Time best = std::numeric_limits<Time>::max();
  std::vector<std::int64_t> needs;
  std::int64_t least_of_others = std::numeric_limits<std::int64_t>::max();
  for (const int tensor : {1, 2}) {
    for (const int micro : {1, 2, 4, 8}) {
      for (const std::string state : {"", "distributed_optimizer = true\n", "data_sharding = \"gradients\"\n",
                                      "data_sharding = \"parameters\"\n"}) {
        const Plan plan = job.plan(fmt::format("{}tensor = {}\nmicro_batch = {}", state, tensor, micro));
        if (!job.diagnostics.ok()) continue;
        best = std::min(best, evaluations.one(plan.program).time);
        needs.push_back(program::memory_peak(plan.program, 0).total);
        if (state.find("parameters") == std::string::npos) least_of_others = std::min(least_of_others, needs.back());
      }
    }
  }
  REQUIRE(needs.size() == 4 * (3 + 4));
  const Searched free = megatron::kind().search(*table, job.job_with(evaluations));
  CHECK(free.report->found.judged.size() == needs.size());
  CHECK(free.report->found.ranked.front().evaluation.time == best);
  const std::int64_t capacity = least_of_others - 1;
  job.machine.device.memory_capacity = Bytes{capacity};
  job.evaluator = sim::make_evaluator(job.machine, *job.cost);
  const auto tight = job.evaluations();
  const Searched small = megatron::kind().search(*table, job.job_with(tight));
  CHECK(small.report->found.count(program::search::Fate::too_large) ==
        std::ranges::count_if(needs, [&](std::int64_t need) { return need > capacity; }));
  CHECK(*small.found->find("data_sharding")->string() == "parameters");
}

TEST_CASE("sharded weights: flat parameters are cast before a gather, their gradients copied, cast and divided") {
  TestJob job = ring_job(0, 3);
  job.cost = std::make_shared<PerFlatByte>();
  const auto row = [&](const std::string& keys) {
    const Plan plan = job.plan("data_sharding = \"parameters\"\n" + keys);
    REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
    const auto with = result_of(job, plan, sim::Laws::all).results;
    CHECK(result_of(job, plan, sim::Laws::none).results.device_rows == with.device_rows);
    return with.device_rows[0];
  };
  const auto spent = [](const results::DeviceRow& device, program::Activity activity) {
    return device.activity[static_cast<std::size_t>(activity)];
  };
  // P parameters in all, of which a replica keeps a quarter in FP32: 4 + 2 B to cast one, before each pass. Gradients
  // in BF16 side by side, 2 + 2 B, cast to FP32, 2 + 4 B, divided, 4 + 4 B; and a quarter of them divided again.
  constexpr Time P = 139'264 + 2 * 49'984 + 8'320;
  const results::DeviceRow flat = row("flat_parameters = true");
  CHECK(spent(flat, program::Activity::forward) == 3 * (6 * P / 4));
  CHECK(spent(flat, program::Activity::backward) == 3 * (6 * P / 4 + (4 + 6 + 8) * P + 8 * P / 4));
  // In BF16 they are not cast, and divided as they are; weights that stay whole are cast once.
  const results::DeviceRow pure =
      row("flat_parameters = true\nreduction_precision = \"fp16\"\nreshard_after_forward = false");
  CHECK(spent(pure, program::Activity::backward) == 3 * ((4 + 4) * P + 4 * P / 4));
  CHECK(spent(row(""), program::Activity::backward) == 0);
}

}  // namespace tessera::strategy
