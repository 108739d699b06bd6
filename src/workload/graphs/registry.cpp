#include "families.hpp"
#include "tessera/workload/network.hpp"

namespace tessera::workload {

const std::vector<NetworkFamily>& network_families() {
  using namespace graphs;
  static const std::vector<NetworkFamily> all = {
      alexnet_family(),        darknet_family(),      deep_speech_family(),  densenet_family(),
      dlrm_family(),           efficientnet_family(), inception_family(),    inception_v4_family(),
      language_model_family(), mixer_family(),        mlp_family(),          mnasnet_family(),
      mobilenet_family(),      ncf_family(),          quartznet_family(),    regnet_family(),
      resnet_family(),         retinanet_family(),    segmentation_family(), sequence_to_sequence_family(),
      shufflenet_family(),     squeezenet_family(),   ssd_family(),          transducer_family(),
      unet_family(),           vgg_family(),          wavenet_family(),      xception_family()};
  return all;
}

}  // namespace tessera::workload
