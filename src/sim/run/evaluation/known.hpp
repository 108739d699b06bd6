// What an evaluator finds out about its machine once for all programs: times of operators and of collectives.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "sim/execution/cost_table.hpp"
#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::sim {

/// A cost model that asks another one once for each operator, by what its time may depend on. For devices of one
/// machine, which differ in what is left of their cores and bandwidth at most.
class KnownTimes final : public workload::CostModel {
 public:
  explicit KnownTimes(const workload::CostModel& cost) : CostModel(cost.memory_traffic()), cost_(&cost) {}
  [[nodiscard]] Time time(const workload::Operator& op, const machine::DeviceSpec& device) const override;
  [[nodiscard]] workload::OperatorParts parts(const workload::Operator& op,
                                              const machine::DeviceSpec& device) const override {
    return cost_->parts(op, device);
  }

 private:
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         std::int64_t, std::int64_t, std::int64_t, Time, std::int64_t, std::int64_t,
                         workload::OperatorKind, std::string, workload::Convolution>;
  const workload::CostModel* cost_;
  mutable std::map<Key, Time> known_;  // nobody sees a difference
};

/// Least times of collectives on groups of a machine (least_time()), each found once, whatever program has it.
class LeastTimes {
 public:
  /// The machine outlives it. All calls with tables of one cost model.
  explicit LeastTimes(const machine::Machine& machine) : machine_(&machine) {}
  /// `costs`: of the program.
  [[nodiscard]] Time of(const program::Program& program, std::uint32_t collective, program::GroupId group,
                        CostTables& costs);

 private:
  using Key =
      std::tuple<program::CollectiveKind, std::int64_t, std::int64_t, std::uint32_t, std::uint32_t, std::uint32_t, bool,
                 std::vector<double>, std::vector<program::DeviceId>, std::shared_ptr<const program::Protocols>>;
  const machine::Machine* machine_;
  std::map<Key, Time> known_;
};

}  // namespace tessera::sim
