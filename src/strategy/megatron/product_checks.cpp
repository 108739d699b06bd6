#include "product_checks.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::strategy::megatron {
namespace {

class ProductChecker {
 public:
  ProductChecker(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics)
      : table_(table), job_(job), cut_(cut), options_(cut.options), model_(*job.model), diagnostics_(diagnostics) {}

  void check_rows();
  void check_gate();
  void check_user_buffers();
  void check_precision();
  void check_kept_weights();
  void check_layers();
  void check_latent();
  void check_mixers();
  void check_streams();
  void check_ends();

 private:
  [[nodiscard]] bool has_gate() const {
    for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind)
      if (layer_kind(model_, kind).gated_mlp) return true;
    return false;
  }
  template <class... Arguments>
  void error(const char* key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    diagnostics_.error(where_of(table_, key), fmt::format(text, std::forward<Arguments>(arguments)...));
  }

  const config::Table& table_;
  const Job& job_;
  const Cut& cut_;
  const Options& options_;
  const workload::Model& model_;
  config::Diagnostics& diagnostics_;
};

/// Of linear layers that are cut in both dimensions.
void ProductChecker::check_rows() {
  const std::int64_t rows = options_.tensor_rows;
  if (rows == 1) return;
  if (options_.tensor % rows != 0)
    error("tensor_rows", "tensor_rows = {} does not divide tensor = {}", rows, options_.tensor);
  if (model_.hidden % rows != 0)
    error("tensor_rows", "tensor_rows = {} does not divide the hidden size of {}", rows, model_.hidden);
  if (!options_.sequence_parallel)
    error("tensor_rows", "tensor_rows = {} cuts tokens as well, allowed: sequence_parallel = true", rows);
  if (has_experts(model_)) error("tensor_rows", "experts are not cut in two dimensions, allowed: tensor_rows = 1");
  if (cut_.uses_kernels())
    error("tensor_rows", "sublayers = \"{}\" sums over one dimension, allowed: tensor_rows = 1", options_.sublayers);
  if (job_.workload.generates())
    error("tensor_rows", "one token at a time is not cut by tokens, allowed: tensor_rows = 1");
}

/// Of a gated MLP whose two products sum an input gradient each.
void ProductChecker::check_gate() {
  if (!job_.workload.separate_gate || !has_gate() || options_.tensor == 1) return;
  const char* what = "workload.gated_linears = \"separate\" sums two input gradients in turn";
  if (cut_.is_two_dimensional()) return error("tensor_rows", "{}, allowed: tensor_rows = 1", what);
  if (cut_.uses_kernels()) return error("sublayers", "{}, allowed: sublayers = \"operators\"", what);
  if (cut_.training() && options_.overlap_tensor_communication && !options_.sequence_parallel)
    error("overlap_tensor_communication", "{}, allowed: false, or sequence_parallel = true", what);
}

void ProductChecker::check_user_buffers() {
  if (!options_.user_buffers || options_.tensor == 1 || !cut_.training()) return;
  if (!options_.sequence_parallel)
    return warn_if_given(table_, options_, "user_buffers", &Options::user_buffers, "without sequence_parallel",
                         diagnostics_);
  if (cut_.is_two_dimensional())
    error("user_buffers", "products that are cut in two dimensions have no user buffers, allowed: tensor_rows = 1");
  if (cut_.uses_kernels())
    error("user_buffers", "sublayers = \"{}\" overlaps products and sums itself, allowed: user_buffers = false",
          options_.sublayers);
  if (job_.workload.separate_gate && has_gate())
    error("user_buffers", "workload.gated_linears = \"separate\" has two products, allowed: user_buffers = false");
}

/// Layers that are gathered, or stream in, come from parts in the datatype. A search passes over such cuts.
void ProductChecker::check_kept_weights() {
  const Workload& workload = job_.workload;
  const std::string kept = workload.kept_weight_datatype(workload.datatype, cut_.training());
  if (kept == workload.datatype || !(options_.shards_parameters() || options_.streams_weights())) return;
  const bool streams = options_.streams_weights();
  error(streams ? "weight_streaming" : "data_sharding",
        "parts of parameters are kept in {}, and weights of workload.{} in {}, allowed: \"{}\"", workload.datatype,
        workload.has_own_weights() ? "weight_datatype" : "product_datatype", kept, streams ? "off" : "auto");
}

/// Of operands and weights with a datatype of their own.
void ProductChecker::check_precision() {
  const Workload& workload = job_.workload;
  const bool is_low = workload.has_low_products(workload.datatype);
  const auto refuse = [](const char* key, const std::string& what) {
    throw KeyError(std::string("workload.") + key, fmt::format("\"{}\": {}", key, what));
  };
  if (workload.has_own_weights() && cut_.training() && workload.weight_datatype != workload.product_datatype)
    refuse("weight_datatype", "in training weights are kept in the datatype, or in that of products");
  if (cut_.training() && is_low && workload.product_datatype != workload::OperandType::fp8)
    refuse("product_datatype", "\"" + workload.operand_datatype() + "\" in training, allowed: same, fp8");
  if (is_low && job_.machine.device.peak.count(workload.operand_datatype()) == 0)
    refuse("product_datatype",
           "device " + job_.machine.device.name + " states no peak for " + workload.operand_datatype());
  check_kept_weights();
  if (!is_low) return;
  if (workload.gathers_operands && workload.product_datatype == workload::OperandType::fp4)
    refuse("gather_operands", "ranks gather whole bytes a number, and not fp4, allowed: false");
  if (cut_.uses_user_buffers() && !workload.gathers_operands)
    error("user_buffers",
          "products of workload.product_datatype gather casts in chunks, allowed: false, or workload.gather_operands = "
          "true");
  if (cut_.is_two_dimensional())
    error("tensor_rows",
          "operands of workload.product_datatype are not cut in two dimensions, allowed: tensor_rows = 1");
  if (cut_.uses_kernels())
    error("sublayers",
          "sublayers = \"{}\" has operands of the datatype, allowed with workload.product_datatype: "
          "\"operators\"",
          options_.sublayers);
}

