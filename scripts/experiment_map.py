"""Runs of sources of negatives in cells, and the map of what they gain. Used by scripts/experiments.py."""

import html

LAYER_SOURCES = ("lsh", "uniform", "frequency")
HALF = ", half the epochs"


def name_of(source, cell, half=False):
    return f"{source['name']}, {cell['name']}" + (HALF if half else "")


def run_of(experiment, source, cell, half):
    """`shares` of a source say how many of a cell's `drawn` neurons it draws; what the layer does not know is found."""
    settings = [*cell.get("set", []), *source.get("set", [])]
    counts = {name: round(share * cell["drawn"]) for name, share in source["shares"].items()}
    for name in LAYER_SOURCES:
        settings.append(f"layer.-1.{name}={counts.get(name, 0)}")
    if not any(counts.get(name) for name in LAYER_SOURCES):
        settings.append("layer.-1.uniform=1")  # some source is needed
    arguments = ["--block", cell["block"], *cell.get("arguments", []), *source.get("arguments", [])]
    for name in counts.keys() - LAYER_SOURCES:
        arguments += ["--found", name, "--count", counts[name]]
    if half:
        settings.append(f"train.epochs={experiment['half_epochs']}")
    return {"name": name_of(source, cell, half), "set": settings, "arguments": [*experiment.get("arguments", []), *arguments],
            "data": [name for name in experiment["data"] if all(name in about.get("data", [name]) for about in (source, cell))]}


def runs_of(experiment):
    runs = []
    for cell in experiment["cell"]:
        for source in experiment["source"]:
            if cell["name"] not in source.get("cells", [cell["name"]]):
                continue
            runs.append(run_of(experiment, source, cell, False))
            if source.get("half"):
                runs.append(run_of(experiment, source, cell, True))
    return runs


def colour_of(gain, most):
    """White where nothing is gained, towards blue where something is, towards red where something is lost."""
    share = max(-1.0, min(1.0, gain / most))
    full = (27, 108, 168) if share > 0 else (209, 73, 91)
    return "#" + "".join(f"{round(255 + (c - 255) * abs(share) * 0.8):02x}" for c in full)


def gain(by_seed, data, source, base, cell, half):
    """Mean over the seeds that both have, in points; None without any."""
    with_source, without = by_seed(data, name_of(source, cell, half)), by_seed(data, name_of(base, cell))
    gains = [100 * (with_source[seed] - without[seed]) for seed in with_source.keys() & without.keys()]
    return sum(gains) / len(gains) if gains else None


def draw(path, experiment, by_seed):
    """by_seed(data, name of a run): its P@1 by seed. A panel a source that has two cells; a row a data set, a column a cell."""
    cells, base = experiment["cell"], experiment["source"][0]

    def gains_of(source, data):
        return [[gain(by_seed, data, source, base, cell, half) for half in (False, True)] for cell in cells]

    panels = [(source, {data: gains_of(source, data) for data in experiment["data"]}) for source in experiment["source"][1:]]
    panels = [(source, rows) for source, rows in panels
              if sum(whole is not None for row in rows.values() for whole, _ in row) > 1]
    most = experiment.get("most_points", 3.0)
    left, top, width, height, gap = 150, 64, 104, 38, 58
    panel = gap + height * len(experiment["data"])
    all_width, all_height = left + width * len(cells) + 16, top + panel * len(panels) + 8
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {all_width} {all_height}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{all_width}" height="{all_height}" fill="white"/>',
           f'<text x="12" y="20" font-size="14">Points of P@1 over {html.escape(base["name"])}, as many neurons '
           'drawn</text>',
           '<text x="12" y="38" fill="#555">bold: after as many samples; below: after half of them</text>']
    for p, (source, rows) in enumerate(panels):
        y = top + panel * p
        out.append(f'<text x="12" y="{y + 14}" font-size="13" font-weight="bold">{html.escape(source["name"])}</text>')
        for c, cell in enumerate(cells):
            out.append(f'<text x="{left + width * (c + 0.5):.0f}" y="{y + gap - 24}" text-anchor="middle" '
                       f'font-size="11">{html.escape(cell["name"].split(", ")[0])}</text>'
                       f'<text x="{left + width * (c + 0.5):.0f}" y="{y + gap - 10}" text-anchor="middle" '
                       f'font-size="11">{html.escape(cell["name"].split(", ")[1])}</text>')
        for d, data in enumerate(experiment["data"]):
            row = y + gap + height * d
            out.append(f'<text x="{left - 8}" y="{row + 23}" text-anchor="end">{html.escape(data)}</text>')
            for c, cell in enumerate(cells):
                out += cell_of(left + width * c, row, (width, height), most, rows[data][c])
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>"]) + "\n")


def cell_of(x, y, size, most, gains):
    whole, half = gains
    fill = "#f2f2f2" if whole is None else colour_of(whole, most)
    out = [f'<rect x="{x}" y="{y}" width="{size[0] - 3}" height="{size[1] - 3}" fill="{fill}"/>']
    middle = x + size[0] / 2 - 1.5
    if whole is not None:
        out.append(f'<text x="{middle}" y="{y + 16}" text-anchor="middle" font-weight="bold">{whole:+.1f}</text>')
    if half is not None:
        out.append(f'<text x="{middle}" y="{y + 30}" text-anchor="middle" font-size="11">{half:+.1f}</text>')
    return out
