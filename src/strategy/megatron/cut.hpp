// How the job is cut: what every part of the strategy needs to know once options, model, workload and machine are
// checked against each other.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/program/schedule.hpp"
#include "tessera/strategy/megatron/megatron.hpp"

namespace tessera::strategy::megatron {

/// Groups that a device is in, by slot; no_group where there is nobody to talk to. Streams that run beside each other
/// have groups of their own with the same members.
enum GroupSlot : std::uint32_t {
  tensor_group,
  tensor_beside_group,  ///< of the stream beside: collectives that overlap with weight gradients
  context_group,        ///< context ranks of a replica, which share its sequences
  data_group,           ///< the copies of this device's share
  data_beside_group,
  expert_data_group,  ///< those copies that hold the same experts
  expert_data_beside_group,
  across_group,  ///< those at the same place of their groups of shard_ranks, which hold the same parts
  across_beside_group,
  twins_group,  ///< the two devices of a copy whose stages hold the same pieces of the model (Cut::twins)
  twins_beside_group,
  expert_group,         ///< devices over which the experts of a layer are spread
  embedding_group,      ///< first and last stage, which both hold the tied word embedding
  model_group,          ///< everybody whose gradients make one norm
  expert_tensor_group,  ///< tensor ranks over which experts are cut, where these are not all
  expert_rail_group,    ///< of the expert group, those at the same place of their nodes
  expert_node_group,    ///< those of one node
  expert_beside_group,  ///< all of these, of passes that run beside each other
  expert_tensor_beside_group,
  expert_rail_beside_group,
  expert_node_beside_group,
  row_group,            ///< tensor ranks of one row, where they stand in rows: they hold the same part of a token
  column_group,         ///< those of one column: the same tokens
  tensor_gather_group,  ///< of the streams beside products that are cut into chunks
  tensor_scatter_group,
  shared_tensor_group,  ///< of the stream on which shared experts run beside the others
  group_slots
};

enum Event : std::uint32_t {
  gather_go,
  gather_done,
  reduce_go,
  reduce_done,
  gradients_ready,
  gradients_reduced,
  weights_gathered,
  chunks_gather_go,
  chunks_gather_done,
  chunks_scatter_go,
  chunks_scatter_done,
  unit_gathered,
  unit_done,
  gradient_room,
  part_scattered,  ///< of gradients, which other groups of shard_ranks have to be added to
  backward_go,     ///< of a backward pass beside a forward pass
  backward_done,
  shared_go,    ///< of the next step of shared experts that run beside the others
  shared_done,  ///< of their pass
  exchange_go,  ///< of the next all-to-all of experts on a stream of its own
  exchange_done,
  events
};
// Loans, and weights on hosts, have slots, channels and events behind these.
enum PeerSlot : std::uint32_t { previous_stage, next_stage, peer_slots };
enum Channel : std::uint32_t { activations_channel, gradients_channel, tokens_channel, channels };
/// Context neighbours, who lend each other nothing, and exchange nothing else.
enum ContextPeerSlot : std::uint32_t { previous_context = peer_slots, next_context, context_peer_slots };
inline constexpr std::uint32_t context_channel = activations_channel;

/// One device's coordinates. Tensor ranks are neighbours, then context ranks, then replicas, then stages (Megatron-LM's
/// order), so that tensor parallelism stays inside a node where it fits.
struct Place {
  std::uint32_t tensor = 0;
  std::uint32_t copy = 0;  ///< context rank + c x replica
  std::uint32_t stage = 0;
};

/// Whether a layer runs again for its backward pass.
enum class Repeat : std::uint8_t {
  none,
  own,          ///< what its stage says, by itself
  group_first,  ///< all of it, along with the layers behind it: its input is kept
  group_next,   ///< all of it, along with the one before: nothing is kept
};

/// Of activations, by section of a layer.
using KeptBytes = std::array<std::int64_t, workload::LayerOperators::section_count>;

inline constexpr std::uint32_t no_stage = ~std::uint32_t{0};

/// What the devices of one stage lend to those of another one, or to hosts.
struct Loan {
  std::uint32_t from = 0, to = 0;  ///< stages; to hosts: no_stage
  std::int64_t bytes = 0;          ///< of each device and micro-batch
  std::uint32_t lead = 1;          ///< passes
  std::uint32_t at_once = 0;       ///< micro-batches that are lent at most at the same time
  std::uint32_t leaving = 0;       ///< micro-batches that may be on their way out at the same time; 0: any number
  /// By replica and tensor rank of `from`, the device of `to` or the host that holds what it lends; no_device: it lends
  /// nothing.
  std::vector<std::vector<program::DeviceId>> helpers;
  [[nodiscard]] bool is_to_host() const { return to == no_stage; }
};

struct Cut {
  const workload::Model* model = nullptr;
  const Workload* workload = nullptr;
  const program::CollectiveChoices* collectives = nullptr;
  const machine::DeviceSpec* device_spec = nullptr;
  Options options;  ///< data, schedule and micro_batch resolved
  /// The workload's; of what writes the steps of prompt_and_generation, generation. That phase itself counts as a
  /// prompt wherever one pass is meant.
  workload::Phase phase = workload::Phase::training;
  bool caches_keys = true;                 ///< outside training; layers of a vision tower do not
  bool deals_out = false;                  ///< options.micro_batch is what the batch comes to
  std::vector<program::DeviceId> devices;  ///< those that take part, in order of rank
  std::vector<program::DeviceId> spare;    ///< those that work and take no part
  std::int64_t micro_batches = 1;          ///< of one replica
  std::int64_t fuller_replicas = 1;        ///< replicas with as many, the first ones; the others have one less
  bool experts_in_turn = false;            ///< shared experts run with the others, whatever overlap_shared_experts says
  bool adds_gradients = false;  ///< of whole units to those of micro-batches before, where units are gathered
  std::vector<program::DeviceId> weight_hosts;  ///< by rank, where weights come from; empty: not from hosts
  /// First layer of each piece of the model, and one number behind them: the model's layers.
  std::vector<std::int64_t> chunk_begin;
  std::vector<workload::Recomputed> recomputed;  ///< by stage: what layers that run again repeat
  std::vector<std::int64_t> recomputed_layers;   ///< by stage, as Options::recomputed_layers
  std::vector<Loan> loans;
  std::vector<machine::BoundWay> ways;  ///< that the table lists
  std::string placement;                ///< in words; empty: devices are taken in order
  std::int64_t expert_nodes = 1;        ///< once_a_node: over which the ranks of an expert group stand
  std::vector<double> expert_load;      ///< by expert-parallel rank, 1: the mean; capacity applied; empty when dense

