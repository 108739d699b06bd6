// GoogLeNet (Szegedy et al. 2014) and Inception v3 (Szegedy et al. 2015), without the heads that train their middle.
#include <fmt/format.h>

#include "branches.hpp"
#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct InceptionKeys : ImageKeys {
  bool third = false;
};

void declare_inception(config::Schema<InceptionKeys>& s) {
  s.choice("version", &InceptionKeys::third, {{"googlenet", false}, {"v3", true}}, "of the papers");
  add_image_and_classes(s, "224", "1000");
}

Window rounded_up(std::int64_t side) {
  Window window = inside(side, 2);
  window.round_up = true;
  return window;
}

struct GoogLeNetBlock {
  std::int64_t one, three_reduced, three, five_reduced, five, pooled;
  std::int64_t halved = 0;  ///< window of the pool behind it
};

/// The 5x5 convolutions are 3x3 ones, as in the first implementation and in torchvision.
Volume googlenet_body(NetworkBuilder& net, const Volume& image) {
  net.scope("stem");
  Volume at = net.max_pool(net.relu(net.conv(image, 64, same(7, 2))), rounded_up(3));
  at = net.max_pool(chain(net, at, {{1, 1, 64}, {3, 3, 192}}), rounded_up(3));
  int index = 0;
  for (const GoogLeNetBlock& block : {GoogLeNetBlock{64, 96, 128, 16, 32, 32},
                                      {128, 128, 192, 32, 96, 64, 3},
                                      {192, 96, 208, 16, 48, 64},
                                      {160, 112, 224, 24, 64, 64},
                                      {128, 128, 256, 24, 64, 64},
                                      {112, 144, 288, 32, 64, 64},
                                      {256, 160, 320, 32, 128, 128, 2},
                                      {256, 160, 320, 32, 128, 128},
                                      {384, 192, 384, 48, 128, 128}}) {
    net.scope(fmt::format("block{}", index++));
    const Volume pooled = net.max_pool(at, same(3));
    at = net.concat(
        {chain(net, at, {{1, 1, block.one}}), chain(net, at, {{1, 1, block.three_reduced}, {3, 3, block.three}}),
         chain(net, at, {{1, 1, block.five_reduced}, {3, 3, block.five}}), chain(net, pooled, {{1, 1, block.pooled}})});
    if (block.halved > 0) at = net.max_pool(at, rounded_up(block.halved));
  }
  return at;
}

/// Two chains of 1x7 and 7x1 convolutions.
Volume v3_long_block(NetworkBuilder& net, const Volume& in, std::int64_t inner) {
  return branches(net, in,
                  {{{{1, 1, 192}},
                    {{1, 1, inner}, {1, 7, inner}, {7, 1, 192}},
                    {{1, 1, inner}, {7, 1, inner}, {1, 7, inner}, {7, 1, inner}, {1, 7, 192}}},
                   192,
                   false});
}

Volume v3_last_block(NetworkBuilder& net, const Volume& in) {
  return net.concat({chain(net, in, {{1, 1, 320}}), split_chain(net, in, {{1, 1, 384}}, 384),
                     split_chain(net, in, {{1, 1, 448}, {3, 3, 384}}, 384),
                     chain(net, net.average_pool(in, same(3)), {{1, 1, 192}})});
}

Volume v3_body(NetworkBuilder& net, const Volume& image, int block = 0) {
  const auto next = [&] { net.scope(fmt::format("block{}", block++)); };
  net.scope("stem");
  Volume at = chain(net, image, {{3, 3, 32, 2}, {3, 3, 32, 1, true}, {3, 3, 64}});
  at = net.max_pool(at, inside(3, 2));
  at = net.max_pool(chain(net, at, {{1, 1, 80}, {3, 3, 192, 1, true}}), inside(3, 2));
  for (const std::int64_t pooled : {32, 64, 64}) {
    next();
    at = branches(net, at,
                  {{{{1, 1, 64}}, {{1, 1, 48}, {5, 5, 64}}, {{1, 1, 64}, {3, 3, 96}, {3, 3, 96}}}, pooled, false});
  }
  next();
  at = branches(net, at, {{{{3, 3, 384, 2}}, {{1, 1, 64}, {3, 3, 96}, {3, 3, 96, 2}}}, 0, true});
  for (const std::int64_t inner : {128, 160, 160, 192}) {
    next();
    at = v3_long_block(net, at, inner);
  }
  next();
  at = branches(net, at,
                {{{{1, 1, 192}, {3, 3, 320, 2}}, {{1, 1, 192}, {1, 7, 192}, {7, 1, 192}, {3, 3, 192, 2}}}, 0, true});
  for (int i = 0; i < 2; ++i) {
    next();
    at = v3_last_block(net, at);
  }
  return at;
}

void build_inception(const InceptionKeys& keys, NetworkBuilder& net) {
  const Volume image = net.image(keys.image);
  const Volume at = keys.third ? v3_body(net, image) : googlenet_body(net, image);
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily inception_family() {
  return family<InceptionKeys>("inception", "GoogLeNet, Inception v3", declare_inception, build_inception);
}

}  // namespace tessera::workload::graphs
