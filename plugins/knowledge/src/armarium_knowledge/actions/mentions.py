"""Writes of mentions: create one, move it to another entity or other characters, delete it, store those a job found or
a file tags.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import delete, select

from armarium.api import ActionContext, Invalid, Route, action
from armarium_documents.api import require_live
from armarium_formats.api import ReadMarks
from armarium_knowledge import errors
from armarium_knowledge.actions.entities import check_type, insert_entity
from armarium_knowledge.actions.findings import note_findings
from armarium_knowledge.actions.laws import OF_MENTIONS
from armarium_knowledge.actions.persons_only import CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS
from armarium_knowledge.folding import fold, has_name
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.entities import live_entity, survivor_of
from armarium_knowledge.queries.for_families import named_by_authority
from armarium_knowledge.queries.mentions import RefusedSpans, mention, mention_at
from armarium_knowledge.records.entities import Deleted, Entity, EntityCreate, entities
from armarium_knowledge.records.mentions import (
    Mention,
    MentionCreate,
    MentionPlaced,
    Named,
    NamedOnLine,
    RefusedMention,
    Repoint,
    Respan,
    TakeMentions,
    Taken,
    mentions,
    refusals,
)
from armarium_knowledge.schemas.fields import Id
from armarium_knowledge.tagged_names import TYPES, tagged_on_page
from armarium_source_model.api import name_forms


def _is_person(ctx: ActionContext) -> bool:
    return ctx.principal.kind == "person"


def _describe_span(places: PagePlaces, place: Place) -> dict[str, Any]:
    return {"document_id": places.document_id, **place.columns, "text": places.words(place)}


def _insert(ctx: ActionContext, places: PagePlaces, place: Place, entity_id: str, **more: Any) -> str:
    row = {
        "entity_id": entity_id,
        **_describe_span(places, place),
        "confidence": None,
        "corrected_by_person": False,
        "text_fingerprint": places.fingerprint(place.segment_id),
        "episode_id": None,
        **ctx.provenance(),
        **more,
    }
    return str(Mention.rows.insert(ctx.conn, row)["id"])


def _refuse(ctx: ActionContext, places: PagePlaces, row: Mapping[str, Any]) -> None:
    """Record that the characters of a mention do not name its entity."""
    place_now = places.find_nearby(row)
    span = (
        {name: row[name] for name in Named.model_fields}
        if place_now is None
        else _describe_span(places, place_now)
    )
    RefusedMention.rows.insert(ctx.conn, {**span, "entity_id": row["entity_id"], **ctx.provenance()})


def _check_refused(ctx: ActionContext, places: PagePlaces, entity_id: str, start: int, end: int) -> None:
    """Refuse a machine's span that was refused to the entity; when a person names it, the refusal is removed."""
    against = [
        refusal["id"]
        for refusal in RefusedSpans(ctx.conn, places).find_at(start, end)
        if refusal["entity_id"] == entity_id
    ]
    if against and not _is_person(ctx):
        raise errors.refused_span(entity_id)
    if against:
        ctx.conn.execute(delete(refusals).where(refusals.c.id.in_(against)))


def _note_document(ctx: ActionContext, document_id: str, *entity_ids: str) -> None:
    ctx.target(document_id, *entity_ids)
    ctx.note_changes(document_ids=[document_id], entity_ids=list(entity_ids))


@action(
    "mention.create",
    result=Mention,
    summary="State that characters of a page name an entity.",
    route=Route("POST", "/api/mentions"),
    words="Named an entity on {document_id|a page}",
    rules=(CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS),
    laws=OF_MENTIONS,
)
def create(ctx: ActionContext, p: MentionCreate) -> dict[str, Any]:
    """Create the mention. Raises NotFound, Invalid if the characters are not words on one line, Conflict if
    they already name the entity or, for a machine, if they were refused to it.
    """
    require_live(ctx.conn, p.document_id)
    live_entity(ctx.conn, p.entity_id)
    places = PagePlaces(ctx.conn, p.document_id)
    place = places.piece(p.char_start, p.char_end)
    existing = mention_at(ctx.conn, places, p.entity_id, p.char_start, p.char_end)
    if existing is not None:
        raise errors.mentioned_there(p.entity_id, existing["id"])
    _check_refused(ctx, places, p.entity_id, p.char_start, p.char_end)
    mention_id = _insert(ctx, places, place, p.entity_id, confidence=p.confidence)
    ctx.target(mention_id)
    _note_document(ctx, p.document_id, p.entity_id)
    return mention(ctx.conn, mention_id)


def _find_page(ctx: ActionContext, p: Repoint | Respan) -> tuple[PagePlaces, dict[str, Any]]:
    live_entity(ctx.conn, p.entity_id)
    require_live(ctx.conn, p.document_id)
    places = PagePlaces(ctx.conn, p.document_id)
    row = mention_at(ctx.conn, places, p.entity_id, p.char_start, p.char_end)
    if row is None:
        raise errors.no_mention_there(p.entity_id, p.char_start, p.char_end)
    return places, row


