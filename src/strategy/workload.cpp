// The [workload] table.
#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/strategy/strategy.hpp"

namespace tessera::strategy {
namespace {

const std::vector<std::pair<std::string, workload::Phase>>& phases() {
  using workload::Phase;
  static const std::vector<std::pair<std::string, Phase>> all = {
      {"training", Phase::training},
      {"prompt", Phase::prompt},
      {"generation", Phase::generation},
      {"prompt-and-generation", Phase::prompt_and_generation}};
  return all;
}

void add_stack(config::Schema<Workload>& s) {
  using workload::BiasKernels, workload::Loss;
  s.choice<Loss>("loss", &Workload::loss,
                 {{"vocabulary-parallel", Loss::vocabulary_parallel},
                  {"compiled", Loss::compiled},
                  {"gathered", Loss::gathered},
                  {"fused", Loss::fused}},
                 "cross entropy: single operations on each tensor rank's share of the vocabulary; the same in compiled "
                 "kernels (Megatron core's loss fusion); all logits gathered by each rank, and single operations on "
                 "them; or one kernel each way (FlashAttention's)")
      .otherwise("vocabulary-parallel");
  s.choice<BiasKernels>(
       "qkv_bias_kernels", &Workload::qkv_bias_kernels,
       {{"both", BiasKernels::both}, {"gradient", BiasKernels::gradient}, {"none", BiasKernels::none}},
       "of the QKV projection's bias: one that adds it and one that sums its gradient; the product adds it (PyTorch's "
       "linear layer); or products do both (Transformer Engine)")
      .otherwise("both");
  s.choice<bool>("gated_linears", &Workload::separate_gate, {{"joint", false}, {"separate", true}},
                 "the column-parallel products of a dense gated MLP: one of twice the width; or two, each with its own "
                 "input gradient, which without sequence parallelism each sums over the tensor ranks")
      .otherwise("joint");
  s.choice<bool>("expert_products", &Workload::single_experts, {{"grouped", false}, {"single", true}},
                 "those of the experts on a rank: in one kernel, whose tiles fill the device together; or one after "
                 "another, as a loop over experts launches them")
      .otherwise("grouped");
  std::vector<workload::AddedOperation> Workload::*operations = &Workload::operations;
  s.tables("operations", operations, workload::operation_schema(),
           "kernels that the software stack runs in a layer besides; a list replaces that of its recipe, and a "
           "recipe's goes behind that of a recipe that it includes")
      .optional();
}

void add_precision(config::Schema<Workload>& s) {
  using workload::OperandType;
  using workload::Scaling;
  OperandType Workload::*products = &Workload::product_datatype;
  OperandType Workload::*weights = &Workload::weight_datatype;
  const auto types = [] {
    std::vector<std::pair<std::string, OperandType>> all;
    for (const auto type : {OperandType::same, OperandType::fp8, OperandType::int8, OperandType::fp4})
      all.emplace_back(name_of(type), type);
    return all;
  };
  Scaling Workload::*scaling = &Workload::scaling;
  bool Workload::*gathers = &Workload::gathers_operands;
  s.choice<OperandType>(
       "product_datatype", products, types(),
       "of the operands of linear layers' products, which are cast before them; results, attention, norms, router, "
       "logits and messages keep the datatype. Training takes fp8 alone: E4M3 forward, E5M2 or E4M3 backward, which "
       "take as many bytes and run at the same rate")
      .otherwise("same");
  s.choice<OperandType>(
       "weight_datatype", weights, types(),
       "that weights of linear layers are kept in. same: in training the datatype, with copies for products beside "
       "them; otherwise that of products")
      .otherwise("same");
  s.choice<Scaling>(
       "operand_scaling", scaling,
       {{"delayed", Scaling::delayed}, {"current", Scaling::current}, {"blocks", Scaling::blocks}, {"mx", Scaling::mx}},
       "of operands with their own datatype: a scale a tensor from iterations before; from the tensor "
       "itself, which is read once more; one for 128 numbers, or 128 x 128 of weights (DeepSeek-V3); one "
       "for 32 (MXFP8)")
      .otherwise("delayed");
  s.boolean("gather_operands", gathers,
            "with sequence parallelism operands are cast before they are gathered, and gathered in their own datatype")
      .otherwise("false");
}

}  // namespace

const config::Schema<Workload>& workload_schema() {
  using workload::Phase;
  static const config::Schema<Workload> schema = [] {
    config::Schema<Workload> s("workload", "What is run, however it is cut.");
    s.choice<Phase>("phase", &Workload::phase, phases(),
                    "one training iteration; one forward pass over prompts; making tokens behind prompts that are in "
                    "the KV cache; or both, one after the other, for the same sequences")
        .otherwise("training");
    s.integer("sequence", &Workload::sequence, "tokens of a sequence; in generation, of the prompt before")
        .at_least("1")
        .at_most("16777216")
        .otherwise("2048");
    s.integer("global_batch", &Workload::global_batch, "sequences of one iteration, all replicas together")
        .at_least("1")
        .at_most("16777216")
        .otherwise("1");
    s.integer("generated", &Workload::generated,
              "generation: tokens to make for each sequence, of which "
              "its prompt makes the first, where that is run too")
        .at_least("1")
        .at_most("1048576")
        .otherwise("1");
    s.boolean("flash_attention", &Workload::flash_attention, "attention in one kernel that keeps the scores on chip")
        .otherwise("false");
    s.choice("datatype", &Workload::datatype, workload::datatype_names(), "of weights and activations")
        .otherwise("fp16");
    add_precision(s);
    s.choice("kv_cache_datatype", &Workload::kv_cache_datatype, workload::datatype_names(),
             "of the keys and values in the cache, when absent that of `datatype`; kernels that write and read the "
             "cache convert")
        .optional();
    add_stack(s);
    return s;
  }();
  return schema;
}

const char* name_of(workload::Phase phase) {
  return std::ranges::find(phases(), phase, &std::pair<std::string, workload::Phase>::second)->first.c_str();
}

std::vector<std::string> changed_keys(const Workload& workload) {
  config::Table given, defaults;
  workload_schema().write(workload, given);
  workload_schema().complete(defaults);
  std::vector<std::string> changed;
  for (const auto& [key, value] : given.entries()) {
    config::Table one, other;
    one.set(key, value);
    if (const config::Value* fallback = defaults.find(key); fallback != nullptr) other.set(key, *fallback);
    if (!config::same_content(one, other)) changed.push_back(key);
  }
  return changed;
}

std::string only_default(const std::string& key, const std::string& what) {
  const std::vector<config::ParameterHelp> all = workload_schema().parameters();
  const auto found = std::ranges::find(all, key, &config::ParameterHelp::name);
  return fmt::format("\"{}\": {}, allowed: {}", key, what,
                     found == all.end() || found->fallback.empty() ? "nothing" : found->fallback);
}

void refuse_unread(const Workload& workload, const std::vector<std::string>& keys, const std::string& what) {
  for (const std::string& key : changed_keys(workload)) {
    if (std::ranges::find(keys, key) != keys.end()) throw KeyError("workload." + key, only_default(key, what));
  }
}

}  // namespace tessera::strategy
