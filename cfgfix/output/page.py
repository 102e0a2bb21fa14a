"""One self-contained HTML page of what was measured: opens offline, without scripts, at phone width and in a dark room.

Pictures are SVG drawn here. Every picture has its figures beside it as text, so nothing is told by colour alone.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cfgfix.core.terminal import figure
from cfgfix.core.visible import visible

WIDTH, HEIGHT = 400, 150
"""Of a drawing, in its own units, about the pixels of a phone: there its words keep their size, elsewhere it grows."""
LEFT, BOTTOM = 58, 22
"""Room for the scales of a drawing."""
MOST_POINTS = 1200
"""A series of more points is drawn by the lowest and the highest of each run of points."""

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--dim:#5b6675;--paper:#fbfbf9;--card:#fff;--line:#d9dde3;--accent:#0b6bcb;
--good:#17703c;--bad:#b3261e;--mid:#8a5a00;--soft:#e8eef6}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ee;--dim:#9aa6b5;--paper:#12161c;--card:#1a2029;--line:#313a47;
--accent:#6cb2ff;--good:#6fd396;--bad:#ff8a80;--mid:#f0c060;--soft:#243042}}
*{box-sizing:border-box}
body{margin:0;overflow-wrap:anywhere;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:62rem;margin:0 auto;padding:1rem}
h1{font-size:1.5rem;line-height:1.25;margin:.5rem 0}h2{font-size:1.15rem;margin:1.75rem 0 .5rem}h3{font-size:1rem;margin:0}
p{margin:.25rem 0}.dim{color:var(--dim)}
section.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.6rem 0;overflow-wrap:anywhere}
.state{display:inline-block;min-width:4.6rem;text-align:center;border-radius:.3rem;padding:.05rem .4rem;margin-right:.5rem;border:1px solid currentColor;font-size:.85rem}
.pass,.good{color:var(--good)}.fail,.problem{color:var(--bad)}.skipped,.info{color:var(--dim)}.inconclusive{color:var(--mid)}
ul{margin:.35rem 0;padding-left:1.2rem}li{margin:.1rem 0}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(9.5rem,1fr));gap:.5rem;margin:.5rem 0}
.figures div{background:var(--soft);border-radius:.4rem;padding:.4rem .6rem}.figures b{display:block;font-size:1.1rem}
a{color:var(--accent)}
svg{width:100%;max-width:38rem;height:auto;display:block}svg text{fill:var(--dim);font:11px system-ui,sans-serif}
.axis{stroke:var(--line)}.series{fill:none;stroke:var(--accent);stroke-width:1.3}.bar{fill:var(--accent)}
.scroll{overflow-x:auto}table{border-collapse:collapse;margin:.4rem 0}td,th{border:1px solid var(--line);padding:.25rem .5rem;text-align:right;white-space:nowrap}
th{font-weight:600}caption{text-align:left;color:var(--dim)}td.best{outline:2px solid var(--good);outline-offset:-2px}
.meter{display:grid;grid-template-columns:minmax(7rem,14rem) 1fr 5.5rem;gap:.5rem;align-items:center;margin:.2rem 0}
.meter i{display:block;height:.8rem;background:var(--accent);border-radius:.2rem;min-width:1px}
@media (max-width:40rem){.meter{grid-template-columns:1fr auto;gap:.1rem .5rem;margin:.5rem 0}.meter>:nth-child(2){grid-column:1/-1;grid-row:2}}
code{font-family:ui-monospace,monospace;font-size:.92em}details summary{cursor:pointer;color:var(--dim)}
"""


