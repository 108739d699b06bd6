// Inception v4 and Inception-ResNet v2 (Szegedy et al. 2016).
#include <fmt/format.h>

#include "branches.hpp"
#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

struct InceptionV4Keys : ImageKeys {
  bool residual = false;
};

void declare_inception_v4(config::Schema<InceptionV4Keys>& s) {
  s.boolean("residual", &InceptionV4Keys::residual, "Inception-ResNet v2 in the place of Inception v4")
      .otherwise("false");
  add_image_and_classes(s, "299", "1000");
}

class InceptionV4 {
 public:
  explicit InceptionV4(NetworkBuilder& net) : net_(net) {}

  Volume plain(const Volume& image) {
    Volume at = plain_stem(image);
    for (int i = 0; i < 4; ++i)
      at = next(at, {{{{1, 1, 96}}, {{1, 1, 64}, {3, 3, 96}}, {{1, 1, 64}, {3, 3, 96}, {3, 3, 96}}}, 96, false});
    at = next(at, {{{{3, 3, 384, 2}}, {{1, 1, 192}, {3, 3, 224}, {3, 3, 256, 2}}}, 0, true});
    for (int i = 0; i < 7; ++i)
      at = next(at, {{{{1, 1, 384}},
                      {{1, 1, 192}, {1, 7, 224}, {7, 1, 256}},
                      {{1, 1, 192}, {7, 1, 192}, {1, 7, 224}, {7, 1, 224}, {1, 7, 256}}},
                     128,
                     false});
    at = next(at, {{{{1, 1, 192}, {3, 3, 192, 2}}, {{1, 1, 256}, {1, 7, 256}, {7, 1, 320}, {3, 3, 320, 2}}}, 0, true});
    for (int i = 0; i < 3; ++i) at = plain_last(at);
    return at;
  }

  Volume residual(const Volume& image) {
    net_.scope("stem");
    Volume at = chain(net_, image, {{3, 3, 32, 2}, {3, 3, 32, 1, true}, {3, 3, 64}});
    at = net_.max_pool(at, inside(3, 2));
    at = net_.max_pool(chain(net_, at, {{1, 1, 80}, {3, 3, 192, 1, true}}), inside(3, 2));
    at = next(at, {{{{1, 1, 96}}, {{1, 1, 48}, {5, 5, 64}}, {{1, 1, 64}, {3, 3, 96}, {3, 3, 96}}}, 64, false});
    for (int i = 0; i < 10; ++i)
      at = residual_block(at, {{{1, 1, 32}}, {{1, 1, 32}, {3, 3, 32}}, {{1, 1, 32}, {3, 3, 48}, {3, 3, 64}}});
    at = next(at, {{{{3, 3, 384, 2}}, {{1, 1, 256}, {3, 3, 256}, {3, 3, 384, 2}}}, 0, true});
    for (int i = 0; i < 20; ++i) at = residual_block(at, {{{1, 1, 192}}, {{1, 1, 128}, {1, 7, 160}, {7, 1, 192}}});
    at = next(
        at, {{{{1, 1, 256}, {3, 3, 384, 2}}, {{1, 1, 256}, {3, 3, 288, 2}}, {{1, 1, 256}, {3, 3, 288}, {3, 3, 320, 2}}},
             0,
             true});
    for (int i = 0; i < 10; ++i)
      at = residual_block(at, {{{1, 1, 192}}, {{1, 1, 192}, {1, 3, 224}, {3, 1, 256}}}, i < 9);
    net_.scope("head");
    return chain(net_, at, {{1, 1, 1536}});
  }

 private:
  void name_next() { net_.scope(fmt::format("block{}", block_++)); }

  Volume next(const Volume& in, const Branches& all) {
    name_next();
    return branches(net_, in, all);
  }

  Volume plain_stem(const Volume& image) {
    net_.scope("stem");
    Volume at = chain(net_, image, {{3, 3, 32, 2}, {3, 3, 32, 1, true}, {3, 3, 64}});
    at = branches(net_, at, {{{{3, 3, 96, 2}}}, 0, true});
    at = branches(
        net_, at,
        {{{{1, 1, 64}, {3, 3, 96, 1, true}}, {{1, 1, 64}, {1, 7, 64}, {7, 1, 64}, {3, 3, 96, 1, true}}}, 0, false});
    return branches(net_, at, {{{{3, 3, 192, 2}}}, 0, true});
  }

  Volume plain_last(const Volume& in) {
    name_next();
    return net_.concat({chain(net_, in, {{1, 1, 256}}), split_chain(net_, in, {{1, 1, 384}}, 256),
                        split_chain(net_, in, {{1, 1, 384}, {3, 1, 448}, {1, 3, 512}}, 256),
                        chain(net_, net_.average_pool(in, same(3)), {{1, 1, 256}})});
  }

  Volume residual_block(const Volume& in, const std::vector<Chain>& chains, bool activated = true) {
    const Volume made = next(in, {chains, 0, false});
    const Volume sum = net_.add(net_.pointwise(made, in.channels), in);
    return activated ? net_.relu(sum) : sum;
  }

  NetworkBuilder& net_;
  int block_ = 0;
};

void build_inception_v4(const InceptionV4Keys& keys, NetworkBuilder& net) {
  const Volume image = net.image(keys.image);
  InceptionV4 body(net);
  const Volume at = keys.residual ? body.residual(image) : body.plain(image);
  net.classify(at, keys.classes);
}

}  // namespace

NetworkFamily inception_v4_family() {
  return family<InceptionV4Keys>("inception-v4", "Inception v4, Inception-ResNet v2", declare_inception_v4,
                                 build_inception_v4);
}

}  // namespace tessera::workload::graphs
