// The [workload] table.
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy {

const config::Schema<Workload>& workload_schema() {
  using workload::Phase;
  static const config::Schema<Workload> schema = [] {
    config::Schema<Workload> s("workload", "What is run, however it is cut.");
    s.choice<Phase>("phase", &Workload::phase,
                    {{"training", Phase::training}, {"prompt", Phase::prompt}, {"generation", Phase::generation}},
                    "one training iteration; one forward pass over prompts; or making tokens behind prompts that are "
                    "in the KV cache")
        .otherwise("training");
    s.integer("sequence", &Workload::sequence, "tokens of a sequence; in generation, of the prompt before")
        .at_least("1")
        .at_most("16777216")
        .otherwise("2048");
    s.integer("global_batch", &Workload::global_batch, "sequences of one iteration, all replicas together")
        .at_least("1")
        .at_most("16777216")
        .otherwise("1");
    s.integer("generated", &Workload::generated, "generation: tokens to make for each sequence")
        .at_least("1")
        .at_most("1048576")
        .otherwise("1");
    s.boolean("flash_attention", &Workload::flash_attention, "attention in one kernel that keeps the scores on chip")
        .otherwise("false");
    s.choice("datatype", &Workload::datatype, workload::datatype_names(), "of weights and activations")
        .otherwise("fp16");
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy
