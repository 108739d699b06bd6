"""Times kernels: warm-up, then several samples, each of as many calls as a clock can tell apart."""

import concurrent.futures
import dataclasses
import time

CALLS = 100  # of a kernel in one CUDA graph at most


@dataclasses.dataclass(frozen=True)
class Effort:
    warm_up: float  # seconds
    calls: int  # to warm up, at least
    sample: float  # seconds at least
    samples: int

    def within(self, seconds):
        """As much of it as these seconds hold: some samples, or the same number of shorter ones."""
        share = min(1, seconds / (self.warm_up + self.sample * (self.samples + 1)))
        return dataclasses.replace(self, warm_up=self.warm_up * share, sample=self.sample * max(share, 0.25), samples=max(3, round(self.samples * share)))


class Timer:
    """Times calls on one device."""

    def __init__(self, device, effort):
        self.device, self.effort = device, effort
        self.without_graph = 0  # kernels that no CUDA graph took

    def seconds(self, run):
        """Of run() until the device is done."""
        self.device.wait()
        begin = time.perf_counter()
        run()
        self.device.wait()
        return time.perf_counter() - begin

    def measure(self, call, effort=None, beside=None):
        """Seconds of one call, a sample each. `beside` is called while the device is at work, where it works beside the host."""
        effort = effort or self.effort
        run, calls = self.sample(call, effort.sample, self.warm_up(call, effort))
        self.seconds(run)
        samples = [self.seconds(run) / calls for _ in range(effort.samples)]
        if beside is not None:
            self.look(run, beside)
        return samples

    def look(self, run, read):
        """read() while the device is at work, however long it takes."""
        if not self.device.works_alone:
            return read()
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            answer = pool.submit(read)
            while not answer.done():
                self.seconds(run)
            return answer.result()

    def sample(self, call, seconds, one):
        """(run, calls): run() makes so many calls, which take about these seconds where `one` takes that many."""
        run, calls = self.repeated(call, max(1, min(CALLS, round(seconds / one))))
        repeats = max(1, round(seconds / (one * calls)))

        def repeat():
            for _ in range(repeats):
                run()

        return repeat, repeats * calls

    def warm_up(self, call, effort=None):
        """Seconds of a call, roughly."""
        effort = effort or self.effort
        begin, calls = time.perf_counter(), 0
        while calls < effort.calls or time.perf_counter() - begin < effort.warm_up:
            one = self.seconds(lambda: call(calls))
            calls += 1
        return max(one, 1e-7)

    def repeated(self, call, calls):
        """The call that many times, without the host's launches where the device can."""

        def loop():
            for i in range(calls):
                call(i)

        if not getattr(call, "needs_host", False):
            try:
                captured = self.device.captured(loop)
                if captured is not None:
                    return captured, calls
            except RuntimeError:
                self.device.wait()
        self.without_graph += 1
        return loop, calls