/// Of layers in which not every product sums what it makes, or a norm reads what was summed.
void ProductChecker::check_layers() {
  if (options_.tensor == 1) return;
  bool has_parallel = false, has_output_norm = false, has_inner_sums = false;
  for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind) {
    has_parallel = has_parallel || is_parallel(layer_kind(model_, kind));
    has_inner_sums = has_inner_sums || sums_norm_statistics(layer_kind(model_, kind));
    has_output_norm = has_output_norm || layer_kind(model_, kind).sublayer_norms != workload::SublayerNorms::input;
  }
  const char* inner = "tensor ranks sum amid a section of the model's layers (query_key_norm = \"whole-width\")";
  if (has_inner_sums && cut_.is_two_dimensional()) error("tensor_rows", "{}, allowed: tensor_rows = 1", inner);
  if (has_inner_sums && cut_.uses_kernels()) error("sublayers", "{}, allowed: sublayers = \"operators\"", inner);
  const char* side_by_side = "the model's attention and MLP are summed together (parallel_block)";
  if (has_parallel && cut_.is_two_dimensional()) error("tensor_rows", "{}, allowed: tensor_rows = 1", side_by_side);
  if (has_parallel && cut_.uses_kernels()) error("sublayers", "{}, allowed: sublayers = \"operators\"", side_by_side);
  if (has_parallel && cut_.uses_user_buffers())
    error("user_buffers", "{}, allowed: user_buffers = false", side_by_side);
  if (has_output_norm && cut_.is_two_dimensional())
    error("tensor_rows", "the model norms what attention and MLP make (sublayer_norms), allowed: tensor_rows = 1");
}

/// What latent attention compresses is neither cut nor summed, and narrower than what layers exchange otherwise.
void ProductChecker::check_latent() {
  bool has_latent = false;
  for (std::uint32_t kind = 0; kind < layer_kinds(model_); ++kind)
    has_latent = has_latent || is_latent(layer_kind(model_, kind));
  if (!has_latent || options_.tensor == 1) return;
  const char* what = "latent attention gathers what it compresses";
  if (cut_.is_two_dimensional()) error("tensor_rows", "{}, allowed: tensor_rows = 1", what);
  if (cut_.uses_kernels()) error("sublayers", "{}, allowed: sublayers = \"operators\"", what);
  if (cut_.uses_user_buffers()) error("user_buffers", "{}, allowed: user_buffers = false", what);
  if (options_.whole_attention) error("attention", "{}, allowed: attention = \"cut\"", what);
}

/// Of the cuts that know of attention alone.
void ProductChecker::check_mixers() {
  const std::string mixer = other_mixer(model_);
  if (mixer.empty() || options_.tensor == 1) return;
  const std::string what = "the model has " + mixer;
  if (cut_.is_two_dimensional()) error("tensor_rows", "{}, allowed: tensor_rows = 1", what);
  if (cut_.uses_kernels()) error("sublayers", "{}, allowed: sublayers = \"operators\"", what);
  if (options_.whole_attention) error("attention", "{}, allowed: attention = \"cut\"", what);
}

/// Of layers whose tokens have weights of two kinds.
void ProductChecker::check_streams() {
  if (!is_diffusion(model_)) return;
  const char* what = "the model's image and text have weights of their own ([model.diffusion])";
  if (options_.context_parallel > 1) error("context_parallel", "{}, allowed: context_parallel = 1", what);
  if (options_.tensor == 1) return;
  if (cut_.is_two_dimensional()) error("tensor_rows", "{}, allowed: tensor_rows = 1", what);
  if (cut_.uses_kernels()) error("sublayers", "{}, allowed: sublayers = \"operators\"", what);
  if (cut_.uses_user_buffers()) error("user_buffers", "{}, allowed: user_buffers = false", what);
  if (options_.whole_attention) error("attention", "{}, allowed: attention = \"cut\"", what);
}

/// Whether biases of scores stand in a table by the distance of two tokens.
bool has_distances(const workload::Model& model) {
  for (std::uint32_t kind = 0; kind < layer_kinds(model); ++kind)
    if (layer_kind(model, kind).mixer == workload::Mixer::hstu) return true;
  return false;
}

/// Of models that do not predict the next token.
void ProductChecker::check_ends() {
  const std::int64_t sequence = job_.workload.sequence;
  const std::string ends = without_vocabulary(model_);
  if (!ends.empty() && !cut_.training())
    diagnostics_.error(table_.where(),
                       fmt::format("model {} has {}, allowed: workload.phase = \"training\"", model_.name, ends));
  else if (is_diffusion(model_))
    static_cast<void>(patches_of(model_, sequence));
  if (has_distances(model_) && sequence > model_.max_positions)
    throw KeyError("workload.sequence",
                   fmt::format("sequences of {} tokens, and model {} has biases of distances up to {}", sequence,
                               model_.name, model_.max_positions));
}

}  // namespace

void check_products(const config::Table& table, const Job& job, const Cut& cut, config::Diagnostics& diagnostics) {
  ProductChecker checker(table, job, cut, diagnostics);
  checker.check_rows();
  checker.check_gate();
  checker.check_user_buffers();
  checker.check_precision();
  checker.check_layers();
  checker.check_latent();
  checker.check_mixers();
  checker.check_streams();
  checker.check_ends();
}

}  // namespace tessera::strategy::megatron
