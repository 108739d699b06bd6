"""Figure 6(b): activations that go to a host, against computing them again, by what the host's link has."""

from _parts import Outcome, seconds, two
from _runs import table

EXPERIMENT = "watos/host-offload.toml"
BANDWIDTHS = (20, 40, 80, 160, 320, 640)  # GB/s; the paper's wafer has 160
PAPER = "2.20"  # times as long as computing again
RECOMPUTED = ("watos/offload.toml", (("strategy.loans", "[]"), ("strategy.recomputation", "full")))
LENDING = ("watos/offload.toml", ())
LOANS = (EXPERIMENT, ())


def host(bandwidth):
    links = ", ".join(f"[{column}, 0]" for column in range(7))
    return (("machine.host", "[{name = 'host', memory_capacity = '4 TB', memory_bandwidth = '4 TB/s', latency = '1 us', "
             f"bridge_bandwidth = '{bandwidth} GB/s', bandwidth = '{bandwidth} GB/s', links = [{links}]}}]"),)


def study(simulator):
    jobs = {bandwidth: (EXPERIMENT, host(bandwidth)) for bandwidth in BANDWIDTHS}
    found = dict(zip(jobs, simulator.many(jobs.values())))
    again, lent = (seconds(simulator.summary(*job)) for job in (RECOMPUTED, LENDING))
    lines = []
    for bandwidth, result in found.items():
        late = result["mean_offload_ps"] + result["mean_bubble_ps"]
        lines.append((bandwidth, two(seconds(result)), two(seconds(result) / again), f"{100 * result['use_of_links']['host'][1]:.0f}", f"{late * 1e-9:.0f}"))
    lines += [("all computed again", two(again), "1.00", "", ""), ("lent to other dies", two(lent), two(lent / again), "", "")]
    over = seconds(found[160]) / again
    return Outcome(tables={"figure 6b": table(("host GB/s", "iteration s", "over recomputation", "use of its link %", "waited and bubbles ms"), lines)},
                   claims=[("figure 6(b): off-loading over computing again", PAPER, two(over), over >= 0.95 * float(PAPER))],
                   summary={"offloading_over_recomputation": two(over), "paper_offloading": PAPER})
