"""A GPU under PyTorch's names, with a host that takes time for launches and streams that work beside it: a clock instead of a device.

Only what calibration.devices.pytorch and held_cores call is here. Times are in seconds.
"""

import contextlib
import types


class Stream:
    def __init__(self, gpu):
        self.gpu, self.free_at = gpu, 0.0

    def wait_stream(self, other):
        self.free_at = max(self.free_at, other.free_at)


class Event:
    def __init__(self, gpu):
        self.gpu, self.at = gpu, None

    def record(self):
        self.at = max(self.gpu.now, self.gpu.current.free_at)

    def query(self):
        return self.at <= self.gpu.now

    def synchronize(self):
        self.gpu.now = max(self.gpu.now, self.at)

    def elapsed_time(self, other):
        return 1000 * (other.at - self.at)


class Gpu:
    """`issue`: what the host takes for a launch; a call of a kernel is kernel(seconds)."""

    def __init__(self, issue):
        self.issue, self.now = issue, 0.0
        self.streams = []
        self.current = self.stream()
        self.held = []  # (cores, rounds) of copies

    @staticmethod
    def use(index):
        """As PyTorch, which refuses a device without a number."""
        if not isinstance(index, int):
            raise ValueError(f"Expected a torch.device with a specified index or an integer, but got: {index}")

    def stream(self):
        self.streams.append(Stream(self))
        return self.streams[-1]

    def kernel(self, seconds):
        self.now += self.issue
        self.current.free_at = max(self.current.free_at, self.now) + seconds

    def wait(self):
        self.now = max([self.now, *(stream.free_at for stream in self.streams)])

    @contextlib.contextmanager
    def on(self, stream):
        before, self.current = self.current, stream
        yield
        self.current = before

    def copy(self, seconds):
        """In the place of the kernel of Triton: a round takes so many seconds."""
        gpu = self

        class Hold:
            def __getitem__(self, grid):
                def launch(source, target, elements, rounds, BLOCK, num_warps):
                    gpu.held.append((*grid, rounds))
                    gpu.kernel(rounds * seconds)
                return launch

        return types.SimpleNamespace(hold=Hold())

    def sleep(self, seconds):
        self.now += seconds

    def torch(self):
        cuda = types.SimpleNamespace(Stream=self.stream, stream=self.on, current_stream=lambda: self.current, synchronize=self.wait, set_device=self.use,
                                     Event=lambda enable_timing: Event(self), is_available=lambda: True)
        return types.SimpleNamespace(cuda=cuda, float32="fp32", float16="fp16", bfloat16="bf16", set_grad_enabled=lambda _: None, randn=lambda *_, **__: [],
                                     backends=types.SimpleNamespace(cuda=types.SimpleNamespace(matmul=types.SimpleNamespace(allow_tf32=None))))
