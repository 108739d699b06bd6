// A predictor for tests, made where it is needed.
#pragma once

#include "cost_devices.hpp"
#include "tessera/workload/predictor.hpp"

namespace tessera::workload {

/// Each product takes half as long again as roofline: learnt in no time.
class HalfAgain final : public CostModel {
 public:
  Time time(const Operator& op, const machine::DeviceSpec& device) const override {
    const auto seconds = [](std::int64_t count, std::int64_t rate) {
      return static_cast<double>(count) / static_cast<double>(rate);
    };
    const double bound = std::max(seconds(op.flops, device.peak.at(op.datatype).value()),
                                  seconds(op.bytes_read + op.bytes_written, device.memory_bandwidth.value()));
    return static_cast<Time>(1.5e12 * bound) + 1;
  }
  OperatorParts parts(const Operator& op, const machine::DeviceSpec& device) const override {
    return {time(op, device), 0, 0};
  }
};

inline PredictorTraining short_training() {
  PredictorTraining training;
  training.samples = 400;
  training.held_out = 100;
  training.epochs = 30;
  return training;
}

inline TrainedPredictor trained_on(const CostModel& truth, const machine::DeviceSpec& device,
                                   const PredictorTraining& training = short_training()) {
  const auto comm = make_serial_communicator();
  return train_predictor(truth, device, training, *comm);
}

/// A cost model predictor whose file has these tensors.
inline std::unique_ptr<CostModel> predictor_of(const Tensors& data, const std::string& keys,
                                               config::Diagnostics& diagnostics) {
  const std::vector<Attachment> files{{"file", "p.h5", "", ""}};
  const auto table = config::parse_toml("model = \"predictor\"\nfile = \"p.h5\"\n" + keys, "c.toml", diagnostics);
  return make_cost_model(*table, diagnostics, {files, [&](const Attachment&) { return data; }});
}

}  // namespace tessera::workload
