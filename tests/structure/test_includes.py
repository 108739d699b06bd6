"""Walls: what each layer may include (docs/architecture.md). A folder that is not listed here fails."""

import os
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
STRATEGY = {"base", "machine", "workload", "program", "strategy"}
MAY = {
    "base": set(),
    "pdes": {"base"},
    "machine": {"base"},
    "workload": {"base", "machine"},
    "program": {"base", "machine", "workload"},
    "strategy": STRATEGY,
    "results": {"base", "pdes"},
    "sim": {"base", "pdes", "machine", "workload", "program", "results"},
    "experiment": {"base", "pdes", "machine", "workload", "program", "strategy", "results", "sim"},
}
PHYSICS = {"network", "execution", "gpu", "memory"}  # folders of sim/, which can be read without its laws
MAY_IN_SIM = {
    "network": set(),
    "memory": {"network"},
    "gpu": {"network", "memory"},
    "execution": PHYSICS - {"execution"},
    "laws": PHYSICS,
    "run": PHYSICS | {"laws"},
}
REGISTRY = "src/strategy/built_in.cpp"  # the one file that knows all strategies
MPI = {"base", "pdes", "results"}  # the layers that call it
ROUTES = "include/tessera/machine/routes.hpp"  # the one walk of a way


def layer_of(path):
    """"sim"; of what is in a strategy's own folder "strategy/NAME"."""
    inside = path.parts[2:] if path.parts[0] == "include" else path.parts[1:]
    return "/".join(inside[:2]) if inside[0] == "strategy" and len(inside) > 2 else inside[0]


def includes(path):
    """Files of the project that it includes."""
    for text in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', (ROOT / path).read_text(), re.MULTILINE):
        for found in (pathlib.Path("include", text), pathlib.Path("src", text), pathlib.Path(os.path.normpath(path.parent / text))):
            if (ROOT / found).exists() and found.parts[0] in ("include", "src"):
                yield found


def folder_in_sim(path):
    """"network" of src/sim/network/node.hpp; "" of what stands in sim/ itself, or elsewhere."""
    inside = path.parts[2:] if path.parts[0] == "include" else path.parts[1:]
    return inside[1] if inside[0] == "sim" and len(inside) > 2 else ""


def broken_in_sim():
    """Installed headers of sim/ itself are what run/ offers; src/sim/lazy.hpp and ring_buffer.hpp are for all."""
    for path in sources():
        mine = folder_in_sim(path)
        for other in includes(path) if mine else ():
            theirs = folder_in_sim(other)
            if theirs and theirs != mine and theirs not in MAY_IN_SIM[mine]:
                yield f"{path} includes {other}"
            elif layer_of(other) == "sim" and not theirs and other.parts[0] == "include" and mine not in ("laws", "run"):
                yield f"{path} includes {other}"


def stems(folder):
    """Names of the files in it, and of its folders with a slash."""
    return {path.stem if path.is_file() else path.name + "/" for path in (ROOT / "src/sim" / folder).iterdir()}


def on_the_map():
    """By folder of src/sim, what the map of docs/simulation.md names there."""
    text = (ROOT / "docs" / "simulation.md").read_text()
    lines = re.search(r"^    src/sim/.*?\n((?:    .*\n)+)", text, re.MULTILINE)[1]
    found, folder = {}, None
    for line in re.sub(r"\([^()]*\)", "", lines).splitlines():
        begin = re.match(r"      (\w+)/ ", line)
        folder = begin[1] if begin else folder
        names = line.split("/ ", 1)[1] if begin else line
        found.setdefault(folder, set()).update(re.findall(r"[a-z_]+\*?/?(?=[,;\s]|$)", names))
    return found


def allowed(layer, other):
    outer, inner = layer.split("/")[0], other.split("/")[0]
    if outer == inner == "strategy":
        return other in ("strategy", layer)
    return outer == inner or inner in MAY[outer]


def sources():
    return [path.relative_to(ROOT) for folder in ("src", "include") for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]


def odd(path, text):
    """What the other checks would not see in a file, or what no layer but some may have."""
    if path.suffix not in (".cpp", ".hpp"):
        yield f"{path}: neither .cpp nor .hpp"
    for line in re.findall(r"^\s*#\s*include\s*(.*)", text, re.MULTILINE):
        if line[:1] not in ("<", '"'):
            yield f"{path} includes by a macro, {line}"
        elif re.match(r'[<"]mpi\.h', line) and layer_of(path) not in MPI:
            yield f"{path} includes mpi.h"
    if re.search(r"\brouter\s*(->|\.)\s*next\(", text) and str(path) != ROUTES:
        yield f"{path} asks a router for the way, not machine::Routes"


