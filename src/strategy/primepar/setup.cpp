#include "setup.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../place_of.hpp"
#include "options.hpp"
#include "tessera/base/error.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"

namespace tessera::strategy::primepar {
namespace {

using config::Table;

class Reader {
 public:
  Reader(const Table& table, const Job& job, config::Diagnostics& diagnostics)
      : table_(table), job_(job), diagnostics_(diagnostics), options_(options_schema().read(table, diagnostics)) {}

  Setup read() {
    Setup setup;
    if (diagnostics_.ok()) check();
    if (!diagnostics_.ok()) return setup;
    Workload micro_batch = job_.workload;
    micro_batch.global_batch /= options_.micro_batches;
    setup.graph = make_graph(options_.graph, *job_.model, micro_batch);
    setup.bits = device_bits(job_.machine.accelerators() / options_.pipeline);
    setup.layers = all_layers(options_, job_) / options_.pipeline;
    setup.space = read_space(table_, options_, setup.graph, setup.layers, setup.bits, diagnostics_);
    setup.passes = {options_.overlap_gradient_reduction, options_.pipeline,      options_.micro_batches,
                    options_.schedule == "gpipe",        options_.recomputation, sublayer_of(options_)};
    setup.options = std::move(options_);
    return setup;
  }

 private:
  void error(const config::Location& where, const std::string& text) { diagnostics_.error(where, text); }

  void check() {
    const config::Location& name = place_of(table_, "name");
    if (job_.workload.phase != workload::Phase::training)
      error(name, "strategy \"primepar\" partitions training: workload.phase has to be \"training\"");
    if (job_.workload.flash_attention)
      error(name, "strategy \"primepar\" cuts scores, softmax and context: workload.flash_attention has to be false");
    if (has_experts(*job_.model)) error(name, "strategy \"primepar\" cuts dense layers, and the model has experts");
    if (const std::string beyond = beyond_plain(*job_.model); !beyond.empty())
      error(name, "strategy \"primepar\" cuts layers that are alike and plain, and the model has " + beyond);
    if (job_.machine.device.peak.count(job_.workload.datatype) == 0)
      error(name, fmt::format("the device has no peak for workload.datatype = \"{}\"; it has {}",
                              job_.workload.datatype, peaks()));
    try {
      static_cast<void>(device_bits(static_cast<std::int64_t>(job_.machine.accelerators())));
    } catch (const InputError& problem) {
      error(name, problem.what());
    }
    check_passes();
    if (sublayer_of(options_) != nullptr) {
      const std::string problem = program::sublayer::inline_problem(job_.machine.device, job_.workload.datatype);
      if (!problem.empty())
        error(place_of(table_, "sublayers"), fmt::format("sublayers = \"{}\": {}", options_.sublayers, problem));
    }
    for (program::DeviceId device = 0; device < job_.machine.accelerators(); ++device) {
      if (!job_.machine.alive(device))
        return error(name,
                     "strategy \"primepar\" needs all devices, and " + job_.machine.node_name(device) + " has failed");
    }
  }

  /// Datatypes.
  [[nodiscard]] std::string peaks() const {
    std::vector<std::string> names;
    for (const auto& [name, peak] : job_.machine.device.peak) names.push_back(name);
    return fmt::format("{}", fmt::join(names, ", "));
  }

  void check_passes() {
    const std::int64_t devices = job_.machine.accelerators(), batch = job_.workload.global_batch;
    if (devices % options_.pipeline != 0 || (options_.pipeline & (options_.pipeline - 1)) != 0) {
      error(
          place_of(table_, "pipeline"),
          fmt::format("{} stages: a power of two that divides the {} devices is allowed", options_.pipeline, devices));
    } else if (all_layers(options_, job_) % options_.pipeline != 0) {
      error(place_of(table_, "pipeline"),
            options_.graph == "layer"
                ? fmt::format("{} stages do not divide the {} layers", options_.pipeline, all_layers(options_, job_))
                : fmt::format("graph \"{}\" is one layer, which no pipeline divides", options_.graph));
    }
    if (batch % options_.micro_batches != 0)
      error(place_of(table_, "micro_batches"),
            fmt::format("{} micro-batches do not divide workload.global_batch = {}", options_.micro_batches, batch));
  }

  const Table& table_;
  const Job& job_;
  config::Diagnostics& diagnostics_;
  Options options_;
};

}  // namespace

std::int64_t all_layers(const Options& options, const Job& job) {
  return options.graph == "layer" ? job.model->layers : 1;
}

const program::sublayer::Configuration* sublayer_of(const Options& options) {
  return options.sublayers == "operators" ? nullptr : &program::sublayer::configuration(options.sublayers);
}

Setup read_setup(const Table& strategy, const Job& job, config::Diagnostics& diagnostics) {
  return Reader(strategy, job, diagnostics).read();
}

std::string open_text(const Setup& setup) {
  if (!setup.space.given.empty()) return {};
  std::size_t operators = 0, partitions = 0;
  for (const std::vector<Partition>& choices : setup.space.choices) {
    partitions += choices.size();
    operators += choices.size() > 1 ? 1 : 0;
  }
  const std::string runs =
      setup.options.simulated < 2
          ? "the plan predicted best is taken"
          : fmt::format("the {} plans predicted best, and some others, are simulated", setup.options.simulated);
  return fmt::format("partitions of {} operators over {} devices, {} to choose from; {}", operators, 1 << setup.bits,
                     partitions, runs);
}

}  // namespace tessera::strategy::primepar
