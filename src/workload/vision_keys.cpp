#include "vision_keys.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::workload {
namespace {

void add_layers(config::Schema<Vision>& s) {
  s.integer("layers", &Vision::layers, "layers that the tower has").at_least("1").at_most("10000");
  s.integer("layers_run", &Vision::layers_run, "the first so many of them, whose output is taken; 0: all")
      .at_least("0")
      .at_most("10000")
      .otherwise("0");
  s.integer("hidden", &Vision::hidden, "elements of a patch between layers").at_least("1").at_most("1000000");
  s.integer("heads", &Vision::heads, "heads of attention").at_least("1").at_most("100000");
  s.integer("ffn_hidden", &Vision::ffn_hidden, "width of the MLP; 0: 4 hidden")
      .at_least("0")
      .at_most("10000000")
      .otherwise("0");
  s.boolean("gated_mlp", &Vision::gated_mlp, "three matrices instead of two").otherwise("false");
  s.choice("norm", &Vision::norm, {{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}}, "kind of norm")
      .otherwise("layernorm");
  s.boolean("bias", &Vision::bias, "biases in the output projection and in the MLP").otherwise("true");
  s.boolean("qkv_bias", &Vision::qkv_bias, "biases in the QKV projection").otherwise("true");
  s.boolean("rotary", &Vision::rotary, "positions turn queries and keys").otherwise("false");
  s.integer("window", &Vision::window, "patches of a side of the square that a layer sees; 0: the whole image")
      .at_least("0")
      .at_most("10000")
      .otherwise("0");
  s.integers("whole_layers", &Vision::whole_layers, "layers that see the whole image all the same, from 0")
      .at_least("0")
      .optional();
}

void add_images(config::Schema<Vision>& s) {
  s.integer("images", &Vision::images, "images of each sequence; 0: text alone, and the tower is left out")
      .at_least("0")
      .at_most("100000")
      .otherwise("1");
  s.integer("tiles", &Vision::tiles, "tiles of an image, each of which passes through the tower by itself")
      .at_least("1")
      .at_most("10000")
      .otherwise("1");
  s.integer("image_height", &Vision::image_height, "pixels of an image, or of a tile").at_least("1").at_most("100000");
  s.integer("image_width", &Vision::image_width, "pixels; 0: as many as image_height")
      .at_least("0")
      .at_most("100000")
      .otherwise("0");
  s.integer("patch", &Vision::patch, "pixels of a side of a patch").at_least("1").at_most("10000");
  s.integer("patch_channels", &Vision::patch_channels, "numbers of a pixel of a patch: colours x frames")
      .at_least("1")
      .at_most("10000")
      .otherwise("3");
  s.boolean("patch_bias", &Vision::patch_bias, "the embedding of patches has a bias").otherwise("false");
  s.boolean("class_token", &Vision::class_token, "one more token beside the patches, dropped behind the last layer")
      .otherwise("false");
  s.integer("position_rows", &Vision::position_rows, "rows of a learned position embedding; 0: none")
      .at_least("0")
      .at_most("100000000")
      .otherwise("0");
  s.boolean("input_norm", &Vision::input_norm, "a norm before the first layer").otherwise("false");
  s.boolean("final_norm", &Vision::final_norm, "a norm behind the last one").otherwise("false");
}

void add_projector(config::Schema<Vision>& s) {
  s.integer("pool", &Vision::pool, "so many x so many patches are averaged")
      .at_least("1")
      .at_most("1000")
      .otherwise("1");
  s.integer("merge", &Vision::merge, "so many x so many of these stand side by side in one token")
      .at_least("1")
      .at_most("1000")
      .otherwise("1");
  s.boolean("projector_norm", &Vision::projector_norm, "a norm before they do").otherwise("false");
  s.choice("projector_norm_kind", &Vision::projector_norm_kind,
           {{"layernorm", Norm::layernorm}, {"rmsnorm", Norm::rmsnorm}}, "its kind")
      .otherwise("layernorm");
  s.integers("projector", &Vision::projector,
             "columns of the projector's linear layers; those of the last one are the model's hidden size")
      .at_least("1");
  s.boolean("projector_bias", &Vision::projector_bias, "they have biases").otherwise("true");
  s.integer("separators", &Vision::separators, "tokens of an image that are one learnt vector, such as ends of rows")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0");
  s.integer("unused_parameters", &Vision::unused_parameters, "that a file holds and that never run, beside layers")
      .at_least("0")
      .at_most("1000000000000")
      .otherwise("0");
  s.boolean("frozen", &Vision::frozen,
            "the tower is not trained: no gradients, no optimizer state, no backward pass; the projector is")
      .otherwise("false");
}

using Report = std::function<void(const std::string& field, const std::string& what)>;

void check_sizes(const Vision& vision, const Report& report) {
  if (vision.hidden % vision.heads != 0)
    report("vision.heads", fmt::format("{} does not divide hidden, which is {}", vision.heads, vision.hidden));
  if (vision.layers_run > vision.layers)
    report("vision.layers_run", fmt::format("{} is more than the {} layers", vision.layers_run, vision.layers));
  for (const std::int64_t layer : vision.whole_layers)
    if (layer >= vision.layers)
      report("vision.whole_layers", fmt::format("{}, allowed: 0 to {}", layer, vision.layers - 1));
  if (!vision.whole_layers.empty() && vision.window == 0)
    report("vision.whole_layers", "without a window all layers see the whole image, allowed: none");
  if (vision.window > 0 && vision.class_token)
    report("vision.class_token", "a window has patches alone, allowed: false, or window = 0");
  const double matrices = 8.0 * static_cast<double>(vision.hidden) * static_cast<double>(vision.hidden) +
                          3.0 * static_cast<double>(vision.hidden) * static_cast<double>(vision.ffn_hidden);
  if (static_cast<double>(vision.layers) * matrices > 1e15)
    report("vision.hidden", "a tower of more than 10^15 parameters");
}

void check_tiles(const Vision& vision, const Report& report) {
  const std::int64_t unit = vision.patch * vision.pool * vision.merge;
  for (const auto& [field, pixels] :
       {std::pair{"vision.image_height", vision.image_height}, std::pair{"vision.image_width", vision.image_width}}) {
    if (pixels % unit != 0)
      report(field, fmt::format("{} pixels, allowed: a multiple of {} (patch {} x pool {} x merge {})", pixels, unit,
                                vision.patch, vision.pool, vision.merge));
    else if (vision.window > 0 && pixels % (vision.patch * vision.window) != 0)
      report(field, fmt::format("{} pixels, allowed: a multiple of {} (patch {} x window {})", pixels,
                                vision.patch * vision.window, vision.patch, vision.window));
  }
}

}  // namespace

const config::Schema<Vision>& vision_schema() {
  static const config::Schema<Vision> schema = [] {
    config::Schema<Vision> s("model.vision", "A vision tower in front of the language model, and its projector.");
    add_layers(s);
    add_images(s);
    add_projector(s);
    return s;
  }();
  return schema;
}

void settle_vision(Model& model, const Report& report) {
  Vision& vision = model.vision;
  if (vision.layers == 0) return;
  if (vision.images == 0) {
    vision = {};
    return;
  }
  if (vision.layers_run == 0) vision.layers_run = vision.layers;
  if (vision.ffn_hidden == 0) vision.ffn_hidden = 4 * vision.hidden;
  if (vision.image_width == 0) vision.image_width = vision.image_height;
  check_sizes(vision, report);
  check_tiles(vision, report);
  if (vision.projector.empty() || vision.projector.back() != model.hidden)
    report("vision.projector", fmt::format("its last number is not {}, the model's hidden size", model.hidden));
  if (!model.causal) report("vision.layers", "a tower stands in front of a model that predicts the next token");
  if (model.prediction_depth > 0)
    report("prediction_depth", "predictions further ahead are not made of images, allowed: 0");
}

}  // namespace tessera::workload