def page(parts: Mapping[str, Any], *, title: str = "cfgfix report", missing: Sequence[str] = ()) -> str:
    """Return an HTML page of the reports.

    Args:
        parts: JSON forms by what they are: `diagnosis`, `data`, `step`, `devices`, `search`; what is absent is left out.
        title: The title of the page.
        missing: A line for each part that could not run, with the reason.
    """
    body = [f"<h1>{_escaped_text(title)}</h1>"]
    sections = {
        "diagnosis": ("Diagnosis", _diagnosis_as_html),
        "data": ("Data pipeline", _data_as_html),
        "step": ("Training step", _step_as_html),
        "devices": ("Devices", _devices_as_html),
        "search": ("Search", _search_as_html),
    }
    present = [name for name in sections if name in parts]
    if len(present) > 1:
        links = " · ".join(f'<a href="#{name}">{sections[name][0]}</a>' for name in present)
        body.append(f'<p class="dim">{links}</p>')
    body += _causes_as_html(parts.get("causes") or parts.get("diagnosis", {}).get("causes", ()))
    if missing:
        body.append(
            '<section class="card"><h3>What could not run</h3><ul>'
            + "".join(f"<li>{_escaped_text(line)}</li>" for line in missing)
            + "</ul></section>"
        )
    for name in present:
        heading, draw = sections[name]
        body.append(f'<h2 id="{name}">{heading}</h2>')
        body += draw(parts[name])
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{_escaped_text(title)}</title><style>{_STYLE}</style></head>\n<body><main>\n"
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def _causes_as_html(ranked: Sequence[Mapping[str, Any]]) -> Iterable[str]:
    """Yield the HTML list of causes, each with worth, evidence and change."""
    if not ranked:
        return
    rows = []
    for cause in ranked:
        worth = f" <b>x {cause['worth']:.2g}</b>" if cause["worth"] and cause["worth"] >= 1.02 else ""
        evidence = f'<p class="dim">{_escaped_text(cause["evidence"])}</p>' if cause["evidence"] else ""
        change = f"<p>change: {_escaped_text(cause['change'])}</p>" if cause["change"] else ""
        rows.append(
            f"<li>{_escaped_text(cause['name'])}: {_escaped_text(cause['cause'])}{worth}{evidence}{change}</li>"
        )
    yield f'<section class="card"><h3>What to change, in this order</h3><ol>{"".join(rows)}</ol></section>'


def _escaped_text(value: object) -> str:
    return html.escape(visible(str(value)))


