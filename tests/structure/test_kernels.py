"""Of the object files that are compiled for AVX2, no function may stand in for one of the same name that other files have: the linker
keeps whichever it meets first, and on another processor the program would end at its first AVX2 instruction. So whatever such a file
offers to others is its own: one function, and Eigen's under another name."""

import subprocess
import sys

OWN = {"kernels_avx2.cpp": "tessera::learning::avx2_kernels()", "cost_loops_avx2.cpp": "tessera::strategy::primepar::avx2_cost_loops()"}


def offered(archive, member):
    """Functions and data that a member of a library defines for others, by name."""
    text = subprocess.run(["nm", "-C", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
    inside, names = False, []
    for line in text.splitlines():
        if line.endswith(":"):
            inside = line.startswith(member)
        elif inside and line:
            kind, name = line[17:18], line[19:]
            if kind.isupper() or kind in "vwu":
                names.append(name)
    return names


def main(archives):
    for member, own in OWN.items():
        names = [name for archive in archives for name in offered(archive, member)]
        assert own in names, f"{member} has no {own}"
        strangers = [name for name in names if name != own and "EigenAvx2::" not in name and not name.startswith("DW.ref.")]
        assert not strangers, f"{member} offers to other files:\n" + "\n".join(strangers)


if __name__ == "__main__":
    main(sys.argv[1:])
