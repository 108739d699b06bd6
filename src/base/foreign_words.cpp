// The words come from the options and files of Megatron-LM, NeMo, DeepSpeed, PyTorch FSDP, torchtitan, vLLM, NCCL,
// ASTRA-sim, SimAI and Calculon, and from names of machines. Values have rows as keys have.
#include "tessera/base/foreign_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "tessera/base/config.hpp"

namespace tessera::config {
namespace {

constexpr std::string_view no_stock_machine =
    "no stock machine has its figures; they go over those of another one, [machine] include = \"h100-cluster\" "
    "(docs/machines.md)";

constexpr auto known_rows = std::to_array<ForeignWord>({
    // How a job is cut.
    {"tensor tp tensor_parallel tensor_model_parallel tensor_par tensor_mp model_parallel mp model_parallel_npu_group",
     "strategy.megatron.tensor", ""},
    {"pipeline pp pipeline_parallel pipeline_model_parallel pipeline_par num_stages pipeline_stages",
     "strategy.megatron.pipeline", ""},
    {"data dp data_parallel data_par ddp replicas num_replicas data_parallel_replicate", "strategy.megatron.data", ""},
    {"ep expert_parallel expert_model_parallel expert_par moe_expert_parallel", "strategy.megatron.expert_parallel",
     ""},
    {"interleave vp vpp virtual_pipeline virtual_pipeline_model_parallel pipeline_interleaving model_chunks "
     "num_model_chunks num_layers_per_virtual_pipeline_stage num_virtual_stages_per_pipeline_rank "
     "pipeline_parallel_layers_per_stage",
     "strategy.megatron.interleave", "chunks of each stage"},
    {"sequence_parallel sp sequence_parallelism seq_par tensor_par_comm_type", "strategy.megatron.sequence_parallel",
     ""},
    {"cp context_parallel context_par context_parallelism", "strategy.megatron.context_parallel", ""},
    {"ring_attention ulysses cp_comm_type context_parallel_comm", "strategy.megatron.context_exchange",
     "\"ring\" (p2p), \"all-to-all\" (a2a, Ulysses) or \"all-gather\"; context_parallel says over how many ranks"},
    {"hierarchical_context_parallel hierarchical_context_parallel_sizes", "",
     "all-to-all inside of a ring; strategy.megatron.context_exchange is one of both for all context ranks"},
    {"a2a", "all-to-all", ""},
    {"zero zero_stage zero_optimization zero2 zero3 zero_2 zero_3 fsdp* fully_shard* full_shard sharding_strategy "
     "data_parallel_sharding_strategy",
     "strategy.megatron.data_sharding",
     "\"parameters\" is FSDP and ZeRO-3, \"gradients\" ZeRO-2; ZeRO-1 is strategy.megatron.distributed_optimizer "
     "(docs/sharding.md)"},
    {"shard_grad_op", "strategy.megatron.reshard_after_forward",
     "false, with data_sharding = \"parameters\": parts of weights are gathered once a micro-batch"},
    {"set_requires_all_reduce requires_all_reduce", "strategy.megatron.group_reduction", ""},
    {"hsdp hybrid_shard* data_parallel_shard num_distributed_optimizer_instances", "strategy.megatron.shard_ranks",
     "replicas of a group over which data_sharding or distributed_optimizer cuts"},
    {"zero1 zero_1 distributed_optimizer distributed_fused_adam optimizer_sharding",
     "strategy.megatron.distributed_optimizer", ""},
    {"expert_tensor_parallel etp moe_tensor_parallel", "strategy.megatron.expert_tensor", ""},
    {"activations_offload activation_offload", "strategy.megatron.loans", "activations in another device's memory"},
    {"weight_offload", "strategy.megatron.weight_streaming", "\"hosts\""},
    {"offload* cpu_offload* optimizer_offload zero_offload swap_space nvme*", "",
     "optimizer state on a host; weights are with strategy.megatron.weight_streaming = \"hosts\""},
    {"decoder_first_pipeline_num_layers decoder_last_pipeline_num_layers account_for_embedding_in_pipeline_split",
     "strategy.megatron.stage_layers", ""},
    {"alpa flexflow unity galvatron auto_parallel", "",
     "that search; tensor = \"any\" and other open keys of strategy megatron are searched (docs/plans.md)"},
    {"deepspeed nemo megatron_core megatron_deepspeed torchtitan accelerate", "megatron",
     "what stacks do besides is a recipe, `tessera list recipes`"},
    // Batches, sequences, precisions.
    {"micro_batch mbs microbatch micro_batch_size_per_gpu train_micro_batch_size_per_gpu local_batch",
     "strategy.megatron.micro_batch", ""},
    {"global_batch gbs batch train_batch minibatch", "workload.global_batch", ""},
    {"gradient_accumulation gradient_accumulation_steps grad_accum* num_microbatches ga",
     "strategy.megatron.micro_batch", "how many there are follows from workload.global_batch and data"},
    {"sequence seq seq_len seq_length seqlen sequence_length max_seq_len max_seq_length seq_size encoder_seq_length "
     "max_model_len input_len",
     "workload.sequence", ""},
    {"generated output_len output_length max_new_tokens max_tokens gen_len num_tokens_to_generate",
     "workload.generated", ""},
    {"datatype dtype precision params_dtype torch_dtype mixed_precision mixed_precision_param", "workload.datatype",
     ""},
    {"bfloat16", "bf16", ""},
    {"float16 half", "fp16", ""},
    {"float32 float", "fp32", ""},
    {"nvfp4 mxfp4", "fp4", ""},
    {"int4 w4a16 awq gptq fp6", "", "numbers of less than 8 bits but FP4"},
    {"fp8_format fp8_hybrid", "workload.product_datatype", ""},
    {"e4m3* e5m2* fp8_e4m3* fp8_e5m2* float8*", "workload.product_datatype",
     "\"fp8\" is E4M3 forward and E5M2 or E4M3 backward, at the same rate"},
    {"mxfp8 fp8_recipe blockwise_fp8", "workload.operand_scaling", ""},
    {"fp8_param_gather", "workload.weight_datatype", ""},
    {"fp8_margin fp8_amax*", "", "what scales of FP8 are made of"},
    {"kv_cache_dtype kv_cache_precision kv_cache_quant_algo", "workload.kv_cache_datatype", ""},
    {"prefill", "prompt", ""},
    {"decode decoding", "generation", ""},
    {"phase inference serving", "workload.phase", "\"prompt\", \"generation\" or \"prompt-and-generation\""},
    {"max_num_seqs max_num_batched_tokens prefix_caching chunked_prefill continuous_batching inflight_batching "
     "disaggregat* paged_attention",
     "", "serving of requests that come and go; one batch is, workload.phase = \"prompt-and-generation\""},
    {"speculative* draft_model medusa eagle", "", "speculative decoding"},
    // What a stack does.
    {"schedule pipeline_schedule pipeline_parallel_schedule", "strategy.megatron.schedule", ""},
    {"zb zb1p zero_bubble zerobubble", "zb-h1", ""},
    {"zb2p", "zb-h2", ""},
    {"dualpipev", "dualpipe-v", ""},
    {"zbv zbvzerobubble interleavedzerobubble seq1f1b", "",
     "zero-bubble schedules with several chunks; zb-h1, zb-h2, dualpipe and dualpipe-v put weight gradients apart"},
    {"interleaved1f1b interleaved vpp_schedule", "interleaved-1f1b", ""},
    {"recomputation recompute activation_checkpoint* activations_checkpoint_granularity gradient_checkpointing "
     "checkpoint_activations recompute_granularity activation_recompute activation_recomputation ac_mode",
     "strategy.megatron.recomputation", "\"none\", \"selective\" or \"full\""},
    {"attn_only core_attn", "selective", ""},
    {"recompute_num_layers activations_checkpoint_num_layers", "strategy.megatron.recomputed_layers", ""},
    {"recompute_method activations_checkpoint_method", "strategy.megatron.recomputation_method", ""},
    {"recompute_modules", "strategy.megatron.recomputed_sections", "by sections of a layer (docs/schedules.md)"},
    {"selective_ac_option", "", "every n-th layer; strategy.megatron.recomputed_layers is the first n"},
    {"overlap_gradient_reduction overlap_grad_reduce overlap_comm data_par_overlap",
     "strategy.megatron.overlap_gradient_reduction", ""},
    {"overlap_param_gather* overlap_param_sync", "strategy.megatron.overlap_parameter_gathering", ""},
    {"overlap_p2p* overlap_pipeline*", "",
     "exchanges of stages beside computing; overlap_parameter_gathering, overlap_gradient_reduction and "
     "overlap_tensor_communication of strategy megatron are"},
    {"tp_comm_overlap ub_tp_comm_overlap userbuffers async_tp", "strategy.megatron.user_buffers", ""},
    {"tensor_par_overlap", "strategy.megatron.overlap_tensor_communication",
     "beside the weight gradient; user_buffers cuts collectives up beside their own product"},
    {"bucket reduce_bucket allgather_bucket bucket_cap_mb ddp_bucket", "",
     "buckets of gradients; overlap_gradient_reduction reduces them layer by layer"},
    {"gradient_precision accumulate_allreduce_grads_in_fp32 main_grads_dtype", "strategy.megatron.gradient_precision",
     ""},
    {"reduction_precision grad_reduce_in_fp32 grad_sync_dtype mixed_precision_reduce communication_data_type",
     "strategy.megatron.reduction_precision", ""},
    {"moment_precision exp_avg_dtype exp_avg_sq_dtype", "strategy.megatron.moment_precision", ""},
    {"master_weights main_params_dtype", "strategy.megatron.master_weights", ""},
    {"gradient_accumulation_fusion", "strategy.megatron.fused_gradient_accumulation", ""},
    {"capacity_factor moe_expert_capacity_factor moe_capacity_factor", "strategy.megatron.capacity_factor", ""},
    {"moe_token_dispatcher* deepep", "strategy.megatron.expert_dispatch",
     "\"copies\", or \"once-a-node\" as DeepEP does; collectives.all_to_all says by which algorithm"},
    {"moe_shared_expert_overlap shared_expert_overlap", "strategy.megatron.overlap_shared_experts", ""},
    {"recompute_vision", "strategy.megatron.vision_recomputation", ""},
    {"freeze_vit freeze_vision_model freeze_vision_tower", "model.vision.frozen", ""},
    {"img_h", "model.vision.image_height", ""},
    {"img_w", "model.vision.image_width", ""},
    {"overlap_moe_expert_parallel_comm combined_1f1b", "strategy.megatron.schedule", "\"combined-1f1b\""},
    {"delay_wgrad_compute", "strategy.megatron.delay_weight_gradients", ""},
    {"moe_grouped_gemm moe_permute_fusion", "", "how a library runs experts; they are grouped products"},
    {"flash_attention flash_attn flash_attn_2 attention_backend sdpa", "workload.flash_attention", ""},
    {"cuda_graph* enforce_eager torch_compile compile", "",
     "how a host launches kernels; what a launch takes is cost.roofline.launch_overhead"},
    {"sgd muon adafactor lion", "", "optimizers; it is Adam, of strategy.megatron.moment_precision"},
    {"lora qlora peft", "", "training of some weights"},
    // The model.
    {"layers num_layers n_layers n_layer num_hidden_layers num_blocks", "model.layers", ""},
    {"hidden d_model n_embd embed_dim embedding_dim hidden_dim", "model.hidden", ""},
    {"heads num_heads num_attention_heads n_heads n_head attn_heads", "model.heads", ""},
    {"kv_heads num_query_groups num_key_value_heads num_kv_heads n_kv_heads group_query_attention", "model.kv_heads",
     ""},
    {"head_dim kv_channels attn", "model.head_dim", ""},
    {"ffn_hidden intermediate feedforward ffn_dim d_ff ffn", "model.ffn_hidden", ""},
    {"gated_mlp swiglu gated_linear_unit", "model.gated_mlp", ""},
    {"vocabulary vocab padded_vocab", "model.vocabulary", ""},
    {"max_positions max_position_embeddings n_positions", "model.max_positions", ""},
    {"position position_embedding_type", "model.position", ""},
    {"rope", "rotary", ""},
    {"norm normalization", "model.norm", ""},
    {"bias disable_bias_linear add_bias_linear", "model.bias", ""},
    {"tied_embeddings untie_embeddings_and_output_weights share_embeddings_and_output_weights tie_word_embeddings",
     "model.tied_embeddings", ""},
    {"dropout hidden_dropout", "model.dropout", ""},
    {"attention_dropout attn_pdrop", "model.attention_dropout", ""},
    {"rotary_fraction rotary_percent rotary_pct partial_rotary_factor", "model.rotary_fraction", ""},
    {"query_key_norm qk_layernorm qk_norm use_qk_norm", "model.query_key_norm", ""},
    {"attention_softcap attn_logit_softcapping", "model.attention_softcap", ""},
    {"logits_softcap final_logit_softcapping", "model.logits_softcap", ""},
    {"parallel_block parallel_attn parallel_residual use_parallel_residual", "model.parallel_block", ""},
    {"experts num_experts num_local_experts n_routed_experts moe_num_experts", "model.experts", ""},
    {"experts_per_token moe_router_topk top_k router_topk moe_top_k num_experts_per_tok num_experts_per_token",
     "model.experts_per_token", ""},
    {"shared_experts n_shared_experts moe_shared_expert_intermediate", "model.shared_experts", ""},
    {"moe_layer_interval moe_layer_freq", "model.layer_sequence", ""},
    {"multi_latent_attention mla kv_lora_rank", "model.kv_rank", "of latent attention"},
    {"q_lora_rank", "model.query_rank", "of latent attention"},
    {"qk_rope_head_dim qk_pos_emb_head_dim", "model.rotary_dim", "a part of head_dim, of latent attention"},
    {"v_head_dim", "model.value_dim", ""},
    {"sliding_window window window_left", "model.sliding_window", "tokens that a token attends to, itself among them"},
    {"n_group moe_router_num_groups", "model.expert_groups", ""},
    {"topk_group moe_router_group_topk", "model.groups_per_token", ""},
    {"mtp mtp_num_layers num_nextn_predict_layers multi_token_prediction", "model.prediction_depth", ""},
    // Collectives.
    {"nvls* nvlsharp", "in-switch", "the switch of a node adds; not over several nodes"},
    {"sharp collnet* in_network* infiniband_sharp", "", "sums in the switches of the fabric are not simulated"},
    {"tree double_binary_tree doublebinarytree", "double-tree", ""},
    {"halvingdoubling recursive_doubling recursive_halving", "halving-doubling", ""},
    {"onedirect one_shot oneshot two_shot twoshot", "direct", ""},
    {"onering", "ring", ""},
    {"ringbiodd ring_biodd", "ring-bi-odd", ""},
    {"multi_tree", "multitree", ""},
    {"tacos", "synthesised", "schedules are made as TACOS does, without its draws"},
    {"themis", "", "chunks that choose their order of dimensions; `tessera help collectives` names what there is"},
    {"all_reduce all_reduce_implementation nccl_algo", "collectives.all_reduce", ""},
    {"all_gather all_gather_implementation", "collectives.all_gather", ""},
    {"reduce_scatter reduce_scatter_implementation", "collectives.reduce_scatter", ""},
    {"all_to_all all_to_all_implementation", "collectives.all_to_all", ""},
    {"channels nchannels nccl_max_nchannels nccl_min_nchannels", "collectives.channels", ""},
    {"nccl_proto ll ll128", "collectives.protocols", "of which each collective takes the fastest"},
    // Machines.
    {"b100* b300* gb300* h20 h20_* h800* a800* l40* rtx* mi250* mi300a* mi325* mi355* tpu_v4* tpu_v5e* tpu_v6* tpu_v7* "
     "trillium ironwood trn1* trn3* trainium trainium1 trainium3 gaudi gaudi2*",
     "", no_stock_machine},
    {"a100_40g a100_40gb*", "a100-40g-cluster", ""},
    {"h200 dgx_h200* hgx_h200* h200_sxm*", "h200-cluster", ""},
    {"b200 dgx_b200* hgx_b200* b200_sxm*", "b200-cluster", ""},
    {"gb200 nvl72* dgx_gb200*", "gb200-nvl72", "a node is a rack of 72"},
    {"mi300 mi300x", "mi300x-cluster", ""},
    {"gaudi3 gaudi_3 hls_gaudi3", "gaudi3-cluster", ""},
    {"v5p tpu_v5", "tpu-v5p", ""},
    {"trainium2 trn2_48xlarge", "trn2", ""},
    {"trn2u* u_trn2x64", "trn2-ultraserver", ""},
    {"dgx_h100* hgx_h100* h100_sxm* h100_80g* eos", "h100-cluster", ""},
    {"dgx_a100* hgx_a100* a100_sxm* selene", "a100-80g-cluster", ""},
    {"dgx_1* dgx_2* v100_sxm*", "v100-cluster", ""},
    {"torus3d 3d_torus 3dtorus", "torus-3d", ""},
    {"dragonfly_plus dragonflyplus megafly hypercube* slimfly* butterfly*", "",
     "that topology; `tessera help machine.topology` names those that are"},
    {"rail_only*", "rail-optimised",
     "fabric of a cluster; with nodes_per_leaf = nodes and pxn nothing goes over its spines"},
    {"rail rails rail_optimized*", "rail-optimised", "fabric of a cluster"},
    {"pxn_disable nccl_pxn_disable nccl_p2p_pxn_level as_pxn_enable", "machine.topology.cluster.pxn", ""},
    {"fabric fattree fat_tree clos leaf_spine", "machine.topology.cluster.fabric", ""},
    {"inside fullyconnected fully_connected nvswitch", "machine.topology.cluster.inside", ""},
    {"nodes nnodes num_nodes", "machine.topology.cluster.nodes", ""},
    {"gpus_per_node nproc_per_node devices_per_node gpu_per_server gpus_per_server",
     "machine.topology.cluster.gpus_per_node", ""},
    {"gpus num_gpus world npus npus_count num_procs all_gpus num_devices",
     "machine.topology.cluster.nodes machine.topology.cluster.gpus_per_node", ""},
    {"nvlink_bandwidth nvlink_bw", "machine.topology.cluster.nvlink_bandwidth", "per direction"},
    {"nic_bandwidth nic_bw ib_bandwidth", "machine.topology.cluster.nic_bandwidth", "per direction"},
    {"peak peak_perf peak_flops tflops", "machine.device.peak", ""},
    {"memory_bandwidth mem_bw mem_bandwidth hbm_bandwidth hbm_bw local_mem_bw", "machine.device.memory_bandwidth", ""},
    {"memory_capacity hbm_capacity hbm mem_capacity memory local_mem_capacity", "machine.device.memory_capacity", ""},
    {"cores num_sms sm_count sms", "machine.device.cores", ""},
    {"power power_cap tdp energy carbon", "", "power and energy"},
});

std::string with_underscores(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// As words stand in the table: what differs between tools alone is gone.
std::string table_form(std::string_view word) {
  std::string result = with_underscores(word.substr(std::min(word.find_first_not_of('-'), word.size())));
  for (const std::string_view prefix : {"use_", "enable_"})
    if (result.starts_with(prefix)) result.erase(0, prefix.size());
  for (const std::string_view suffix : {"_size", "_degree"})
    if (result.ends_with(suffix)) result.resize(result.size() - suffix.size());
  return result;
}

/// Of texts separated by blanks, one after another until `take` says true.
template <class Take>
bool any_word(std::string_view texts, Take take) {
  while (!texts.empty()) {
    const std::size_t end = std::min(texts.find(' '), texts.size());
    if (take(texts.substr(0, end))) return true;
    texts.remove_prefix(std::min(end + 1, texts.size()));
  }
  return false;
}

bool has_word(const ForeignWord& row, std::string_view word) {
  return any_word(row.words, [&](std::string_view one) {
    return one.ends_with('*') ? word.starts_with(one.substr(0, one.size() - 1)) : word == one;
  });
}

const ForeignWord* row_of(std::string_view word) {
  const auto found = std::ranges::find_if(known_rows, [&](const ForeignWord& row) { return has_word(row, word); });
  return found == known_rows.end() ? nullptr : &*found;
}

/// "it is ... here".
std::string translation(const ForeignWord& row, std::string_view section) {
  std::string names;
  for (const std::string& one : names_here(row)) {
    const std::size_t dot = one.rfind('.');
    const std::string own = dot == std::string::npos ? std::string(section) : one.substr(0, dot);
    names += fmt::format("{}\"{}\"", names.empty() ? "" : " and ", one.substr(dot + 1));
    if (own != section) names += fmt::format(" of [{}]", own);
  }
  return fmt::format("it is {} here{}{}", names, row.note.empty() ? "" : ": ", row.note);
}

}  // namespace

std::span<const ForeignWord> foreign_words() { return known_rows; }

const ForeignWord* find_foreign_word(std::string_view word) {
  // "hidden_size" is "hidden", but "selective_ac_option" and the like stand as they are; "strategy.tp" is "tp".
  const ForeignWord* row = row_of(table_form(word));
  if (row == nullptr) row = row_of(with_underscores(word));
  return row != nullptr ? row : row_of(table_form(word.substr(word.rfind('.') + 1)));
}

std::vector<std::string> names_here(const ForeignWord& row) {
  std::vector<std::string> names;
  any_word(row.here, [&](std::string_view one) {
    names.emplace_back(one);
    return false;
  });
  return names;
}

std::string foreign_hint(std::string_view word, std::string_view section) {
  const ForeignWord* row = find_foreign_word(word);
  if (row == nullptr) return {};
  return row->here.empty() ? fmt::format("not modelled: {}", row->note) : translation(*row, section);
}

std::string hint(std::string_view word, const std::vector<std::string>& choices) {
  const auto is_word = [&](const std::string& choice) { return with_underscores(choice) == with_underscores(word); };
  const std::string foreign = std::ranges::any_of(choices, is_word) ? "" : foreign_hint(word);
  return foreign.empty() ? suggestion(word, choices) : " (" + foreign + ")";
}

}  // namespace tessera::config
