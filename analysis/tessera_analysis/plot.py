"""Draws what fits a file."""

import os

import matplotlib

matplotlib.use("Agg")  # no display on a cluster's nodes

import matplotlib.pyplot as pyplot  # noqa: E402

from . import links_figure, memory_figure, search_figure, style, time_figure, timeline_figure  # noqa: E402
from .load import ResultsError  # noqa: E402

FIGURES = {
    "time": time_figure.draw,
    "memory": memory_figure.draw,
    "memory_over_time": memory_figure.draw_over_time,
    "links": links_figure.draw,
    "timeline": timeline_figure.draw,
    "search": search_figure.draw,
}


def plot(results, folder, only=None, kind="png"):
    """Writes the figures for which the file has data; returns their paths."""
    try:
        os.makedirs(folder, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"cannot write '{folder}': {error.strerror}", 4) from None
    paths = [(FIGURES[name], os.path.join(folder, f"{name}.{kind}")) for name in only or FIGURES]
    return [path for draw, path in paths if save(path, draw, results)]


def save(path, draw, *arguments):
    """Writes what a drawing function makes of its arguments; whether there was anything to draw."""
    with style.styled():
        figure = draw(*arguments)
        if figure is None:
            return False
        try:
            figure.savefig(path, metadata={"Date": None} if os.fspath(path).endswith(".svg") else None)
        except OSError as error:
            raise ResultsError(f"cannot write '{path}': {error.strerror}", 4) from None
        finally:
            pyplot.close(figure)
    return True
