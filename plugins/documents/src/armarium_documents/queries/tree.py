"""The structure of the tree: parents, subtrees, what is live or locked, and the order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from armarium.api import NAME_KEY, Conflict, json_text, raw_of, withheld_nodes
from armarium_documents.errors import in_trash, not_a_container, too_deep, unknown_document

MAX_LEVELS = 100
"""How deep the tree may become; beyond it a path cannot be read anyway."""


class Node(NamedTuple):
    """What the rules of the tree need to know about a node."""

    id: str
    name: str
    parent_id: str | None
    doc_type: str
    node_kind: str
    prototype_key: str | None
    is_locked: bool
    deleted_at: str | None
    trash_root_id: str | None
    system_key: str | None


_NODE = ", ".join(f"d.{name}" for name in Node._fields)


def _node(row: Sequence[Any]) -> Node:
    return Node(*row)._replace(is_locked=row[6] == 1)


def id_list(ids: Iterable[str]) -> str:
    """Return *ids* as the JSON text that `json_each` opens: one parameter for any number of ids."""
    return json_text(list(ids))


def find_node(conn: Connection, document_id: str) -> Node | None:
    """Return the node, or None."""
    row = raw_of(conn).execute(f"SELECT {_NODE} FROM document d WHERE d.id = ?", (document_id,)).fetchone()
    return None if row is None else _node(row)


def require_document(conn: Connection, document_id: str) -> Node:
    """Return the node, live or in the Trash; NotFound if there is none."""
    node = find_node(conn, document_id)
    if node is None:
        raise unknown_document(document_id)
    return node


def require_live(conn: Connection, document_id: str) -> Node:
    """Return the node; NotFound if there is none, Conflict if it is in the Trash."""
    node = require_document(conn, document_id)
    if node.deleted_at is not None:
        raise in_trash(node.name, node.id)
    return node


def require_all_live(conn: Connection, ids: Sequence[str]) -> list[Node]:
    """Return the nodes *ids* in the order given, by one statement; refusals as `require_live`."""
    nodes = nodes_of(conn, ids)
    for node in nodes:
        if node.deleted_at is not None:
            raise in_trash(node.name, node.id)
    return nodes


def nodes_of(conn: Connection, ids: Sequence[str]) -> list[Node]:
    """Return the nodes *ids* in the order given; NotFound for the first unknown id."""
    rows = raw_of(conn).execute(
        f"SELECT {_NODE} FROM json_each(?) j JOIN document d ON d.id = j.value", (id_list(ids),)
    )
    nodes = {row[0]: _node(row) for row in rows}
    for document_id in ids:
        if document_id not in nodes:
            raise unknown_document(document_id)
    return [nodes[document_id] for document_id in ids]


def count_withheld(conn: Connection, parent_id: str | None, *, recursive: bool = True) -> int:
    """Return how many live nodes beneath *parent_id* (None: of the project) are withheld from the caller for whom *conn*
    was lent; not *recursive*: only its children (None: those at the top).
    """
    withheld = withheld_nodes(conn)
    if not withheld:
        return 0
    condition, up = "d.parent_id IS ?2", "SELECT ?2"
    if recursive:
        condition = "d.parent_id IN up" if parent_id is not None else "?2 IS NULL"
        up = "SELECT ?2 UNION SELECT c.id FROM up JOIN main.document c ON c.parent_id = up.id"
    query = (
        f"WITH RECURSIVE up(id) AS ({up}) SELECT count(*) FROM json_each(?1) j"
        f" JOIN main.document d ON d.id = j.value WHERE d.deleted_at IS NULL AND {condition}"
    )
    return int(raw_of(conn).execute(query, (id_list(withheld), parent_id)).fetchone()[0])


def require_parent(
    conn: Connection, parent_id: str | None, doc_type: str, node_kind: str = "document"
) -> Node | None:
    """Return the live node that is to hold a *doc_type*; Invalid with the reason if it cannot. None is the
    top.

    A folder goes at the top or in a folder; a group there or in a group; anything else under any node that is
    not an alias, a saved search or a note.
    """
    if parent_id is None:
        return None
    parent = require_live(conn, parent_id)
    if parent.node_kind in ("alias", "saved_search", "note"):
        raise not_a_container(parent.name, parent.node_kind.replace("_", " "), parent.id)
    if doc_type == "folder" and node_kind == "document" and parent.doc_type != "folder":
        raise not_a_container(parent.name, parent.doc_type, parent.id)
    if doc_type == "group" and parent.doc_type not in ("folder", "group"):
        raise not_a_container(parent.name, parent.doc_type, parent.id)
    return parent


def lineage(conn: Connection, document_id: str) -> list[tuple[str, str]]:
    """Return the id and name of the document's ancestors, the root first, and of itself."""
    rows = raw_of(conn).execute(
        "WITH RECURSIVE up(id, parent_id, name, steps) AS (SELECT id, parent_id, name, 0 FROM document WHERE id = ?"
        " UNION ALL SELECT p.id, p.parent_id, p.name, up.steps + 1 FROM up JOIN document p ON p.id = up.parent_id"
        " WHERE up.steps < 1000) SELECT id, name FROM up ORDER BY steps DESC",
        (document_id,),
    )
    return rows.fetchall()


