"""issue_interval and kernel_floor: slope and intercept of time against launches, where the host launches kernels one by one.

With kernels that take less than the host needs for a launch, n of them are done after n x interval + what the last one takes from its start to its end.
"""

import statistics

BOUND = 1.5  # a slope that is so many times the kernel's own time is the host's


def lines(rows):
    """{kernel: (intercept, slope)} in us, of those with several counts: slope the median of those of all pairs, intercept that of what remains."""
    found = {}
    for row in rows:
        if row.condition == "eager":
            found.setdefault(row.kernel, []).append((row.launches, row.us))
    return {kernel: line(points) for kernel, points in found.items() if len(points) > 1}


def line(points):
    slope = statistics.median([(b[1] - a[1]) / (b[0] - a[0]) for i, a in enumerate(points) for b in points[i + 1:]])
    return statistics.median([us - slope * count for count, us in points]), slope


def bound_by_host(rows):
    """The lines of kernels whose launches take longer than they do. On a processor there are none: it launches nothing ahead."""
    own = {row.kernel: row.us for row in rows if not row.condition}
    return {kernel: found for kernel, found in lines(rows).items() if kernel in own and found[1] > BOUND * own[kernel]}


def interval(rows):
    """In ns; None where no kernel tells."""
    slopes = [slope for _, slope in bound_by_host(rows).values()]
    return round(1000 * statistics.median(slopes)) if slopes else None


def floor(rows, launch_ns):
    """In ns, beside the launch overhead: what the smallest kernels take from start to end. None where none tells."""
    found = [intercept for kernel, (intercept, _) in bound_by_host(rows).items() if kernel.kind == "launch"]
    return max(0, round(1000 * statistics.median(found)) - launch_ns) if found else None
