"""Determines who made each box of an older geometry blob and its words, by replaying the edit log; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from armarium_source_model.counting import HUMAN

MACHINE = "workflow"
MANUAL = "manual"
"""The source of a box that a person drew or moved; the documents set it, a machine may not."""


class BoxMaker(NamedTuple):
    """Provenance kinds: of the box (who last drew or moved its shape) and of its words."""

    shape: str
    words: str


def box_makers(boxes: Sequence[Any], log: Sequence[Any], whose: str) -> list[BoxMaker]:
    """Return the maker of each of *boxes*; *whose* is the provenance kind of untouched ones.

    The log records edits by the box's index before the edit, so indices are followed through it. Where it
    does not fit the boxes, each box is taken as it is: one marked manual is a person's.
    """
    untouched = BoxMaker(whose, whose)
    makers = _replay_log(log, len(boxes), untouched) or [untouched] * len(boxes)
    return [
        BoxMaker(HUMAN, HUMAN) if one is untouched and _is_manual(box) else one
        for box, one in zip(boxes, makers, strict=True)
    ]


def _is_manual(box: Any) -> bool:
    return isinstance(box, Mapping) and box.get("source") == MANUAL


def _replay_log(log: Sequence[Any], count: int, untouched: BoxMaker) -> list[BoxMaker] | None:
    """Return the makers after every edit; None if the log is not ours or does not end with *count* boxes."""
    edits: list[tuple[str, list[int], str]] = []
    for entry in log:
        actor = entry.get("actor") if isinstance(entry, Mapping) else None
        indices = entry.get("indices") if isinstance(entry, Mapping) else None
        if not isinstance(actor, Mapping) or not isinstance(indices, list) or not indices:
            return None
        if not all(isinstance(index, int) and index >= 0 for index in indices):
            return None
        edits.append((str(entry.get("op")), indices, HUMAN if actor.get("kind") == "person" else MACHINE))
    added = sum(1 for op, _, _ in edits if op == "add")
    gone = sum(len(at) - (op == "combine") for op, at, _ in edits if op in ("delete", "combine"))
    if count - added + gone < 0:
        return None
    makers = [untouched] * (count - added + gone)
    for op, indices, by in edits:
        if op == "add":
            makers.append(BoxMaker(by, by))
            continue
        if max(indices) >= len(makers):
            return None
        if op == "move":
            makers[indices[0]] = makers[indices[0]]._replace(shape=by)
            continue
        first, *rest = sorted(set(indices))
        if op == "combine":
            parts = {makers[index].words for index in (first, *rest)}
            makers[first] = BoxMaker(by, parts.pop() if len(parts) == 1 else MACHINE)
            indices = rest
        elif op != "delete":
            return None
        for index in sorted(set(indices), reverse=True):
            del makers[index]
    return makers if len(makers) == count else None
