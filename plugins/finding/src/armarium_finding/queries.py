"""Reads of finding: runs, proposals, scores."""

from __future__ import annotations

from typing import Annotated, Any

import orjson
from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import query, require_job, withheld_nodes
from armarium_documents.api import artifacts, require_document
from armarium_finding import errors, store
from armarium_finding.models import said
from armarium_finding.schemas import Method, Proposal, ProposalHeads, Run, Scores
from armarium_finding.scoring import MIN_JOINS, pool_levels, suggest_level
from armarium_source_model.api import DerivedRow, reading_rule, stale_rows

JOB_KIND = "find-documents-in-a-folder"

MOST_COMPARED = 500
"""When a proposal is read, the present text of up to this many pages is compared with the text it rests on;
with more, staleness is not reported.
"""


@query(
    "/api/find-documents/runs/{job_id}", summary="A run that finds documents, with its proposals", answer=Run
)
def read_run(conn: Connection, job_id: str) -> dict[str, Any]:
    """Return it; NotFound for an id that is not such a run's."""
    job = require_job(conn, job_id, JOB_KIND, errors.unknown_run, "checkpoint")
    proposal_ids = job.checkpoint.get("proposal_ids", [])
    words = [
        _words(job.state, len(proposal_ids), job.done, job.total),
        *_notes(job.checkpoint.get("notes", {})),
    ]
    return {
        "job_id": job_id,
        "state": job.state,
        "reason": job.reason,
        "words": " ".join(words),
        "proposal_ids": proposal_ids,
    }


def _notes(notes: dict[str, int]) -> list[str]:
    """Return, in words, of how many folders something holds that a reader of the proposals must know."""
    found_notes = []
    for note, words in (
        ("no_cue", "no cue of any language matched, so nothing is said about how sure their documents are."),
        ("unread", "no page has been read, so nothing was proposed."),
        (
            "kept",
            "the parts of a split picture, or the pages of a picture file, stay with it and were not looked at.",
        ),
    ):
        if count := notes.get(note):
            found_notes.append(f"In {count} {'folder' if count == 1 else 'folders'} {words}")
    return found_notes


def _words(state: str, count: int, done: int, total: int) -> str:
    proposals = "1 proposal" if count == 1 else f"{count} proposals"
    if state == "done":
        return f"Ended with {proposals}."
    if state in ("failed", "cancelled"):
        return f"{state.capitalize()} after {proposals}."
    return f"{state.capitalize()}: {done} of {total} pages examined, {proposals} so far."


@query(
    "/api/find-documents/proposals",
    summary="Proposals of documents, the newest first",
    answer=ProposalHeads,
    refusals=(404,),
)
def list_proposals(
    conn: Connection, folder_id: Annotated[str | None, Query(max_length=200)] = None
) -> dict[str, Any]:
    """Return those of one folder, or all; NotFound for an unknown folder."""
    if folder_id is not None:
        require_document(conn, folder_id)
    ours = (artifacts.c.artifact_type == store.GROUPING, artifacts.c.step_name == store.STEP)
    selected = select(
        artifacts.c.id,
        artifacts.c.document_id,
        artifacts.c.model,
        artifacts.c.created_at,
        artifacts.c.content,
    ).where(*ours)
    if folder_id is not None:
        selected = selected.where(artifacts.c.document_id == folder_id)
    rows = conn.execute(selected.order_by(artifacts.c.created_at.desc(), artifacts.c.sequence.desc())).all()
    newest: dict[str, str] = {}
    for row in rows:
        newest.setdefault(row.document_id, row.id)
    items = [
        {
            "id": row.id,
            "folder_id": row.document_id,
            "method": row.model,
            "state": "current" if newest[row.document_id] == row.id else "superseded",
            "superseded_by": None if newest[row.document_id] == row.id else newest[row.document_id],
            "created_at": row.created_at,
            **orjson.loads(row.content),
        }
        for row in rows
    ]
    return {"items": items, "count": len(items)}


@query(
    "/api/find-documents/proposals/{proposal_id}",
    summary="A proposal: documents, groups, findings, joins",
    answer=Proposal,
)
def read_proposal(conn: Connection, proposal_id: str) -> dict[str, Any]:
    """Return it without what the caller may not see; NotFound for an id that is not a proposal's."""
    proposal = store.dress(conn, store.read_proposal(conn, proposal_id))
    proposal["stale"] = _is_stale(conn, proposal_id, len(proposal["page_ids"]))
    return store.hidden_from(proposal, withheld_nodes(conn))


def _is_stale(conn: Connection, proposal_id: str, pages: int) -> bool | None:
    """Return whether the text of a page has changed since; None if there are too many pages to check."""
    if pages > MOST_COMPARED:
        return None
    rows = conn.execute(
        select(said.c.id, said.c.document_id, said.c.text_fingerprint).where(
            said.c.proposal_id == proposal_id
        )
    )
    derived = [DerivedRow(row.id, row.document_id, row.text_fingerprint) for row in rows]
    return bool(stale_rows(conn, derived, reading_rule(conn)))


@query(
    "/api/find-documents/score",
    summary="Scores, newest first, and the suggested level for automatic acceptance",
    answer=Scores,
)
def list_scores(
    conn: Connection,
    folder_id: Annotated[str | None, Query(max_length=200)] = None,
    method: Annotated[
        Method, Query(description="The method whose levels are added up: the rules or the learned model")
    ] = "rules-1",
) -> dict[str, Any]:
    """Return those of one folder, or all; the levels are those of every folder's newest score. NotFound for
    an unknown folder.
    """
    if folder_id is not None:
        require_document(conn, folder_id)
    items = store.scores_of(conn, folder_id)
    return {"items": items, "count": len(items), **levels_now(conn, method), "min_joins": MIN_JOINS}


def levels_now(conn: Connection, method: str) -> dict[str, Any]:
    """Return the sum of the levels of every folder's newest score of a method, and the level they suggest."""
    levels = pool_levels(store.newest_scores(store.scores_of(conn, None), method))
    return {"levels": levels, "suggested_accept_above": suggest_level(levels)}
