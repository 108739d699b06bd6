// Strategy "megatron": data, tensor (with sequence), pipeline and expert parallelism with recomputation, as Megatron-LM
// runs them (docs/megatron.md).
//
//   [strategy]
//   name = "megatron"
//   tensor = 8
//   pipeline = 8
//   interleave = 3
//   sequence_parallel = true
//   recomputation = "selective"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/machine/tiles.hpp"
#include "tessera/strategy/strategy.hpp"
#include "tessera/workload/transformer.hpp"

namespace tessera::strategy::megatron {

/// [strategy.placement]: tensor-parallel groups as rectangles of a mesh, one after another along a path.
struct Placement {
  std::vector<std::string>
      tiles;  ///< "2x2", "2x2 * 12": columns x rows, and how many; the last one as often as it takes
  machine::TileOrder order = machine::TileOrder::cycle;
  machine::TilePath path = machine::TilePath::serpentine_rows;
};

/// [[strategy.stages]]: one stage of the pipeline.
struct StageOptions {
  std::vector<std::int64_t> devices;       ///< tensor ranks of the first replica, then of the next one; empty: not said
  std::vector<std::string> recomputation;  ///< as Options::recomputed_sections; empty: as the other stages
  std::int64_t recomputed_layers = -1;     ///< as in Options; -1: as the other stages
};

/// [[strategy.loans]]: one stage sends what it keeps to another one, or to hosts, until it needs it.
struct LoanOptions {
  std::int64_t from = 0, to = -1;     ///< stages; -1: the host that is nearest to each device
  std::vector<std::string> tensors;   ///< sections of a layer, whose kept activations are lent; empty: all
  Bytes bytes{};                      ///< of each device and micro-batch; 0: all of those
  std::vector<std::int64_t> lenders;  ///< devices of `from` that lend; empty: all of them, each to the nearest one
  std::vector<std::int64_t> helpers;  ///< the device of `to` for each of them
  std::int64_t lead = 1;              ///< passes before the backward pass when they are asked for
  std::int64_t buffers = 0;           ///< micro-batches that a device holds of it at most: one that is made, the others
                                      ///< on their way out; 0: 2 to a host, any number to a stage
};

/// [[strategy.ways]]: the devices that something between two stages passes.
struct WayOptions {
  std::int64_t from = 0, to = 0;      ///< devices
  std::string what = "activations";   ///< or "gradients", "loans", "returns"
  std::vector<std::int64_t> through;  ///< devices in order, each with a link to the next one
};

/// What is cut over the data-parallel replicas.
enum class DataSharding {
  as_optimizer,  ///< optimizer state, where distributed_optimizer says so
  gradients,     ///< gradients and optimizer state
  parameters,    ///< weights, gradients and optimizer state
};

/// Where the weights of a layer come from that is whole for all micro-batches in turn.
enum class WeightStreaming {
  off,      ///< there is none: micro-batches pass through all layers one after another
  devices,  ///< parts that the devices keep
  hosts,    ///< hosts, which take its gradients
};

/// Which layers of a chunk run again (Megatron-LM's recompute_method), n of them being recomputed_layers.
enum class RecomputationMethod {
  block,    ///< the first n, each by itself
  uniform,  ///< all, in groups of n, of which the input of the first one is kept
};

/// The keys of its [strategy] table.
struct Options {
  std::int64_t tensor = 1;            ///< t
  std::int64_t tensor_rows = 1;       ///< r: linear layers are cut over t / r x r ranks, in both dimensions
  std::int64_t pipeline = 1;          ///< p
  std::int64_t data = 0;              ///< d; 0: devices / (t c p)
  std::int64_t context_parallel = 1;  ///< c: neighbouring ranks that share the sequences of a replica
  workload::ContextExchange context_exchange = workload::ContextExchange::ring;
  std::int64_t interleave = 1;   ///< v, model chunks of a stage
  std::int64_t micro_batch = 0;  ///< b, sequences; 0: 1, outside training all of a replica, or a p-th
  bool spread_layers = false;    ///< uneven_layers = "spread": by time, where stages x chunks do not divide the layers
  std::vector<std::int64_t> stage_layers;  ///< layers of each chunk of each stage, in the model's order; empty: evenly
  bool idle_devices = false;               ///< spare_devices = "idle": others than those of the cut do nothing
  std::string schedule = "auto";  ///< a pipeline order, or "auto": interleaved-1f1b where interleave > 1, else 1f1b
  bool sequence_parallel = false;
  Time exchange_overhead = 0;    ///< of the host, at each exchange between stages
  bool exchanges_whole = false;  ///< exchange = "whole": without sequence parallelism, by each tensor rank
  workload::Recomputation recomputation = workload::Recomputation::none;
  std::vector<std::string> recomputed_sections;  ///< of a layer, or one name of a recomputation; empty: `recomputation`
  std::int64_t recomputed_layers = 0;            ///< n of that: of each chunk, or of each group; 0: all, each by itself
  RecomputationMethod recomputation_method = RecomputationMethod::block;
  workload::Recomputation vision_recomputation = workload::Recomputation::none;  ///< of layers of a vision tower
  Placement placement;                                                           ///< without tiles: none
  std::vector<StageOptions> stages;                                              ///< empty, or as many as stages
  std::vector<LoanOptions> loans;
  bool unused_first = false;  ///< routes = "unused-first": what goes between stages is bound to ways
  std::vector<WayOptions> ways;
  double link_factor = 2;  ///< there: cost of a link in use, over that of one that is not
  bool distributed_optimizer = false;
  DataSharding data_sharding = DataSharding::as_optimizer;
  std::int64_t shard_ranks = 0;       ///< copies that hold one another's parts; 0: all
  bool sums_groups_last = false;      ///< group_reduction: parts are summed over groups in the last micro-batch alone
  std::int64_t gather_ahead = 1;      ///< units gathered beside the one that computes
  bool reshard_after_forward = true;  ///< and gathered again for the backward pass
  bool flat_parameters = false;       ///< of shards_parameters(): casts, copies and divisions of PyTorch's FSDP
  WeightStreaming weight_streaming = WeightStreaming::off;
  bool overlap_gradient_reduction = false;   ///< beside the backward pass of the last micro-batch
  bool overlap_parameter_gathering = false;  ///< of updated weights, beside the next forward pass
  bool overlap_tensor_communication = true;  ///< of the backward pass, beside the weight gradient
  bool user_buffers = false;                 ///< with sequence parallelism: products and their collectives in chunks
  bool fused_gradient_accumulation = true;   ///< the weight-gradient GEMM adds to the gradient buffer
  bool unused_gradients = false;             ///< a tensor of each shape of weight is kept that autograd is handed
  std::int64_t gradient_bytes = 4;           ///< per element of the gradient buffer
  std::int64_t reduction_bytes = 0;          ///< per element of what is summed over the replicas; 0: gradient_bytes
  bool all_reduce_gradients = false;         ///< even where the distributed optimizer wants a part of the sums alone
  std::int64_t moment_bytes = 4;             ///< per element of each of Adam's two moments
  workload::MasterWeights master_weights = workload::MasterWeights::fp32;
  workload::Update update = workload::Update::megatron;
  std::int64_t expert_parallel = 1;
  std::int64_t expert_tensor = 0;  ///< tensor-parallel ranks over which each expert is cut; 0: all
  bool once_a_node = false;        ///< expert_dispatch: a token crosses once to each node with an expert of its own
  bool overlap_shared_experts = false;  ///< on a stream of their own, beside the tokens' way to the others and back
  bool delay_weight_gradients = false;  ///< of experts, beside the all-to-all behind their input gradients
  double capacity_factor = 0.0;         ///< MoE: most tokens of an expert-parallel rank, over the mean; 0: no limit
  double expert_imbalance = 0.0;  ///< MoE: largest deviation of a rank's load from the mean, as a share of the mean
  bool pad_heads = false;         ///< uneven_heads = "pad": each rank carries ceil(heads / t)
  bool pad_width = false;         ///< uneven_width = "pad": each rank carries ceil(width / t) columns of an MLP
  bool whole_attention = false;   ///< attention = "whole": each tensor rank computes the attention core of all heads
  std::string sublayers = "operators";  ///< or a configuration of strategy "t3": GEMMs that are summed over the tensor
                                        ///< ranks, with their collectives, at transaction level

