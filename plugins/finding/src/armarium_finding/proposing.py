"""Turns joins into a proposal: documents with kind, date, parties and confidence, groups, and reasons. Plain
values only.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from armarium_finding.decided import Decisions
from armarium_finding.evidence import PageEvidence, party_key
from armarium_finding.learning import METHOD, Model, features_of
from armarium_finding.pictures import BITS, Look, bits_apart
from armarium_finding.rules import Leaf, any_cue, is_boundary, join_leaves, pair_into_leaves

LONGEST_NAME = 120
UNLIKE = 20
"""From this many of 64 different bits on, two pictures are called dissimilar."""

MOST_PARTIES = 24
"""How many parties of a document count for its group: what nobody reads must not take long."""

Document = dict[str, Any]
Evidence = Mapping[str, Mapping[str, Any]]
"""Page id -> the result of `PageEvidence.summarise`."""


NO_CUE = "No cue of any language matched in the folder, so nothing is said about how sure this is."


def propose(
    pages: Sequence[PageEvidence],
    looks: Mapping[str, Look] | None = None,
    model: Model | None = None,
    decisions: Decisions | None = None,
) -> dict[str, Any]:
    """Return the proposal for a folder's pages in order: ids and numbers, and separately what each page says.

    *looks* of the pictures add to the reasons; the probabilities of a *model* replace the rules' own; *decisions* made in
    earlier proposals stand.
    """
    decisions = decisions or Decisions()
    settled = decisions.settle([page.page_id for page in pages])
    leaves, findings = pair_into_leaves(
        pages, {page for page, judgement in settled.items() if judgement.boundary}
    )
    joins = join_leaves(leaves)
    features = features_of(leaves, looks or {})
    for number, join in enumerate(joins):
        pair = leaves[max(number - 1, 0) : number + 1]
        if number and model is not None and all(leaf.front.is_read for leaf in pair):
            join["probability"] = model.probability(features[join["page_id"]])
        join["run_probability"] = None if leaves[number].is_set_apart else join["probability"]
        join["decided_by"] = None
        if join["page_id"] in settled:
            boundary, join["decided_by"] = settled[join["page_id"]]
            join["probability"] = float(boundary)
    evidence = {page.page_id: summary for page in pages if (summary := page.summarise())}
    doubt = None if model is not None or any_cue(leaves) else NO_CUE
    documents = [decisions.take_over(document) for document in _documents(leaves, joins, looks or {}, doubt)]
    describe(documents, evidence, {})
    return {
        "method": "rules-1" if model is None else METHOD,
        "page_ids": [page.page_id for page in pages],
        "leaves": len(leaves),
        "documents": documents,
        "groups": groups_of(documents),
        "findings": findings,
        "joins": joins,
        "examples": [],
        "evidence": evidence,
        "features": features,
        "doubt": doubt,
    }


def _documents(
    leaves: Sequence[Leaf], joins: Sequence[dict[str, Any]], looks: Mapping[str, Look], doubt: str | None
) -> list[Document]:
    """Return the documents; with a *doubt* about the whole folder, without confidence."""
    documents: list[Document] = []
    starts = [number for number, join in enumerate(joins) if is_boundary(join["probability"]) or number == 0]
    if not leaves:
        return []
    for index, start in enumerate(starts):
        end = starts[index + 1] if index + 1 < len(starts) else len(leaves)
        inner = [join["probability"] for join in joins[start + 1 : end]]
        sure: list[float | None] = [leaf.confidence for leaf in leaves[start:end]]
        sure += [begins if begins is None else 1.0 - begins for begins in inner]
        sure += [join["probability"] for join in (joins[start], *joins[end : end + 1])]
        why = doubt or _explain_unread(leaves[start:end], None in sure)
        documents.append(
            {
                "page_ids": [page_id for leaf in leaves[start:end] for page_id in leaf.ids],
                "confidence": None
                if why
                else min(confidence for confidence in sure if confidence is not None),
                "reasons": [
                    *([why] if why else []),
                    *reasons_of(joins[start], joins[end] if end < len(leaves) else None),
                    *_reasons_of_look(leaves[start - 1] if start else None, leaves[start], looks),
                ],
                "state": "proposed",
                "accepted_as": None,
                "adjusted_by": None,
                "decided_by": None,
                "from_proposal_id": None,
            }
        )
    return number_documents(documents)


def is_sure_enough(document: Mapping[str, Any], least: float) -> bool:
    """Return whether an undecided document has at least this confidence."""
    return (
        document["state"] == "proposed"
        and document["confidence"] is not None
        and document["confidence"] >= least
    )


def _explain_unread(leaves: Sequence[Leaf], is_open: bool) -> str | None:
    """Return, in words, that pages of a document were not read, or (if one of its ends *is_open*) one beside it."""
    unread = sum(not page.is_read for leaf in leaves for page in leaf.pages)
    if unread:
        pages = "1 of its pages has" if unread == 1 else f"{unread} of its pages have"
        return f"{pages} not been read, so nothing is said about how sure this is."
    beside = "A page beside it has not been read, so nothing is said about how sure this is."
    return beside if is_open else None


def describe(documents: Sequence[Document], evidence: Evidence, names: Mapping[str, str]) -> None:
    """Give each document its name, kind, date and parties, from what its pages say; *names* are those of the pages."""
    for document in documents:
        document |= _description(document["page_ids"], evidence, names)


def _description(page_ids: Sequence[str], evidence: Evidence, names: Mapping[str, str]) -> Document:
    """Return the description: the kind from its first page, else from its strongest cue; the first date; all
    parties.
    """
    pages = [evidence[page_id] for page_id in page_ids if page_id in evidence]
    kinds = [page["kind"] for page in pages if page.get("kind")]
    first = evidence.get(page_ids[0], {}).get("kind")
    kind = first if first and first[1] > 0 else max(kinds, key=lambda weighed: weighed[1], default=None)
    date = next((page["date"] for page in pages if page.get("date")), None)
    parties: dict[str, str] = {}
    for evidence_of_page in pages:
        for name in evidence_of_page.get("parties", ()):
            parties.setdefault(party_key(name), name)
    name = (
        ", ".join(part for part in (kind and kind[0], date) if part) or names.get(page_ids[0]) or "Document"
    )
    return {
        "name": name[:LONGEST_NAME],
        "kind": kind and kind[0],
        "date": date,
        "parties": list(parties.values()),
    }


def reasons_of(start: Mapping[str, Any], after: Mapping[str, Any] | None) -> list[str]:
    """Return, in words, why a document is assumed to begin and end where it does."""
    if start["previous_page_id"] is None:
        reasons = ["It begins with the first page."]
    elif start.get("decided_by"):
        reasons = [f"Begins: as {start['decided_by']} decided."]
    else:
        begins = signal_words(start)
        reasons = [f"Begins: {'; '.join(begins)}."] if begins else []
    ends = [] if after is None or after.get("decided_by") else signal_words(after)
    if after is not None and after.get("decided_by"):
        ends = [f"as {after['decided_by']} decided"]
    return [*reasons, f"Ends: {'; '.join(ends)}."] if ends else reasons


def _reasons_of_look(before: Leaf | None, leaf: Leaf, looks: Mapping[str, Look]) -> list[str]:
    """Return, in words, that the picture of a document's first page is unlike the one before it."""
    look_before = None if before is None else looks.get(before.front.page_id)
    other = looks.get(leaf.front.page_id)
    if look_before is None or other is None or (apart := bits_apart(look_before, other)) < UNLIKE:
        return []
    ink = f"{other.ink:.0%} ink after {look_before.ink:.0%}"
    return [f"Its picture is unlike the one before: {apart} of {BITS} bits apart, {ink}."]


