// A vision tower in front of the embedding: what it computes, keeps, holds and sends, and what does not go with it.
#include <catch2/catch.hpp>

#include <algorithm>

#include "jobs.hpp"
#include "tessera/workload/vision.hpp"

namespace tessera::strategy {
namespace {
namespace vision_towers {

using program::MemoryCategory;
using Names = std::vector<std::string>;

constexpr std::int64_t s = 64, h = 512, width = 256, image = 16, seen = image + 1;
/// Of a layer of the tower, and of what is around its three of them; the projector.
constexpr std::int64_t of_layer = 12 * width * width + 13 * width;
constexpr std::int64_t of_tower = 3 * of_layer + (3 * 14 * 14 + 1 + seen) * width;
constexpr std::int64_t of_projector = width * h + h + h * h + h;

/// Three layers of which two run, over 4 x 4 patches and a class token.
workload::Vision tower_of(bool is_frozen) {
  workload::Vision vision;
  vision.layers = 3;
  vision.layers_run = 2;
  vision.hidden = width;
  vision.heads = 4;
  vision.ffn_hidden = 4 * width;
  vision.image_height = vision.image_width = 56;
  vision.patch = 14;
  vision.class_token = true;
  vision.position_rows = seen;
  vision.projector = {h, h};
  vision.frozen = is_frozen;
  return vision;
}

workload::Model text() {
  workload::Model model = gpt(4, h, 8, 1024);
  model.position = workload::PositionEmbedding::rotary;
  model.dropout = false;
  return model;
}
workload::Model with_tower(bool is_frozen) {
  workload::Model model = text();
  model.vision = tower_of(is_frozen);
  return model;
}

TestJob job_of(std::uint32_t devices, workload::Model model, std::int64_t batch = 4) {
  TestJob job(devices, std::move(model), batch);
  job.workload.sequence = s;
  job.workload.flash_attention = true;
  job.machine.device.peak["fp16"] = FlopPerSecond{100'000'000'000'000};
  return job;
}

Plan plan_of(TestJob job, const std::string& keys) {
  CAPTURE(keys);
  Plan plan = job.plan(keys);
  REQUIRE(job.diagnostics.errors() == Names{});
  CHECK(program::check_program(plan.program, job.machine) == Names{});
  return plan;
}

std::int64_t peak(const Plan& plan, program::DeviceId device, MemoryCategory category) {
  return at_peak(plan.program, device, category);
}

/// FLOP of products and attention of one image, by hand: two layers, patches, two linear layers.
constexpr double of_layers = 2.0 * (2 * seen * 12 * width * width + 4 * seen * seen * width);
constexpr double of_patches = 2.0 * image * 588 * width;
constexpr double of_first = 2.0 * image * width * h, of_second = 2.0 * image * h * h;

TEST_CASE("an image's FLOP: all of them forward; backward those of what is trained") {
  const std::string keys = "micro_batch = 1\n";
  const Plan plain = plan_of(job_of(1, text()), keys);
  const double forward = of_layers + of_patches + of_first + of_second;
  const Plan frozen = plan_of(job_of(1, with_tower(true)), keys);
  CHECK(frozen.hardware_flops - plain.hardware_flops == Approx(4 * (forward + of_first + 2 * of_second)).epsilon(1e-9));
  CHECK(frozen.model_flops - plain.model_flops == Approx(4 * (forward + of_first + 2 * of_second)).epsilon(1e-9));
  const Plan trained = plan_of(job_of(1, with_tower(false)), keys);
  // Fused attention makes scores once more backward: half of its forward FLOP again.
  constexpr double scores_again = 0.5 * 2 * 4 * seen * seen * width;
  CHECK(trained.hardware_flops - plain.hardware_flops ==
        Approx(4 * (3 * forward - of_patches + scores_again)).epsilon(1e-9));
  CHECK(trained.model_flops - plain.model_flops == Approx(4 * (3 * forward - of_patches)).epsilon(1e-9));
  CHECK(frozen.parameters - plain.parameters == of_tower + of_projector);
  // Two sequences at once are two images at once.
  CHECK(plan_of(job_of(1, with_tower(false)), "micro_batch = 2\n").hardware_flops == Approx(trained.hardware_flops));
}

TEST_CASE("a frozen tower has weights alone; a trained one gradients and optimizer state of all its parameters") {
  const std::string keys = "micro_batch = 1\n";
  const Plan plain = plan_of(job_of(1, text()), keys), frozen = plan_of(job_of(1, with_tower(true)), keys),
             trained = plan_of(job_of(1, with_tower(false)), keys);
  const auto more = [&](const Plan& plan, MemoryCategory category) {
    return peak(plan, 0, category) - peak(plain, 0, category);
  };
  // FP16 weights, FP32 gradients, and of the optimizer FP32 weights and two moments. Also of the layer that never runs.
  CHECK(more(frozen, MemoryCategory::weights) == 2 * (of_tower + of_projector));
  CHECK(more(frozen, MemoryCategory::gradients) == 4 * of_projector);
  CHECK(more(frozen, MemoryCategory::optimizer_state) == 12 * of_projector);
  CHECK(more(trained, MemoryCategory::weights) == 2 * (of_tower + of_projector));
  CHECK(more(trained, MemoryCategory::gradients) == 4 * (of_tower + of_projector));
  CHECK(more(trained, MemoryCategory::optimizer_state) == 12 * (of_tower + of_projector));
  // Between two kernels of a frozen one there is the input of fc1 and its output at most.
  CHECK(more(frozen, MemoryCategory::buffers) == 2 * seen * 5 * width);
  CHECK(more(trained, MemoryCategory::buffers) == 0);
}

/// B that the projector keeps of an image: inputs of both layers and of the activation between them, in FP16.
constexpr std::int64_t kept_of_projector = 2 * image * (width + h + h);
/// What a trained tower does: pixels; of each layer that runs 16 h of each token (five inputs of h, three of attention,
/// four before and behind the activation), and 4 B for each of four heads.
constexpr std::int64_t kept_of_layers = 2 * (2 * seen * 16 * width + 4 * seen * 4);
constexpr std::int64_t kept_of_patches = 2 * image * 588;

TEST_CASE("activations: of a frozen tower the projector's alone, until the backward pass of a micro-batch") {
  const auto kept = [](const workload::Model& model, const std::string& keys, std::int64_t batch = 4) {
    return peak(plan_of(job_of(2, model, batch), "pipeline = 2\nmicro_batch = 1\n" + keys), 0,
                MemoryCategory::activations);
  };
  // The first of two stages has two micro-batches at once.
  CHECK(kept(with_tower(true), "") - kept(text(), "") == 2 * kept_of_projector);
  const std::int64_t all = kept_of_projector + kept_of_layers + kept_of_patches;
  CHECK(kept(with_tower(false), "") - kept(text(), "") == 2 * all);
  CHECK(kept(with_tower(false), "", 16) == kept(with_tower(false), ""));  // all is given back
  // Layers that run again keep their inputs.
  const std::string again = "vision_recomputation = \"full\"\n";
  CHECK(kept(with_tower(false), "") - kept(with_tower(false), again) == 2 * (kept_of_layers - 2 * 2 * seen * width));
  const double more = plan_of(job_of(1, with_tower(false)), "micro_batch = 1\n" + again).hardware_flops -
                      plan_of(job_of(1, with_tower(false)), "micro_batch = 1\n").hardware_flops;
  CHECK(more == Approx(4 * of_layers).epsilon(1e-9));
  // What the language model's layers run again is another matter.
  CHECK(kept(with_tower(false), "recomputation = \"full\"\n") - kept(text(), "recomputation = \"full\"\n") == 2 * all);
}

TEST_CASE("the tower stands on the first stage, whatever the schedule") {
  const auto plan = [](bool has_tower, const std::string& keys) {
    return plan_of(job_of(2, has_tower ? with_tower(false) : text(), 8), "pipeline = 2\nmicro_batch = 1\n" + keys);
  };
  const Plan with = plan(true, ""), without = plan(false, "");
  CHECK(peak(with, 0, MemoryCategory::weights) - peak(without, 0, MemoryCategory::weights) ==
        2 * (of_tower + of_projector));
  for (const auto category : {MemoryCategory::weights, MemoryCategory::activations, MemoryCategory::optimizer_state})
    CHECK(peak(with, 1, category) == peak(without, 1, category));
  for (const std::string keys : {"schedule = \"gpipe\"\n", "schedule = \"zb-h1\"\n", "interleave = 2\n"}) {
    CAPTURE(keys);
    CHECK(plan(true, keys).hardware_flops == Approx(with.hardware_flops));
  }
  // Spread by time, the first stage has fewer layers than without.
  const auto layers = [](bool has_tower) {
    workload::Model model = has_tower ? with_tower(false) : text();
    model.layers = 17;
    model.vision.images = 4;
    TestJob job = job_of(2, model, 8);
    const Plan spread = plan_of(job, "pipeline = 2\nmicro_batch = 1\nuneven_layers = \"spread\"\n");
    const auto found =
        std::ranges::find(spread.description, "layers a stage", &std::pair<std::string, std::string>::first);
    return found == spread.description.end() ? "" : found->second;
  };
  CHECK(layers(false) == "9 x 1, 8 x 1");
  CHECK(layers(true) < layers(false));
}

/// B that device 0 of two tensor ranks sends of one micro-batch more than without a tower.
std::int64_t more_sent(bool is_frozen, const std::string& keys) {
  const auto sent = [&](workload::Model model) {
    TestJob job = job_of(2, std::move(model), 1);
    const Plan plan = plan_of(job, "tensor = 2\nmicro_batch = 1\n" + keys);
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  return sent(with_tower(is_frozen)) - sent(text());
}

TEST_CASE("tensor ranks of a tower sum two activations of each layer, and the projector's, and take no part of them") {
  // Of two ranks each sends all of what is summed, in FP16. Forward two sums of each of two layers, and the output of
  // the projector; backward as many of each layer, and the projector's input.
  constexpr std::int64_t activation = 2 * seen * width, made = 2 * image * h, read = 2 * image * width;
  CHECK(more_sent(true, "") == 4 * activation + made);
  CHECK(more_sent(false, "") == 8 * activation + made + read);
  CHECK(more_sent(false, "overlap_tensor_communication = false\n") == more_sent(false, ""));
  // Norms of towers see all tokens on each rank: sequence parallelism has nothing of theirs to sum.
  CHECK(more_sent(false, "sequence_parallel = true\n") == more_sent(false, ""));
}

TEST_CASE("replicas sum gradients of what is trained alone") {
  const auto sent = [](workload::Model model, const std::string& keys) {
    TestJob job = job_of(2, std::move(model), 4);
    const Plan plan = plan_of(job, "data = 2\nmicro_batch = 1\n" + keys);
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  for (const std::string keys :
       {"", "overlap_gradient_reduction = true\n", "distributed_optimizer = true\n",
        "distributed_optimizer = true\noverlap_gradient_reduction = true\noverlap_parameter_gathering = true\n"}) {
    CAPTURE(keys);
    const std::int64_t of_one = keys.find("distributed") == std::string::npos ? 4 : 3;
    CHECK(sent(with_tower(true), keys) - sent(text(), keys) == of_one * of_projector);
    CHECK(sent(with_tower(false), keys) - sent(text(), keys) == of_one * (of_projector + of_tower));
  }
}

TEST_CASE("a prompt runs the tower once; tokens that are generated have its weights beside them") {
  const auto plan = [](bool has_tower, workload::Phase phase) {
    TestJob job = job_of(2, has_tower ? with_tower(false) : text());
    job.workload.phase = phase;
    job.workload.generated = 16;
    return plan_of(job, "pipeline = 2\n");
  };
  const double forward = 4 * (of_layers + of_patches + of_first + of_second);
  for (const auto phase :
       {workload::Phase::prompt, workload::Phase::generation, workload::Phase::prompt_and_generation}) {
    const Plan with = plan(true, phase), without = plan(false, phase);
    const bool runs = phase != workload::Phase::generation;
    CHECK(with.hardware_flops - without.hardware_flops == Approx(runs ? forward : 0).margin(1));
    CHECK(with.model_flops - without.model_flops == Approx(runs ? forward : 0).margin(1));
    CHECK(peak(with, 0, MemoryCategory::weights) - peak(without, 0, MemoryCategory::weights) ==
          2 * (of_tower + of_projector));
    CHECK(peak(with, 0, MemoryCategory::kv_cache) == peak(without, 0, MemoryCategory::kv_cache));
    REQUIRE(with.served);
    CHECK(with.served->largest_batch <= without.served->largest_batch);
  }
}

TEST_CASE("layers that see windows cost less attention, and the same products") {
  workload::Model whole = with_tower(false);
  whole.vision.class_token = false;
  whole.vision.image_height = whole.vision.image_width = 112;
  whole.vision.images = 1;
  workload::Model windows = whole;
  windows.vision.window = 4;
  windows.vision.whole_layers = {1};
  const auto flops = [](const workload::Model& model) {
    return plan_of(job_of(1, model, 1), "micro_batch = 1\n").hardware_flops;
  };
  // Layer 0 sees 16 of 64 patches. Backward the fused attention makes scores once more: 2.5 times the forward FLOP.
  const double one = 4.0 * 64 * width;
  CHECK(flops(whole) - flops(windows) == Approx(3.5 * one * (64 - 16)).epsilon(1e-9));
}

TEST_CASE("a projector of one layer is gathered by the tensor ranks") {
  workload::Model one = with_tower(true);
  one.vision.projector = {h};
  const auto sent = [](const workload::Model& model) {
    TestJob job = job_of(2, model, 1);
    const Plan plan = plan_of(job, "tensor = 2\nmicro_batch = 1\n");
    return static_cast<std::int64_t>(program::totals(plan.program, job.machine, 0).bytes_sent);
  };
  // Half of what both make, of FP16; the layers' sums as before.
  CHECK(sent(one) - sent(text()) == 4 * 2 * seen * width + image * h);
}

TEST_CASE("what does not go with a tower is said by the key") {
  const auto refusal = [](const std::string& keys, std::int64_t sequence = s) {
    TestJob job = job_of(4, with_tower(false), 8);
    job.workload.sequence = sequence;
    static_cast<void>(job.plan(keys));
    return job.diagnostics.errors().empty() ? "" : job.diagnostics.errors().front();
  };
  const std::string why = ": model gpt has a vision tower, allowed: ";
  CHECK(refusal("data = 4\ndata_sharding = \"parameters\"") ==
        "strategy.toml:2:17: data_sharding" + why + "data_sharding = \"auto\"");
  CHECK(refusal("data = 4\nweight_streaming = \"devices\"") ==
        "strategy.toml:2:20: weight_streaming" + why + "weight_streaming = \"off\"");
  CHECK(refusal("tensor = 4\nsequence_parallel = true\ntensor_rows = 2") ==
        "strategy.toml:3:15: tensor_rows" + why + "tensor_rows = 1");
  CHECK(refusal("context_parallel = 2\ndata = 2") ==
        "strategy.toml:1:20: context_parallel" + why + "context_parallel = 1");
  CHECK(refusal("pipeline = 4\nmicro_batch = 1\nschedule = \"dualpipe\"") ==
        "strategy.toml:3:12: schedule" + why + "a schedule whose micro-batches go one way");
  CHECK(refusal("data = 4", 15) ==
        "strategy.toml:1:1: workload.sequence = 15, and images take 16 tokens of it (1 x 16), allowed: 16 or more");
  workload::Model odd = with_tower(false);
  odd.vision.heads = 2;
  TestJob job = job_of(4, odd, 8);
  static_cast<void>(job.plan("tensor = 4\n"));
  CHECK(job.diagnostics.errors() ==
        Names{"strategy.toml:1:10: tensor = 4 does not divide the 2 heads of the vision tower; uneven_heads = \"pad\" "
              "lets every rank carry ceil of them"});
  TestJob warned = job_of(1, with_tower(true), 8);
  static_cast<void>(warned.plan("vision_recomputation = \"full\"\n"));
  CHECK(warned.diagnostics.warnings().size() == 1);
}

}  // namespace vision_towers
}  // namespace
}  // namespace tessera::strategy
