"""The pages and documents a command works on: those it names, or the whole project."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from armarium_cli.api import Finder, Refused, Session
from armarium_documents.cli.naming import document_id, document_names


def scope_of(session: Session, ids: list[str] | None) -> list[str]:
    """Return the documents with these *ids*, names or paths, or the project's top nodes if none are given."""
    if ids:
        return [document_id(session, text) for text in ids]
    top_ids = [node["id"] for node in session.every("/api/documents")["items"]]
    if not top_ids:
        raise Refused("The project has no pages yet; import some with armarium import FOLDER.")
    return top_ids


Scope = Annotated[
    list[str] | None,
    "IDS: Pages, files or folders, each by name, path or id; default: the whole project.",
    Finder(scope_of, document_names, whole=True),
]


def documents_under(
    session: Session, parent_id: str | None, *, deep: bool = True
) -> Iterator[dict[str, Any]]:
    """Yield the nodes under *parent_id* (None: the whole project), in order; with *deep*, also those inside them."""
    for node in session.every("/api/documents", parent_id=parent_id)["items"]:
        yield node
        if deep and node["child_count"]:
            yield from documents_under(session, node["id"])


def is_page(node: dict[str, Any]) -> bool:
    """Return whether a node carries a page's picture itself: an image file without pages, or a page."""
    return node["doc_type"] == "page" or (node.get("file_type") == "image" and not node["child_count"])


def pages_of(session: Session, ids: list[str], *, recordings: bool = False) -> list[dict[str, Any]]:
    """Return the pages among and under these documents (none: of the whole project), in order, each once.

    With *recordings*, also recordings of speech.
    """

    def is_meant(node: dict[str, Any]) -> bool:
        return is_page(node) or (recordings and node.get("file_type") == "audio")

    pages: dict[str, dict[str, Any]] = {}
    if not ids:
        return [node for node in documents_under(session, None) if is_meant(node)]
    for identity in [document_id(session, text) for text in ids]:
        node = session.get(f"/api/documents/{identity}")
        for candidate in (node, *documents_under(session, identity)):
            if is_meant(candidate):
                pages.setdefault(candidate["id"], candidate)
    return list(pages.values())
