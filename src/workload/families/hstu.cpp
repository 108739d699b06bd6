// HSTU, the dense part of a generative recommender (Zhai et al. 2024, arXiv 2402.17152; DlrmHSTUConfig of
// github.com/facebookresearch/generative-recommenders, which has no config.json: keys are its fields). Embeddings of
// users and items and the heads of its tasks are not here.
#include <fmt/format.h>

#include "families.hpp"

namespace tessera::workload {

Model read_hstu(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"hstu_attn_num_layers"});
  model.hidden = config.integer("hidden", {"hstu_transducer_embedding_dim"});
  model.heads = config.integer("heads", {"hstu_num_heads"});
  model.head_dim = config.integer("head_dim", {"hstu_attn_linear_dim"});
  if (const std::int64_t keys = config.integer("head_dim", {"hstu_attn_qk_dim"}); keys != model.head_dim)
    config.refuse("hstu_attn_qk_dim", fmt::format("{}, as hstu_attn_linear_dim", model.head_dim));
  model.max_positions = config.integer("max_positions", {"max_seq_len"});
  model.time_buckets = config.integer_or("time_buckets", {"num_time_buckets"}, 128);
  model.mixer = Mixer::hstu;
  model.position = PositionEmbedding::none;
  model.mlp = model.bias = model.qkv_bias = model.tied_embeddings = model.dropout = model.final_norm = false;
  config.must_be_off({"hstu_group_norm"});
  config.ignore({"hstu_embedding_table_dim", "hstu_input_dropout_ratio", "hstu_linear_dropout_rate"});
  return model;
}

}  // namespace tessera::workload
