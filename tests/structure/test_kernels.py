"""Of the object file that is compiled for AVX2, no function may stand in for one of the same name that other files have: the linker
keeps whichever it meets first, and on another processor the program would end at its first AVX2 instruction. So whatever the file
offers to others is its own: the two functions of kernels.hpp, and Eigen's under another name."""

import subprocess
import sys

OWN = ("tessera::strategy::mcm::avx2_kernels()", "tessera::strategy::mcm::has_avx2()")


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


def main(archive):
    names = offered(archive, "kernels_avx2.cpp")
    missing = [name for name in OWN if name not in names]
    assert not missing, f"the library has no {missing}"
    strangers = [name for name in names if name not in OWN and "EigenAvx2::" not in name and not name.startswith("DW.ref.")]
    assert not strangers, "kernels_avx2.cpp offers to other files:\n" + "\n".join(strangers)


if __name__ == "__main__":
    main(sys.argv[1])
