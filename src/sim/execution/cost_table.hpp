// Durations of a program's operators, computed once per rank, kind of device and speed.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/machine/machine.hpp"
#include "tessera/program/program.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::sim {

/// What collectives take of a device while they run.
struct Taken {
  std::int64_t cores = 0;
  std::int64_t memory_rate = 0;  ///< B/s
  auto operator<=>(const Taken&) const = default;
};

/// An operator where what it reads and writes goes through the memory's one server.
struct OperatorWork {
  Time computing = 0;      ///< ps
  std::int64_t bytes = 0;  ///< as if it moved them at the memory's full bandwidth
  Time launch = 0;         ///< ps behind both
};

/// Times on accelerators of one speed: those of the cost model divided by it, rounded up. A host has a table as well,
/// of which nobody asks anything: check_program() refuses what would compute there.
class CostTable {
 public:
  /// Throws InputError for a datatype that the device has no peak for.
  CostTable(const program::Program& program, const machine::DeviceSpec& device, const workload::CostModel& cost,
            double speed);
  [[nodiscard]] static CostTable of_host(const program::Program& program, const machine::DeviceSpec& host,
                                         const workload::CostModel& cost);

  [[nodiscard]] Time of(program::OperatorId id) const { return times_[id]; }
  /// Of a program whose operators share the memory's bandwidth with messages.
  [[nodiscard]] const OperatorWork& work(program::OperatorId id) const { return works_[id]; }
  /// The same of reduction().
  [[nodiscard]] std::int64_t reduction_traffic(std::int64_t bytes) const;
  /// B/s.
  [[nodiscard]] std::int64_t memory_bandwidth() const;
  /// Beside collectives that take so much of the device: on what they leave of its cores and memory bandwidth, of each
  /// at least a sixteenth.
  [[nodiscard]] Time beside(program::OperatorId id, const Taken& taken);
  /// Adding `bytes` of received data to local data: two operands read, one written. 0 when the program has free
  /// reductions.
  [[nodiscard]] Time reduction(std::int64_t bytes);

 private:
  CostTable(const program::Program& program, const workload::CostModel& cost, const machine::DeviceSpec& device,
            double speed);
  [[nodiscard]] Time time(const workload::Operator& op, const machine::DeviceSpec& device) const;
  [[nodiscard]] OperatorWork work_of(const workload::Operator& op) const;

  struct Known {
    std::int64_t bytes = 0;
    Time time = 0;
  };
  const program::Program* program_;
  const machine::DeviceSpec* device_;
  const workload::CostModel* cost_;
  double speed_;
  bool free_reductions_;
  std::vector<Time> times_;          // by operator
  std::vector<OperatorWork> works_;  // the same, where the memory is shared
  std::map<std::pair<program::OperatorId, Taken>, Time> beside_;
  std::array<Known, 256> known_{};  // by a hash of the bytes; computed again when another size has taken the place
};

/// The tables of a rank. Devices of one kind and speed share one.
class CostTables {
 public:
  CostTables(const program::Program& program, const machine::Machine& machine, const workload::CostModel& cost);
  [[nodiscard]] CostTable& of(const machine::KindAndSpeed& device);
  /// Of accelerators.
  [[nodiscard]] CostTable& at_speed(double speed) { return of({0, speed}); }

 private:
  struct Entry {
    machine::KindAndSpeed device;
    std::unique_ptr<CostTable> table;
  };
  std::vector<Entry> entries_;
};

}  // namespace tessera::sim
