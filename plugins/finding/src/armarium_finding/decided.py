"""What was decided about a folder's pages in its proposals, and how later proposals keep to it. Plain values only."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

KEPT = ("state", "accepted_as", "adjusted_by", "decided_by", "from_proposal_id")
"""The fields of a document that a later proposal takes over."""


class Ruling(NamedTuple):
    """A person's word on whether a new document begins between two pages that followed each other."""

    left: str
    right: str
    boundary: bool
    by: str


class Settled(NamedTuple):
    """A person's word on whether a page begins a document."""

    boundary: bool
    by: str


class Decisions(NamedTuple):
    """Rulings, oldest first, and the last decision on each set of pages."""

    rulings: tuple[Ruling, ...] = ()
    documents: Mapping[tuple[str, ...], Mapping[str, Any]] = {}

    def settle(self, page_ids: Sequence[str]) -> dict[str, Settled]:
        """Return, of a folder's pages in order, those about which a person said whether they begin a document.

        Two pages that belong together keep what was put between them; the page after the end of a document begins the
        next one, also where the one that did is gone. The first page is none of them: it begins a document in any case.
        """
        places = {page_id: place for place, page_id in enumerate(page_ids)}
        settled: dict[str, Settled] = {}
        for left, right, boundary, by in self.rulings:
            start, end = places.get(left), places.get(right)
            if not boundary:
                if start is not None and end is not None:
                    settled.update(dict.fromkeys(page_ids[start + 1 : end + 1], Settled(False, by)))
            elif end is not None:
                settled[right] = Settled(True, by)
            elif start is not None and start + 1 < len(page_ids):
                settled[page_ids[start + 1]] = Settled(True, by)
        if page_ids:
            settled.pop(page_ids[0], None)
        return settled

    def take_over(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document as proposed, with what was decided about these very pages before, if anything was."""
        known = self.documents.get(tuple(document["page_ids"]))
        if known is None:
            return document
        who = known["decided_by"]["actor"] if known["decided_by"] else known["adjusted_by"]
        what = "Set" if known["state"] == "proposed" else known["state"].capitalize()
        confidence = 1.0 if known["adjusted_by"] else document["confidence"]
        reasons = [f"{what} by {who} in an earlier proposal."]
        return {**document, **known, "confidence": confidence, "reasons": reasons}


def is_judged(document: Mapping[str, Any]) -> bool:
    """Return whether a person accepted, rejected or adjusted a document."""
    decided = document["decided_by"]
    return document["adjusted_by"] is not None or (decided is not None and decided["by"] == "person")


def decisions_of(proposals: Sequence[Mapping[str, Any]]) -> Decisions:
    """Return what was decided in the proposals of one folder, which are sorted newest first.

    What a proposal took over from an earlier one counts where it was decided, so that undoing it there ends it. A
    document of several pages that was accepted is a group: its pages are loose only if somebody took it apart again.
    """
    rulings: list[Ruling] = []
    decided: dict[tuple[str, ...], Mapping[str, Any]] = {}
    for proposal in reversed(proposals):
        documents = proposal["documents"]
        for number, document in enumerate(documents):
            if document.get("from_proposal_id") is not None:
                continue
            pages, state = document["page_ids"], document["state"]
            is_group = state == "accepted" and len(pages) > 1
            if not is_group and (state != "proposed" or document["adjusted_by"] is not None):
                decided[tuple(pages)] = {name: document[name] for name in KEPT[:-1]} | {
                    "from_proposal_id": proposal["id"]
                }
            if state == "rejected" or not is_judged(document):
                continue
            by = document["adjusted_by"] or document["decided_by"]["actor"]
            if not is_group:
                rulings += [Ruling(left, right, False, by) for left, right in itertools.pairwise(pages)]
            if number:
                rulings.append(Ruling(documents[number - 1]["page_ids"][-1], pages[0], True, by))
            if number + 1 < len(documents):
                rulings.append(Ruling(pages[-1], documents[number + 1]["page_ids"][0], True, by))
    return Decisions(tuple(rulings), decided)
