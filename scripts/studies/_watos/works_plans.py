"""The plan of each work that figure 20 of the paper compares, for one cell: which of our searches, and which of its rows."""

import re
import tomllib
from dataclasses import dataclass, replace

from _parts import seconds
from _runs import ROOT

from . import access, tiles
from .analytic import model_of
from .cells import MODELS, WAYS, bound_of, fastest, one_plan, plan_of
from .generation import CONFIGS, chosen
from .jobs import SEARCHED

HERE = "mesh"
TOPOLOGIES = {  # wafer and settings
    HERE: ("wafer-config3", ()),
    "torus": ("wafer-config3", (("machine.topology.kind", "torus"), ("machine.topology.latency", "200 ns"))),  # folded: a link spans two dies
    "mesh-switch": ("mesh-switch-config3", ()),
}
WHOLE_THERE = "WATOS where PD goes"
SETS = {again: (("strategy.recomputation", again),) for again in ("none", "full")}
ONE_DIMENSION, BEST = (("strategy.tensor_rows", 1),), WAYS["MG-wafer (b)"]
FEW, PLACED = one_plan("scheduler"), one_plan("memory")
CUT = re.compile(r"TP (\d+), PP (\d+)(?:, DP (\d+))?(, HxK \d+x\d+)?(?:, (\d+)x(\d+))?")


@dataclass(frozen=True)
class Run:
    seconds: float
    bound: float  # s: what no plan of its machine beats to first order
    plan: str
    shares: tuple = ()  # % of the iteration of a device: run again, tensor and data communication, bubbles


def shares_of(result):
    return tuple(100 * result[f"mean_{what}_ps"] / result["iteration_time_ps"] for what in ("recomputation", "tensor_communication", "data_communication", "bubble"))


@dataclass(frozen=True)
class Cut:
    tensor: int
    pipeline: int
    data: int
    both: bool  # in two dimensions
    tile: tuple  # columns, rows; None: a snake

    def settings(self):
        return (("strategy.tensor", self.tensor), ("strategy.pipeline", self.pipeline), ("strategy.data", self.data))

    def size(self):
        return self.tensor, self.pipeline, self.data


def cut_of(text):
    """Of a row's words, as the search writes them."""
    tensor, pipeline, data, both, wide, high = CUT.match(text).groups()
    return Cut(int(tensor), int(pipeline), int(data or 1), both is not None, (int(wide), int(high)) if wide else None)


def at(cell, place, *settings):
    """A job on one of the topologies or configurations."""
    wafer, own = TOPOLOGIES[place] if place in TOPOLOGIES else (CONFIGS[place][0], ())
    return replace(cell, wafer=wafer).job(*own, *settings)


def predictions(found):
    """(cut, what runs again, predicted s) of all cuts that fit so."""
    return [(cut_of(row["candidate"]), again, row["predicted_ps"] * 1e-12) for again in SETS if found["all", again]
            for row in found["all", again]["tried"].to_dict("records") if row["predicted_ps"]]


def uniform(found, place):
    """The fastest with the same on all stages, and what runs again there."""
    fits = {again: found["uniform", place, again] for again in SETS if found["uniform", place, again]}
    again = min(fits, key=lambda one: seconds(fits[one]), default=None)
    return fits.get(again), again


def least_access(cell, plans, parameters, by_time):
    """(cut, what runs again) that moves the least between dies and DRAM, or the least of that x time."""
    model = model_of(MODELS[cell.model])
    moved = lambda cut, again: access.accesses(model, cell, parameters, cut.tensor, cut.data, again == "full")
    own = [(moved(cut, again) * (time if by_time else 1), time, cut, again) for cut, again, time in plans if not cut.both]
    return min(own, key=lambda one: one[:2])[2:] if own else None


def blind(found, plans):
    """(cut, what runs again): the one that would be the fastest if dies held all, or the next one that can run."""
    fits = {}
    for cut, again, _ in plans:
        if not cut.both:
            fits.setdefault(cut.size(), again)  # nothing again comes first
    rows = [row for row in found["room"]["tried"].to_dict("records") if row["predicted_ps"]]
    for row in sorted(rows, key=lambda row: row["predicted_ps"]):
        cut = cut_of(row["candidate"])
        if not cut.both and cut.size() in fits:
            return cut, fits[cut.size()]
    return None


