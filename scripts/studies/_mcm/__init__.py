"""The parts of the study of Xie et al. A part is a function that takes a Simulator and returns an Outcome; adding one is one function in
one file of this folder and one entry here."""

from . import ablation, beyond, calibration, cost, elsewhere, heuristics, learning, small_chips, tight_memory, tuning

PARTS = {
    "tuning": tuning.study,
    "heuristics": heuristics.study,
    "calibration": calibration.study,
    "cost": cost.study,
    "beyond": beyond.study,
}
LEARNING_PARTS = {
    "test-graphs": learning.on_test_graphs,
    "bert": learning.on_bert,
    "small-chips": small_chips.study,
    "tight-memory": tight_memory.study,
    "cost": cost.learning,
    "ablation": ablation.study,
    "beyond": elsewhere.study,
}
WHEN_NAMED = {"long": learning.for_long, "smoke": learning.smoke}
