"""A kernel of PyTorch on a GPU of NVIDIA while a copy holds some of its SMs, as the kernel of a collective does."""

import math
import time

from calibration.devices import Unavailable

ELEMENTS = 2**26  # of FP32: 256 MiB, more than any L2 holds
# 1,024 threads a program. Programs are spread over idle SMs, so each has one of its own, where it leaves a large GEMM's block too few registers.
BLOCK, WARPS = 8192, 32
SPARE = 3  # the copy is to last so many times as long as the calls alone
ATTEMPTS = 3
AHEAD = 0.002  # seconds from the copy's launch to the first call's: by then it has its SMs


def beside(device, call, count, cores):
    """Seconds of one call; cores = 0: alone, launched alike."""
    torch, stream = device.torch, device.torch.cuda.Stream()
    with torch.cuda.stream(stream):
        call(0)  # the library gets its workspace for this stream
    if cores == 0:
        return timed(device, stream, call, count)
    copy = Copy(device, cores)
    rounds = max(1, math.ceil((SPARE * count * timed(device, stream, call, count) + AHEAD) / copy.seconds(1)))
    for _ in range(ATTEMPTS):
        copy.start(rounds)
        time.sleep(AHEAD)
        one = timed(device, stream, call, count, wait=False)
        if not copy.has_ended_before(device.wait):
            return one
        rounds *= 2
    raise Unavailable("the copy ended before the calls beside it")


def timed(device, stream, call, count, wait=True):
    """Seconds of one call on this stream, by the device's clock. With `wait` the device is idle first."""
    begin, end = device.event(), device.event()
    if wait:
        device.wait()
    with device.torch.cuda.stream(stream):
        begin.record()
        for i in range(count):
            call(i)
        end.record()
    end.synchronize()
    return begin.elapsed_time(end) / 1000 / count


class Copy:
    """The copy, on a stream of its own."""

    def __init__(self, device, cores):
        try:
            from calibration.devices.held_kernel import hold
        except ImportError as error:
            raise Unavailable(f"no copy that holds cores without Triton ({error})") from None
        self.device, self.cores, self.kernel, self.stream = device, cores, hold, device.torch.cuda.Stream()
        self.source, self.target = (device.torch.randn(ELEMENTS, device=device.device) for _ in range(2))
        self.end = device.event()
        self.seconds(1)  # compiles it

    def start(self, rounds):
        with self.device.torch.cuda.stream(self.stream):
            self.kernel[(self.cores,)](self.source, self.target, ELEMENTS, rounds, BLOCK=BLOCK, num_warps=WARPS)
            self.end.record()

    def has_ended_before(self, wait):
        """Called when the calls beside it are done: whether the copy was done as well. Waits for it."""
        done = self.end.query()
        wait()
        return done

    def seconds(self, rounds):
        self.device.wait()
        begin = time.perf_counter()
        self.start(rounds)
        self.device.wait()
        return time.perf_counter() - begin
