#include "options.hpp"

#include <map>

#include "cuts/graph.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::strategy::primepar {

const std::vector<PartitionKey>& partition_keys() {
  static const std::vector<PartitionKey> keys{{"attention_norm", &Partitions::attention_norm},
                                              {"qkv", &Partitions::qkv},
                                              {"scores", &Partitions::scores},
                                              {"softmax", &Partitions::softmax},
                                              {"context", &Partitions::context},
                                              {"projection", &Partitions::projection},
                                              {"attention_residual", &Partitions::attention_residual},
                                              {"mlp_norm", &Partitions::mlp_norm},
                                              {"fc1", &Partitions::fc1},
                                              {"activation", &Partitions::activation},
                                              {"fc2", &Partitions::fc2},
                                              {"mlp_residual", &Partitions::mlp_residual}};
  return keys;
}

char tensor_dimension(const std::string& key) {
  static const std::map<std::string, char> cut{{"qkv", 'K'},     {"fc1", 'K'},       {"projection", 'N'},
                                               {"fc2", 'N'},     {"scores", 'H'},    {"softmax", 'H'},
                                               {"context", 'H'}, {"activation", 'F'}};
  const auto found = cut.find(key);
  return found == cut.end() ? 'R' : found->second;
}

const config::Schema<Partitions>& partitions_schema() {
  static const config::Schema<Partitions> schema = [] {
    config::Schema<Partitions> s(
        "strategy.primepar.partitions",
        "How each operator is cut, such as {N, P(2x2)}, or by layers, such as 95 x {N, P(2x2)}, {N, N}. Products: "
        "B, M, N, K, P(2x2), P(4x4), ...; scores, context: H too; norms, residuals: B, M, H, R; softmax: B, H, "
        "M, R; activation: B, M, F, R (docs/primepar.md).");
    for (const auto& [name, member] : partition_keys())
      s.text(name, member,
             std::string("of ") + name +
                 ": a dimension halves it and uses one bit of the device's number, P(2^k x 2^k) uses 2k; the most "
                 "significant bit first; empty: searched")
          .optional();
    return s;
  }();
  return schema;
}

namespace {

/// Those of one chunk a stage.
std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const program::PipelineOrder& order : program::pipeline_orders()) {
    if (!order.splits_backward && order.check({2, 1, 3, true}).empty()) names.push_back(order.name);
  }
  return names;
}

}  // namespace

const config::Schema<Options>& options_schema() {
  static const config::Schema<Options> schema = [] {
    config::Schema<Options> s("strategy.primepar", "Operators cut in space and time over all devices (PrimePar).");
    s.also_accept("name", "\"primepar\"");
    s.choice("graph", &Options::graph, graph_names(), "the layers of the model, or the MLP of one").otherwise("layer");
    s.boolean("temporal", &Options::temporal, "whether P may be chosen, or dimensions alone").otherwise("true");
    s.boolean("overlap_gradient_reduction", &Options::overlap_gradient_reduction,
              "all-reduces of weight gradients run beside what is computed after them")
        .otherwise("false");
    s.integer("pipeline", &Options::pipeline, "pipeline stages, a power of two; each on as many devices, all cut alike")
        .at_least("1")
        .otherwise("1");
    s.integer("micro_batches", &Options::micro_batches, "micro-batches that the global batch is split into")
        .at_least("1")
        .at_most("1000000")
        .otherwise("1");
    s.choice("schedule", &Options::schedule, schedule_names(), "order of the passes of a pipeline's micro-batches")
        .otherwise("1f1b");
    s.boolean("recomputation", &Options::recomputation,
              "a layer keeps only what it reads, and runs forward again before it runs backward (full recomputation)")
        .otherwise("false");
    s.choice("sublayers", &Options::sublayers, program::sublayer::levels(),
             "products whose results are summed before they are used: by operators and collectives, or at transaction "
             "level in this configuration of strategy t3 (docs/t3.md)")
        .otherwise("operators");
    s.integer(
         "tensor", &Options::tensor,
         "what partitions leaves out is cut as strategy megatron cuts it: heads and columns over so many devices, a "
         "power of two, the batch over the others; 0: it is searched")
        .at_least("0")
        .otherwise("0");
    s.integer("simulated", &Options::simulated,
              "plans of a search that are simulated, each the best predicted for other partitions of the linears, and "
              "as many "
              "without P; the fastest is taken; below 2: the best predicted is taken")
        .at_least("0")
        .at_most("1000")
        .otherwise("8");
    s.table("partitions", &Options::partitions, partitions_schema(),
            "operators whose partition is not to be chosen, see strategy.primepar.partitions")
        .optional();
    s.table("compared", &Options::compared, partitions_schema(),
            "a plan, with a partition of every operator, that is simulated beside those of a search, and taken where "
            "it is "
            "faster")
        .optional();
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::primepar
