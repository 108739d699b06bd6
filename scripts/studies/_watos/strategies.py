"""Figure 21: tensor-parallel groups of any size, with the collectives that can serve them, and products cut in both dimensions."""

import pathlib
import tempfile

from _parts import Outcome, seconds, share, two
from _runs import table
from tessera_analysis import watos_figures

from .cells import bound_of, fastest, one_plan, performance_of, plan_of, with_bound
from .jobs import SEARCHED
from .planned import at_places, settings_of

COLUMNS, ROWS = 7, 8  # of wafer-config3
SIZES = (2, 4, 7, 8, 14, 16)
SEVEN = 7
RING, ODD, SYNTHESISED, SQUARE = "bidirectional-ring", "ring-bi-odd", "synthesised", "2D TP"
WAYS = (RING, ODD, SYNTHESISED, SQUARE)
ONE_DIMENSION = (("strategy.tensor_rows", 1),)
FEW = (*one_plan("recomputation"), ("strategy.uneven_width", "pad"))  # 7 and 14 divide no width of GPT-175B


def study(simulator):
    jobs = all_jobs()
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    best = {(size, way): fastest([result for (of, by, _), result in found.items() if (of, by) == (size, way)]) for size in SIZES for way in WAYS}
    slowest = max(seconds(result) for result in best.values() if result)
    bars = [performance_of("", f"TP {size}", {way: seconds(best[size, way]) for way in WAYS if best[size, way]}, WAYS, slowest) for size in SIZES]
    return Outcome(pictures={"figure-21": (watos_figures.performance, ("Figure 21: performance by size of the tensor-parallel groups", {"": bars}, "all"))},
                   tables={"figure 21 cuts": times(best), "figure 21 plans": plans(best), "figure 21 sevens": of_seven(simulator)}, claims=claims(best),
                   summary={"last_2d": share(*last(best)).replace(" ", "_"), "best_tp": ",".join(f"{way.split()[0]}:{size}" for way, size in leads(best).items())})


def all_jobs():
    """By size of the groups, way and rows of products that are cut in both dimensions."""
    jobs = {(size, way, 1): (SEARCHED, (*FEW, ("strategy.tensor", size), *ONE_DIMENSION, *by(way))) for size in SIZES for way in WAYS[:-1] if way != ODD or size % 2}
    return jobs | {(size, SQUARE, rows): (SEARCHED, (*FEW, ("strategy.tensor", size), ("strategy.tensor_rows", rows))) for size in SIZES for rows in rows_of(size)}


def by(way):
    """What a layer of cut tokens sends over its group; other sums stay rings."""
    return tuple((f"collectives.{kind}", way) for kind in ("reduce_scatter", "all_gather"))


def rows_of(size):
    """Of tiles with two columns and two rows at least that fit the wafer."""
    return [rows for rows in range(2, ROWS + 1) if size % rows == 0 and 2 <= size // rows <= COLUMNS]


def times(best):
    """Seconds, and in brackets how much of its first-order bound each reaches."""
    text = lambda result: with_bound(result) if result else ""
    return table(("TP", *[f"{way} s" for way in WAYS], "least bound s"), [(size, *[text(best[size, way]) for way in WAYS], least_bound(best, size)) for size in SIZES])


def least_bound(best, size):
    return two(min(bound_of(best[size, way]) for way in WAYS if best[size, way]))


def plans(best):
    return table(("TP", *WAYS), [(size, *[plan_of(best[size, way]) if best[size, way] else "" for way in WAYS]) for size in SIZES])


def of_seven(simulator):
    """The plan of TP 7, whose tiles are lines, there and on shapes with a cycle over six of their dies."""
    with tempfile.TemporaryDirectory() as folder:
        plan = pathlib.Path(folder) / "seven.toml"
        simulator.plan(SEARCHED, plan, (*FEW, ("strategy.tensor", SEVEN), *ONE_DIMENSION), ranks=1)
        settings = settings_of(plan)
    shapes = {"lines, 7 x 1 and 1 x 7": settings, "4 x 2 less a corner": at_places(settings, sevens())}
    jobs = {(shape, way): (SEARCHED, (*own, *by(way))) for shape, own in shapes.items() for way in WAYS[:-1] if way != ODD or own != settings}
    found = dict(zip(jobs, simulator.searched(jobs.values())))
    text = lambda job: two(seconds(found[job])) if job in found else "no cycle"
    return table(("dies of a group", *[f"{way} s" for way in WAYS[:-1]]), [(shape, *[text((shape, way)) for way in WAYS[:-1]]) for shape in shapes])


def sevens():
    """Eight groups that fill the wafer, two to a pair of rows, along a serpentine. Each is listed along its cycle, with the seventh die
    beside its neighbour."""
    places = []
    for pair in range(ROWS // 2):
        upper, lower = 2 * pair, 2 * pair + 1
        left = [*[(x, upper) for x in range(4)], *[(x, lower) for x in (2, 1, 0)]]
        right = [(COLUMNS - 1 - x, upper + lower - y) for x, y in left]
        places += [left, right] if pair % 2 == 0 else [right, left]
    return [[y * COLUMNS + x for x, y in place] for place in places]


def last(best):
    """Of how many sizes 2D TP is the slowest, and of how many that have it."""
    sizes = [size for size in SIZES if best[size, SQUARE]]
    return sum(all(seconds(best[size, way]) < seconds(best[size, SQUARE]) for way in WAYS[:-1] if best[size, way]) for size in sizes), len(sizes)


def leads(best):
    """The size that is the fastest, by way. RingBiOdd serves one size alone."""
    fitting = {way: [size for size in SIZES if best[size, way]] for way in WAYS if way != ODD}
    return {way: min(sizes, key=lambda size: seconds(best[size, way])) for way, sizes in fitting.items() if sizes}


def claims(best):
    """The paper's sentences beside what came out."""
    by_way, (slowest, sizes) = leads(best), last(best)
    unmoved = all(size == by_way[RING] for size in by_way.values())
    larger = [size for size in SIZES if size > by_way[RING]]
    wins = sum(seconds(best[size, SYNTHESISED]) < seconds(best[size, RING]) for size in larger)
    return [
        ("2D TP is the worst", "all", share(slowest, sizes), slowest == sizes),
        ("no way moves the best TP", "unmoved", ", ".join(f"{way} {size}" for way, size in by_way.items()), unmoved),
        ("TACOS before rings at TP above the best", "all", share(wins, len(larger)), wins == len(larger))]
