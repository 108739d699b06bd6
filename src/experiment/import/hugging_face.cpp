// A folder of Hugging Face's, or its config.json: the model as a file, and a job for it that is left to the search.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "../foreign_files.hpp"
#include "machine.hpp"
#include "tessera/workload/json_table.hpp"
#include "tessera/workload/model.hpp"

namespace tessera::experiment::importing {
namespace {

namespace fs = std::filesystem;

bool recognises_config(const Sources& files) {
  return files.size() == 1 &&
         kind_of_foreign_file(files[0].text, files[0].path).starts_with("a Hugging Face configuration");
}

/// As the experiment names it: relative to the folder that the experiment is written to.
std::string path_for(const std::string& file, const std::string& output) {
  const fs::path folder = output.empty() ? fs::current_path() : fs::absolute(output).parent_path();
  return fs::relative(fs::absolute(file), folder).generic_string();
}

/// "bf16" of "torch_dtype": "bfloat16"; BF16 where it says nothing.
std::string datatype_of(const config::Table& config) {
  for (const char* key : {"torch_dtype", "dtype"}) {
    const config::Value* value = config.find(key);
    if (value == nullptr || value->string() == nullptr) continue;
    if (*value->string() == "float16") return "fp16";
    if (*value->string() == "float32") return "fp32";
  }
  return "bf16";
}

/// The phase that the request asks for; training where it asks for none.
std::string phase_of(const ImportRequest& request) {
  std::string phase = "training";
  for (const Setting& one : request.settings)
    if (one.key == "workload.phase") phase = one.value;
  return phase;
}

/// A power of two of nodes on which what a parameter takes fits into 60 % of the memory: the rest is for activations.
std::int64_t nodes_for(std::int64_t parameters, bool trains, const ChosenMachine& machine) {
  // Weights, gradients in FP32, an FP32 copy of the weights and two moments (docs/megatron.md#memory); or weights.
  const double bytes = static_cast<double>(parameters) * (trains ? 18 : 2);
  const double of_node = 0.6 * static_cast<double>(machine.memory) * static_cast<double>(machine.devices_per_node);
  std::int64_t nodes = 1;
  while (static_cast<double>(nodes) * of_node < bytes && nodes < 4096) nodes *= 2;
  return nodes;
}

void put_job(const ImportRequest& request, const workload::Model& model, const std::string& datatype,
             std::int64_t devices, Draft& draft) {
  constexpr std::int64_t usual = 4096;
  const std::int64_t longest = model.max_positions > 0 ? model.max_positions : usual;
  put(draft, "workload.sequence", std::min(longest, usual), fmt::format("the model has {} positions", longest));
  put(draft, "workload.global_batch", 4 * devices, "four sequences a device: an assumption");
  put(draft, "workload.datatype", datatype, "torch_dtype, or an assumption");
  put(draft, "workload.flash_attention", true);
  put(draft, "strategy.name", std::string("megatron"));
  const std::string open = "any";
  put(draft, "strategy.tensor", open, "searched, as the other open keys are");
  put(draft, "strategy.pipeline", open);
  put(draft, "strategy.micro_batch", std::int64_t{1});
  if (workload::has_experts(model)) put(draft, "strategy.expert_parallel", open);
  const std::string phase = phase_of(request);
  if (phase.find("generation") != std::string::npos) return;  // a token at a time has no sequence to cut
  put(draft, "strategy.sequence_parallel", open);
  if (phase != "training") return;
  put(draft, "strategy.recomputation", open);
  put(draft, "strategy.distributed_optimizer", devices > 1);
}

void read_config(const ImportRequest& request, const Sources& files, Draft& draft, config::Diagnostics& diagnostics) {
  const SourceFile& file = files.front();
  if (files.size() != 1) return diagnostics.error({files[1].path, 1, 1}, "one configuration at a time");
  const auto table = workload::parse_json(file.text, file.path, {"a configuration", true}, diagnostics);
  if (table == nullptr) return;
  // What the family does not read, ignore or refuse is said now, at its place, and not when the experiment is run.
  const auto fields = workload::read_hugging_face_table(file.text, file.path, diagnostics);
  if (!diagnostics.ok() || fields == nullptr) return;
  const workload::Model model = workload::read_model(*fields, diagnostics);
  if (!diagnostics.ok()) return;
  const fs::path path = fs::absolute(file.path);
  draft.title = path.filename() == "config.json" ? path.parent_path().filename().string() : path.stem().string();
  put(draft, "recipe", std::string("megatron-core-0.8"), "an assumption, --recipe names another one");
  // A folder of a model says nothing of a machine, whatever words are in it.
  if (request.machine.empty())
    return static_cast<void>(choose_machine(request, {{file.path, ""}}, {}, draft, diagnostics));
  const bool trains = phase_of(request) == "training";
  ChosenMachine machine = choose_machine(request, files, {1, 0, 0}, draft, diagnostics);
  if (machine.name.empty()) return;
  if (machine.devices_per_node > 0 && request.nodes == 0) {
    const std::int64_t nodes = nodes_for(workload::parameter_count(model), trains, machine);
    put(draft, "machine.topology.nodes", nodes, "room for the state of training, and as much again");
    machine.devices = nodes * machine.devices_per_node;
  }
  put(draft, "model.hugging_face", path_for(file.path, request.output));
  put_job(request, model, datatype_of(*table), machine.devices, draft);
}

}  // namespace

ImportFormat hugging_face() {
  return {"hugging-face",
          "a folder of Hugging Face's, or its config.json: a job for the model, its cut left to the search",
          recognises_config, read_config};
}

}  // namespace tessera::experiment::importing
