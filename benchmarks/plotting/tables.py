"""Results as Markdown, and pages that hold them between markers."""
import glob
import math
import os
import pathlib
import re
import shlex
import statistics

from . import results

BEGIN = re.compile(r"<!-- results: (.+) -->")
END = "<!-- end of results -->"
EMPTY = "No results are committed yet."


def markdown(run, page=None):
    """All tables of a file. `page`: the file that the text will stand in, for links to pictures."""
    with results.using(run.path):
        parts = [_preamble(run), _summary(run)] + [_table(run, table, page) for table in run.tables]
    return "\n".join(part for part in parts if part)


def rewritten(page, text):
    """The text of a page with the results between its markers made new."""
    lines, inside, found = [], False, False
    for line in text.split("\n"):
        begin = BEGIN.fullmatch(line.strip())
        if inside and begin:
            raise results.Problem(f"{page}: \"{line}\" comes before the last \"{END}\"")
        if begin:
            inside = found = True
            lines += [line, "", _results_of(page, begin.group(1)), ""]
        elif line.strip() == END:
            if not inside:
                raise results.Problem(f"{page}: \"{END}\" without its beginning")
            inside = False
            lines.append(line)
        elif not inside:
            lines.append(line)
    if inside:
        raise results.Problem(f"{page}: \"{END}\" is missing")
    if not found:
        raise results.Problem(f"{page}: no \"<!-- results: FILES -->\" in it")
    return "\n".join(lines)


def _results_of(page, patterns):
    files = []
    for pattern in patterns.split():
        matches = sorted(glob.glob(str(page.parent / pattern)))
        if not matches and not glob.has_magic(pattern):
            raise results.Problem(f"{page}: there is no {pattern}")
        files += matches
    if not files:
        return EMPTY
    runs = [results.load(pathlib.Path(file)) for file in files]
    for run in runs:
        if not run.data["checked"]:
            raise results.Problem(f"{run.path} was measured with --no-check: its results have no place on a page")
    return "\n".join(markdown(run, page) for run in runs).rstrip("\n")


def _preamble(run):
    data = run.data
    versions = ", ".join(f"{name} {value}" for name, value in (
        ("Baton", data["versions"].get("baton")), ("NCCL", data["versions"].get("nccl")),
        ("driver", data["versions"].get("driver"))) if value)
    gpus = sorted({gpu.split(",")[0] for gpu in data.get("gpus", [])})
    where = f"{results.ranks_text(run.ranks)} on {', '.join(gpus) or 'host memory'}"
    more = "; ".join(text for text in (data["versions"].get("cuda"), data["versions"].get("mpi")) if text)
    settings = "".join(f"{name}={shlex.quote(_first_line(value))} " for name, value in data.get("environment", {}).items())
    lines = [f"**{where}**, {data['date']}: {versions}; {more}.", "",
             "```", f"{settings}mpirun -np {run.ranks} {_first_line(data['command'])}", "```", ""]
    for mode, limits in data.get("limits", {}).items():
        lines += [f"- {mode}: {text}" for text in limits["how"]]
    shown = ("each rank may run on",) if run.on_gpu else ("each rank may run on", "CPU:")
    lines += [f"- {line}" for line in data["run"] if line.startswith(shown)]
    if not data["checked"]:
        lines.append("- **Not verified** (--no-check): nobody has looked at the results")
    for peer in data.get("peers", []):
        if "absent" in peer:
            lines.append(f"- {peer['name']} is absent: {peer['absent']}")
    if "device_bytes" in data and run.on_gpu:
        lines.append(f"- Baton's own device memory, the most of a rank: {data['device_bytes'] / 2**20:.1f} MiB")
    return "\n".join(lines) + "\n"


def _summary(run):
    """A line for each table that has ratios."""
    rows = [(table, table.ratios(), run.host_in_launches(table)) for table in run.tables if table.ratios()]
    if not rows:
        return ""
    with_large = any(table.ratios(results.LARGE) for table, _, _ in rows)
    heads = ["operation", "ratio: geometric mean"]
    heads += [f"from {results.size_text(results.LARGE)} on"] if with_large else []
    heads += ["smallest", "sizes below 1", "wire at the largest size"]
    with_host = any(launches for _, _, launches in rows)
    heads += ["host / bare launch: median, most"] if with_host else []
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for table, ratios, launches in rows:
        below = [f"{results.size_text(row.bytes)} ({row.ratio:.2f}, {row.best})"
                 for row in table.rows if row.ratio and row.ratio < 1]
        last = table.rows[-1]
        cells = [table.title(run.ranks), _mean(ratios)] + ([_mean(table.ratios(results.LARGE))] if with_large else [])
        cells += [f"{min(ratios):.2f}", ", ".join(below) or "none", _number(last.wire(last.times["baton"]))]
        if with_host:
            cells.append(f"{statistics.median(launches):.2f}, {max(launches):.2f}" if launches else "")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _table(run, table, page):
    lines = [f"### {table.title(run.ranks)}", ""]
    picture = results.picture_folder(run.path) / f"{results.picture_name(run, table)}.svg"
    if page and picture.exists():
        lines += [f"![{table.title(run.ranks)}]({os.path.relpath(picture, page.parent)})", ""]
    peers = [(name, label) for name, label in run.peers if any(name in row.times for row in table.rows)]
    heads = ["size", "Baton, us", "p99, us"] + [f"{label}, us" for _, label in peers]
    heads += ["ratio", "wire", "bus GB/s"] + (["host us"] if any(row.host for row in table.rows) else [])
    lines += ["| " + " | ".join(heads) + " |", "|" + "---:|" * len(heads)]
    for row in table.rows:
        own = row.times["baton"]
        cells = [results.size_text(row.bytes), f"{own:.2f}" + (" WRONG" if row.wrong else ""), f"{row.p99:.2f}"]
        cells += [_number(row.times.get(name)) for name, _ in peers]
        cells += [_number(row.ratio), _number(row.wire(own)), f"{row.bandwidth(own):.1f}"]
        cells += [_number(row.host)] if "host us" in heads else []
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def _mean(ratios):
    """The geometric one."""
    return _number(math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None)


def _first_line(text):
    """What follows could end the block of code that it is shown in."""
    first, *more = text.splitlines() or [""]
    return f"{first} ..." if more else first


def _number(value):
    return "" if value is None else f"{value:.2f}"
