"""What an export is of: live documents, without those that rights leave out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import Connection, select

from armarium.api import Library, Principal, find_withheld, is_among
from armarium_documents.api import documents, require_live

D = documents.c


@dataclass(frozen=True)
class Selection:
    """The documents of an export. *ids* are in no order; *withheld* are left out of them, each with why."""

    ids: frozenset[str]
    withheld: dict[str, str]
    whole: bool
    """Whether it is the whole project: what belongs to no document goes along."""

    @property
    def omissions(self) -> list[dict[str, str]]:
        """What was left out, as it is answered."""
        return [{"document_id": one, "why": why} for one, why in sorted(self.withheld.items())]


def select_documents(
    library: Library,
    conn: Connection,
    principal: Principal,
    target_id: str | None = None,
    *,
    recursive: bool = True,
) -> Selection:
    """The live documents at *target_id* and, where *recursive*, beneath it; of the whole project where it is None.

    NotFound for a target that is not there, Conflict for one in the Trash.
    """
    if target_id is None:
        found = set(conn.execute(select(D.id).where(D.deleted_at.is_(None))).scalars())
    else:
        require_live(conn, target_id)
        found = {target_id}
        if recursive:
            found = list_beneath(conn, [target_id])
    left_out = find_withheld(library, principal, found, "export")
    return Selection(frozenset(found - left_out.keys()), left_out, target_id is None)


def list_beneath(conn: Connection, ids: Iterable[str]) -> set[str]:
    """The live documents at and beneath *ids*."""
    found: set[str] = set()
    fresh = set(ids)
    while fresh:
        found |= fresh
        asked = select(D.id).where(is_among(D.parent_id, fresh), D.deleted_at.is_(None))
        fresh = set(conn.execute(asked).scalars()) - found
    return found
