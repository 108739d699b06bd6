#include "launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "launch_layers.hpp"
#include "launch_recomputation.hpp"

namespace tessera::experiment::importing {
namespace {

/// Tokens of tokenizers that have only one vocabulary, by a word in the options that name them.
struct KnownVocabulary {
  std::string_view word;
  std::int64_t tokens;
  std::string_view source;
};
constexpr std::array vocabularies{
    KnownVocabulary{"gpt2", 50257, "Radford et al. 2019, section 2.3"},
    KnownVocabulary{"llama-3", 128256, "Llama 3's config.json"},
    KnownVocabulary{"llama3", 128256, "Llama 3's config.json"},
    KnownVocabulary{"llama2", 32000, "Touvron et al. 2023b, section 2.2"},
    KnownVocabulary{"llama-2", 32000, "Touvron et al. 2023b, section 2.2"},
    KnownVocabulary{"mixtral", 32000, "Mixtral's config.json"},
};

class LaunchReader {
 public:
  LaunchReader(const ImportRequest& request, const Sources& files, const Flags& flags, const LaunchDefaults& defaults,
               Draft& draft, config::Diagnostics& diagnostics)
      : request_(request),
        files_(files),
        flags_(flags),
        defaults_(defaults),
        draft_(draft),
        diagnostics_(diagnostics) {}

  void read(SourceSize size) {
    put(draft_, "recipe", defaults_.recipe, "the nearest stack, --recipe names another one");
    put(draft_, "strategy.name", std::string("megatron"));
    put_stack();
    apply_flags(flags_, draft_, diagnostics_);
    read_model();
    read_layer_kinds(flags_, draft_, diagnostics_);
    read_gradients();
    read_recomputation(flags_, draft_, diagnostics_);
    read_cut(size);
  }

 private:
  /// Where an option is missing, for a message: the first line that has any.
  [[nodiscard]] config::Location where() const {
    return flags_.empty() ? config::Location{files_.front().path, 1, 1} : flags_.front().where;
  }
  [[nodiscard]] bool is_set(std::string_view key) const {
    return std::ranges::any_of(request_.settings, [&](const Setting& one) { return one.key == key; });
  }
  void need(std::string_view key, std::string_view option) {
    const bool is_there = importing::find(flags_, make_flag(option, {}, {}).name) != nullptr;
    if (find(draft_, key) != nullptr || is_set(key) || is_there) return;
    diagnostics_.error(where(), fmt::format("{} is missing: give it here, or --set {}=N", option, key));
  }
  [[nodiscard]] const Flag* first_of(std::initializer_list<std::string_view> names) const {
    return importing::first_of(flags_, names);
  }
  [[nodiscard]] static const DraftKey* find(const Draft& draft, std::string_view key) {
    return importing::find(draft, key);
  }

  /// What is off unless an option switches it on, whatever the recipe says.
  void put_stack() {
    for (const char* key :
         {"distributed_optimizer", "overlap_gradient_reduction", "overlap_parameter_gathering", "user_buffers"})
      put(draft_, fmt::format("strategy.{}", key), false, "no option switches it on");
    put(draft_, "workload.flash_attention", defaults_.flash_attention);
  }

  void read_model();
  void read_vocabulary();
  void read_gradients();
  void read_cut(SourceSize size);
  void read_interleave(std::int64_t pipeline);
  void read_ends(std::int64_t pipeline);
  void read_batch(std::int64_t replicas);
  void read_shard_groups(std::int64_t copies);
  std::int64_t replicas_of(const ChosenMachine& machine, std::int64_t ranks);

