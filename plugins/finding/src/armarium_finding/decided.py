"""What was decided about a folder's pages in its proposals, and how later proposals keep to it. Plain values only."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

KEPT = ("state", "accepted_as", "adjusted_by", "decided_by", "from_proposal_id")
"""The fields of a document that a later proposal takes over."""


class SetDocument(NamedTuple):
    """Pages of which a person said that they make a document, without any other."""

    page_ids: tuple[str, ...]
    """Empty if it has become a group: its pages are loose again only if somebody took it apart."""
    next_page_id: str | None
    """The page that began the next document."""
    by: str


class Ruling(NamedTuple):
    """A person's word on whether a page begins a document."""

    boundary: bool
    by: str


class Decisions(NamedTuple):
    """The documents that persons set, oldest first, and the last decision on each set of pages."""

    set_documents: tuple[SetDocument, ...] = ()
    documents: Mapping[frozenset[str], Mapping[str, Any]] = {}

    def settle(self, page_ids: Sequence[str]) -> dict[str, Ruling]:
        """Return, of a folder's pages in order, those about which a person said whether they begin a document.

        The pages of a document stay together, with what was put between them since, and the page after them begins the
        next one. A folder's first page is none of these: it begins a document in any case.
        """
        places = {page_id: place for place, page_id in enumerate(page_ids)}
        settled: dict[str, Ruling] = {}
        for set_document in self.set_documents:
            positions = [places[page_id] for page_id in set_document.page_ids if page_id in places]
            if positions:
                start, end = min(positions), max(positions)
                settled.update(dict.fromkeys(page_ids[start : end + 1], Ruling(False, set_document.by)))
                settled.update(
                    dict.fromkeys(
                        (page_ids[start], *page_ids[end + 1 : end + 2]), Ruling(True, set_document.by)
                    )
                )
            elif set_document.next_page_id in places:
                settled[set_document.next_page_id] = Ruling(True, set_document.by)
        if page_ids:
            settled.pop(page_ids[0], None)
        return settled

    def take_over(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document as proposed, with what was decided about these very pages before, if anything was."""
        decision = self.documents.get(frozenset(document["page_ids"]))
        if decision is None:
            return document
        actor = decision["decided_by"]["actor"] if decision["decided_by"] else decision["adjusted_by"]
        verb = "Set" if decision["state"] == "proposed" else decision["state"].capitalize()
        confidence = 1.0 if decision["adjusted_by"] else document["confidence"]
        reasons = [f"{verb} by {actor} in an earlier proposal."]
        return {**document, **decision, "confidence": confidence, "reasons": reasons}


def is_judged(document: Mapping[str, Any]) -> bool:
    """Return whether a person accepted, rejected or adjusted a document."""
    decided = document["decided_by"]
    return document["adjusted_by"] is not None or (decided is not None and decided["by"] == "person")


def decisions_of(proposals: Sequence[Mapping[str, Any]]) -> Decisions:
    """Return what was decided in the proposals of one folder, which are sorted newest first.

    What a proposal took over from an earlier one counts where it was decided, so that undoing it there ends it. A
    document of several pages that was accepted is a group: its pages are loose only if somebody took it apart again.
    """
    set_documents: list[SetDocument] = []
    decided: dict[frozenset[str], Mapping[str, Any]] = {}
    for proposal in reversed(proposals):
        documents = proposal["documents"]
        for document, following in itertools.zip_longest(documents, documents[1:]):
            if document.get("from_proposal_id") is not None:
                continue
            pages, state = document["page_ids"], document["state"]
            is_group = state == "accepted" and len(pages) > 1
            if not is_group and (state != "proposed" or document["adjusted_by"] is not None):
                decided[frozenset(pages)] = {name: document[name] for name in KEPT[:-1]} | {
                    "from_proposal_id": proposal["id"]
                }
            if state != "rejected" and is_judged(document):
                by = document["adjusted_by"] or document["decided_by"]["actor"]
                after = None if following is None else following["page_ids"][0]
                set_documents.append(SetDocument(() if is_group else tuple(pages), after, by))
    return Decisions(tuple(set_documents), decided)
