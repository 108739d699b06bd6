#include "operations.hpp"

#include <algorithm>
#include <array>

#include "context.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/integers.hpp"

namespace tessera::workload::layer {
namespace {

/// Elements of a micro-batch on this rank.
struct Width {
  const char* name;
  std::int64_t (*elements)(const Context& context, std::int64_t tokens);
};
constexpr std::array<Width, 12> widths = {{
    {"hidden", [](const Context& c, std::int64_t tokens) { return tokens * c.model.hidden; }},
    {"query", [](const Context& c, std::int64_t tokens) { return tokens * c.query_width; }},
    {"value", [](const Context& c, std::int64_t tokens) { return tokens * c.value_width; }},
    {"key-value", [](const Context& c, std::int64_t tokens) { return tokens * (c.key_width + c.value_width); }},
    {"query-key", [](const Context& c, std::int64_t tokens) { return tokens * (c.query_width + c.key_width); }},
    {"qkv", [](const Context& c, std::int64_t tokens) { return tokens * c.qkv_width(); }},
    {"mlp", [](const Context& c, std::int64_t) { return mlp_elements(c); }},
    {"vocabulary",
     [](const Context& c, std::int64_t tokens) {
       return tokens * padded_vocabulary(c.model, c.shape.tensor) / c.shape.tensor;
     }},
    {"mask", [](const Context& c, std::int64_t) { return c.shape.sequence * c.shape.context; }},
    {"router-logits", [](const Context& c, std::int64_t) { return c.tokens_cut * c.layer.experts; }},
    {"copies",
     [](const Context& c, std::int64_t) { return c.tokens_cut * c.layer.experts_per_token * c.model.hidden; }},
    {"arrivals", [](const Context& c, std::int64_t) { return c.shape.expert_tokens * c.model.hidden; }},
}};

struct Condition {
  const char* name;
  bool (*holds)(const Context& context);
};
constexpr std::array<Condition, 8> conditions = {{
    {"rotary", [](const Context& c) { return c.rotary; }},
    {"experts", [](const Context& c) { return is_moe(c.layer); }},
    {"several-experts", [](const Context& c) { return c.local_experts > 1; }},
    {"grouped-queries", [](const Context& c) { return c.layer.kv_heads < c.layer.heads; }},
    {"dropout", [](const Context& c) { return c.dropout; }},
    {"several-sequences", [](const Context& c) { return c.shape.micro_batch > 1; }},
    {"tensor-parallel", [](const Context& c) { return c.shape.tensor > 1; }},
    {"sequence-parallel", [](const Context& c) { return c.shape.sequence_parallel && c.shape.tensor > 1; }},
}};

template <class Named>
std::vector<std::string> names_of_all(const Named& all) {
  std::vector<std::string> names;
  for (const auto& one : all) names.emplace_back(one.name);
  return names;
}

bool holds(const Context& context, const std::string& name) {
  return std::ranges::find(conditions, name, &Condition::name)->holds(context);
}

bool runs(const Context& context, const AddedOperation& operation) {
  const auto holds_here = [&](const std::string& name) { return holds(context, name); };
  return std::ranges::all_of(operation.with, holds_here) && std::ranges::none_of(operation.without, holds_here);
}

/// Also of the experts, and of those that every token takes. Exchanges amid the others stay where they are among these.
/// False: the section has no such operator.
bool leave_out(const std::string& name, std::vector<Operator>& operators, std::vector<ExchangeStep>& exchanges) {
  bool is_there = false;
  for (std::size_t i = operators.size(); i-- > 0;) {
    const std::string& found = operators[i].name;
    if (found != name && found != "expert " + name && found != "shared " + name) continue;
    operators.erase(operators.begin() + static_cast<std::ptrdiff_t>(i));
    for (ExchangeStep& step : exchanges)
      for (std::size_t* at : {&step.begin, &step.end})
        if (*at > i) --*at;
    is_there = true;
  }
  return is_there;
}

std::vector<Operator> kernels(const Context& context, const AddedOperation& operation, const std::string& suffix,
                              Bytes an_element, std::int64_t count) {
  if (an_element.value() == 0) return {};
  const std::int64_t tokens = operation.tokens == "own" ? context.tokens_cut : context.tokens;
  const std::int64_t elements = std::ranges::find(widths, operation.width, &Width::name)->elements(context, tokens);
  if (elements == 0) return {};
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, an_element.value(), &bytes))
    throw KeyError("workload.operations", "\"" + operation.name + "\" moves more than 9.2 EB in a layer");
  const std::int64_t share = ceil_div(bytes, count), read = ceil_div(share, 2);
  const Operator one =
      streaming(operation.kind, operation.name + suffix, Bytes{read}, Bytes{share - read}, context.shape.datatype);
  return {static_cast<std::size_t>(count), one};
}

void add_operation(const Context& context, const AddedOperation& operation, OperatorSet& set) {
  if (!runs(context, operation)) return;
  if (!operation.replaces.empty()) {
    if (!leave_out(operation.replaces, set.forward, set.exchange_steps)) return;
    leave_out(operation.replaces + " dgrad", set.input_gradient, set.gradient_exchange_steps);
  }
  // Other tensors than what an MLP makes inside are the layer's, or those of the other experts.
  if (context.experts == Experts::shared && operation.width != "mlp") return;
  const std::vector<Operator> forward = kernels(context, operation, "", operation.forward, operation.forward_kernels);
  set.forward.insert(set.forward.end(), forward.begin(), forward.end());
  if (!context.training) return;
  const std::vector<Operator> backward =
      kernels(context, operation, " dgrad", operation.backward, operation.backward_kernels);
  set.put_before_gradient(backward);
}

}  // namespace

void add_operations(const Context& context, const std::string& section, OperatorSet& set) {
  if (set.empty()) return;
  for (const AddedOperation& operation : context.stack.operations)
    if (operation.section == section) add_operation(context, operation, set);
}

std::vector<std::string> operation_widths() { return names_of_all(widths); }
std::vector<std::string> operation_conditions() { return names_of_all(conditions); }

std::vector<std::string> replaceable_operators() {
  return {"attention norm",
          "qkv bias",
          "query norm",
          "key norm",
          "rotary",
          "soft cap",
          "softmax",
          "attention dropout",
          "context layout",
          "attention output norm",
          "attention residual",
          "mlp norm",
          "gate",
          "activation",
          "parallel sum",
          "mlp output norm",
          "mlp residual",
          "embedding layout",
          "embedding scaling",
          "dispatch",
          "combine"};
}

}  // namespace tessera::workload::layer