def folders_above(conn: Connection, ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of what each of *ids* lies in, from the top down, in one statement; unknown ids are left out."""
    rows = raw_of(conn).execute(
        "WITH RECURSIVE up(start, id, parent_id, name, steps) AS (SELECT d.id, d.id, d.parent_id, d.name, 0"
        " FROM json_each(?) j JOIN document d ON d.id = j.value"
        " UNION ALL SELECT up.start, p.id, p.parent_id, p.name, up.steps + 1 FROM up"
        " JOIN document p ON p.id = up.parent_id WHERE up.steps < 1000)"
        " SELECT start, steps, name FROM up ORDER BY steps DESC",
        (id_list(ids),),
    )
    above: dict[str, list[str]] = {}
    for start, steps, name in rows:
        names = above.setdefault(start, [])
        if steps:
            names.append(name)
    return above


def ancestor_ids(conn: Connection, document_id: str) -> list[str]:
    """Return the ids of the document and its ancestors, nearest first."""
    return [identity for identity, _ in reversed(lineage(conn, document_id))]


def locked_above(conn: Connection, document_id: str) -> tuple[str, str] | None:
    """Return the id and name of the nearest locked node among the document and its ancestors, or None."""
    row = (
        raw_of(conn)
        .execute(
            "WITH RECURSIVE up(id, parent_id, name, is_locked, steps) AS ("
            " SELECT id, parent_id, name, is_locked, 0 FROM document WHERE id = ?"
            " UNION ALL SELECT p.id, p.parent_id, p.name, p.is_locked, up.steps + 1"
            " FROM up JOIN document p ON p.id = up.parent_id WHERE up.steps < 1000)"
            " SELECT id, name FROM up WHERE is_locked ORDER BY steps LIMIT 1",
            (document_id,),
        )
        .fetchone()
    )
    return None if row is None else (row[0], row[1])


def locked_within(conn: Connection, ids: Sequence[str]) -> tuple[str, str] | None:
    """Return the id and name of a live locked node in the subtrees of *ids*, or None."""
    raw = raw_of(conn)
    if raw.execute("SELECT 1 FROM document WHERE is_locked LIMIT 1").fetchone() is None:
        return None
    row = raw.execute(
        "WITH RECURSIVE down(id) AS (SELECT value FROM json_each(?)"
        " UNION SELECT c.id FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL)"
        " SELECT d.id, d.name FROM down JOIN document d ON d.id = down.id WHERE d.is_locked LIMIT 1",
        (id_list(ids),),
    ).fetchone()
    return None if row is None else (row[0], row[1])


def subtree_ids(conn: Connection, ids: Sequence[str], *, live: bool = True) -> list[str]:
    """Return *ids* and everything below them (only live nodes unless stated otherwise), each once."""
    alive = " WHERE c.deleted_at IS NULL" if live else ""
    rows = raw_of(conn).execute(
        "WITH RECURSIVE down(id) AS (SELECT value FROM json_each(?)"
        f" UNION SELECT c.id FROM down JOIN document c ON c.parent_id = down.id{alive}) SELECT id FROM down",
        (id_list(ids),),
    )
    return [row[0] for row in rows]


def height_of(conn: Connection, document_id: str) -> int:
    """Return how many levels lie below a node (0: nothing)."""
    (height,) = (
        raw_of(conn)
        .execute(
            "WITH RECURSIVE down(id, level) AS (SELECT ?, 0"
            " UNION ALL SELECT c.id, down.level + 1 FROM down JOIN document c ON c.parent_id = down.id"
            " WHERE down.level < 1000) SELECT max(level) FROM down",
            (document_id,),
        )
        .fetchone()
    )
    return int(height)


def require_depth(conn: Connection, parent_id: str | None, height: int = 0) -> None:
    """Refuse a parent under which a node with *height* levels below it would make the tree too deep."""
    levels = 0 if parent_id is None else len(ancestor_ids(conn, parent_id))
    if levels + 1 + height > MAX_LEVELS:
        raise too_deep(MAX_LEVELS)


def topmost(conn: Connection, ids: Sequence[str]) -> list[str]:
    """Return *ids* without those that lie below another of them, in the order given."""
    if len(ids) == 1:
        return list(ids)
    rows = raw_of(conn).execute(
        "WITH RECURSIVE chosen(id) AS MATERIALIZED (SELECT value FROM json_each(?)),"
        " up(start, id) AS (SELECT d.id, d.parent_id FROM chosen JOIN document d ON d.id = chosen.id"
        " UNION SELECT up.start, p.parent_id FROM up JOIN document p ON p.id = up.id)"
        " SELECT DISTINCT start FROM up WHERE id IN (SELECT id FROM chosen)",
        (id_list(ids),),
    )
    beneath = {row[0] for row in rows}
    return [document_id for document_id in ids if document_id not in beneath]


def folder_above(conn: Connection, document_ids: Sequence[str]) -> str | None:
    """Return the innermost folder that contains all these documents, or None."""
    raw = raw_of(conn)
    shared: list[str] | None = None
    parents = raw.execute(
        "SELECT DISTINCT parent_id FROM document WHERE id IN (SELECT value FROM json_each(?))",
        (id_list(document_ids),),
    ).fetchall()
    for (parent_id,) in parents:
        above = [] if parent_id is None else ancestor_ids(conn, parent_id)
        shared = above if shared is None else [folder_id for folder_id in shared if folder_id in set(above)]
    for identity in shared or ():
        (doc_type,) = raw.execute("SELECT doc_type FROM document WHERE id = ?", (identity,)).fetchone()
        if doc_type == "folder":
            return identity
    return None


def folder_path(conn: Connection, document_id: str | None) -> str:
    """Return the names from the top down to a node, each after a slash; "/" for the top."""
    if document_id is None:
        return "/"
    return "".join(f"/{name}" for _, name in lineage(conn, document_id))


def sources_folder(conn: Connection) -> Node:
    """Return the folder Sources; Conflict with the reason if the project has none."""
    row = (
        raw_of(conn)
        .execute(f"SELECT {_NODE} FROM document d WHERE d.system_key = 'sources' AND d.deleted_at IS NULL")
        .fetchone()
    )
    if row is None:
        raise Conflict(
            "This project has no folder Sources. Name the folder to use as parent_id.",
            code="no_sources_folder",
        )
    return _node(row)


def pages_under(conn: Connection, ids: Sequence[str], *, for_processing: bool = False) -> list[str]:
    """Return the live pages and images at and below *ids*, in reading order, each once.

    An image file counts itself unless it has pages of its own (a multi-page TIFF); a PDF counts its pages.
    With *for_processing*, nodes marked exclude_from_processing are left out with their subtrees. NotFound for
    an unknown id.
    """
    return list(dict.fromkeys(_walk_beneath(conn, ids, _PAGE, for_processing)))


def walk_pages(conn: Connection, document_id: str) -> Iterator[str]:
    """Yield `pages_under` one document, as they are asked for: the first pages of a large folder cost little."""
    return _walk_beneath(conn, [document_id], _PAGE, for_processing=False)


def pages_among(conn: Connection, document_id: str, ids: Sequence[str]) -> list[str]:
    """Return those of *ids* that are `pages_under` one document, in the same order, by walking up from each of them."""
    rows = raw_of(conn).execute(
        "WITH RECURSIVE up(page, id, parent_id, level, sort_order, named) AS ("
        f" SELECT down.id, down.id, down.parent_id, 0, down.sort_order, {NAME_KEY}(down.name)"
        f" FROM json_each(:ids) j JOIN document down ON down.id = j.value WHERE down.deleted_at IS NULL AND ({_PAGE})"
        f" UNION ALL SELECT up.page, d.id, d.parent_id, up.level + 1, d.sort_order, {NAME_KEY}(d.name)"
        " FROM up JOIN document d ON d.id = up.parent_id WHERE up.id <> :top AND d.deleted_at IS NULL AND up.level < 1000)"
        " SELECT page, id, sort_order, named FROM up ORDER BY level DESC",
        {"ids": id_list(ids), "top": document_id},
    )
    paths: dict[str, list[tuple[int, str, str]]] = {}
    for page, node, *place in rows:
        if node == document_id:
            paths[page] = []
        elif page in paths:
            paths[page].append((*place, node))
    return sorted(paths, key=paths.__getitem__)


def recordings_under(conn: Connection, ids: Sequence[str], *, for_processing: bool = False) -> list[str]:
    """Return the live recordings at and below *ids*, in tree order, each once.

    With *for_processing*, nodes marked exclude_from_processing are left out with their subtrees. NotFound for
    an unknown id.
    """
    recording = "doc_type = 'file' AND file_type = 'audio'"
    return list(dict.fromkeys(_walk_beneath(conn, ids, recording, for_processing)))


_PAGE = (
    "down.doc_type = 'page' OR (down.doc_type = 'file' AND down.file_type = 'image'"
    " AND NOT EXISTS (SELECT 1 FROM document p WHERE p.parent_id = down.id AND p.doc_type = 'page'"
    " AND p.deleted_at IS NULL))"
)
"""SQL: a node `down` is a page, or an image without pages of its own."""


def _walk_beneath(conn: Connection, ids: Sequence[str], which: str, for_processing: bool) -> Iterator[str]:
    """Yield the live nodes at and below *ids* for which *which* (SQL about `down`) holds, depth first."""
    nodes_of(conn, ids)
    skip = " AND NOT c.exclude_from_processing" if for_processing else ""
    # A recursive select that takes the deepest row first walks the tree depth first, siblings in order.
    rows = raw_of(conn).execute(
        "WITH RECURSIVE down(id, doc_type, file_type, level, sort_order, named) AS ("
        " SELECT d.id, d.doc_type, d.file_type, 0, j.key, '' FROM json_each(:ids) j"
        " JOIN document d ON d.id = j.value WHERE d.deleted_at IS NULL"
        f" UNION ALL SELECT c.id, c.doc_type, c.file_type, down.level + 1, c.sort_order, {NAME_KEY}(c.name)"
        f" FROM down JOIN document c ON c.parent_id = down.id WHERE c.deleted_at IS NULL{skip}"
        " AND down.level < 1000 ORDER BY 4 DESC, 5, 6, 1)"
        f" SELECT id FROM down WHERE {which}",
        {"ids": id_list(ids)},
    )
    for row in rows:
        yield row[0]


def next_sort_order(conn: Connection, parent_id: str | None) -> int:
    """Return a sort_order after every live child of *parent_id*."""
    condition = "parent_id = ?" if parent_id is not None else "parent_id IS NULL"
    values = (parent_id,) if parent_id is not None else ()
    (last,) = (
        raw_of(conn)
        .execute(f"SELECT max(sort_order) FROM document WHERE {condition} AND deleted_at IS NULL", values)
        .fetchone()
    )
    return 0 if last is None else int(last) + STEP


STEP = 1024
"""The gap between neighbours placed in an order, so that a later one fits between without renumbering."""
