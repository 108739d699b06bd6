"""Data frames and figures from the result files of `tessera run`.

    import tessera_analysis
    results = tessera_analysis.load("out.h5")
    results.devices                      # a pandas.DataFrame; times are int64 picoseconds
    results.devices.attrs["units"]       # {"device": "1", "forward_ps": "ps", ...}
    tessera_analysis.readable(results.devices)   # the same in seconds and gigabytes

From a shell: python3 -m tessera_analysis plot out.h5 -o figures
"""

from .packages import MissingPackage, explain_missing

__all__ = ["MissingPackage", "Results", "ResultsError", "load", "readable"]

try:
    with explain_missing():
        from .load import Results, ResultsError, load, readable
except MissingPackage as error:
    _missing = str(error)

    def __getattr__(name):
        """What needs a package says so when it is asked for: the command line still answers --help."""
        if name in __all__:
            raise MissingPackage(_missing)
        raise AttributeError(f"module 'tessera_analysis' has no attribute '{name}'")
