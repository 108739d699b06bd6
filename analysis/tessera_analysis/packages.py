"""The packages that this one needs, in words for whoever does not have them."""

import contextlib
import sys

PACKAGES = {"h5py": "python3-h5py", "numpy": "python3-numpy", "pandas": "python3-pandas",
            "matplotlib": "python3-matplotlib"}


class MissingPackage(ImportError):
    """The text is the whole message."""


@contextlib.contextmanager
def explain_missing():
    """What is imported within: a missing package of PACKAGES is a MissingPackage that says which, and what to do."""
    try:
        yield
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name not in PACKAGES:
            raise
        raise MissingPackage(
            f"this python3 ({sys.executable}) has no {name}: install it (Debian: {PACKAGES[name]}; tessera_analysis "
            "needs h5py, pandas and matplotlib), or use an interpreter that has it (Debian: /usr/bin/python3)",
            name=name) from None