def _milliseconds_text(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def _figures_as_html(entries: Iterable[tuple[str, str]]) -> str:
    return (
        '<div class="figures">'
        + "".join(f"<div>{_escaped_text(name)}<b>{_escaped_text(value)}</b></div>" for name, value in entries)
        + "</div>"
    )


def _lines_as_html(lines: Sequence[str], shown: int = 6) -> str:
    if not lines:
        return ""

    def items(part: Sequence[str]) -> str:
        return "<ul>" + "".join(f"<li>{_escaped_text(line)}</li>" for line in part) + "</ul>"

    rest = lines[shown:]
    more = f"<details><summary>{len(rest)} more</summary>{items(rest)}</details>" if rest else ""
    return items(lines[:shown]) + more


# Drawings


def line_chart(
    values: Sequence[float | None],
    *,
    unit: str,
    across: str,
    label: str,
    times: Sequence[float] | None = None,
) -> str:
    """Return an SVG line of values against their number, or against times in seconds.

    Infinite or missing values leave a gap.
    """
    points = [
        (times[place] if times is not None else float(place), value)
        for place, value in enumerate(values)
        if value is not None and value == value  # noqa: PLR0124 - not-a-number is not equal to itself
    ]
    if len(points) < 2:
        return ""
    drawn = _thin_out(points)
    high = max(value for _, value in points) or 1.0
    first, last = points[0][0], points[-1][0]
    span = (last - first) or 1.0
    coordinates = " ".join(
        f"{LEFT + (place - first) / span * (WIDTH - LEFT - 8):.1f},{HEIGHT - BOTTOM - value / high * (HEIGHT - BOTTOM - 10):.1f}"
        for place, value in drawn
    )
    return _drawing_as_html(
        f'<polyline class="series" points="{coordinates}"/>',
        label=label,
        top=f"{high:.3g} {unit}",
        across=across,
        begin=f"{first:.3g}",
        end=f"{last:.3g}",
    )


def _thin_out(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    if len(points) <= MOST_POINTS:
        return list(points)
    size = -(-len(points) // (MOST_POINTS // 2))
    kept: list[tuple[float, float]] = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        kept += sorted({min(part, key=lambda item: item[1]), max(part, key=lambda item: item[1])})
    return kept


def histogram(values: Sequence[float | None], *, unit: str, label: str, bins: int = 30) -> str:
    """Return an SVG histogram of values.

    The highest hundredth of the values shares the last bar, so that one stall hides nothing.
    """
    found = sorted(value for value in values if value is not None)
    if len(found) < 10:
        return ""
    low, high = found[0], found[min(len(found) - 1, int(len(found) * 0.99))]
    if high <= low:
        return ""
    counts = [0] * bins
    for value in found:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    most = max(counts)
    width = (WIDTH - LEFT - 8) / bins
    bars = "".join(
        f'<rect class="bar" x="{LEFT + number * width:.1f}" y="{HEIGHT - BOTTOM - count / most * (HEIGHT - BOTTOM - 10):.1f}" '
        f'width="{max(width - 1, 1):.1f}" height="{count / most * (HEIGHT - BOTTOM - 10):.1f}"/>'
        for number, count in enumerate(counts)
    )
    return _drawing_as_html(
        bars, label=label, top=f"{most}", across=unit, begin=f"{low:.3g}", end=f"{high:.3g}"
    )


def _drawing_as_html(inside: str, *, label: str, top: str, across: str, begin: str, end: str) -> str:
    foot = HEIGHT - BOTTOM
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{_escaped_text(label)}">'
        f'<line class="axis" x1="{LEFT}" y1="{foot}" x2="{WIDTH - 8}" y2="{foot}"/><line class="axis" x1="{LEFT}" y1="6" x2="{LEFT}" y2="{foot}"/>'
        f'{inside}<text x="0" y="16">{_escaped_text(top)}</text><text x="{LEFT - 4}" y="{foot}" text-anchor="end">0</text>'
        f'<text x="{LEFT}" y="{HEIGHT - 6}">{_escaped_text(begin)}</text><text x="{WIDTH - 8}" y="{HEIGHT - 6}" text-anchor="end">{_escaped_text(end)}</text>'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 6}" text-anchor="middle">{_escaped_text(across)}</text></svg>'
    )


def meters(entries: Sequence[tuple[str, float, str]]) -> str:
    """Return HTML bars for entries of name, size and the text of the size.

    The longest bar fills the row.
    """
    most = max((size for _, size, _ in entries), default=0.0) or 1.0
    return "".join(
        f'<div class="meter"><span>{_escaped_text(name)}</span><span><i style="width:{max(0.0, size) / most * 100:.1f}%"></i></span><span>{_escaped_text(told)}</span></div>'
        for name, size, told in entries
    )


# Parts


def _diagnosis_as_html(data: Mapping[str, Any]) -> list[str]:
    made = [f'<p class="dim">{_escaped_text(data["subject"])}</p>']
    for check in data["checks"]:
        rules = (
            f"<p>rules: {', '.join(f'<code>{_escaped_text(rule)}</code>' for rule in check['rules'])}</p>"
            if check["rules"]
            else ""
        )
        fixes = "".join(f"<p>fix: {_escaped_text(fix)}</p>" for fix in check["fixes"][:12])
        made.append(
            f'<section class="card"><h3><span class="state {check["state"]}">{check["state"]}</span>{_escaped_text(check["title"])}</h3>'
            f"<p>{_escaped_text(check['summary'])}</p>{_lines_as_html(check['evidence'])}{rules}{fixes}</section>"
        )
    return made


def _verdicts_as_html(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    made = []
    for entry in entries:
        rules = ", ".join(f"<code>{_escaped_text(rule['id'])}</code>" for rule in entry["rules"])
        change = f"<p>change: {_escaped_text(entry['change'])}</p>" if entry["change"] else ""
        fixes = "".join(f"<p>fix: {_escaped_text(fix)}</p>" for fix in entry["fixes"])
        made.append(
            f'<section class="card"><h3><span class="state {entry["outcome"]}">{_escaped_text(entry["outcome"])}</span>{_escaped_text(entry["summary"])}</h3>'
            f"{_lines_as_html(entry['evidence'])}{change}{fixes}{f'<p>rules: {rules}</p>' if rules else ''}</section>"
        )
    return made


def _data_as_html(data: Mapping[str, Any]) -> list[str]:
    rates = data["rates"]
    batch = rates["batch_seconds"]
    figures = [
        ("throughput", f"{figure(rates['samples_per_second'])} samples/s"),
        ("batch, median", _milliseconds_text(batch["median"])),
        ("batch, p99", _milliseconds_text(batch["p99"])),
        ("CPUs at work", f"{rates['cpus_busy']:.2g}"),
    ]
    if data["consumer"]:
        figures.append(("device idle", f"{data['consumer']['idle_share']['value']:.0%}"))
    made = [f'<p class="dim">{_escaped_text(data["source"])}</p>', _figures_as_html(figures)]
    series = [value * 1e3 for value in data["series"]]
    chart = line_chart(series, unit="ms", across="batch", label="time of each batch in milliseconds")
    bars = histogram(series, unit="ms per batch", label="distribution of the batch times in milliseconds")
    made += [
        f'<section class="card"><h3>{name}</h3>{picture}</section>'
        for name, picture in (("Time of each batch", chart), ("How the batch times spread", bars))
        if picture
    ]
    if data["stages"]:
        rows = [
            (
                f"{stage['operation']}({stage['function']})" if stage["function"] else stage["operation"],
                stage["seconds_per_batch"],
                _milliseconds_text(stage["seconds_per_batch"]),
            )
            for stage in data["stages"]
        ]
        made.append(
            f'<section class="card"><h3>Time inside each stage, per batch</h3>{meters(rows)}</section>'
        )
    return made + _verdicts_as_html(data["verdicts"])


def _step_as_html(data: Mapping[str, Any]) -> list[str]:
    figures = [
        ("step, median", _milliseconds_text(data["step_seconds"]["median"])),
        ("waits for data", f"{data['data_share']['value']:.0%}"),
        ("throughput", f"{figure(data['samples_per_second'])} samples/s"),
    ]
    made = [f'<p class="dim">{_escaped_text(data["source"])}</p>', _figures_as_html(figures)]
    rows = [(name, part["value"], _milliseconds_text(part["value"])) for name, part in data["parts"].items()]
    if rows:
        made.append(f'<section class="card"><h3>Parts of a step</h3>{meters(rows)}</section>')
    compared = [
        (entry["name"], entry["ratio"]["value"], f"{entry['ratio']['value']:.3g} x")
        for entry in data["comparisons"]
        if entry["ratio"]
    ]
    if compared:
        made.append(
            f'<section class="card"><h3>Time of a step with a change, as a share of without</h3>{meters(compared)}</section>'
        )
    return made + _verdicts_as_html(data["verdicts"])


def _devices_as_html(data: Mapping[str, Any]) -> list[str]:
    made = []
    for device in data["devices"]:
        inside = ""
        for series in device["series"]:
            large = series["unit"].startswith("bytes")
            chart = line_chart(
                [value / 1e6 if large and value is not None else value for value in series["values"]],
                times=series["times"],
                unit=series["unit"].replace("bytes", "MB") if large else series["unit"],
                across="seconds",
                label=f"{series['name']} in {series['unit']}",
            )
            if chart:
                inside += f"<p>{_escaped_text(series['name'])}</p>{chart}"
        made.append(
            f'<section class="card"><h3>{_escaped_text(device["kind"])} {_escaped_text(device["index"])} {_escaped_text(device["name"])}</h3>{inside or "<p>no readings</p>"}</section>'
        )
    if data["pipeline"]:
        rows = [
            (name, share, f"{share:.0%} busy")
            for name, share in zip(data["pipeline"]["stages"], data["pipeline"]["busy_share"], strict=True)
        ]
        made.append(
            f'<section class="card"><h3>Stages of the pipeline</h3>{meters(rows)}<p>overlap {data["pipeline"]["overlap_share"]:.0%}</p></section>'
        )
    return made + _verdicts_as_html(data["verdicts"])


def _search_as_html(data: Mapping[str, Any]) -> list[str]:
    made = [f"<p>{_escaped_text(data['summary'])}</p>"]
    names = list(data["space"])
    tried = [entry for entry in data["tried"] if entry["samples_per_second"] is not None]
    best = max((entry["samples_per_second"] for entry in tried), default=None)
    if len(names) >= 2:
        made.append(grid(tried, names[0], names[1], data["space"], best))
    ranked = sorted(tried, key=lambda entry: -entry["samples_per_second"])[:20]
    rows = [
        (_setting_text(entry, names), entry["samples_per_second"], f"{figure(entry['samples_per_second'])}/s")
        for entry in ranked
    ]
    made.append(f'<section class="card"><h3>Samples per second, best first</h3>{meters(rows)}</section>')
    failed = [entry for entry in data["tried"] if entry["samples_per_second"] is None]
    if failed:
        made.append(
            '<section class="card"><h3>What failed</h3>'
            + _lines_as_html([f"{_setting_text(entry, names)}: {entry['error']}" for entry in failed])
            + "</section>"
        )
    return made


def _setting_text(entry: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(f"{name} {entry['values'][name]}" for name in names)


def grid(
    tried: Sequence[Mapping[str, Any]],
    down: str,
    across: str,
    space: Mapping[str, Sequence[Any]],
    best: float | None,
) -> str:
    """Return an HTML table of the best samples/s by the values of two settings.

    Each cell is shaded by its share of the best of all.
    """
    cells: dict[tuple[str, str], float] = {}
    for entry in tried:
        key = (str(entry["values"][down]), str(entry["values"][across]))
        cells[key] = max(cells.get(key, 0.0), entry["samples_per_second"])
    head = "".join(f"<th>{_escaped_text(value)}</th>" for value in space[across])
    rows = ""
    for value in space[down]:
        row = f"<th>{_escaped_text(value)}</th>"
        for other in space[across]:
            rate = cells.get((str(value), str(other)))
            if rate is None or not best:
                row += "<td>-</td>"
            else:
                mark = ' class="best"' if rate == best else ""
                row += f'<td{mark} style="background:color-mix(in srgb,var(--accent) {rate / best * 45:.0f}%,transparent)">{figure(rate)}</td>'
        rows += f"<tr>{row}</tr>"
    return (
        f'<section class="card scroll"><table><caption>samples/s: {_escaped_text(down)} down, {_escaped_text(across)} across; the best is outlined</caption>'
        f"<tr><th></th>{head}</tr>{rows}</table></section>"
    )


__all__ = ["grid", "histogram", "line_chart", "meters", "page"]
