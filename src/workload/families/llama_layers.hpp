// What the families after LLaMA have in common, and windows that differ by layer.
#pragma once

#include <functional>

#include "families.hpp"

namespace tessera::workload {

/// Dimensions under LLaMA's names of the keys, a gated MLP, RMS norms, rotary positions; no biases, dropout of
/// probabilities alone. `tied`: whether embeddings are where the file does not say.
[[nodiscard]] Model read_llama_layers(HuggingFaceConfig& config, bool tied);
/// "attention_bias": of the projections of queries, keys and values, and of the output projection.
void read_attention_bias(HuggingFaceConfig& config, bool fallback, Model& model);
/// The share of a head that is turned, under its own key or among those of newer files.
void read_rotary_fraction(HuggingFaceConfig& config, const char* key, double fallback, Model& model);
/// A soft cap: `fallback` where the file has no such key, none where it is null.
[[nodiscard]] double read_softcap(HuggingFaceConfig& config, const char* field, const char* key, double fallback);

/// Of Qwen: all layers have experts, but for those that "mlp_only_layers" names, and with "decoder_sparse_step" those
/// between.
[[nodiscard]] std::vector<bool> sparse_layers(HuggingFaceConfig& config, const Model& model);

/// Of each layer whether "layer_types" names it `type`, all others being "full_attention"; without that key whether
/// `rule` holds. Empty after an error.
[[nodiscard]] std::vector<bool> layers_of_type(HuggingFaceConfig& config, const std::string& type,
                                               const std::function<bool(std::int64_t layer)>& rule, const Model& model);
/// Gives the layers with a window a kind of their own, "sliding", beside "full", where not all have one: those that
/// "layer_types" names, or for which the family's own rule holds. Comes last: kinds are as the model is.
void read_layer_types(HuggingFaceConfig& config, const std::function<bool(std::int64_t layer)>& is_sliding,
                      Model& model);
/// The rule that all but each `period`-th layer have one, the period under "sliding_window_pattern".
[[nodiscard]] std::function<bool(std::int64_t)> all_but_each(HuggingFaceConfig& config, std::int64_t period);

}  // namespace tessera::workload
