#include "sharding_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "weight_hosts.hpp"

namespace tessera::strategy::megatron {
namespace {

class ShardingReader {
 public:
  ShardingReader(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics)
      : table_(table), job_(job), cut_(cut), options_(cut.options), diagnostics_(diagnostics) {}

  void run() {
    if (!cut_.training() && options_.data_sharding == DataSharding::gradients) {
      warn_if_given("data_sharding", &Options::data_sharding, "outside training: there are no gradients");
      options_.data_sharding = DataSharding::as_optimizer;
    }
    if (options_.shard_ranks > 0) read_shard_ranks();
    if (options_.shard_ranks == 0 || !cut_.training() || !options_.shards_gradients() || options_.streams_weights()) {
      warn_if_given("group_reduction", &Options::sums_groups_last,
                    "without groups of shard_ranks whose micro-batches each leave a part of gradients");
      options_.sums_groups_last = false;
    }
    if (!options_.shards_parameters() || options_.streams_weights()) {
      warn_if_given("flat_parameters", &Options::flat_parameters,
                    options_.streams_weights() ? "with weight_streaming" : "without data_sharding = \"parameters\"");
      options_.flat_parameters = false;
    }
    if (!options_.shards_parameters() && !options_.streams_weights()) {
      const char* where = "without data_sharding = \"parameters\" or weight_streaming";
      warn_if_given("gather_ahead", &Options::gather_ahead, where);
      warn_if_given("reshard_after_forward", &Options::reshard_after_forward, where);
      if (!options_.shards_gradients()) return;
    }
    if (options_.streams_weights()) read_streaming();
    check_sharding();
  }

 private:
  template <class... Arguments>
  void error(const char* key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    diagnostics_.error(where_of(table_, key), fmt::format(text, std::forward<Arguments>(arguments)...));
  }
  template <class T>
  void warn_if_given(const char* key, T Options::*member, const char* where) {
    megatron::warn_if_given(table_, options_, key, member, where, diagnostics_);
  }

  [[nodiscard]] const char* key() const { return options_.streams_weights() ? "weight_streaming" : "data_sharding"; }
  [[nodiscard]] std::string given() const {
    if (!options_.streams_weights())
      return fmt::format("data_sharding = \"{}\"", options_.shards_parameters() ? "parameters" : "gradients");
    return fmt::format("weight_streaming = \"{}\"", options_.weights_on_hosts() ? "hosts" : "devices");
  }

  void check_sharding() {
    if (options_.copies() == 1 && !options_.weights_on_hosts())
      error(key(), "{} cuts {} over replicas, and there is one: data = 1", given(),
            options_.shards_parameters() ? "weights" : "gradients");
    if (job_.workload.generates())
      error(key(), "{} would gather all weights for each token: allowed in training and prompt", given());
    if (options_.all_reduce_gradients)
      error("gradient_reduction", "{} reduce-scatters gradients: gradient_reduction = \"auto\"", given());
    warn_if_given("overlap_gradient_reduction", &Options::overlap_gradient_reduction,
                  fmt::format("with {}: gradients are always reduced beside the backward pass", given()).c_str());
    // All follow from it, whatever their defaults say.
    options_.distributed_optimizer = true;
    options_.overlap_gradient_reduction = false;
    if (!options_.shards_parameters()) return;
    warn_if_given("overlap_parameter_gathering", &Options::overlap_parameter_gathering,
                  fmt::format("with {}: weights are always gathered beside passes", given()).c_str());
    options_.overlap_parameter_gathering = false;
  }