@action(
    "mention.repoint",
    result=MentionPlaced,
    summary="Let a mention name another entity.",
    route=Route("POST", "/api/entities/{entity_id}/mentions/repoint"),
    words="Let a mention on {document_id|a page} name another entity",
    rules=(CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS),
    laws=OF_MENTIONS,
)
def repoint(ctx: ActionContext, p: Repoint) -> dict[str, Any]:
    """Move the mention. The entity it leaves refuses these characters from then on, also after corrections."""
    places, row = _find_page(ctx, p)
    if p.to_entity_id == p.entity_id:
        raise errors.same_entity(p.entity_id)
    live_entity(ctx.conn, p.to_entity_id)
    existing = mention_at(ctx.conn, places, p.to_entity_id, p.char_start, p.char_end)
    if existing is not None:
        raise errors.mentioned_there(p.to_entity_id, existing["id"])
    _check_refused(ctx, places, p.to_entity_id, p.char_start, p.char_end)
    _refuse(ctx, places, row)
    changes = {
        "entity_id": p.to_entity_id,
        "corrected_by_person": row["corrected_by_person"] or _is_person(ctx),
    }
    Mention.rows.change(ctx.conn, row["id"], changes)
    ctx.target(row["id"])
    _note_document(ctx, p.document_id, p.entity_id, p.to_entity_id)
    return {"mention": mention(ctx.conn, row["id"])}


@action(
    "mention.respan",
    result=MentionPlaced,
    summary="Move a mention to other characters.",
    route=Route("POST", "/api/entities/{entity_id}/mentions/respan"),
    words="Moved a mention on {document_id|a page}",
    rules=(CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS),
    laws=OF_MENTIONS,
)
def respan(ctx: ActionContext, p: Respan) -> dict[str, Any]:
    """Move the mention. Raises Invalid if the new characters are not words on one line."""
    places, row = _find_page(ctx, p)
    place = places.piece(p.new_char_start, p.new_char_end)
    existing = mention_at(ctx.conn, places, p.entity_id, p.new_char_start, p.new_char_end)
    if existing is not None:
        raise errors.mentioned_there(p.entity_id, existing["id"])
    _check_refused(ctx, places, p.entity_id, p.new_char_start, p.new_char_end)
    changes = {
        **_describe_span(places, place),
        "text_fingerprint": places.fingerprint(place.segment_id),
        "corrected_by_person": row["corrected_by_person"] or _is_person(ctx),
    }
    Mention.rows.change(ctx.conn, row["id"], changes)
    ctx.target(row["id"])
    _note_document(ctx, p.document_id, p.entity_id)
    return {"mention": mention(ctx.conn, row["id"])}


@action(
    "mention.delete",
    result=Deleted,
    summary="Delete a mention; the entity refuses its characters from then on.",
    route=Route("DELETE", "/api/mentions/{mention_id}"),
    words="Deleted a mention",
    rules=(CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS),
    laws=OF_MENTIONS,
)
def remove(ctx: ActionContext, mention_id: Id) -> dict[str, Any]:
    """Delete it. The entity remains, even if nothing names it any more."""
    row = Mention.rows.require(ctx.conn, mention_id)
    _refuse(ctx, PagePlaces(ctx.conn, row["document_id"]), row)
    Mention.rows.delete(ctx.conn, mention_id)
    ctx.target(mention_id)
    _note_document(ctx, row["document_id"], row["entity_id"])
    return {"status": "deleted", "id": mention_id}


@action(
    "mention.take",
    result=Taken,
    summary="Write the names found on a page.",
    words="Found names on {document_id|a page}",
    rules=(CORRECTED_BY_PERSONS, REFUSED_BY_PERSONS),
    laws=OF_MENTIONS,
)
def take(ctx: ActionContext, p: TakeMentions) -> dict[str, Any]:
    """Write them: a name goes to the entity of that type with exactly this name (else to the only one that has
    it among its other names, as after a merge), else to a new one. Names that are already mentions, that were
    refused, or that are no longer on their line are left out.
    """
    return take_names(ctx, p)


