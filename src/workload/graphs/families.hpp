// The families of src/workload/graphs/, one file each.
#pragma once

#include "tessera/workload/network.hpp"

namespace tessera::workload::graphs {

[[nodiscard]] NetworkFamily alexnet_family();
[[nodiscard]] NetworkFamily darknet_family();
[[nodiscard]] NetworkFamily deep_speech_family();
[[nodiscard]] NetworkFamily densenet_family();
[[nodiscard]] NetworkFamily dlrm_family();
[[nodiscard]] NetworkFamily efficientnet_family();
[[nodiscard]] NetworkFamily inception_family();
[[nodiscard]] NetworkFamily inception_v4_family();
[[nodiscard]] NetworkFamily language_model_family();
[[nodiscard]] NetworkFamily mixer_family();
[[nodiscard]] NetworkFamily mlp_family();
[[nodiscard]] NetworkFamily mnasnet_family();
[[nodiscard]] NetworkFamily mobilenet_family();
[[nodiscard]] NetworkFamily ncf_family();
[[nodiscard]] NetworkFamily quartznet_family();
[[nodiscard]] NetworkFamily regnet_family();
[[nodiscard]] NetworkFamily resnet_family();
[[nodiscard]] NetworkFamily retinanet_family();
[[nodiscard]] NetworkFamily segmentation_family();
[[nodiscard]] NetworkFamily sequence_to_sequence_family();
[[nodiscard]] NetworkFamily shufflenet_family();
[[nodiscard]] NetworkFamily squeezenet_family();
[[nodiscard]] NetworkFamily ssd_family();
[[nodiscard]] NetworkFamily transducer_family();
[[nodiscard]] NetworkFamily unet_family();
[[nodiscard]] NetworkFamily vgg_family();
[[nodiscard]] NetworkFamily wavenet_family();
[[nodiscard]] NetworkFamily xception_family();

}  // namespace tessera::workload::graphs