  /// Of each weight, where nothing is cut over them: the context ranks of all replicas. Gradients are summed over
  /// these.
  [[nodiscard]] std::int64_t copies() const { return data * context_parallel; }
  /// Of those, neighbours over which is cut what data_sharding and distributed_optimizer say; and how many such groups
  /// there are, which hold the same.
  [[nodiscard]] std::int64_t shards() const { return shard_ranks > 0 ? shard_ranks : copies(); }
  [[nodiscard]] std::int64_t shard_groups() const { return copies() / shards(); }
  [[nodiscard]] bool shards_parameters() const { return data_sharding == DataSharding::parameters; }
  /// A device keeps its part of gradients alone, with or without that of weights.
  [[nodiscard]] bool shards_gradients() const { return data_sharding != DataSharding::as_optimizer; }
  [[nodiscard]] bool streams_weights() const { return weight_streaming != WeightStreaming::off; }
  [[nodiscard]] bool weights_on_hosts() const { return weight_streaming == WeightStreaming::hosts; }
  /// Gradients are summed over the replicas by reduce-scatter.
  [[nodiscard]] bool scatters_gradients() const { return distributed_optimizer && !all_reduce_gradients; }
  [[nodiscard]] std::int64_t bytes_to_reduce() const { return reduction_bytes > 0 ? reduction_bytes : gradient_bytes; }
};
[[nodiscard]] const config::Schema<Options>& options_schema();
/// Of the tables inside it.
[[nodiscard]] std::vector<const config::SchemaBase*> options_inner_schemas();

/// For built_in_strategies().
[[nodiscard]] StrategyKind kind();

}  // namespace tessera::strategy::megatron