def two_dimensions(cell, plans):
    """The job of the cut in two dimensions that is predicted to be the fastest, and its words."""
    own = [(time, cut, again) for cut, again, time in plans if cut.both and cut.tile]
    if not own:
        return None, ""
    _, cut, again = min(own, key=lambda one: one[0])
    grid = tomllib.loads((ROOT / "inputs" / "machines" / f"{cell.wafer}.toml").read_text())["machine"]["topology"]
    places = tiles.serpentine(tiles.packed(grid["columns"], grid["rows"], cut.tile), cut.tile, cut.pipeline * cut.data)
    own_dies = [tiles.dies_of(place, grid["columns"]) for place in places]
    stages = ", ".join(f"{{devices = {sum(own_dies[stage * cut.data:(stage + 1) * cut.data], [])}}}" for stage in range(cut.pipeline))
    settings = (*cell.settings(), ("machine.include", cell.wafer), ("strategy.name", "megatron"), *cut.settings(), ("strategy.tensor_rows", cut.tile[1]),
                ("strategy.spare_devices", "idle"), *SETS[again], ("strategy.stages", f"[{stages}]"))
    words = f"TP {cut.tensor}, PP {cut.pipeline}" + (f", DP {cut.data}" if cut.data > 1 else "") + f", HxK {cut.tile[0]}x{cut.tile[1]}, {again}"
    return (SEARCHED, settings), words


def follow_ups(cell, found, plans, wafer):
    """Searches that need what the first ones found, by key."""
    parameters = found["whole"]["parameters"]
    picks = {"blind": blind(found, plans), "access": least_access(cell, plans, parameters, False), "product": least_access(cell, plans, parameters, True)}
    rule = cut_of(plan_of(found["rule"])) if found["rule"] else None
    if rule and ", selective" in plan_of(found["rule"]):
        picks["rule"] = rule, "full"
    jobs = {key: cell.job(*ONE_DIMENSION, *BEST, *SETS[again], *cut.settings()) for key, pick in picks.items() if pick for cut, again in [pick]}
    results = {place: uniform(found, place) for place in TOPOLOGIES}
    topology = min((place for place, (result, _) in results.items() if result), key=lambda place: seconds(results[place][0]))
    result, again = results[topology]
    jobs["placed"] = at(cell, topology, *PLACED, *ONE_DIMENSION, *SETS[again], *cut_of(plan_of(result)).settings())
    if topology != HERE:
        jobs["whole there"] = at(cell, topology)
    for place in {*TOPOLOGIES, wafer} - {HERE}:
        jobs["bound", place] = at(cell, place, *BEST)
    return jobs, topology


def of_cell(cell, found, speeds, simulator):
    """Run by work; None where nothing fits. `topologies`: of PD on each, and of the whole search on the one that it takes."""
    plans, wafer = predictions(found), chosen(speeds)
    jobs, topology = follow_ups(cell, found, plans, wafer)
    found = found | dict(zip(jobs, simulator.searched(jobs.values())))
    hecaton, words = two_dimensions(cell, plans)
    bounds = {place: bound_of(found["bound", place]) for place in {*TOPOLOGIES, wafer} - {HERE} if found["bound", place]} | {HERE: bound_of(found["whole"])}
    run = lambda result, place=HERE, plan=None: Run(seconds(result), bounds[place], plan or plan_of(result), shares_of(result)) if result else None
    on_mesh = uniform(found, HERE)[0]
    lends_nothing = [found["placed"]] if found["placed"] and not found["placed"].get("loans") else []
    pd = fastest([uniform(found, topology)[0], *lends_nothing])
    runs = {"Timeloop": run(found["rule"]), "DFModel": run(on_mesh), "Calculon": run(found["calculon"]),
            "Hecaton": run(simulator.attempts([hecaton])[0], plan=words) if hecaton else None, "Gemini": run(found.get("access")),
            "PD": run(pd, topology, f"{topology}: {plan_of(pd)}"), "WSC-LLM": run(uniform(found, wafer)[0], wafer), "WATOS": run(found["whole"]),
            "DFModel, blind": run(found.get("blind")), "Gemini, access x time": run(found.get("product"))}
    if runs["WSC-LLM"]:
        runs["WSC-LLM"] = replace(runs["WSC-LLM"], plan=f"{wafer}: {runs['WSC-LLM'].plan}")
    runs["topologies"] = {place: run(uniform(found, place)[0], place) for place in TOPOLOGIES} | ({WHOLE_THERE: run(found["whole there"], topology)} if topology != HERE else {})
    return runs
