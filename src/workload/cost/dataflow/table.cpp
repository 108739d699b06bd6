#include "table.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"

namespace tessera::workload::dataflow {
namespace {

Answer worked_out(const Operator& op, const Rates& rates) {
  Answer answer;
  const std::vector<Dataflow>& kinds = dataflows();
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const std::optional<Found> found = fastest(kinds[i], op, rates);
    if (!found) continue;
    answer.all.push_back({i, *found});
    if (found->timed.time < answer.taken().found.timed.time) answer.best = answer.all.size() - 1;
  }
  if (!answer.all.empty()) return answer;
  throw KeyError(
      "machine.device.array.sram",
      fmt::format("\"sram\": {} of a core hold no two tiles of operator \"{}\" ({} x {} x {}), allowed: more",
                  config::format_quantity(rates.array.sram), op.name, op.m, op.n, op.k));
}

}  // namespace

Question question_of(const Operator& op, const Rates& rates) {
  return {op.batch,       op.m,        op.n,         op.k,       op.bytes_read, op.bytes_written, op.datatype,
          op.convolution, rates.clock, rates.memory, rates.link, rates.bank,    rates.array};
}

const Answer& Table::answer(const Operator& op, const Rates& rates) {
  Question question = question_of(op, rates);
  const auto found = known_.find(question);
  if (found != known_.end()) return found->second.answer;
  return known_.emplace(std::move(question), Known{worked_out(op, rates), false}).first->second.answer;
}

}  // namespace tessera::workload::dataflow