  /// Behind it 0 where all replicas are one group.
  void read_shard_ranks() {
    const bool is_cut = options_.shards_gradients() || options_.streams_weights() ||
                        (options_.distributed_optimizer && cut_.training());
    if (!is_cut) {
      warn_if_given("shard_ranks", &Options::shard_ranks,
                    cut_.training() ? "without distributed_optimizer or data_sharding" : "where weights stay whole");
      options_.shard_ranks = 0;
      return;
    }
    const std::int64_t copies = options_.copies(), ranks = std::exchange(options_.shard_ranks, 0);
    if (ranks == copies) return;
    if (ranks == 1 || copies % ranks != 0) {
      error("shard_ranks", "shard_ranks = {}, allowed: 0, or a divisor of {} from 2 on", ranks, copies_text(options_));
    } else if (options_.weights_on_hosts()) {
      error("shard_ranks", "hosts take gradients of one group, allowed with weight_streaming = \"hosts\": 0");
    } else if (options_.all_reduce_gradients) {
      error("gradient_reduction", "groups of shard_ranks reduce-scatter gradients: gradient_reduction = \"auto\"");
    } else if (has_experts(*cut_.model) && options_.tensor * ranks % cut_.expert_devices() != 0) {
      error("shard_ranks",
            "{} devices hold the experts of a layer once, and a group has tensor {} x shard_ranks {} = {}, allowed: a "
            "multiple of those",
            cut_.expert_devices(), options_.tensor, ranks, options_.tensor * ranks);
    } else {
      options_.shard_ranks = ranks;
    }
  }

  void read_streaming() {
    if (options_.data_sharding == DataSharding::gradients)
      error("data_sharding", "weight_streaming cuts weights too, allowed: \"auto\", \"parameters\"");
    options_.data_sharding = DataSharding::parameters;
    if (options_.pipeline > 1 || options_.interleave > 1)
      error(options_.pipeline > 1 ? "pipeline" : "interleave",
            "weight_streaming has all layers on all devices, one after another, allowed: pipeline = 1, interleave = 1");
    if (!options_.loans.empty()) error("loans", "weight_streaming has no stages that lend, allowed: no loans");
    if (!options_.reshard_after_forward)
      error("reshard_after_forward", "weight_streaming gives up a layer behind its forward pass, allowed: true");
    // Experts over several replicas meet for each micro-batch, so all of these have as many.
    if (cut_.fuller_replicas < options_.data && cut_.expert_devices() > options_.tensor)
      error("micro_batch",
            "experts are spread over replicas, and global_batch = {} is not a multiple of micro_batch {} x data {}",
            job_.workload.global_batch, options_.micro_batch, options_.data);
    if (!options_.weights_on_hosts()) return;
    cut_.weight_hosts = weight_hosts_of(cut_, job_.machine);
    if (std::ranges::count(cut_.weight_hosts, program::no_device) > 0)
      error("weight_streaming", "machine {} has no host, allowed: \"devices\", or a [[machine.host]]",
            job_.machine.name);
  }

  const config::Table& table_;
  const Job& job_;
  Cut& cut_;
  Options& options_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

void read_sharding(const config::Table& table, const Job& job, Cut& cut, config::Diagnostics& diagnostics) {
  ShardingReader(table, job, cut, diagnostics).run();
}

void check_room_for_units(const config::Table& table, const Job& job, const Cut& cut,
                          config::Diagnostics& diagnostics) {
  const Options& options = cut.options;
  if (!options.shards_gradients()) return;
  const std::int64_t room = job.machine.device.usable_memory().value();
  for (std::uint32_t stage = 0; stage < options.pipeline; ++stage) {
    const std::int64_t bytes = unit_buffers(cut, stage) + part_buffers(cut);
    if (bytes <= room) continue;
    const bool is_ahead = options.shards_parameters() && options.gather_ahead > 0;
    const std::string units =
        !options.shards_parameters() ? "whole gradients of two layers"
        : is_ahead ? fmt::format("{} layers whole at a time and their gradients", options.gather_ahead + 1)
                   : "a layer whole at a time and their gradients";
    const char* key = options.streams_weights() ? "weight_streaming" : "data_sharding";
    return diagnostics.error(
        where_of(table, key),
        fmt::format("{} take {}, and a device has {}, allowed: more tensor ranks{}", units, size_text(bytes),
                    size_text(room), is_ahead ? ", or a smaller gather_ahead" : ""));
  }
}

}  // namespace tessera::strategy::megatron
