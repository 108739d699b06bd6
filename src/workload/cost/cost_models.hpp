// The cost models of src/workload/cost/, one file each, and what they share.
#pragma once

#include <cstdint>
#include <memory>

#include "attention.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

[[nodiscard]] CostModelKind roofline_kind();
[[nodiscard]] CostModelKind tile_kind();
[[nodiscard]] CostModelKind dataflow_kind();
[[nodiscard]] CostModelKind predictor_kind();

namespace cost {

/// Shares of the memory bandwidth that streaming kernels sustain. Each cost model has these keys.
struct MemoryShares {
  double all = 0;  ///< memory_efficiency: of kinds without a share of their own
  double gemm = 0, norm = 0, softmax = 0, elementwise = 0, fused = 0, dropout = 0, reduction = 0, copy = 0,
         embedding = 0, optimizer = 0;

  /// Of an operator of that kind. A collective's additions are `all`.
  [[nodiscard]] double of(OperatorKind kind) const;
};

/// The keys of the shares, for a cost model whose parameters derive from them.
template <class Parameters>
void add_memory_shares(config::Schema<Parameters>& schema) {
  const auto share = [&](const char* key, double Parameters::*member, const std::string& help) {
    return schema.number(key, member, help).at_least("0.01").at_most("1");
  };
  share("memory_efficiency", &Parameters::all, "fraction of the memory bandwidth that a streaming kernel sustains")
      .otherwise("1");
  const std::string default_is = "; memory_efficiency when absent";
  share("gemm_memory_efficiency", &Parameters::gemm, "the same of a GEMM's operands and results" + default_is)
      .optional();
  share("norm_memory_efficiency", &Parameters::norm, "the same of norms" + default_is).optional();
  share("softmax_memory_efficiency", &Parameters::softmax, "the same of softmax" + default_is).optional();
  share("elementwise_memory_efficiency", &Parameters::elementwise,
        "the same of single element-wise operations" + default_is)
      .optional();
  share("fused_memory_efficiency", &Parameters::fused,
        "the same of several in one kernel: bias and activation; bias, dropout and residual" + default_is)
      .optional();
  share("dropout_memory_efficiency", &Parameters::dropout, "the same of dropout on its own" + default_is).optional();
  share("reduction_memory_efficiency", &Parameters::reduction, "the same of sums over rows or columns" + default_is)
      .optional();
  share("copy_memory_efficiency", &Parameters::copy, "the same of copies and changes of layout" + default_is)
      .optional();
  share("embedding_memory_efficiency", &Parameters::embedding, "the same of looked-up rows" + default_is).optional();
  share("optimizer_memory_efficiency", &Parameters::optimizer, "the same of the optimizer's kernels" + default_is)
      .optional();
}

/// The keys of MemoryTraffic, for a cost model whose parameters derive from it.
template <class Parameters>
void add_memory_traffic(config::Schema<Parameters>& schema) {
  bool Parameters::*is_shared = &Parameters::is_shared;
  Bytes Parameters::*packet = &Parameters::packet;
  schema
      .template choice<bool>("memory_traffic", is_shared, {{"apart", false}, {"shared", true}},
                             "operators have the memory bandwidth for themselves; or what they and messages read and "
                             "write goes through one server a device")
      .otherwise("apart");
  schema.quantity("memory_packet", packet, "that each flow through that server moves before the next one")
      .at_least("1 B")
      .at_most("1 GiB")
      .otherwise("64 KiB");
}

/// What a kernel takes beside its work, and its launch by the host, for a cost model whose parameters have it.
template <class Parameters>
void add_launches(config::Schema<Parameters>& schema) {
  schema
      .quantity("kernel_floor", &Parameters::kernel_floor, config::Unit::time,
                "that a kernel which streams through memory takes beside its traffic, and fused attention beside its "
                "work, however small: to start, to wait for its first operands and to end")
      .at_most("1 s")
      .otherwise("0 s");
  schema
      .quantity("launch_overhead", &Parameters::launch_overhead, config::Unit::time,
                "from the end of one kernel to the start of the next")
      .at_most("1000000 s")
      .otherwise("0 s");
  schema
      .quantity("issue_interval", &Parameters::issue_interval, config::Unit::time,
                "that the host takes to launch a kernel or a collective of a device's main stream, one behind the "
                "other; of the software, so recipes say it; launches take no time when absent")
      .at_least("1 ns")
      .at_most("1 s")
      .optional();
}

/// What times depend on but for products, which each cost model has in its own way.
struct KernelParameters : MemoryShares, AttentionRate, MemoryTraffic {
  Time kernel_floor = 0;
  Time launch_overhead = 0;
  Time issue_interval = 0;
};

/// Its keys.
template <class Parameters>
void add_kernels(config::Schema<Parameters>& schema) {
  add_attention(schema);
  add_memory_shares(schema);
  add_memory_traffic(schema);
  add_launches(schema);
}

/// A kind whose models are made by make(parameters, files, table, diagnostics), which may report more than reading has.
template <class Parameters, class Make>
[[nodiscard]] CostModelKind kind_of(const char* name, const config::Schema<Parameters>& (*schema)(), Make make) {
  return {name, schema().help(), [schema]() -> const config::SchemaBase& { return schema(); },
          [schema, make](const config::Table& table, const Attachments& files,
                         config::Diagnostics& diagnostics) -> std::unique_ptr<CostModel> {
            const std::size_t before = diagnostics.errors().size();
            const Parameters parameters = schema().read(table, diagnostics);
            std::unique_ptr<CostModel> model = make(parameters, files, table, diagnostics);
            return diagnostics.errors().size() == before ? std::move(model) : nullptr;
          }};
}
/// One whose models need no more than their parameters.
template <class Model, class Parameters>
[[nodiscard]] CostModelKind kind_of(const char* name, const config::Schema<Parameters>& (*schema)()) {
  return kind_of(name, schema,
                 [](const Parameters& parameters, const Attachments&, const config::Table&, config::Diagnostics&) {
                   return std::make_unique<Model>(parameters);
                 });
}

/// The device's peak for the operator's datatype in FLOP/ps; none: KeyError that names those it has.
[[nodiscard]] double peak_rate(const Operator& op, const machine::DeviceSpec& device);
/// Time in ps that the operator's traffic takes at that share of the memory's bandwidth.
[[nodiscard]] double memory_time(const Operator& op, const machine::DeviceSpec& device, double share);
/// Time in ps of an operator that is no product, without its launch: it streams through the memory or is fused
/// attention.
[[nodiscard]] double streaming_time(const Operator& op, const machine::DeviceSpec& device,
                                    const KernelParameters& kernels);
/// Time in ps to get the operator going: none for the additions of a collective, which run inside its kernel.
[[nodiscard]] double launch(const Operator& op, Time launch_overhead);
/// Parts of an operator, from the model's times on the device and on one whose memory takes no time.
[[nodiscard]] OperatorParts parts(const CostModel& model, const Operator& op, const machine::DeviceSpec& device,
                                  const KernelParameters& kernels);
/// Rounds up to whole picoseconds. More than simulated time can hold: KeyError.
[[nodiscard]] Time round_up(double picoseconds, const Operator& op, const machine::DeviceSpec& device);
[[nodiscard]] inline bool is_empty(const Operator& op) {
  return op.flops == 0 && op.bytes_read == 0 && op.bytes_written == 0;
}

/// A cost model that says how long products take; all else streams through the memory or is fused attention.
class ProductModel : public CostModel {
 public:
  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override;
  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override;
  [[nodiscard]] double memory_share(OperatorKind kind) const override { return kernels_.of(kind); }

 protected:
  explicit ProductModel(const KernelParameters& kernels)
      : CostModel(kernels, kernels.issue_interval), kernels_(kernels) {}
  /// ps, without the launch.
  [[nodiscard]] virtual double product_time(const Operator& op, const machine::DeviceSpec& device) const = 0;
  /// Of that, in ps: if the memory took none, and of its bytes if it had the memory for itself.
  struct ProductParts {
    double computing = 0, traffic = 0;
  };
  [[nodiscard]] virtual ProductParts product_parts(const Operator& op, const machine::DeviceSpec& device) const = 0;
  [[nodiscard]] double launch_of(const Operator& op) const { return launch(op, kernels_.launch_overhead); }

 private:
  KernelParameters kernels_;
};

}  // namespace cost
}  // namespace tessera::workload
