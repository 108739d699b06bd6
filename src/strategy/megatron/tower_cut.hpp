// The job as a part of the vision tower sees it.
#pragma once

#include "cut.hpp"
#include "tessera/workload/vision.hpp"

namespace tessera::strategy::megatron {

/// Its sequences are images, windows of them, or the tokens that the projector makes of them.
class TowerCut {
 public:
  /// `tower`: tower_model() of the model, which outlives it. `is_trained`: in training it has a backward pass.
  TowerCut(const Cut& of, const workload::Model& tower, const workload::VisionSequences& sequences, bool is_trained);
  TowerCut(const TowerCut&) = delete;
  TowerCut& operator=(const TowerCut&) = delete;

  [[nodiscard]] const Cut& cut() const { return cut_; }
  [[nodiscard]] workload::LayerShape shape() const { return cut_.layer_shape(0, 0); }

 private:
  Workload workload_;
  Cut cut_;
};

/// All parts.
class VisionCuts {
 public:
  explicit VisionCuts(const Cut& cut);
  VisionCuts(const VisionCuts&) = delete;
  VisionCuts& operator=(const VisionCuts&) = delete;

  [[nodiscard]] const workload::Vision& vision() const { return model_.vision; }
  [[nodiscard]] bool is_trained() const { return is_trained_; }
  /// Of layers that see all of a tile, and of those that see a window.
  [[nodiscard]] const TowerCut& layers(bool in_windows) const { return in_windows ? windows_ : tiles_; }
  [[nodiscard]] const TowerCut& projector() const { return projected_; }

  [[nodiscard]] workload::OperatorSet patches() const {
    return workload::patch_operators(vision(), tower_, tiles_.shape());
  }
  [[nodiscard]] workload::OperatorSet end() const {
    return workload::tower_end_operators(vision(), tower_, tiles_.shape());
  }
  [[nodiscard]] workload::ProjectorOperators projection() const {
    return workload::projector_operators(model_, tower_, projected_.shape());
  }
  [[nodiscard]] workload::VisionParameters parameters() const {
    return workload::vision_parameters(model_, tower_, tiles_.shape());
  }

 private:
  const workload::Model& model_;
  workload::Model tower_;
  bool is_trained_;
  TowerCut tiles_, windows_, projected_;
};

}  // namespace tessera::strategy::megatron
