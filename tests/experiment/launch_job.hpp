// A launch line of Megatron-LM for the tests of what options become.
#pragma once

#include "importing.hpp"

namespace tessera::test {

using Lines = std::vector<std::string>;

/// A job of 16 GPUs: tensor 2, pipeline 2, so 4 replicas.
inline const std::string small_job = R"(#!/bin/bash
NODES=${NODES:-2}
MODEL=(
  --num-layers 24
  --hidden-size 2048
  --num-attention-heads 16
  --group-query-attention --num-query-groups 4
  --ffn-hidden-size 8192 --swiglu
  --normalization RMSNorm --position-embedding-type rope
  --disable-bias-linear --untie-embeddings-and-output-weights
  --hidden-dropout 0.0 --attention-dropout 0.0
  --seq-length 4096 --max-position-embeddings 4096 --vocab-size 32000
)
torchrun --nproc_per_node 8 --nnodes $NODES pretrain_gpt.py ${MODEL[@]} \
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 4 \
  --sequence-parallel --micro-batch-size 1 --global-batch-size 64 --bf16 --use-distributed-optimizer \
  --overlap-grad-reduce --recompute-activations --lr 1e-4 --data-path $DATA
)";

/// The same with further options.
inline std::string with_options(const std::string& options) {
  std::string text = small_job;
  text.insert(text.rfind(" --lr"), " " + options);
  return text;
}

inline Lines errors_with(const std::string& options, experiment::ImportRequest request = on("h100-cluster")) {
  return imported({{"job.sh", with_options(options)}}, std::move(request)).errors;
}

}  // namespace tessera::test
