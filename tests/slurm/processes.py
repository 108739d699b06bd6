"""Processes of this one, and that none of them is left behind."""

import ctypes
import os
import signal
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None, use_errno=True)


def adopt_orphans():
    """From now on whatever descends from this process stays its descendant, also what makes itself a daemon."""
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with_parent():
    """Between fork and exec: the process ends when its parent is killed."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def descendants():
    """Numbers of all processes that this one has started, and so on, the youngest generation last."""
    children = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parent = int(stat.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue  # it has ended meanwhile
        children.setdefault(parent, []).append(int(entry))
    found = [os.getpid()]
    for process in found:
        found.extend(children.get(process, []))
    return found[1:]


def command_of(process):
    """Its words; none of one that has ended."""
    try:
        with open(f"/proc/{process}/cmdline") as words:
            return words.read().split("\0")[:-1]
    except OSError:
        return []


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def kill_descendants():
    """SIGKILL to all, until there is none."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        reap()
        left = descendants()
        if not left:
            return
        for process in left:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
    raise RuntimeError(f"processes {left} do not end")
