"""Finds the document a caller names by its id, its name, or its path in the project."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import typer

from armarium_cli.api import Finder, Refused, Session, complete_word, is_id

_SHOWN = 5
"""How many documents of one name a refusal names."""


def document_id(session: Session, text: str) -> str:
    """Return the id of the live document with this id, name or path; Refused if none or several match.

    A path may begin anywhere (`Box 3/0001.jpg`, `0001.jpg`); with a leading slash it begins at the top.
    """
    if is_id(text):
        return text
    normalised = unicodedata.normalize("NFC", text)
    folders = _Folders(session)
    rows = list(_find_named(session, normalised)) or list(_find_at_path(session, normalised, folders))
    if len(rows) == 1:
        return str(rows[0]["id"])
    if not rows:
        raise Refused(f"No document here has the id, name or path {text!r}; armarium ls lists the documents.")
    first_paths = ", ".join(f"{folders.path_of(row)} ({row['id']})" for row in rows[:_SHOWN])
    more = " …" if len(rows) > _SHOWN else ""
    verb = "lie at" if "/" in text else "are called"
    raise Refused(
        f"{len(rows)} documents {verb} {text!r}: {first_paths}{more}. Give more of its path, or its id."
    )


class _Folders:
    """Paths of folders, each requested only once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths: dict[str | None, str] = {None: ""}

    def path_of(self, row: dict[str, Any]) -> str:
        """Return `/Sources/Box 3/0001.jpg`."""
        return f"{self.path_above(row['parent_id'])}/{row['name']}"

    def path_above(self, folder_id: str | None) -> str:
        """Return the path of a folder; an empty text for the top."""
        if folder_id not in self._paths:
            self._paths[folder_id] = self.path_of(self._session.get(f"/api/documents/{folder_id}"))
        return self._paths[folder_id]


def _find_at_path(session: Session, text: str, folders: _Folders) -> Iterator[dict[str, Any]]:
    """Return the documents whose path is *text*, or ends with it."""
    # Spaces around the slashes, as show prints a path, are not part of the names.
    path = text.replace(" / ", "/").rstrip("/")
    parts = path.removeprefix("/").split("/")
    # A name may contain a slash, so every way to split the path is tried, the likeliest first.
    for last in range(len(parts) - 1, -1, -1):
        matched = False
        for row in _find_named(session, "/".join(parts[last:])):
            whole = folders.path_of(row)
            if whole == path if path.startswith("/") else whole.endswith(f"/{path}"):
                matched = True
                yield row
        if matched:
            return


def _find_named(session: Session, name: str) -> Iterator[dict[str, Any]]:
    """Return the live documents of this name, without aliases."""
    if not name:
        return
    query = {
        "recursive": True,
        "filters": [{"attr": "document.name", "op": "eq", "value": name[:10_000]}],
        "limit": 500,
    }
    offset, total = 0, 1
    while offset < total:
        answer = session.post("/api/documents/dataset/query", {**query, "offset": offset})
        yield from (row for row in answer["rows"] if row["node_kind"] != "alias")
        offset, total = offset + 500, answer["total"]


def document_names(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the names of documents that begin with *incomplete*, for shell completion."""

    def ask(session: Session, most: int) -> list[str]:
        query: dict[str, Any] = {"recursive": True, "sort": {"attr": "document.name"}, "limit": most}
        if incomplete:
            query["filters"] = [{"attr": "document.name", "op": "contains", "value": incomplete}]
        return [row["name"] for row in session.post("/api/documents/dataset/query", query)["rows"]]

    return complete_word(ctx, incomplete, ask)


DOCUMENT = Finder(document_id, document_names)
"""A document that is named by its name, path or id."""
