"""Which document a caller means: by its id, its name, or its path in the project."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

import typer

from armarium.commandline import Refused, Session, complete_word, is_id

_SHOWN = 5
"""How many documents of one name a refusal names."""


def document_id(session: Session, text: str) -> str:
    """*text* when it is an id, else the id of the one live document of that name or path; Refused for none and for several.

    A path may begin anywhere (`Box 3/0001.jpg`, `0001.jpg`); with a slash in front it begins at the top.
    """
    if is_id(text):
        return text
    wanted = unicodedata.normalize("NFC", text)
    folders = _Folders(session)
    found = list(_find_named(session, wanted)) or list(_find_at_path(session, wanted, folders))
    if len(found) == 1:
        return str(found[0]["id"])
    if not found:
        raise Refused(
            f"No document here has the id, the name or the path {text!r}; armarium ls shows those there are."
        )
    some = ", ".join(f"{folders.path_of(row)} ({row['id']})" for row in found[:_SHOWN])
    more = " …" if len(found) > _SHOWN else ""
    verb = "lie at" if "/" in text else "are called"
    raise Refused(
        f"{len(found)} documents {verb} {text!r}: {some}{more}. Name the one you mean by more of its path, or by its id."
    )


class _Folders:
    """Paths of folders, each asked for once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._paths: dict[str | None, str] = {None: ""}

    def path_of(self, row: dict[str, Any]) -> str:
        """`/Sources/Box 3/0001.jpg`."""
        return f"{self.path_above(row['parent_id'])}/{row['name']}"

    def path_above(self, folder_id: str | None) -> str:
        """The path of a folder; of the top, nothing."""
        if folder_id not in self._paths:
            self._paths[folder_id] = self.path_of(self._session.get(f"/api/documents/{folder_id}"))
        return self._paths[folder_id]


def _find_at_path(session: Session, text: str, folders: _Folders) -> Iterator[dict[str, Any]]:
    """The documents whose path is *text*, or ends in it."""
    # Blanks about the slashes, as show prints a path, are no part of the names.
    path = text.replace(" / ", "/").rstrip("/")
    parts = path.removeprefix("/").split("/")
    # A name may have a slash in it, so every way to part the path is tried, the likeliest first.
    for last in range(len(parts) - 1, -1, -1):
        found = False
        for row in _find_named(session, "/".join(parts[last:])):
            whole = folders.path_of(row)
            if whole == path if path.startswith("/") else whole.endswith(f"/{path}"):
                found = True
                yield row
        if found:
            return


def _find_named(session: Session, name: str) -> Iterator[dict[str, Any]]:
    """The live documents of this name, aliases left out."""
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
    """The documents of the project meant whose names begin with *incomplete*, for the shell that completes a word."""

    def ask(session: Session, most: int) -> list[str]:
        query: dict[str, Any] = {"recursive": True, "sort": {"attr": "document.name"}, "limit": most}
        if incomplete:
            query["filters"] = [{"attr": "document.name", "op": "contains", "value": incomplete}]
        return [row["name"] for row in session.post("/api/documents/dataset/query", query)["rows"]]

    return complete_word(ctx, incomplete, ask)
