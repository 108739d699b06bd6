// Applications, executions and systems of Calculon as experiments.
#include <catch2/catch.hpp>

#include "importing.hpp"

namespace tessera::experiment {
namespace {

using test::imported;
using test::Named;
using test::on;
using CalculonLines = std::vector<std::string>;

/// Dimensions of models/megatron-22B.json.
const std::string application =
    R"({"hidden": 6144, "feedforward": 24576, "seq_size": 2048, "attn_heads": 64, "attn_size": 96, "num_blocks": 48})";

/// Two nodes of eight.
const std::string system_of_two_tiers = R"({
  "matrix": {"float16": {"tflops": 312, "gflops_efficiency": [[128, 0.95], [0, 0.1]]}},
  "vector": {"float16": {"tflops": 78, "gflops_efficiency": [[0, 0.5]]}},
  "mem1": {"GiB": 80, "GBps": 2048, "MB_efficiency": [[100, 0.90], [0, 0.3]]},
  "mem2": {"GiB": 512, "GBps": 32, "MB_efficiency": [[0, 0.3]]},
  "processing_mode": "no_overlap",
  "networks": [
    {"bandwidth": 300, "efficiency": 0.65, "size": 8, "latency": 0.00001, "must_be_filled": true, "processor_usage": 0.15,
     "ops": {"p2p": [1.0, null], "reduce_scatter": [1.5, -1], "all_gather": [1.5, -1], "all_reduce": [2.0, -1]}},
    {"bandwidth": 25, "efficiency": 0.9, "size": 65536, "latency": 0.00002, "must_be_filled": false, "processor_usage": 0.02,
     "ops": {"p2p": [1.0, null], "reduce_scatter": [1.0, 0], "all_gather": [1.0, 0], "all_reduce": [1.0, 0]}}
  ]
})";

std::string execution(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
  "num_procs": 16, "tensor_par": 4, "pipeline_par": 2, "data_par": 2,
  "tensor_par_net": 0, "pipeline_par_net": 1, "data_par_net": 0,
  "batch_size": 16, "microbatch_size": 2, "datatype": "float16", "fused_activation": true,
  "attention_type": "multihead", "activation_recompute": "full", "pipeline_interleaving": 3,
  "optimizer_sharding": true, "tensor_par_comm_type": "rs_ag", "tensor_par_overlap": "none",
  "seq_par_ag_redo": false, "data_par_overlap": true, "weight_offload": false,
  "activations_offload": false, "optimizer_offload": false, "training": true
})";
  if (!from.empty()) text.replace(text.find(from), from.size(), to);
  return text;
}

Named three(const std::string& exe = execution()) {
  return {{"exe.json", exe}, {"system.json", system_of_two_tiers}, {"22B.json", application}};
}

CalculonLines errors_of(const std::string& from, const std::string& to) {
  return imported(three(execution(from, to)), {}).errors;
}

}  // namespace

TEST_CASE("three files of Calculon become an experiment on a machine of their figures") {
  const auto made = imported(three(), {});
  CHECK(made.errors == CalculonLines{});
  REQUIRE(made.built != nullptr);
  const std::vector<std::pair<std::string, std::string>> expected{{"machine.topology.nodes", "2"},
                                                                  {"machine.topology.gpus_per_node", "8"},
                                                                  {"machine.topology.nvlink_bandwidth", "\"300 GB/s\""},
                                                                  {"machine.topology.nvlink_efficiency", "0.65"},
                                                                  {"machine.topology.nic_bandwidth", "\"25 GB/s\""},
                                                                  {"machine.device.memory_capacity", "\"80 GiB\""},
                                                                  {"cost.model", "\"roofline\""},
                                                                  {"cost.matrix_efficiency", "0.95"},
                                                                  {"cost.memory_efficiency", "0.9"},
                                                                  {"model.layers", "48"},
                                                                  {"model.hidden", "6144"},
                                                                  {"model.ffn_hidden", "24576"},
                                                                  {"model.heads", "64"},
                                                                  {"model.head_dim", "96"},
                                                                  {"workload.sequence", "2048"},
                                                                  {"workload.global_batch", "16"},
                                                                  {"strategy.tensor", "4"},
                                                                  {"strategy.pipeline", "2"},
                                                                  {"strategy.data", "2"},
                                                                  {"strategy.micro_batch", "2"},
                                                                  {"strategy.interleave", "3"},
                                                                  {"strategy.sequence_parallel", "true"},
                                                                  {"strategy.recomputation", "\"full\""},
                                                                  {"strategy.distributed_optimizer", "true"},
                                                                  {"strategy.overlap_gradient_reduction", "true"},
                                                                  {"strategy.overlap_tensor_communication", "false"}};
  for (const auto& [key, value] : expected) {
    INFO(key);
    CHECK(made.value(key) == value);
  }
  // 10 us is 10,000,000 ps.
  CHECK(made.built->machine.devices() == 16);
  // Blocks of num_parameters(): 48 (2 h f + 4 h^2 + 3 h + f + h + h + 4 h) and (51200 + 2048) h, with f = 4 h; and the
  // last norm, 2 h.
  const std::int64_t h = 6144, f = 4 * h;
  const std::int64_t block = 2 * h * f + 4 * h * h + (h + f) + (3 * h + h) + 4 * h;
  CHECK(workload::parameter_count(*made.built->model) == 48 * block + (51200 + 2048) * h + 2 * h);
}

