"""python3 -m tessera_analysis: figures from a shell."""

import argparse
import os
import sys
import warnings

from .packages import MissingPackage, explain_missing

FIGURE_NAMES = ("time", "memory", "memory_over_time", "links", "timeline", "search")


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="python3 -m tessera_analysis", description="Figures from the result files of tessera run.",
        epilog="Exit codes: 0 done, 2 bad input, 4 a file cannot be read or written.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    plot = commands.add_parser("plot", help="draw what fits a result file",
                               description="Draws what fits a result file: where the time goes, memory, links, and, "
                                           "where there are any, memory over time, a timeline of the devices and what a "
                                           "search tried.")
    plot.add_argument("file", metavar="OUT.h5", help="a result file of tessera run")
    plot.add_argument("-o", "--output", metavar="DIR",
                      help="folder of the figures (default: beside the file, named after it)")
    plot.add_argument("--only", nargs="+", choices=FIGURE_NAMES, metavar="FIGURE",
                      help="of: " + ", ".join(FIGURE_NAMES))
    plot.add_argument("--format", choices=("png", "svg", "pdf"), default="png", help="default: png")
    return parser.parse_args(arguments)


def main(arguments=None):
    options = parse(arguments)
    try:
        with explain_missing():
            from .load import ResultsError, load
            from .plot import plot
    except MissingPackage as error:
        print(error, file=sys.stderr)
        return 2
    warnings.formatwarning = lambda message, *_: f"warning: {message}\n"
    try:
        folder = options.output or os.path.splitext(options.file)[0] + "-figures"
        paths = plot(load(options.file), folder, options.only, options.format)
    except ResultsError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except KeyError as error:
        print(f"cannot read '{options.file}': the file is damaged: it has no column {error}", file=sys.stderr)
        return 4
    if not paths:
        print(f"'{options.file}' has nothing to draw" + (" for " + ", ".join(options.only) if options.only else ""),
              file=sys.stderr)
        return 2
    try:
        print("\n".join(paths), flush=True)
    except OSError as error:
        print(f"cannot write to standard output: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left would fail again at the exit
        return 4
    return 0


if __name__ == "__main__":
    sys.exit(main())
