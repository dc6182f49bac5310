"""Statements and entities as layers that are checked: what a checker is shown of each, and what its verdict moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select, update

from armarium.api import ActionContext, JobContext
from armarium_checking.api import CheckPage, Layer, Opinion, PageOpinions, Target, verdicts_on
from armarium_knowledge.models import claim_sources, claims, mentions
from armarium_knowledge.placing import PagePlaces, Place, places_of
from armarium_knowledge.queries.claims import CLAIMS, SOURCES
from armarium_knowledge.queries.entities import ENTITIES
from armarium_knowledge.queries.mentions import MENTIONS
from armarium_reading.api import ModelRequest, Subject, ask_in_job

AT_ONCE = 40
"""Proposals that one call shows."""

CLAIMS_PROMPT = (
    "These are statements, each with its id in brackets, its subject, verb and object, and the passage that it rests on. Say"
    " of each whether the passage says so: confirm; correct, with the corrected statement; or reject, where the passage does"
    " not say it. Give your reasons in a sentence. Leave out those that you cannot judge."
)
ENTITIES_PROMPT = (
    "These are things that a page names, each with its id in brackets, what kind of thing it is said to be, its other names,"
    " and the passages that name it. Say of each whether it is what it is said to be: confirm; correct, with its right name;"
    " or reject, where the passages name no such thing. Give your reasons in a sentence. Leave out those that you cannot judge."
)


def find_claim(conn: Connection, target_id: str) -> Target | None:
    """Where a statement stands: the page and line of its first evidence, if it has any."""
    if CLAIMS.get(conn, target_id) is None:
        return None
    sources = SOURCES.all(conn, claim_sources.c.claim_id == target_id, order=(claim_sources.c.position,))
    first = next((one for one in sources if one["document_id"] is not None), None)
    return Target(None) if first is None else Target(first["document_id"], first["segment_id"])


def find_entity(conn: Connection, target_id: str) -> Target | None:
    """An entity stands on no page of its own."""
    return None if ENTITIES.get(conn, target_id) is None else Target(None)


def shortlist(ctx: ActionContext, target_id: str, verdict: str, by_person: bool) -> None:
    """A model's reject moves an unreviewed statement to the shortlist and nothing more."""
    if verdict != "reject" or by_person:
        return
    unreviewed = (claims.c.id == target_id) & (claims.c.curation_state == "unreviewed")
    ctx.conn.execute(
        update(claims).where(unreviewed).values(curation_state="shortlisted", updated_at=ctx.now)
    )
    ctx.note_changes(claim_ids=[target_id])


def _claims_of(conn: Connection, page_id: str) -> dict[str, str]:
    there = select(claim_sources.c.claim_id).where(claim_sources.c.document_id == page_id)
    waiting = claims.c.curation_state.in_(("unreviewed", "shortlisted"))
    rows = CLAIMS.all(
        conn, claims.c.id.in_(there), waiting, claims.c.merged_into_id.is_(None), order=(claims.c.id,)
    )
    told = {}
    for row in rows:
        sources = SOURCES.all(conn, claim_sources.c.claim_id == row["id"], order=(claim_sources.c.position,))
        passage = " / ".join(one["excerpt"] for one in sources if one["excerpt"])
        parts = (row["subject_canonical"], row["predicate_verb"], row["object_phrase"])
        told[row["id"]] = f"{row['text']} ({' – '.join(parts)}). Passage: {passage or 'none'}"
    return told


def _entities_of(conn: Connection, page_id: str) -> dict[str, str]:
    rows = MENTIONS.all(conn, mentions.c.document_id == page_id, order=(mentions.c.id,))
    places = PagePlaces(conn, page_id)
    passages: dict[str, dict[str, None]] = {}
    for row, place in zip(rows, places_of(places, rows), strict=True):
        line = places.line(place.segment_id) if isinstance(place, Place) else None
        passages.setdefault(row["entity_id"], {})[line.text if line else row["text"]] = None
    told = {}
    for entity_id, lines in passages.items():
        found = ENTITIES.get(conn, entity_id)
        if found is not None and found["curation_state"] == "unreviewed":
            names = ", ".join(one["text"] for one in found["names"]) or "none"
            told[entity_id] = (
                f"{found['canonical_name']}, {found['entity_type']}. Other names: {names}. Passages: {' / '.join(lines)}"
            )
    return told


def _asking(prompt: str, gather: Any) -> Any:
    def begin(job: JobContext) -> CheckPage:
        def check(job: JobContext, page_id: str) -> PageOpinions:
            with job.library.db.read() as conn:
                shown: Mapping[str, str] = gather(conn, page_id)
            return _ask(job, page_id, prompt, shown)

        return check

    return begin


def _ask(job: JobContext, page_id: str, prompt: str, shown: Mapping[str, str]) -> PageOpinions:
    ids = list(shown)
    opinions: list[Opinion] = []
    episode: str | None = None
    for start in range(0, len(ids), AT_ONCE):
        batch = ids[start : start + AT_ONCE]
        episode, found = _ask_batch(job, page_id, prompt, {one: shown[one] for one in batch})
        opinions += found
    return PageOpinions(len(ids), opinions, episode)


def _ask_batch(
    job: JobContext, page_id: str, prompt: str, shown: Mapping[str, str]
) -> tuple[str | None, Sequence[Opinion]]:
    args = job.args
    request = ModelRequest(
        provider=args.provider,
        model=args.model,
        prompt=prompt,
        material="\n".join(f"[{one}] {' '.join(words.split())}" for one, words in shown.items()),
        subject=Subject(page_id),
        use_case=job.kind.name,
        pages_may_leave=args.pages_may_leave,
    )
    asked = ask_in_job(job, request, verdicts_on(list(shown)))
    found = []
    for one in asked.answer.verdicts:
        mended = " ".join((one.correction or "").split())
        if one.verdict != "correct" or mended:
            reasons = one.reasons.strip() or "The model gave no reasons."
            found.append(Opinion(one.id, one.verdict, reasons, mended if one.verdict == "correct" else None))
    return asked.episode_id, found


LAYERS = (
    Layer(
        name="claims",
        find=find_claim,
        checkers={},
        ask=_asking(CLAIMS_PROMPT, _claims_of),
        said=shortlist,
    ),
    Layer(name="entities", find=find_entity, checkers={}, ask=_asking(ENTITIES_PROMPT, _entities_of)),
)
"""A correction is kept on the verdict for a person to take; a model curates no statement and verifies no entity."""
