"""The two rules that decide which reading of a line counts and which pass of a page is the working pass;
pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

ReadingRule: TypeAlias = Literal["strict", "relaxed"]
CountingBasis: TypeAlias = Literal["chosen", "correction", "newest-human", "newest-machine-unchosen", "none"]
PassBasis: TypeAlias = Literal[
    "chosen", "human-touched", "text-layer", "newest-machine-unchosen", "newest", "imported-only", "none"
]

HUMAN = "human"
IMPORTED = "external_import"
TEXT_LAYER = "text-layer"
"""The provider of a pass that was read from the file's own text."""


class ReadingFacts(NamedTuple):
    """What the counting rule needs to know of one reading that is not retracted."""

    id: str
    provenance_kind: str
    created_at: str
    corrects_id: str | None = None


class Counting(NamedTuple):
    """The reading that counts, and why. `labelled_machine`: show it as a machine's. `disputed`: it is the
    newest of several readings by persons, none of which corrects the others or was chosen.
    """

    representation_id: str | None
    basis: CountingBasis
    labelled_machine: bool = False
    disputed: bool = False


NOTHING_COUNTS = Counting(None, "none")


def counting_reading(
    readings: Sequence[ReadingFacts], *, chosen_id: str | None = None, rule: ReadingRule = "strict"
) -> Counting:
    """Return the reading of one kind that counts on a segment; the first rule that applies decides.

    Wherever there is a reading, exactly one counts. No rule prefers one scholar to another: if several have
    read and none was chosen, the newest counts, and a strict project marks it as disputed until somebody
    chooses.
    """
    if not readings:
        return NOTHING_COUNTS
    if chosen_id is not None and any(reading.id == chosen_id for reading in readings):
        return Counting(chosen_id, "chosen")
    human = [reading for reading in readings if reading.provenance_kind == HUMAN]
    if not human:
        newest = _find_newest(readings)
        return Counting(newest.id, "newest-machine-unchosen", newest.provenance_kind != IMPORTED)
    retired = retired_ids(human)
    current = [reading for reading in human if reading.id not in retired] or human
    corrections = [reading for reading in current if reading.corrects_id]
    return Counting(
        _find_newest(corrections or current).id,
        "correction" if corrections else "newest-human",
        disputed=rule == "strict" and len(current) > 1,
    )


def retired_ids(readings: Iterable[ReadingFacts]) -> set[str]:
    """Return the readings retired by a person's correction; a machine's correction retires nothing."""
    return {
        reading.corrects_id
        for reading in readings
        if reading.corrects_id and reading.provenance_kind == HUMAN
    }


def _find_newest(readings: Sequence[ReadingFacts]) -> ReadingFacts:
    return max(readings, key=lambda reading: (reading.created_at, reading.id))


class PassFacts(NamedTuple):
    """What the rule for the working pass needs to know of one live pass of a page."""

    id: str
    provenance_kind: str
    created_at: str
    provider: str | None = None
    imported: bool = False


class Working(NamedTuple):
    """The pass to read a page by, and why. An imported pass is read but never becomes the working pass by
    itself.
    """

    pass_id: str | None
    basis: PassBasis

    @property
    def is_working(self) -> bool:
        return self.pass_id is not None and self.basis != "imported-only"


def working_pass(
    passes: Sequence[PassFacts],
    *,
    chosen_id: str | None = None,
    touched: Iterable[str] = (),
    rule: ReadingRule = "strict",
) -> Working:
    """Return the working pass of a page among its live *passes*; the first rule that applies decides.

    touched: ids of passes in which a person has made or edited a segment or given a reading.
    """
    if not passes:
        return Working(None, "none")
    if chosen_id is not None and any(page_pass.id == chosen_id for page_pass in passes):
        return Working(chosen_id, "chosen")
    by_hand = set(touched)
    ladder: tuple[tuple[PassBasis, list[PassFacts]], ...] = (
        (
            "human-touched",
            [
                page_pass
                for page_pass in passes
                if page_pass.id in by_hand or (page_pass.provenance_kind == HUMAN and not page_pass.imported)
            ],
        ),
        ("text-layer", [page_pass for page_pass in passes if page_pass.provider == TEXT_LAYER]),
        (
            "newest" if rule == "relaxed" else "newest-machine-unchosen",
            [
                page_pass
                for page_pass in passes
                if not page_pass.imported and page_pass.provenance_kind != IMPORTED
            ],
        ),
        ("imported-only", list(passes)),
    )
    for basis, candidates in ladder:
        if candidates:
            return Working(
                max(candidates, key=lambda page_pass: (page_pass.created_at, page_pass.id)).id, basis
            )
    raise AssertionError("unreachable: the last rule accepts every pass")
