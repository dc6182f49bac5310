"""Chooses who reads: every installed reader tries a few lines of the pages of a folder, and the one that expects to be right
most often reads them all. A page departs from its folder, and a line from its page, only where that is clearly better.

The confidences of two readers can only be compared through the table measured for each (`Reader.calibration`, or that of
a model that was measured here), so a reader without one is used only when it is named. `training/choosing.py` of reader_hand
measures how often the choice is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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

SAMPLE, PAGES = 4, 4
"""How many lines of a page each reader tries, and how many pages of a folder are tried before any is read; spread evenly."""
ALIKE = 0.015
"""Shares of letters expected right that differ by less are no reason: then a reader meant for hands is taken, since it reads print
nearly as well as others, and they do not read hands. The tables of confidence are no more exact than that on print.
"""
CLEAR, CLEAR_OF_LINE = 0.05, 0.1
"""How much more another reader must expect for a page to depart from its folder, and for a line to depart from its page."""
UNSURE, FEW = 0.8, 0.25
"""Lines of which their page's reader expects less are tried by the others too, if they are no more than this share of the page's, or
the tried lines show that the page is mixed.
"""

Lines = Sequence[Mapping[str, Any]]
Expected = Mapping[str, float]
"""What each reader, by its name, expects: the share of letters that it would read right."""


def fitting(engine: Engine, library: Library | None, language: str | None) -> list[Choice]:
    """Return the readers that can read lines in *language* without further settings; Invalid says why none can."""
    choices, reasons = [], []
    for reader in readers(engine):
        model = best_measured(engine, reader, language) if reader.reading_needs_model else None
        if "read_lines" in reader.can and (reader.calibration or model):
            try:
                choice = choose(
                    engine, library, reader=reader.name, method="read_lines", model=model, language=language
                )
            except ServiceError as refusal:
                reasons.append(refusal.detail)
            else:
                choices.append(choice)
    if not choices:
        raise errors.none_fits(reasons)
    return choices


def best_measured(engine: Engine, reader: type[Reader], language: str | None) -> NameOrMaterialPath | None:
    """Return the model of *reader* on this machine that made the fewest errors where it was measured here; None if none was,
    or none reads *language*.
    """
    folder = models_folder(engine, reader.model_kind or reader.name)
    candidates = []
    for model in reader.models_here(folder, runtime_folder(engine, reader)):
        measured = calibration_of(model.path) if model.path is not None else None
        if model.path is None or measured is None:
            continue
        tags = {str(tag).split("-")[0] for tag in model_note(model.path).get("languages") or ()}
        if not language or not tags or language.split("-")[0] in tags:
            candidates.append((measured["cer"], model.model))
    return NameOrMaterialPath(min(candidates)[1]) if candidates else None


def spread(count: int, most: int) -> list[int]:
    """Return at most *most* of the numbers below *count*, spread evenly over them."""
    size = min(most, count)
    return [(2 * number + 1) * count // (2 * size) for number in range(size)]


def expect(choice: Choice, reading: Mapping[str, Any]) -> float:
    """Return the share of a line's letters, 0 to 1, expected to be right by the reader's own table; 0 without text."""
    return share(choice.calibration, float(reading.get("confidence") or 0)) if reading["text"] else 0.0


def share(table: Sequence[tuple[float, float]], confidence: float) -> float:
    """Return the share of right letters for a reader's *confidence*, from *table*: rising pairs (confidence, share)."""
    before = table[0]
    for pair in table:
        if confidence <= pair[0]:
            width = pair[0] - before[0]
            return (
                pair[1]
                if width <= 0
                else before[1] + (pair[1] - before[1]) * (confidence - before[0]) / width
            )
        before = pair
    return table[-1][1]


@dataclass(frozen=True, slots=True)
class Trial:
    """What every reader read of the same few lines of a page: `readings[name of the reader][id of the line]`."""

    shapes: Mapping[str, Mapping[str, Any]]
    readings: Mapping[str, Mapping[str, Mapping[str, Any]]]

    def expects(self, choices: Sequence[Choice]) -> dict[str, float]:
        """Return what each reader expects of the page."""
        by = {
            choice.reader.name: [expect(choice, sample) for sample in self.of(choice).values()]
            for choice in choices
        }
        return {name: sum(shares) / len(shares) for name, shares in by.items()}

    def is_mixed(self, choices: Sequence[Choice], choice: Choice) -> bool:
        """Return whether another reader is clearly better on one of the lines than the page's."""
        return any(
            expect(other, self.of(other)[line]) > expect(choice, reading) + CLEAR_OF_LINE
            for other in choices
            for line, reading in self.of(choice).items()
        )

    def of(self, choice: Choice) -> Mapping[str, Mapping[str, Any]]:
        """Return what one reader read."""
        return self.readings[choice.reader.name]


def mean(expected: Sequence[Expected]) -> dict[str, float]:
    """Return what the readers expect of several pages together, each counting as much as the others."""
    return {name: sum(shares[name] for shares in expected) / len(expected) for name in expected[0]}


def settle(choices: Sequence[Choice], page: Expected, folder: Expected) -> Choice:
    """Return who reads a page: its folder's reader, unless another expects clearly more of the page itself."""
    leader, own = _choose_best(choices, folder), _choose_best(choices, page)
    return own if page[own.reader.name] > page[leader.reader.name] + CLEAR else leader


def _choose_best(choices: Sequence[Choice], expected: Expected) -> Choice:
    return max(
        choices,
        key=lambda choice: expected[choice.reader.name] + (ALIKE if "hand" in choice.reader.writing else 0),
    )


def doubtful(shares: Mapping[str, float], *, is_mixed: bool) -> list[str]:
    """Return the ids of the lines that the other readers try too, given what the page's reader expects of each."""
    doubted = [line for line, share in shares.items() if share < UNSURE]
    return doubted if is_mixed or len(doubted) <= FEW * len(shares) else []


def why_chosen(name: str, page: Expected, folder: Expected) -> str:
    """Return the reason why a page is read by the reader *name*: what the readers expected of its tried lines."""
    others = "".join(f", {other} {share:.0%}" for other, share in page.items() if other != name)
    sentence = f"Read by {name}: on a sample of its lines it expects to read {page[name]:.0%} of the letters right{others}."
    if page[name] >= max(page.values()):
        return sentence
    mine = folder[name] >= max(folder.values())
    return f"{sentence} The difference is not clear, and {f'{name} reads its folder' if mine else f'{name} reads hands too'}."


def add_page(
    by_reader: Mapping[str, Any], choice: Choice, expectations: Mapping[str, float]
) -> dict[str, Any]:
    """Return *by_reader* with one more page: for each reader its number of pages and the sums of what all
    expected of them.
    """
    name = choice.reader.name
    before = by_reader.get(name, {"model": choice.model_name, "pages": 0, "expected": {}})
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
