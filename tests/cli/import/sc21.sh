#!/bin/bash
# Flags and values of examples/academic_paper_scripts/sc21 of NVIDIA/Megatron-LM, run_table_1.sh, CONFIG.sh and SRUN.sh in one.
MODEL_SIZE=${MODEL_SIZE:-1.7B}
if [ ${MODEL_SIZE} == "1.7B" ]; then
  TP=1; PP=1; MBS=16; GBS=512; NLS=24; HS=2304; NAH=24; DDP=torch; NNODES=4
  EXTRA="--activations-checkpoint-method uniform "
elif [ ${MODEL_SIZE} == "1T" ]; then
  TP=8; PP=64; MBS=1; GBS=3072; NLS=128; HS=25600; NAH=160; DDP=local; NNODES=384
  EXTRA="--activations-checkpoint-method uniform "
else
  echo "Invalid configuration"; exit 1
fi
export MEGATRON_PARAMS=" ${EXTRA} \
  --tensor-model-parallel-size ${TP} --pipeline-model-parallel-size ${PP} \
  --micro-batch-size ${MBS} --global-batch-size ${GBS} \
  --num-layers ${NLS} --hidden-size ${HS} --num-attention-heads ${NAH} --DDP-impl ${DDP} \
  --data-path ${MEGATRON_DATA} --vocab-file ${BPE_VOCAB_FILE} --merge-file ${BPE_MERGE_FILE} \
  --seq-length 2048 --max-position-embeddings 2048 --train-iters 500 --lr 0.0001 --clip-grad 1.0 --fp16 --loss-scale 8192 "
srun --nodes=${NNODES} --ntasks-per-node=8 python -u pretrain_gpt.py ${MEGATRON_PARAMS}
