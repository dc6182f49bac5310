"""Writes of statements: create one, change or curate it, delete it, store those a job found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, select, update

from armarium.api import ActionContext, Route, action, is_among, new_id
from armarium_documents.api import require_live, runs_backwards
from armarium_knowledge import errors
from armarium_knowledge.actions.evidence import (
    OF_SOURCES,
    Evidence,
    StatedSources,
    change_evidence,
    evidence_on,
)
from armarium_knowledge.actions.findings import note_findings
from armarium_knowledge.actions.laws import OF_CLAIMS
from armarium_knowledge.actions.persons_only import CURATED_STATEMENTS
from armarium_knowledge.folding import fold, has_name
from armarium_knowledge.placing import PagePlaces, Place
from armarium_knowledge.queries.claims import claim
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.records.claims import (
    Claim,
    ClaimCreate,
    ClaimUpdate,
    FoundStatement,
    TakenStatements,
    TakeStatements,
    claim_entities,
    claim_sources,
    claims,
)
from armarium_knowledge.records.entities import Deleted, entities, reviews
from armarium_knowledge.schemas.fields import Id

OF_ENTITIES = {"entity_ids", "subject_entity_id", "object_entity_id"}


def _name_entities(ctx: ActionContext, claim_id: str, ids: Sequence[str | None]) -> None:
    entity_ids = [entity_id for entity_id in dict.fromkeys(ids) if entity_id is not None]
    for entity_id in entity_ids:
        live_entity(ctx.conn, entity_id)
    ctx.bulk_insert(
        claim_entities,
        ("id", "claim_id", "entity_id"),
        [(new_id(), claim_id, entity_id) for entity_id in entity_ids],
    )
    ctx.note_changes(entity_ids=entity_ids)


def _fold_text(text: str, *more: str) -> str:
    return "\n".join(folded for folded in map(fold, (text, *more)) if folded)


def _check_times(start: str | None, end: str | None) -> None:
    if runs_backwards(start, end):
        raise errors.interval_reversed("The statement")


@action(
    "claim.create",
    result=Claim,
    summary="Create a statement.",
    route=Route("POST", "/api/claims"),
    words="Created a statement",
    laws=OF_CLAIMS,
)
def create(ctx: ActionContext, p: ClaimCreate) -> dict[str, Any]:
    """Create it on the characters named, line by line, on whole documents or on other statements. It starts
    unreviewed.
    """
    _check_times(p.time_start, p.time_end)
    claim_id = new_id()
    span = p.source_char_start, p.source_char_end
    rests = Evidence(ctx, claim_id, StatedSources(p.source_document_id, *span, p.source_ids, p.source_type))
    fields = p.model_dump(mode="json", exclude=OF_SOURCES | {"entity_ids"})
    subject = p.subject_canonical
    if not subject and p.subject_entity_id is not None:
        subject = live_entity(ctx.conn, p.subject_entity_id).canonical_name
    row = {
        "id": claim_id,
        **fields,
        "subject_canonical": subject,
        "source_type": rests.source_type,
        "curation_state": "unreviewed",
        "folded_text": _fold_text(p.text, subject, p.predicate_verb, p.object_phrase),
        **ctx.provenance(),
        "updated_at": ctx.now,
    }
    ctx.conn.execute(claims.insert().values(row))
    _name_entities(ctx, claim_id, [p.subject_entity_id, p.object_entity_id, *p.entity_ids])
    rests.write()
    ctx.target(claim_id, *rests.documents)
    ctx.note_changes(claim_ids=[claim_id], document_ids=rests.documents)
    return claim(ctx.conn, claim_id)


@action(
    "claim.update",
    result=Claim,
    summary="Change a statement, or curate it.",
    route=Route("PATCH", "/api/claims/{claim_id}"),
    words="Changed a statement",
    rules=(CURATED_STATEMENTS,),
    laws=OF_CLAIMS,
)
def change(ctx: ActionContext, p: ClaimUpdate) -> dict[str, Any]:
    """Change it. Only a person curates, and changes a curated one; a machine may put one on the shortlist."""
    row = Claim.rows.row(ctx.conn, p.claim_id)
    fields_sent = p.model_fields_set - {"claim_id"}
    changes = p.model_dump(mode="json", include=fields_sent - OF_SOURCES - {"entity_ids"})
    claim_now = {**row._asdict(), **changes}
    _check_times(claim_now["time_start"], claim_now["time_end"])
    if fields_sent & OF_SOURCES:
        rests = change_evidence(ctx, p, row.source_type)
        changes["source_type"] = rests.source_type
        ctx.target(*rests.documents)
    if fields_sent & OF_ENTITIES:
        listed = select(claim_entities.c.entity_id).where(claim_entities.c.claim_id == row.id)
        before = [row.entity_id for row in ctx.conn.execute(listed.order_by(claim_entities.c.id))]
        was_named = {row.subject_entity_id, row.object_entity_id}
        others = (
            p.entity_ids
            if "entity_ids" in fields_sent
            else [entity_id for entity_id in before if entity_id not in was_named]
        )
        ctx.conn.execute(delete(claim_entities).where(claim_entities.c.claim_id == row.id))
        _name_entities(ctx, row.id, [claim_now["subject_entity_id"], claim_now["object_entity_id"], *others])
    texts = (
        claim_now["text"],
        claim_now["subject_canonical"],
        claim_now["predicate_verb"],
        claim_now["object_phrase"],
    )
    changes["folded_text"] = _fold_text(*texts)
    Claim.rows.change(ctx.conn, row.id, {**changes, "updated_at": ctx.now})
    ctx.target(row.id)
    ctx.note_changes(claim_ids=[row.id])
    return claim(ctx.conn, row.id)


@action(
    "claim.delete",
    result=Deleted,
    summary="Delete a statement.",
    route=Route("DELETE", "/api/claims/{claim_id}"),
    words="Deleted a statement",
    rules=(CURATED_STATEMENTS,),
    laws=OF_CLAIMS,
)
def remove(ctx: ActionContext, claim_id: Id) -> dict[str, Any]:
    """Delete it. Statements that rest on it lose that evidence; a prediction that became it is decided without it."""
    row = Claim.rows.row(ctx.conn, claim_id)
    sources = claim_sources.c
    rests = select(sources.document_id).where(sources.claim_id == row.id, sources.document_id.is_not(None))
    pages = [row.document_id for row in ctx.conn.execute(rests)]
    named_ids = select(claim_entities.c.entity_id).where(claim_entities.c.claim_id == row.id)
    ctx.note_changes(
        claim_ids=[row.id],
        entity_ids=[row.entity_id for row in ctx.conn.execute(named_ids)],
        document_ids=pages,
    )
    resting = [
        source.claim_id
        for source in ctx.conn.execute(
            select(sources.claim_id).distinct().where(sources.source_claim_id == row.id)
        )
    ]
    # They are changed too, so that one a person curated does not lose its evidence to a machine.
    ctx.conn.execute(update(claims).where(is_among(claims.c.id, resting)).values(updated_at=ctx.now))
    ctx.note_changes(claim_ids=resting)
    ctx.conn.execute(delete(claim_entities).where(claim_entities.c.claim_id == row.id))
    ctx.conn.execute(
        delete(claim_sources).where((sources.claim_id == row.id) | (sources.source_claim_id == row.id))
    )
    ctx.conn.execute(
        update(reviews).where(reviews.c.resulting_claim_id == row.id).values(resulting_claim_id=None)
    )
    ctx.conn.execute(update(claims).where(claims.c.merged_into_id == row.id).values(merged_into_id=None))
    Claim.rows.delete(ctx.conn, row.id)
    ctx.target(row.id)
    return {"status": "deleted", "id": row.id}


@action(
    "claim.take",
    result=TakenStatements,
    summary="Write the statements found on a page.",
    words="Found statements on {document_id|a page}",
    rules=(CURATED_STATEMENTS,),
    laws=OF_CLAIMS,
)
def take(ctx: ActionContext, p: TakeStatements) -> dict[str, Any]:
    """Write them, except those already there. A subject or object with exactly one entity's name becomes that
    entity.
    """
    require_live(ctx.conn, p.document_id)
    places = PagePlaces(ctx.conn, p.document_id)
    said = _said_on(ctx, p.document_id)
    claim_ids: list[str] = []
    for statement in p.statements:
        lines = [
            line
            for line in map(places.line, dict.fromkeys(statement.segment_ids))
            if line is not None and line.text
        ]
        if not lines or fold(statement.text) in said:
            continue
        said.add(fold(statement.text))
        claim_ids.append(_take_one(ctx, p, statement, places, lines))
    note_findings(
        ctx,
        p.document_id,
        "claims",
        ((fold(statement.text), {"text": statement.text}) for statement in p.statements),
    )
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id], claim_ids=claim_ids)
    return {"claim_ids": claim_ids, "left_out": len(p.statements) - len(claim_ids)}


def _take_one(
    ctx: ActionContext, p: TakeStatements, statement: FoundStatement, places: PagePlaces, lines: Sequence[Any]
) -> str:
    claim_id = new_id()
    subject, target = _find_named(ctx, statement.subject), _find_named(ctx, statement.object)
    names = {"subject": "subject_canonical", "object": "object_phrase"}
    fields = statement.model_dump(mode="json", exclude={"segment_ids"})
    row = {
        "id": claim_id,
        **{names.get(key, key): value for key, value in fields.items()},
        "epistemic_status": "tentative",
        "curation_state": "unreviewed",
        "subject_entity_id": subject,
        "object_entity_id": target,
        "source_type": "document",
        "date_values": [],
        "provider": p.provider,
        "model": p.model,
        "episode_id": p.episode_id,
        "folded_text": _fold_text(
            statement.text, statement.subject, statement.predicate_verb, statement.object
        ),
        **ctx.provenance(),
        "updated_at": ctx.now,
    }
    ctx.conn.execute(claims.insert().values(row))
    _name_entities(ctx, claim_id, [subject, target])
    rows = []
    for number, line in enumerate(lines):
        at = line.page_start
        whole = Place(line.segment_id, line.representation_id, 0, len(line.text), at, at + len(line.text))
        numbered = {"id": new_id(), "claim_id": claim_id, "position": number}
        rows.append({**numbered, **evidence_on(places, whole), **ctx.provenance()})
    ctx.conn.execute(claim_sources.insert(), rows)
    return claim_id


def _find_named(ctx: ActionContext, words: str) -> str | None:
    """Return the one entity with exactly this name; None if there is none, or more than one."""
    entity = entities.c
    query = select(entity.id).where(
        entity.curation_state.in_(("unreviewed", "verified")), has_name(entity.folded_names, words)
    )
    ids = ctx.conn.execute(query).scalars().all()
    return ids[0] if len(ids) == 1 else None


def _said_on(ctx: ActionContext, document_id: str) -> set[str]:
    of_page = select(claim_sources.c.claim_id).where(claim_sources.c.document_id == document_id)
    return {fold(row.text) for row in ctx.conn.execute(select(claims.c.text).where(claims.c.id.in_(of_page)))}
