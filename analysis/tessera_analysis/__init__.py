"""Data frames and figures from the result files of `tessera run`.

    import tessera_analysis
    results = tessera_analysis.load("out.h5")
    results.devices                      # a pandas.DataFrame; times are int64 picoseconds
    results.devices.attrs["units"]       # {"device": "1", "forward_ps": "ps", ...}
    tessera_analysis.readable(results.devices)   # the same in seconds and gigabytes

From a shell: python3 -m tessera_analysis plot out.h5 -o figures
"""

from .load import Results, ResultsError, load, readable

__all__ = ["Results", "ResultsError", "load", "readable"]
