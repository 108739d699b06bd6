// BERT with the heads of its pre-training (transformers, models/bert/modeling_bert.py, BertForPreTraining).
#include "families.hpp"

namespace tessera::workload {

Model read_bert(HuggingFaceConfig& config) {
  Model model;
  model.layers = config.integer("layers", {"num_hidden_layers"});
  model.hidden = config.integer("hidden", {"hidden_size"});
  model.heads = config.integer("heads", {"num_attention_heads"});
  model.ffn_hidden = config.integer("ffn_hidden", {"intermediate_size"});
  model.vocabulary = config.integer("vocabulary", {"vocab_size"});
  model.max_positions = config.integer("max_positions", {"max_position_embeddings"});
  model.token_types = config.integer("token_types", {"type_vocab_size"});
  model.causal = false;
  model.embedding_norm = true;
  model.final_norm = false;  // each layer ends with a norm
  model.masked_lm_head = true;
  model.tied_embeddings = config.boolean_or("tie_word_embeddings", true);
  model.dropout = config.dropout({"hidden_dropout_prob", "attention_probs_dropout_prob"}, 0.1);
  // Pooler (h x h and a bias) and next-sentence classifier (h x 2 and a bias).
  model.extra_parameters = model.hidden * model.hidden + model.hidden + 2 * model.hidden + 2;
  config.must_be("position_embedding_type", "absolute");
  config.ignore({"classifier_dropout", "hidden_act"});
  config.must_be_off({"chunk_size_feed_forward", "is_decoder"});
  return model;
}

}  // namespace tessera::workload