  [[nodiscard]] bool training() const { return phase == workload::Phase::training; }
  [[nodiscard]] std::int64_t element() const { return workload::bytes_per_element(workload->datatype); }
  /// New tokens of a sequence on a context rank.
  [[nodiscard]] std::int64_t sequence() const;
  /// New tokens of a micro-batch that pass through the stages at once, on a context rank.
  [[nodiscard]] std::int64_t tokens() const;
  /// Keys and values of a sequence at the end of the iteration.
  [[nodiscard]] std::int64_t context() const { return workload->context(); }
  /// Sums over the tensor ranks belong to kernels at transaction level.
  [[nodiscard]] bool uses_kernels() const { return options.sublayers != "operators" && options.tensor > 1; }
  /// Shared experts run on a stream of their own, in layers of that kind, or in some.
  [[nodiscard]] bool runs_shared_beside(std::uint32_t number) const {
    return options.overlap_shared_experts && !experts_in_turn && kind(number).shared_experts > 0;
  }
  [[nodiscard]] bool runs_shared_beside() const;
  /// Linear layers are cut in both dimensions.
  [[nodiscard]] bool is_two_dimensional() const { return options.tensor_rows > 1; }
  /// Products and their collectives run in chunks beside each other.
  [[nodiscard]] bool uses_user_buffers() const {
    return training() && options.user_buffers && uses_sequence_parallelism();
  }
  /// Sequences are cut over several ranks.
  [[nodiscard]] bool shares_sequences() const { return options.context_parallel > 1; }
  [[nodiscard]] std::uint32_t context_rank(const Place& at) const {
    return at.copy % static_cast<std::uint32_t>(options.context_parallel);
  }
  [[nodiscard]] std::uint32_t replica(const Place& at) const {
    return at.copy / static_cast<std::uint32_t>(options.context_parallel);
  }
  /// Context ranks with the same operators share their code: the first of them.
  [[nodiscard]] std::uint32_t context_class(const Place& at) const;
  /// Backward passes are in two parts: gradients of inputs, and of weights.
  [[nodiscard]] bool splits_backward() const;
  [[nodiscard]] program::ChunkOrder chunk_order() const;
  /// Micro-batches go both ways along the stages, and some forward passes run beside backward passes.
  [[nodiscard]] bool goes_both_ways() const { return chunk_order() != program::ChunkOrder::in_turn; }
  /// Forward passes run layer by layer beside backward passes of other micro-batches, and tokens are on their way to
  /// experts on a stream of their own.
  [[nodiscard]] bool combines_passes() const;
  /// Pieces of the model that a stage holds.
  [[nodiscard]] std::uint32_t chunks() const;
  /// Stages that hold the same pieces of the model: 2 where all are there twice, at both ends of the pipeline.
  [[nodiscard]] std::int64_t twins() const { return chunk_order() == program::ChunkOrder::both_ways ? 2 : 1; }
  /// Devices that hold the same parameters: those of all copies (Options::copies), in each of these its twins.
  [[nodiscard]] std::int64_t holders() const { return options.copies() * twins(); }
  /// The first and the last piece of the model are on the same devices.
  [[nodiscard]] bool joins_ends() const { return options.pipeline == 1 || goes_both_ways(); }
  /// The first and the last stage both hold the embedding: it is the output weight too, or predictions need it.
  [[nodiscard]] bool shares_embedding() const { return (model->tied_embeddings || predicts()) && !joins_ends(); }
  /// Modules behind the last layer predict tokens further ahead.
  [[nodiscard]] bool predicts() const { return training() && model->prediction_depth > 0; }
  /// As many as are in a chunk of a stage.
  [[nodiscard]] std::int64_t predictions(std::uint32_t stage, std::uint32_t chunk) const {
    return predicts() && has_head(stage, chunk) ? model->prediction_depth : 0;
  }
  /// Of the layer in such a module.
  [[nodiscard]] workload::LayerShape prediction_shape() const {
    return layer_shape(workload::prediction_kind(*model), 0);
  }
  [[nodiscard]] bool has_embedding(std::uint32_t stage, std::uint32_t chunk) const { return piece(stage, chunk) == 0; }
  [[nodiscard]] bool has_head(std::uint32_t stage, std::uint32_t chunk) const {
    return static_cast<std::int64_t>(piece(stage, chunk)) + 1 == options.pipeline * options.interleave;
  }
  [[nodiscard]] bool uses_sequence_parallelism() const { return options.sequence_parallel && options.tensor > 1; }
  [[nodiscard]] std::int64_t micro_batches_of(std::uint32_t replica) const {
    return replica < fuller_replicas ? micro_batches : micro_batches - 1;
  }
  /// Bytes of so many elements of each token; `of_one`: B of an element, 0: as activations.
  [[nodiscard]] std::int64_t token_bytes(std::int64_t width, std::int64_t of_one = 0) const {
    return (of_one > 0 ? of_one : element()) * tokens() * width;
  }
  /// Bytes of the activation between two layers, whole.
  [[nodiscard]] std::int64_t activation_bytes() const { return token_bytes(model->hidden); }
  /// What so many elements of each token are cut into for the tensor ranks: numbers, or where they have different parts
  /// of the sequence, tokens of all sequences of a micro-batch. Bytes.
  [[nodiscard]] std::int64_t tensor_element(std::int64_t width, std::int64_t of_one = 0) const;
  [[nodiscard]] std::int64_t tensor_element() const { return tensor_element(model->hidden); }
  /// What a tensor rank sends to the next stage: bytes of the largest part, from which the whole is gathered on
  /// arrival, or of the whole.
  [[nodiscard]] std::int64_t part_bytes() const;
  [[nodiscard]] bool gathers_arrivals() const { return !uses_sequence_parallelism() && !options.exchanges_whole; }
  [[nodiscard]] Place place(std::uint32_t rank) const;
  [[nodiscard]] std::uint32_t rank(const Place& place) const;
  [[nodiscard]] program::DeviceId device(const Place& at) const { return devices[rank(at)]; }
  /// Tensor ranks over which each expert is cut.
  [[nodiscard]] std::int64_t expert_tensor() const {
    return options.expert_tensor > 0 ? options.expert_tensor : options.tensor;
  }
  /// Devices of a stage, one after another by copy and tensor rank, that hold all experts of a layer once.
  [[nodiscard]] std::int64_t expert_devices() const { return expert_tensor() * options.expert_parallel; }
  /// Expert-parallel rank of a device.
  [[nodiscard]] std::uint32_t expert_rank(const Place& at) const {
    const std::int64_t of_stage = at.copy * options.tensor + at.tensor;
    return static_cast<std::uint32_t>(of_stage / expert_tensor() % options.expert_parallel);
  }
  /// Devices of a stage that hold the same experts.
  [[nodiscard]] std::int64_t expert_replicas() const { return options.tensor * options.copies() / expert_devices(); }
  /// Of those, the devices over which that is cut which is cut over the copies.
  [[nodiscard]] std::int64_t expert_shards() const { return expert_replicas() / options.shard_groups(); }
  /// The model's layers in a chunk of a stage: first one, and one behind the last.
  [[nodiscard]] std::int64_t first_layer(std::uint32_t stage, std::uint32_t chunk) const {
    return chunk_begin[piece(stage, chunk)];
  }
  [[nodiscard]] std::int64_t end_layer(std::uint32_t stage, std::uint32_t chunk) const {
    return chunk_begin[piece(stage, chunk) + 1];
  }
  /// Of a layer of a chunk of that stage, by its place among these.
  [[nodiscard]] Repeat repeat(std::uint32_t stage, std::int64_t place) const;
  /// What such a layer of that stage runs again.
  [[nodiscard]] workload::Recomputed repeated(std::uint32_t stage, Repeat repeat) const;
  /// Of all chunks of a stage.
  [[nodiscard]] std::int64_t stage_layers(std::uint32_t stage) const;
  [[nodiscard]] const workload::LayerFields& kind(std::uint32_t number) const {
    return workload::layer_kind(*model, number);
  }
  /// Of a kind of the model's layers. `keys` 0: as the phase says. MoE layers need the expert-parallel rank.
  [[nodiscard]] workload::LayerShape layer_shape(std::uint32_t kind, std::uint32_t expert_rank, std::int64_t keys = 0,
                                                 std::uint32_t context_rank = 0) const;
  /// The same, with all heads where the attention core is not cut.
  [[nodiscard]] workload::LayerShape core_shape(std::uint32_t kind, std::uint32_t expert_rank,
                                                std::int64_t keys = 0) const;
  [[nodiscard]] workload::LayerOperators layer(std::uint32_t kind, std::uint32_t expert_rank, std::int64_t keys = 0,
                                               std::uint32_t context_rank = 0) const;
  /// Tokens that the experts of an expert-parallel rank process for one micro-batch, in a layer of that kind.
  [[nodiscard]] std::int64_t expert_tokens(std::uint32_t kind, std::uint32_t expert_rank) const;

