"""Writes of statements: create one, change or curate it, delete it, store those a job found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import delete, select, update

from armarium.api import ActionContext, Example, Route, RowRule, action, new_id, raw_of
from armarium_documents.api import find_node, require_live
from armarium_knowledge import errors, samples
from armarium_knowledge.actions.entities import reversed_interval
from armarium_knowledge.actions.findings import note_findings
from armarium_knowledge.folding import fold
from armarium_knowledge.models import claim_entities, claim_sources, claims, entities, reviews
from armarium_knowledge.placing import PagePlaces, Place
from armarium_knowledge.queries.claims import CLAIMS, claim
from armarium_knowledge.queries.entities import live_entity
from armarium_knowledge.schemas.claims import (
    Claim,
    ClaimCreate,
    ClaimId,
    ClaimUpdate,
    FoundStatement,
    TakenStatements,
    TakeStatements,
)
from armarium_knowledge.schemas.entities import Deleted
from armarium_source_model.api import text_fingerprint

Image = Mapping[str, Any] | None


def _curates(before: Image, after: Image) -> bool:
    """Return whether only a person may do this: any change of the curation except between unreviewed and the
    shortlist.
    """
    was = before["curation_state"] if before else "unreviewed"
    becomes = after["curation_state"] if after else "unreviewed"
    return was != becomes and {was, becomes} != {"unreviewed", "shortlisted"}


CURATED_BY_PERSONS: RowRule[Any] = RowRule("claim", "person", when=_curates, refusal=errors.curated_by_person)

OF_SOURCES = {"source_type", "source_document_id", "source_ids", "source_char_start", "source_char_end"}
OF_ENTITIES = {"entity_ids", "subject_entity_id", "object_entity_id"}


class _Rests:
    """The evidence of a statement: rows of evidence, and the source type that results."""

    def __init__(self, ctx: ActionContext, p: ClaimCreate, claim_id: str) -> None:
        self.ctx, self.claim_id = ctx, claim_id
        self.rows: list[dict[str, Any]] = []
        self.documents: list[str] = []
        self.claims: list[str] = []
        has_span = p.source_char_start is not None or p.source_char_end is not None
        if p.source_document_id is not None:
            self._document(p.source_document_id, p.source_char_start, p.source_char_end)
        elif has_span:
            raise errors.span_needs_document()
        for one in p.source_ids:
            if one in self.documents or one in self.claims:
                continue
            if find_node(ctx.conn, one) is not None:
                self._document(one, None, None)
            elif CLAIMS.get(ctx.conn, one) is not None:
                self._no_circle(one)
                self.claims.append(one)
                self._add(source_claim_id=one)
            else:
                raise errors.unknown_source(one)
        self.source_type = self._type(p.source_type)

    def _document(self, document_id: str, start: int | None, end: int | None) -> None:
        require_live(self.ctx.conn, document_id)
        self.documents.append(document_id)
        if start is None and end is None:
            self._add(document_id=document_id)
            return
        if start is None or end is None:
            raise errors.span_needs_document()
        places = PagePlaces(self.ctx.conn, document_id)
        for piece in places.pieces(start, end):
            self.rows.append(self._of(evidence_on(places, piece)))

    def _add(self, **of: Any) -> None:
        self.rows.append(self._of(of))

    def _of(self, of: Mapping[str, Any]) -> dict[str, Any]:
        nothing = dict.fromkeys(
            (
                "document_id",
                "source_claim_id",
                "segment_id",
                "representation_id",
                "segment_char_start",
                "segment_char_end",
                "excerpt",
                "text_fingerprint",
            )
        )
        numbered = {"id": new_id(), "claim_id": self.claim_id, "position": len(self.rows)}
        return {**numbered, **nothing, **of, **self.ctx.provenance()}

    def _no_circle(self, source_id: str) -> None:
        above = raw_of(self.ctx.conn).execute(
            "WITH RECURSIVE up(id) AS (SELECT ? UNION SELECT s.source_claim_id FROM up JOIN claim_source s"
            " ON s.claim_id = up.id WHERE s.source_claim_id IS NOT NULL) SELECT 1 FROM up WHERE id = ?",
            (source_id, self.claim_id),
        )
        if above.fetchone() is not None:
            raise errors.rests_on_itself(self.claim_id)

    def _type(self, stated: str | None) -> str:
        several = len(self.documents) + len(self.claims) > 1
        natural = "multiple" if several else "claim" if self.claims else "document"
        if stated is None:
            return natural
        if stated == "document" and self.claims:
            raise errors.sources_disagree(
                stated, "it rests on statements too; say claim, multiple or synthesis."
            )
        if stated == "claim" and (self.documents or not self.claims):
            raise errors.sources_disagree(stated, "name one statement in source_ids, and no document.")
        if stated == "multiple" and not several:
            raise errors.sources_disagree(stated, "name more than one source, or another type.")
        return stated


def evidence_on(places: PagePlaces, piece: Place) -> dict[str, Any]:
    """Return the columns of a piece of evidence: characters of one line."""
    line = places.line(piece.segment_id)
    assert line is not None
    return {
        "document_id": places.document_id,
        "segment_id": piece.segment_id,
        "representation_id": piece.representation_id,
        "segment_char_start": piece.line_start,
        "segment_char_end": piece.line_end,
        "excerpt": line.text[piece.line_start : piece.line_end],
        "text_fingerprint": text_fingerprint(line.text),
    }


def _name_entities(ctx: ActionContext, claim_id: str, ids: Sequence[str | None]) -> None:
    named = [one for one in dict.fromkeys(ids) if one is not None]
    for one in named:
        live_entity(ctx.conn, one)
    ctx.bulk_insert(
        claim_entities, ("id", "claim_id", "entity_id"), [(new_id(), claim_id, one) for one in named]
    )
    ctx.note_changes(entity_ids=named)


def _fold_text(text: str, *more: str) -> str:
    return "\n".join(one for one in map(fold, (text, *more)) if one)


def _check_times(start: str | None, end: str | None) -> None:
    if start and end and reversed_interval(start, end):
        raise errors.interval_reversed("The statement")


def _create_example(ex: Example) -> dict[str, Any]:
    there = samples.claim(ex)
    return {**there["stated"], "text": "Juan Garcia had a vineyard", "predicate_verb": "had"}


@action(
    "claim.create",
    params=ClaimCreate,
    result=Claim,
    summary="Create a statement.",
    route=Route("POST", "/api/claims"),
    words="Created a statement",
    example=_create_example,
)
def create(ctx: ActionContext, p: ClaimCreate) -> dict[str, Any]:
    """Create it on the characters named, line by line, on whole documents or on other statements. It starts
    unreviewed.
    """
    _check_times(p.time_start, p.time_end)
    claim_id = new_id()
    rests = _Rests(ctx, p, claim_id)
    stated = p.model_dump(mode="json", exclude=OF_SOURCES | {"entity_ids"})
    subject = p.subject_canonical
    if not subject and p.subject_entity_id is not None:
        subject = live_entity(ctx.conn, p.subject_entity_id).canonical_name
    row = {
        "id": claim_id,
        **stated,
        "subject_canonical": subject,
        "source_type": rests.source_type,
        "curation_state": "unreviewed",
        "folded_text": _fold_text(p.text, subject, p.predicate_verb, p.object_phrase),
        **ctx.provenance(),
        "updated_at": ctx.now,
    }
    ctx.conn.execute(claims.insert().values(row))
    _name_entities(ctx, claim_id, [p.subject_entity_id, p.object_entity_id, *p.entity_ids])
    if rests.rows:
        ctx.conn.execute(claim_sources.insert(), rests.rows)
    ctx.target(claim_id, *rests.documents)
    ctx.note_changes(claim_ids=[claim_id], document_ids=rests.documents)
    return claim(ctx.conn, claim_id)


NEVER_EMPTY = frozenset(
    {
        "text",
        "claim_type",
        "epistemic_status",
        "curation_state",
        "subject_canonical",
        "predicate_verb",
        "object_phrase",
        "time_precision",
        "date_values",
        "confidence",
    }
)


@action(
    "claim.update",
    params=ClaimUpdate,
    result=Claim,
    summary="Change a statement, or curate it.",
    route=Route("PATCH", "/api/claims/{claim_id}"),
    words="Changed a statement",
    rules=(CURATED_BY_PERSONS,),
    example=lambda ex: {"claim_id": samples.claim(ex)["claim_id"], "curation_state": "curated"},
)
def change(ctx: ActionContext, p: ClaimUpdate) -> dict[str, Any]:
    """Change it. Only a person curates; a machine may only put an unreviewed one on the shortlist."""
    row = CLAIMS.row(ctx.conn, p.claim_id)
    sent = p.model_fields_set - {"claim_id"}
    changes = p.model_dump(mode="json", include=sent - OF_SOURCES - {"entity_ids"})
    changes = {key: value for key, value in changes.items() if value is not None or key not in NEVER_EMPTY}
    now = {**row._asdict(), **changes}
    _check_times(now["time_start"], now["time_end"])
    if sent & OF_SOURCES:
        rests = _Rests(ctx, p, row.id)
        ctx.conn.execute(delete(claim_sources).where(claim_sources.c.claim_id == row.id))
        if rests.rows:
            ctx.conn.execute(claim_sources.insert(), rests.rows)
        changes["source_type"] = rests.source_type
        ctx.target(*rests.documents)
        ctx.note_changes(document_ids=rests.documents)
    if sent & OF_ENTITIES:
        listed = select(claim_entities.c.entity_id).where(claim_entities.c.claim_id == row.id)
        before = [one.entity_id for one in ctx.conn.execute(listed.order_by(claim_entities.c.id))]
        was_named = {row.subject_entity_id, row.object_entity_id}
        others = p.entity_ids if "entity_ids" in sent else [one for one in before if one not in was_named]
        ctx.conn.execute(delete(claim_entities).where(claim_entities.c.claim_id == row.id))
        _name_entities(ctx, row.id, [now["subject_entity_id"], now["object_entity_id"], *others])
    told = (now["text"], now["subject_canonical"], now["predicate_verb"], now["object_phrase"])
    changes["folded_text"] = _fold_text(*told)
    ctx.conn.execute(update(claims).where(claims.c.id == row.id).values({**changes, "updated_at": ctx.now}))
    ctx.target(row.id)
    ctx.note_changes(claim_ids=[row.id])
    return claim(ctx.conn, row.id)


@action(
    "claim.delete",
    params=ClaimId,
    result=Deleted,
    summary="Delete a statement.",
    route=Route("DELETE", "/api/claims/{claim_id}"),
    words="Deleted a statement",
    rules=(CURATED_BY_PERSONS,),
    example=lambda ex: {"claim_id": samples.claim(ex)["claim_id"]},
)
def remove(ctx: ActionContext, p: ClaimId) -> dict[str, Any]:
    """Delete it. Statements that rest on it lose that evidence; a prediction that became it is decided without it."""
    row = CLAIMS.row(ctx.conn, p.claim_id)
    sources = claim_sources.c
    rests = select(sources.document_id).where(sources.claim_id == row.id, sources.document_id.is_not(None))
    pages = [one.document_id for one in ctx.conn.execute(rests)]
    named = select(claim_entities.c.entity_id).where(claim_entities.c.claim_id == row.id)
    ctx.note_changes(
        claim_ids=[row.id], entity_ids=[one.entity_id for one in ctx.conn.execute(named)], document_ids=pages
    )
    ctx.conn.execute(delete(claim_entities).where(claim_entities.c.claim_id == row.id))
    ctx.conn.execute(
        delete(claim_sources).where((sources.claim_id == row.id) | (sources.source_claim_id == row.id))
    )
    ctx.conn.execute(
        update(reviews).where(reviews.c.resulting_claim_id == row.id).values(resulting_claim_id=None)
    )
    ctx.conn.execute(update(claims).where(claims.c.merged_into_id == row.id).values(merged_into_id=None))
    ctx.conn.execute(delete(claims).where(claims.c.id == row.id))
    ctx.target(row.id)
    return {"status": "deleted", "id": row.id}


def _take_example(ex: Example) -> dict[str, Any]:
    page = samples.read_page(ex)
    samples.entity(ex)
    stated = {"text": "Juan Garcia sold his vineyard", "subject": "Juan Garcia", "predicate_verb": "sold"}
    return {
        "document_id": page["page_id"],
        "provider": "sample",
        "model": "sample",
        "statements": [{**stated, "object": "his vineyard", "segment_ids": page["lines"]}],
    }


@action(
    "claim.take",
    params=TakeStatements,
    result=TakenStatements,
    summary="Write the statements found on a page.",
    words="Found statements on {document_id|a page}",
    rules=(CURATED_BY_PERSONS,),
    example=_take_example,
)
def take(ctx: ActionContext, p: TakeStatements) -> dict[str, Any]:
    """Write them, except those already there. A subject or object with exactly one entity's name becomes that
    entity.
    """
    require_live(ctx.conn, p.document_id)
    places = PagePlaces(ctx.conn, p.document_id)
    known = _said_on(ctx, p.document_id)
    made: list[str] = []
    for one in p.statements:
        lines = [
            line
            for line in map(places.line, dict.fromkeys(one.segment_ids))
            if line is not None and line.text
        ]
        if not lines or fold(one.text) in known:
            continue
        known.add(fold(one.text))
        made.append(_take_one(ctx, p, one, places, lines))
    note_findings(
        ctx, p.document_id, "claims", ((fold(one.text), {"text": one.text}) for one in p.statements)
    )
    ctx.target(p.document_id)
    ctx.note_changes(document_ids=[p.document_id], claim_ids=made)
    return {"claim_ids": made, "left_out": len(p.statements) - len(made)}


def _take_one(
    ctx: ActionContext, p: TakeStatements, one: FoundStatement, places: PagePlaces, lines: Sequence[Any]
) -> str:
    claim_id = new_id()
    subject, target = _find_named(ctx, one.subject), _find_named(ctx, one.object)
    names = {"subject": "subject_canonical", "object": "object_phrase"}
    stated = one.model_dump(mode="json", exclude={"segment_ids"})
    row = {
        "id": claim_id,
        **{names.get(key, key): value for key, value in stated.items()},
        "epistemic_status": "tentative",
        "curation_state": "unreviewed",
        "subject_entity_id": subject,
        "object_entity_id": target,
        "source_type": "document",
        "date_values": [],
        "provider": p.provider,
        "model": p.model,
        "episode_id": p.episode_id,
        "folded_text": _fold_text(one.text, one.subject, one.predicate_verb, one.object),
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
    if not fold(words):
        return None
    e = entities.c
    there = select(e.id, e.folded_names).where(
        e.curation_state.in_(("unreviewed", "verified")),
        e.folded_names.contains(fold(words), autoescape=True),
    )
    found = [row.id for row in ctx.conn.execute(there) if fold(words) in row.folded_names.split("\n")]
    return found[0] if len(found) == 1 else None


def _said_on(ctx: ActionContext, document_id: str) -> set[str]:
    of_page = select(claim_sources.c.claim_id).where(claim_sources.c.document_id == document_id)
    return {fold(row.text) for row in ctx.conn.execute(select(claims.c.text).where(claims.c.id.in_(of_page)))}
