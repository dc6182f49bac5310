"""Proposals and scores as stored: artifacts of their folder, identified by the step that made them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, or_, select

from armarium.api import is_among
from armarium_documents.api import ARTIFACTS, artifacts, classifications, documents
from armarium_finding import errors
from armarium_finding.decided import Decisions
from armarium_finding.models import said
from armarium_finding.proposing import describe, describe_groups, groups_of, number_documents
from armarium_source_model.api import text_fingerprint

STEP = "find-documents"
GROUPING, SCORE = "grouping", "finddocs_score"
SHOWN = ("page_ids", "method", "job_id", "leaves", "documents", "groups", "findings", "joins", "examples")

_OURS = (artifacts.c.artifact_type == GROUPING, artifacts.c.step_name == STEP)
_NEWEST = (artifacts.c.sequence.desc(), artifacts.c.id.desc())


def newest_of(conn: Connection, folder_id: str) -> str | None:
    """Return the folder's current proposal: its newest."""
    query = select(artifacts.c.id).where(*_OURS, artifacts.c.document_id == folder_id).order_by(*_NEWEST)
    return conn.execute(query.limit(1)).scalar()


def read_proposal(conn: Connection, proposal_id: str) -> dict[str, Any]:
    """Return a whole proposal, including what no answer shows; NotFound for an id that is not one."""
    row = ARTIFACTS.get(conn, proposal_id)
    if row is None or row["artifact_type"] != GROUPING or row["step_name"] != STEP:
        raise errors.unknown_proposal(proposal_id)
    newest = newest_of(conn, row["document_id"])
    current = newest == proposal_id
    return {
        **row["data"],
        "evidence": evidence_of(conn, proposal_id),
        "id": row["id"],
        "folder_id": row["document_id"],
        "created_at": row["created_at"],
        "state": "current" if current else "superseded",
        "superseded_by": None if current else newest,
    }


def require_current(conn: Connection, proposal_id: str) -> dict[str, Any]:
    """Return a proposal that may be changed; Conflict for one that was superseded."""
    proposal = read_proposal(conn, proposal_id)
    if proposal["superseded_by"] is not None:
        raise errors.superseded_proposal(proposal_id, proposal["superseded_by"])
    return proposal


DERIVED = ("name", "kind", "prototype_key", "date", "parties", "label")
"""The fields of documents and groups that are computed from what the pages say whenever a proposal is read:
the words of a page are in a row of the page, which is hidden whenever the page is.
"""


