// Layers of networks by family, solved by hand, and what is said of keys that are wrong.
#include "networks_from.hpp"

namespace tessera::workload {
namespace {

using Lines = std::vector<std::string>;

std::int64_t readers_of(const Graph& graph, const std::string& tensor) {
  const auto found = std::ranges::find(graph.tensors, tensor, &Tensor::name);
  REQUIRE(found != graph.tensors.end());
  const auto id = static_cast<TensorId>(found - graph.tensors.begin());
  return std::ranges::count_if(graph.nodes,
                               [&](const GraphNode& node) { return std::ranges::count(node.reads, id) > 0; });
}

/// What `node` makes is read by `reader`.
bool goes_to(const Graph& graph, const std::string& node, const std::string& reader) {
  const TensorId made = node_named(graph, node).writes.at(0);
  return std::ranges::count(node_named(graph, reader).reads, made) > 0;
}

TEST_CASE("networks by hand: an LSTM over two words") {
  // Three cells on words of two numbers: four gates of 3 x (2 + 3) weights and 3 biases, 72. Five words are told apart
  // by 3 x 5 weights and 5 biases, 20. A step takes 60 multiply-adds, a word 15; there are two of each. Nodes: gates,
  // cell and output of each step; the steps joined, the words, the softmax.
  const Graph graph = network_of(
      "network = \"language-model\"\nhidden = [3]\nembedding = 2\nvocabulary = 5\nsteps = 2\ndatatype = \"fp16\"");
  CHECK(graph.parameters() == 72 + 20);
  CHECK(graph.weight_bytes() == 2 * 92);
  CHECK(multiply_adds(graph) == 2 * 60 + 2 * 15);
  CHECK(graph.nodes.size() == 2 * 3 + 3);
  // Both steps read the same weights, and the second one what the first one shows and keeps.
  CHECK(readers_of(graph, "layer0.weights") == 2);
  CHECK(goes_to(graph, "layer0.step0.output", "layer0.step1.gates"));
  CHECK(goes_to(graph, "layer0.step0.cell", "layer0.step1.cell"));
}

TEST_CASE("networks by hand: a GRU and a plain cell") {
  // A GRU has three gates of 3 x 2 weights on the word, 3 x 3 on the state, and 3 biases, or twice 3: 54 or 63. A plain
  // cell has 3 x (2 + 3) weights and 3 biases, 18.
  const std::string keys = "network = \"language-model\"\nhidden = [3]\nembedding = 2\nvocabulary = 5\nsteps = 2\n";
  const std::int64_t words = 3 * 5 + 5;
  CHECK(network_of(keys + "cell = \"gru\"").parameters() == 54 + words);
  CHECK(network_of(keys + "cell = \"gru\"\nbiases = 2").parameters() == 63 + words);
  CHECK(multiply_adds(network_of(keys + "cell = \"gru\"")) == 2 * (18 + 27) + 2 * 15);
  CHECK(network_of(keys + "cell = \"plain\"").parameters() == 18 + words);
  CHECK(multiply_adds(network_of(keys + "cell = \"plain\"")) == 2 * 15 + 2 * 15);
}

TEST_CASE("networks by hand: a translation begins where the sentence has ended") {
  // One layer each of two cells on words of three numbers: 4 x 2 x (3 + 2) weights and 8 biases, twice; six words to
  // choose from are 2 x 6 + 6. Three words are read and two written.
  const Graph graph = network_of(
      "network = \"sequence-to-sequence\"\nlayers = 1\nhidden = 2\nembedding = 3\nvocabulary = 6\nsource_steps = "
      "3\ntarget_steps = 2");
  CHECK(graph.parameters() == 2 * (40 + 8) + 18);
  CHECK(multiply_adds(graph) == 5 * 40 + 2 * 12);
  CHECK(goes_to(graph, "encoder0.step2.output", "decoder0.step0.gates"));
  CHECK(goes_to(graph, "encoder0.step2.cell", "decoder0.step0.cell"));
}

TEST_CASE("networks by hand: of two directions one goes from the last step to the first") {
  // 5 frames are 3 steps behind the first convolution: windows of 11 with 5 zeros on either side, every second place.
  const Graph graph =
      network_of("network = \"deep-speech\"\ncell = \"plain\"\nlayers = 1\nhidden = 4\nframes = 5\nfrequencies = 161");
  CHECK(goes_to(graph, "layer0.forward.step0.output", "layer0.forward.step1.gates"));
  CHECK(goes_to(graph, "layer0.backward.step2.output", "layer0.backward.step1.gates"));
  CHECK_FALSE(goes_to(graph, "layer0.backward.step0.output", "layer0.backward.step1.gates"));
  CHECK(goes_to(graph, "layer0.forward.step2.output", "layer0.add3"));
  CHECK(goes_to(graph, "layer0.backward.step2.output", "layer0.add3"));
  // Frequencies: 161 become 81, 81 become 41, with 32 channels 1,312 numbers a step.
  CHECK(multiply_adds(node_named(graph, "layer0.forward.step0.gates")) == 4 * (41 * 32 + 4));
}

TEST_CASE("networks by hand: convolutions of MobileNet's first block") {
  // 224 x 224 x 3 become 112 x 112 x 32 by windows of 3 x 3: each number takes 27 multiply-adds. Depthwise 3 x 3: each
  // of the 32 channels has its own window of 9. Pointwise to 64: 32 each.
  const Graph graph = network_of("network = \"mobilenet\"\nversion = \"v1\"");
  CHECK(multiply_adds(node_named(graph, "stem.conv")) == 112 * 112 * 32 * 27);
  CHECK(node_named(graph, "stem.conv").work.forward[0].convolution == Convolution{224, 224, 112, 112, 3, 3, 2, 1, 1});
  CHECK(multiply_adds(node_named(graph, "block0.depthwise")) == 112 * 112 * 32 * 9);
  CHECK(multiply_adds(node_named(graph, "block0.conv")) == 112 * 112 * 64 * 32);
  const auto weights = std::ranges::find(graph.tensors, "block0.depthwise.weights", &Tensor::name);
  REQUIRE(weights != graph.tensors.end());
  CHECK(weights->elements == 32 * 9);
}

TEST_CASE("networks by hand: a batch takes as many products more, and the weights once") {
  const Graph one = network_of("network = \"squeezenet\""), four = network_of("network = \"squeezenet\"\nbatch = 4");
  CHECK(multiply_adds(four) == 4 * multiply_adds(one));
  CHECK(four.parameters() == one.parameters());
  CHECK(four.nodes.size() == one.nodes.size());
}

TEST_CASE("networks by hand: what RetinaNet's levels share is counted once") {
  // Five levels read the weights of each of the four convolutions of 256 to 256 channels and of the last one.
  const Graph graph = network_of("network = \"retinanet\"\nblocks = [3, 4, 6, 3]");
  for (const std::string number : {"", "2", "3", "4", "5"}) {
    CAPTURE(number);
    CHECK(readers_of(graph, "boxes.conv.weights" + number) == 5);
  }
}

TEST_CASE("networks by hand: the dense part of DLRM for Criteo's data") {
  // Layers 13-512-256-64-16 are 6,656 + 131,072 + 16,384 + 1,024 weights and 848 biases. 26 rows and the 16 numbers of
  // the dense part make 27 x 26 / 2 = 351 products, 367 numbers with these 16. Layers 367-512-256-1 are 187,904 +
  // 131,072 + 256 weights and 769 biases.
  const Graph graph = network_from(*table_from(graphs_folder + "dlrm-criteo-kaggle.toml"));
  CHECK(graph.parameters() == 155'136 + 848 + 319'232 + 769);
  CHECK(multiply_adds(graph) == 155'136 + 319'232 + 27 * 27 * 16);
}

TEST_CASE("networks by hand: a transposed convolution of U-Net") {
  // 28 x 28 places of 1,024 channels become 56 x 56 of 512: each place makes 2 x 2 of them.
  const Graph graph = network_of("network = \"unet\"");
  CHECK(multiply_adds(node_named(graph, "up3.up_conv")) == std::int64_t{28} * 28 * 1024 * 512 * 4);
}

/// Errors of a network with these keys.
Lines problems(const std::string& keys) {
  config::Diagnostics diagnostics;
  const auto table = config::parse_toml(keys, "n.toml", diagnostics);
  REQUIRE(diagnostics.ok());
  static_cast<void>(read_network(*table, diagnostics));
  return diagnostics.errors();
}

TEST_CASE("networks by hand: one line says what is wrong with a key, and where") {
  const Lines unknown = problems("name = \"n\"\nnetwork = \"resnt\"");
  REQUIRE(unknown.size() == 1);
  CHECK(
      unknown[0].starts_with("n.toml:2:11: unknown network \"resnt\" (did you mean \"resnet\"?), allowed: alexnet, "));
  const std::string resnet = "name = \"n\"\nnetwork = \"resnet\"\n";
  CHECK(problems(resnet + "blocks = [3, 4, 6, 3]\nimage = 0") ==
        Lines{"n.toml:4:9: \"image\": 0 is out of range, allowed: 1 to 8192"});
  CHECK(problems(resnet + "blocks = [3, 4]") == Lines{"n.toml:1:1: n: blocks of 2 stages, allowed: 4"});
  CHECK(problems("name = \"n\"\nnetwork = 3").size() == 1);
  const Lines key = problems(resnet + "blocks = [3, 4, 6, 3]\nimges = 224");
  REQUIRE(key.size() == 1);
  CHECK(key[0].starts_with("n.toml:4:1: unknown key \"imges\""));
  CHECK(key[0].find("allowed: ") != std::string::npos);
  const Lines missing = problems(resnet);
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].find("missing key \"blocks\"") != std::string::npos);
}

