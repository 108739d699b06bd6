"""Plans whose time is far from the first-order bound, and where it goes."""

from _parts import seconds, two
from _runs import table

from .cells import bound_of, of_bound, plan_of

NEAR = (0.9, 1.0)  # of the bound
WHERE = ("bubble", "tensor_communication", "expert_communication", "data_communication", "pipeline_communication", "waiting", "recomputation")


def is_far(result):
    return not NEAR[0] <= of_bound(result) <= NEAR[1]


def own_bound(result):
    """s: the bound of the cut that was taken; that of the whole table may be of another one."""
    taken = plan_of(result)
    own = [row for row in result["bounds"] if taken == row["candidate"] or taken.startswith(row["candidate"] + ", ")]
    return max(own, key=lambda row: len(row["candidate"]))["iteration_ps"] * 1e-12 if own else bound_of(result)


def explained(results):
    """A table of results by their names, of those that are far: what the bound of their own cut is over the least one, what they take over
    that, and % of the iteration by where it goes. In words where there are none."""
    lines = [(*name, plan_of(result), two(of_bound(result)), two(own_bound(result) / bound_of(result)), two(seconds(result) / own_bound(result)),
              *[f"{100 * result[f'mean_{what}_ps'] / result['iteration_time_ps']:.1f}" for what in WHERE])
             for name, result in results.items() if result and is_far(result)]
    if not lines:
        return "None."
    return table(("model", "sequences", "batch", "of", "plan", "reaches", "bound of its cut / least", "its time / that", *[f"{what.replace('_communication', '')} %" for what in WHERE]), lines)
