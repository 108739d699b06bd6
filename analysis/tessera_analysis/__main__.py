"""python3 -m tessera_analysis: figures from a shell."""

import argparse
import os
import sys
import warnings

from .packages import MissingPackage, explain_missing

RUN_FIGURES = ("time", "memory", "memory_over_time", "links", "timeline", "search")
POINT_FIGURES = ("axes", "devices", "memory", "cost")
FIGURE_NAMES = tuple(dict.fromkeys(RUN_FIGURES + POINT_FIGURES))
FORMATS = ("png", "svg", "pdf")


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python3 -m tessera_analysis", description="Figures from the files of tessera run and tessera merge.",
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
                    "any, memory over time, a timeline of the devices and what a search tried. Of a table of points "
                    "(tessera merge): what its axes do to the time, and the time against devices, memory and cost.")
    plot.add_argument("file", metavar="FILE.h5", help="a result of tessera run, or a table of tessera merge")
    plot.add_argument("-o", "--output", metavar="DIR",
                      help="folder of the figures (default: beside the file, named after it)")
    plot.add_argument("--only", nargs="+", choices=FIGURE_NAMES, metavar="FIGURE",
                      help=f"of a run: {', '.join(RUN_FIGURES)}; of points: {', '.join(POINT_FIGURES)}")
    plot.add_argument("--x", metavar="COLUMN", help="of points: draw against this column, not devices, memory and cost")
    plot.add_argument("--y", metavar="COLUMN", help="of points: draw this column, not the iteration time")
    plot.add_argument("--format", choices=FORMATS, default="png", help="default: png")


def _add_compare(commands):
    compare = commands.add_parser(
        "compare", help="say where the difference between two runs comes from",
        description="Prints where the difference between two results of tessera run comes from: activities, links and "
                    "collectives.")
    compare.add_argument("a", metavar="A.h5", help="a result of tessera run")
    compare.add_argument("b", metavar="B.h5", help="another one")
    compare.add_argument("-o", "--output", metavar="PICTURE", help="draw it, too: a name that ends in .png, .svg or .pdf")


def plot(options):
    from .load import ResultsError, load
    from .plot import plot as plot_run, plot_points
    from .points import is_points, load_points

    folder = options.output or os.path.splitext(options.file)[0] + "-figures"
    known = POINT_FIGURES if is_points(options.file) else RUN_FIGURES
    for name in options.only or ():
        if name not in known and not (name == "search" and known == RUN_FIGURES):
            raise ResultsError(f"'{options.file}' has no figure {name}, it has: " + ", ".join(known))
    if known == POINT_FIGURES:
        paths = plot_points(load_points(options.file), folder, options.only, options.format, options.x, options.y)
    else:
        if options.x or options.y:
            raise ResultsError(f"'{options.file}' is a result of one run: --x and --y are for tables of points")
        paths = plot_run(load(options.file), folder, options.only, options.format)
    if not paths:
        raise ResultsError(f"'{options.file}' has nothing to draw" + (" for " + ", ".join(options.only) if options.only else ""))
    return "\n".join(paths)


def compare(options):
    from .compare import Comparison, text
    from .load import load
    from .plot import draw_comparison

    comparison = Comparison(load(options.a), load(options.b))
    said = text(comparison)
    if options.output:
        draw_comparison(comparison, options.output)
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
        names = " or ".join(f"'{name}'" for name in ([options.file] if options.command == "plot" else [options.a, options.b]))
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
