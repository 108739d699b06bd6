"""Data frames and figures from the files of `tessera run`, `tessera merge` and `tessera plan --history`.

    import tessera_analysis
    results = tessera_analysis.load("out.h5")
    results.devices                      # a pandas.DataFrame; times are int64 picoseconds
    results.devices.attrs["units"]       # {"device": "1", "forward_ps": "ps", ...}
    tessera_analysis.readable(results.devices)   # the same in seconds and gigabytes

    tessera_analysis.load_history("h.h5").search     # every sample of tessera plan --history

    points = tessera_analysis.load_points("all.h5")
    points.frame                         # a row a point; points.varied: the columns of its axes

From a shell: python3 -m tessera_analysis plot out.h5 -o figures
              python3 -m tessera_analysis plot random=r1.h5 random=r2.h5 annealing=a1.h5     # histories
              python3 -m tessera_analysis compare a.h5 b.h5 -o difference.png
"""

from .packages import MissingPackage, explain_missing

__all__ = ["MissingPackage", "History", "Points", "Results", "ResultsError", "load", "load_history", "load_points", "readable"]

try:
    with explain_missing():
        from .history import History, load_history
        from .load import Results, ResultsError, load, readable
        from .points import Points, load_points
except MissingPackage as error:
    _missing = str(error)

    def __getattr__(name):
        """What needs a package says so when it is asked for: the command line still answers --help."""
        if name in __all__:
            raise MissingPackage(_missing)
        raise AttributeError(f"module 'tessera_analysis' has no attribute '{name}'")
