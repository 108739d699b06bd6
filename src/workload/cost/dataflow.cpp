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

struct DataflowParameters : cost::MemoryShares, cost::AttentionRate, MemoryTraffic {
  Time launch_overhead = 0;
};

const config::Schema<DataflowParameters>& dataflow_schema() {
  static const config::Schema<DataflowParameters> schema = [] {
    config::Schema<DataflowParameters> s(
        "cost.dataflow",
        "GEMMs as tiles on the cores of [machine.device.array], in the best of several "
        "dataflows; everything else by memory traffic.");
    s.also_accept("model", "dataflow");
    cost::add_attention(s);
    cost::add_memory_shares(s);
    cost::add_memory_traffic(s);
    s.quantity("launch_overhead", &DataflowParameters::launch_overhead, config::Unit::time,
               "from the end of one kernel to the start of the next")
        .at_most("1000000 s")
        .otherwise("0 s");
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

class DataflowModel : public CostModel {
 public:
  explicit DataflowModel(const DataflowParameters& parameters) : CostModel(parameters), parameters_(parameters) {}

  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    if (op.kind == OperatorKind::host) return op.host_time;
    if (cost::is_empty(op)) return 0;
    const double start = cost::launch(op, parameters_.launch_overhead);
    if (op.kind == OperatorKind::gemm)
      return cost::round_up(answer(op, device).taken().found.timed.time + start, op, device);
    double longest = cost::memory_time(op, device, parameters_.of(op.kind));
    if (op.kind == OperatorKind::attention)
      longest = std::max(longest, parameters_.flops_at_peak(op) / cost::peak_rate(op, device));
    return cost::round_up(longest + start, op, device);
  }

  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    const double share = parameters_.of(op.kind);
    if (op.kind != OperatorKind::gemm || cost::is_empty(op))
      return cost::parts(*this, op, device, share, parameters_.launch_overhead);
    const dataflow::Answer& known = answer(op, device);
    const dataflow::Found& found = known.taken().found;
    const Time start = cost::round_up(cost::launch(op, parameters_.launch_overhead), op, device);
    const Time behind = time(op, device) - start;
    const Time computing = std::min(behind, cost::round_up(found.timed.computing, op, device));
    if (behind > computing) return {computing, behind, start};
    const dataflow::Product product = dataflow::dataflows()[known.taken().dataflow].product(op);
    const double bytes =
        dataflow::bytes_read(product, found.timed.accesses) + dataflow::bytes_written(product, found.timed.accesses);
    const double moving = bytes / (rate(device.memory_bandwidth.value()) * share);
    return {behind, std::min(behind, cost::round_up(moving, op, device)), start};
  }

  void check(const machine::DeviceSpec& device, const std::string&) const override { check_array(device); }

  [[nodiscard]] double memory_share(OperatorKind kind) const override { return parameters_.of(kind); }

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

 private:
  void add_to(std::vector<dataflow::Listed>& rows, const Operator& op, const machine::DeviceSpec& device) const {
    const bool computes = uses_matrix_units(op.kind);
    const double peak_time = computes ? static_cast<double>(op.flops) / cost::peak_rate(op, device) : 0;
    const Time least = cost::round_up(std::max(peak_time, cost::memory_time(op, device, 1)), op, device);
    if (op.kind != OperatorKind::gemm) return rows.push_back({&op, nullptr, true, time(op, device), least});
    const double start = cost::launch(op, parameters_.launch_overhead);
    const dataflow::Answer& known = answer(op, device);
    for (const dataflow::Answer::Of& of : known.all)
      rows.push_back({&op, &of, &of == &known.taken(), cost::round_up(of.found.timed.time + start, op, device), least});
  }

  /// Per picosecond.
  [[nodiscard]] static double rate(std::int64_t per_second) { return static_cast<double>(per_second) * 1e-12; }

  [[nodiscard]] const dataflow::Answer& answer(const Operator& op, const machine::DeviceSpec& device) const {
    const double peak = cost::peak_rate(op, device);
    if (!is_checked_) {
      check_array(device);
      is_checked_ = true;
    }
    const machine::ArraySpec& array = *device.array;
    const double clock = rate(device.clock);
    const dataflow::Rates rates{array, 2 * static_cast<double>(array.macs()) / peak,
                                rate(device.memory_bandwidth.value()) * parameters_.of(OperatorKind::gemm),
                                static_cast<double>(array.link_bytes) * clock,
                                static_cast<double>(array.bank_bytes) * clock};
    return table_.answer(op, rates);
  }

  DataflowParameters parameters_;
  mutable dataflow::Table table_;  // nobody sees a difference
  mutable bool is_checked_ = false;
};

}  // namespace

CostModelKind dataflow_kind() {
  return {"dataflow", dataflow_schema().help(), []() -> const config::SchemaBase& { return dataflow_schema(); },
          [](const config::Table& table, const Attachments&,
             config::Diagnostics& diagnostics) -> std::unique_ptr<CostModel> {
            const std::size_t before = diagnostics.errors().size();
            const DataflowParameters parameters = dataflow_schema().read(table, diagnostics);
            if (diagnostics.errors().size() != before) return nullptr;
            return std::make_unique<DataflowModel>(parameters);
          }};
}

}  // namespace tessera::workload