def signal_words(join: Mapping[str, Any]) -> list[str]:
    """Return each signal of a join in words, with its weight if it has one."""
    words = []
    for signal in join["signals"]:
        on_line = "" if signal["line"] is None else f" on line {signal['line']}"
        before = " of the page before" if signal["role"] == "closing" else ""
        weight = f" ({signal['weight']:+.1f})" if signal["weight"] else ""
        words.append(f"{signal['cue']}{on_line}{before}{weight}")
    return words


def number_documents(documents: Sequence[Document]) -> list[Document]:
    """Return the documents with index and positions numbered again."""
    position = 0
    for index, document in enumerate(documents):
        document["index"] = index
        document["first_position"] = position
        position += len(document["page_ids"])
        document["last_position"] = position - 1
    return list(documents)


def groups_of(
    documents: Sequence[Document], standing: Sequence[Mapping[str, Any]] = ()
) -> list[dict[str, Any]]:
    """Return groups of documents that share two parties, in order of date; *standing* groups, which were
    decided, keep their documents.
    """
    grouped = {index for group in standing for index in group["document_indexes"]}
    parties_of_document = {
        document["index"]: {party_key(name) for name in document["parties"]}
        for document in documents
        if document["index"] not in grouped and document["state"] != "rejected"
    }
    groups = [dict(group) for group in standing]
    # The pair that most documents share first: a document is in one group, and all of a group share two parties.
    for indexes in _by_pair(parties_of_document):
        indexes = [index for index in indexes if index not in grouped]
        if len(indexes) < 2:
            continue
        grouped.update(indexes)
        indexes.sort(key=lambda index: (documents[index]["date"] or "9999", index))
        groups.append(
            {"document_indexes": indexes, "state": "proposed", "accepted_as": None, "decided_by": None}
        )
    groups.sort(key=lambda group: min(group["document_indexes"]))
    for number, group in enumerate(groups):
        group["index"] = number
    return groups


def _by_pair(parties_of_document: Mapping[int, set[str]]) -> list[list[int]]:
    """Return, for each pair of parties that several documents name, those documents: the most first, else the first.

    *named*: document to the keys of its parties. Of a document that names very many, those that most others name count.
    """
    counts = Counter(key for keys in parties_of_document.values() for key in keys)
    pairs: dict[tuple[str, str], list[int]] = {}
    for index, keys in parties_of_document.items():
        shared = sorted((key for key in keys if counts[key] > 1), key=lambda key: (-counts[key], key))
        for pair in itertools.combinations(sorted(shared[:MOST_PARTIES]), 2):
            pairs.setdefault(pair, []).append(index)
    return sorted(pairs.values(), key=lambda indexes: (-len(indexes), indexes))


def describe_groups(groups: Sequence[dict[str, Any]], documents: Mapping[int, Document]) -> None:
    """Give each group its label, parties and reasons, from its documents (by index)."""
    for group in groups:
        shared = _find_shared_parties(documents, group["document_indexes"])
        count = len(group["document_indexes"])
        group["parties"] = shared
        group["label"] = " – ".join(shared)[:LONGEST_NAME] or "Group"
        group["reasons"] = [f"{count} documents name {' and '.join(shared)}."] if shared else []


def _find_shared_parties(documents: Mapping[int, Document], indexes: Sequence[int]) -> list[str]:
    """Return the parties that each of these documents names, as the first of them spells them."""
    names = [{party_key(name): name for name in documents[index]["parties"]} for index in indexes]
    return [name for key, name in names[0].items() if all(key in others for others in names[1:])]
