// An application, an execution and a system of Calculon (calculon/llm/llm.py of calculon-ai/calculon), in any order.
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "../foreign_files.hpp"
#include "calculon_system.hpp"
#include "machine.hpp"
#include "tessera/workload/json_table.hpp"

namespace tessera::experiment::importing {
namespace {

struct CalculonApplication {
  std::int64_t hidden = 0, feedforward = 0, sequence = 0, heads = 0, head_size = 0, blocks = 0;
};

struct CalculonExecution {
  std::int64_t processors = 0, tensor = 0, pipeline = 0, data = 0, tensor_net = 0, pipeline_net = 0, data_net = 0;
  std::int64_t batch = 0, micro_batch = 0, interleave = 1;
  std::string datatype, attention, recompute, tensor_communication, tensor_overlap;
  bool fused_activation = false, shards_optimizer = false, gathers_again = false, data_overlap = false, training = true;
  bool weight_offload = false, activations_offload = false, optimizer_offload = false;
};

const config::Schema<CalculonApplication>& calculon_application_schema() {
  static const config::Schema<CalculonApplication> schema = [] {
    using T = CalculonApplication;
    config::Schema<T> s("application", "A Calculon application.");
    const auto count = [&](const char* key, std::int64_t T::*member) { s.integer(key, member, key).at_least("1"); };
    count("hidden", &T::hidden);
    count("feedforward", &T::feedforward);
    count("seq_size", &T::sequence);
    count("attn_heads", &T::heads);
    count("attn_size", &T::head_size);
    count("num_blocks", &T::blocks);
    return s;
  }();
  return schema;
}

const config::Schema<CalculonExecution>& calculon_execution_schema() {
  static const config::Schema<CalculonExecution> schema = [] {
    using T = CalculonExecution;
    config::Schema<T> s("execution", "A Calculon execution.");
    const auto count = [&](const char* key, std::int64_t T::*member) { s.integer(key, member, key).at_least("1"); };
    count("num_procs", &T::processors);
    count("tensor_par", &T::tensor);
    count("pipeline_par", &T::pipeline);
    count("data_par", &T::data);
    count("batch_size", &T::batch);
    count("microbatch_size", &T::micro_batch);
    count("pipeline_interleaving", &T::interleave);
    s.integer("tensor_par_net", &T::tensor_net, "tier").at_least("0");
    s.integer("pipeline_par_net", &T::pipeline_net, "tier").at_least("0");
    s.integer("data_par_net", &T::data_net, "tier").at_least("0");
    s.choice("datatype", &T::datatype, {"float8", "float16", "bfloat16", "float32"}, "of all");
    s.choice("attention_type", &T::attention, {"multihead", "multiquery"}, "keys and values");
    s.choice("activation_recompute", &T::recompute, {"full", "attn_only", "none"}, "what is computed again");
    s.choice("tensor_par_comm_type", &T::tensor_communication, {"ar", "p2p_rs_ag", "rs_ag"}, "collectives");
    s.choice("tensor_par_overlap", &T::tensor_overlap, {"none", "ring", "pipe"}, "beside products");
    s.boolean("fused_activation", &T::fused_activation, "one kernel");
    s.boolean("optimizer_sharding", &T::shards_optimizer, "over the replicas");
    s.boolean("seq_par_ag_redo", &T::gathers_again, "gathered inputs are not kept");
    s.boolean("data_par_overlap", &T::data_overlap, "gradients beside the backward pass");
    s.boolean("weight_offload", &T::weight_offload, "to mem2");
    s.boolean("activations_offload", &T::activations_offload, "to mem2");
    s.boolean("optimizer_offload", &T::optimizer_offload, "to mem2");
    s.boolean("training", &T::training, "or inference");
    return s;
  }();
  return schema;
}

/// The three files, each null where it is missing.
struct CalculonTables {
  std::shared_ptr<config::Table> application, execution, system;
};

constexpr std::array calculon_kinds{"a Calculon application", "a Calculon execution", "a Calculon system"};

bool recognises_calculon(const Sources& files) {
  for (const SourceFile& file : files) {
    const std::string kind = kind_of_foreign_file(file.text, file.path);
    for (const char* known : calculon_kinds)
      if (kind == known) return true;
  }
  return false;
}

CalculonTables read_tables(const Sources& files, config::Diagnostics& diagnostics) {
  CalculonTables tables;
  for (const SourceFile& file : files) {
    const std::string kind = kind_of_foreign_file(file.text, file.path);
    auto* table = kind == calculon_kinds[0]   ? &tables.application
                  : kind == calculon_kinds[1] ? &tables.execution
                  : kind == calculon_kinds[2] ? &tables.system
                                              : nullptr;
    if (table == nullptr)
      diagnostics.error({file.path, 1, 1}, "neither an application nor an execution nor a system of Calculon's");
    else if (*table != nullptr)
      diagnostics.error({file.path, 1, 1}, fmt::format("this is {}, and another one is given as well", kind));
    else
      *table = workload::parse_json(file.text, file.path, {"an object", true}, diagnostics);
  }
  const std::array parts{tables.application.get(), tables.execution.get(), tables.system.get()};
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i] == nullptr && diagnostics.ok())
      diagnostics.error({files.front().path, 1, 1},
                        fmt::format("{} is missing: give all three files", calculon_kinds[i]));
  return tables;
}

