#include "network_builder.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::graphs {
namespace {

/// What takes seconds to build and to read; the largest published networks have some thousands.
constexpr std::size_t most_nodes = 100'000;

std::int64_t windows_along(std::int64_t size, std::int64_t side, std::int64_t stride, std::int64_t pad,
                           const Window& window) {
  const std::int64_t spare = size + 2 * pad - window.dilation * (side - 1) - 1;
  if (spare < 0) throw InputError(fmt::format("{} places are too few for a window of {}", size, side));
  return (window.round_up ? ceil_div(spare, stride) : spare / stride) + 1;
}

Volume windows_of(const Volume& in, std::int64_t channels, const Window& window) {
  return {0, channels, windows_along(in.height, window.height, window.stride_down, window.pad_down, window),
          windows_along(in.width, window.width, window.stride_right, window.pad_right, window)};
}

Convolution convolution_of(const Volume& in, const Volume& made, const Window& window) {
  return {in.height,    in.width,           made.height,     made.width,     window.height,
          window.width, window.stride_down, window.pad_down, window.dilation};
}

std::vector<TensorId> tensors_of(const std::vector<Volume>& in, const std::vector<TensorId>& weights) {
  std::vector<TensorId> all;
  for (const Volume& one : in) all.push_back(one.tensor);
  all.insert(all.end(), weights.begin(), weights.end());
  return all;
}

}  // namespace

Window same(std::int64_t side, std::int64_t stride, std::int64_t dilation) {
  const std::int64_t pad = side / 2 * dilation;
  return {side, side, stride, stride, pad, pad, dilation, false};
}

Window inside(std::int64_t side, std::int64_t stride) { return {side, side, stride, stride, 0, 0, 1, false}; }

std::string NetworkBuilder::unique(const std::string& name) {
  if (graph_.nodes.size() >= most_nodes) throw InputError(fmt::format("more than {} operators", most_nodes));
  const int use = ++uses_[prefix_ + name];
  return prefix_ + name + (use > 1 ? std::to_string(use) : "");
}

std::int64_t NetworkBuilder::all(const Volume& volume) const {
  return saturating_product(batch_, saturating_product(volume.channels, volume.places()));
}

Volume NetworkBuilder::input(const std::string& name, std::int64_t channels, std::int64_t height, std::int64_t width) {
  Volume volume{0, channels, height, width};
  volume.tensor = to_.input(name, all(volume));
  return volume;
}

TensorId NetworkBuilder::parameter(const std::string& name, std::int64_t elements) {
  return to_.parameter(unique(name), elements);
}

Volume NetworkBuilder::product(const std::string& name, const std::vector<Volume>& in,
                               const std::vector<TensorId>& weights, const Primitives::Sides& sides, Volume made,
                               const Convolution& convolution) {
  made.tensor = to_.product(unique(name), tensors_of(in, weights), sides, all(made), convolution);
  return made;
}

Volume NetworkBuilder::stream(OperatorKind kind, const std::string& name, const std::vector<Volume>& in,
                              const std::vector<TensorId>& weights, Volume made) {
  made.tensor = to_.stream(kind, unique(name), tensors_of(in, weights), all(made));
  return made;
}

Volume NetworkBuilder::conv(const Volume& in, std::int64_t channels, const Window& window, std::int64_t groups) {
  if (in.channels % groups != 0 || channels % groups != 0)
    throw InputError(fmt::format("{} groups do not divide {} and {} channels", groups, in.channels, channels));
  if (groups == 1) return conv(in, filter(in.channels, channels, window));
  const Volume made = windows_of(in, channels, window);
  const std::int64_t depth = in.channels / groups * window.height * window.width;
  const std::string name = groups == in.channels ? "depthwise" : "conv";
  const std::vector<TensorId> weights{parameter(name + ".weights", channels * depth),
                                      parameter(name + ".bias", channels)};
  return product(name, {in}, weights, {groups, batch_ * made.places(), channels / groups, depth}, made,
                 convolution_of(in, made, window));
}