def not_installed():
    """Installed headers that include one that is not."""
    headers = [path.relative_to(ROOT) for path in sorted((ROOT / "include").rglob("*.hpp"))]
    return [f"{path} includes {other}" for path in headers for other in includes(path) if other.parts[0] != "include"]


def is_private(path, other):
    """Whether it is a header of another layer that is not installed."""
    return other.parts[0] == "src" and layer_of(other).split("/")[0] != layer_of(path).split("/")[0]


def broken():
    return [f"{path} includes {other}" for path in sources() for other in includes(path)
            if is_private(path, other) or (str(path) != REGISTRY and not allowed(layer_of(path), layer_of(other)))]


class Walls(unittest.TestCase):
    def test_no_layer_includes_what_it_may_not(self):
        self.assertEqual(broken(), [])

    def test_physics_knows_no_law(self):
        self.assertEqual(list(broken_in_sim()), [])
        self.assertEqual(folder_in_sim(pathlib.Path("src/sim/laws/rings/ring.hpp")), "laws")
        self.assertEqual(folder_in_sim(pathlib.Path("include/tessera/sim/network/arbitration.hpp")), "network")
        self.assertEqual(folder_in_sim(pathlib.Path("src/sim/lazy.hpp")), "")
        self.assertTrue(all("laws" not in MAY_IN_SIM[folder] and "run" not in MAY_IN_SIM[folder] for folder in PHYSICS))

    def test_the_map_of_the_simulation_is_the_folder(self):
        for folder in ("network", "execution", "laws", "run"):
            names = on_the_map()[folder]
            said = {stem for stem in stems(folder) if stem in names or any(stem.startswith(name[:-1]) for name in names if name[-1] == "*")}
            self.assertEqual(stems(folder) - said, set(), f"not on the map of docs/simulation.md: {folder}")
            here = {name for name in names if any(stem == name or (name[-1] == "*" and stem.startswith(name[:-1])) for stem in stems(folder))}
            self.assertEqual(names - here, set(), f"on the map of docs/simulation.md, but not there: {folder}")

    def test_nothing_passes_by_the_walls(self):
        self.assertEqual([said for path in sources() for said in odd(path, (ROOT / path).read_text())], [])
        for name, text in (("src/sim/a.inl", ""), ("src/sim/a.cpp", "#include HEADER\n"), ("src/sim/a.cpp", "# include <mpi.h>\n"),
                           ("src/sim/a.cpp", "network.router->next(1, 2)")):
            self.assertEqual(len(list(odd(pathlib.Path(name), text))), 1, (name, text))
        self.assertTrue(is_private(pathlib.Path("src/sim/a.cpp"), pathlib.Path("src/results/temporary_file.hpp")))

    def test_installed_headers_include_installed_ones_alone(self):
        self.assertEqual(not_installed(), [])

    def test_a_broken_wall_is_seen(self):
        for layer, other in (("base", "pdes"), ("program", "sim"), ("strategy/t3", "sim"), ("strategy/t3", "strategy/megatron"), ("sim", "strategy"),
                             ("strategy", "strategy/t3"), ("results", "sim"), ("sim", "experiment")):
            self.assertFalse(allowed(layer, other), (layer, other))
        self.assertTrue(allowed("strategy/t3", "strategy"))
        self.assertEqual(layer_of(pathlib.Path("include/tessera/strategy/t3/t3.hpp")), "strategy/t3")
        self.assertEqual(layer_of(pathlib.Path("src/strategy/strategy.cpp")), "strategy")
        self.assertIn(pathlib.Path("src/sim/network/node.hpp"), includes(pathlib.Path("src/sim/run/model.hpp")))
        self.assertIn(pathlib.Path("include/tessera/strategy/t3/t3.hpp"), includes(pathlib.Path(REGISTRY)))

    def test_the_page_says_the_same(self):
        page = (ROOT / "docs" / "architecture.md").read_text()
        for layer, others in MAY.items():
            text = re.search(rf"^\| `{layer}/` \|.*\| (.*?) \|$", page, re.MULTILINE)[1]
            said = {"nothing above": set(), "all": set(MAY) - {layer}, "all but strategy": set(MAY) - {layer, "strategy", "experiment"},
                    "all of the above but pdes": STRATEGY - {"strategy"}}.get(text, set(text.split(", ")))
            self.assertEqual(said, others - {layer}, layer)


if __name__ == "__main__":
    unittest.main()
