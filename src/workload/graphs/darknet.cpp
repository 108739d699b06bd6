// Darknet-19 and -53 (Redmon and Farhadi 2016, 2018), and the detectors on them: YOLO v2, v3, v3-tiny. Which boxes to
// keep the host decides.
#include <fmt/format.h>

#include "families.hpp"
#include "family.hpp"

namespace tessera::workload::graphs {
namespace {

enum class DarkVersion { darknet_19, darknet_53, yolo_v2, yolo_v3, yolo_v3_tiny };

struct DarknetKeys : ImageKeys {
  DarkVersion version = DarkVersion::darknet_19;
};

void declare_darknet(config::Schema<DarknetKeys>& s) {
  s.choice("version", &DarknetKeys::version,
           {{"darknet-19", DarkVersion::darknet_19},
            {"darknet-53", DarkVersion::darknet_53},
            {"yolo-v2", DarkVersion::yolo_v2},
            {"yolo-v3", DarkVersion::yolo_v3},
            {"yolo-v3-tiny", DarkVersion::yolo_v3_tiny}},
           "the first two classify, the others detect");
  add_image_and_classes(s, "416", "80");
}

Volume dark_conv(NetworkBuilder& net, const Volume& in, std::int64_t channels, std::int64_t side = 3,
                 std::int64_t stride = 1) {
  return net.activation("leaky_relu", net.conv(in, channels, same(side, stride)));
}

/// Convolutions of 3x3, and of 1x1 to half as many channels, in turn.
Volume dark_turns(NetworkBuilder& net, Volume at, std::int64_t channels, int count, bool begins_narrow = false) {
  for (int i = 0; i < count; ++i)
    at = (i % 2 == 0) == begins_narrow ? dark_conv(net, at, channels / 2, 1) : dark_conv(net, at, channels);
  return at;
}

/// The end of each stage.
std::vector<Volume> darknet_19(NetworkBuilder& net, Volume at) {
  std::vector<Volume> ends;
  for (const auto& [channels, count] : {std::pair{32, 1}, {64, 1}, {128, 3}, {256, 3}, {512, 5}, {1024, 5}}) {
    net.scope(fmt::format("stage{}", ends.size()));
    if (!ends.empty()) at = net.max_pool(at, inside(2, 2));
    at = dark_turns(net, at, channels, count);
    ends.push_back(at);
  }
  return ends;
}

std::vector<Volume> darknet_53(NetworkBuilder& net, const Volume& image) {
  net.scope("stem");
  std::vector<Volume> ends{dark_conv(net, image, 32)};
  for (const auto& [channels, count] : {std::pair{64, 1}, {128, 2}, {256, 8}, {512, 8}, {1024, 4}}) {
    net.scope(fmt::format("stage{}", ends.size()));
    Volume at = dark_conv(net, ends.back(), channels, 3, 2);
    for (int block = 0; block < count; ++block) {
      net.scope(fmt::format("stage{}.block{}", ends.size(), block));
      at = net.add(dark_turns(net, at, channels, 2, true), at);
    }
    ends.push_back(at);
  }
  return ends;
}

/// What a place says of each of its boxes: four sides, whether there is anything, and of which class.
void add_boxes(NetworkBuilder& net, const Volume& in, std::int64_t boxes, std::int64_t classes) {
  static_cast<void>(net.pointwise(in, boxes * (5 + classes)));
}

void detect_v2(NetworkBuilder& net, const std::vector<Volume>& ends, std::int64_t classes) {
  net.scope("head");
  const Volume fine = dark_conv(net, ends[4], 64, 1);
  const Volume coarse = dark_conv(net, dark_conv(net, ends[5], 1024), 1024);
  const Volume folded = net.arrange("reorganize", fine, {0, 4 * fine.channels, coarse.height, coarse.width});
  add_boxes(net, dark_conv(net, net.concat({folded, coarse}), 1024), 5, classes);
}

/// Narrowed, twice as many places each way, and behind it what an earlier stage made there.
Volume dark_merged(NetworkBuilder& net, const Volume& in, std::int64_t channels, const Volume& earlier) {
  const Volume narrow = dark_conv(net, in, channels, 1);
  return net.concat({net.resize(narrow, earlier.height, earlier.width), earlier});
}

void detect_v3(NetworkBuilder& net, const std::vector<Volume>& ends, std::int64_t classes) {
  Volume at = ends[5];
  for (std::size_t stage = 5; stage >= 3; --stage) {
    net.scope(fmt::format("head{}", stage));
    const std::int64_t channels = ends[stage].channels;
    if (stage < 5) at = dark_merged(net, at, channels / 2, ends[stage]);
    at = dark_turns(net, at, channels, 5, true);
    add_boxes(net, dark_conv(net, at, channels), 3, classes);
  }
}

void detect_tiny(NetworkBuilder& net, Volume at, std::int64_t classes) {
  net.scope("body");
  Volume fine;
  for (const std::int64_t channels : {16, 32, 64, 128, 256}) {
    fine = dark_conv(net, at, channels);
    at = net.max_pool(fine, inside(2, 2));
  }
  at = net.max_pool(dark_conv(net, at, 512), same(3));  // a window of 2, filled up at the end
  at = dark_conv(net, dark_conv(net, at, 1024), 256, 1);
  net.scope("head");
  add_boxes(net, dark_conv(net, at, 512), 3, classes);
  add_boxes(net, dark_conv(net, dark_merged(net, at, 128, fine), 256), 3, classes);
}

void build_darknet(const DarknetKeys& keys, NetworkBuilder& net) {
  const bool detects = keys.version != DarkVersion::darknet_19 && keys.version != DarkVersion::darknet_53;
  if (keys.image % 32 != 0 && detects)
    throw InputError(fmt::format("image = {}, allowed: a multiple of 32", keys.image));
  const Volume image = net.image(keys.image);
  if (keys.version == DarkVersion::yolo_v3_tiny) return detect_tiny(net, image, keys.classes);
  if (keys.version == DarkVersion::yolo_v2) return detect_v2(net, darknet_19(net, image), keys.classes);
  if (keys.version == DarkVersion::yolo_v3) return detect_v3(net, darknet_53(net, image), keys.classes);
  const bool small = keys.version == DarkVersion::darknet_19;
  const Volume end = small ? darknet_19(net, image).back() : darknet_53(net, image).back();
  net.scope("head");
  if (small)
    static_cast<void>(net.softmax(net.global_pool(net.pointwise(end, keys.classes))));
  else
    static_cast<void>(net.softmax(net.linear(net.global_pool(end), keys.classes)));
}

}  // namespace

NetworkFamily darknet_family() {
  return family<DarknetKeys>("darknet", "Darknet-19, Darknet-53, YOLO v2, v3, v3-tiny", declare_darknet, build_darknet);
}

}  // namespace tessera::workload::graphs