/// What is refused stands where its key stands.
class ExecutionReader {
 public:
  ExecutionReader(const ImportRequest& request, const config::Table& table, const CalculonExecution& execution,
                  Draft& draft, config::Diagnostics& diagnostics)
      : request_(request), table_(table), exe_(execution), draft_(draft), diagnostics_(diagnostics) {}

  void read() {
    put(draft_, "strategy.name", std::string("megatron"));
    put(draft_, "strategy.tensor", exe_.tensor, "tensor_par");
    put(draft_, "strategy.pipeline", exe_.pipeline, "pipeline_par");
    put(draft_, "strategy.data", exe_.data, "data_par");
    put(draft_, "strategy.micro_batch", exe_.micro_batch, "microbatch_size");
    if (exe_.interleave > 1) put(draft_, "strategy.interleave", exe_.interleave, "pipeline_interleaving");
    put(draft_, "workload.phase", std::string(exe_.training ? "training" : "prompt"), "training");
    put(draft_, "workload.global_batch", exe_.batch, "batch_size");
    put(draft_, "workload.datatype", datatype(), "datatype");
    read_tensor();
    if (exe_.training) read_training();
    for (const char* key : {"weight_offload", "activations_offload", "optimizer_offload"})
      if (std::get<bool>(table_.find(key)->content())) refuse(key, "off-loading to a second memory");
    if (exe_.tensor * exe_.pipeline * exe_.data != exe_.processors)
      diagnostics_.error(
          at("num_procs"),
          fmt::format("\"num_procs\": {}, but tensor_par {} x pipeline_par {} x data_par {} = {}", exe_.processors,
                      exe_.tensor, exe_.pipeline, exe_.data, exe_.tensor * exe_.pipeline * exe_.data));
  }

  /// Our order is tensor ranks, replicas, stages; where that puts a group on another tier it is said.
  void check_tiers(const CalculonNetworks& networks) {
    if (networks.sizes.size() < 2) return;
    const std::int64_t node = networks.sizes[0];
    const auto tier = [&](std::int64_t members) { return members <= node ? 0 : 1; };
    const auto compare = [&](const char* key, std::int64_t theirs, std::int64_t ours) {
      if (theirs == ours) return;
      diagnostics_.warn(at(key),
                        fmt::format("\"{}\": {}; tensor ranks are neighbours here, then replicas, then stages, "
                                    "which puts this group on network {}",
                                    key, theirs, ours));
    };
    if (exe_.tensor > 1) compare("tensor_par_net", exe_.tensor_net, tier(exe_.tensor));
    if (exe_.data > 1) compare("data_par_net", exe_.data_net, tier(exe_.tensor * exe_.data));
    if (exe_.pipeline > 1) compare("pipeline_par_net", exe_.pipeline_net, tier(exe_.processors));
  }

 private:
  [[nodiscard]] config::Location at(const char* key) const { return table_.find(key)->key_where(); }

  void refuse(const char* key, const char* what) {
    for (const std::string& name : request_.without)
      if (name == key)
        return draft_.remarks.push_back(
            fmt::format("Left out on request, although it changes the computation: {}.", key));
    diagnostics_.error(at(key), fmt::format("\"{}\": {} is not modelled; --without {} leaves it out", key, what, key));
  }

  [[nodiscard]] std::string datatype() const {
    return exe_.datatype == "float16"    ? "fp16"
           : exe_.datatype == "bfloat16" ? "bf16"
           : exe_.datatype == "float8"   ? "fp8"
                                         : "fp32";
  }

