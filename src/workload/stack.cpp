// The table [[workload.operations]].
#include "tessera/workload/stack.hpp"

#include <algorithm>

#include "layer/operations.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::workload {
namespace {

std::vector<std::string> sections() {
  std::vector<std::string> names(section_names.begin(), section_names.end());
  names.insert(names.end(), {"embedding", "loss"});
  return names;
}

void add_place(config::Schema<AddedOperation>& s) {
  s.text("name", &AddedOperation::name, "of its kernels, in timelines and breakdowns");
  s.choice("section", &AddedOperation::section, sections(),
           "of a layer, behind which it runs, and before whose backward part; or of the model's ends. A layer "
           "without that section has none");
  s.choice("replaces", &AddedOperation::replaces, layer::replaceable_operators(),
           "an operator of the section that is left out, with that of its input gradient; where there is none, "
           "nothing runs in its place either")
      .optional();
  s.texts("with", &AddedOperation::with,
          "runs only where all of these hold: " + config::listed(layer::operation_conditions()))
      .optional();
  s.texts("without", &AddedOperation::without, "does not run where one of these holds").optional();
}

void add_work(config::Schema<AddedOperation>& s) {
  s.choice(
       "width", &AddedOperation::width, layer::operation_widths(),
       "elements of a token, on a rank: those of the activation between layers; of queries, values, keys and "
       "values, queries and keys, or all three; of the MLP; of the vocabulary. Or, whatever `tokens` says, of one "
       "sequence's mask; of the router's logits; of the rank's own tokens, once for each expert that they go to; of "
       "what arrives at the rank's experts")
      .otherwise("hidden");
  s.choice("tokens", &AddedOperation::tokens, {"all", "own"},
           "all of a micro-batch; or under sequence parallelism, those of the rank")
      .otherwise("all");
  s.quantity("forward", &AddedOperation::forward, "read and written for an element in the forward pass")
      .at_most("1 MB")
      .otherwise("0 B");
  s.quantity("backward", &AddedOperation::backward, "the same in the backward pass").at_most("1 MB").otherwise("0 B");
  const auto kernels = [&](const char* key, std::int64_t AddedOperation::*member, const char* help) {
    s.integer(key, member, help).at_least("1").at_most("1000").otherwise("1");
  };
  kernels("forward_kernels", &AddedOperation::forward_kernels, "that move these bytes, an equal share each");
  kernels("backward_kernels", &AddedOperation::backward_kernels, "the same in the backward pass");
  std::vector<std::pair<std::string, OperatorKind>> kinds;
  for (const auto kind :
       {OperatorKind::elementwise, OperatorKind::fused, OperatorKind::copy, OperatorKind::norm, OperatorKind::dropout,
        OperatorKind::softmax, OperatorKind::embedding, OperatorKind::reduction})
    kinds.emplace_back(name_of(kind), kind);
  s.choice<OperatorKind>("kind", &AddedOperation::kind, kinds,
                         "of its kernels: whose share of the memory bandwidth they reach")
      .otherwise("elementwise");
}

}  // namespace

const config::Schema<AddedOperation>& operation_schema() {
  static const config::Schema<AddedOperation> schema = [] {
    config::Schema<AddedOperation> s("workload.operations", "Kernels that a software stack runs in a layer besides.");
    add_place(s);
    add_work(s);
    return s;
  }();
  return schema;
}

std::string problem_of(const AddedOperation& operation) {
  const std::vector<std::string> known = layer::operation_conditions();
  for (const auto* conditions : {&operation.with, &operation.without}) {
    for (const std::string& name : *conditions)
      if (std::ranges::find(known, name) == known.end()) return config::unknown("condition", name, known);
  }
  if (operation.forward.value() == 0 && operation.backward.value() == 0)
    return "an operation that moves nothing, allowed: forward or backward of more than 0 B";
  if (!operation.replaces.empty() && operation.forward.value() == 0)
    return "in place of \"" + operation.replaces + "\" nothing would run, allowed: forward of more than 0 B";
  if (operation.tokens == "own" && (operation.width == "copies" || operation.width == "router-logits"))
    return "width \"" + operation.width + "\" is of the rank's own tokens anyway, allowed: tokens = \"all\"";
  if (operation.tokens == "own" && operation.width != "hidden")
    return "width \"" + operation.width + "\" is not cut along the sequence, allowed: tokens = \"all\"";
  return {};
}

}  // namespace tessera::workload
