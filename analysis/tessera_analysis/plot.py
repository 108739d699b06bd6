"""Draws what fits a file."""

import os

import matplotlib

matplotlib.use("Agg")  # no display on a cluster's nodes

import matplotlib.pyplot as pyplot  # noqa: E402

from . import links_figure, memory_figure, style, time_figure, timeline_figure  # noqa: E402
from .load import ResultsError  # noqa: E402

FIGURES = {
    "time": time_figure.draw,
    "memory": memory_figure.draw,
    "memory_over_time": memory_figure.draw_over_time,
    "links": links_figure.draw,
    "timeline": timeline_figure.draw,
}


def plot(results, folder, only=None, kind="png"):
    """Writes the figures for which the file has data; returns their paths."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"cannot write '{folder}': {error.strerror}", 4) from None
    paths = []
    with style.styled():
        for name in only or FIGURES:
            figure = FIGURES[name](results)
            if figure is None:
                continue
            path = os.path.join(folder, f"{name}.{kind}")
            try:
                figure.savefig(path, metadata={"Date": None} if kind == "svg" else None)
            except OSError as error:
                raise ResultsError(f"cannot write '{path}': {error.strerror}", 4) from None
            finally:
                pyplot.close(figure)
            paths.append(path)
    return paths
