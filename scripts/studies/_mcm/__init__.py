"""The parts of the study of Xie et al. A part is a function that takes a Simulator and returns an Outcome; adding one is one function in
one file of this folder and one entry here."""

from . import beyond, calibration, cost, heuristics

PARTS = {
    "heuristics": heuristics.study,
    "calibration": calibration.study,
    "cost": cost.study,
    "beyond": beyond.study,
}
