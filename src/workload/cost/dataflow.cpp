// GEMMs as tiles on a device's array of cores, in the best of several dataflows (WATOS, section IV-E); everything else
// by memory traffic. The nest of loops is in dataflow/.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "cost_models.hpp"
#include "dataflow/listing.hpp"
#include "tessera/base/error.hpp"

namespace tessera::workload {
namespace {

const config::Schema<cost::KernelParameters>& dataflow_schema() {
  static const config::Schema<cost::KernelParameters> schema = [] {
    config::Schema<cost::KernelParameters> s(
        "cost.dataflow",
        "GEMMs as tiles on the cores of [machine.device.array], in the best of several "
        "dataflows; everything else by memory traffic.");
    s.also_accept("model", "dataflow");
    cost::add_kernels(s);
    return s;
  }();
  return schema;
}

/// What the array's MACs do at the device's clock, in FLOP/s.
double array_peak(const machine::ArraySpec& array, const machine::DeviceSpec& device) {
  return 2 * static_cast<double>(array.macs()) * static_cast<double>(device.clock);
}

constexpr double tolerance = 0.1;

/// A device whose figures go together: its MACs do what one of its peaks says, but for a tenth. The peak counts then.
void check_array(const machine::DeviceSpec& device) {
  if (!device.array)
    throw KeyError("machine.device", "cost model dataflow needs [machine.device.array]: cores, MACs and SRAM of " +
                                         device.name + "; models without it: roofline, tile");
  if (device.clock == 0)
    throw KeyError("machine.device", "cost model dataflow needs the clock of " + device.name +
                                         ": banks and links of [machine.device.array] move their bytes in each");
  if (device.array->cores() != device.cores)
    throw KeyError("machine.device.array",
                   fmt::format("{} x {} cores (columns x rows), and {} has cores = {}", device.array->columns,
                               device.array->rows, device.name, device.cores));
  const double of_array = array_peak(*device.array, device);
  const bool agrees = std::ranges::any_of(device.peak, [&](const auto& peak) {
    return std::abs(of_array / static_cast<double>(peak.second.value()) - 1) <= tolerance;
  });
  if (agrees) return;
  throw KeyError("machine.device.array",
                 fmt::format("{} MACs at {} make {:.4g} TFLOP/s, and no peak of {} is within a tenth of that",
                             device.array->macs(), config::format_quantity(device.clock, config::Unit::frequency),
                             of_array * 1e-12, device.name));
}

class DataflowModel : public cost::ProductModel {
 public:
  explicit DataflowModel(const cost::KernelParameters& parameters) : ProductModel(parameters) {}

  void check(const machine::DeviceSpec& device, const std::string&) const override { check_array(device); }

  /// Each operator once, by its name and what its time depends on.
  [[nodiscard]] std::optional<DataTable> table(const std::vector<Operator>& operators,
                                               const machine::DeviceSpec& device) const override {
    if (!device.array) return std::nullopt;
    std::vector<dataflow::Listed> rows;
    std::set<std::pair<std::string, dataflow::Question>> listed;
    for (const Operator& op : operators) {
      if (op.kind == OperatorKind::host || cost::is_empty(op)) continue;
      if (listed.emplace(op.name, dataflow::question_of(op, {})).second) add_to(rows, op, device);
    }
    return dataflow::listing(rows, *device.array);
  }

  [[nodiscard]] std::string worked_out(bool own_alone) const override { return table_.text(own_alone); }
  bool learn(const std::string& text) override { return table_.learn(text); }

 protected:
  [[nodiscard]] double product_time(const Operator& op, const machine::DeviceSpec& device) const override {
    return answer(op, device).taken().found.timed.time;
  }

  [[nodiscard]] ProductParts product_parts(const Operator& op, const machine::DeviceSpec& device) const override {
    const dataflow::Answer::Of& taken = answer(op, device).taken();
    const dataflow::Timed& timed = taken.found.timed;
    const dataflow::Product product = dataflow::dataflows()[taken.dataflow].product(op);
    const double bytes =
        dataflow::bytes_read(product, timed.accesses) + dataflow::bytes_written(product, timed.accesses);
    return {timed.computing, bytes / memory_rate(device)};
  }

 private:
  void add_to(std::vector<dataflow::Listed>& rows, const Operator& op, const machine::DeviceSpec& device) const {
    const bool computes = uses_matrix_units(op.kind);
    const double peak_time = computes ? static_cast<double>(op.flops) / cost::peak_rate(op, device) : 0;
    const Time least = cost::round_up(std::max(peak_time, cost::memory_time(op, device, 1)), op, device);
    if (op.kind != OperatorKind::gemm) return rows.push_back({&op, nullptr, true, time(op, device), least});
    const dataflow::Answer& known = answer(op, device);
    for (const dataflow::Answer::Of& of : known.all)
      rows.push_back(
          {&op, &of, &of == &known.taken(), cost::round_up(of.found.timed.time + launch_of(op), op, device), least});
  }

  /// Per picosecond.
  [[nodiscard]] static double rate(std::int64_t per_second) { return static_cast<double>(per_second) * 1e-12; }

  /// Of the device's memory, that products reach.
  [[nodiscard]] double memory_rate(const machine::DeviceSpec& device) const {
    return rate(device.memory_bandwidth.value()) * memory_share(OperatorKind::gemm);
  }

  [[nodiscard]] const dataflow::Answer& answer(const Operator& op, const machine::DeviceSpec& device) const {
    const double peak = cost::peak_rate(op, device);
    if (!is_checked_) {
      check_array(device);
      is_checked_ = true;
    }
    const machine::ArraySpec& array = *device.array;
    const double clock = rate(device.clock);
    const dataflow::Rates rates{array, 2 * static_cast<double>(array.macs()) / peak, memory_rate(device),
                                static_cast<double>(array.link_bytes) * clock,
                                static_cast<double>(array.bank_bytes) * clock};
    return table_.answer(op, rates);
  }

  mutable dataflow::Table table_;  // nobody sees a difference
  mutable bool is_checked_ = false;
};

}  // namespace

CostModelKind dataflow_kind() { return cost::kind_of<DataflowModel>("dataflow", dataflow_schema); }

}  // namespace tessera::workload
