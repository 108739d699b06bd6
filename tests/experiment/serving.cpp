// Prompts and the tokens behind them in one iteration, with times that are solved by hand: a picosecond a FLOP.
#include <catch2/catch.hpp>

#include "files.hpp"
#include "strategy/jobs.hpp"
#include "tessera/experiment/run.hpp"
#include "tessera/sim/simulate.hpp"

namespace tessera::strategy {
namespace {

using workload::Phase;

class PerFlop final : public workload::CostModel {
 public:
  Time time(const workload::Operator& op, const machine::DeviceSpec&) const override { return op.flops; }
};

/// GPT with h = 64 and 128 words on devices in a ring of 1 TB/s, 1 ps a byte, and 1 ns: two prompts of 4 tokens.
TestJob small_job(const std::string& devices, std::int64_t layers, Phase phase, std::int64_t generated) {
  TestJob job(1, gpt(layers, 64, 2, 128), 2);
  job.machine =
      program::machine_of("kind = \"ring\"\ndevices = " + devices + "\nbandwidth = \"1 TB/s\"\nlatency = \"1 ns\"\n");
  job.machine.device.memory_capacity = Bytes{1'000'000'000};
  job.workload.phase = phase;
  job.workload.sequence = 4;
  job.workload.generated = generated;
  job.cost = std::make_shared<PerFlop>();
  return job;
}

results::RunResults run(TestJob job, const std::string& text, sim::Laws laws = sim::Laws::all) {
  const Plan plan = job.plan(text);
  REQUIRE(job.diagnostics.errors() == std::vector<std::string>{});
  sim::SimulationOptions options;
  options.laws = laws;
  const auto alone = make_serial_communicator();
  return sim::simulate(job.machine, plan.program, *job.cost, *alone, options).results;
}

std::vector<results::PhaseRow> phases(Time prompt, Time all) { return {{"prompt", prompt}, {"generation", all}}; }

// One sequence: a layer's products are 24 h^2 FLOP a token, its attention 4 h a token and key, masked ones too; logits
// are 2 h v, of the last token alone.
constexpr std::int64_t h = 64, H = 2 * h * 128;
constexpr std::int64_t A = 4 * 24 * h * h + 4 * h * 4 * 4;  // four tokens that see four keys
constexpr std::int64_t a = 24 * h * h + 4 * h * 5;          // the second token that is made sees the prompt and itself

}  // namespace

TEST_CASE("serving: two prompts, two tokens each: the pass over prompts makes the first ones, a step the second") {
  const results::RunResults both = run(small_job("1", 1, Phase::prompt_and_generation, 2), "");
  CHECK(both.phases == phases(2 * (A + H), 2 * (A + H) + 2 * (a + H)));
  CHECK(both.iteration_time == both.phases.back().end);
  // What either takes alone, where generation finds prompts in the cache.
  const results::RunResults prompt = run(small_job("1", 1, Phase::prompt, 1), "");
  const results::RunResults generation = run(small_job("1", 1, Phase::generation, 1), "");
  CHECK(prompt.iteration_time == 2 * (A + H));
  CHECK(generation.iteration_time == 2 * (a + H));
  CHECK(prompt.phases.empty());
  // Forty tokens: one by the prompt, 39 steps.
  CHECK(run(small_job("1", 1, Phase::prompt_and_generation, 40), "").iteration_time ==
        prompt.iteration_time + run(small_job("1", 1, Phase::generation, 39), "").iteration_time);
}

TEST_CASE("serving: in a pipeline micro-batches follow each other, and a step begins when its token is there") {
  // Two stages of a layer, a micro-batch for each: its activation of 512 B leaves in 512 ps and is there in 1,512. The
  // second stage is busy from then on: three passes and two heads after the start all have their first token. The first
  // stage has long begun with the first micro-batch's step then, and with the second one's 1,008 ps later, when its
  // token of 8 B has come; its activation comes while the second stage is at the first one's head. So that stage never
  // waits again: two steps.
  const Time first = 3 * A + 1512 + 2 * H;
  const results::RunResults both = run(small_job("2", 2, Phase::prompt_and_generation, 2), "pipeline = 2");
  CHECK(both.phases == phases(first, first + 2 * (a + H)));
}

TEST_CASE("serving: laws change no time of a phase") {
  for (const std::string cut :
       {"pipeline = 2", "pipeline = 4\nmicro_batch = 1", "tensor = 2", "data = 2\ntensor = 2"}) {
    CAPTURE(cut);
    TestJob job = small_job(cut == "data = 2\ntensor = 2" || cut.starts_with("pipeline = 4") ? "4" : "2", 4,
                            Phase::prompt_and_generation, 100);
    job.workload.global_batch = 8;
    const results::RunResults with = run(job, cut), without = run(job, cut, sim::Laws::none);
    CHECK(with.phases == without.phases);
    CHECK(with.iteration_time == without.iteration_time);
    CHECK(with.phases.back().end == with.iteration_time);
  }
}

TEST_CASE("serving: what is not for generation is refused together with prompts as well") {
  TestJob job = small_job("2", 2, Phase::prompt_and_generation, 2);
  const auto errors = [&](const std::string& text) {
    (void)job.plan(text);
    return job.diagnostics.errors();
  };
  CHECK(errors("tensor = 2\nsequence_parallel = true") ==
        std::vector<std::string>{"strategy.toml:2:21: generation makes one token at a time, which cannot be cut along "
                                 "the sequence: sequence_parallel = false"});
  CHECK(errors("data_sharding = \"parameters\"") ==
        std::vector<std::string>{"strategy.toml:1:17: data_sharding = \"parameters\" would gather all weights for each "
                                 "token: allowed in training and prompt"});
  job.model.max_positions = 4;  // the first token that is made is the fifth, and comes back as input
  CHECK(errors("tensor = 2") ==
        std::vector<std::string>{"strategy.toml:1:1: sequences of 5 tokens, but model gpt has 4 learned positions"});
}

}  // namespace tessera::strategy

namespace tessera {
namespace {

/// What a run of two prompts says, and the summary's figures of it.
results::RunResults served(const std::string& workload) {
  const test::Folder folder;
  folder.write(
      "x.toml",
      test::ring +
          "[model]\nname = \"small\"\nlayers = 2\nhidden = 256\nheads = 4\nvocabulary = 1024\nmax_positions = 128\n"
          "[strategy]\nname = \"megatron\"\ntensor = 4\n[workload]\nsequence = 64\nglobal_batch = 2\n" +
          workload);
  config::Diagnostics diagnostics;
  const experiment::Source source = experiment::load(folder.path("x.toml"), {}, {}, diagnostics);
  const auto built = experiment::build(*source.table, diagnostics);
  REQUIRE(diagnostics.errors() == std::vector<std::string>{});
  const auto alone = make_serial_communicator();
  return experiment::run(*built, *alone).results;
}

}  // namespace

TEST_CASE("serving: a run says when the first token is there, and how far apart the others are") {
  const results::RunResults both = served("phase = \"prompt-and-generation\"\ngenerated = 5\n");
  REQUIRE(both.served.has_value());
  CHECK(both.served->phase == "prompt-and-generation");
  CHECK(both.served->sequences == 2);
  CHECK(both.served->first_token == both.phases.front().end);
  // Four tokens behind the first one, to the nearest picosecond.
  CHECK(both.served->token == (both.iteration_time - both.served->first_token + 2) / 4);
  CHECK(both.tokens == 2 * 5);
  const results::RunResults prompt = served("phase = \"prompt\"\n"),
                            generation = served("phase = \"generation\"\ngenerated = 4\n");
  CHECK(prompt.served->first_token == prompt.iteration_time);
  CHECK(prompt.served->token == 0);
  CHECK(prompt.tokens == 2 * 64);
  CHECK(generation.served->first_token == 0);
  CHECK(generation.served->token == (generation.iteration_time + 2) / 4);
  CHECK(both.iteration_time == prompt.iteration_time + generation.iteration_time);
  CHECK(!served("").served.has_value());
}

}  // namespace tessera