TEST_CASE("on a stock machine the execution says how much of it") {
  const auto made = imported(three(), on("a100-80g-cluster"));
  CHECK(made.errors == CalculonLines{});
  CHECK(made.value("machine.name") == "\"a100-80g-cluster\"");
  CHECK(made.value("machine.topology.nodes") == "2");
  CHECK(made.value("cost.model") == "\"tile\"");
}

TEST_CASE("what of an execution cannot be said is refused at its key") {
  CHECK(errors_of("\"weight_offload\": false", "\"weight_offload\": true") ==
        CalculonLines{"exe.json:7:55: \"weight_offload\": off-loading to a second memory is not modelled; --without "
                      "weight_offload leaves it out"});
  CHECK(errors_of("\"full\"", "\"attn_only\"")
            .front()
            .find("\"seq_par_ag_redo\": false: to keep gathered inputs for the backward pass is not modelled") !=
        std::string::npos);
  CHECK(errors_of("\"num_procs\": 16", "\"num_procs\": 32").front() ==
        "exe.json:2:3: \"num_procs\": 32, but tensor_par 4 x pipeline_par 2 x data_par 2 = 16");
  CHECK(errors_of("\"rs_ag\", \"tensor_par_overlap\": \"none\"", "\"ar\", \"tensor_par_overlap\": \"ring\"")
            .front()
            .find("\"tensor_par_overlap\": all-reduces that are cut up beside their product") != std::string::npos);
  CHECK(errors_of("\"tensor_par\": 4", "\"tensor_par\": 0").front().find("\"tensor_par\"") != std::string::npos);
  CHECK(errors_of("\"training\"", "\"trainign\"").size() == 2);  // unknown, and missing
}

TEST_CASE("tiers that groups are not on here are named") {
  const auto made = imported(three(execution("\"data_par_net\": 0", "\"data_par_net\": 1")), {});
  REQUIRE(made.warnings.size() == 1);
  CHECK(made.warnings[0].find("exe.json:3:47: \"data_par_net\": 1; tensor ranks are neighbours here, then replicas, "
                              "then stages, which puts this group on network 0") == 0);
}

TEST_CASE("collectives of Calculon's tensor parallelism") {
  const auto whole = imported(three(execution("\"rs_ag\"", "\"ar\"")), {});
  CHECK(whole.value("strategy.sequence_parallel") == "false");
  CHECK(whole.value("strategy.exchange") == "\"whole\"");
  CHECK(imported(three(execution("\"rs_ag\"", "\"p2p_rs_ag\"")), {}).value("strategy.exchange") == "\"parts\"");
  CHECK(imported(three(execution("\"tensor_par_overlap\": \"none\"", "\"tensor_par_overlap\": \"pipe\"")), {})
            .value("strategy.user_buffers") == "true");
}

TEST_CASE("all three files have to be there, once each") {
  CHECK(imported({{"exe.json", execution()}, {"22B.json", application}}, {}).errors ==
        CalculonLines{"22B.json:1:1: a Calculon system is missing: give all three files"});
  CHECK(imported({{"a.json", application}, {"b.json", application}, {"exe.json", execution()}}, {}).errors.front() ==
        "b.json:1:1: this is a Calculon application, and another one is given as well");
  CHECK(imported({{"a.json", application}, {"b.json", "{}"}}, {}).errors.front() ==
        "b.json:1:1: neither an application nor an execution nor a system of Calculon's");
}

}  // namespace tessera::experiment
