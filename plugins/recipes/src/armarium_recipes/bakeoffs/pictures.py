"""A bake-off as a picture: bars with their intervals, and error against cost; as PNG, and as a self-contained
HTML page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from armarium.api import FINISHED
from armarium_recipes.bakeoffs.scene import FAINT, INK, Box, Dot, Scene, Stroke, Words
from armarium_recipes.bakeoffs.table import POLICY

WIDTH, LEFT, RIGHT, ROW = 900.0, 260.0, 90.0, 34.0
TOP, PLOT = 74.0, 300.0
BEST, TIED, OTHER = (0, 92, 175), (66, 146, 210), (158, 176, 194)
LONGEST = 36
STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0;width:100%}td,th{border-bottom:1px solid #ccc;padding:.35rem .6rem;"
    "text-align:left;vertical-align:top}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums}"
    "svg{width:100%;height:auto}.quiet{color:#666}"
)

Table = Mapping[str, Any]


def drawing(bakeoff: Table) -> Scene:
    """Return the picture of a Bakeoff."""
    by_lines = bakeoff["step"] == "find-lines"
    rows = [row for row in bakeoff["candidates"] if row["not_scored"] is None and _value(row) is not None]
    priced = [] if by_lines else [row for row in rows if row["cost_usd"]["value"] is not None]
    has_costs = any(row["cost_usd"]["value"] for row in priced)
    height = TOP + max(1, len(rows)) * ROW + 60 + (PLOT + 70 if has_costs else 0)
    noun = "Line finders" if by_lines else "Readers"
    title = f"{noun} on {bakeoff['lines']} corrected lines of {len(bakeoff['pages'])} pages"
    scene = Scene(WIDTH, height, title)
    scene.add(Words(24, 34, title, 20))
    subtitle = (
        "Lines found of lines checked" if by_lines else "Characters read wrong, with the interval of 95 %"
    )
    scene.add(Words(24, 56, subtitle, 13, colour=(102, 102, 102)))
    if not rows:
        words = "Nobody was scored." if bakeoff["state"] in FINISHED else "Nobody has been scored yet."
        scene.add(Words(24, TOP + 24, words))
        return scene
    _bars(scene, rows, by_lines)
    if has_costs:
        _against_cost(scene, priced, bakeoff["volume"], TOP + len(rows) * ROW + 80)
    return scene


def page(bakeoff: Table) -> str:
    """Return the picture and the whole table as one HTML page."""
    scene = drawing(bakeoff)
    by_lines = bakeoff["step"] == "find-lines"
    head = (
        ["Candidate", "Role"]
        + (["Found", "Too many"] if by_lines else ["CER", "Interval", "WER"])
        + ["Pages an hour", "US dollars", "Remarks"]
    )
    lines = "".join(_line(row, by_lines) for row in bakeoff["candidates"])
    parts = [f"<h1>{escape(scene.title)}</h1>", scene.as_svg()]
    if bakeoff["comparison"] is not None:
        parts.append(_describe_comparison(bakeoff))
    numbers = {"CER", "Interval", "WER", "Found", "Too many", "Pages an hour", "US dollars"}
    cells = "".join(f'<th class="{"n" if heading in numbers else ""}">{heading}</th>' for heading in head)
    parts.append(f"<table><tr>{cells}</tr>{lines}</table>")
    parts += [_hand(hand, bakeoff) for hand in bakeoff["hands"]]
    parts.append(
        f'<p class="quiet">Bake-off {escape(bakeoff["id"])}, begun {escape(bakeoff["started_at"])}.</p>'
    )
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(scene.title)}</title>'
        f"<style>{STYLE}</style></head><body>{''.join(parts)}</body></html>\n"
    )


def _value(row: Table) -> float | None:
    """Return the length of a row's bar, from 0 to 1 or more."""
    if row["lines_found"] is not None:
        return float(row["lines_found"] / max(1, row["lines_checked"]))
    return None if row["cer"] is None else float(row["cer"][POLICY])


def ticks(most: float) -> list[float]:
    """Return at most six round numbers, from 0 to the first that is at least *most*."""
    step = 10.0 ** math.floor(math.log10(most)) if most > 0 else 1.0
    for wider in (0.2, 0.5, 1.0, 2.0):
        count = math.ceil(most / (step * wider) - 1e-9)
        if count <= 5:
            return [number * step * wider for number in range(max(1, count) + 1)]
    return [0.0, step * 10]


def _bars(scene: Scene, rows: Sequence[Table], by_lines: bool) -> None:
    values = [_value(row) or 0.0 for row in rows]
    highs = [row["interval"][1] for row in rows if row["interval"] is not None]
    marks = ticks(max([*values, *highs, 0.001]))
    across, bottom = (WIDTH - LEFT - RIGHT) / marks[-1], TOP + len(rows) * ROW
    for mark in marks:
        x = LEFT + mark * across
        scene.add(Stroke(x, TOP - 6, x, bottom, FAINT), Words(x, bottom + 18, _percent(mark), 12, "middle"))
    for number, (row, value) in enumerate(zip(rows, values, strict=True)):
        y = TOP + number * ROW
        colour = BEST if number == 0 else TIED if row["tied"] else OTHER
        scene.add(Words(LEFT - 10, y + 18, _shorten(row["name"]), 13, "end"))
        scene.add(Box(LEFT, y + 4, value * across, ROW - 14, colour))
        end = LEFT + value * across
        if row["interval"] is not None:
            low, high = (LEFT + rate * across for rate in row["interval"])
            middle = y + 4 + (ROW - 14) / 2
            scene.add(Stroke(low, middle, high, middle, INK, 1.5))
            scene.add(*(Stroke(x, middle - 4, x, middle + 4, INK, 1.5) for x in (low, high)))
            end = max(end, high)
        words = f"{row['lines_found']}, {row['extra_lines']} too many" if by_lines else _percent(value, 1)
        scene.add(Words(end + 6, y + 18, words, 12))
    scene.add(Stroke(LEFT, TOP - 6, LEFT, bottom, INK))


