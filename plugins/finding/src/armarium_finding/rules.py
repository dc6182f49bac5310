"""The rules `rules-1`: pages become leaves, and each join between leaves gets signals and a probability."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from armarium_finding.cues import MOST_CLOSING, MOST_OPENING
from armarium_finding.evidence import PageEvidence

BASE = -2.0
"""Log-odds of a boundary at a join about which nothing is known."""
BOUNDARY = 0.5
"""The probability from which on a boundary is proposed."""
RESTART, RUN_ON = 4.0, -3.0
SENTENCE, SPLIT_WORD = -3.0, -4.0
SECOND_SHOT = 0.9
"""From this similarity of their texts on, a page is a second shot of the previous one, unless a name or a number
differs; also how certain that is if any word differs.
"""
SAME_NAME = 0.6
"""Below this similarity, two words with a capital are different names rather than one name read in two ways."""


@dataclass
class Leaf:
    """A page with its blank verso and its second shots."""

    front: PageEvidence
    pages: list[PageEvidence] = field(default_factory=list)
    confidence: float = 1.0
    """How certain it is that these pages are one leaf."""
    is_set_apart: bool = False
    """Whether it would be part of the previous leaf, had a person not said that it begins a document."""

    @property
    def ids(self) -> list[str]:
        """Return its pages in order."""
        return [page.page_id for page in self.pages]


def likeness(left: str, right: str) -> float:
    """Return how similar two texts are, 0 to 1: the share of letters in common, in order; case and blanks do
    not count.
    """
    from rapidfuzz.distance import Indel

    first, other = " ".join(left.casefold().split()), " ".join(right.casefold().split())
    return float(Indel.normalized_similarity(first, other, score_cutoff=SECOND_SHOT))


def names_or_numbers_differ(left: str, right: str) -> bool:
    """Return whether, where two nearly equal texts differ, one has another number or another name than the other."""
    from rapidfuzz.distance import Indel, Levenshtein

    first, other = (re.sub(r"[^\w\s]|_", "", text).split() for text in (left, right))
    for edit in Levenshtein.editops([word.casefold() for word in first], [word.casefold() for word in other]):
        if edit.tag == "replace":
            here, there = first[edit.src_pos], other[edit.dest_pos]
            if any(letter.isdigit() for letter in here + there):
                return True
            are_names = here[0].isupper() and there[0].isupper()
            if are_names and Indel.normalized_similarity(here.casefold(), there.casefold()) < SAME_NAME:
                return True
    return False


def pair_into_leaves(
    pages: Sequence[PageEvidence], apart: Collection[str] = ()
) -> tuple[list[Leaf], list[dict[str, Any]]]:
    """Return the leaves of a folder's pages, and the findings: what was paired, and pages about which nothing
    is known. The pages *apart* begin a leaf.
    """
    leaves: list[Leaf] = []
    findings: list[dict[str, Any]] = []
    before: PageEvidence | None = None
    for page in pages:
        leaf = leaves[-1] if leaves else None
        is_set_apart = False
        if not page.is_read:
            findings.append(_finding("no-reading", page, "Nothing was read on it yet."))
        elif page.is_blank:
            is_verso = before is not None and before.is_written
            if leaf is not None and is_verso and page.page_id not in apart:
                reason = "Next to nothing is written behind a written page."
                findings.append(_finding("blank-verso", page, reason, leaf.front))
                leaf.pages.append(page)
                before = page
                continue
            is_set_apart = is_verso
            findings.append(_finding("blank-page", page, "Next to nothing is written on it."))
        elif leaf is not None and leaf.front.is_written and before is not None:
            alike = likeness(leaf.front.text, page.text)
            if alike >= SECOND_SHOT and not names_or_numbers_differ(leaf.front.text, page.text):
                if page.page_id not in apart:
                    reason = f"Its text repeats {alike:.0%} of the page before."
                    findings.append(_finding("duplicate-shot", page, reason, leaf.front, round(alike, 4)))
                    leaf.pages.append(page)
                    leaf.confidence = min(leaf.confidence, 1.0 if alike == 1.0 else SECOND_SHOT)
                    before = page
                    continue
                is_set_apart = True
        leaves.append(Leaf(page, [page], is_set_apart=is_set_apart))
        before = page
    return leaves, findings


def _finding(
    kind: str,
    page: PageEvidence,
    reason: str,
    of: PageEvidence | None = None,
    similarity: float | None = None,
) -> dict[str, Any]:
    return {
        "kind": kind,
        "page_id": page.page_id,
        "of_page_id": None if of is None else of.page_id,
        "similarity": similarity,
        "reason": reason,
    }


def signals_of(before: PageEvidence | None, page: PageEvidence) -> list[dict[str, Any]]:
    """Return the signals for or against a boundary between two consecutive pages (None: a folder's first page)."""
    signals = [
        _signal(match.cue.cue, "opening", match.cue.weight, page.page_id, match.line)
        for match in page.openings
    ]
    if before is not None:
        signals += [
            _signal(match.cue.cue, "closing", match.cue.weight, before.page_id, match.line)
            for match in before.closings
        ]
        numbers = _numbers(before.number, page.number)
        if numbers is not None:
            signals.append(_signal(numbers[0], "furniture", numbers[1], page.page_id))
        # A split word also is a sentence that continues: it counts once, as the stronger of the two.
        if before.ends_split and page.begins_small:
            signals.append(_signal("hyphenated word split", "continuity", SPLIT_WORD, page.page_id))
        elif before.ends_open and page.begins_small:
            signals.append(_signal("sentence runs over", "continuity", SENTENCE, page.page_id))
    signals += [_signal(match.cue.cue, "kind", 0.0, page.page_id, match.line) for match in page.kinds]
    return signals


def _signal(cue: str, role: str, weight: float, page_id: str, line: int | None = None) -> dict[str, Any]:
    return {"cue": cue, "role": role, "weight": weight, "page_id": page_id, "line": line}


def _numbers(before: tuple[int, str] | None, here: tuple[int, str] | None) -> tuple[str, float] | None:
    """Return whether page numbers restart or continue; None if one of the two pages has none, or there is a
    gap between them.
    """
    if before is None or here is None:
        return None
    if here[0] == before[0] + 1 or (here[0] == before[0] and (before[1], here[1]) == ("r", "v")):
        return "page numbers run on", RUN_ON
    if here[0] < before[0] or here[0] == before[0] == 1:
        return "page numbers restart", RESTART
    return None


def log_odds(signals: Sequence[dict[str, Any]]) -> float:
    """Return the sum of the weights; that of all openings and that of all closings is limited."""
    opening = sum(signal["weight"] for signal in signals if signal["role"] == "opening")
    closing = sum(signal["weight"] for signal in signals if signal["role"] == "closing")
    others: float = sum(
        signal["weight"] for signal in signals if signal["role"] in ("furniture", "continuity")
    )
    return float(BASE + min(opening, MOST_OPENING) + min(closing, MOST_CLOSING) + others)


def logistic(value: float) -> float:
    """Return the probability for log-odds."""
    return 1.0 / (1.0 + math.exp(-value))


def join_leaves(leaves: Sequence[Leaf]) -> list[dict[str, Any]]:
    """Return each leaf's join with the one before it. A folder's first page certainly begins a document.

    The probability is None where nothing speaks for or against a boundary and the silence says nothing either: beside
    a page that nobody has read, and in a folder in which no cue of any language matched.
    """
    cued = any_cue(leaves)
    joins = []
    for number, leaf in enumerate(leaves):
        before = leaves[number - 1] if number else None
        signals = signals_of(None if before is None else before.front, leaf.front)
        has_cues = cued and leaf.front.is_read and (before is None or before.front.is_read)
        has_evidence = has_cues or any(signal["weight"] for signal in signals)
        joins.append(
            {
                "page_id": leaf.front.page_id,
                "previous_page_id": None if before is None else before.pages[-1].page_id,
                "probability": 1.0
                if before is None
                else logistic(log_odds(signals))
                if has_evidence
                else None,
                "signals": signals,
            }
        )
    return joins


def any_cue(leaves: Sequence[Leaf]) -> bool:
    """Return whether a row of the table matched any page."""
    return any(page.openings or page.closings or page.kinds for leaf in leaves for page in leaf.pages)


def is_boundary(probability: float | None) -> bool:
    """Return whether a boundary is proposed at a join; where nothing is known, none is."""
    return probability is not None and probability >= BOUNDARY