  void read_tensor() {
    if (exe_.tensor == 1) return;
    const bool cuts_sequence = exe_.tensor_communication == "rs_ag";
    put(draft_, "strategy.sequence_parallel", cuts_sequence, "tensor_par_comm_type " + exe_.tensor_communication);
    if (!cuts_sequence)
      put(draft_, "strategy.exchange", std::string(exe_.tensor_communication == "ar" ? "whole" : "parts"),
          "tensor_par_comm_type " + exe_.tensor_communication);
    // Calculon hides none of these collectives unless they are cut up beside their own product.
    put(draft_, "strategy.overlap_tensor_communication", false, "tensor_par_overlap " + exe_.tensor_overlap);
    if (exe_.tensor_overlap == "none") return;
    if (!cuts_sequence) return refuse("tensor_par_overlap", "all-reduces that are cut up beside their product");
    put(draft_, "strategy.user_buffers", true, "tensor_par_overlap " + exe_.tensor_overlap);
  }

  void read_training() {
    put(draft_, "strategy.recomputation", std::string(exe_.recompute == "attn_only" ? "selective" : exe_.recompute),
        "activation_recompute");
    put(draft_, "strategy.distributed_optimizer", exe_.shards_optimizer, "optimizer_sharding");
    put(draft_, "strategy.overlap_gradient_reduction", exe_.data_overlap, "data_par_overlap");
    const bool keeps_gathered =
        exe_.tensor > 1 && exe_.tensor_communication == "rs_ag" && !exe_.gathers_again && exe_.recompute != "full";
    if (keeps_gathered) refuse("seq_par_ag_redo", "false: to keep gathered inputs for the backward pass");
  }

  const ImportRequest& request_;
  const config::Table& table_;
  const CalculonExecution& exe_;
  Draft& draft_;
  config::Diagnostics& diagnostics_;
};

void put_application(const CalculonApplication& app, const CalculonExecution& exe, const std::string& file,
                     Draft& draft) {
  put(draft, "model.name", std::filesystem::path(file).stem().string());
  put(draft, "model.layers", app.blocks, "num_blocks");
  put(draft, "model.hidden", app.hidden, "hidden");
  put(draft, "model.heads", app.heads, "attn_heads");
  put(draft, "model.head_dim", app.head_size, "attn_size");
  put(draft, "model.ffn_hidden", app.feedforward, "feedforward");
  if (exe.attention == "multiquery") put(draft, "model.kv_heads", std::int64_t{1}, "attention_type multiquery");
  put(draft, "model.vocabulary", std::int64_t{51200}, "calculon/llm/llm.py, num_parameters");
  put(draft, "model.max_positions", app.sequence, "there as well");
  put(draft, "workload.sequence", app.sequence, "seq_size");
  draft.remarks.emplace_back(
      "Calculon computes the blocks alone: embedding, logits and loss, which are simulated here, take no time there.");
}

void read_calculon(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics) {
  const CalculonTables tables = read_tables(files, diagnostics);
  if (!diagnostics.ok()) return;
  const CalculonApplication app = calculon_application_schema().read(*tables.application, diagnostics);
  const CalculonExecution exe = calculon_execution_schema().read(*tables.execution, diagnostics);
  if (!diagnostics.ok()) return;
  draft.title = std::filesystem::path(tables.execution->where().file).stem().string();
  ExecutionReader reader(request, *tables.execution, exe, draft, diagnostics);
  if (request.machine.empty()) {
    reader.check_tiers(put_system(*tables.system, exe.datatype, exe.processors, draft, diagnostics));
  } else {
    put(draft, "recipe", std::string("megatron-lm-2022"), "what Calculon is compared with, --recipe names another one");
    const ChosenMachine machine = choose_machine(request, files, {0, 0, exe.processors}, draft, diagnostics);
    if (!machine.name.empty() && machine.devices != exe.processors)
      diagnostics.error(tables.execution->find("num_procs")->key_where(),
                        fmt::format("\"num_procs\": {}, but machine {} has {} devices", exe.processors, machine.name,
                                    machine.devices));
  }
  put_application(app, exe, tables.application->where().file, draft);
  reader.read();
}

}  // namespace

ImportFormat calculon() {
  return {"calculon", "an application, an execution and a system of Calculon (three JSON files)", recognises_calculon,
          read_calculon};
}

}  // namespace tessera::experiment::importing
