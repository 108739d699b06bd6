"""The parts of the study of Korthikanti et al. A part is a function that takes a Simulator and returns an Outcome; adding one is one
function in one file of this folder and one entry here."""

from . import iterations, layers, sensitivity

PARTS = {
    "iterations": iterations.study,
    "layers": layers.study,
    "replicas": iterations.replicas,
    "sensitivity": sensitivity.constants,
    "variants": sensitivity.variants,
}
