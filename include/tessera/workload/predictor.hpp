// Times of products that a network predicts, learnt from those of another cost model: WATOS (Wang et al.), section
// IV-B, where a network stands in for simulations of each operator. `tessera train` makes the file that cost model
// `predictor` reads.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "tessera/base/comm.hpp"
#include "tessera/base/data_table.hpp"
#include "tessera/base/tensors.hpp"
#include "tessera/workload/operator.hpp"

namespace tessera::workload {

/// What is learnt from, and for how long. The same on any number of ranks.
struct PredictorTraining {
  std::int64_t samples = 20000;  ///< products that it learns from
  std::int64_t held_out = 2000;  ///< and others by which it is judged
  std::int64_t epochs = 200;     ///< passes over all samples
  std::uint64_t seed = 1;        ///< of shapes, first weights and the order of samples
  std::string datatype = "fp16";
};

/// How far predictions are from the times that they stand for, as shares of these: |predicted / true - 1|.
struct PredictionErrors {
  double mean = 0, median = 0, of_nine_tenths = 0, most = 0;
};

struct TrainedPredictor {
  Tensors data;      ///< its weights, and what they were trained for
  DataTable judged;  ///< what was held out, a product a row: shape, true time, predictions
  DataTable errors;  ///< the three below, a row each
  PredictionErrors predictor;
  PredictionErrors roofline;         ///< of the longer of arithmetic and memory traffic at peak
  PredictionErrors fitted_roofline;  ///< with the efficiency and the ramp that fit the samples best
  double efficiency = 0;             ///< of that
  Time ramp = 0;
  std::string kernels;  ///< by which it learnt: "AVX2", "baseline"
};

/// Behind each epoch; on all ranks. May throw, on all alike.
using PredictorProgress = std::function<void(double done, const std::string& last)>;

/// Learns from the times of products in `truth` on the device, launches left out. On all ranks of `comm`, which share
/// the samples. KeyError for a device without an array or a peak for the datatype.
[[nodiscard]] TrainedPredictor train_predictor(const CostModel& truth, const machine::DeviceSpec& device,
                                               const PredictorTraining& training, Communicator& comm,
                                               const PredictorProgress& progress = {});

}  // namespace tessera::workload
