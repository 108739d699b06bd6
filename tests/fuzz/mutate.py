"""Mutations of inputs: of what TOML and JSON mean, and of the bytes that they are."""

import json
import re

NUMBERS = ["0", "-1", "1", "2", "3", "7", "8", "64", "1000", "65536", "1048577", "2147483648", "4294967296", "9223372036854775807",
           "-9223372036854775808", "9223372036854775808", "0.5", "1.5", "-0.0", "1e-10", "1e-300", "1e10", "1e18", "1e300", "1e400", "inf", "nan",
           "0x10", "1_000", "00", "+5", ".5"]
SUFFIXES = ["ps", "ns", "us", "ms", "s", "h", "B", "kB", "MB", "GB", "TB", "PB", "KiB", "GiB", "B/s", "MB/s", "GB/s", "TB/s", "Gb/s", "FLOP/s", "TFLOP/s",
            "EFLOP/s", "Hz", "MHz", "GHz", "", "parsec"]
WORDS = ["", "all", "ring", "none", "auto", "0-3", "0-", "-1", "3-0", "0-999999999", "../x", "./machine.toml", "/dev/zero", "a\\u0000b", "\\u001b[31mred", "a\\nb", "\\t",
         "ü中𝄞", "{P(2x2)}", "{B, M, N, K}", "x" * 3000, "12abc", "1 GB", "%s%n", "'; --", "fp16", "int8", "fp64", "training", "full", "\\u202Eabc"]
FAULTS = ["device = 0", "device = 99999", "die = [0, 0]", "die = [3, 2]", "link = [0, 1]", 'link = ["gpu 0", "gpu 1"]', "link = [[0, 0], [1, 0]]", 'switch = "nvswitch 0"',
          'switch = "fabric"', 'link = ["leaf 0", "spine 0"]']
EFFECTS = ["dead = true", "speed = 0.5", "speed = 1e-10", "speed = 0.0", "bandwidth = 0.5", "bandwidth = 1e-9", "bandwidth = 2", "one_way = true\nbandwidth = 0.1",
           "one_way = true\ndead = true", ""]
QUANTITY = re.compile(r'^"([-+0-9.e]+) ?([A-Za-z/]+)"$')
PLAIN_NUMBER = re.compile(r"^[-+]?[0-9][0-9._eE+-]*$")


def literal(rng):
    """Any value, right or wrong."""
    kind = rng.randrange(8)
    if kind < 2:
        return rng.choice(NUMBERS)
    if kind < 4:
        return f'"{rng.choice(NUMBERS)} {rng.choice(SUFFIXES)}"'
    if kind == 4:
        return f'"{rng.choice(WORDS)}"'
    if kind == 5:
        return rng.choice(["true", "false", "1979-05-27T07:32:00Z", "[]", "{}", "[[]]", '["a", 1]', "[1, 2]", "{ a = 1 }", "[{}]", "''", '"""\n"""', "[1, 2, 3, 4, 5]"])
    if kind == 6:
        return "[" * rng.choice([1, 3, 255, 256, 257, 6000]) + "]" * 1
    return f'"{"long " * rng.choice([10, 1000, 100000])}"'


