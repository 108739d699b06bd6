"""The devices that kernels are measured on: one interface, two libraries that carry it out.

  make(row)               call(i), which launches the row's kernel for the i-th time; Unavailable where the library does not have it
  wait()                  until the device is done
  captured(loop)          loop() without the host's launches in it, where the device can; None where it cannot
  launched(call, count)   seconds from the first of so many launches, one by one, to the end of the last
  beside(call, count, cores)   seconds of one call while a copy holds that many cores; with 0 cores alone, timed alike
  read()                  mhz, memory_mhz, watts, limit_watts as far as they can be read
  free_memory()           in bytes; None: unknown
  about(), library(), environment()   what it is, for the table
  works_alone             the host goes on while the device works
  replays                 captured() works as a rule
"""

from calibration import Refused

NUMPY = "numpy"


class Unavailable(Exception):
    """This library, or this device, does not have it."""


# What versions of libraries raise where a kernel cannot be made or launched. One of them must not cost the others their ten minutes.
FAILURES = (RuntimeError, NotImplementedError, MemoryError, AttributeError, TypeError, ValueError)


def find(name, datatype):
    """The device of that name, or the first accelerator, or the CPU."""
    if name == NUMPY:
        return with_numpy(datatype)
    try:
        import torch
    except ImportError as error:
        raise Refused(f'measuring needs PyTorch, and this Python has none ({error}): "pip install torch", or package python3-torch; '
                      f"--device {NUMPY} shows without it that the way works") from None
    from calibration.devices.pytorch import PyTorch, find_device
    return PyTorch(torch, find_device(torch, name), datatype)


def with_numpy(datatype):
    if datatype not in (None, "fp32"):
        raise Refused(f"--datatype {datatype}: device {NUMPY} has fp32 alone")
    try:
        from calibration.devices.arrays import Arrays
    except ImportError as error:
        raise Refused(f'--device {NUMPY}: this Python has no NumPy ({error}): "pip install numpy", or package python3-numpy') from None
    return Arrays()
