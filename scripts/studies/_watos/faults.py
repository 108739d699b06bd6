"""Figure 22: links and dies that are slow or dead, a plan that knows of them, and the sound wafer's plan laid over them."""

import pathlib
import tempfile
from dataclasses import dataclass

from _parts import Outcome, geomean, seconds, two
from _runs import table
from tessera_analysis import watos_figures
from tessera_analysis.bars import Row

from .cells import bound_of, one_plan
from .jobs import SEARCHED
from .planned import settings_of

RATE = 0.2
SEVERITIES = {"75 %": 3, "50 %": 10, "25 %": 3, "dead": 3}  # the share that is left, and how many draws
STATED = "50 %"  # the severity whose gains are beside the paper's
MOST_DRAWS = 40  # tried until there are enough that leave the wafer whole
PAPER = {"links": 18, "devices": 35}  # % of throughput
HOW, NAMES = {"links": "bandwidth", "devices": "speed"}, {"links": "links", "devices": "dies"}
FEW = one_plan("memory")
BATCH = (("workload.global_batch", 16),)  # thinned: where rings share links no law holds, and a micro-batch costs all of its packets


@dataclass(frozen=True)
class Draw:
    """One wafer: what its searched plan takes, the sound plan laid over its live dies, and the sound plan where it stands, in s."""

    searched: float
    laid: float
    stands: float | None  # none where dies or links are dead
    bound: float

    @property
    def gain(self):
        """% of throughput over the sound plan laid over."""
        return 100 * (self.laid / self.searched - 1)

    @property
    def gain_over_places(self):
        """% of throughput over the sound plan on its own dies."""
        return 100 * (self.stands / self.searched - 1) if self.stands else None


def study(simulator):
    with tempfile.TemporaryDirectory() as folder:
        wafers = Wafers(simulator, pathlib.Path(folder))
        rows = {("none", "sound"): ([wafers.draw(())], 0)}
        for among in HOW:
            for severity, draws in SEVERITIES.items():
                rows[among, severity] = drawn(wafers.draw, among, severity, draws)
                print(f"{NAMES[among]} {severity}: {len(rows[among, severity][0])} draws", flush=True)
    picture = watos_figures.figure_22, (bars(rows), {(among_title(among), STATED): value for among, value in PAPER.items()})
    return Outcome(tables={"figure 22": times(rows), "figure 22 gains": gains(rows)}, pictures={"figure-22": picture}, summary=summary(rows), claims=claims(rows))


class Wafers:
    """Runs of the sound wafer's plan and of searches on wafers with faults."""

    def __init__(self, simulator, folder):
        self.simulator, self.folder, self.sound = simulator, folder, folder / "sound.toml"
        simulator.plan(SEARCHED, self.sound, (*BATCH, *FEW), ranks=1)

    def draw(self, settings):
        """None where no plan fits."""
        is_dead = any("dead = true" in str(value) for _, value in settings)
        own = (*BATCH, *settings)
        jobs = [(SEARCHED, (*own, *FEW)), (SEARCHED, (*own, *FEW, ("strategy.healthy_plan", str(self.sound))))]
        if not is_dead:
            jobs.append((SEARCHED, (*own, *settings_of(self.sound))))
        searched, laid, *stands = self.simulator.searched(jobs)
        if not searched or not laid:
            return None
        return Draw(seconds(searched), seconds(laid), seconds(stands[0]) if stands else None, bound_of(searched))


def fault(among, severity, draw):
    how = "dead = true" if severity == "dead" else f'{HOW[among]} = "{severity}"'
    return ("machine.fault", f'[{{among = "{among}", rate = {RATE}, draw = {draw}, {how}}}]'),


def drawn(draw_of, among, severity, draws):
    """So many draws that leave the wafer whole, and how many of those before them did not."""
    found, cut_off = [], 0
    for draw in range(1, MOST_DRAWS + 1):
        try:
            one = draw_of(fault(among, severity, draw))
        except SystemExit as refused:
            if "no route" not in str(refused):
                raise
            one = None
        if one is None:
            cut_off += 1
        else:
            found.append(one)
        if len(found) == draws:
            break
    return found, cut_off


def times(rows):
    lines = []
    for (among, severity), (own, cut_off) in rows.items():
        mean = lambda name: two(geomean([getattr(one, name) for one in own])) if own and getattr(own[0], name) else ""
        reached = two(geomean([one.bound / one.searched for one in own])) if own else ""
        lines.append((NAMES.get(among, among), severity, len(own), cut_off,
                      mean("bound"), mean("searched"), reached, mean("laid"), mean("stands")))
    return table(("20 % of", "left", "draws", "cut off", "bound s", "searched s", "of its bound", "sound plan laid over s", "sound plan where it stands s"), lines)


def gains(rows):
    lines = []
    for (among, severity), (own, _) in rows.items():
        if own:
            over_laid, over_places = ([getattr(one, name) for one in own] for name in ("gain", "gain_over_places"))
            lines.append((NAMES.get(among, among), severity, *spread(over_laid), *(spread(over_places) if over_places[0] is not None else ("", "", "")),
                          f"{PAPER[among]:+d}" if severity == STATED else ""))
    return table(("20 % of", "left", "over it laid over, least %", "mean %", "most %", "over where it stands, least %", "mean %", "most %", "paper %"), lines)


def among_title(among):
    return f"speed left of 20 % of the {NAMES[among]}"


def bars(rows):
    """Rows of a chart, of what is slow: where dies or links are dead no plan stays where it stands."""
    drawn = []
    for among in HOW:
        for severity in SEVERITIES:
            own, _ = rows[among, severity]
            if own[0].stands is None:
                continue
            drawn.append(Row(among_title(among), severity, {"over the sound plan laid over": mean_of([one.gain for one in own]),
                                                            "over it where it stands": mean_of([one.gain_over_places for one in own])}))
    return drawn


def mean_of(percents):
    """Of throughputs, as a factor."""
    return 100 * (geomean([1 + one / 100 for one in percents]) - 1)


def spread(percents):
    return tuple(f"{value:+.1f}" for value in (min(percents), mean_of(percents), max(percents)))


def summary(rows):
    stated = {f"gain_{NAMES[among]}_pct": f"{mean_of([one.gain for one in rows[among, STATED][0]]):.1f}" for among in HOW}
    return stated | {"losses": sum(one.gain < 0 for own, _ in rows.values() for one in own)}


def claims(rows):
    """The paper's figures beside ours, and beside the stricter baseline's."""
    found = []
    for among in HOW:
        own = rows[among, STATED][0]
        gain, over_places = mean_of([one.gain for one in own]), mean_of([one.gain_over_places for one in own])
        found.append((f"gain of a plan that knows, 20 % of {NAMES[among]} at {STATED}", f"{PAPER[among]:+d} %", f"{gain:+.1f} %; {over_places:+.1f} % over the plan where it stands", gain >= 0.95 * PAPER[among]))
    return found
