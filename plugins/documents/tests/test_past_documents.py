"""Documents as of a past step: the tree, a document and its representations as they were."""

from __future__ import annotations

from typing import Any

from starlette.testclient import TestClient

from armarium.api import Engine, Library, find_moment
from armarium.principals import LOCAL_OWNER


def test_the_tree_of_a_past_step_is_listed_as_it_was(
    engine: Engine, library: Library, client: TestClient
) -> None:
    def act(action: str, /, **params: Any) -> dict[str, Any]:
        return engine.run(library, action, params, LOCAL_OWNER).result or {}

    box, other = (act("document.create", name=name)["id"] for name in ("Box", "Other"))
    first, second = (act("document.create", name=name, parent_id=box)["id"] for name in ("1", "2"))
    with library.db.read() as conn:
        step = find_moment(conn).audit_id
    paths = [
        f"/api/documents?parent_id={box}",
        "/api/documents",
        f"/api/documents/{first}?",
        f"/api/documents?parent_id={other}",
    ]
    then = [client.get(path).json() for path in paths]
    act("document.update", document_id=first, name="renamed")
    act("document.move", ids=[first], parent_id=other)
    act("document.delete", ids=[second])
    act("document.create", name="3", parent_id=box)
    for path, before in zip(paths, then, strict=True):
        past = client.get(f"{path}{'&' if '?' in path else '?'}as_of={step}")
        assert past.json() == before, path
        assert client.get(path).json() != before or "parent" not in path
    late = act("document.create", name="late")["id"]
    assert client.get(f"/api/documents/{late}?as_of={step}").status_code == 404