  const ImportRequest& request_;
  const Sources& files_;
  const Flags& flags_;
  const LaunchDefaults& defaults_;
  Draft& draft_;
  config::Diagnostics& diagnostics_;
};

void LaunchReader::read_model() {
  if (is_set("model")) return;
  put(draft_, "model.name", draft_.title);
  need("model.layers", "--num-layers");
  need("model.hidden", "--hidden-size");
  need("model.heads", "--num-attention-heads");
  read_vocabulary();
  // Heads of latent attention have no groups, whatever is said of them.
  if (const auto groups = count_in(flags_, "num_query_groups", diagnostics_);
      groups && !is_on(flags_, "multi_latent_attention") &&
      (importing::find(flags_, "group_query_attention") == nullptr || is_on(flags_, "group_query_attention")))
    put(draft_, "model.kv_heads", *groups, importing::find(flags_, "num_query_groups")->given);
  const Flag* activation = first_of({"activation", "activation_func"});
  const std::string function = activation == nullptr ? "" : lower(activation->value);
  if (is_on(flags_, "swiglu") || is_on(flags_, "gated_linear_unit") || function.find("glu") != std::string::npos)
    put(draft_, "model.gated_mlp", true,
        activation != nullptr ? activation->given + " " + activation->value : "--swiglu");
  const DraftKey* bias = find(draft_, "model.bias");
  const bool has_bias = bias == nullptr || std::get<bool>(bias->value);
  put(draft_, "model.qkv_bias", has_bias || is_on(flags_, "add_qkv_bias") || is_on(flags_, "qkv_bias"));
  const auto drops = [&](std::string_view name) {  // 0.1 unless an option says otherwise
    const Flag* flag = importing::find(flags_, name);
    return flag == nullptr || std::strtod(flag->value.c_str(), nullptr) > 0;
  };
  put(draft_, "model.dropout", drops("hidden_dropout") || drops("attention_dropout"));
}

/// By its own option, or by the tokenizer.
void LaunchReader::read_vocabulary() {
  for (const char* name : {"vocab_size", "padded_vocab_size"}) {
    if (const auto tokens = count_in(flags_, name, diagnostics_))
      return put(draft_, "model.vocabulary", *tokens, importing::find(flags_, name)->given);
  }
  for (const char* name : {"tokenizer_type", "tokenizer_model", "tokenizer_name", "type", "vocab_file"}) {
    const Flag* flag = importing::find(flags_, name);
    const std::string value = flag == nullptr ? "" : lower(flag->value + " " + flag->unset);
    for (const KnownVocabulary& known : vocabularies)
      if (value.find(known.word) != std::string::npos)
        return put(draft_, "model.vocabulary", known.tokens,
                   fmt::format("{} {}: {}", flag->given, flag->value, known.source));
  }
  if (importing::find(flags_, "merge_file") != nullptr)
    return put(draft_, "model.vocabulary", std::int64_t{50257}, "a vocabulary with merges, taken for GPT-2's");
  need("model.vocabulary", "--vocab-size");
}

/// megatron/training/arguments.py: BF16 adds gradients up and reduces them in FP32 unless --grad-reduce-in-bf16.
void LaunchReader::read_gradients() {
  const DraftKey* datatype = find(draft_, "workload.datatype");
  if (datatype == nullptr) put(draft_, "workload.datatype", std::string("fp32"), "neither --bf16 nor --fp16");
  const bool is_bf16 = datatype != nullptr && std::get<std::string>(datatype->value) == "bf16";
  const Flag* sync = importing::find(flags_, "grad_sync_dtype");
  const bool in_16 = is_on(flags_, "grad_reduce_in_bf16") || (sync != nullptr && lower(sync->value) != "fp32") ||
                     (sync == nullptr && is_bf16 && defaults_.bf16_gradients);
  const bool in_32 = is_on(flags_, "accumulate_allreduce_grads_in_fp32") || is_on(flags_, "grad_reduce_in_fp32") ||
                     (is_bf16 && !in_16);
  put(draft_, "strategy.gradient_precision", std::string(in_32 ? "fp32" : "fp16"), in_32 ? "" : "in 16 bits");
}

/// Megatron-LM counts layers of a chunk, or chunks; NeMo chunks.
void LaunchReader::read_interleave(std::int64_t pipeline) {
  const std::int64_t layers = whole_in(draft_, "model.layers", 0);
  if (pipeline == 1) return;
  if (layers == 0 && importing::find(flags_, "num_layers_per_virtual_pipeline_stage") != nullptr && is_set("model"))
    return diagnostics_.error(where(),
                              "layers of a chunk, and a model by name: --set strategy.interleave=N says how many "
                              "chunks these are, and --without num_layers_per_virtual_pipeline_stage");
  if (const auto each = count_in(flags_, "num_layers_per_virtual_pipeline_stage", diagnostics_)) {
    const Flag* flag = importing::find(flags_, "num_layers_per_virtual_pipeline_stage");
    if (layers % (pipeline * *each) != 0)
      return diagnostics_.error(flag->where, fmt::format("{} {}: pipeline {} x {} does not divide the {} layers",
                                                         flag->given, *each, pipeline, *each, layers));
    return put(draft_, "strategy.interleave", layers / (pipeline * *each), fmt::format("{} {}", flag->given, *each));
  }
  for (const char* name : {"virtual_pipeline_model_parallel_size", "num_virtual_stages_per_pipeline_rank"})
    if (const auto chunks = count_in(flags_, name, diagnostics_))
      return put(draft_, "strategy.interleave", *chunks, importing::find(flags_, name)->given);
}

/// First and last stages with fewer layers than the others.
void LaunchReader::read_ends(std::int64_t pipeline) {
  const Flag* first = first_of({"decoder_first_pipeline_num_layers", "num_layers_in_first_pipeline_stage"});
  const Flag* last = first_of({"decoder_last_pipeline_num_layers", "num_layers_in_last_pipeline_stage"});
  if (first == nullptr && last == nullptr) return;
  // 0: as many as the others.
  const auto layers_of = [&](const Flag* flag) {
    return flag == nullptr ? 0 : count_in(flags_, flag->name, diagnostics_).value_or(0);
  };
  const std::int64_t head = layers_of(first), tail = layers_of(last);
  const std::int64_t between = pipeline - (head > 0 ? 1 : 0) - (tail > 0 ? 1 : 0);
  const std::int64_t rest = whole_in(draft_, "model.layers", 0) - head - tail;
  const config::Location& at = (first != nullptr ? first : last)->where;
  if (head == 0 && tail == 0) return;
  if (find(draft_, "strategy.interleave") != nullptr || between < 1 || rest < 1 || rest % between != 0)
    return diagnostics_.error(at,
                              "first and last stages of their own size: the others have to share the other layers "
                              "evenly, in one chunk each; --set strategy.stage_layers=[...] says it by hand");
  config::Array stages(static_cast<std::size_t>(pipeline), config::Value{rest / between, {}});
  if (head > 0) stages.front() = {head, {}};
  if (tail > 0) stages.back() = {tail, {}};
  put(draft_, "strategy.stage_layers", stages, "first and last stage by option");
}

std::int64_t LaunchReader::replicas_of(const ChosenMachine& machine, std::int64_t ranks) {
  if (machine.devices % ranks == 0) return machine.devices / ranks;
  std::string remedy = fmt::format("choose a machine of a multiple of {} devices", ranks);
  if (machine.devices_per_node > 0) {
    const std::int64_t nodes = (ranks + machine.devices_per_node - 1) / machine.devices_per_node;
    remedy = fmt::format("--nodes {} has room for one replica", nodes);
  }
  diagnostics_.error(where(), fmt::format("{} devices are no multiple of the {} of a replica (tensor x pipeline); {}",
                                          machine.devices, ranks, remedy));
  return 0;
}

void LaunchReader::read_cut(SourceSize size) {
  const std::int64_t tensor = whole_in(draft_, "strategy.tensor", 1),
                     pipeline = whole_in(draft_, "strategy.pipeline", 1);
  // Where context parallelism is modelled, its ranks take part in the cut.
  const std::int64_t ranks = tensor * pipeline * whole_in(draft_, "strategy.context_parallel", 1);
  read_interleave(pipeline);
  read_ends(pipeline);
  if (tensor == 1)
    std::erase_if(draft_.keys, [](const DraftKey& key) { return key.key == "strategy.sequence_parallel"; });
  const ChosenMachine machine = choose_machine(request_, files_, size, draft_, diagnostics_);
  if (machine.name.empty()) return;
  const std::int64_t replicas = replicas_of(machine, ranks);
  if (replicas == 0) return;
  put(draft_, "strategy.data", replicas, fmt::format("{} devices", machine.devices));
  read_shard_groups(replicas * whole_in(draft_, "strategy.context_parallel", 1));
  read_batch(replicas);
  if (replicas > 1) return;
  for (const char* key : {"distributed_optimizer", "overlap_gradient_reduction", "overlap_parameter_gathering"})
    put(draft_, fmt::format("strategy.{}", key), false, "there is one replica");
}

/// Groups of replicas, context ranks among them, of which each has all of the optimizer state.
void LaunchReader::read_shard_groups(std::int64_t copies) {
  const auto groups = count_in(flags_, "num_distributed_optimizer_instances", diagnostics_);
  if (!groups || *groups == 1) return;
  const Flag* flag = importing::find(flags_, "num_distributed_optimizer_instances");
  if (copies % *groups != 0 || copies == *groups)
    return diagnostics_.error(flag->where, fmt::format("{} {}: {} replicas, with their context ranks, are not so many "
                                                       "groups of several; --nodes N changes that",
                                                       flag->given, *groups, copies));
  put(draft_, "strategy.shard_ranks", copies / *groups, fmt::format("{} {}", flag->given, *groups));
  // Megatron-FSDP adds micro-batches up before it sums over its instances.
  if (const Flag* cut = importing::find(flags_, "data_parallel_sharding_strategy");
      cut != nullptr && cut->value.starts_with("optim_grads"))
    put(draft_, "strategy.group_reduction", std::string("last-micro-batch"), cut->given);
}

void LaunchReader::read_batch(std::int64_t replicas) {
  const std::int64_t each = count_in(flags_, "micro_batch_size", diagnostics_).value_or(1);
  put(draft_, "strategy.micro_batch", each, "--micro-batch-size");
  const auto batch = count_in(flags_, "global_batch_size", diagnostics_);
  put(draft_, "workload.global_batch", batch.value_or(each * replicas),
      batch ? "--global-batch-size" : "one micro-batch for each replica, as when --global-batch-size is absent");
  if (!batch || is_set("workload.global_batch") || *batch % (each * replicas) == 0) return;
  const Flag* flag = importing::find(flags_, "global_batch_size");
  diagnostics_.error(flag->where,
                     fmt::format("{} {} is no multiple of micro-batches of {} for {} replicas: --nodes N or "
                                 "--set workload.global_batch=N changes that",
                                 flag->given, *batch, each, replicas));
}

}  // namespace

void read_launch(const ImportRequest& request, const Sources& files, const Flags& flags, SourceSize size,
                 const LaunchDefaults& defaults, Draft& draft, config::Diagnostics& diagnostics) {
  const Flags kept = without_some(flags, request.without, draft);
  LaunchReader(request, files, kept, defaults, draft, diagnostics).read(size);
}

}  // namespace tessera::experiment::importing
