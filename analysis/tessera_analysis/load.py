"""Results of a run as data frames. The schema is described in docs/results.md."""

from functools import cached_property

import pandas

from .file import ResultFile, ResultsError  # noqa: F401 (whoever loads also catches)


def load(path):
    """Opens a result file; tables are read when they are first asked for."""
    return Results(path)


def readable(frame):
    """A copy in units for people: picoseconds become seconds (columns *_ps become *_s), bytes gigabytes (10^9)."""
    units = dict(frame.attrs.get("units", {}))
    copy = frame.copy()
    names = {}
    for column, unit in units.items():
        if unit == "ps":
            copy[column] = copy[column] * 1e-12
            names[column] = column[:-3] + "_s" if column.endswith("_ps") else column
            units[column] = "s"
        elif unit in ("B", "B/s"):
            copy[column] = copy[column] * 1e-9
            units[column] = "G" + unit
    copy = copy.rename(columns=names)
    copy.attrs.update(frame.attrs)
    copy.attrs["units"] = {names.get(column, column): unit for column, unit in units.items()}
    return copy


class Results(ResultFile):
    """One result file of tessera run."""

    FORMAT, MAIN_TABLES, KIND = "tessera results", ("summary",), "a result file of tessera run"

    def _only_row(self, table):
        frame = self.table(table)
        if len(frame) != 1:
            raise self._cannot_read(f"table /{table} is damaged: it has {len(frame)} rows")
        row = frame.iloc[0]
        row.attrs.update(frame.attrs)
        return row

    def _named(self, frame, column, names):
        """Indices as a categorical of their names, which takes no more memory."""
        for of, wanted in ((frame, column), (self.table(names), "name")):
            if wanted not in of:
                raise self._cannot_read(f"the file is damaged: a table has no column '{wanted}'")
        categories = _distinct(self.table(names)["name"])
        if frame[column].dtype.kind != "i" or not frame[column].between(0, len(categories) - 1).all():
            raise self._cannot_read(f"the file is damaged: column '{column}' names more than /{names} has")
        frame[column] = pandas.Categorical.from_codes(frame[column], categories=categories)
        frame.attrs["units"][column] = "text"
        return frame

    @cached_property
    def summary(self):
        """The run in one row, as a Series."""
        return self._only_row("summary")

    @property
    def title(self):
        return self.summary["title"]

    @cached_property
    def devices(self):
        return self.table("devices")

    @cached_property
    def links(self):
        return self.table("links")

    @cached_property
    def memory(self):
        return self.table("memory")

    @cached_property
    def collectives(self):
        return self.table("collectives")

    @cached_property
    def plan(self):
        """What the strategy says of itself, as a dict."""
        return dict(zip(self._column("plan", "key"), self._column("plan", "value")))

    @cached_property
    def search(self):
        """What the strategy's search tried; None when it searched nothing."""
        for name in ("search", "provenance/search"):
            if name in self.tables:
                return self.table(name)
        return None

    @cached_property
    def partition(self):
        """Of a strategy that places nodes of a graph: /partition and /graph_edges, two data frames; None of others."""
        if not {"partition", "graph_edges"} <= self.tables:
            return None
        nodes, edges = self.table("partition"), self.table("graph_edges")
        if not (edges["from"].isin(nodes["node"]).all() and edges["to"].isin(nodes["node"]).all()):
            raise self._cannot_read("table /graph_edges is damaged: it names a node that /partition does not have")
        return nodes, edges

    @cached_property
    def predicted(self):
        """Times that the strategy foretold, in ps, as a dict; "all": of the iteration."""
        if "predicted" not in self.tables:
            return {}
        return dict(zip(self._column("predicted", "what"), self._column("predicted", "time_ps")))

    @cached_property
    def provenance(self):
        """How the run was carried out, as a Series."""
        return self._only_row("provenance/run")

    @cached_property
    def experiment(self):
        """The resolved experiment: TOML that tessera run takes again."""
        return self._text("provenance/experiment_resolved")

    @cached_property
    def activities(self):
        """Names of what a device's time is counted as, in order."""
        return self._column("names/activities", "name")

    @cached_property
    def categories(self):
        """Names of what memory holds, in order."""
        return self._column("names/categories", "name")

    @cached_property
    def node_names(self):
        """Names of devices and switches, by number."""
        return self._column("names/nodes", "name")

    @cached_property
    def timeline(self):
        """Intervals of all streams; None when the run did not record them."""
        if "timeline" not in self.tables:
            return None
        frame = self._named(self.table("timeline"), "label", "names/labels")
        return self._named(frame, "activity", "names/activities")

    @cached_property
    def memory_timeline(self):
        """Changes of memory; None when the run did not record them."""
        if "memory_timeline" not in self.tables:
            return None
        return self._named(self.table("memory_timeline"), "category", "names/categories")

    def device_name(self, device):
        return self.node_names[device] if device < len(self.node_names) else f"device {device}"


def _distinct(names):
    """Names as categories, which must differ from one another."""
    seen, distinct = {}, []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        distinct.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return distinct
