"""What devices that compute on the processor have in common, whatever library they take."""

import os
import pathlib
import platform
import re
import threading
import time

COPIED = 2**26  # bytes that the copy beside a kernel moves each time: more than most caches hold


def name():
    try:
        found = re.search(r"^model name\s*:\s*(.+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def clock():
    """Of its fastest core, in MHz; None where it is not told."""
    try:
        found = re.findall(r"^cpu MHz\s*:\s*([0-9.]+)", pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return max(map(float, found), default=None)


def free_memory():
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_AVPHYS_PAGES" in os.sysconf_names else None


def launched(device, call, count):
    """By the host's clock."""
    device.wait()
    begin = time.perf_counter()
    for i in range(count):
        call(i)
    device.wait()
    return time.perf_counter() - begin


def beside(call, count, cores, copy):
    """Seconds of one call while threads copy: one for each core that is to be held."""
    done = threading.Event()

    def hold():
        while not done.is_set():
            copy()

    threads = [threading.Thread(target=hold) for _ in range(cores)]
    for thread in threads:
        thread.start()
    try:
        begin = time.perf_counter()
        for i in range(count):
            call(i)
        return (time.perf_counter() - begin) / count
    finally:
        done.set()
        for thread in threads:
            thread.join()