def near(rng, value):
    """A value of the same type that may well be allowed."""
    quantity = QUANTITY.match(value)
    if quantity:
        return f'"{rng.choice(["1", "2", "3", "8", "10", "33", "100", "1000", "0", "0.5", "1e6", "1e9"])} {quantity[2]}"'
    if PLAIN_NUMBER.match(value):
        try:
            number = int(value.replace("_", ""))
        except ValueError:
            return rng.choice(["0.1", "0.5", "0.9", "1.0", "1.5", "1e6", "1e12", "0.001"])
        return str(rng.choice([number + 1, max(0, number - 1), number * 2, number // 2, 1, 2, 3, 4, 5, 6, 8, 12, 16]))
    if value in ("true", "false"):
        return "false" if value == "true" else "true"
    return value


class Document:
    """A TOML file as lines: [table] headers, `key = value` entries, everything else."""

    def __init__(self, text):
        self.lines = []
        for line in text.splitlines():
            entry = re.match(r"^(\s*[\w.\"-]+)\s*=\s*(.*)$", line)
            if line.startswith("["):
                self.lines.append(["table", line, ""])
            elif entry:
                self.lines.append(["entry", entry[1], entry[2]])
            else:
                self.lines.append(["other", line, ""])

    def text(self):
        return "".join(f"{a} = {b}\n" if kind == "entry" else a + "\n" for kind, a, b in self.lines)

    def where(self, kind):
        return [i for i, line in enumerate(self.lines) if line[0] == kind]

    def insert(self, rng, text):
        lines = Document(text).lines
        at = rng.randrange(len(self.lines) + 1)
        self.lines[at:at] = lines


def change_value(rng, doc, vocabulary):
    i = rng.choice(doc.where("entry"))
    old = doc.lines[i][2]
    words = vocabulary.choices_of(doc.lines[i][1].strip().split(".")[-1])
    if words and rng.random() < 0.8:
        doc.lines[i][2] = f'"{rng.choice(words)}"'
    else:
        doc.lines[i][2] = near(rng, old) if rng.random() < 0.7 else literal(rng)


def scale_value(rng, doc, _):
    i = rng.choice(doc.where("entry"))
    quantity = QUANTITY.match(doc.lines[i][2])
    power = rng.choice([-18, -12, -9, -6, -3, -1, 1, 2, 3, 6, 9, 12, 18])
    if quantity:
        doc.lines[i][2] = f'"{quantity[1].split("e")[0]}e{power} {quantity[2]}"'
    elif PLAIN_NUMBER.match(doc.lines[i][2]):
        doc.lines[i][2] = str(int(10 ** power)) if power > 0 else f"1e{power}"


def drop_line(rng, doc, _):
    del doc.lines[rng.randrange(len(doc.lines))]


def repeat_line(rng, doc, _):
    i = rng.randrange(len(doc.lines))
    doc.lines.insert(rng.randrange(len(doc.lines) + 1), list(doc.lines[i]))


def rename_key(rng, doc, vocabulary):
    i = rng.choice(doc.where("entry"))
    key = doc.lines[i][1]
    doc.lines[i][1] = rng.choice([key + "s", key[1:] or "x", vocabulary.any_key(rng), f'"{rng.choice(WORDS)}"', key + ".x", ".".join(["a"] * rng.choice([3, 250, 300, 5000])), ""])


def swap_values(rng, doc, _):
    i, j = rng.choice(doc.where("entry")), rng.choice(doc.where("entry"))
    doc.lines[i][2], doc.lines[j][2] = doc.lines[j][2], doc.lines[i][2]


def rename_table(rng, doc, vocabulary):
    tables = doc.where("table")
    if tables:
        i = rng.choice(tables)
        name = doc.lines[i][1].strip("[]")
        doc.lines[i][1] = rng.choice([f"[{vocabulary.any_section(rng)}]", f"[[{name}]]", f"[{name}]", f"[{name}.x]", f"[{name}", "[" + ".".join(["a"] * rng.choice([3, 300, 5000])) + "]"])


def add_parameter(rng, doc, vocabulary):
    section, key, value = vocabulary.parameter(rng)
    tables = [i for i in doc.where("table") if doc.lines[i][1].strip("[]") in (section, section.rsplit(".", 1)[0])]
    if not tables:
        section = section if section not in ("machine.gpu",) else "machine.device"
        doc.lines += [["table", f"[{section}]", ""], ["entry", key, value]]
    else:
        doc.lines.insert(rng.choice(tables) + 1, ["entry", key, value if rng.random() < 0.8 else literal(rng)])


def add_fault(rng, doc, _):
    doc.lines += Document(f"[[machine.fault]]\n{rng.choice(FAULTS)}\n{rng.choice(EFFECTS)}\n").lines


def add_step(rng, doc, _):
    op = rng.choice(["compute", "send", "receive", "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "allocate", "release", "run", "wait", "signal", "gemm"])
    values = {"flops": rng.choice(["1e6", "1e12", "1e18", "0"]), "bytes": rng.choice(['"1 MB"', '"0 B"', '"7 B"', '"9e18 B"']), "group": '"all"', "shift": rng.choice(["1", "-1", "3"]),
              "peer": "0", "repeat": rng.choice(["1", "3", "850", "1000000000"]), "stream": rng.choice(["0", "1", "7"]), "devices": rng.choice(['"0"', '"0-1"', '"all"']),
              "event": '"e"', "block": rng.choice(['"work"', '"none"']), "memory": '"weights"', "label": rng.choice(['"x"', '"a\\u001b[2Jb\\n"'])}
    keys = rng.sample(sorted(values), rng.randrange(1, 6))
    doc.lines += Document("[[strategy.step]]\n" + f'op = "{op}"\n' + "".join(f"{key} = {values[key]}\n" for key in keys)).lines


STRUCTURAL = [change_value] * 8 + [scale_value] * 3 + [drop_line, repeat_line, rename_key, swap_values, rename_table] + [add_parameter] * 5 + [add_fault, add_step]




def nudge_value(rng, doc, vocabulary):
    """As change_value, but to what may well be allowed."""
    i = rng.choice(doc.where("entry"))
    key = doc.lines[i][1].strip().split(".")[-1]
    words = vocabulary.choices_of(key)
    doc.lines[i][2] = f'"{rng.choice(words)}"' if words and key not in ("kind", "name") else near(rng, doc.lines[i][2])


def add_plausible(rng, doc, vocabulary):
    """A parameter of a section that is there, at its default or near it."""
    sections = {doc.lines[i][1].strip("[]") for i in doc.where("table")} | {"record", "workload"}
    named = [line[2].strip('"') for line in doc.lines if line[0] == "entry" and line[1] in ("name", "kind", "model")]
    fitting = [p for p in vocabulary.parameters if p[0] in sections or (p[0].rsplit(".", 1)[0] in sections and p[0].rsplit(".", 1)[-1] in named)]
    if not fitting:
        return
    section, key, value = rng.choice(fitting)
    if key == "name":
        return
    header = section if section in sections else section.rsplit(".", 1)[0]
    words = vocabulary.choices_of(key)
    value = f'"{rng.choice(words)}"' if words else near(rng, value) if rng.random() < 0.5 else value
    for i, (kind, name, _) in enumerate(doc.lines):
        if kind == "table" and name == f"[{header}]":
            present = [j for j in range(i + 1, len(doc.lines)) if doc.lines[j][1] == key]
            if not present:
                doc.lines.insert(i + 1, ["entry", key, value])
            return
    doc.lines += [["table", f"[{header}]", ""], ["entry", key, value]]


GENTLE = [nudge_value] * 4 + [add_plausible] * 4 + [add_fault, scale_value]


def toml(rng, text, vocabulary):
    """Half of the cases are changed so that they may well be allowed."""
    doc = Document(text)
    gently = rng.random() < 0.55
    for _ in range(rng.choice([1, 1, 2, 3]) if gently else rng.choice([1, 1, 1, 2, 2, 3, 6])):
        if doc.where("entry"):
            rng.choice(GENTLE if gently else STRUCTURAL)(rng, doc, vocabulary)
    return doc.text()


def json_value(rng, value, depth=0):
    kind = rng.randrange(9)
    if kind == 0 and isinstance(value, (int, float)) and not isinstance(value, bool):
        return value * rng.choice([-1, 0, 2, 10**9, 10**18])
    if kind == 1 and isinstance(value, int):
        return value + rng.choice([-1, 1])
    if kind == 2:
        nested = value
        for _ in range(rng.choice([2, 255, 257, 900])):
            nested = [nested]
        return nested
    return rng.choice([0, -1, 1, 3, 2**31, 2**63 - 1, 2**64, -2**64, 10**30, 0.5, 1e-300, 1e300, float("inf"), float("-inf"), None, True, False, "", "x", "\u001b[1m", "\ud800", "a" * 100000, [], {}, [1, 2], {"a": {}}])


def json_text(rng, text, vocabulary):
    fields = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        key = rng.choice(sorted(fields)) if fields else "x"
        action = rng.randrange(6)
        if action == 0:
            fields.pop(key, None)
        elif action == 1:
            fields[rng.choice([key + "s", "is_decoder", "sliding_window", "quantization_config", "n_inner", "\u0007", "head_dim", "num_local_experts"])] = json_value(rng, 1)
        elif action == 2:
            fields["model_type"] = rng.choice(["gpt2", "llama", "bert", "opt", "bloom", "mixtral", "mistral", "gpt3", "", None, 5, ["gpt2"]])
        else:
            fields[key] = json_value(rng, fields.get(key))
    return spoilt(rng, json.dumps(fields))


def spoilt(rng, out):
    """Numbers that no computer has, and text behind the end."""
    out = out.replace("Infinity", rng.choice(["1e400", "1e400", "123456789e999", "Infinity"]))
    return out + rng.choice(["", "", "", "}", " x", out]) if rng.random() < 0.2 else out


def places_in(value):
    """(container, key) of everything in a JSON value."""
    found = []
    for key in (range(len(value)) if isinstance(value, list) else sorted(value)) if isinstance(value, (list, dict)) else ():
        found += [(value, key), *places_in(value[key])]
    return found


def json_graph(rng, text):
    """A graph of tensors and nodes with other values anywhere in it."""
    graph = json.loads(text)
    for _ in range(rng.choice([1, 1, 2, 4])):
        container, key = rng.choice(places_in(graph))
        if isinstance(container, dict) and rng.random() < 0.15:
            del container[key]
        else:
            container[key] = json_value(rng, container[key])
    return spoilt(rng, json.dumps(graph))


def as_bytes(rng, data, others):
    """Flips, cuts, repeats and splices, without regard to what the bytes mean."""
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 4, 64, 4096])
        action = rng.randrange(7)
        if action == 0 and data:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        elif action == 1 and data:
            data[rng.randrange(len(data))] = rng.choice([0, 0xFF, 0x0A, 0x1B, 0x22, 0x5B, 0x2E, rng.randrange(256)])
        elif action == 2:
            del data[at:at + length]
        elif action == 3:
            data[at:at] = bytes(rng.randrange(256) for _ in range(min(length, 64)))
        elif action == 4:
            data[at:at] = data[at:at + length] * rng.choice([1, 2, 50])
        elif action == 5:
            other = rng.choice(others)
            start = rng.randrange(len(other) + 1)
            data[at:at + length] = other[start:start + length]
        elif rng.random() < 0.3:
            del data[at:]
    return bytes(data)
