"""How well a run agreed with people: precision, recall, whole documents, kinds, and how confident it was when right."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from armarium_finding.decided import is_judged
from armarium_finding.rules import is_boundary

LEVELS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.97, 0.98, 0.99)
MIN_JOINS = 50
AGREED = 0.99


class JudgedJoin(NamedTuple):
    """A join that a person judged: the run's statement about it, and the truth. None: the run considered it
    one leaf, or knew nothing about it.
    """

    page_id: str
    probability: float | None
    boundary: bool

    @property
    def is_proposed(self) -> bool:
        """Return whether the run proposed a boundary there."""
        return is_boundary(self.probability)


def said_by_run(proposal: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the run's own probability of each join, whatever a person decided: by the page it leads to."""
    return {join["page_id"]: join.get("run_probability", join["probability"]) for join in proposal["joins"]}


def judged_joins(proposal: Mapping[str, Any]) -> list[JudgedJoin]:
    """Return the joins next to and within documents that a person judged, except a folder's first page, which
    has none before it.

    A rejected document is wrong at its start, at its end or inside. Which of these, the rejection alone does not say: it
    counts only if a single possibility is left, since documents beside it were accepted or adjusted.
    """
    said_of_join = said_by_run(proposal)
    documents: Sequence[Mapping[str, Any]] = proposal["documents"]
    stands = [is_judged(document) and document["state"] != "rejected" for document in documents]
    # Whether a document certainly begins where it is said to: the folder begins and ends in any case.
    begins = [number == 0 or stands[number] or stands[number - 1] for number in range(len(documents))] + [
        True
    ]
    judged: list[JudgedJoin] = []
    for number, document in enumerate(documents):
        first, *following = document["page_ids"]
        inner = [page for page in following if page in said_of_join]
        if number:
            before = documents[number - 1]
            wrong = _is_wrong(document, begins[number + 1], inner) or _is_wrong(
                before, begins[number - 1], [page for page in before["page_ids"][1:] if page in said_of_join]
            )
            if begins[number] or wrong:
                judged.append(JudgedJoin(first, said_of_join.get(first), begins[number]))
        if stands[number]:
            judged += [JudgedJoin(page, said_of_join[page], False) for page in inner]
    return judged


def _is_wrong(document: Mapping[str, Any], other_end: bool, inner: Sequence[str]) -> bool:
    """Return whether a document was rejected for the one end: its *other_end* is right, and it has no join inside."""
    return is_judged(document) and document["state"] == "rejected" and other_end and not inner


def proposed_documents(proposal: Mapping[str, Any]) -> set[tuple[str, ...]]:
    """Return the pages of each document as the run proposed it."""
    starts = {page for page, probability in said_by_run(proposal).items() if is_boundary(probability)}
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
    right = sum(join.is_proposed and join.boundary for join in judged)
    proposed = sum(join.is_proposed for join in judged)
    actual = sum(join.boundary for join in judged)
    run = proposed_documents(proposal)
    settled = [
        document
        for document in proposal["documents"]
        if is_judged(document) and document["state"] != "rejected"
    ]
    accepted = [
        document
        for document in proposal["documents"]
        if document["accepted_as"] in kinds and document["kind"] is not None
    ]
    accepted = [document for document in accepted if is_judged(document)]
    kinds_right = sum(kinds[document["accepted_as"]] == document["kind"] for document in accepted)
    return {
        "method": proposal["method"],
        "documents": len(settled),
        "judged_joins": len(judged),
        "boundaries_proposed": proposed,
        "boundaries_actual": actual,
        "precision": right / proposed if proposed else None,
        "recall": right / actual if actual else None,
        "exact_documents": sum(tuple(document["page_ids"]) in run for document in settled),
        "kinds_confirmed": len(accepted),
        "kinds_right": kinds_right,
        "kind_accuracy": kinds_right / len(accepted) if accepted else None,
        "levels": levels_of(judged),
    }


def levels_of(judged: Iterable[JudgedJoin]) -> list[dict[str, Any]]:
    """Return for each level the number of judged joins with at least that confidence, and how many of them
    the run was right about.
    """
    with_probability = [join for join in judged if join.probability is not None]
    levels = []
    for level in LEVELS:
        sure = [
            join
            for join in with_probability
            if max(join.probability or 0.0, 1.0 - (join.probability or 0.0)) >= level
        ]
        levels.append(
            {
                "level": level,
                "joins": len(sure),
                "agreed": sum(join.is_proposed == join.boundary for join in sure),
            }
        )
    return levels


def pool_levels(scores: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the sum of the levels of several scores."""
    joins, agreed = dict.fromkeys(LEVELS, 0), dict.fromkeys(LEVELS, 0)
    for score_of_run in scores:
        for level in score_of_run["levels"]:
            joins[level["level"]] += level["joins"]
            agreed[level["level"]] += level["agreed"]
    return [{"level": level, "joins": joins[level], "agreed": agreed[level]} for level in LEVELS]


def suggest_level(levels: Iterable[Mapping[str, Any]]) -> float | None:
    """Return the lowest level with enough judged joins and nearly complete agreement; None if there is none."""
    for level in levels:
        if level["joins"] >= MIN_JOINS and level["agreed"] >= AGREED * level["joins"]:
            return float(level["level"])
    return None
