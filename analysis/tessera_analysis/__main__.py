"""python3 -m tessera_analysis: figures from a shell."""

import argparse
import os
import re
import sys
import warnings

from .packages import MissingPackage, explain_missing

HISTORY_FIGURES = ("search",)
RUN_FIGURES = ("time", "memory", "memory_over_time", "links", "timeline", "search", "genetic", "partition", "stages")
POINT_FIGURES = ("axes", "devices", "memory", "cost")
FIGURE_NAMES = tuple(dict.fromkeys(RUN_FIGURES + POINT_FIGURES))
FORMATS = ("png", "svg", "pdf")
INCHES = {"": 1.0, "in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4}
WIDTHS = (2.0, 40.0)  # inches


class Parser(argparse.ArgumentParser):
    def error(self, message):
        """One line, as of the simulator."""
        self.exit(2, f"{message}; {self.prog} --help says more\n")


def parse(arguments):
    parser = Parser(
        prog="python3 -m tessera_analysis", description="Figures from the files of tessera run, merge and plan --history.",
        epilog="Exit codes: 0 done, 2 bad input, 4 a file cannot be read or written.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    _add_plot(commands)
    _add_compare(commands)
    options = parser.parse_args(arguments)
    if options.command == "compare" and options.output and not options.output.endswith(tuple("." + each for each in FORMATS)):
        parser.error(f"argument -o/--output: '{options.output}' must end in one of: " + ", ".join("." + each for each in FORMATS))
    return options


def _add_plot(commands):
    plot = commands.add_parser(
        "plot", help="draw what fits a file",
        description="Draws what fits a result of tessera run: where the time goes, memory, links, and, where there are "
                    "any, memory over time, a timeline of the devices, what a search tried, genetic searches by generation, a "
                    "graph by device, and the stages of a pipeline on a mesh. Of a table of points (tessera merge): what its axes do to the time, and the time "
                    "against devices, memory and cost. Of a "
                    "history (tessera plan --history): every sample, and the best so far. Of several histories: the best "
                    "so far of each by number of samples; of those with one NAME, which are seeds of one method, their "
                    "mean and deviation, as long as the shortest and from where all have a result.")
    plot.add_argument("files", metavar="[NAME=]FILE.h5", nargs="+",
                      help="a result of tessera run, a table of tessera merge, or one or several histories")
    plot.add_argument("-o", "--output", metavar="DIR",
                      help="folder of the figures (default: beside the first file, named after it)")
    plot.add_argument("--only", nargs="+", choices=FIGURE_NAMES, metavar="FIGURE",
                      help=f"of a run: {', '.join(RUN_FIGURES)}; of points: {', '.join(POINT_FIGURES)}")
    plot.add_argument("--x", metavar="COLUMN", help="of points: draw against this column, not devices, memory and cost")
    plot.add_argument("--y", metavar="COLUMN", help="of points: draw this column, not the iteration time; of several histories: cost (default) or reward")
    plot.add_argument("--format", choices=FORMATS, default="png", help="default: png")
    _add_look(plot)


def _add_compare(commands):
    compare = commands.add_parser(
        "compare", help="say where the difference between two runs comes from",
        description="Prints where the difference between two results of tessera run comes from: activities, links and "
                    "collectives.")
    compare.add_argument("a", metavar="A.h5", help="a result of tessera run")
    compare.add_argument("b", metavar="B.h5", help="another one")
    compare.add_argument("-o", "--output", metavar="PICTURE", help="draw it, too: a name that ends in .png, .svg or .pdf")
    _add_look(compare)


def _add_look(command):
    command.add_argument("--width", type=inches, metavar="WIDTH",
                         help="of a picture, such as 3.3in, 84mm or 17.5cm (inches without a unit): it is laid out for that width, its letters stay legible")
    command.add_argument("--no-title", dest="titled", action="store_false", help="leave out the line above a picture: a paper has a caption")


def inches(text):
    """The inches of "3.3in", "84mm", "8.4 cm" or "3.3"."""
    found = re.fullmatch(r"([0-9]*\.?[0-9]+) ?(in|cm|mm|)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected a width such as 3.3in, 84mm or 17.5cm, not '{text}'")
    width = float(found[1]) * INCHES[found[2]]
    if not WIDTHS[0] <= width <= WIDTHS[1]:
        raise argparse.ArgumentTypeError(f"'{text}' must be from {WIDTHS[0]:g} to {WIDTHS[1]:g} inches")
    return width


def named(argument):
    """("random", "a.h5") of random=a.h5; the name of a mere file is its own, without its suffix."""
    name, sign, path = argument.partition("=")
    if sign and name and not os.path.exists(argument):
        return name, path
    return os.path.splitext(os.path.basename(argument))[0], argument


def plot(options):
    from .file import ResultsError, format_of
    from .history import History
    from .points import Points

    files = [named(argument) for argument in options.files]
    first = files[0][1]
    options.folder = options.output or os.path.splitext(first)[0] + "-figures"
    if len(files) > 1:
        paths, known = plot_histories(files, options), HISTORY_FIGURES
    else:
        known, draw = {Points.FORMAT: (POINT_FIGURES, plot_points), History.FORMAT: (HISTORY_FIGURES, plot_history)}.get(
            format_of(first), (RUN_FIGURES, plot_run))
        for name in options.only or ():
            if name not in known:
                raise ResultsError(f"'{first}' has no figure {name}, it has: " + ", ".join(known))
        paths = draw(first, options)
    if not paths:
        raise ResultsError(f"'{first}' has nothing to draw" + (" for " + ", ".join(options.only) if options.only else ""))
    return "\n".join(paths)


def look_of(options):
    from .style import Look
    return Look(options.width, options.titled)


def plot_points(path, options):
    from .plot import plot_points as draw
    from .points import load_points
    return draw(load_points(path), options.folder, options.only, options.format, options.x, options.y, look_of(options))


def plot_run(path, options):
    from .load import ResultsError, load
    from .plot import plot as draw
    if options.x or options.y:
        raise ResultsError(f"'{path}' is a result of one run: --x and --y are for tables of points")
    return draw(load(path), options.folder, options.only, options.format, look_of(options))


def plot_history(path, options):
    from .file import ResultsError
    from .history import load_history
    from .plot import plot as draw
    if options.x or options.y:
        raise ResultsError(f"'{path}' is one history: --x is for tables of points, --y for these and several histories")
    paths = draw(load_history(path), options.folder, HISTORY_FIGURES, options.format, look_of(options))
    if not paths:
        raise ResultsError(f"'{path}' has nothing to draw: nothing that was tried fits")
    return paths


def plot_histories(files, options):
    from .file import ResultsError
    from .history import MEASURES, load_history
    from .plot import plot_curves
    if options.x or (options.y or MEASURES[0]) not in MEASURES:
        raise ResultsError("of several histories --y is one of: " + ", ".join(MEASURES) + "; there is no --x")
    for name in options.only or ():
        if name not in HISTORY_FIGURES:
            raise ResultsError(f"several histories have no figure {name}, they have: " + ", ".join(HISTORY_FIGURES))
    histories = [(name, load_history(path)) for name, path in files]
    return plot_curves(histories, options.folder, options.y or MEASURES[0], options.format, look_of(options))


def compare(options):
    from .compare import Comparison, text
    from .load import load
    from .plot import draw_comparison

    comparison = Comparison(load(options.a), load(options.b))
    said = text(comparison)
    if options.output:
        draw_comparison(comparison, options.output, look_of(options))
    return said


def main(arguments=None):
    options = parse(arguments)
    try:
        with explain_missing():
            from .load import ResultsError
    except MissingPackage as error:
        print(error, file=sys.stderr)
        return 2
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    try:
        with explain_missing():
            said = plot(options) if options.command == "plot" else compare(options)
    except MissingPackage as error:
        print(error, file=sys.stderr)
        return 2
    except ResultsError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyError as error:
        files = [named(each)[1] for each in options.files] if options.command == "plot" else [options.a, options.b]
        names = " or ".join(f"'{name}'" for name in files)
        print(f"cannot read {names}: the file is damaged: it has no column {error}", file=sys.stderr)
        return 4
    try:
        print(said, flush=True)
    except OSError as error:
        print(f"cannot write to standard output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail again at the exit
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
