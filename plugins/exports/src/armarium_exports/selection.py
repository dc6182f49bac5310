"""The scope of an export: live documents, without those that rights exclude."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from armarium.api import Library, Principal, find_withheld
from armarium_documents.api import documents, pages_under, require_live, sibling_order, subtree_ids

D = documents.c


@dataclass(frozen=True)
class Selection:
    """The documents of an export. *ids* are unordered; *withheld* are left out of them, each with the reason."""

    ids: frozenset[str]
    withheld: dict[str, str]
    whole: bool
    """Whether it is the whole project, including what belongs to no document."""

    def only_pages(self, conn: Connection, page_ids: Iterable[str]) -> Selection:
        """Return the selection without other pages than *page_ids*; folders and other documents stay."""
        pages = set(pages_under(conn, list_tops(conn)))
        others = pages - set(page_ids)
        return Selection(self.ids - others, self.withheld, self.whole and not others)

    @property
    def omissions(self) -> list[dict[str, str]]:
        """Return what was left out, as answered."""
        return as_answered(self.withheld)


def as_answered(withheld: Mapping[str, str]) -> list[dict[str, str]]:
    """Return documents that rights exclude, each with the reason."""
    return [{"document_id": document_id, "why": why} for document_id, why in sorted(withheld.items())]


def title_of(conn: Connection, library: Library, scope_ids: Sequence[str]) -> str:
    """Return the name of the one document that is exported; else, or if it is gone, that of the project."""
    name = None
    if len(scope_ids) == 1:
        name = conn.execute(select(D.name).where(D.id == scope_ids[0])).scalar()
    return name or library.name


def list_tops(conn: Connection) -> list[str]:
    """Return what lies live at the top of the project, in its order."""
    top = select(D.id).where(D.parent_id.is_(None), D.deleted_at.is_(None))
    return list(conn.execute(top.order_by(*sibling_order())).scalars())


def select_documents(
    library: Library,
    conn: Connection,
    principal: Principal,
    target_id: str | None = None,
    *,
    recursive: bool = True,
) -> Selection:
    """Return the live documents at *target_id* and, if *recursive*, below it; those of the whole project if
    it is None.

    NotFound for a target that does not exist, Conflict for one in the Trash.
    """
    if target_id is None:
        document_ids = set(conn.execute(select(D.id).where(D.deleted_at.is_(None))).scalars())
    else:
        require_live(conn, target_id)
        document_ids = {target_id}
        if recursive:
            document_ids = set(subtree_ids(conn, [target_id]))
    left_out = find_withheld(library, principal, document_ids, "export")
    return Selection(frozenset(document_ids - left_out.keys()), left_out, target_id is None)
