// The options of Megatron-LM (megatron/training/arguments.py and the configurations beside it, to core_v0.19), of
// NeMo's launcher (launcher_scripts/conf/training) and of Megatron Bridge, by their names with '_'. A row without a key
// has the key that src/base/foreign_words.cpp gives the word; where that says "not modelled", the flag is refused.
#include "flags.hpp"

namespace tessera::experiment::importing {

std::span<const FlagRow> flag_rows() {
  using enum Conversion;
  static constexpr auto rows = std::to_array<FlagRow>({
      // How the job is cut.
      {"tensor_model_parallel_size pipeline_model_parallel_size expert_model_parallel_size context_parallel_size",
       whole, "", ""},
      {"expert_tensor_parallel_size", whole, "strategy.expert_tensor", ""},
      {"sequence_parallel", on, "", ""},
      {"virtual_pipeline_model_parallel_size num_virtual_stages_per_pipeline_rank "
       "num_layers_per_virtual_pipeline_stage",
       by_hand, "", ""},
      {"decoder_first_pipeline_num_layers decoder_last_pipeline_num_layers num_layers_in_first_pipeline_stage "
       "num_layers_in_last_pipeline_stage",
       by_hand, "", ""},
      {"pipeline_model_parallel_layout pipeline_model_parallel_split_rank standalone_embedding_stage "
       "account_for_embedding_in_pipeline_split account_for_loss_in_pipeline_split",
       refused, "",
       "a pipeline that is dealt out by hand; strategy.megatron.stage_layers lists the layers of each stage"},
      {"use_tp_pp_dp_mapping", refused, "",
       "stages beside each other and replicas apart; replicas are neighbours here"},
      {"cp_comm_type", word, "strategy.context_exchange", "p2p=ring a2a=all-to-all all_gather=all-gather"},
      {"hierarchical_context_parallel_sizes", refused, "", "context parallelism of several levels"},
      // The model.
      {"num_layers hidden_size num_attention_heads ffn_hidden_size kv_channels max_position_embeddings", whole, "", ""},
      {"num_query_groups group_query_attention", by_hand, "", ""},
      {"vocab_size padded_vocab_size tokenizer_type tokenizer_model tokenizer_name type library vocab_file merge_file",
       by_hand, "", ""},
      {"make_vocab_size_divisible_by should_pad_vocab vocab_extra_ids", nothing, "", ""},
      {"swiglu gated_linear_unit activation activation_func", by_hand, "", ""},
      {"squared_relu openai_gelu quick_geglu onnx_safe bias_activation_fusion", nothing, "", ""},
      {"normalization", word, "model.norm", "layernorm=layernorm rmsnorm=rmsnorm layernorm1p=layernorm"},
      {"disable_bias_linear", off, "model.bias", ""},
      {"add_bias_linear bias", on, "model.bias", ""},
      {"add_qkv_bias qkv_bias", by_hand, "", ""},
      {"untie_embeddings_and_output_weights", off, "model.tied_embeddings", ""},
      {"share_embeddings_and_output_weights tie_word_embeddings", on, "model.tied_embeddings", ""},
      {"position_embedding_type", word, "model.position",
       "learned_absolute=learned rope=rotary yarn=rotary alibi=alibi none=none"},
      {"use_rotary_position_embeddings", fixed, "model.position", "rotary"},
      {"no_position_embedding add_position_embedding", nothing, "", ""},
      {"rotary_* rope_* use_rope_scaling no_rope_fusion apply_rope_fusion yarn_* seq_len_interpolation_factor", nothing,
       "", ""},
      {"hidden_dropout attention_dropout ffn_dropout embedding_dropout", by_hand, "", ""},
      {"apply_layernorm_1p layernorm_epsilon norm_epsilon layernorm_zero_centered_gamma do_layer_norm_weight_decay",
       nothing, "", ""},
      {"apply_residual_connection_post_layernorm", refused, "", "residuals that leave from behind the norm"},
      {"transformer_block_type", word, "-", "pre_ln"},
      {"apply_query_key_layer_scaling normalize_attention_scores scale_positional_embedding headscale "
       "attention_softmax_in_fp32 attention_type",
       nothing, "", ""},
      {"qk_layernorm", by_hand, "", ""},
      {"qk_l2_norm", fixed, "model.query_key_norm", "unweighted"},
      {"window_size window_attn_skip_freq", by_hand, "", ""},
      {"fp32_residual_connection", refused, "", "residuals in FP32"},
      {"multi_latent_attention q_lora_rank kv_lora_rank qk_head_dim qk_pos_emb_head_dim v_head_dim", by_hand, "", ""},
      {"mscale mscale_all_dim beta_fast beta_slow", nothing, "", ""},
      {"experimental_attention_variant dsa_*", refused, "", "attention to tokens that an indexer chooses"},
      {"mtp_num_layers", whole, "", ""},
      {"hybrid_override_pattern hybrid_layer_pattern linear_attention_freq is_hybrid_model", refused, "",
       "layers that are no transformer's"},
      {"heterogeneous_layers_config_path", refused, "", "layers of different sizes"},
      // Experts.
      {"num_experts moe_router_topk", whole, "", ""},
      {"num_moe_experts", whole, "model.experts", ""},
      {"moe_ffn_hidden_size", by_hand, "", ""},
      {"moe_layer_freq", by_hand, "", ""},
      {"moe_shared_expert_intermediate_size", by_hand, "", ""},
      {"moe_expert_capacity_factor", by_hand, "", ""},
      {"moe_shared_expert_overlap overlap_moe_expert_parallel_comm delay_wgrad_compute", by_hand, "", ""},
      {"moe_grouped_gemm moe_token_dispatcher_type moe_permute_fusion "
       "moe_router_fusion moe_flex_dispatcher_backend",
       timing, "", "how a library runs experts"},
      {"moe_enable_deepep", fixed, "strategy.expert_dispatch", "once-a-node"},
      {"moe_router_num_groups", whole, "model.expert_groups", ""},
      {"moe_router_group_topk", whole, "model.groups_per_token", ""},
      {"moe_shared_expert_gate", on, "model.shared_gate", ""},
      {"moe_extended_tp", refused, "", "experts that are cut over tensor and expert ranks together"},
      {"moe_latent_size", refused, "", "experts over a compressed hidden state"},
      {"moe_layer_recompute", refused, "", "recomputation of experts alone; --recompute-modules moe says it"},
      {"moe_*", nothing, "", ""},
      // Batch and phase.
      {"micro_batch_size global_batch_size", by_hand, "", ""},
      {"seq_length encoder_seq_length", whole, "workload.sequence", ""},
      {"rampup_batch_size step_batch_size_schedule decrease_batch_size_if_needed", timing, "",
       "batches that grow; an iteration of the full batch is simulated"},
      {"bf16", fixed, "workload.datatype", "bf16"},
      {"fp16", fixed, "workload.datatype", "fp16"},
      {"precision", word, "workload.datatype",
       "bf16=bf16 bf16-mixed=bf16 bf16_mixed=bf16 16=fp16 16-mixed=fp16 fp16=fp16 16_mixed=fp16 32=fp32 fp32=fp32"},
      {"fp8", fixed, "workload.product_datatype", "fp8"},
      {"fp8_format", word, "workload.product_datatype", "hybrid=fp8 e4m3=fp8"},
      {"fp8_recipe", word, "workload.operand_scaling", "delayed=delayed tensorwise=current blockwise=blocks mxfp8=mx"},
      {"fp8_param_gather fp8_param", fixed, "workload.weight_datatype", "fp8"},
      {"no_fp8_wgrad", refused, "", "weight gradients in BF16 beside products in FP8"},
      {"fp8_e4m3 fp8_hybrid fp8_margin fp8_interval fp8_amax_history_len fp8_amax_compute_algo fp8_wgrad reduce_amax",
       nothing, "", ""},
      {"fp4 fp4_format fp4_param_gather", refused, "", "training in FP4"},
      // What the stack does.
      {"use_distributed_optimizer", on, "strategy.distributed_optimizer", ""},
      {"ddp_impl", word, "strategy.overlap_gradient_reduction", "torch=true local=false"},
      {"overlap_grad_reduce overlap_grad_sync", on, "strategy.overlap_gradient_reduction", ""},
      {"overlap_param_gather overlap_param_sync", on, "strategy.overlap_parameter_gathering", ""},
      {"no_gradient_accumulation_fusion", off, "strategy.fused_gradient_accumulation", ""},
      {"gradient_accumulation_fusion", on, "strategy.fused_gradient_accumulation", ""},
      {"no_async_tensor_model_parallel_allreduce", off, "strategy.overlap_tensor_communication", ""},
      {"tp_comm_overlap ub_tp_comm_overlap", on, "strategy.user_buffers", ""},
      {"accumulate_allreduce_grads_in_fp32 grad_reduce_in_fp32 grad_reduce_in_bf16 grad_sync_dtype megatron_amp_o2",
       by_hand, "", ""},
      {"exp_avg_dtype", word, "strategy.moment_precision", "fp32=fp32 bf16=fp16 fp16=fp16 fp8=fp8"},
      {"exp_avg_sq_dtype main_grads_dtype main_params_dtype use_precision_aware_optimizer", nothing, "", ""},
      {"recompute_granularity activations_checkpoint_granularity recompute_activations recompute_method "
       "activations_checkpoint_method recompute_num_layers activations_checkpoint_num_layers checkpoint_activations "
       "recompute_modules",
       by_hand, "", ""},
      {"num_micro_batches_with_partial_activation_checkpoints activations_checkpoint_layers_per_pipeline", refused, "",
       "recomputation of some layers or micro-batches"},
      {"distribute_saved_activations", refused, "", "kept inputs that are cut over the tensor-parallel ranks"},
      {"use_flash_attn use_flash_attention", on, "workload.flash_attention", ""},
      {"attention_backend", word, "workload.flash_attention",
       "auto=true flash=true fused=true unfused=false local=false"},
      {"cross_entropy_loss_fusion", fixed, "workload.loss", "compiled"},
      {"optimizer optimizer_type name", word, "strategy.optimizer",
       "adam adamw fused_adam megatron_fused_adam distributed_fused_adam=fused mcore_distributed_optim "
       "mcore_distributed_optimizer gpt"},
      {"overlap_p2p* batch_p2p_comm", timing, "", "exchanges of stages beside computing"},
      {"no_scatter_gather_tensors_in_pipeline", fixed, "strategy.exchange", "whole"},
      {"defer_embedding_wgrad_compute wgrad_deferral_limit bucket_cap_mb ddp_bucket_size ddp_num_buckets "
       "grad_allreduce_chunk_size_mb ddp_pad_buckets_for_high_nccl_busbw overlap_param_gather_with_optimizer_step "
       "enable_cuda_graph external_cuda_graph cuda_graph* fsdp_double_buffer fsdp_manual_registration "
       "suggested_communication_unit_size use_flashinfer_fused_rope use_transformer_engine_op_fuser use_nccl_ub "
       "nccl_ub "
       "nccl_communicator_config_path use_sharp sharp cpu_offloading_num_layers align_param_gather "
       "gc_interval manual_gc manual_gc_interval manual_gc_eval",
       timing, "", "when a library does it"},
      {"tp_comm_overlap_* ub_tp_comm_overlap_cfg disable_tp_comm_* tp_comm_bootstrap_backend tp_comm_atomic_* "
       "tp_comm_bulk_* tp_comm_split_*",
       nothing, "", ""},
      {"use_torch_fsdp2", fixed, "strategy.data_sharding", "parameters"},
      {"torch_fsdp2_no_reshard_after_forward", off, "strategy.reshard_after_forward", ""},
      {"use_megatron_fsdp use_custom_fsdp", nothing, "", ""},  // data_parallel_sharding_strategy says what is cut
      {"data_parallel_sharding_strategy", word, "strategy.data_sharding",
       "no_shard optim optim_grads=gradients optim_grads_params=parameters"},
      {"num_distributed_optimizer_instances", by_hand, "", ""},
      {"cpu_offloading", on, "", ""},
      {"optimizer_cpu_offload", refused, "", "optimizer state on a host"},
      {"transformer_impl", word, "-", "transformer_engine local inference_optimized"},
      // The launcher.
      {"nnodes num_nodes nproc_per_node devices nodes ntasks_per_node gpus_per_node ntasks n np", by_hand, "", ""},
      // What changes neither work, memory nor messages: names, data, learning, logs, checkpoints.
      {"lr lr_* min_lr decoupled_* weight_decay* start_weight_decay end_weight_decay adam_* beta* clip_grad "
       "gradient_clip_val init_method* use_scaled_init_method train_iters train_samples train_steps max_steps "
       "max_epochs max_time seed data_parallel_random_init sgd_momentum loss_scale initial_loss_scale "
       "min_loss_scale loss_scale_window hysteresis native_amp_* calculate_per_token_loss skip_train warmup* sched* "
       "constant_steps no_weight_decay* grad_div_ar_fusion gradient_reduce_div_fusion ddp_average_in_collective "
       "average_in_collective",
       nothing, "", ""},
      {"data* train_data_path valid_data_path test_data_path split splits_string mock_data num_workers pin_memory "
       "eod_mask_loss "
       "reset_position_ids reset_attention_mask no_create_attention_mask_in_dataloader no_mmap_bin_files "
       "num_dataset_builder_threads tiktoken* tokenizer* s3_cache_path object_storage* per_split_data_args_path fim_* "
       "use_fast trust_remote_code legacy_tokenizer",
       nothing, "", ""},
      {"save* load* no_load* no_save* exit_* eval_* log_* logging_level tensorboard* wandb* timing_log* profile* "
       "nsys* use_pytorch_profiler ckpt* async_save use_dist_ckpt dist_ckpt* finetune pretrained_checkpoint "
       "auto_detect_ckpt_format non_persistent* no_ckpt* use_checkpoint_args override_opt_param_scheduler "
       "use_checkpoint_opt_param_scheduler one_logger* no_one_logger enable_one_logger app_tag* disable_straggler* "
       "straggler* adlr* logger enable_checkpointing resume* val_check_interval limit_* every_n* check_for* "
       "no_check_for_nan_in_loss_and_grad no_barrier_with_level_1_timing barrier_with_l1_time record_memory_history "
       "memory_snapshot_path empty_unused_memory_level result_rejected_tracker_filename rerun_mode error_injection* "
       "experiment_name test_type launcher mode use_persistent_ckpt_worker no_use_tokenizer_model_from_checkpoint_args "
       "verify_integrity async_strategy model_provider disable_gloo_process_groups check_weight_hash* export_* use_te "
       "use_mup mup_* inprocess_* enable_ft_package calc_ft_timeouts",
       nothing, "", ""},
      {"master_addr master_port rdzv* node_rank local_rank rank max_restarts standalone tee redirects log_dir job_name "
       "partition account time output error mpi container* accelerator use_distributed_sampler accumulate_grad_batches "
       "distributed_backend distributed_timeout_minutes local_addr run_path module exclusive mem dependency",
       nothing, "", ""},
      {"use_mcore_models use_legacy_models mcore_gpt transformer_engine spec lazy_mpu_init use_cpu_initialization "
       "perform_initialization no_initialization use_emha persist_layer_norm no_persist_layer_norm "
       "gradient_as_bucket_view "
       "contiguous_* no_bias_gelu_fusion no_bias_swiglu_fusion bias_gelu_fusion bias_swiglu_fusion "
       "bias_dropout_add_fusion bias_dropout_fusion no_bias_dropout_fusion "
       "no_masked_softmax_fusion masked_softmax_fusion deterministic_mode sync_batch_comm pre_process post_process "
       "fp16_lm_cross_entropy apex_transformer_log_level use_ring_exchange_p2p enable_experimental "
       "use_te_rng_tracker te_rng_tracker cross_entropy_fusion_impl use_unified_memory config_logger_dir yaml_cfg "
       "variable_seq_lengths "
       "parallel_output _target_ _partial_ _call_ autocast_dtype params_dtype pipeline_dtype",
       nothing, "", ""},
  });
  return rows;
}

}  // namespace tessera::experiment::importing
