"""Beneath a locked page nobody but the owner states, moves, confirms or deletes anything, by whatever way."""

from __future__ import annotations

from typing import Any

import pytest
from knowledge_desk import EDITOR, Desk

from armarium.api import Forbidden
from test_statements import resting_on


@pytest.fixture
def steps(desk: Desk) -> dict[str, tuple[str, dict[str, Any]]]:
    """Writes that touch rows of a page, by a name; the page is locked."""
    page, juan, other_entity, third = desk.page(), desk.entity(), desk.entity("Joan"), desk.entity("Third")
    mention = desk.mention(page, juan, "Juan Garcia")["id"]
    desk.mention(page, other_entity, "Toledo")
    claim = desk.claim(**resting_on(page, "sold the mill"))["id"]
    about = {"document_id": page.id, "framework_id": "f", "framework_name": "F", "text": "t"}
    view = desk.do("interpretation.create", about)["id"]
    desk.correct(page.lines[0], "Before me came Juan Garcia, of Toledo")
    name = {
        "segment_id": page.lines[1],
        "representation_id": page.readings[1],
        "char_start": 4,
        "char_end": 13,
        "canonical_name": "Ana Lopez",
        "entity_type": "person",
    }
    statement = {"text": "x", "segment_ids": [page.lines[1]]}
    juan_at = {"entity_id": juan, "document_id": page.id, **page.at("Juan Garcia")}
    made: dict[str, tuple[str, dict[str, Any]]] = {
        "name": ("mention.create", {**juan_at, "entity_id": third}),
        "repoint": ("mention.repoint", {**juan_at, "to_entity_id": third}),
        "respan": ("mention.respan", {**juan_at, "new_char_start": 15, "new_char_end": 19}),
        "delete": ("mention.delete", {"mention_id": mention}),
        "take": ("mention.take", {"document_id": page.id, "names": [name]}),
        "state": ("claim.create", {"text": "y", **resting_on(page, "Ana Lopez")}),
        "state found": (
            "claim.take",
            {"document_id": page.id, "provider": "p", "model": "m", "statements": [statement]},
        ),
        "unstate": ("claim.delete", {"claim_id": claim}),
        "rest elsewhere": ("claim.update", {"claim_id": claim, "source_document_id": None}),
        "reword": ("claim.update", {"claim_id": claim, "text": "sold nothing"}),
        "qualify": ("claim.update", {"claim_id": claim, "qualifier": "perhaps"}),
        "interpret": ("interpretation.create", about),
        "uninterpret": ("interpretation.delete", {"interpretation_id": view}),
        "confirm": ("knowledge.confirm", {"items": [{"kind": "mention", "id": mention}]}),
        "merge": ("entity.merge", {"survivor_id": juan, "ids": [other_entity]}),
        "delete entity": ("entity.delete", {"entity_id": other_entity}),
    }
    desk.client.put(f"/api/documents/{page.id}/lock", json={"locked": True})
    return made


NAMES = (
    "name", "repoint", "respan", "delete", "take", "state", "state found", "unstate", "rest elsewhere", "reword", "qualify",
    "interpret", "uninterpret", "confirm", "merge", "delete entity",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_it_is_refused_and_so_is_its_undo(desk: Desk, steps: dict[str, Any], name: str) -> None:
    assert set(NAMES) == set(steps)
    action, params = steps[name]
    with pytest.raises(Forbidden) as refused:
        desk.engine.run(desk.library, action, params, EDITOR)
    assert refused.value.code == "node_locked"
    page = desk.rows("SELECT id FROM document WHERE name = 'Deed'")[0][0]
    desk.client.put(f"/api/documents/{page}/lock", json={"locked": False})
    audit_id = desk.engine.run(desk.library, action, params, EDITOR).audit_id
    desk.client.put(f"/api/documents/{page}/lock", json={"locked": True})
    with pytest.raises(Forbidden) as kept:
        desk.engine.undo(desk.library, [audit_id], EDITOR)
    assert kept.value.code == "node_locked"


@pytest.mark.parametrize("name", ["reword", "qualify"])
def test_it_is_refused_by_its_name_too(desk: Desk, steps: dict[str, Any], name: str) -> None:
    """An agent's `POST /api/actions/invoke`, and the route of the action itself."""
    action, params = steps[name]
    told = desk.client.post("/api/tokens", json={"name": "an agent", "role": "editor"}).json()
    headers = {"Authorization": f"Bearer {told['token']}"}
    invoked = desk.client.post(
        "/api/actions/invoke", json={"name": action, "params": params}, headers=headers
    )
    fields = {key: value for key, value in params.items() if key != "claim_id"}
    patched = desk.client.patch(f"/api/claims/{params['claim_id']}", json=fields, headers=headers)
    for answer in (invoked, patched):
        assert (answer.status_code, answer.json()["code"]) == (403, "node_locked")


def test_entities_of_a_statement_on_a_locked_page_are_found_through_it(
    desk: Desk, steps: dict[str, Any]
) -> None:
    """The pairs of statements and entities belong to the page as the statement does."""
    claim_id = steps["unstate"][1]["claim_id"]
    params = {"claim_id": claim_id, "subject_entity_id": desk.entity("Somebody else")}
    with pytest.raises(Forbidden) as refused:
        desk.engine.run(desk.library, "claim.update", params, EDITOR)
    assert refused.value.code == "node_locked"
