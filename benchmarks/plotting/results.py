"""Results of baton_perf as its JSON files hold them (perf/json.cpp), checked and grouped into series."""
import contextlib
import dataclasses
import json
import math
import pathlib

LARGEST_FILE = 64 << 20  # characters; what never ends (/dev/zero) must not take all memory
LARGE = 64 << 20  # bytes, from which on links decide and no launches


class Problem(Exception):
    """Something that the user must mend, in words."""


@dataclasses.dataclass
class Row:
    bytes: int
    sent: float  # bytes that a rank must send
    times: dict  # name of a side -> median in microseconds; sides without a right result are missing
    p99: float  # of Baton, like the rest
    limit: float | None
    host: float | None
    best: str | None
    ratio: float | None
    wrong: int

    def bandwidth(self, microseconds):
        """Bus bandwidth in GB/s."""
        return self.sent / microseconds / 1e3

    def wire(self, microseconds):
        return self.limit / microseconds if self.limit else None


@dataclasses.dataclass
class Table:
    """The rows of one operation, type and mode: a picture, or a table of a page."""

    operation: str
    mode: str
    memory: str
    in_place: bool
    type: str
    redop: str
    rows: list

    def title(self, ranks):
        what = "" if self.operation == "barrier" else f", {self.type}"
        what += "" if self.redop == "none" else f" {self.redop}"
        place = ", in place" if self.in_place else ""
        memory = f", {self.memory} memory" if self.memory != "malloc" else ""
        return f"{self.operation}, {ranks_text(ranks)}{what}, {self.mode}{place}{memory}"

    def name(self):
        """Part of a file's name."""
        parts = [self.operation, self.type] + ([self.redop] if self.redop != "none" else []) + [self.mode]
        return "-".join(parts + (["inplace"] if self.in_place else []) + ([self.memory] if self.memory != "malloc" else []))

    def ratios(self, smallest=0):
        """Those of the rows from `smallest` bytes on."""
        return [row.ratio for row in self.rows if row.ratio and row.bytes >= smallest]


@dataclasses.dataclass
class Run:
    path: pathlib.Path
    ranks: int
    on_gpu: bool
    peers: list  # (name, label) of the sides besides Baton that took part
    tables: list
    launch_host: dict  # mode -> microseconds that a bare kernel launch takes the host
    data: dict  # the rest, as it was read

    def host_in_launches(self, table):
        """What each row's call takes the host, in bare launches; nothing where that was not measured."""
        launch = self.launch_host.get(table.mode)
        return [row.host / launch for row in table.rows if row.host] if launch else []


def picture_folder(path):
    return path.parent / "pictures"


def picture_name(run, table):
    return f"{run.path.stem}-{table.name()}"


def read_text(path):
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(LARGEST_FILE + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    if len(text) > LARGEST_FILE:
        raise Problem(f"cannot read {path}: it is larger than {size_text(LARGEST_FILE)}")
    return text


@contextlib.contextmanager
def using(path):
    """Around what works on the values of a file: those that it cannot work on are the file's fault."""
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise Problem(f"{path} is not a results file of baton_perf: {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def writing(path):
    """Around what writes a file, or makes a folder."""
    try:
        yield
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}") from error


def load(path):
    try:
        data = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:  # too many digits, or brackets, are no JSONDecodeError
        raise Problem(f"{path} is not JSON: {error}") from error
    with using(path):
        json.dumps(data, ensure_ascii=False).encode()  # half a character could not be written
        return _run(path, data)


def _run(path, data):
    peers = [(peer["name"], peer["label"]) for peer in data.get("peers", []) if "absent" not in peer]
    grouped = [table for raw in _list(data, "tables") for table in _tables(raw)]
    launch_host = {mode: _positive(limits, "launch_host_us")
                   for mode, limits in data.get("limits", {}).items() if limits.get("launch_host_us")}  # the host: 0
    for key in ("date", "command", "versions", "run", "checked"):
        data[key]  # a file without them is none of ours
    return Run(path, int(data["ranks"]), bool(data["on_gpu"]), peers, grouped, launch_host, data)


def _tables(raw):
    """A table in the file may hold several types and reductions; each becomes a table of its own."""
    memory = "unregistered" if "not_registered" in raw else raw["memory"]
    groups = {}
    for row in _list(raw, "rows"):
        groups.setdefault((row["type"], row["redop"]), []).append(_row(row))
    return [
        Table(raw["operation"], raw["mode"], memory, raw["in_place"], type_, redop, rows)
        for (type_, redop), rows in groups.items()
    ]


def _list(raw, key):
    if not isinstance(raw[key], list):
        raise TypeError(f"{key} is no list")
    return raw[key]


def _positive(raw, key):
    number = float(raw[key])
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"{key} is not positive and finite: {number}")
    return number


def _bytes(raw, key):
    """A barrier has none."""
    number = float(raw[key])
    if not (math.isfinite(number) and number >= 0):
        raise ValueError(f"{key} is no number of bytes: {number}")
    return number


def _row(raw):
    times = {"baton": _positive(raw, "median_us")}
    for peer in raw.get("peers", []):
        if "absent" not in peer and peer["wrong"] == 0:
            times[peer["name"]] = _positive(peer, "median_us")
    limit, host, ratio = (_positive(raw, key) if key in raw else None for key in ("limit_us", "host_us", "ratio"))
    return Row(int(_bytes(raw, "bytes")), _bytes(raw, "sent_bytes"), times, _positive(raw, "p99_us"), limit, host,
               raw.get("best"), ratio, int(raw["wrong"]))


def ranks_text(ranks):
    return f"{ranks} rank{'' if ranks == 1 else 's'}"


def size_text(size):
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"
