// Times of products by a network that has learnt them from another cost model; everything else as there.
#include <fmt/format.h>

#include "cost_models.hpp"
#include "predictor/network.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"

namespace tessera::workload {
namespace {

struct PredictorParameters : cost::KernelParameters {
  std::string file;
};

const config::Schema<PredictorParameters>& predictor_schema() {
  static const config::Schema<PredictorParameters> schema = [] {
    config::Schema<PredictorParameters> s("cost.predictor",
                                          "Products by a network that tessera train has made of another cost model's "
                                          "times; everything else by memory traffic.");
    s.also_accept("model", "predictor");
    s.text("file", &PredictorParameters::file, "of tessera train, with training.learns = \"products\"").names_file();
    cost::add_kernels(s);
    return s;
  }();
  return schema;
}

class PredictorModel : public cost::ProductModel {
 public:
  PredictorModel(const PredictorParameters& parameters, Tensors data)
      : ProductModel(parameters), file_(parameters.file), data_(std::move(data)) {}

  void check(const machine::DeviceSpec& device, const std::string& datatype) const override {
    if (!device.array)
      throw KeyError("machine.device", "cost model predictor needs [machine.device.array] of " + device.name);
    try {
      weights_ = predictor::weights_of(data_, predictor::basis_text(basis(device), datatype));
    } catch (const InputError& error) {
      throw KeyError("cost.file", one_line(file_) + ": " + error.what());
    }
  }

 protected:
  [[nodiscard]] double product_time(const Operator& op, const machine::DeviceSpec& device) const override {
    static_cast<void>(cost::peak_rate(op, device));  // refused in the words of all models
    if (weights_.empty()) check(device, op.datatype);
    if (op.datatype != data_.note("datatype"))
      throw KeyError("cost.file",
                     fmt::format("{}: the predictor was trained for products in {}, and operator \"{}\" is "
                                 "one in {}",
                                 one_line(file_), data_.note("datatype"), op.name, op.datatype));
    return predictor::predicted(weights_, basis(device), {op}).front();
  }

  /// What part of a product's time its memory traffic takes, the network does not know: its bytes once.
  [[nodiscard]] ProductParts product_parts(const Operator& op, const machine::DeviceSpec& device) const override {
    return {product_time(op, device), cost::memory_time(op, device, memory_share(OperatorKind::gemm))};
  }

 private:
  [[nodiscard]] predictor::Basis basis(const machine::DeviceSpec& device) const {
    return {&device, memory_share(OperatorKind::gemm)};
  }

  std::string file_;
  Tensors data_;
  mutable std::vector<float> weights_;  ///< of `data_`, once the device has been seen
};

}  // namespace

CostModelKind predictor_kind() {
  return cost::kind_of("predictor", predictor_schema,
                       [](const PredictorParameters& parameters, const Attachments& attached,
                          const config::Table& table, config::Diagnostics& diagnostics) {
                         std::unique_ptr<PredictorModel> model;
                         const Attachment* file = attached.find("file");
                         if (file == nullptr) return model;  // why has been said where it was to be read
                         try {
                           model = std::make_unique<PredictorModel>(parameters, attached.tensors_of(*file));
                         } catch (const InputError& error) {
                           diagnostics.error(table.find("file")->where(), error.what());
                         }
                         return model;
                       });
}

}  // namespace tessera::workload
