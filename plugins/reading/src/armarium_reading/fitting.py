"""Chooses the reader for a page: each installed one reads a sample of its lines, and the one that expects to
be right most often reads them all.

The confidences of two readers can only be compared through the table measured for each (`Reader.calibration`, or that of
a model that was measured here), so a reader without one is used only when it is named.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from armarium.api import Engine, Library, NameOrMaterialPath, ServiceError
from armarium_reading import errors
from armarium_reading.readers import (
    Choice,
    calibration_of,
    choose,
    model_note,
    models_folder,
    readers,
    runtime_folder,
)
from armarium_worker import Reader

SAMPLE = 8
"""How many lines of a page each reader tries, spread over the page."""

Lines = Sequence[Mapping[str, Any]]


def fitting(engine: Engine, library: Library | None, language: str | None) -> list[Choice]:
    """Return the readers that can read lines in *language* without further settings; Invalid says why none can."""
    found, reasons = [], []
    for reader in readers(engine):
        model = best_measured(engine, reader, language) if reader.reading_needs_model else None
        if "read_lines" in reader.can and (reader.calibration or model):
            try:
                choice = choose(
                    engine,
                    library,
                    reader=reader.name,
                    method="read_lines",
                    model=model,
                    language=language,
                )
            except ServiceError as refusal:
                reasons.append(refusal.detail)
            else:
                found.append(choice)
    if not found:
        raise errors.none_fits(reasons)
    return found


def best_measured(engine: Engine, reader: type[Reader], language: str | None) -> NameOrMaterialPath | None:
    """Return the model of *reader* on this machine that made the fewest errors where it was measured here; None if none was,
    or none reads *language*.
    """
    folder = models_folder(engine, reader.model_kind or reader.name)
    found = []
    for model in reader.models_here(folder, runtime_folder(engine, reader)):
        measured = calibration_of(model.path) if model.path is not None else None
        if model.path is None or measured is None:
            continue
        tags = {str(tag).split("-")[0] for tag in model_note(model.path).get("languages") or ()}
        if not language or not tags or language.split("-")[0] in tags:
            found.append((measured["cer"], model.model))
    return NameOrMaterialPath(min(found)[1]) if found else None


def sample(lines: Lines) -> list[Mapping[str, Any]]:
    """Return at most SAMPLE of *lines*, spread evenly over them."""
    count = min(SAMPLE, len(lines))
    return [lines[(2 * number + 1) * len(lines) // (2 * count)] for number in range(count)]


def expect_accuracy(choice: Choice, readings: Lines) -> float:
    """Return the share of letters, 0 to 1, expected to be right by the reader's own table; a line without
    text counts 0.
    """
    shares = [
        share(choice.calibration, float(reading.get("confidence") or 0)) if reading["text"] else 0.0
        for reading in readings
    ]
    return sum(shares) / len(shares) if shares else 0.0


def share(table: Sequence[tuple[float, float]], stated: float) -> float:
    """Return the share of right letters for a *stated* confidence, from *table*: rising pairs (confidence, share)."""
    before = table[0]
    for pair in table:
        if stated <= pair[0]:
            width = pair[0] - before[0]
            return pair[1] if width <= 0 else before[1] + (pair[1] - before[1]) * (stated - before[0]) / width
        before = pair
    return table[-1][1]


def trial(
    choices: Sequence[Choice], lines: Lines, read: Callable[[Choice, Lines], Mapping[str, Any]]
) -> tuple[Choice, dict[str, float]]:
    """Return the best choice for a sample of *lines*, which `read` reads with each choice, and what each one
    expects.
    """
    some = sample(lines)
    found = {
        choice.reader.name: expect_accuracy(choice, read(choice, some)["readings"]) for choice in choices
    }
    return max(choices, key=lambda choice: found[choice.reader.name]), found


def why_chosen(name: str, expectations: Mapping[str, float]) -> str:
    """Return the reason why a page is read by the reader *name*: what it and the others expected on a sample
    of lines.
    """
    others = ", ".join(f"{other} {share:.0%}" for other, share in expectations.items() if other != name)
    return (
        f"Read by {name}: on a sample of its lines it expects to read {expectations[name]:.0%} of the "
        f"letters right{', ' if others else ''}{others}."
    )


def add_page(
    by_reader: Mapping[str, Any], taken: Choice, expectations: Mapping[str, float]
) -> dict[str, Any]:
    """Return *by_reader* with one more page: for each reader its number of pages and the sums of what all
    expected of them.
    """
    name = taken.reader.name
    before = by_reader.get(name, {"model": taken.model_name, "pages": 0, "expected": {}})
    sums = {other: before["expected"].get(other, 0.0) + value for other, value in expectations.items()}
    return {**by_reader, name: {**before, "pages": before["pages"] + 1, "expected": sums}}


def outcome(by_reader: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a job's result says about it: `{reader: {model, pages, expected: {reader: mean share}}}`."""
    return {
        name: {
            **row,
            "expected": {other: round(value / row["pages"], 4) for other, value in row["expected"].items()},
        }
        for name, row in by_reader.items()
    }
