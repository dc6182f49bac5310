"""A person's changes of a proposal: a split, a join, a moved page. Plain values in, plain values out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from armarium_finding import errors
from armarium_finding.proposing import number_documents, signal_words

Proposal = dict[str, Any]


def split(proposal: Proposal, index: int, page_id: str, by: str, at: str) -> list[dict[str, Any]]:
    """Let *page_id* begin a document of its own; return the new examples."""
    document = _open_document(proposal, index)
    pages = document["page_ids"]
    if page_id not in pages:
        raise errors.page_elsewhere(page_id, index)
    place = pages.index(page_id)
    if place == 0:
        raise errors.begins_already(index, page_id)
    example = _example(proposal, pages[place - 1], page_id, True, by, at)
    halves = [_replace_pages(document, part, by) for part in (pages[:place], pages[place:])]
    proposal["documents"][index : index + 1] = halves
    return _finish(proposal, [example], index + 1, 1)


def join(proposal: Proposal, index: int, by: str, at: str) -> list[dict[str, Any]]:
    """Join a document to the next one; return the new examples."""
    document = _open_document(proposal, index)
    if index + 1 == len(proposal["documents"]):
        raise errors.no_neighbour("after", index)
    following = _open_document(proposal, index + 1)
    example = _example(proposal, document["page_ids"][-1], following["page_ids"][0], False, by, at)
    pages = [*document["page_ids"], *following["page_ids"]]
    proposal["documents"][index : index + 2] = [_replace_pages(document, pages, by)]
    return _finish(proposal, [example], index + 1, -1)


def move_page(proposal: Proposal, index: int, to: str, by: str, at: str) -> list[dict[str, Any]]:
    """Move a document's first page to the previous one, or its last to the next one; return the new examples."""
    document = _open_document(proposal, index)
    other_index = index - 1 if to == "previous" else index + 1
    if not 0 <= other_index < len(proposal["documents"]):
        raise errors.no_neighbour("before" if to == "previous" else "after", index)
    other = _open_document(proposal, other_index)
    mine, theirs = list(document["page_ids"]), list(other["page_ids"])
    if len(mine) == 1:
        raise errors.only_page(index)
    if to == "previous":
        examples = [
            _example(proposal, theirs[-1], mine[0], False, by, at),
            _example(proposal, mine[0], mine[1], True, by, at),
        ]
        theirs.append(mine.pop(0))
    else:
        examples = [
            _example(proposal, mine[-2], mine[-1], True, by, at),
            _example(proposal, mine[-1], theirs[0], False, by, at),
        ]
        theirs.insert(0, mine.pop())
    proposal["documents"][index] = _replace_pages(document, mine, by)
    proposal["documents"][other_index] = _replace_pages(other, theirs, by)
    return _finish(proposal, examples, 0, 0)


def open_document(proposal: Mapping[str, Any], index: int) -> dict[str, Any]:
    """Return the document *index*; Invalid out of range, Conflict if it was accepted or rejected."""
    documents = proposal["documents"]
    if not 0 <= index < len(documents):
        raise errors.no_document(index, len(documents))
    opened: dict[str, Any] = documents[index]
    if opened["state"] != "proposed":
        raise errors.decided_already(index, opened["state"])
    return opened


_open_document = open_document


def _replace_pages(document: Mapping[str, Any], pages: list[str], by: str) -> dict[str, Any]:
    """Return the document with other pages, as set by a person."""
    return {
        **document,
        "page_ids": pages,
        "confidence": 1.0,
        "reasons": [f"Set by {by}."],
        "adjusted_by": by,
        "from_proposal_id": None,
    }


def _example(proposal: Proposal, left: str, right: str, boundary: bool, by: str, at: str) -> dict[str, Any]:
    """Return a person's judgement of one join, with that of the run (none within a leaf)."""
    verdict = next((judged for judged in proposal["joins"] if judged["page_id"] == right), None)
    return {
        "left_page_id": left,
        "right_page_id": right,
        "boundary": boundary,
        "decided_by": by,
        "at": at,
        "run_probability": None if verdict is None else verdict["run_probability"],
        "run_reasons": ["It was considered the same leaf."] if verdict is None else signal_words(verdict),
    }


def _finish(proposal: Proposal, examples: list[dict[str, Any]], after: int, by: int) -> list[dict[str, Any]]:
    """Renumber documents and decided groups: those from *after* on move *by* places. The other groups are dropped: they
    are to be found anew (`proposing.groups_of`).
    """
    number_documents(proposal["documents"])
    standing = []
    for group in proposal["groups"]:
        if group["state"] == "proposed":
            continue
        moved = [index + by if index >= after else index for index in group["document_indexes"]]
        standing.append({**group, "document_indexes": moved})
    proposal["groups"] = standing
    proposal["examples"] += examples
    return examples
