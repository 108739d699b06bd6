#include "section_run.hpp"

namespace tessera::strategy::megatron {
namespace {

using workload::ExchangeStep;
using workload::Operator;
using Kind = ExchangeStep::Kind;

bool goes_round(Kind kind) { return kind == Kind::to_next || kind == Kind::to_previous; }

struct Named {
  CollectiveKind kind;
  const char* label;
};

Named collective_of(Kind kind) {
  switch (kind) {
    case Kind::all_to_all:
      return {CollectiveKind::all_to_all, "context all-to-all"};
    case Kind::all_gather:
      return {CollectiveKind::all_gather, "context all-gather"};
    default:
      return {CollectiveKind::reduce_scatter, "context reduce-scatter"};
  }
}

}  // namespace

void SectionRun::exchange_before(std::size_t at) const {
  for (const ExchangeStep& step : steps_)
    if (step.end == at && step.begin < at) end(step);
  for (const ExchangeStep& step : steps_)
    if (step.begin == at) begin(step);
}

void SectionRun::write(const std::vector<Operator>& operators, Activity activity) const {
  for (std::size_t at = 0; at < operators.size(); ++at) {
    exchange_before(at);
    writer_.run({operators[at]}, activity);
  }
  exchange_before(operators.size());
}

program::BlockBuilder& SectionRun::ring() const {
  return writer_.builder().label("context exchange").activity(exchange_);
}

void SectionRun::begin(const ExchangeStep& step) const {
  if (step.kind == Kind::tensor_sum || step.kind == Kind::tensor_gather) {
    const bool sums = step.kind == Kind::tensor_sum;
    return writer_.collective(sums ? CollectiveKind::all_reduce : CollectiveKind::all_gather, tensor_group, step.bytes,
                              step.element, Activity::tensor_communication,
                              sums ? "inner all-reduce" : "tensor all-gather");
  }
  if (goes_round(step.kind)) {
    ring().send(step.kind == Kind::to_next ? next_context : previous_context, Bytes{step.bytes}, context_channel);
    return;
  }
  const auto [kind, label] = collective_of(step.kind);
  writer_.collective(kind, context_group, step.bytes, writer_.cut().element(), exchange_, label);
}

void SectionRun::end(const ExchangeStep& step) const {
  ring().receive(step.kind == Kind::to_next ? previous_context : next_context, Bytes{step.bytes}, context_channel);
  ring().wait_sends();
}

void run_forward(Writer& writer, const workload::OperatorSet& set, Activity activity) {
  SectionRun(writer, set.exchange_steps).write(set.forward, activity);
}

void run_input_gradient(Writer& writer, const workload::OperatorSet& set) {
  SectionRun(writer, set.gradient_exchange_steps).write(set.input_gradient, Activity::backward);
}

}  // namespace tessera::strategy::megatron
