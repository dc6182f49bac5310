"""How commands take documents: by id, or by a name that only one document has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from armarium.api import is_id

if TYPE_CHECKING:
    from armarium.commandline import Session

_NAMED = 5


def document_id(session: Session, text: str) -> str:
    """*text* when it is an id, else the id of the one live document of that name; Refused for none and for several."""
    # Here, because the engine loads this module and needs nothing of a command line.
    from armarium.commandline import Refused

    if is_id(text):
        return text
    query = {
        "recursive": True,
        "filters": [{"attr": "document.name", "op": "eq", "value": text[:10_000]}],
        "limit": 500,
    }
    rows = session.post("/api/documents/dataset/query", query)["rows"]
    found = [row["id"] for row in rows if row["node_kind"] != "alias"]
    if len(found) > 1:
        some = ", ".join(found[:_NAMED]) + (" …" if len(found) > _NAMED else "")
        raise Refused(f"{len(found)} documents are called {text!r}: {some}. Name the one you mean by its id.")
    if not found:
        raise Refused(f"No document here has the id or the name {text!r}; armarium ls shows those there are.")
    return str(found[0])
