// What each stage computes again.
#pragma once

#include <optional>

#include "cut.hpp"

namespace tessera::strategy::megatron {

/// Fills in Cut::recomputed and recomputed_layers from the keys of these names and the stages' own. Problems go to
/// `diagnostics`.
void read_recomputation(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics);

/// Sections of those names, each once. InputError with those that there are for another name.
[[nodiscard]] workload::LayerSections sections_of(const std::vector<std::string>& names);

/// What recomputed_sections means by these names. InputError where the model's layers cannot run them again.
[[nodiscard]] workload::Recomputed recomputed_of(const std::vector<std::string>& names, const workload::Model& model);

/// The first section from mlp_norm on that runs again, which schedules that combine passes refuse; nothing: none does.
[[nodiscard]] std::optional<std::size_t> first_repeated_of_mlp(const workload::Recomputed& recomputed);

/// Layers of a stage of one kind that run again alike.
struct LayerCount {
  std::uint32_t kind = 0;
  Repeat repeat = Repeat::none;
  std::int64_t layers = 0;
};
[[nodiscard]] std::vector<LayerCount> layer_counts(const Cut& cut, std::uint32_t stage);
/// Of those that one micro-batch passes: of two pieces of the model of which it passes one, the longer piece.
[[nodiscard]] std::vector<LayerCount> passed_layers(const Cut& cut, std::uint32_t stage);

/// B: activations that a layer keeps from its forward to its backward pass, by section.
[[nodiscard]] KeptBytes kept_of_layer(const workload::LayerOperators& layer, const workload::Recomputed& recomputed,
                                      Repeat repeat);

/// "selective", or where stages differ "full of 4 layers x 2, fc1, activation x 3, none x 9": so many stages one after
/// another.
[[nodiscard]] std::string recomputation_text(const Cut& cut);
/// Of one stage.
[[nodiscard]] std::string recomputation_text(const Cut& cut, std::size_t stage);

}  // namespace tessera::strategy::megatron
