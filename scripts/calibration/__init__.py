"""What scripts/calibrate.py is made of: shapes, devices, measurements, the table, the fits, what is printed. Only devices/ uses PyTorch or NumPy."""


class Refused(Exception):
    """What cannot be done, in one line: what is wrong, and what is allowed or missing."""
