"""What the records withhold: the answers this family gives to the engine (`Plugin.rights`)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, and_, func, or_, select

from armarium.api import Principal, Use, WithheldRows, is_among
from armarium_rights.errors import loosened_by_machine
from armarium_rights.pictures import cut_from_parts, cuts_elsewhere, cuts_of, records_seen_on
from armarium_rights.queries import PROJECT, applying, combine_records, live, remade
from armarium_rights.records import records
from armarium_source_model.api import forwardings, segments


class RightsOfProject:
    """The rights records of a project (`armarium.api.Rights`)."""

    parts = segments

    def has_any(self, raw: sqlite3.Connection) -> bool:
        """Return whether any record is in force."""
        return (
            raw.execute("SELECT 1 FROM rights_record WHERE withdrawn_at IS NULL LIMIT 1").fetchone()
            is not None
        )

    def find_withheld(self, conn: Connection, principal: Principal) -> WithheldRows:
        """Return the targets of restricted records of which *principal* is not a reader."""
        query = select(records.c.target_kind, records.c.document_id, records.c.segment_id, records.c.readers)
        nodes, parts = set(), set()
        for kind, document_id, segment_id, readers in conn.execute(query.where(live, records.c.restricted)):
            if principal.reader_ids & set(readers):
                continue
            if kind == PROJECT:
                return WithheldRows(everything=True)
            if kind == "document":
                nodes.add(document_id)
            else:
                parts.add(segment_id)
        parts = _with_them(conn, parts)
        nodes |= cut_from_parts(conn, parts)
        return WithheldRows(nodes=frozenset(nodes | cuts_elsewhere(conn, nodes)), parts=frozenset(parts))

    def reasons(self, conn: Connection, ids: Iterable[str], use: Use) -> Mapping[str, str]:
        """Return those of *ids* that nobody may put to *use*, each with the reason as a sentence."""
        reasons_by_id = {}
        cuts = cuts_of(conn)
        for identity in dict.fromkeys(ids):
            page = conn.execute(select(segments.c.document_id).where(segments.c.id == identity)).scalar()
            rules = applying(conn, [page or identity], [identity] if page else [])
            if page is None:
                # A picture or text of the whole page includes every part of it.
                on_it = records.c.target_kind == "segment", records.c.document_id == identity
                rules += [row._asdict() for row in conn.execute(select(records).where(live, *on_it))]
                rules += records_seen_on(conn, identity, cuts) if cuts.concern(identity) else []
            why = _why_not(combine_records(rules), use)
            if why is not None:
                reasons_by_id[identity] = why
        return reasons_by_id

    def refuse_moves(self, conn: Connection, moves: Iterable[tuple[str | None, str | None]]) -> None:
        """Refuse a move out of the reach of a record that limits what is moved."""
        for before, after in moves:
            kept_rules = {row["id"] for row in applying(conn, [after] if after else [])}
            lost_rules = [
                row for row in applying(conn, [before] if before else []) if row["id"] not in kept_rules
            ]
            if any(row["restricted"] or row["model_use"] in ("none", "local") for row in lost_rules):
                raise loosened_by_machine()


def _why_not(rules: Mapping[str, Any], use: Use) -> str | None:
    model_use = rules["model_use"]
    if use == "export":
        if rules["restricted"]:
            return "It is restricted, and restricted material is left out of exports."
        return "No model may receive it, so it is left out of exports." if model_use == "none" else None
    if model_use == "none":
        return "Its rights records allow no model to receive it."
    if use == "cloud-model" and model_use == "local":
        return "Its rights records allow only models on this machine to receive it."
    return None


def _with_them(conn: Connection, parts: set[str]) -> set[str]:
    """Return *parts*, what is within them, what was made from them, and what other passes have in the same place."""
    successors = func.json_each(forwardings.c.new_segment_ids).table_valued("value").alias("made")
    other = segments.alias()
    within = and_(
        other.c.bbox_x + other.c.bbox_w / 2 >= segments.c.bbox_x,
        other.c.bbox_x + other.c.bbox_w / 2 <= segments.c.bbox_x + segments.c.bbox_w,
        other.c.bbox_y + other.c.bbox_h / 2 >= segments.c.bbox_y,
        other.c.bbox_y + other.c.bbox_h / 2 <= segments.c.bbox_y + segments.c.bbox_h,
    )
    about = and_(
        other.c.kind == segments.c.kind,
        segments.c.bbox_x + segments.c.bbox_w / 2 >= other.c.bbox_x,
        segments.c.bbox_x + segments.c.bbox_w / 2 <= other.c.bbox_x + other.c.bbox_w,
        segments.c.bbox_y + segments.c.bbox_h / 2 >= other.c.bbox_y,
        segments.c.bbox_y + segments.c.bbox_h / 2 <= other.c.bbox_y + other.c.bbox_h,
    )
    withheld_ids: set[str] = set()
    fresh = parts
    while fresh:
        withheld_ids |= fresh
        beneath = select(segments.c.id).where(is_among(segments.c.parent_segment_id, fresh))
        after = (
            select(successors.c.value)
            .select_from(forwardings.join(successors, remade))
            .where(is_among(forwardings.c.old_segment_id, fresh))
        )
        fresh = {*conn.execute(beneath).scalars(), *conn.execute(after).scalars()} - withheld_ids
    # Asked only once: what overlaps those in turn is not withheld too, or a whole page would be withheld line
    # by line.
    same_place = (
        select(other.c.id)
        .select_from(segments.join(other, other.c.document_id == segments.c.document_id))
        .where(is_among(segments.c.id, withheld_ids), or_(within, about))
    )
    return withheld_ids | set(conn.execute(same_place).scalars())
