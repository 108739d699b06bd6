"""The parts of the study of PrimePar. A part is a function that takes a Bench and returns an Outcome; adding one is one function in
one file of this folder and one entry here."""

from . import fused, mlp, optimum, prediction, sensitivity, three_d, throughput, tiles, variants, wafer

PARTS = {
    "tiles": tiles.study,
    "throughput": throughput.study,
    "mlp": mlp.study,
    "prediction": prediction.study,
    "optimum": optimum.study,
    "algorithms": variants.algorithms,
    "batches": variants.batches,
    "sensitivity": sensitivity.study,
    "3d": three_d.study,
    "wafer": wafer.study,
    "fused": fused.study,
}