  /// Which piece of the model a chunk is, in its order.
  [[nodiscard]] std::size_t piece(std::uint32_t stage, std::uint32_t chunk) const;
};

/// "data 4", or "context_parallel 2 x data 4"
[[nodiscard]] std::string copies_text(const Options& options);
/// "12.5 GB"
[[nodiscard]] std::string size_text(std::int64_t bytes);
/// Where the value of a key stands, or the table that has none.
[[nodiscard]] config::Location where_of(const config::Table& table, const char* key);
/// Warns of a key that has another value than its default, and changes nothing.
template <class T>
void warn_if_given(const config::Table& table, const Options& options, const char* key, T Options::*member,
                   const char* where, config::Diagnostics& diagnostics) {
  if (options.*member != Options().*member)
    diagnostics.warn(where_of(table, key), std::string(key) + " has no effect " + where);
}
/// What a stage does, in order, but for what it lends.
[[nodiscard]] std::vector<program::PipelineAction> stage_actions(const Cut& cut, std::uint32_t stage);

/// Checks the table against the job; every problem goes to `diagnostics`, and then the result is of no use.
[[nodiscard]] Cut make_cut(const config::Table& table, const Job& job, config::Diagnostics& diagnostics);
/// The same of options that were read from the table, or found for what it leaves open.
[[nodiscard]] Cut make_cut(const Options& options, const config::Table& table, const Job& job,
                           config::Diagnostics& diagnostics);

/// A program and what the summary says about it.
[[nodiscard]] Plan plan_of(const Cut& cut, const Job& job);
/// "none", "selective", "full"
[[nodiscard]] const char* name_of(workload::Recomputation recomputation);

}  // namespace tessera::strategy::megatron
