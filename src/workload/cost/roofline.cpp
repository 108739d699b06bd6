// max(arithmetic, memory) + launch: the least that has to be assumed of a device.
#include <algorithm>

#include "cost_models.hpp"
#include "power.hpp"

namespace tessera::workload {
namespace {

struct RooflineParameters : cost::KernelParameters, cost::Power {
  double matrix_efficiency = 0;
  Time matrix_ramp = 0;
};

config::Schema<RooflineParameters> make_roofline_schema() {
  config::Schema<RooflineParameters> s("cost.roofline",
                                       "Time is the longer of arithmetic and memory traffic, plus the launch.");
  s.also_accept("model", "roofline");
  s.number("matrix_efficiency", &RooflineParameters::matrix_efficiency,
           "fraction of peak that a very large GEMM sustains")
      .at_least("0.01")
      .at_most("1")
      .otherwise("1");
  cost::add_attention(s);
  cost::add_memory_shares(s);
  cost::add_memory_traffic(s);
  s.quantity("matrix_ramp", &RooflineParameters::matrix_ramp, config::Unit::time,
             "arithmetic time at which a GEMM reaches half of matrix_efficiency")
      .at_most("1 s")
      .otherwise("0 s");
  cost::add_launches(s);
  cost::add_power(s);
  return s;
}

const config::Schema<RooflineParameters>& roofline_schema() {
  static const config::Schema<RooflineParameters> instance = make_roofline_schema();
  return instance;
}

class Roofline : public CostModel {
 public:
  explicit Roofline(const RooflineParameters& parameters)
      : CostModel(parameters, parameters.issue_interval), parameters_(parameters) {}

  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    if (op.kind == OperatorKind::host) return op.host_time;
    if (cost::is_empty(op)) return 0;
    const double work =
        op.kind == OperatorKind::gemm ? product_time(op, device) : cost::streaming_time(op, device, parameters_);
    const double held = work / parameters_.clock(op, device, work);
    return cost::round_up(held + cost::launch(op, parameters_.launch_overhead), op, device);
  }

  [[nodiscard]] double memory_share(OperatorKind kind) const override { return parameters_.of(kind); }

  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    return cost::parts(*this, op, device, parameters_);
  }

 private:
  /// w / (peak e(w)) with e(w) = e w / (w + w0): half the efficiency at w0, the work that peak does in matrix_ramp.
  [[nodiscard]] double product_time(const Operator& op, const machine::DeviceSpec& device) const {
    const double peak_time = static_cast<double>(op.flops) / cost::peak_rate(op, device);
    const double arithmetic =
        (peak_time + static_cast<double>(parameters_.matrix_ramp)) / parameters_.matrix_efficiency;
    return std::max(cost::memory_time(op, device, parameters_.of(op.kind)), arithmetic);
  }

  RooflineParameters parameters_;
};

}  // namespace

CostModelKind roofline_kind() {
  return cost::kind_of("roofline", roofline_schema,
                       [](const RooflineParameters& parameters, const Attachments&, const config::Table& table,
                          config::Diagnostics& diagnostics) {
                         cost::refuse_idle_above_limit(parameters, table, diagnostics);
                         return std::make_unique<Roofline>(parameters);
                       });
}

}  // namespace tessera::workload
