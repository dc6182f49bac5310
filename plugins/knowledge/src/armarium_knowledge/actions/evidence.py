"""The evidence of statements: which rows a request states, and which of the present ones stay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import delete, update

from armarium.api import ActionContext, is_among, new_id, raw_of
from armarium_documents.api import find_node, require_live
from armarium_knowledge import errors
from armarium_knowledge.actions.laws import rests_on_itself
from armarium_knowledge.placing import PagePlaces, Place
from armarium_knowledge.queries.claims import EVIDENCE, SOURCES, claim
from armarium_knowledge.records.claims import Claim, ClaimUpdate, claim_sources

OF_SOURCES = {"source_type", "source_document_id", "source_ids", "source_char_start", "source_char_end"}
"""The fields of a request that concern the evidence."""


class StatedSources(NamedTuple):
    """What a request says of the evidence of a statement."""

    document_id: str | None
    char_start: int | None
    char_end: int | None
    source_ids: Sequence[str]
    source_type: str | None


class Evidence:
    """The evidence of a statement: rows of evidence, and the source type that results.

    *present*: the rows that it rests on already; *reusable*: those of them that stay if their source is named again.
    """

    def __init__(
        self,
        ctx: ActionContext,
        claim_id: str,
        sources: StatedSources,
        present: Sequence[Mapping[str, Any]] = (),
        reusable: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.ctx, self.claim_id = ctx, claim_id
        self.rows: list[dict[str, Any]] = []
        self.documents: list[str] = []
        self.claims: list[str] = []
        self.present, self.reusable = present, reusable
        has_span = sources.char_start is not None or sources.char_end is not None
        if sources.document_id is not None:
            self._rest_on_document(sources.document_id, sources.char_start, sources.char_end)
        elif has_span:
            raise errors.span_needs_document()
        for source_id in sources.source_ids:
            if source_id in self.documents or source_id in self.claims:
                continue
            if find_node(ctx.conn, source_id) is not None:
                self._rest_on_document(source_id, None, None)
            elif Claim.rows.get(ctx.conn, source_id) is not None:
                self._no_circle(source_id)
                self.claims.append(source_id)
                if not self._keep_present(source_id):
                    self._add_row(source_claim_id=source_id)
            else:
                raise errors.unknown_source(source_id)
        self.source_type = self._choose_type(sources.source_type)

    def write(self) -> None:
        """Write the evidence in place of the present one."""
        rows = {row["id"]: row for row in self.rows}
        present = {row["id"]: row["position"] for row in self.present}
        removed_ids = [evidence_id for evidence_id in present if evidence_id not in rows]
        if removed_ids:
            self.ctx.conn.execute(delete(claim_sources).where(is_among(claim_sources.c.id, removed_ids)))
        for evidence_id, position in present.items():
            if evidence_id in rows and rows[evidence_id]["position"] != position:
                moved = update(claim_sources).where(claim_sources.c.id == evidence_id)
                self.ctx.conn.execute(moved.values(position=rows[evidence_id]["position"]))
        new = [row for evidence_id, row in rows.items() if evidence_id not in present]
        if new:
            self.ctx.conn.execute(claim_sources.insert(), new)

    def _rest_on_document(self, document_id: str, start: int | None, end: int | None) -> None:
        self.documents.append(document_id)
        if start is None and end is None:
            if self._keep_present(document_id):
                return
            require_live(self.ctx.conn, document_id)
            self._add_row(document_id=document_id)
            return
        require_live(self.ctx.conn, document_id)
        if start is None or end is None:
            raise errors.span_needs_document()
        places = PagePlaces(self.ctx.conn, document_id)
        for piece in places.pieces(start, end):
            self.rows.append(self._make_row(evidence_on(places, piece)))

    def _keep_present(self, source_id: str) -> bool:
        """Keep the present evidence on a source; return whether there is any."""
        own = [row for row in self.reusable if source_id in (row["document_id"], row["source_claim_id"])]
        for row in own:
            self.rows.append({**row, "position": len(self.rows)})
        return bool(own)

    def _add_row(self, **of: Any) -> None:
        self.rows.append(self._make_row(of))

    def _make_row(self, of: Mapping[str, Any]) -> dict[str, Any]:
        numbered = {"id": new_id(), "claim_id": self.claim_id, "position": len(self.rows)}
        return {**dict.fromkeys(EVIDENCE), **numbered, **of, **self.ctx.provenance()}

    def _no_circle(self, source_id: str) -> None:
        if rests_on_itself(raw_of(self.ctx.conn), self.claim_id, source_id):
            raise errors.rests_on_itself(self.claim_id)

    def _choose_type(self, source_type: str | None) -> str:
        several = len(self.documents) + len(self.claims) > 1
        natural = "multiple" if several else "claim" if self.claims else "document"
        if source_type is None:
            return natural
        if source_type == "document" and self.claims:
            raise errors.sources_disagree(
                source_type, "it rests on statements too; say claim, multiple or synthesis."
            )
        if source_type == "claim" and (self.documents or not self.claims):
            raise errors.sources_disagree(source_type, "name one statement in source_ids, and no document.")
        if source_type == "multiple" and not several:
            raise errors.sources_disagree(source_type, "name more than one source, or another type.")
        return source_type


def change_evidence(ctx: ActionContext, p: ClaimUpdate, source_type: str) -> Evidence:
    """Write the sources as a request changes them: what it leaves out stays, also the characters of a document
    that it names again.
    """
    order = (claim_sources.c.position, claim_sources.c.id)
    present = SOURCES.all(ctx.conn, claim_sources.c.claim_id == p.claim_id, order=order)
    fields_sent = p.model_fields_set
    first = next((row["document_id"] for row in present if row["document_id"] is not None), None)
    source_ids = dict.fromkeys(row["document_id"] or row["source_claim_id"] for row in present)
    others = (
        list(p.source_ids)
        if "source_ids" in fields_sent
        else [source_id for source_id in source_ids if source_id != first]
    )
    has_span = bool(fields_sent & {"source_char_start", "source_char_end"})
    document_id = p.source_document_id if "source_document_id" in fields_sent else first
    if (
        "source_ids" in fields_sent
        and "source_document_id" not in fields_sent
        and not (has_span and first in others)
    ):
        # The list is in the order wanted.
        document_id = None
    start = end = None
    reusable = present
    if has_span:
        claim_now = claim(ctx.conn, p.claim_id) if document_id == first else {}
        start = (
            p.source_char_start if "source_char_start" in fields_sent else claim_now.get("source_char_start")
        )
        end = p.source_char_end if "source_char_end" in fields_sent else claim_now.get("source_char_end")
        reusable = [row for row in present if row["document_id"] != document_id]
    new_type: str | None = p.source_type if "source_type" in fields_sent else None
    if "source_type" not in fields_sent and source_type == "synthesis":
        new_type = source_type
    evidence = Evidence(
        ctx, p.claim_id, StatedSources(document_id, start, end, others, new_type), present, reusable
    )
    evidence.write()
    document_ids = {row["document_id"] for row in present if row["document_id"] is not None}
    ctx.note_changes(document_ids=[*evidence.documents, *sorted(document_ids - set(evidence.documents))])
    return evidence


def evidence_on(places: PagePlaces, piece: Place) -> dict[str, Any]:
    """Return the columns of a piece of evidence: characters of one line."""
    return {
        "document_id": places.document_id,
        **piece.columns,
        "excerpt": places.words(piece),
        "text_fingerprint": places.fingerprint(piece.segment_id),
    }
