"""What the text of the paper states, once; bars that it draws without a number are not here."""

IDEAL_SPEEDUPS = {("t-nlg", "fc1", 16): 1.50, ("mega-gpt2", "op", 16): 1.15}  # section 6.1.1
GEOMEAN = {"ideal-gemm-rs-overlap": 1.35, "t3": 1.20, "t3-mca": 1.30}  # 6.1
MAXIMUM = {"ideal-gemm-rs-overlap": 1.50, "t3": 1.39, "t3-mca": 1.47}
MCA_OVER_T3_MAXIMUM, MCA_OVER_IDEAL = 1.29, 0.95  # 6.1.3
LARGE_GEOMEAN, LARGE_MAXIMUM = 1.29, 1.35  # 6.4
TRAFFIC_GEOMEAN, TRAFFIC_GREATEST = 0.78, 0.64  # of sequential, 6.2
# Sequential over T3-MCA, by TP degree (6.2). "14%", "7%" and "10%" fewer writes are read as factors: N/(N-1) is 1.14 and 1.07.
FEWER = {"GEMM reads": {8: 1.2, 16: 2.0, "both": 1.56}, "RS reads": {8: 2.5, 16: 2.2, "both": 2.4},
         "GEMM and RS writes": {8: 1.14, 16: 1.07, "both": 1.10}}
COMMUNICATION_AT_MOST = {"Mega-GPT-2": 0.34, "T-NLG": 0.43}  # of training and prompt, 2.4: which phase and TP degree it does not say
OVERLAP_SPEEDUP = {"ideal": 1.67, "72-8": 1.18, "64-16": 1.49}  # geomeans, 3.2.1
AR_SLOWDOWN = {"72-8": 1.41, "64-16": 1.07}
GEMM_SLOWDOWN = {"64-16": 1.21}
GAINS_OF_MORE_CUS = {"op": "less", "fc2": "more"}  # 7.5
ITERATION_GEOMEAN = {("training", "t3"): 1.07, ("training", "t3-mca"): 1.10, ("prompt", "t3"): 1.09, ("prompt", "t3-mca"): 1.12}  # 6.3
ITERATION_MAXIMUM = {("training", "t3"): 1.09, ("training", "t3-mca"): 1.12, ("prompt", "t3"): 1.12, ("prompt", "t3-mca"): 1.15}
LARGE_ITERATION = {("training", "t3-mca"): 1.12, ("prompt", "t3-mca"): 1.14}  # at most, 6.4
