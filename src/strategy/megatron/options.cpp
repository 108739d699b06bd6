#include <fmt/format.h>
#include <fmt/ranges.h>

#include "inner_options.hpp"
#include "tessera/program/schedule.hpp"
#include "tessera/program/sublayer.hpp"
#include "tessera/strategy/megatron/megatron.hpp"

namespace tessera::strategy::megatron {
namespace {

std::vector<std::string> schedule_names() {
  std::vector<std::string> names = {"auto"};
  for (const program::PipelineOrder& order : program::pipeline_orders()) names.push_back(order.name);
  return names;
}

void add_stages(config::Schema<Options>& s) {
  s.texts("recomputed_sections", &Options::recomputed_sections,
          "sections of each layer that run again in the backward pass, and whose outputs are not kept either: " +
              fmt::format("{}", fmt::join(workload::section_names, ", ")) +
              "; or one of \"none\", \"selective\", \"full\"; \"any\": sets that no other one beats in bytes kept and "
              "time "
              "repeated")
      .optional()
      .may_be_open();
  s.table("placement", &Options::placement, placement_schema(), "where the groups of a mesh stand").optional();
  s.tables("stages", &Options::stages, stage_schema(), "the stages, in order, where they differ: all of them, or none")
      .optional();
  s.tables("loans", &Options::loans, loan_schema(), "which stage lends memory to which").optional();
  s.choice<bool>(
       "routes", &Options::unused_first, {{"machine", false}, {"unused-first", true}},
       "of what goes between stages: the machine's own ways, or one transfer after another, the largest first, "
       "the shortest way whose links are used least")
      .optional();
  s.tables("ways", &Options::ways, way_schema(), "of single transfers, where the machine's own way is not wanted")
      .optional();
  s.number("link_factor", &Options::link_factor, "of routes = \"unused-first\": cost of a link in use, over another's")
      .at_least("1")
      .optional();
}

void add_cuts(config::Schema<Options>& s) {
  s.integer("tensor", &Options::tensor, "tensor-parallel ranks: each layer is cut over them")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1")
      .may_be_open();
  s.integer(
       "tensor_rows", &Options::tensor_rows,
       "of `tensor` ranks: linear layers are cut in both dimensions, over tensor / tensor_rows x tensor_rows ranks "
       "(2D tensor parallelism); rank = row x columns + column")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1");
  s.integer("pipeline", &Options::pipeline, "pipeline stages: layers are dealt out to them")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1")
      .may_be_open();
  s.integer("context_parallel", &Options::context_parallel,
            "context-parallel ranks, which share the sequences of a replica: each has a part of every one")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1")
      .may_be_open();
  using workload::ContextExchange;
  s.choice<ContextExchange>("context_exchange", &Options::context_exchange,
                            {{"ring", ContextExchange::ring},
                             {"all-to-all", ContextExchange::all_to_all},
                             {"all-gather", ContextExchange::all_gather}},
                            "of context_parallel: keys and values go round beside the attention of those that have "
                            "come; heads are exchanged for tokens before and behind it (Ulysses); or keys and values "
                            "are gathered, and their gradients scattered")
      .otherwise("ring")
      .may_be_open();
  s.integer("data", &Options::data, "data-parallel replicas; 0: as many as the machine has room for")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0")
      .may_be_open();
  s.choice<bool>("spare_devices", &Options::idle_devices, {{"error", false}, {"idle", true}},
                 "devices beyond tensor x context_parallel x pipeline x data: refuse, or leave them out, those of "
                 "nodes that have too few "
                 "for a tensor-parallel group first")
      .otherwise("error");
  s.choice<bool>("uneven_layers", &Options::spread_layers, {{"error", false}, {"spread", true}},
                 "layers that pipeline x interleave does not divide: refuse, or spread them by the stages' time, with "
                 "embedding and logits")
      .otherwise("error");
  s.integers("stage_layers", &Options::stage_layers,
             "layers of each stage, in the model's order, one number for each of pipeline x interleave chunks, 0 at "
             "the ends: embedding or logits alone; evenly "
             "when absent")
      .optional();
  s.boolean("sequence_parallel", &Options::sequence_parallel,
            "norms, dropouts and residuals are cut along the sequence over the tensor-parallel ranks")
      .otherwise("false")
      .may_be_open();
  s.choice<bool>("uneven_heads", &Options::pad_heads, {{"error", false}, {"pad", true}},
                 "heads that tensor does not divide: refuse, or let every rank carry ceil(heads / tensor)")
      .otherwise("error");
  s.choice<bool>(
       "uneven_width", &Options::pad_width, {{"error", false}, {"pad", true}},
       "MLPs whose width tensor does not divide: refuse, or let every rank carry ceil(width / tensor) columns")
      .otherwise("error");
  s.choice<bool>(
       "attention", &Options::whole_attention, {{"cut", false}, {"whole", true}},
       "heads of the attention core (scores, softmax, context): cut over the tensor-parallel ranks, or all of "
       "them on each rank")
      .otherwise("cut");
  s.choice("sublayers", &Options::sublayers, program::sublayer::levels(),
           "GEMMs whose results are summed over the tensor-parallel ranks: by operators and collectives, or at "
           "transaction level in this configuration of strategy t3 (docs/t3.md)")
      .otherwise("operators");
}

void add_schedule(config::Schema<Options>& s) {
  using workload::Recomputation;
  s.integer("micro_batch", &Options::micro_batch,
            "sequences of one micro-batch; 0: 1, outside training all of a replica, or in a pipeline one part for each "
            "stage where that comes out even")
      .at_least("0")
      .at_most("1000000000")
      .otherwise("0")
      .may_be_open();
  s.integer("interleave", &Options::interleave, "model chunks of each pipeline stage")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1")
      .may_be_open();
  s.choice("schedule", &Options::schedule, schedule_names(),
           "order of the passes; auto: interleaved-1f1b where interleave > 1, 1f1b otherwise")
      .otherwise("auto")
      .may_be_open();
  s.quantity("exchange_overhead", &Options::exchange_overhead, config::Unit::time,
             "from the end of an exchange between stages, for which the host waits, to the next kernel")
      .at_most("1 s")
      .otherwise("0 s");
  s.choice<bool>(
       "exchange", &Options::exchanges_whole, {{"parts", false}, {"whole", true}},
       "of an activation between stages, without sequence parallelism: each tensor rank sends a part, and the "
       "receivers gather the whole (Megatron-LM's scatter-gather); or each sends the whole")
      .otherwise("parts");
  s.choice<Recomputation>(
       "recomputation", &Options::recomputation,
       {{"none", Recomputation::none}, {"selective", Recomputation::selective}, {"full", Recomputation::full}},
       "activations that are computed again in the backward pass: none, the attention core, or all "
       "but the input of each layer")
      .otherwise("none")
      .may_be_open();
  s.integer("recomputed_layers", &Options::recomputed_layers,
            "of each chunk of a stage, the first so many layers run again what recomputation or recomputed_sections "
            "says, the others nothing; 0: all do")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0")
      .may_be_open();
  s.choice<RecomputationMethod>("recomputation_method", &Options::recomputation_method,
                                {{"block", RecomputationMethod::block}, {"uniform", RecomputationMethod::uniform}},
                                "of recomputation = \"full\" and recomputed_layers = n: the first n layers of each "
                                "chunk, each by itself; or all, "
                                "in groups of n of which only the input is kept (Megatron-LM's recompute_method)")
      .otherwise("block")
      .may_be_open();
  s.choice<Recomputation>(
       "vision_recomputation", &Options::vision_recomputation,
       {{"none", Recomputation::none}, {"selective", Recomputation::selective}, {"full", Recomputation::full}},
       "the same of each layer of a vision tower that is trained (Megatron-LM's recompute_vision)")
      .otherwise("none");
}

void add_gradients(config::Schema<Options>& s) {
  s.boolean("distributed_optimizer", &Options::distributed_optimizer,
            "optimizer state and weight update are cut over the data-parallel replicas")
      .otherwise("false")
      .may_be_open();
  s.choice<DataSharding>(
       "data_sharding", &Options::data_sharding,
       {{"auto", DataSharding::as_optimizer},
        {"gradients", DataSharding::gradients},
        {"parameters", DataSharding::parameters}},
       "what is cut over the data-parallel replicas; auto: optimizer state, where distributed_optimizer is set; "
       "gradients (ZeRO-2): those too, each layer's reduce-scattered behind its backward pass; parameters (FSDP, "
       "ZeRO-3): weights as well, each layer gathered when it is needed")
      .otherwise("auto")
      .may_be_open();
  s.integer("shard_ranks", &Options::shard_ranks,
            "of data_sharding and distributed_optimizer: over so many neighbouring replicas (with their context ranks) "
            "it is cut, and these groups hold the same (HSDP); gradients' parts are all-reduced over the groups; 0: "
            "over all")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0")
      .may_be_open();
  s.choice<bool>("group_reduction", &Options::sums_groups_last,
                 {{"each-micro-batch", false}, {"last-micro-batch", true}},
                 "of shard_ranks with data_sharding: parts of gradients are all-reduced over the groups behind each "
                 "micro-batch (PyTorch's FSDP2), or, once all micro-batches are added up, behind the last one "
                 "(set_requires_all_reduce, Megatron-FSDP)")
      .otherwise("each-micro-batch")
      .may_be_open();
  s.integer("gather_ahead", &Options::gather_ahead,
            "of data_sharding = \"parameters\" and of weight_streaming: layers that are gathered while another one "
            "computes; 0: it waits; \"any\": 0, 1, 2, 4 and so on, fewer than a stage has")
      .at_least("0")
      .at_most("1000")
      .otherwise("1")
      .may_be_open();
  s.boolean("reshard_after_forward", &Options::reshard_after_forward,
            "there: a layer is given up after its forward pass, and gathered again before its backward pass; false: it "
            "stays whole between them")
      .otherwise("true")
      .may_be_open();
  s.boolean("flat_parameters", &Options::flat_parameters,
            "of data_sharding = \"parameters\": a layer is one flat tensor, as in PyTorch's FSDP of 2023: its part, in "
            "FP32, is cast before it is gathered; whole gradients are put side by side, cast to what they are reduced "
            "in, and divided before and behind that")
      .otherwise("false");
  s.choice<WeightStreaming>(
       "weight_streaming", &Options::weight_streaming,
       {{"off", WeightStreaming::off}, {"devices", WeightStreaming::devices}, {"hosts", WeightStreaming::hosts}},
       "layer by layer: all micro-batches of a replica pass through a layer, then it is given up; its weights come "
       "from parts on the devices, as with data_sharding = \"parameters\", or from hosts, which take its gradients")
      .otherwise("off");
  s.boolean("overlap_gradient_reduction", &Options::overlap_gradient_reduction,
            "reduce gradients over the replicas layer by layer, beside the last micro-batch's backward pass")
      .otherwise("false")
      .may_be_open();
  s.boolean("overlap_parameter_gathering", &Options::overlap_parameter_gathering,
            "of distributed_optimizer: updated weights are gathered layer by layer beside the first micro-batch's "
            "forward pass of the next iteration; false: behind the update")
      .otherwise("false")
      .may_be_open();
  s.boolean("overlap_tensor_communication", &Options::overlap_tensor_communication,
            "in the backward pass, tensor-parallel collectives of an input gradient run beside the weight gradient")
      .otherwise("true");
  s.boolean("user_buffers", &Options::user_buffers,
            "with sequence_parallel: products of layers in the forward pass, and input gradients of row-parallel ones, "
            "are cut into as many chunks as there are tensor-parallel ranks and run beside their collectives but for "
            "one chunk (Transformer Engine's userbuffers)")
      .otherwise("false");
  s.choice<std::int64_t>("gradient_precision", &Options::gradient_bytes, {{"fp32", 4}, {"fp16", 2}},
                         "of the buffer that gradients are added up in")
      .otherwise("fp32");
  s.choice<std::int64_t>("reduction_precision", &Options::reduction_bytes, {{"auto", 0}, {"fp32", 4}, {"fp16", 2}},
                         "of gradients while they are summed over the replicas; auto: gradient_precision")
      .otherwise("auto");
  s.choice<bool>("gradient_reduction", &Options::all_reduce_gradients, {{"auto", false}, {"all-reduce", true}},
                 "over the replicas; auto: reduce-scatter with the distributed optimizer, all-reduce without")
      .otherwise("auto");
  s.choice<std::int64_t>("moment_precision", &Options::moment_bytes, {{"fp32", 4}, {"fp16", 2}, {"fp8", 1}},
                         "of Adam's two moments")
      .otherwise("fp32");
  s.choice<workload::MasterWeights>(
       "master_weights", &Options::master_weights,
       {{"fp32", workload::MasterWeights::fp32},
        {"remainder", workload::MasterWeights::remainder},
        {"none", workload::MasterWeights::none}},
       "what the update keeps of a weight beside it: a copy in FP32, the 16 bits that make FP32 of BF16, or nothing")
      .otherwise("fp32");
  s.choice<workload::Update>("optimizer", &Options::update,
                             {{"megatron", workload::Update::megatron},
                              {"fused", workload::Update::fused},
                              {"eager", workload::Update::eager}},
                             "kernels of Adam: Megatron-LM's, on FP32 copies; one that reads gradients as they lie and "
                             "writes weights (Apex's "
                             "DistributedFusedAdam), which the reduction averages; or PyTorch's single operations")
      .otherwise("megatron");
  s.boolean("fused_gradient_accumulation", &Options::fused_gradient_accumulation,
            "the weight-gradient GEMM adds to that buffer itself")
      .otherwise("true");
  s.boolean("unused_gradients", &Options::unused_gradients,
            "of fused_gradient_accumulation: autograd is handed a tensor of each weight's shape in the datatype, of "
            "which the first one of each shape is kept (Transformer Engine 2, Megatron-Core 0.14)")
      .otherwise("false");
}

void add_experts(config::Schema<Options>& s) {
  s.integer("expert_parallel", &Options::expert_parallel, "ranks over which the experts of a MoE model are spread")
      .at_least("1")
      .at_most("1000000")
      .otherwise("1")
      .may_be_open();
  s.integer(
       "expert_tensor", &Options::expert_tensor,
       "MoE: tensor-parallel ranks over which each expert is cut; 1: whole experts, which are spread over the tensor "
       "ranks first, then over replicas; 0: all of them")
      .at_least("0")
      .at_most("1000000")
      .otherwise("0")
      .may_be_open();
  s.choice<bool>(
       "expert_dispatch", &Options::once_a_node, {{"copies", false}, {"once-a-node", true}},
       "MoE: a token goes to its experts in as many copies; or once to each node that has one of them, to the device "
       "at the same place, and on to each device there that has one (node-limited routing, DeepEP)")
      .otherwise("copies")
      .may_be_open();
  s.boolean("overlap_shared_experts", &Options::overlap_shared_experts,
            "MoE: shared experts run on a stream of their own, the first half beside the tokens' way to the other "
            "experts and the second half beside their way back (Megatron Core's moe_shared_expert_overlap)")
      .otherwise("false")
      .may_be_open();
  s.boolean(
       "delay_weight_gradients", &Options::delay_weight_gradients,
       "of schedule = \"combined-1f1b\": weight gradients of experts beside the all-to-all of their input gradients "
       "(Megatron Core's delay_wgrad_compute)")
      .otherwise("false");
  s.number("capacity_factor", &Options::capacity_factor,
           "MoE: a rank takes at most this many times the mean number of tokens and drops the rest; 0: no limit")
      .at_least("0")
      .otherwise("0");
  s.number("expert_imbalance", &Options::expert_imbalance,
           "MoE: load of an expert-parallel rank, drawn with the seed from mean x (1 - this) to mean x (1 + this)")
      .at_least("0")
      .at_most("1")
      .otherwise("0");
}

}  // namespace

const config::Schema<Options>& options_schema() {
  static const config::Schema<Options> schema = [] {
    config::Schema<Options> s("strategy.megatron", "Data, tensor, pipeline and expert parallelism of Megatron-LM.");
    s.also_accept("name", "\"megatron\"");
    add_cuts(s);
    add_schedule(s);
    add_gradients(s);
    add_experts(s);
    add_stages(s);
    return s;
  }();
  return schema;
}

}  // namespace tessera::strategy::megatron
