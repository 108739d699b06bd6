#!/bin/bash
# Options and values of examples/gpt3/train_gpt3_175b_distributed.sh of NVIDIA/Megatron-LM (core_v0.19).
GPUS_PER_NODE=8
NUM_NODES=1 # change for more
DATA_PATH=$1
LAUNCHER=(--nproc_per_node $GPUS_PER_NODE --nnodes $NUM_NODES --master_addr localhost --master_port 6000)
MODEL=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto # flash, fused, unfused, local
)
TRAINING=(
    --micro-batch-size 1 --global-batch-size 1536 --fp16
    --step-batch-size-schedule "0:16 2.4B:320 12B:1536"
    --train-iters 500000 --weight-decay 0.1 --adam-beta1 0.9 --clip-grad 1.0 --lr 6.0e-5 --lr-decay-style cosine
)
CUT=(--tensor-model-parallel-size 8 --pipeline-model-parallel-size 16)
DATA=(--data-path $DATA_PATH --vocab-file $2 --merge-file $3 --split 949,50,1)
torchrun ${LAUNCHER[@]} pretrain_gpt.py ${MODEL[@]} ${TRAINING[@]} ${CUT[@]} ${DATA[@]} --log-interval 100 --eval-iters 10
