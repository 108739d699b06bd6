"""Figure 21, collectives alone: all-reduces of tensor-parallel groups of 2 to 16 dies, odd ones too, by algorithm."""

from _parts import Outcome, geomean, share, two
from _runs import table

EXPERIMENT = "watos/collective.toml"
COLUMNS, ROWS = 7, 8  # of wafer-config3
SIZES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16)
BUFFERS = {"50.3 MB": 50_331_648, "1 MB": 1_000_000}  # a layer's activations of GPT-175B, 2,048 x 12,288 in FP16; a small one
RINGS, MESHES, BY_LINKS = ("ring", "bidirectional-ring"), ("mesh", "mesh-scatter"), ("multitree", "synthesised")
ALGORITHMS = (*RINGS, "ring-bi-odd", *MESHES, *BY_LINKS)


def study(simulator):
    """Tables and sentences for the part that this is a part of."""
    jobs = {(name, size, algorithm): job(size, algorithm, bytes)
            for name, bytes in BUFFERS.items() for size in SIZES for algorithm in ALGORITHMS if dies(size, algorithm)}
    added = {("added", size, algorithm): (experiment, (*settings, ("collectives.reduction", "memory")))
             for (name, size, algorithm), (experiment, settings) in jobs.items() if name == "50.3 MB"}
    found = dict(zip(jobs | added, (result["iteration_time_ps"] * 1e-6 for result in simulator.many((jobs | added).values()))))
    outcome = Outcome()
    for name in BUFFERS:
        outcome.tables[f"figure 21 {name}"] = times(found, name)
    outcome.tables["figure 21 additions"] = times(found, "added")
    outcome.tables["figure 21 ranking"] = sentences(found)
    last, of = last_2d(found, "50.3 MB")
    outcome.summary["last_2d"] = f"{last}_of_{of}"
    outcome.claims = [("figure 21: 2D collectives are the slowest, 50 MB, additions free", "all", share(last, of), last == of)]
    return outcome


def job(size, algorithm, bytes):
    group = f'[{{name = "tensor", devices = {dies(size, algorithm)}}}]'
    step = f'[{{op = "all-reduce", group = "tensor", bytes = "{bytes} B"}}]'
    return EXPERIMENT, (("strategy.group", group), ("strategy.step", step), ("collectives.all_reduce", algorithm))


def shape(size):
    """(columns, rows, dies left out of the last corner): the squarest rectangle of at least two dies a side; where there is none, that of
    one die more less one. Two dies are a row."""
    fitting = [(columns, size // columns) for columns in range(2, COLUMNS + 1) if size % columns == 0 and columns <= size // columns <= ROWS]
    if fitting:
        return (*max(fitting), 0)
    return (2, 1, 0) if size == 2 else (*shape(size + 1)[:2], 1)


def dies(size, algorithm):
    """In the order in which the group lists them; none where the algorithm has no such group."""
    columns, rows, missing = shape(size)
    if algorithm == "ring-bi-odd" and size % 2 == 0:
        return None
    if missing and algorithm in MESHES:
        columns, rows, missing = size, 1, 0  # a full rectangle: a row
    return [y * COLUMNS + x for x, y in cycle(columns, rows, missing)]


def cycle(columns, rows, missing):
    """Down the first column, and back along the rows in turns where these are even in number; columns for rows where those are; a snake
    along the rows where neither is."""
    if missing:
        return [(x, y) for x, y in cycle(columns, rows, 0) if (x, y) != (columns - 1, rows - 1)]
    if rows == 1 or columns == 1 or (rows % 2 and columns % 2):
        return [(x if y % 2 == 0 else columns - 1 - x, y) for y in range(rows) for x in range(columns)]
    if rows % 2:
        return [(y, x) for x, y in cycle(rows, columns, 0)]
    back = [(x, y) for y in reversed(range(rows)) for x in (range(1, columns) if y % 2 else range(columns - 1, 0, -1))]
    return [(0, y) for y in range(rows)] + back


def named(size):
    columns, rows, missing = shape(size)
    return f"{columns} x {rows}" + (" less one" if missing else "")


def times(found, name):
    """us by size and algorithm."""
    lines = [(size, named(size), *[two(found[name, size, one]) if (name, size, one) in found else "" for one in ALGORITHMS]) for size in SIZES]
    return table(("TP", "dies", *ALGORITHMS), lines)


def best_of(found, name, size, algorithms):
    return min((found[name, size, one] for one in algorithms if (name, size, one) in found), default=None)


def rivals(found, name, size):
    """Best times by family: one ring, the algorithms on rows and columns, and those made for the links."""
    families = {"a ring": (*RINGS, "ring-bi-odd"), "2D": MESHES, "MultiTree": ("multitree",), "synthesised": ("synthesised",)}
    return {family: best_of(found, name, size, algorithms) for family, algorithms in families.items()}


def last_2d(found, name):
    """How often the better one of the mesh algorithms is behind all others, and of how many sizes above two."""
    sizes = [size for size in SIZES if size > 2]
    behind = [size for size in sizes if (family := rivals(found, name, size))["2D"] > max(time for one, time in family.items() if one != "2D")]
    return len(behind), len(sizes)


def sentences(found):
    """Who is last, and by how much, in words."""
    said = []
    for name in BUFFERS:
        sizes = [size for size in SIZES if size > 2]
        by_size = {size: rivals(found, name, size) for size in sizes}
        count, of = last_2d(found, name)
        over = geomean([by_size[size]["2D"] / min(by_size[size].values()) for size in sizes])
        first = {family: sum(min(by_size[size], key=by_size[size].get) == family for size in sizes) for family in by_size[sizes[0]]}
        leads = ", ".join(f"{family} {often}" for family, often in first.items() if often)
        said.append(f"{name}: 2D, the better one of `mesh` and `mesh-scatter`, is last in {count} of {of} sizes above two and takes "
                    f"{two(over)} times the fastest in the mean; the fastest are {leads}.")
    return "\n".join(f"- {sentence}" for sentence in said)
