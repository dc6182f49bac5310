"""Which pages are loose in a folder: directly in it or in a file of pages there, and not in a group."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, select

from armarium.api import is_among
from armarium_documents.api import documents, pages_under, require_all_live
from armarium_finding import errors


def folders_of(conn: Connection, page_ids: Sequence[str]) -> dict[str, str]:
    """Return the folder in which each of *page_ids* is loose; a page that is not loose is left out.

    A page of a PDF counts as being in the PDF's folder. The pages of a multi-page picture file stay with it:
    without them the file would itself count as a page.
    """
    parent = documents.alias("parent")
    query = (
        select(documents.c.id, parent.c.id, parent.c.doc_type, parent.c.file_type, parent.c.parent_id)
        .select_from(documents.join(parent, parent.c.id == documents.c.parent_id))
        .where(
            is_among(documents.c.id, page_ids),
            documents.c.deleted_at.is_(None),
            parent.c.deleted_at.is_(None),
        )
    )
    folder_by_page: dict[str, str] = {}
    above: dict[str, list[str]] = {}
    for page_id, parent_id, doc_type, file_type, grandparent_id in conn.execute(query):
        if doc_type == "folder":
            folder_by_page[page_id] = parent_id
        elif doc_type == "file" and file_type != "image" and grandparent_id is not None:
            above.setdefault(grandparent_id, []).append(page_id)
    folders = select(documents.c.id).where(
        is_among(documents.c.id, list(above)), documents.c.doc_type == "folder"
    )
    for (folder_id,) in conn.execute(folders):
        folder_by_page.update(dict.fromkeys(above[folder_id], folder_id))
    return folder_by_page


def has_pages_of_pictures(conn: Connection, folder_id: str) -> bool:
    """Return whether a picture file of the folder has pages that stay with it: its own, or the parts that it was split into."""
    parent = documents.alias("parent")
    pages_kept = (
        select(documents.c.id)
        .join(parent, parent.c.id == documents.c.parent_id)
        .where(
            parent.c.parent_id == folder_id,
            parent.c.doc_type == "file",
            parent.c.file_type == "image",
            parent.c.deleted_at.is_(None),
            documents.c.doc_type == "page",
            documents.c.deleted_at.is_(None),
        )
    )
    return conn.execute(pages_kept.limit(1)).first() is not None


def pages_by_folder(conn: Connection, page_ids: Sequence[str]) -> dict[str, list[str]]:
    """Return the loose pages among *page_ids* by their folder, in the order of the folder."""
    folders = folders_of(conn, page_ids)
    pages_by_parent: dict[str, list[str]] = {}
    for page_id in page_ids:
        if page_id in folders:
            pages_by_parent.setdefault(folders[page_id], []).append(page_id)
    for folder_id, chosen in pages_by_parent.items():
        if len(chosen) > 1:
            chosen_pages = set(chosen)
            pages_by_parent[folder_id] = [
                page for page in pages_under(conn, [folder_id]) if page in chosen_pages
            ]
    return pages_by_parent


def pages_in_scope(conn: Connection, scope_ids: Sequence[str]) -> list[str]:
    """Return the pages for a run over *scope_ids*: the loose pages of folders, and pages that are named
    themselves.

    Raises NotFound for an unknown id, Conflict for one in the Trash, Invalid if there is no loose page among
    them.
    """
    require_all_live(conn, scope_ids)
    pages = pages_under(conn, scope_ids, for_processing=True)
    loose = folders_of(conn, pages)
    chosen = [page_id for page_id in pages if page_id in loose]
    if not chosen:
        raise errors.no_pages()
    return chosen