def take_names(ctx: ActionContext, p: TakeMentions, **made_by: Any) -> dict[str, Any]:
    """Write the names as `mention.take` does, as whoever runs the step or, where *made_by* says so, another maker."""
    require_live(ctx.conn, p.document_id)
    places = PagePlaces(ctx.conn, p.document_id)
    refused = RefusedSpans(ctx.conn, places)
    spans = _Spans(ctx, places)
    mention_ids: list[str] = []
    new: list[str] = []
    named_ids: dict[str, None] = {}
    items_by_key: dict[str, dict[str, Any]] = {}
    for name in p.names:
        place = places.place(name.segment_id, name.representation_id, name.char_start, name.char_end)
        if not isinstance(place, Place):
            continue
        called = name.canonical_name or places.words(place)
        item = {"name": called, "entity_type": name.entity_type}
        items_by_key.setdefault(f"{name.entity_type} {fold(called)}", item)
        if spans.holds(place):
            continue
        try:
            places.piece(place.page_start, place.page_end)
        except Invalid:
            continue
        not_these = refused.entities_at(place.page_start, place.page_end)
        entity_id, is_new = _named_by(ctx, name, places.words(place), not_these, made_by)
        if entity_id is None:
            continue
        if is_new:
            new.append(entity_id)
        spans.add(place)
        named_ids[entity_id] = None
        mention_ids.append(
            _insert(
                ctx, places, place, entity_id, confidence=name.confidence, episode_id=p.episode_id, **made_by
            )
        )
    note_findings(ctx, p.document_id, "entities", items_by_key.items())
    ctx.target(p.document_id, *new)
    ctx.note_changes(document_ids=[p.document_id], entity_ids=list(named_ids))
    return {"mention_ids": mention_ids, "entity_ids": new, "left_out": len(p.names) - len(mention_ids)}


class _Spans:
    """The characters of a page that already are a mention."""

    def __init__(self, ctx: ActionContext, places: PagePlaces) -> None:
        rows = Mention.rows.all(ctx.conn, mentions.c.document_id == places.document_id)
        placed = (place for place in places_of(places, rows) if isinstance(place, Place))
        self._known = {(place.page_start, place.page_end) for place in placed}

    def holds(self, place: Place) -> bool:
        return (place.page_start, place.page_end) in self._known

    def add(self, place: Place) -> None:
        self._known.add((place.page_start, place.page_end))


def _named_by(
    ctx: ActionContext, name: NamedOnLine, words: str, not_these: list[str], made_by: Mapping[str, Any]
) -> tuple[str | None, bool]:
    """Return (entity, whether it is new); None if the name was refused to the entity it would go to."""
    if name.entity_id is not None:
        # It may have been merged into another since the name was found.
        entity_id = live_entity(ctx.conn, survivor_of(ctx.conn, name.entity_id)).id
        return (None if entity_id in not_these else entity_id), False
    check_type(ctx.conn, name.entity_type)
    called = name.canonical_name or words
    links = [authority_link.model_dump(mode="json") for authority_link in name.authority_links]
    identified = [entity_id for link in links for entity_id in named_by_authority(ctx.conn, link["uri"])]
    if identified:
        return (None if identified[0] in not_these else identified[0]), False
    entity = entities.c
    same_name = select(entities).where(
        entity.entity_type == name.entity_type,
        entity.curation_state.in_(("unreviewed", "verified")),
        has_name(entity.folded_names, called),
    )
    # What has the link of another thing is not the one that these links identify.
    rows = [
        row for row in ctx.conn.execute(same_name.order_by(entity.id)) if not (links and row.authority_links)
    ]
    forms = set(name_forms(called))
    matching_ids = [row.id for row in rows if forms.intersection(name_forms(row.canonical_name))]
    if not matching_ids and len(rows) == 1:
        matching_ids = [rows[0].id]
    if any(entity_id in not_these for entity_id in matching_ids):
        return None, False
    if matching_ids:
        own = next(row for row in rows if row.id == matching_ids[0])
        if (
            links
            and own.provenance_kind == made_by.get("provenance_kind")
            and own.curation_state == "unreviewed"
        ):
            linked = {"authority_links": links, "updated_at": ctx.now}
            Entity.rows.change(ctx.conn, own.id, linked)
        return matching_ids[0], False
    dates = [date_value.model_dump(mode="json") for date_value in name.date_values]
    fields = {"canonical_name": called, "entity_type": name.entity_type, "date_values": dates}
    new_entity = EntityCreate.model_validate(fields | {"authority_links": links})
    return insert_entity(ctx, new_entity, **made_by), True


BY_A_FILE = {"provenance_kind": "external_import"}
"""Who made them: nobody here, so they are proposals, whoever imports the file."""


def take_names_of_import(ctx: ActionContext, read: ReadMarks) -> list[str]:
    """Take over the persons, places, organisations and dates that a file tags; return notes for the import."""
    count = sum(mark.kind in TYPES for text in read.texts for mark in text.marks)
    if not count:
        return []
    places = PagePlaces(ctx.conn, read.document_id)
    if places.pass_id != read.pass_id:
        return [
            f"The file tags {count} names and dates. They become mentions when the page is read by this pass and "
            "its names are looked for."
        ]
    ctx.obey_laws_of(take.name)
    listed = TakeMentions.model_validate(
        {"document_id": read.document_id, "names": tagged_on_page(ctx.conn, places)}
    )
    outcome = take_names(ctx, listed, **BY_A_FILE)
    mention_count, entity_count = len(outcome["mention_ids"]), len(outcome["entity_ids"])
    return [
        f"The file's tagged names and dates are now mentions ({mention_count}), of {entity_count} new entities: proposals."
    ]
