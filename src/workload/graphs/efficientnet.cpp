// EfficientNet: B0 to B7 (Tan and Le 2019), V2 (Tan and Le 2021).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "families.hpp"
#include "family.hpp"
#include "mobile_blocks.hpp"

namespace tessera::workload::graphs {
namespace {

enum class EfficientVersion { b, v2_s, v2_m, v2_l };

struct EfficientNetKeys : ImageKeys {
  EfficientVersion version = EfficientVersion::b;
  double width = 1, depth = 1;
};

void declare_efficientnet(config::Schema<EfficientNetKeys>& s) {
  s.choice("version", &EfficientNetKeys::version,
           {{"b", EfficientVersion::b},
            {"v2-s", EfficientVersion::v2_s},
            {"v2-m", EfficientVersion::v2_m},
            {"v2-l", EfficientVersion::v2_l}},
           "b: B0 to B7, by width and depth");
  s.number("width", &EfficientNetKeys::width, "factor on the channels").at_least("0.05").at_most("16").otherwise("1");
  s.number("depth", &EfficientNetKeys::depth, "factor on the blocks of a stage")
      .at_least("0.05")
      .at_most("16")
      .otherwise("1");
  add_image_and_classes(s, "224", "1000");
}

struct EfficientStage {
  std::int64_t factor, kernel, stride, channels, blocks;
  bool fused = false;
};

const std::vector<EfficientStage>& efficient_stages(EfficientVersion version) {
  static const std::vector<EfficientStage> b{{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                                             {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};
  static const std::vector<EfficientStage> s{{1, 3, 1, 24, 2, true}, {4, 3, 2, 48, 4, true}, {4, 3, 2, 64, 4, true},
                                             {4, 3, 2, 128, 6},      {6, 3, 1, 160, 9},      {6, 3, 2, 256, 15}};
  static const std::vector<EfficientStage> m{{1, 3, 1, 24, 3, true}, {4, 3, 2, 48, 5, true}, {4, 3, 2, 80, 5, true},
                                             {4, 3, 2, 160, 7},      {6, 3, 1, 176, 14},     {6, 3, 2, 304, 18},
                                             {6, 3, 1, 512, 5}};
  static const std::vector<EfficientStage> l{{1, 3, 1, 32, 4, true}, {4, 3, 2, 64, 7, true}, {4, 3, 2, 96, 7, true},
                                             {4, 3, 2, 192, 10},     {6, 3, 1, 224, 19},     {6, 3, 2, 384, 25},
                                             {6, 3, 1, 640, 7}};
  switch (version) {
    case EfficientVersion::v2_s:
      return s;
    case EfficientVersion::v2_m:
      return m;
    case EfficientVersion::v2_l:
      return l;
    default:
      return b;
  }
}

class EfficientNet {
 public:
  EfficientNet(const EfficientNetKeys& keys, NetworkBuilder& net)
      : keys_(keys), net_(net), b_(keys.version == EfficientVersion::b), stages_(efficient_stages(keys.version)) {}

  void build() {
    const Volume image = net_.image(keys_.image);
    net_.scope("stem");
    const std::int64_t first = b_ ? 32 : stages_.front().channels;
    Volume at = net_.activation("swish", net_.conv(image, scaled(first), same(3, 2)));
    for (std::size_t stage = 0; stage < stages_.size(); ++stage) at = add_stage(stage, at);
    net_.scope("head");
    at = net_.activation("swish", net_.pointwise(at, b_ ? 4 * at.channels : 1280));
    net_.classify(at, keys_.classes);
  }

 private:
  [[nodiscard]] std::int64_t scaled(std::int64_t channels) const { return scaled_channels(channels, keys_.width); }

  [[nodiscard]] std::int64_t blocks(std::size_t stage) const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(stages_[stage].blocks) * keys_.depth));
  }

  Volume add_stage(std::size_t stage, Volume at) {
    const EfficientStage& one = stages_[stage];
    for (std::int64_t block = 0; block < blocks(stage); ++block) {
      net_.scope(fmt::format("stage{}.block{}", stage, block));
      const std::int64_t squeezed = one.fused ? 0 : std::max<std::int64_t>(1, at.channels / 4);
      at = mobile_block(net_, at,
                        {one.kernel, block == 0 ? one.stride : 1, one.factor * at.channels, scaled(one.channels),
                         squeezed, "swish", "sigmoid", one.fused});
    }
    return at;
  }

  const EfficientNetKeys& keys_;
  NetworkBuilder& net_;
  bool b_;
  const std::vector<EfficientStage>& stages_;
};

void build_efficientnet(const EfficientNetKeys& keys, NetworkBuilder& net) { EfficientNet(keys, net).build(); }

}  // namespace

NetworkFamily efficientnet_family() {
  return family<EfficientNetKeys>("efficientnet", "EfficientNet B0 to B7, V2", declare_efficientnet,
                                  build_efficientnet);
}

}  // namespace tessera::workload::graphs
