"""What scripts/calibrate.py is made of: shapes, measuring, the table, the fits, what is printed. Only kernels.py and measure.py use PyTorch."""


class Refused(Exception):
    """What cannot be done, in one line: what is wrong, and what is allowed or missing."""
