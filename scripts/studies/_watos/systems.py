"""Section VI-E with figure 23: the search on meshes around a switch, and on a wafer whose DRAM is stacked on its dies."""

from _parts import Outcome, share

from . import systems_stacked, systems_switch

STUDIES = (systems_switch.study, systems_stacked.study)
SENTENCES = {  # of the paper, all of which it says without exception, and which counts of the summary have it
    "meshes round a switch: ours before MG-wafer, or equal": ("switch_over_a", "switch_over_b"),
    "before a Megatron that cuts across meshes, or equal": ("switch_over_tp8",),
    "before streamed weights, or equal": ("switch_over_streaming",),
    "3D stacking: before MG-wafer and streamed weights, or equal": ("stacked_over_a", "stacked_over_b", "stacked_over_streaming"),
}


def study(simulator):
    whole = Outcome()
    for one in STUDIES:
        whole.add(one(simulator))
    whole.claims = sentences(whole.summary, SENTENCES)
    return whole


def sentences(summary, keys_by_sentence):
    """Claims: how many of all comparisons, of the counts that the summary has, come out as the paper says."""
    lines = []
    for sentence, keys in keys_by_sentence.items():
        of, all_of = (sum(counts) for counts in zip(*[map(int, summary[key].split("/")) for key in keys]))
        lines.append((sentence, "all", share(of, all_of), of == all_of))
    return lines
