// What the families of this folder build their networks with: layers, each a node or two, put behind each other.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "../graph/primitives.hpp"

namespace tessera::workload::graphs {

/// What goes from layer to layer, of one sample: channels at places. A vector has one place; rows, as of words or
/// sound, are places in one line.
struct Volume {
  TensorId tensor = 0;
  std::int64_t channels = 0, height = 1, width = 1;
  [[nodiscard]] std::int64_t places() const { return height * width; }
  [[nodiscard]] std::int64_t size() const { return channels * places(); }
};

/// Of a convolution or pool.
struct Window {
  std::int64_t height = 1, width = 1, stride_down = 1, stride_right = 1;
  std::int64_t pad_down = 0, pad_right = 0;  ///< on either side
  std::int64_t dilation = 1;
  bool round_up = false;  ///< a window that is not full at the end counts
};
/// A square window whose output has as many places as its input, over the stride.
[[nodiscard]] Window same(std::int64_t side, std::int64_t stride = 1, std::int64_t dilation = 1);
/// One that stays inside.
[[nodiscard]] Window inside(std::int64_t side, std::int64_t stride = 1);

/// Norms behind a convolution are folded into its weights and bias, as for inference; others are nodes. Layers throw
/// InputError for a network of more than 100,000 operators.
class NetworkBuilder {
 public:
  NetworkBuilder(Graph& graph, const std::string& datatype, std::int64_t batch)
      : graph_(graph), to_(graph, datatype), batch_(batch) {}

  /// Of the names of what follows: "stage2.block0". What has the same name there is numbered.
  void scope(const std::string& name) { prefix_ = name.empty() ? "" : name + '.'; }

  [[nodiscard]] Volume input(const std::string& name, std::int64_t channels, std::int64_t height, std::int64_t width);
  /// A square one with three channels.
  [[nodiscard]] Volume image(std::int64_t side) { return input("image", 3, side, side); }
  /// Weights with a bias. InputError for a window that does not fit.
  Volume conv(const Volume& in, std::int64_t channels, const Window& window, std::int64_t groups = 1);
  /// Weights that several convolutions share.
  struct Filter {
    std::int64_t in = 0, out = 0;
    Window window;
    std::vector<TensorId> weights;
  };
  [[nodiscard]] Filter filter(std::int64_t in, std::int64_t out, const Window& window);
  Volume conv(const Volume& in, const Filter& filter);
  Volume depthwise(const Volume& in, const Window& window) { return conv(in, in.channels, window, in.channels); }
  /// A transposed convolution, `scale` times as many places each way.
  Volume up_conv(const Volume& in, std::int64_t channels, std::int64_t side, std::int64_t scale);
  /// Of all numbers of a sample together, with a bias.
  Volume linear(const Volume& in, std::int64_t out);
  /// Of the channels of each place, with a bias.
  Volume pointwise(const Volume& in, std::int64_t channels) { return conv(in, channels, Window{}); }
  Volume relu(const Volume& in) { return activation("relu", in); }
  Volume activation(const std::string& name, const Volume& in);
  /// Scale and shift by channel, with the statistics of training; where statistics are those of the data, a norm.
  Volume affine(const Volume& in);
  Volume layer_norm(const Volume& in);
  Volume max_pool(const Volume& in, const Window& window) { return pool("max_pool", in, window); }
  Volume average_pool(const Volume& in, const Window& window) { return pool("average_pool", in, window); }
  Volume global_pool(const Volume& in);
  Volume softmax(const Volume& in);
  /// The head of most classifiers: the mean of all places, and a linear layer.
  void classify(const Volume& in, std::int64_t classes);
  /// The same shapes; or the second one's channels at each place of the first.
  Volume add(const Volume& a, const Volume& b) { return both("add", a, b); }
  Volume multiply(const Volume& a, const Volume& b) { return both("multiply", a, b); }
  /// One behind the other, of the same places.
  Volume concat(const std::vector<Volume>& parts);
  /// Part of the channels, or of the places.
  Volume cut(const std::string& name, const Volume& in, Volume shape);
  /// The same numbers in another order, and shape.
  Volume arrange(const std::string& name, const Volume& in, Volume shape);
  Volume resize(const Volume& in, std::int64_t height, std::int64_t width);

  // What these are made of; `weights` are shared where several nodes are handed the same.
  [[nodiscard]] TensorId parameter(const std::string& name, std::int64_t elements);
  Volume product(const std::string& name, const std::vector<Volume>& in, const std::vector<TensorId>& weights,
                 const Primitives::Sides& sides, Volume made, const Convolution& convolution = {});
  Volume stream(OperatorKind kind, const std::string& name, const std::vector<Volume>& in,
                const std::vector<TensorId>& weights, Volume made);
  [[nodiscard]] std::int64_t batch() const { return batch_; }

 private:
  [[nodiscard]] std::string unique(const std::string& name);
  Volume pool(const std::string& name, const Volume& in, const Window& window);
  Volume both(const std::string& name, const Volume& a, const Volume& b);
  [[nodiscard]] std::int64_t all(const Volume& volume) const;

  const Graph& graph_;
  Primitives to_;
  std::int64_t batch_;
  std::string prefix_;
  std::map<std::string, int> uses_;
};

}  // namespace tessera::workload::graphs
