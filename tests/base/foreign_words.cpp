// Words of other tools: what is said of them in the place of a guess.
#include "tessera/base/foreign_words.hpp"

#include <catch2/catch.hpp>
#include <cctype>
#include <set>
#include <sstream>

#include "tessera/base/config.hpp"

using namespace tessera::config;

namespace {

struct Pair {
  std::int64_t tensor = 1;
  std::string kind;
};

const Schema<Pair>& pair_schema() {
  static const Schema<Pair> schema = [] {
    Schema<Pair> s("strategy.megatron", "What the table calls by another name.");
    s.integer("tensor", &Pair::tensor, "ranks").otherwise("1");
    s.choice("kind", &Pair::kind, {"ring", "halving-doubling"}, "how").otherwise("ring");
    return s;
  }();
  return schema;
}

std::string error_of(const std::string& text) {
  Diagnostics diagnostics;
  (void)pair_schema().read(*parse_toml(text, "x.toml", diagnostics), diagnostics);
  return diagnostics.ok() ? "" : diagnostics.errors().front();
}

}  // namespace

TEST_CASE("a word of another tool says what it is here, as it is written there") {
  for (const char* word : {"tp", "TP", "tensor_parallel", "tensor-model-parallel-size", "--tensor-parallel-size",
                           "tensor_parallel_degree", "strategy.tp"})
    CHECK(foreign_hint(word) == "it is \"tensor\" of [strategy.megatron] here");
  CHECK(foreign_hint("tp", "strategy.megatron") == "it is \"tensor\" here");
  CHECK(foreign_hint("bfloat16") == "it is \"bf16\" here");
  CHECK(foreign_hint("gradient_accumulation_steps") ==
        "it is \"micro_batch\" of [strategy.megatron] here: how many there are follows from workload.global_batch and "
        "data");
  for (const char* word : {"context-parallel-size", "context_parallel_degree", "cp"})
    CHECK(foreign_hint(word) == "it is \"context_parallel\" of [strategy.megatron] here");
  CHECK(foreign_hint("cp_comm_type").starts_with("it is \"context_exchange\" of [strategy.megatron] here: "));
  CHECK(foreign_hint("a2a") == "it is \"all-to-all\" here");
  for (const char* word : {"zero", "zero_stage", "zero2", "fsdp", "FSDP", "fully_shard", "use_fsdp2"})
    CHECK(
        foreign_hint(word).starts_with("it is \"data_sharding\" of [strategy.megatron] here: \"parameters\" is FSDP"));
  CHECK(
      foreign_hint("SHARD_GRAD_OP").starts_with("it is \"reshard_after_forward\" of [strategy.megatron] here: false"));
  for (const char* word : {"hsdp", "HYBRID_SHARD", "hybrid_shard_zero2", "data_parallel_shard_degree"})
    CHECK(foreign_hint(word).starts_with("it is \"shard_ranks\" of [strategy.megatron] here: replicas of a group"));
  for (const char* word : {"rail-optimized", "rail_optimized_fabric", "rail"})
    CHECK(foreign_hint(word) == "it is \"rail-optimised\" here: fabric of a cluster");
  CHECK(foreign_hint("rail-only").starts_with("it is \"rail-optimised\" here: fabric of a cluster; with "));
  for (const char* word : {"dgx-b200", "B200", "hgx_b200"}) CHECK(foreign_hint(word) == "it is \"b200-cluster\" here");
  CHECK(foreign_hint("gb200") == "it is \"gb200-nvl72\" here: a node is a rack of 72");
  CHECK(foreign_hint("3d-torus") == "it is \"torus-3d\" here");
  CHECK(foreign_hint("NCCL_PXN_DISABLE") == "it is \"pxn\" of [machine.topology.cluster] here");
  CHECK(foreign_hint("world_size") ==
        "it is \"nodes\" of [machine.topology.cluster] and \"gpus_per_node\" of [machine.topology.cluster] here");
}

TEST_CASE("what is not modelled says so, and what is there instead") {
  CHECK(foreign_hint("hierarchical-context-parallel").starts_with("not modelled: all-to-all inside of a ring"));
  for (const char* word : {"h800-cluster", "gb300", "GB300-NVL72", "b300", "mi355x"})
    CHECK(foreign_hint(word).starts_with("not modelled: no stock machine"));
  CHECK(foreign_hint("collnet_chain").starts_with("not modelled: sums in the switches of the fabric"));
  for (const char* word : {"", "-", ".", "_size", "tensr", "a name of my own"}) CHECK(foreign_hint(word).empty());
}

TEST_CASE("unknown keys and values: other tools' words come before a guess, one's own spelling before them") {
  CHECK(error_of("tp = 2\n") == "x.toml:1:1: unknown key \"tp\" in [strategy.megatron], it is \"tensor\" here");
  CHECK(error_of("tensro = 2\n") ==
        "x.toml:1:1: unknown key \"tensro\" in [strategy.megatron], did you mean \"tensor\"?");
  CHECK(
      error_of("sharp = 2\n").starts_with("x.toml:1:1: unknown key \"sharp\" in [strategy.megatron], not modelled: "));
  CHECK(error_of("kind = \"sharp\"\n")
            .starts_with(
                "x.toml:1:8: \"kind\": unknown choice \"sharp\" (not modelled: sums in the switches of the fabric"));
  CHECK(error_of("kind = \"halvingdoubling\"\n") ==
        "x.toml:1:8: \"kind\": unknown choice \"halvingdoubling\" (it is \"halving-doubling\" here), allowed: ring, "
        "halving-doubling");
  // "hypercube" is in the table, and one of these choices in another spelling.
  CHECK(hint("HyperCube", {"hyper-cube", "hypercube"}) == " (did you mean \"hypercube\"?)");
}

TEST_CASE("the table: words in one spelling, each in one row, and a row says something") {
  std::set<std::string> seen;
  for (const ForeignWord& row : foreign_words()) {
    CHECK(!(row.here.empty() && row.note.empty()));
    std::istringstream words{std::string(row.words)};
    for (std::string word; words >> word;) {
      INFO(word);
      CHECK(seen.insert(word).second);
      for (const char c : word)
        CHECK((std::islower(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '*' ||
               std::isdigit(static_cast<unsigned char>(c)) != 0));
      // It is found as it stands there, and not hidden by another row.
      const std::string whole = word.ends_with('*') ? word.substr(0, word.size() - 1) : word;
      REQUIRE(find_foreign_word(whole) != nullptr);
      CHECK(find_foreign_word(whole)->words == row.words);
    }
  }
  CHECK(seen.size() > 300);
}
