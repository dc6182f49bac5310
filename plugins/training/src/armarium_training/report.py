"""The report of a training or an evaluation: one self-contained HTML file. Standard library only."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #ccc;padding:.3rem .6rem;text-align:left}"
    "td.n{text-align:right;font-variant-numeric:tabular-nums}img{max-width:100%;display:block}svg{width:100%;height:auto}"
)
WIDTH, HEIGHT, EDGE = 640, 240, 36
BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float]) -> str:
    """Return *values* as a row of bars, the highest one full."""
    most = max(values, default=0.0)
    return "".join(BARS[round((len(BARS) - 1) * value / most)] if most else BARS[0] for value in values)


def page(title: str, parts: Sequence[str]) -> str:
    """Return a whole page made of *parts*, which are already HTML."""
    body = "\n".join(parts)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(title)}</h1>\n{body}\n</body></html>\n"
    )


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; numbers are right-aligned."""
    cells = "".join(f"<th>{escape(heading)}</th>" for heading in head)
    lines = "".join(
        "<tr>"
        + "".join(
            f'<td class="n">{value:.4g}</td>'
            if isinstance(value, float)
            else f"<td>{escape(str(value))}</td>"
            for value in row
        )
        + "</tr>"
        for row in rows
    )
    return f"<table><tr>{cells}</tr>{lines}</table>"


def curve(points: Sequence[Mapping[str, Any]]) -> str:
    """Return the error rate on validation lines over the epochs, as an SVG."""
    if not points:
        return ""
    most = max(float(point["cer"]) for point in points) or 1.0
    across = (WIDTH - 2 * EDGE) / max(1, len(points) - 1)
    places = [
        (EDGE + number * across, HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * float(point["cer"]) / most)
        for number, point in enumerate(points)
    ]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in places)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Error rate by epoch">'
        f'<path d="M{EDGE} {EDGE}V{HEIGHT - EDGE}H{WIDTH - EDGE}" fill="none" stroke="#999"/>'
        f'<polyline points="{line}" fill="none" stroke="#06c" stroke-width="2"/><g fill="#06c">{dots}</g>'
        f'<text x="4" y="{EDGE}" font-size="12">{most:.1%}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 8}" font-size="12" text-anchor="end">epoch {len(points)}</text></svg>'
    )


def training_report(training: Mapping[str, Any], model: Mapping[str, Any] | None) -> str:
    """Return the report of a training: its data and its result."""
    training_set, measured = training["training_set"] or {}, training["measured"] or {}
    facts: list[Sequence[object]] = [
        ("Model", (model or {}).get("id") or "none landed"),
        ("State", training["state"]),
    ]
    facts += [
        (name.replace("_", " "), training_set[name])
        for name in ("pages", "lines", "lines_checked_by_a_person")
        if name in training_set
    ]
    facts += [
        (name.replace("_", " "), measured[name])
        for name in ("epochs", "seconds", "threads", "peak_memory_mb")
        if name in measured
    ]
    rows = [
        (point["epoch"], float(point["loss"]), float(point["cer"]), "best" if point["best"] else "")
        for point in training["curve"]
    ]
    name = (model or {}).get("name") or "A training"
    return page(
        str(name),
        [
            table(("", ""), facts),
            "<h2>Error rate on lines left out of training</h2>",
            curve(training["curve"]),
            table(("Epoch", "Loss", "CER", ""), rows),
        ],
    )


def evaluation_report(evaluation: Mapping[str, Any], pictures: Mapping[str, tuple[bytes, str]]) -> str:
    """Return the scores of every candidate, in total and by page, and the worst lines; *pictures* by segment:
    PNG and reading.
    """
    result = evaluation["result"] or {"models": [], "best": None, "comparisons": []}
    policies = list(dict.fromkeys(policy for model in result["models"] for policy in model["totals"]))
    rows = [
        (
            model["model"],
            *(_rate(model["totals"].get(policy)) for policy in policies),
            "" if model["wer"] is None else f"{model['wer']:.1%}",
            model["speed"]["pages_per_hour"] or "",
            model["why"] or "",
        )
        for model in result["models"]
    ]
    parts = [table(("Model", *policies, "WER", "Pages an hour", ""), rows)]
    if result["best"]:
        parts.append(f"<p>Best: {escape(result['best'])}.</p>")
    for comparison in result["comparisons"]:
        parts.append(
            f"<p>{escape(comparison['better'])} before {escape(comparison['worse'])} by {comparison['difference']:.2%} ({escape(comparison['policy'])}); "
            f"chance alone does as much in {comparison['p']:.1%} of cases.</p>"
        )
    names = {
        entry["document_id"]: entry["name"] or entry["document_id"] for entry in evaluation["plan"]["pages"]
    }
    parts.append("<h2>By page</h2>")
    by_page = [
        (
            names.get(own["document_id"], ""),
            model["model"],
            *(_rate(own["scores"].get(policy)) for policy in policies),
        )
        for model in result["models"]
        for own in model["pages"]
    ]
    parts.append(table(("Page", "Model", *policies), by_page))
    for model in result["models"]:
        if model.get("confusions"):
            parts.append(f"<h2>Letters that {escape(model['model'])} misread most often</h2>")
            confusions = [
                (_letter(pair["expected"], "nothing"), _letter(pair["read"], "nothing"), pair["times"])
                for pair in model["confusions"]
            ]
            parts.append(table(("Written", "Read", "Times"), confusions))
    for model in result["models"]:
        worst = [line for line in model.get("worst", ()) if line["segment_id"] in pictures]
        if worst:
            parts.append(f"<h2>Worst lines of {escape(model['model'])}</h2>")
        for line in worst:
            data, text = pictures[line["segment_id"]]
            source = base64.b64encode(data).decode()
            parts.append(
                f'<figure><img alt="" src="data:image/png;base64,{source}"><figcaption>{escape(text)} '
                f"({line['distance']} of {line['reference_chars']} characters wrong)</figcaption></figure>"
            )
    return page("Readers measured", parts)


def _letter(sign: str, none: str) -> str:
    return none if not sign else "space" if sign.isspace() else sign


def _rate(score: Mapping[str, Any] | None) -> str:
    if not score or "cer" not in score:
        return (score or {}).get("why") or ""
    words = f"{score['cer']:.1%}"
    return (
        f"{words} ({score['interval'][0]:.1%} to {score['interval'][1]:.1%})"
        if score.get("interval")
        else words
    )


def words_of_set(training_set: Mapping[str, Any], name_of: Callable[[str], str]) -> list[str]:
    """Return, in words, which pages taught nothing and why, and what a comparison of the reader with others lacks."""
    missing = [
        f"left out: {name_of(entry['document_id'])}: {entry['why']}" for entry in training_set["missing"]
    ]
    return [*missing, *filter(None, [training_set["comparable"]])]
