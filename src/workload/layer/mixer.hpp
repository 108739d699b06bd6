// What stands between the norm and the residual of a layer: attention, or another mixer of tokens in its place.
#pragma once

#include <vector>

#include "context.hpp"

namespace tessera::workload::layer {

/// One file each; the sections of a layer, its parameters, its FLOP and what it caches follow from these alone.
struct MixerKind {
  Mixer mixer = Mixer::attention;
  const char* key = "";    ///< in files
  const char* words = "";  ///< in messages
  /// Fields that have to be given, 1 or more, by their keys.
  std::vector<std::pair<const char*, std::int64_t LayerFields::*>> needs;
  /// What the linear layer before it makes of a token on this rank; of latent attention, expanded.
  std::int64_t (*input_columns)(const Context&) = nullptr;
  OperatorSet (*input)(const Context&) = nullptr;   ///< LayerOperators::qkv: column-parallel
  OperatorSet (*core)(const Context&) = nullptr;    ///< LayerOperators::attention_core
  OperatorSet (*output)(const Context&) = nullptr;  ///< LayerOperators::projection: row-parallel
  void (*add_parameters)(const Context&, ParameterShare&) = nullptr;
  /// Of those the weights of linear layers.
  void (*add_products)(const Context&, ParameterShare&) = nullptr;
  /// B that a sequence leaves for the tokens after it, of one layer. More than 2^63: KeyError.
  std::int64_t (*cached_bytes)(const Context&) = nullptr;
  /// Uncut: weights that a token meets, and FLOP of the core for so many tokens behind a context that ends with them.
  Int128 (*weights)(const Model&, const LayerFields&) = nullptr;
  Int128 (*core_flops)(const LayerFields&, std::int64_t sequence, std::int64_t context, Phase) = nullptr;
};

[[nodiscard]] MixerKind attention_mixer();
[[nodiscard]] MixerKind mamba_mixer();
[[nodiscard]] MixerKind mamba2_mixer();
[[nodiscard]] MixerKind gated_delta_net_mixer();
[[nodiscard]] MixerKind hstu_mixer();

[[nodiscard]] const std::vector<MixerKind>& mixer_kinds();
[[nodiscard]] const MixerKind& mixer_kind(Mixer mixer);

/// `bytes` times all `factors`. More than 2^63: KeyError.
[[nodiscard]] std::int64_t cache_product(std::int64_t bytes, std::initializer_list<std::int64_t> factors);

}  // namespace tessera::workload::layer