TEST_CASE("networks by hand: keys that do not fit together are refused, whatever the family") {
  const auto problem = [](const std::string& keys) {
    const Lines lines = problems("name = \"n\"\n" + keys);
    REQUIRE(lines.size() == 1);
    return lines[0];
  };
  CHECK(problem("network = \"shufflenet\"\nchannels = [24, 49, 96, 192, 1024]").find("allowed: even") !=
        std::string::npos);
  CHECK(problem("network = \"deep-speech\"\nlayers = 100\nhidden = 1\nframes = 100000")
            .find("more than 100000 operators") != std::string::npos);
  CHECK(problem("network = \"alexnet\"\nimage = 8").find("too few for a window of") != std::string::npos);
  CHECK(problem("network = \"dlrm\"\nrow = 16\nbottom = [512, 8]\ntop = [64]")
            .find("bottom ends with 8, allowed: row, 16") != std::string::npos);
  CHECK(problem("network = \"darknet\"\nversion = \"yolo-v3\"\nimage = 400").find("allowed: a multiple of 32") !=
        std::string::npos);
  CHECK(problem("network = \"mixer\"\nmixing = \"mlp\"\nblocks = 1\nhidden = 8").find("tokens_hidden") !=
        std::string::npos);
}

}  // namespace
}  // namespace tessera::workload
