#include "product_training.hpp"

#include <fmt/format.h>

#include "tessera/base/error.hpp"
#include "tessera/workload/predictor.hpp"

namespace tessera::experiment {
namespace {

std::string row(const char* name, const workload::PredictionErrors& errors) {
  return fmt::format("  {:<34}{:>8.2f} %{:>9.2f} %{:>9.2f} %{:>9.1f} %\n", name, 100 * errors.mean, 100 * errors.median,
                     100 * errors.of_nine_tenths, 100 * errors.most);
}

std::string report_of(const Experiment& experiment, const workload::TrainedPredictor& trained,
                      const TrainingSettings& settings) {
  const std::string fitted = fmt::format("roofline, {:.2f} of peak, {} ramp", trained.efficiency,
                                         config::format_rounded(trained.ramp, config::Unit::time));
  return fmt::format(
             "predictor of products on {}, machine {}, learnt from {}\n  kernels                   {}\n"
             "off on {} others: shares of their time{:>8}{:>11}{:>11}{:>11}\n",
             experiment.machine.device.name, experiment.machine.name, settings.samples, trained.kernels,
             settings.held_out, "mean", "median", "nine in 10", "most") +
         row("predictor", trained.predictor) + row("roofline at peak", trained.roofline) +
         row(fitted.c_str(), trained.fitted_roofline);
}

}  // namespace

TrainingResult train_products(const TrainingSources& sources, const TrainingHooks& hooks, Communicator& comm) {
  config::Diagnostics diagnostics;
  const auto experiment = build(*sources.experiment.table, diagnostics, {}, sources.experiment.files);
  diagnostics.throw_if_errors();
  const TrainingSettings& settings = experiment->training;
  const workload::PredictorTraining training{settings.samples, settings.held_out, settings.epochs,
                                             static_cast<std::uint64_t>(experiment->simulation.seed),
                                             experiment->workload.datatype};
  const auto trained =
      workload::train_predictor(*experiment->cost, experiment->machine.device, training, comm, hooks.progress);
  TrainingResult result;
  result.file = {experiment->title, experiment->machine.name, "", trained.data, {trained.judged, trained.errors}};
  result.file.policy.notes.emplace_back("training", sources.hash);
  result.kernels = trained.kernels;
  result.report = report_of(*experiment, trained, settings);
  return result;
}

}  // namespace tessera::experiment
