// Times of products by a network that has learnt them from another cost model; everything else as there.
#include <fmt/format.h>

#include "cost_models.hpp"
#include "predictor/network.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::workload {
namespace {

struct PredictorParameters : cost::MemoryShares, cost::AttentionRate, MemoryTraffic {
  std::string file;
  Time launch_overhead = 0;
};

const config::Schema<PredictorParameters>& predictor_schema() {
  static const config::Schema<PredictorParameters> schema = [] {
    config::Schema<PredictorParameters> s("cost.predictor",
                                          "Products by a network that tessera train has made of another cost model's "
                                          "times; everything else by memory traffic.");
    s.also_accept("model", "predictor");
    s.text("file", &PredictorParameters::file, "of tessera train, with training.learns = \"products\"").names_file();
    cost::add_attention(s);
    cost::add_memory_shares(s);
    cost::add_memory_traffic(s);
    s.quantity("launch_overhead", &PredictorParameters::launch_overhead, config::Unit::time,
               "from the end of one kernel to the start of the next")
        .at_most("1000000 s")
        .otherwise("0 s");
    return s;
  }();
  return schema;
}

class PredictorModel : public CostModel {
 public:
  PredictorModel(const PredictorParameters& parameters, Tensors data)
      : CostModel(parameters), parameters_(parameters), data_(std::move(data)) {}

  [[nodiscard]] Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    if (op.kind == OperatorKind::host) return op.host_time;
    if (cost::is_empty(op)) return 0;
    const double start = cost::launch(op, parameters_.launch_overhead);
    if (op.kind == OperatorKind::gemm) return cost::round_up(predicted(op, device) + start, op, device);
    double longest = cost::memory_time(op, device, parameters_.of(op.kind));
    if (op.kind == OperatorKind::attention)
      longest = std::max(longest, parameters_.flops_at_peak(op) / cost::peak_rate(op, device));
    return cost::round_up(longest + start, op, device);
  }

  [[nodiscard]] OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    const double share = parameters_.of(op.kind);
    if (op.kind != OperatorKind::gemm || cost::is_empty(op))
      return cost::parts(*this, op, device, share, parameters_.launch_overhead);
    // What part of a product's time its memory traffic takes, the network does not know: its bytes once.
    const Time start = cost::round_up(cost::launch(op, parameters_.launch_overhead), op, device);
    const Time behind = time(op, device) - start;
    return {behind, std::min(behind, cost::round_up(cost::memory_time(op, device, share), op, device)), start};
  }

  void check(const machine::DeviceSpec& device, const std::string& datatype) const override {
    if (!device.array)
      throw KeyError("machine.device", "cost model predictor needs [machine.device.array] of " + device.name);
    try {
      weights_ = predictor::weights_of(data_, predictor::basis_text(basis(device), datatype));
    } catch (const InputError& error) {
      throw KeyError("cost.file", one_line(parameters_.file) + ": " + error.what());
    }
  }

  [[nodiscard]] double memory_share(OperatorKind kind) const override { return parameters_.of(kind); }

 private:
  [[nodiscard]] double predicted(const Operator& op, const machine::DeviceSpec& device) const {
    static_cast<void>(cost::peak_rate(op, device));  // refused in the words of all models
    if (weights_.empty()) check(device, op.datatype);
    if (op.datatype != data_.note("datatype"))
      throw KeyError("cost.file",
                     fmt::format("{}: the predictor was trained for products in {}, and operator \"{}\" is "
                                 "one in {}",
                                 one_line(parameters_.file), data_.note("datatype"), op.name, op.datatype));
    return predictor::predicted(weights_, basis(device), {op}).front();
  }

  [[nodiscard]] predictor::Basis basis(const machine::DeviceSpec& device) const {
    return {&device, parameters_.of(OperatorKind::gemm)};
  }

  PredictorParameters parameters_;
  Tensors data_;
  mutable std::vector<float> weights_;  ///< of `data_`, once the device has been seen
};

}  // namespace

CostModelKind predictor_kind() {
  return {"predictor", predictor_schema().help(), []() -> const config::SchemaBase& { return predictor_schema(); },
          [](const config::Table& table, const Attachments& attached,
             config::Diagnostics& diagnostics) -> std::unique_ptr<CostModel> {
            const std::size_t before = diagnostics.errors().size();
            const PredictorParameters parameters = predictor_schema().read(table, diagnostics);
            if (diagnostics.errors().size() != before) return nullptr;
            const Attachment* file = attached.find("file");
            if (file == nullptr) return nullptr;  // why has been said where it was to be read
            try {
              return std::make_unique<PredictorModel>(parameters, attached.tensors_of(*file));
            } catch (const InputError& error) {
              diagnostics.error(table.find("file")->where(), error.what());
              return nullptr;
            }
          }};
}

}  // namespace tessera::workload
