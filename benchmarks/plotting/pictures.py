"""A picture of each table: time, bus bandwidth, and how near to the limit, over the size."""
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot, ticker  # noqa: E402 - the backend comes first

from . import results  # noqa: E402

# Colours of Okabe and Ito, which people with any colour vision tell apart; markers say the same without colour.
STYLES = {
    "baton": ("#D55E00", "o"),
    "nccl": ("#0072B2", "s"),
    "nccl_registered": ("#56B4E9", "^"),
    "nccl_symmetric": ("#009E73", "D"),
    "nccl_zero_cta": ("#CC79A7", "v"),
    "mpi": ("#E69F00", "P"),
}
OTHER = ("#000000", "x")
LIMIT = "#555555"
LINE_POINTS = 12  # between two labels


def draw(run, folder):
    """Yields the paths of the files written, SVG and PNG of each table with sizes."""
    with results.writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for table in run.tables:
        if table.operation == "barrier" or not table.rows:
            continue
        with results.using(run.path):
            figure = _figure(run, table)
            name = results.picture_name(run, table)
        for suffix in ("svg", "png"):
            path = folder / f"{name}.{suffix}"
            # Without the date and random names, so that the same results give the same file.
            with results.writing(path):
                figure.savefig(path, dpi=150, metadata={"Date": None} if suffix == "svg" else None)
            yield path
        pyplot.close(figure)


def _figure(run, table):
    pyplot.rcParams.update({"font.size": 10, "svg.hashsalt": "baton", "svg.fonttype": "path"})
    panels = [
        ("time (us)", lambda row, time: time, "log"),
        ("bus bandwidth (GB/s)", lambda row, time: row.bandwidth(time), "log"),
        ("fraction of the limit", lambda row, time: row.wire(time), "linear"),
    ]
    if not any(row.limit for row in table.rows):
        del panels[2]
    width = 5.8 * len(panels)
    figure, axes = pyplot.subplots(1, len(panels), figsize=(width, 4.8))
    # In inches: margins, and beside each panel room for the curves' names.
    figure.subplots_adjust(left=0.7 / width, right=1 - 1.0 / width, bottom=0.17, top=0.82, wspace=1.5 / 4.1)
    figure.text(0.7 / width, 0.95, table.title(run.ranks), va="center", fontsize=13, fontweight="bold")
    figure.text(0.7 / width, 0.895, _subtitle(run, table), va="center", fontsize=9, color=LIMIT)
    for axis, (name, value, scale) in zip(axes, panels):
        _panel(axis, run, table, value)
        axis.set_yscale(scale)
        axis.set_title(name, fontsize=10, loc="left")
        if scale == "linear":
            axis.set_ylim(bottom=0)
        else:
            axis.yaxis.set_major_formatter(ticker.FuncFormatter(lambda number, _: f"{number:g}"))
    figure.canvas.draw()  # the labels go by where things are on the page
    for axis in axes:
        _label_ends(axis)
    return figure


def _subtitle(run, table):
    gpus = sorted({gpu.split(",")[0] for gpu in run.data.get("gpus", [])})
    versions = run.data["versions"]
    parts = [f"{results.ranks_text(run.ranks)} on {', '.join(gpus) or 'host memory'}", f"{table.memory} memory",
             f"NCCL {versions['nccl']}" if versions.get("nccl") else "",
             "NOT VERIFIED" if not run.data["checked"] else "",
             versions.get("mpi", "") if any(name == "mpi" for name, _ in run.peers) else "", run.data["date"]]
    return "; ".join(part for part in parts if part)


def _panel(axis, run, table, value):
    for name, label in [*run.peers, ("baton", "Baton")]:
        points = [(row.bytes, value(row, row.times[name])) for row in table.rows if name in row.times]
        points = [(size, number) for size, number in points if number]
        if points:
            colour, marker = STYLES.get(name, OTHER)
            own = name == "baton"
            axis.plot(*zip(*points), color=colour, marker=marker, markersize=5 if own else 4, label=label,
                      linewidth=2.4 if own else 1.3, zorder=3 if own else 2)
    limit = [(row.bytes, value(row, row.limit)) for row in table.rows if row.limit]
    if limit:
        axis.plot(*zip(*limit), color=LIMIT, linestyle="--", linewidth=1.3, label="limit", zorder=1)
    sizes = [row.bytes for row in table.rows]
    axis.set_xscale("log", base=2)
    axis.set_xticks(sizes)
    axis.xaxis.set_major_formatter(ticker.FuncFormatter(lambda size, _: results.size_text(int(size))))
    axis.xaxis.set_minor_locator(ticker.NullLocator())
    axis.tick_params(axis="x", labelrotation=45, labelsize=8)
    axis.set_xlabel("size")
    axis.grid(True, which="major", color="#DDDDDD", linewidth=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.03)


def _label_ends(axis):
    """Writes each curve's name at its right end, moved apart where they would cover each other."""
    points_of_pixel = 72 / axis.figure.dpi
    box = axis.get_window_extent()
    ends = []
    for line in axis.get_lines():
        end = (line.get_xdata()[-1], line.get_ydata()[-1])
        ends.append((axis.transData.transform(end)[1] * points_of_pixel, end, line))
    ends.sort(key=lambda end: end[0])
    places = _spread([end[0] for end in ends], box.y0 * points_of_pixel, box.y1 * points_of_pixel)
    for (_, end, line), place in zip(ends, places):
        axis.annotate(
            line.get_label(), xy=end, xytext=(box.x1 * points_of_pixel + 12, place), textcoords="figure points",
            color=line.get_color(), fontsize=9, va="center", annotation_clip=False,
            fontweight="bold" if line.get_label() == "Baton" else "normal",
            arrowprops={"arrowstyle": "-", "color": line.get_color(), "linewidth": 0.5, "shrinkA": 1, "shrinkB": 3})


def _spread(wanted, bottom, top):
    """Ascending places at least a line apart and, if they fit, between bottom and top, near the wanted ones."""
    places = list(wanted)
    for index in range(1, len(places)):
        places[index] = max(places[index], places[index - 1] + LINE_POINTS)
    limit = top
    for index in reversed(range(len(places))):
        places[index] = min(places[index], limit)
        limit = places[index] - LINE_POINTS
    shift = max(0, bottom - places[0]) if places else 0
    return [place + shift for place in places]
