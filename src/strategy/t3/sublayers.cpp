#include "sublayers.hpp"

#include "tessera/base/error.hpp"

namespace tessera::strategy::t3 {

using program::Activity;

const std::vector<Sublayer>& sublayers() {
  static const std::vector<Sublayer> all{
      {"op", "the attention's output projection, forward", Activity::forward,
       [](const workload::Model& model) { return model.heads * model.head_dim; }},
      {"fc2", "the MLP's second linear layer, forward", Activity::forward,
       [](const workload::Model& model) { return model.ffn_hidden; }},
      {"fc1", "the MLP's first linear layer, backward to its input", Activity::backward,
       [](const workload::Model& model) { return model.ffn_hidden * (model.gated_mlp ? 2 : 1); }},
      {"ip", "the attention's input projection, backward to its input", Activity::backward,
       [](const workload::Model& model) { return (model.heads + 2 * model.kv_heads) * model.head_dim; }},
  };
  return all;
}

const Sublayer& sublayer(const std::string& name) {
  for (const Sublayer& one : sublayers()) {
    if (one.name == name) return one;
  }
  throw InternalError("no sub-layer \"" + name + "\"");
}

std::vector<std::string> sublayer_names() {
  std::vector<std::string> names;
  for (const Sublayer& one : sublayers()) names.push_back(one.name);
  names.emplace_back("gemm");
  return names;
}

std::string sublayer_help() {
  std::string text = "what is run:";
  for (const Sublayer& one : sublayers()) text += " " + one.name + ": " + one.help + ";";
  return text + " gemm: m x n x k as given";
}

}  // namespace tessera::strategy::t3
