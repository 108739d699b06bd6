"""The parts of the study of T3. A part is a function that takes a Bench and returns an Outcome; adding one is one function in one
file of this folder and one entry here."""

from . import convergence, cu_sharing, data_movement, discussion, end_to_end, future, large_models, reduce_scatter, sensitivity, sublayers, sweeps, traffic

PARTS = {
    "sublayers": sublayers.study,
    "large-models": large_models.study,
    "data-movement": data_movement.study,
    "end-to-end": end_to_end.study,
    "cu-sharing": cu_sharing.study,
    "future": future.study,
    "reduce-scatter": reduce_scatter.study,
    "traffic": traffic.study,
    "convergence": convergence.study,
    "discussion": discussion.study,
    "sensitivity": sensitivity.study,
    "sweeps": sweeps.study,
}
