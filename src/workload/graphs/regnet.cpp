// RegNetX and RegNetY (Radosavovic et al. 2020): widths of blocks from a line, rounded to a few stages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "families.hpp"
#include "family.hpp"
#include "mobile_blocks.hpp"

namespace tessera::workload::graphs {
namespace {

struct RegNetKeys : ImageKeys {
  std::int64_t depth = 0, first_width = 0, group_width = 0;
  double slope = 0, step = 0, squeeze = 0;
};

void declare_regnet(config::Schema<RegNetKeys>& s) {
  s.integer("depth", &RegNetKeys::depth, "blocks in all").at_least("1").at_most("200");
  s.integer("first_width", &RegNetKeys::first_width, "w_0: channels of the first block").at_least("8").at_most("4096");
  s.number("slope", &RegNetKeys::slope, "w_a: channels that each block adds").at_least("0").at_most("4096");
  s.number("step", &RegNetKeys::step, "w_m: factor between stages").at_least("1.001").at_most("16");
  s.integer("group_width", &RegNetKeys::group_width, "channels of a group").at_least("1").at_most("4096");
  s.number("squeeze", &RegNetKeys::squeeze, "squeeze and excitation: part of the block's input; 0: RegNetX, without")
      .at_least("0")
      .at_most("1")
      .otherwise("0");
  add_image_and_classes(s, "224", "1000");
}

/// Channels of each block, quantised as the paper says, and to whole groups.
std::vector<std::int64_t> regnet_widths(const RegNetKeys& keys) {
  const auto first = static_cast<double>(keys.first_width);
  std::vector<std::int64_t> widths;
  for (std::int64_t block = 0; block < keys.depth; ++block) {
    const double wanted = first + keys.slope * static_cast<double>(block);
    const double steps = std::nearbyint(std::log(wanted / first) / std::log(keys.step));
    const auto width = static_cast<std::int64_t>(std::nearbyint(first * std::pow(keys.step, steps) / 8)) * 8;
    widths.push_back(scaled_channels(width, 1, std::min(keys.group_width, width)));
  }
  return widths;
}

Volume regnet_block(NetworkBuilder& net, const Volume& in, std::int64_t width, std::int64_t stride,
                    const RegNetKeys& keys) {
  const std::int64_t groups = width / std::min(keys.group_width, width);
  Volume at = net.relu(net.pointwise(in, width));
  at = net.relu(net.conv(at, width, same(3, stride), groups));
  const auto squeezed = static_cast<std::int64_t>(std::nearbyint(keys.squeeze * static_cast<double>(in.channels)));
  if (squeezed > 0) {
    MobileBlock block;
    block.squeezed = squeezed;
    at = squeeze_and_excite(net, at, block);
  }
  at = net.pointwise(at, width);
  const bool changes = in.channels != width || stride > 1;
  return net.relu(net.add(at, changes ? net.conv(in, width, inside(1, stride)) : in));
}

void build_regnet(const RegNetKeys& keys, NetworkBuilder& net) {
  const Volume image = net.image(keys.image);
  net.scope("stem");
  Volume at = net.relu(net.conv(image, 32, same(3, 2)));
  const std::vector<std::int64_t> widths = regnet_widths(keys);
  int stage = 0, block = 0;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const bool begins = i == 0 || widths[i] != widths[i - 1];
    if (begins) ++stage, block = 0;
    net.scope(fmt::format("stage{}.block{}", stage, block++));
    at = regnet_block(net, at, widths[i], begins ? 2 : 1, keys);
  }
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily regnet_family() { return family<RegNetKeys>("regnet", "RegNetX, RegNetY", declare_regnet, build_regnet); }

}  // namespace tessera::workload::graphs