def data_of(proposal: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data of a proposal's artifact."""
    data = {name: proposal[name] for name in (*SHOWN, "text_fingerprint", "features")}
    data["documents"] = [_drop_fields(document, DERIVED) for document in proposal["documents"]]
    data["groups"] = [_drop_fields(group, (*DERIVED, "reasons")) for group in proposal["groups"]]
    return data


def _drop_fields(fields: Mapping[str, Any], without: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in without}


def sent_by_run(proposal: Mapping[str, Any], prints: Mapping[str, str], job_id: str | None) -> dict[str, Any]:
    """Return what a run sends to be stored: *prints* are the fingerprints of the pages' texts."""
    evidence = proposal["evidence"]
    said_of = {
        page_id: {"fingerprint": prints[page_id], **evidence.get(page_id, {})}
        for page_id in proposal["page_ids"]
    }
    together = text_fingerprint("".join(prints[page_id] for page_id in proposal["page_ids"]))
    return {
        **{
            name: proposal[name] for name in ("method", "page_ids", "leaves", "findings", "joins", "features")
        },
        "job_id": job_id,
        "documents": [
            {name: document[name] for name in ("page_ids", "confidence", "reasons")}
            for document in proposal["documents"]
        ],
        "groups": [group["document_indexes"] for group in proposal["groups"]],
        "said": said_of,
        "text_fingerprint": together,
    }


def new_proposal_data(sent: Mapping[str, Any], decisions: Decisions) -> dict[str, Any]:
    """Return the data of a proposal's artifact from what a run sent, and what was decided before."""
    undecided = {"state": "proposed", "accepted_as": None, "decided_by": None}
    fresh = {**undecided, "adjusted_by": None, "from_proposal_id": None}
    return {
        **{
            name: sent[name]
            for name in ("method", "job_id", "page_ids", "leaves", "findings", "joins", "features")
        },
        "documents": number_documents(
            [decisions.take_over({**document, **fresh}) for document in sent["documents"]]
        ),
        "groups": [
            {"index": number, "document_indexes": indexes, **undecided}
            for number, indexes in enumerate(sent["groups"])
        ],
        "examples": [],
        "text_fingerprint": sent["text_fingerprint"],
    }


def evidence_of(conn: Connection, proposal_id: str) -> dict[str, dict[str, Any]]:
    """Return what the pages of a proposal say, for those that say something and that *conn* shows."""
    query = select(said.c.document_id, said.c.kind, said.c.kind_weight, said.c.date, said.c.parties)
    something = or_(said.c.kind.is_not(None), said.c.date.is_not(None), said.c.parties != [])
    rows = conn.execute(query.where(said.c.proposal_id == proposal_id, something)).all()
    return {
        page_id: {"kind": None if kind is None else (kind, weight), "date": date, "parties": parties}
        for page_id, kind, weight, date, parties in rows
    }


def dress(conn: Connection, proposal: dict[str, Any]) -> dict[str, Any]:
    """Add the computed fields to the documents and groups of a proposal: names, kinds, dates, parties."""
    _dress_documents(conn, proposal)
    describe_groups(proposal["groups"], dict(enumerate(proposal["documents"])))
    return proposal


def regroup(conn: Connection, proposal: dict[str, Any]) -> dict[str, Any]:
    """Group anew the documents of a proposal whose pages were changed, beside the groups that it still has; dress it."""
    _dress_documents(conn, proposal)
    proposal["groups"] = groups_of(proposal["documents"], proposal["groups"])
    describe_groups(proposal["groups"], dict(enumerate(proposal["documents"])))
    return proposal


def _dress_documents(conn: Connection, proposal: dict[str, Any]) -> None:
    first = [document["page_ids"][0] for document in proposal["documents"]]
    select_names = select(documents.c.id, documents.c.name).where(is_among(documents.c.id, first))
    names = {row[0]: row[1] for row in conn.execute(select_names).all()}
    describe(proposal["documents"], proposal["evidence"], names)
    keys = prototype_keys(conn)
    for document in proposal["documents"]:
        document["prototype_key"] = (
            None if document["kind"] is None else keys.get(document["kind"].casefold())
        )


def prototype_keys(conn: Connection) -> dict[str, str]:
    """Return the project's prototypes: name in lower case -> key; if two have one name, the oldest comes first."""
    query = select(classifications.c.label, classifications.c.key)
    keys: dict[str, str] = {}
    for label, key in conn.execute(query.order_by(classifications.c.created_at, classifications.c.key)):
        keys.setdefault(label.casefold(), key)
    return keys


def hidden_from(proposal: Mapping[str, Any], hidden: Collection[str]) -> dict[str, Any]:
    """Return the proposal as answered to a caller who may not see the pages *hidden*: without documents that
    contain one of them, groups of such documents, and statements about such pages.
    """
    answer = {name: proposal[name] for name in SHOWN}
    answer |= {name: proposal[name] for name in ("id", "folder_id", "created_at", "state", "superseded_by")}
    answer |= {
        "text_fingerprint": proposal["text_fingerprint"],
        "stale": proposal.get("stale"),
        "documents_withheld": 0,
    }
    away = set(hidden) & set(proposal["page_ids"])
    if not away:
        return answer
    visible = [document for document in proposal["documents"] if away.isdisjoint(document["page_ids"])]
    indexes = {document["index"] for document in visible}
    answer["documents_withheld"] = len(proposal["documents"]) - len(visible)
    answer["documents"] = visible
    answer["groups"] = [
        group for group in proposal["groups"] if indexes.issuperset(group["document_indexes"])
    ]
    answer["page_ids"] = [page_id for page_id in proposal["page_ids"] if page_id not in away]
    answer["findings"] = _drop_rows(proposal["findings"], away, ("page_id", "of_page_id"))
    joins = _drop_rows(proposal["joins"], away, ("page_id", "previous_page_id"))
    answer["joins"] = [
        join for join in joins if all(signal["page_id"] not in away for signal in join["signals"])
    ]
    answer["examples"] = _drop_rows(proposal["examples"], away, ("left_page_id", "right_page_id"))
    return answer


def _drop_rows(
    rows: Sequence[dict[str, Any]], away: Collection[str], names: Sequence[str]
) -> list[dict[str, Any]]:
    return [row for row in rows if all(row[name] not in away for name in names)]


def every_proposal(conn: Connection, folder_id: str | None = None) -> list[dict[str, Any]]:
    """Return every proposal of the project, or of one folder, as stored in its artifact, newest first."""
    where = _OURS if folder_id is None else (*_OURS, artifacts.c.document_id == folder_id)
    rows = ARTIFACTS.all(conn, *where, order=(artifacts.c.created_at.desc(), *_NEWEST))
    return [{**row["data"], "id": row["id"], "folder_id": row["document_id"]} for row in rows]


def scores_of(conn: Connection, folder_id: str | None) -> list[dict[str, Any]]:
    """Return the stored scores, newest first: of one folder, or all."""
    where = [artifacts.c.artifact_type == SCORE, artifacts.c.step_name == STEP]
    if folder_id is not None:
        where.append(artifacts.c.document_id == folder_id)
    rows = ARTIFACTS.all(conn, *where, order=(artifacts.c.created_at.desc(), artifacts.c.id.desc()))
    return [score_of(row) for row in rows]


def score_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a score as answered."""
    return {
        **row["data"],
        "id": row["id"],
        "folder_id": row["document_id"],
        "proposal_id": row["source_artifact_id"],
        "created_at": row["created_at"],
    }


def newest_scores(scores: Sequence[Mapping[str, Any]], method: str) -> list[Mapping[str, Any]]:
    """Return every folder's newest score of one method, from *scores*, which are sorted newest first."""
    newest: dict[str, Mapping[str, Any]] = {}
    for score in scores:
        if score["method"] == method:
            newest.setdefault(score["folder_id"], score)
    return list(newest.values())
