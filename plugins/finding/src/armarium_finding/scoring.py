"""How well a run agreed with people: precision, recall, whole documents, kinds, and how confident it was when
right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from armarium_finding.rules import BOUNDARY

LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99)
MIN_JOINS = 50
AGREED = 0.99


class JudgedJoin(NamedTuple):
    """A join that a person judged: the run's statement about it, and the truth. None: the run considered it
    one leaf.
    """

    page_id: str
    probability: float | None
    boundary: bool

    @property
    def is_proposed(self) -> bool:
        """Return whether the run proposed a boundary there."""
        return self.probability is not None and self.probability >= BOUNDARY


def is_judged(document: Mapping[str, Any]) -> bool:
    """Return whether a person accepted, rejected or adjusted a document."""
    decided = document["decided_by"]
    return document["adjusted_by"] is not None or (decided is not None and decided["by"] == "person")


def judged_joins(proposal: Mapping[str, Any]) -> list[JudgedJoin]:
    """Return the joins next to and within documents that a person judged, except a folder's first page, which
    has none before it.

    A rejected document means that it does not begin and end as proposed, unless an adjacent document that was
    accepted or adjusted says that it does; it says nothing about the joins inside.
    """
    said = {join["page_id"]: join["probability"] for join in proposal["joins"]}
    documents: Sequence[Mapping[str, Any]] = proposal["documents"]
    judged: list[JudgedJoin] = []
    for number, document in enumerate(documents):
        if number:
            sides = [one for one in (documents[number - 1], document) if is_judged(one)]
            if sides:
                first = document["page_ids"][0]
                stands = any(one["state"] != "rejected" for one in sides)
                judged.append(JudgedJoin(first, said.get(first), stands))
        if is_judged(document) and document["state"] != "rejected":
            judged += [
                JudgedJoin(page, said[page], False) for page in document["page_ids"][1:] if page in said
            ]
    return judged


def proposed_documents(proposal: Mapping[str, Any]) -> set[tuple[str, ...]]:
    """Return the pages of each document as the run proposed it."""
    starts = {join["page_id"] for join in proposal["joins"] if join["probability"] >= BOUNDARY}
    documents: list[list[str]] = []
    for page_id in proposal["page_ids"]:
        if not documents or page_id in starts:
            documents.append([])
        documents[-1].append(page_id)
    return {tuple(pages) for pages in documents}


def score(proposal: Mapping[str, Any], kinds: Mapping[str, str | None]) -> dict[str, Any]:
    """Return the score of a proposal; *kinds* are the present kinds of the accepted documents (node id -> the
    kind's name).
    """
    judged = judged_joins(proposal)
    right = sum(one.is_proposed and one.boundary for one in judged)
    proposed = sum(one.is_proposed for one in judged)
    actual = sum(one.boundary for one in judged)
    run = proposed_documents(proposal)
    settled = [one for one in proposal["documents"] if is_judged(one) and one["state"] != "rejected"]
    accepted = [
        one for one in proposal["documents"] if one["accepted_as"] in kinds and one["kind"] is not None
    ]
    accepted = [one for one in accepted if is_judged(one)]
    same = sum(kinds[one["accepted_as"]] == one["kind"] for one in accepted)
    return {
        "method": proposal["method"],
        "documents": len(settled),
        "judged_joins": len(judged),
        "boundaries_proposed": proposed,
        "boundaries_actual": actual,
        "precision": right / proposed if proposed else None,
        "recall": right / actual if actual else None,
        "exact_documents": sum(tuple(one["page_ids"]) in run for one in settled),
        "kinds_confirmed": len(accepted),
        "kinds_right": same,
        "kind_accuracy": same / len(accepted) if accepted else None,
        "levels": levels_of(judged),
    }


def levels_of(judged: Iterable[JudgedJoin]) -> list[dict[str, Any]]:
    """Return for each level the number of judged joins with at least that confidence, and how many of them
    the run was right about.
    """
    known = [one for one in judged if one.probability is not None]
    levels = []
    for level in LEVELS:
        sure = [one for one in known if max(one.probability or 0.0, 1.0 - (one.probability or 0.0)) >= level]
        levels.append(
            {
                "level": level,
                "joins": len(sure),
                "agreed": sum(one.is_proposed == one.boundary for one in sure),
            }
        )
    return levels


def pool_levels(scores: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sum of the levels of several scores."""
    joins, agreed = dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0)
    for one in scores:
        for level in one["levels"]:
            joins[level["level"]] += level["joins"]
            agreed[level["level"]] += level["agreed"]
    return [{"level": level, "joins": joins[level], "agreed": agreed[level]} for level in LEVELS]


def suggest_level(levels: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the lowest level with enough judged joins and nearly complete agreement; None if there is none."""
    for one in levels:
        if one["joins"] >= MIN_JOINS and one["agreed"] >= AGREED * one["joins"]:
            return float(one["level"])
    return None
