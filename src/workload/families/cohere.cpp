// Command R and R+, Command R7B and A (transformers, models/cohere/modeling_cohere.py, models/cohere2).
#include "llama_layers.hpp"

namespace tessera::workload {
namespace {

/// The factor on the logits is one of their product.
Model read_cohere_layers(HuggingFaceConfig& config) {
  Model model = read_llama_layers(config, true);
  model.norm = Norm::layernorm;
  model.norm_bias = false;
  model.parallel_block = ParallelBlock::one_norm;
  read_attention_bias(config, false, model);
  config.accept_code("CohereConfig");
  config.ignore({"logit_scale", "model_max_length"});
  return model;
}

}  // namespace

Model read_cohere(HuggingFaceConfig& config) {
  Model model = read_cohere_layers(config);
  if (config.boolean_or("use_qk_norm", false)) model.query_key_norm = QueryKeyNorm::per_head;
  return model;
}

Model read_cohere2(HuggingFaceConfig& config) {
  Model model = read_cohere_layers(config);
  model.sliding_window = config.integer_or("sliding_window", {"sliding_window"}, 4096, 0);
  // These describe the family once more; transformers reads none of them.
  config.ignore({"cache_implementation", "layer_switch", "order_of_interleaved_layers", "position_embedding_type",
                 "rotary_pct", "use_embedding_sharing", "use_gated_activation", "use_parallel_block",
                 "use_parallel_embedding"});
  config.must_be_off({"use_qk_norm"});
  read_layer_types(config, all_but_each(config, 4), model);
  for (LayerKind& kind : model.layer_kinds)
    if (kind.sliding_window == 0) kind.rotary_fraction = 0;
  if (model.layer_kinds.empty() && model.sliding_window == 0) model.rotary_fraction = 0;
  return model;
}

}  // namespace tessera::workload
