"""Clocks while kernels run, for the table's comments: a rate means little without the clock that it was reached at."""

from calibration.devices import processor

NAMES = {"mhz": "SM", "memory_mhz": "memory"}


class Clocks:
    """Samples in MHz, by name. Where none can be read the table says so."""

    def __init__(self, device):
        self.device = device
        self.samples = {}

    def sample(self):
        if self.device.works_alone:
            read = self.device.read()
            found = {name: read.get(key) for key, name in NAMES.items()}
        else:
            found = {"fastest core": processor.clock()}
        for name, clock in found.items():
            if clock is not None:
                self.samples.setdefault(name, []).append(clock)

    def text(self):
        if not self.samples:
            return "clocks unknown"
        parts = []
        for name, found in self.samples.items():
            found = sorted(found)
            parts.append(f"{name} {found[len(found) // 2]:.0f} MHz ({found[0]:.0f} to {found[-1]:.0f})")
        return f"clocks while kernels ran, not locked: {', '.join(parts)}"