NetworkBuilder::Filter NetworkBuilder::filter(std::int64_t in, std::int64_t out, const Window& window) {
  const std::int64_t depth = in * window.height * window.width;
  return {in, out, window, {parameter("conv.weights", out * depth), parameter("conv.bias", out)}};
}

Volume NetworkBuilder::conv(const Volume& in, const Filter& filter) {
  const Volume made = windows_of(in, filter.out, filter.window);
  const std::int64_t depth = filter.in * filter.window.height * filter.window.width;
  return product("conv", {in}, filter.weights, {1, batch_ * made.places(), filter.out, depth}, made,
                 convolution_of(in, made, filter.window));
}

Volume NetworkBuilder::up_conv(const Volume& in, std::int64_t channels, std::int64_t side, std::int64_t scale) {
  const std::int64_t columns = channels * side * side;
  const std::vector<TensorId> weights{parameter("up_conv.weights", in.channels * columns),
                                      parameter("up_conv.bias", channels)};
  return product("up_conv", {in}, weights, {1, batch_ * in.places(), columns, in.channels},
                 {0, channels, scale * in.height, scale * in.width});
}

Volume NetworkBuilder::linear(const Volume& in, std::int64_t out) {
  const std::vector<TensorId> weights{parameter("linear.weights", in.size() * out), parameter("linear.bias", out)};
  return product("linear", {in}, weights, {1, batch_, out, in.size()}, {0, out, 1, 1});
}

Volume NetworkBuilder::activation(const std::string& name, const Volume& in) {
  return stream(OperatorKind::elementwise, name, {in}, {}, in);
}

Volume NetworkBuilder::affine(const Volume& in) {
  return stream(OperatorKind::elementwise, "affine", {in}, {parameter("affine.weights", 2 * in.channels)}, in);
}

Volume NetworkBuilder::layer_norm(const Volume& in) {
  return stream(OperatorKind::norm, "norm", {in}, {parameter("norm.weights", 2 * in.channels)}, in);
}

Volume NetworkBuilder::pool(const std::string& name, const Volume& in, const Window& window) {
  return stream(OperatorKind::reduction, name, {in}, {}, windows_of(in, in.channels, window));
}

Volume NetworkBuilder::global_pool(const Volume& in) {
  return stream(OperatorKind::reduction, "global_pool", {in}, {}, {0, in.channels, 1, 1});
}

Volume NetworkBuilder::softmax(const Volume& in) { return stream(OperatorKind::softmax, "softmax", {in}, {}, in); }

void NetworkBuilder::classify(const Volume& in, std::int64_t classes) {
  scope("head");
  static_cast<void>(linear(global_pool(in), classes));
}

Volume NetworkBuilder::both(const std::string& name, const Volume& a, const Volume& b) {
  if (a.channels != b.channels || (b.places() != 1 && a.places() != b.places()))
    throw InternalError(fmt::format("{}{} of {} x {} and {} x {} numbers", prefix_, name, a.channels, a.places(),
                                    b.channels, b.places()));
  return stream(OperatorKind::elementwise, name, {a, b}, {}, a);
}

Volume NetworkBuilder::concat(const std::vector<Volume>& parts) {
  Volume made = parts.front();
  made.channels = 0;
  for (const Volume& part : parts) {
    if (part.height != made.height || part.width != made.width)
      throw InternalError(prefix_ + "concat of different places");
    made.channels += part.channels;
  }
  return stream(OperatorKind::copy, "concat", parts, {}, made);
}

Volume NetworkBuilder::cut(const std::string& name, const Volume& in, Volume shape) {
  shape.tensor = to_.part(OperatorKind::copy, unique(name), {in.tensor}, all(shape));
  return shape;
}

Volume NetworkBuilder::arrange(const std::string& name, const Volume& in, Volume shape) {
  return stream(OperatorKind::copy, name, {in}, {}, shape);
}

Volume NetworkBuilder::resize(const Volume& in, std::int64_t height, std::int64_t width) {
  return stream(OperatorKind::copy, "resize", {in}, {}, {0, in.channels, height, width});
}

}  // namespace tessera::workload::graphs
