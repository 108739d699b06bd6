#!/usr/bin/env python3
"""Takes the files that docs/extending.md and docs/extending-strategies.md show out of the pages, and registers them in copies of the lists that it names.

    extract.py SOURCE_DIR OUT_DIR PAGE...

A code block whose first line is a comment with a path begins a file; the blocks behind it in the same numbered step go on with it.
"""

import pathlib
import re
import sys

# What the page says in words: the list, the last line that is there, the line behind it.
REGISTRATIONS = [
    ("src/machine/topologies/topologies.hpp", "[[nodiscard]] TopologyKind package_topology();", "\n[[nodiscard]] TopologyKind star_topology();"),
    ("src/machine/topology.cpp", "package_topology()", ", star_topology()"),
    ("src/program/collectives/algorithms.hpp", "[[nodiscard]] AlgorithmPointer make_mesh_scatter();", "\n[[nodiscard]] AlgorithmPointer make_star();"),
    ("src/program/collectives/registry.cpp", "all.push_back(make_mesh_scatter());", "\n  all.push_back(make_star());"),
    ("src/workload/graphs/families.hpp", "[[nodiscard]] NetworkFamily language_model_family();", "\n[[nodiscard]] NetworkFamily lenet_family();"),
    ("src/workload/graphs/registry.cpp", "language_model_family(),", " lenet_family(),"),
    ("src/strategy/built_in.cpp", "t3::kind(),", "\n      replicas::kind(),"),
    ("src/strategy/built_in.cpp", '#include "tessera/strategy/primepar/primepar.hpp"\n', '#include "tessera/strategy/replicas/replicas.hpp"\n'),
]


def files_of(page):
    """Path -> text of each file of the page."""
    files, path, lines = {}, None, page.splitlines()
    for i, line in enumerate(lines):
        begins = re.match(r"^ {7}// ((?:src|include)/\S+)$", line)
        if begins:
            path = begins[1]
        elif re.match(r"^(\d\.|#)", line):
            path = None
        if path and (line.startswith(" " * 7) or (not line.strip() and path in files)):
            files[path] = files.get(path, "") + line[7:] + "\n"
    return files


def main():
    source, out, *pages = (pathlib.Path(argument) for argument in sys.argv[1:])
    made = {name: text for page in pages for name, text in files_of(page.read_text()).items()}
    for name, last, new in REGISTRATIONS:
        text = made.get(name) or (source / name).read_text()
        if text.count(last) != 1:
            sys.exit(f"{name}: expected one '{last}', behind which '{new.strip()}' is registered")
        made[name] = text.replace(last, last + new)
    for name, text in made.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


if __name__ == "__main__":
    main()
