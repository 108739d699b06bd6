// Vision towers: published numbers of parameters, and one layer, patches and projector by hand.
#include "tessera/workload/vision.hpp"

#include "models_from.hpp"

namespace tessera::workload {
namespace {
namespace vision {

Model llava() { return model_named("llava-1.5-7b.json"); }

/// Of layers that see a whole tile, of one sequence.
LayerShape shape_of(const VisionSequences& sequences, Phase phase = Phase::training, std::int64_t tensor = 1) {
  LayerShape shape;
  shape.sequence = sequences.tokens;
  shape.micro_batch = sequences.count;
  shape.tensor = tensor;
  shape.phase = phase;
  shape.flash_attention = true;
  shape.caches_keys = false;
  return shape;
}

std::int64_t moved(const std::vector<Operator>& operators) {
  std::int64_t bytes = 0;
  for (const Operator& op : operators) bytes += op.bytes_read + op.bytes_written;
  return bytes;
}

const std::string siglip = R"("vision_config": {"hidden_size": 1152, "image_size": 896, "intermediate_size": 4304,
    "model_type": "siglip_vision_model", "num_attention_heads": 16, "num_hidden_layers": 27, "patch_size": 14)";

std::string gemma3(const std::string& text, const std::string& more_of_tower = ", \"vision_use_head\": false") {
  return R"({"model_type": "gemma3", "boi_token_index": 255999, "eoi_token_index": 256000, "image_token_index": 262144,
    "mm_tokens_per_image": 256, "text_config": {"model_type": "gemma3_text", )" +
         text + "}, " + siglip + more_of_tower + "}}";
}
const std::string four_billion = R"("hidden_size": 2560, "intermediate_size": 10240, "num_hidden_layers": 34,
    "head_dim": 256, "sliding_window": 1024)";

TEST_CASE("parameters of published models with a tower, to the last one: safetensors of Hugging Face") {
  CHECK(parameter_count(llava()) == 7'063'427'072);                                   // llava-hf/llava-1.5-7b-hf
  CHECK(parameter_count(model_named("llava-1.6-mistral-7b.json")) == 7'566'747'648);  // llava-v1.6-mistral-7b-hf
  CHECK(parameter_count(model_named("qwen2.5-vl-7b.json")) == 8'292'166'656);         // Qwen2.5-VL-7B-Instruct
  CHECK(parameter_count(model_named("llama4-scout.json")) == 108'641'793'536);        // Llama-4-Scout-17B-16E
  CHECK(parameter_count(model_from_config(gemma3(four_billion))) == 4'300'079'472);   // gemma-3-4b-it
  CHECK(parameter_count(model_from_config(gemma3(R"("head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
      "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16, "query_pre_attn_scalar": 168,
      "sliding_window": 1024)"))) == 27'432'406'640);                                 // gemma-3-27b-it
}

TEST_CASE("Qwen2-VL: layernorms and a plain MLP where Qwen2.5-VL has RMS norms, a gate and windows") {
  const ConfigReading reading = read_config(R"({"model_type": "qwen2_vl", "hidden_size": 3584,
    "intermediate_size": 18944, "num_attention_heads": 28, "num_hidden_layers": 28, "num_key_value_heads": 4,
    "max_position_embeddings": 32768, "sliding_window": 32768, "use_sliding_window": false, "max_window_layers": 28,
    "tie_word_embeddings": false, "vocab_size": 152064, "image_token_id": 151655, "video_token_id": 151656,
    "vision_start_token_id": 151652, "vision_end_token_id": 151653, "vision_token_id": 151654,
    "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4, "num_heads": 16, "in_chans": 3,
      "hidden_size": 3584, "patch_size": 14, "spatial_merge_size": 2, "spatial_patch_size": 14,
      "temporal_patch_size": 2}})");
  CHECK(reading.errors == Names{});
  CHECK(parameter_count(reading.model) == 8'291'375'616);  // Qwen/Qwen2-VL-7B-Instruct
  REQUIRE(reading.warnings.size() == 1);
  CHECK(reading.warnings.front() ==
        "config.json:6:5: \"vision_config\": images have any size here; each sequence has one of 896 x 896 pixels, "
        "where model.vision.images, image_height and image_width do not say otherwise");
  CHECK(image_tokens(reading.model.vision) == 1024);
  CHECK(reading.model.vision.window == 0);
}

TEST_CASE("LLaVA 1.5 takes the last layer but one and drops the class token: 576 tokens an image, frozen") {
  const Vision vision = llava().vision;
  CHECK(vision.layers == 24);
  CHECK(vision.layers_run == 23);
  CHECK(tile_sequences(vision, 1).tokens == 577);
  CHECK(image_tokens(vision) == 576);
  CHECK(vision.frozen);
  CHECK(vision.projector == std::vector<std::int64_t>{4096, 4096});
  // Tiles of 2 x 2 and one of all of it; each of the 48 rows that four tiles make ends with one more.
  const Vision next = model_named("llava-1.6-mistral-7b.json").vision;
  CHECK(image_tokens(next) == 5 * 576 + 48);
  CHECK(tile_sequences(next, 2).count == 10);
  CHECK(!next.frozen);
  // Gemma 3 averages 4 x 4 of 64 x 64 patches; Qwen2.5-VL sees windows of 8 x 8 but in four layers.
  CHECK(image_tokens(model_from_config(gemma3(four_billion)).vision) == 256);
  const Vision qwen = model_named("qwen2.5-vl-7b.json").vision;
  CHECK(window_sequences(qwen, 1).tokens == 64);
  CHECK(window_sequences(qwen, 1).count == 64);
  CHECK(sees_window(qwen, 6));
  CHECK(!sees_window(qwen, 7));
  CHECK(image_tokens(model_named("llama4-scout.json").vision) == 144);
}

// h = 1024, 577 tokens; each sees each. Products of 2 x 577 x h x (3 h, h, 4 h, 4 h), scores and context of 2 x 577 x
// 577 x h each.
TEST_CASE("one layer of CLIP ViT-L/14 at 336 pixels: its FLOP, and what it keeps") {
  const Model model = llava(), tower = tower_model(model);
  const LayerShape shape = shape_of(tile_sequences(model.vision, 1));
  const LayerOperators layer = transformer_layer(tower, shape);
  const std::int64_t h = 1024, tokens = 577;
  const std::int64_t products = 2 * tokens * 12 * h * h, attention = 4 * tokens * tokens * h;
  Int128 flops = 0;
  for (const OperatorSet* section : layer.in_order())
    for (const Operator& op : section->forward) flops += op.flops;
  CHECK(static_cast<std::int64_t>(flops) == products + attention);
  // Inputs of two norms, of qkv, projection and fc1 (h each), of attention (3 h), of activation and fc2 (4 h each), in
  // FP16; a number of FP32 for each head and token of the fused attention.
  CHECK(activation_bytes(layer, Recomputation::none) == 2 * tokens * (5 + 3 + 4 + 4) * h + 4 * tokens * 16);
  // Frozen it keeps nothing, and stores no keys.
  const LayerOperators frozen = transformer_layer(tower, shape_of(tile_sequences(model.vision, 1), Phase::prompt));
  CHECK(names_of(frozen.attention_core.forward) == Names{"attention"});
}

TEST_CASE("FLOP of an image of LLaVA 1.5: patches, 23 layers, two linear layers; backward of those alone") {
  const std::int64_t h = 1024, tokens = 577, language = 4096;
  const std::int64_t layer = 2 * tokens * 12 * h * h + 4 * tokens * tokens * h;
  const std::int64_t first = 2 * 576 * h * language, second = 2 * 576 * language * language;
  const std::int64_t patches = 2 * 576 * 588 * h;
  const VisionFlops flops = vision_flops(llava());
  CHECK(static_cast<std::int64_t>(flops.forward) == patches + 23 * layer + first + second);
  CHECK(static_cast<std::int64_t>(flops.backward) == first + 2 * second);  // what comes out of the tower has none
  Model trained = llava();
  trained.vision.frozen = false;
  trained.vision.images = 2;
  CHECK(static_cast<std::int64_t>(vision_flops(trained).backward) == 2 * (patches + 2 * (23 * layer + first + second)));
}

TEST_CASE("FLOP of Qwen2.5-VL's layers: a window of 64 patches, or all of them") {
  Model model = model_named("qwen2.5-vl-7b.json");
  const std::int64_t h = 1280, tokens = 4096;
  const auto with_layers = [&](std::int64_t layers) {
    model.vision.layers_run = layers;
    return static_cast<std::int64_t>(vision_flops(model).forward);
  };
  const std::int64_t products = 2 * tokens * (4 * h * h + 3 * h * 3420);
  CHECK(with_layers(7) - with_layers(6) == products + 4 * tokens * 64 * h);      // layer 6
  CHECK(with_layers(8) - with_layers(7) == products + 4 * tokens * tokens * h);  // layer 7
}

TEST_CASE("patches are one product, whose input has no gradient; of frozen towers nothing is kept") {
  const Model model = llava(), tower = tower_model(model);
  const OperatorSet trained = patch_operators(model.vision, tower, shape_of(tile_sequences(model.vision, 1)));
  CHECK(names_of(trained.forward) == Names{"patch embedding", "class token", "patch positions", "patch norm"});
  CHECK(sizes(trained.forward.front()) == Sizes{1, 576, 1024, 588});
  CHECK(names_of(trained.input_gradient) == Names{"patch norm dgrad", "class token dgrad"});
  CHECK(trained.kept() == 2 * (576 * 588 + 577 * 1024));  // pixels, and what is normed
  const OperatorSet frozen =
      patch_operators(model.vision, tower, shape_of(tile_sequences(model.vision, 1), Phase::prompt));
  CHECK(frozen.kept() == 0);
  CHECK(frozen.weight_gradient.empty());
  CHECK(names_of(tower_end_operators(model.vision, tower, shape_of(tile_sequences(model.vision, 1))).forward) ==
        Names{"patches alone"});  // and no norm
}

// 576 tokens of 1024 elements: 4096 columns on two ranks, then 4096 x 4096.
TEST_CASE(
    "the projector: the first layer by columns, the second by rows, the input of each and of the activation kept") {
  Model model = llava();
  const Model tower = tower_model(model);
  const LayerShape shape = shape_of(projected_sequences(model.vision, 1), Phase::training, 2);
  ProjectorOperators projector = projector_operators(model, tower, shape);
  REQUIRE(projector.linears.size() == 2);
  CHECK(sizes(projector.linears[0].product.forward.front()) == Sizes{1, 576, 2048, 1024});
  CHECK(sizes(projector.linears[1].product.forward.front()) == Sizes{1, 576, 4096, 2048});
  CHECK(projector.linears[0].product.input_gradient.empty());  // behind a frozen tower
  CHECK(projector.linears[0].product.backward_sums() == 0);
  CHECK(projector.linears[0].product.kept() == 2 * 576 * 1024);
  CHECK(projector.linears[0].activation.kept() == 2 * 576 * 2048);
  CHECK(projector.linears[1].product.kept() == 2 * 576 * 2048);
  CHECK(projector.linears[1].product.summed_output == 4096);
  CHECK(projector.linears[1].activation.kept() == 0);
  CHECK(moved(projector.placement.forward) == 2 * 2 * 576 * 4096);
  model.vision.frozen = false;
  projector = projector_operators(model, tower, shape);
  CHECK(sizes(projector.linears[0].product.input_gradient.front()) == Sizes{1, 576, 1024, 2048});
  CHECK(projector.linears[0].product.backward_sums() == 1024);
  // Two ranks have halves of both matrices and of the first bias.
  CHECK(vision_parameters(model, tower, shape).projector.total() == 2048 * 1024 + 2048 + 4096 * 2048 + 4096);
}

TEST_CASE("a single linear layer is cut by columns, which the tensor ranks gather; norm and pooling before it") {
  const Model model = model_from_config(gemma3(four_billion)), tower = tower_model(model);
  const OperatorSet end =
      tower_end_operators(model.vision, tower, shape_of(tile_sequences(model.vision, 1), Phase::prompt));
  CHECK(names_of(end.forward) == Names{"tower norm", "patch pooling"});
  CHECK(bytes(end.forward.back()) == Sizes{2 * 4096 * 1152, 2 * 256 * 1152});
  const ProjectorOperators projector =
      projector_operators(model, tower, shape_of(projected_sequences(model.vision, 1), Phase::training, 2));
  CHECK(names_of(projector.joining.forward) == Names{"projector norm"});
  REQUIRE(projector.linears.size() == 1);
  const OperatorSet& product = projector.linears.front().product;
  CHECK(sizes(product.forward.front()) == Sizes{1, 256, 1280, 1152});
  REQUIRE(product.exchange_steps.size() == 1);
  CHECK(product.exchange_steps.front().bytes == 2 * 256 * 2560);
  CHECK(product.backward_sums() == 1152);  // for the norm's weight
  CHECK(projector.linears.front().activation.empty());
}

TEST_CASE("SigLIP's head that pools patches is held where a file does not say otherwise, and never runs") {
  const std::int64_t h = 1152, f = 4304;
  const std::int64_t head = h + 4 * (h * h + h) + 2 * h + 2 * h * f + f + h;
  CHECK(parameter_count(model_from_config(gemma3(four_billion, ""))) == 4'300'079'472 + head);
}

TEST_CASE("without images there is no tower: the language model alone") {
  config::Diagnostics diagnostics;
  const auto table = read_hugging_face_table(text_of(models_folder + "llama4-scout.json"), "c.json", diagnostics);
  REQUIRE(table != nullptr);
  config::Value* vision = table->find("vision");
  REQUIRE(vision != nullptr);
  vision->table()->set("images", {std::int64_t{0}, {}});
  const Model model = read_model(*table, diagnostics);
  CHECK(diagnostics.errors() == Names{});
  CHECK(!has_vision(model));
  CHECK(parameter_count(model) == 107'769'861'120);
  CHECK(model.vision.tiles == 1);
}

const std::string language = R"(
  name = "small"
  layers = 2
  hidden = 64
  heads = 4
  vocabulary = 100
  position = "rotary"
)";
std::string tower_with(const std::string& more) {
  return language + "[vision]\nlayers = 2\nhidden = 32\nheads = 4\nimage_height = 28\npatch = 14\n" + more;
}

TEST_CASE("by hand a tower is a table of the model's") {
  const Model model = model_from(tower_with("projector = [64]\nclass_token = true\nposition_rows = 5\n"));
  CHECK(model.vision.layers_run == 2);
  CHECK(model.vision.ffn_hidden == 128);
  CHECK(model.vision.image_width == 28);
  CHECK(image_tokens(model.vision) == 4);
  // Layers of 12 h^2 + 13 h; 588 numbers of a patch, class token and five positions of h; 32 x 64 and a bias.
  CHECK(parameter_count(model) - parameter_count(model_from(language)) ==
        2 * (12 * 1024 + 13 * 32) + (588 + 1 + 5) * 32 + 32 * 64 + 64);
}

TEST_CASE("towers whose numbers do not fit together are refused where they stand") {
  CHECK(errors_of(tower_with("projector = [32]\n")) ==
        Names{"m.toml:14:13: \"vision.projector\": its last number is not 64, the model's hidden size"});
  CHECK(errors_of(tower_with("projector = [64]\nimage_width = 30\n")) ==
        Names{"m.toml:15:15: \"vision.image_width\": 30 pixels, allowed: a multiple of 14 (patch 14 x pool 1 x merge "
              "1)"});
  CHECK(errors_of(tower_with("projector = [64]\nwindow = 3\n")).size() == 2);  // both sides
  CHECK(errors_of(tower_with("projector = [64]\nlayers_run = 3\n")) ==
        Names{"m.toml:15:14: \"vision.layers_run\": 3 is more than the 2 layers"});
  CHECK(errors_of(tower_with("projector = [64]\nwhole_layers = [2]\nwindow = 2\n")) ==
        Names{"m.toml:15:16: \"vision.whole_layers\": 2, allowed: 0 to 1"});
  CHECK(errors_of(tower_with("projector = [64]\nwindow = 2\nclass_token = true\n")) ==
        Names{"m.toml:16:15: \"vision.class_token\": a window has patches alone, allowed: false, or window = 0"});
  CHECK(errors_of(tower_with("projector = [64]\nheadz = 2\n")).size() == 1);
}

TEST_CASE("towers and language models of other kinds are refused by name, and keys where they stand") {
  const std::string llava_of = R"({"model_type": "llava", "vision_feature_layer": -1,
    "text_config": {"model_type": "llama"}, "vision_config": {"model_type": ")";
  CHECK(read_config(llava_of + "pixtral\", \"hidden_size\": 1024}}").errors ==
        Names{"config.json:2:63: \"model_type\": unknown vision tower \"pixtral\", allowed: clip_vision_model, "
              "siglip_vision_model"});
  const std::string clip = llava_of + R"(clip_vision_model", "hidden_size": 32, "image_size": 28, "patch_size": 14,
    "intermediate_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2)";
  CHECK(read_config(clip + "}}").errors == Names{});
  CHECK(read_config(clip + "}}").model.vision.layers_run == 2);
  CHECK(read_config(clip + ",\n\"attention_dropout\": 0.1}}").errors ==
        Names{"config.json:4:1: \"attention_dropout\": 0.1 changes the computation and is not modelled, allowed: null "
              "or 0"});
  CHECK(read_config(clip + "},\n\"vision_feature_select_strategy\": \"full\"}").errors ==
        Names{"config.json:4:1: \"vision_feature_select_strategy\": \"full\" changes the computation and is not "
              "modelled, allowed: \"default\""});
  CHECK(read_config(R"({"model_type": "llava", "text_config": {"model_type": "llama"}})").errors.front() ==
        "config.json:1:1: \"vision_config\": expected an object, {...}");
}

}  // namespace vision
}  // namespace
}  // namespace tessera::workload
