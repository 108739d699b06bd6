// Operators of a section in turn, with the exchanges and sums that begin and end amid them.
#pragma once

#include "writer.hpp"

namespace tessera::strategy::megatron {

/// Puts exchanges of context ranks, under that activity, and sums over tensor ranks among operators. Whoever goes round
/// waits for what it sends as well, as a library's call for both does.
class SectionRun {
 public:
  /// Both outlive it.
  SectionRun(Writer& writer, const std::vector<workload::ExchangeStep>& steps,
             Activity exchange = Activity::other_communication)
      : writer_(writer), steps_(steps), exchange_(exchange) {}

  /// What ends and what begins in front of the operator of that place.
  void exchange_before(std::size_t at) const;
  void write(const std::vector<workload::Operator>& operators, Activity activity) const;

 private:
  program::BlockBuilder& ring() const;
  void begin(const workload::ExchangeStep& step) const;
  void end(const workload::ExchangeStep& step) const;

  Writer& writer_;
  const std::vector<workload::ExchangeStep>& steps_;
  Activity exchange_;
};

void run_forward(Writer& writer, const workload::OperatorSet& set, Activity activity);
void run_input_gradient(Writer& writer, const workload::OperatorSet& set);

}  // namespace tessera::strategy::megatron
