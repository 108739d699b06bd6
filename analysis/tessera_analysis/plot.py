"""Draws what fits a file."""

import os

import matplotlib

matplotlib.use("Agg")  # no display on a cluster's nodes

import matplotlib.pyplot as pyplot  # noqa: E402

from . import (axes_figure, compare_figure, genetic_figure, learning_figure, links_figure, memory_figure, pareto_figure,  # noqa: E402
               partition_figure, search_figure, stages_figure, style, time_figure, timeline_figure)
from .history import COST as COST_OF_SAMPLES  # noqa: E402
from .load import ResultsError  # noqa: E402
from .points import COST, TIME  # noqa: E402

FIGURES = {
    "time": time_figure.draw,
    "memory": memory_figure.draw,
    "memory_over_time": memory_figure.draw_over_time,
    "links": links_figure.draw,
    "stages": stages_figure.draw,
    "timeline": timeline_figure.draw,
    "search": search_figure.draw,
    "genetic": genetic_figure.draw,
    "partition": partition_figure.draw,
}
WITHOUT_TIME = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}  # so that equal results make equal files
FRONTS = {"devices": "devices", "memory": "peak_memory", "cost": COST}  # columns against which the time is drawn


def plot(results, folder, only=None, kind="png", look=style.Look()):
    """Writes the figures for which the file of a run, or a history, has data; returns their paths."""
    return _save_all(folder, kind, look, {name: (FIGURES[name], results) for name in only or FIGURES if name in FIGURES})


def plot_points(points, folder, only=None, kind="png", x=None, y=None, look=style.Look()):
    """Writes what the axes of a sweep do to the time (of a search in which nothing was finished, to its lower bound), or
    to the column y; and fronts of it against devices, memory and cost, or against the column x. Returns their paths."""
    value = points.number(y or points.told)
    against = {points.number(x): points.number(x)} if x else FRONTS
    wanted = {"axes": (axes_figure.draw, points, value)}
    for name, column in against.items():
        if column in points.frame and column != value and (x or column != COST or points.cost_says_more):
            wanted[f"front_{name}"] = (pareto_figure.draw, points, column, value)
    return _save_all(folder, kind, look, {name: drawing for name, drawing in wanted.items()
                                          if not only or name in only or name.removeprefix("front_") in only})


def plot_curves(histories, folder, what=COST_OF_SAMPLES, kind="png", look=style.Look()):
    """Writes one picture of several histories, each with its name; those of one name are seeds of one method. Times of
    different jobs are no picture; returns its path."""
    first = histories[0][1]
    methods = {}
    for name, history in histories:
        for part in ("model", "machine") if what == COST_OF_SAMPLES else ():
            if history.names[part] != first.names[part]:
                raise ResultsError(f"'{history.path}' is of {part} {history.names[part]}, '{first.path}' of {first.names[part]}: "
                                   "times of different jobs are no curves to compare, rewards are (--y reward)")
        methods.setdefault(name, []).append(history.search)
    jobs = dict.fromkeys(f"{history.names['model']} on {history.names['machine']}" for _, history in histories)
    return _save_all(folder, kind, look, {"search": (learning_figure.draw, methods, what, "Searches: " + ", ".join(jobs))})


def draw_comparison(comparison, path, look=style.Look()):
    """Writes the picture of two runs; its suffix says the format."""
    save(path, compare_figure.draw, comparison, look=look)


def _save_all(folder, kind, look, drawings):
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"cannot write '{folder}': {error.strerror}", 4) from None
    paths = [(drawing, os.path.join(folder, f"{name}.{kind}")) for name, drawing in drawings.items()]
    return [path for drawing, path in paths if save(path, *drawing, look=look)]


def save(path, draw, *arguments, look=style.Look()):
    """Writes what a drawing function makes of its arguments; whether there was anything to draw."""
    with style.styled(look):
        figure = draw(*arguments)
        if figure is None:
            return False
        try:
            figure.savefig(path, metadata=WITHOUT_TIME.get(os.path.splitext(path)[1]))
        except OSError as error:
            raise ResultsError(f"cannot write '{path}': {error.strerror}", 4) from None
        finally:
            pyplot.close(figure)
    return True
