// max(arithmetic, memory) + launch: the least that has to be assumed of a device.
#include <algorithm>

#include "cost_models.hpp"

namespace tessera::workload {
namespace {

struct RooflineParameters : cost::KernelParameters {
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
  cost::add_launch_overhead(s);
  return s;
}

const config::Schema<RooflineParameters>& roofline_schema() {
  static const config::Schema<RooflineParameters> instance = make_roofline_schema();
  return instance;
}

class Roofline : public CostModel {
 public:
  explicit Roofline(const RooflineParameters& parameters) : CostModel(parameters), parameters_(parameters) {}

  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    if (op.kind == OperatorKind::host) return op.host_time;
    if (cost::is_empty(op)) return 0;
    const double memory = cost::memory_time(op, device, parameters_.of(op.kind));
    const double longest = std::max(memory, arithmetic_time(op, device));
    return cost::round_up(longest + cost::launch(op, parameters_.launch_overhead), op, device);
  }

  [[nodiscard]] double memory_share(OperatorKind kind) const override { return parameters_.of(kind); }

  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    return cost::parts(*this, op, device, parameters_.of(op.kind), parameters_.launch_overhead);
  }

 private:
  /// w / (peak e(w)) with e(w) = e w / (w + w0): half the efficiency at w0, the work that peak does in matrix_ramp.
  [[nodiscard]] double arithmetic_time(const Operator& op, const machine::DeviceSpec& device) const {
    if (!uses_matrix_units(op.kind)) return 0;
    const double rate = cost::peak_rate(op, device);
    if (op.kind == OperatorKind::attention) return parameters_.flops_at_peak(op) / rate;
    const double peak_time = static_cast<double>(op.flops) / rate;
    return (peak_time + static_cast<double>(parameters_.matrix_ramp)) / parameters_.matrix_efficiency;
  }

  RooflineParameters parameters_;
};

}  // namespace

CostModelKind roofline_kind() { return cost::kind_of<Roofline>("roofline", roofline_schema); }

}  // namespace tessera::workload
