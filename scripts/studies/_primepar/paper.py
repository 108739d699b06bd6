"""What the slides state, once."""

THROUGHPUT = (1.11, 1.68)  # training speedup
MEMORY = (0.68, 0.93)  # peak memory, of the baseline's
COLLECTIVES = (0.199, 0.622)  # latency of collective communication in the MLP, of the baseline's
MLP_SPEEDUP, MLP_COLLECTIVES = 1.51, 0.33  # first-order arithmetic for OPT-175B at batch 8 on 8 GPUs (not on the slides)
THREE_D = {"opt-175b": 1.46, "llama2-70b": 1.27, "bloom-176b": 1.40}  # on 32 GPUs
