#include "diffusion.hpp"

#include <fmt/format.h>

#include "layer/joint.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload {
namespace {

using layer::Context;
using layer::Linear;

/// A linear layer with a bias over so many rows, which a rank has whole. Its input is kept; `has_input_gradient`: what
/// it reads is learnt.
void add_whole(const Context& context, const std::string& name, std::int64_t rows, std::int64_t in, std::int64_t out,
               bool has_input_gradient, OperatorSet& set) {
  OperatorSet one;
  layer::add_linear(context, {name, 1, rows, in, out, Linear::Gathered::nothing, false}, one);
  if (!has_input_gradient) one.input_gradient.clear();
  if (context.training) {
    one.weight_gradient.push_back(context.bias_gradient(name + " bias wgrad", rows * out, out));
    one.kept_inside = context.element * rows * in;
  }
  layer::append(one, set);
}

/// Two linear layers with a SiLU between them, of a sample.
void add_sample_mlp(const Context& context, const std::string& name, std::int64_t in, OperatorSet& set) {
  const std::int64_t h = context.model.hidden, rows = context.shape.micro_batch;
  add_whole(context, name + " 1", rows, in, h, false, set);
  OperatorSet silu;
  silu.forward = {context.stream(OperatorKind::fused, name + " silu", rows * h, rows * h)};
  if (context.training)
    silu.input_gradient = {context.stream(OperatorKind::fused, name + " silu dgrad", 2 * rows * h, rows * h)};
  layer::append(silu, set);
  add_whole(context, name + " 2", rows, h, h, true, set);
}

/// Patches are copied side by side, go through a linear layer, and get their fixed positions.
void add_patches(const Context& image, OperatorSet& set) {
  const std::int64_t numbers = image.model.diffusion.patch_numbers, h = image.model.hidden;
  const std::int64_t rows = image.tokens_cut;
  set.forward.push_back(image.stream(OperatorKind::copy, "patches", rows * numbers, rows * numbers));
  add_whole(image, "patch embedding", rows, numbers, h, false, set);
  set.forward.push_back(image.stream(OperatorKind::elementwise, "patch positions", 2 * rows * h, rows * h));
}

Int128 sample_flops(const Model& model) {
  const Int128 h = model.hidden;
  return 2 * h * (model.diffusion.time_width + model.diffusion.pooled_width + 2 * h);
}

}  // namespace

EmbeddingOperators diffusion_embedding(const Model& model, const LayerShape& shape) {
  const Context joint(model, shape);
  const std::vector<layer::Stream> streams = layer::streams_of(joint);
  EmbeddingOperators embedding;
  OperatorSet& set = embedding.combine;
  add_sample_mlp(joint, "timestep embedding", model.diffusion.time_width, set);
  add_sample_mlp(joint, "pooled text embedding", model.diffusion.pooled_width, set);
  add_patches(streams.front().context, set);
  const Context& text = streams.back().context;
  add_whole(text, "text embedding", text.tokens_cut, model.diffusion.text_width, model.hidden, false, set);
  return embedding;
}

HeadOperators diffusion_head(const Model& model, const LayerShape& shape) {
  const Context joint(model, shape);
  const Context image = layer::streams_of(joint).front().context;
  const std::int64_t rows = image.tokens_cut, numbers = rows * model.diffusion.output_numbers;
  HeadOperators head;
  head.norm = layer::modulated_norm(image, "final norm", false);
  layer::put_modulation_before(joint, {{"final modulation", 2 * model.hidden}}, head.norm);
  add_whole(image, "patch output", rows, model.hidden, model.diffusion.output_numbers, true, head.norm);
  head.norm.forward.push_back(image.stream(OperatorKind::copy, "image", numbers, numbers));
  if (!joint.training) return head;
  head.norm.put_before_gradient({image.stream(OperatorKind::copy, "image dgrad", numbers, numbers)});
  head.loss[0].forward = {image.stream(OperatorKind::reduction, "mean square error", 2 * numbers, 0)};
  head.loss[0].input_gradient = {
      image.stream(OperatorKind::elementwise, "mean square error dgrad", 2 * numbers, numbers)};
  head.loss[0].kept_inside = 2 * image.element * numbers;
  return head;
}

std::int64_t diffusion_embedding_parameters(const Model& model) {
  const Diffusion& diffusion = model.diffusion;
  // Each linear layer has a bias: of timestep and pooled text two each, of patches and tokens one each.
  return model.hidden * (diffusion.time_width + diffusion.pooled_width + diffusion.patch_numbers +
                         diffusion.text_width + 6 + 2 * model.hidden);
}

ParameterShare diffusion_head_parameters(const Model& model, std::int64_t tensor) {
  const std::int64_t h = model.hidden;
  ParameterShare share;
  share.sharded = (h + 1) * ceil_div(2 * h, tensor);
  share.replicated = (h + 1) * model.diffusion.output_numbers;
  return share;
}

std::int64_t patches_of(const Model& model, std::int64_t sequence) {
  const std::int64_t text = model.diffusion.text_tokens;
  if (sequence <= text)
    throw KeyError("workload.sequence",
                   fmt::format("sequences of {} tokens, of which {} are the text of model {}, allowed: more", sequence,
                               text, model.name));
  return sequence - text;
}

Int128 diffusion_end_flops(const Model& model, std::int64_t sequence) {
  const Int128 h = model.hidden, text = model.diffusion.text_tokens, image = sequence - model.diffusion.text_tokens;
  const Int128 of_patch = model.diffusion.patch_numbers + model.diffusion.output_numbers;
  return sample_flops(model) + 2 * h * (image * of_patch + text * model.diffusion.text_width + 2 * h);
}

}  // namespace tessera::workload