def _against_cost(scene: Scene, rows: Sequence[Table], volume: int, top: float) -> None:
    """Draw error upwards against the cost of the whole volume to the right."""
    costs = [float(row["cost_usd"]["value"]) for row in rows]
    errors = [_value(row) or 0.0 for row in rows]
    right, up = ticks(max(costs)), ticks(max(*errors, 0.001))
    left, bottom, width = 80.0, top + PLOT, WIDTH - 80.0 - RIGHT
    scene.add(
        Words(24, top - 16, f"Characters read wrong, against the cost of {volume} pages in US dollars", 13)
    )
    for mark in right:
        x = left + width * mark / right[-1]
        scene.add(Stroke(x, top, x, bottom, FAINT), Words(x, bottom + 18, f"{mark:g}", 12, "middle"))
    for mark in up:
        y = bottom - PLOT * mark / up[-1]
        scene.add(Stroke(left, y, left + width, y, FAINT), Words(left - 8, y + 4, _percent(mark), 12, "end"))
    labels: list[tuple[float, float]] = []
    for row, cost, error in zip(rows, costs, errors, strict=True):
        x, y = left + width * cost / right[-1], bottom - PLOT * error / up[-1]
        if row["interval"] is not None:
            low, high = (bottom - PLOT * min(rate, up[-1]) / up[-1] for rate in row["interval"])
            scene.add(Stroke(x, low, x, high, INK))
        label = y + 4
        while any(abs(label - other_y) < 15 and abs(x - other_x) < 260 for other_x, other_y in labels):
            label -= 15
        labels.append((x, label))
        at_end = x > left + width * 0.6
        scene.add(Dot(x, y, 5, BEST if row["local"] else (200, 92, 0)))
        scene.add(
            Words(
                x - 10 if at_end else x + 10, label, _shorten(row["name"]), 12, "end" if at_end else "start"
            )
        )


def _line(row: Table, by_lines: bool) -> str:
    if by_lines:
        measured = [
            "" if row["lines_found"] is None else f"{row['lines_found']} of {row['lines_checked']}",
            "" if row["extra_lines"] is None else str(row["extra_lines"]),
        ]
    else:
        interval = row["interval"]
        measured = [
            "" if _value(row) is None else _percent(_value(row) or 0.0, 2),
            "" if interval is None else f"{_percent(interval[0], 1)} to {_percent(interval[1], 1)}",
            "" if row["wer"] is None else _percent(row["wer"], 1),
        ]
    speed = "" if row["pages_per_hour"] is None else f"{row['pages_per_hour']:,.0f}"
    cost = row["cost_usd"]
    paid = "" if cost["value"] is None else f"{cost['value']:,.2f}"
    paid += " (estimate)" if cost["basis"] == "estimate" else ""
    tied = "Tied with the best." if row["tied"] else ""
    remarks = row["not_scored"] or " ".join(filter(None, (tied, row["note"])))
    numbers = "".join(f'<td class="n">{escape(number)}</td>' for number in [*measured, speed, paid])
    return (
        f"<tr><td>{escape(row['name'])}</td><td>{escape(row['role'].replace('-', ' '))}</td>{numbers}"
        f"<td>{escape(remarks)}</td></tr>"
    )


def _names(bakeoff: Table) -> dict[str, str]:
    return {row["card"]: row["name"] for row in bakeoff["candidates"]}


def _describe_comparison(bakeoff: Table) -> str:
    comparison, names = bakeoff["comparison"], _names(bakeoff)
    better, worse = (escape(names.get(comparison[key], comparison[key])) for key in ("better", "worse"))
    low, high = comparison["interval"]
    return (
        f"<p>{better} reads {_percent(comparison['difference'], 2)} better than {worse} "
        f"({_percent(low, 2)} to {_percent(high, 2)}); when the same lines are resampled, it is not "
        f"better in about {comparison['p'] / 2:.1%} of cases.</p>"
    )


def _hand(hand: Table, bakeoff: Table) -> str:
    names = _names(bakeoff)
    rows = "".join(
        f"<tr><td>{escape(names.get(row['card'], row['card']))}</td><td class='n'>{_percent(row['cer'], 2)}</td>"
        f"<td class='n'>{'' if row['p'] is None else format(row['p'], '.3g')}</td>"
        f"<td>{'in use' if row['card'] == hand['in_use'] else ''}</td></tr>"
        for row in hand["rows"]
    )
    label = escape(str(hand["label"] or hand["hand_id"]))
    return (
        f"<h2>{label}, {hand['lines']} lines</h2><table><tr><th>Candidate</th><th class='n'>CER</th>"
        f"<th class='n'>p, corrected</th><th></th></tr>{rows}</table>"
    )


def _percent(value: float, digits: int = 0) -> str:
    words = f"{100 * value:.{digits}f}" if digits else f"{100 * value:g}"
    return f"{words} %"


def _shorten(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
