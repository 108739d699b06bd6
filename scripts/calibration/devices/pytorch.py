"""A device as PyTorch drives it: a GPU, or the processor."""

from calibration import Refused
from calibration.devices import Unavailable, kernels, processor, smi


def find_device(torch, name):
    """The device of that name, or the first accelerator, or the CPU."""
    accelerators = {"cuda": torch.cuda, "xpu": getattr(torch, "xpu", None), "mps": getattr(torch.backends, "mps", None)}
    if name is None:
        name = next((kind for kind, module in accelerators.items() if module is not None and module.is_available()), "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise Refused(f'device "{name}": {str(error).splitlines()[0]}') from None
    return device


class PyTorch:
    def __init__(self, torch, device, datatype):
        self.torch, self.device, self.kind = torch, device, device.type
        self.datatype = datatype or ("fp32" if self.kind == "cpu" else "bf16")
        self.maker = kernels.Maker(torch, device, self.datatype)
        self.works_alone, self.replays = self.kind != "cpu", self.kind == "cuda"
        self.index = device.index or 0
        if self.replays:
            torch.cuda.set_device(self.index)  # streams, events and graphs are those of the current device
        torch.set_grad_enabled(False)

    def make(self, row):
        return self.maker.make(row)

    def wait(self):
        if self.works_alone:
            getattr(self.torch, self.kind).synchronize()

    def captured(self, loop):
        """As a CUDA graph."""
        if not self.replays:
            return None
        cuda = self.torch.cuda
        beside = cuda.Stream()
        beside.wait_stream(cuda.current_stream())
        with cuda.stream(beside):
            loop()
        cuda.current_stream().wait_stream(beside)
        graph = cuda.CUDAGraph()
        with cuda.graph(graph):
            loop()
        return graph.replay

    def launched(self, call, count):
        """On a GPU by the device's own clock, so that the host's waiting for the end is not in it."""
        if self.kind != "cuda":
            return processor.launched(self, call, count)
        begin, end = self.event(), self.event()
        self.wait()
        begin.record()
        for i in range(count):
            call(i)
        end.record()
        self.wait()
        return begin.elapsed_time(end) / 1000

    def event(self):
        return self.torch.cuda.Event(enable_timing=True)

    def beside(self, call, count, cores):
        if self.kind == "cpu":
            source, target = (self.torch.zeros(processor.COPIED // 4) for _ in range(2))
            return processor.beside(call, count, cores, lambda: target.copy_(source))
        if self.kind != "cuda":
            raise Unavailable(f'for device "{self.kind}" there is no copy that holds cores')
        from calibration.devices.held_cores import beside
        return beside(self, call, count, cores)

    def read(self):
        return smi.read(self.index) if self.kind == "cuda" else {}

    def free_memory(self):
        if self.kind == "cuda":
            self.torch.cuda.empty_cache()  # PyTorch keeps what earlier rows needed
            return self.torch.cuda.mem_get_info(self.index)[0]
        return processor.free_memory() if self.kind == "cpu" else None

    def about(self):
        """What a machine file's [machine.device] would like to know."""
        if self.kind == "cuda":
            found = self.torch.cuda.get_device_properties(self.index)
            return f"{found.name}, {found.multi_processor_count} multiprocessors, {found.total_memory / 1e9:.1f} GB"
        if self.kind == "cpu":
            threads = self.torch.get_num_threads()
            return f"{processor.name()}, {threads} thread{'s' if threads > 1 else ''}"
        return f"device {self.device}"

    def library(self):
        return f"PyTorch {self.torch.__version__}"

    def environment(self):
        """Further lines for the table."""
        if self.kind != "cuda":
            return []
        return [f"CUDA {self.torch.version.cuda}, cuDNN {self.torch.backends.cudnn.version()}, {smi.settings(self.index)}"]
