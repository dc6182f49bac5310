"""What only withheld pages name or say is withheld by every way: lists, single answers, writes, undo, links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from knowledge_desk import EDITOR, Desk, Page, machine

from armarium.api import Forbidden, ServiceError


@dataclass
class Secret:
    """A restricted page with an entity and a statement that rest on it alone."""

    page: Page
    entity: str
    claim: str
    second_hand: str
    changed: str
    """A step that changed the entity."""


@pytest.fixture
def secret(desk: Desk) -> Secret:
    page, entity = desk.page(["Secret Person came"], name="Hidden"), desk.entity("Secret Person")
    desk.mention(page, entity, "Secret Person")
    claim = desk.claim("Secret Person did it", source_ids=[page.id], subject_entity_id=entity)["id"]
    second = desk.claim("So it was done", source_ids=[claim])["id"]
    link = {"authority": "a", "authority_id": "1", "uri": "https://a.org/1"}
    changed = desk.client.patch(f"/api/entities/{entity}", json={"authority_links": [link]}).json()[
        "audit_id"
    ]
    desk.do("rights.set", {"target_kind": "document", "target_id": page.id, "restricted": True})
    return Secret(page, entity, claim, second, changed)


WRITES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("entity.update", {"entity_id": "SECRET", "description": "x"}),
    ("entity.delete", {"entity_id": "SECRET"}),
    ("entity.merge", {"survivor_id": "OPEN", "ids": ["SECRET"]}),
    ("entity.merge", {"survivor_id": "SECRET", "ids": ["OPEN"]}),
    ("entity.propose_matches", {"pairs": [{"survivor_id": "SECRET", "candidate_id": "OPEN", "score": 1}]}),
    ("entity.find_matches", {"entity_ids": ["SECRET"]}),
    ("claim.create", {"text": "x", "subject_entity_id": "SECRET"}),
    ("claim.create", {"text": "x", "source_ids": ["CLAIM"]}),
    ("claim.update", {"claim_id": "CLAIM", "qualifier": "x"}),
    ("claim.delete", {"claim_id": "SECOND"}),
    (
        "prediction_review.create",
        {"source_entity_id": "SECRET", "relation": "r", "target_entity_id": "OPEN", "score": 1},
    ),
    ("link.create", {"from_id": "SECRET", "from_kind": "entity", "to_id": "https://b.org/1", "to_kind": "uri",
                     "link_type": "same_as"}),
)  # fmt: skip


@pytest.mark.parametrize(("name", "params"), WRITES)
def test_no_write_shows_or_touches_it(desk: Desk, secret: Secret, name: str, params: dict[str, Any]) -> None:
    known = {
        "SECRET": secret.entity,
        "OPEN": desk.entity("Open"),
        "CLAIM": secret.claim,
        "SECOND": secret.second_hand,
    }

    def put(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: put(one) for key, one in value.items()}
        return [put(one) for one in value] if isinstance(value, list) else known.get(value, value)

    before = desk.rows("SELECT count(*), max(seq) FROM audit")
    with pytest.raises(ServiceError) as refused:
        desk.do(name, put(params), EDITOR)
    assert refused.value.status in (403, 404)
    assert "Secret" not in refused.value.detail
    assert desk.rows("SELECT count(*), max(seq) FROM audit") == before


def test_no_list_names_it(desk: Desk, secret: Secret) -> None:
    who = machine(desk)

    def get(path: str, **query: Any) -> Any:
        return desk.client.get(path, params=query, headers=who)

    assert get("/api/claims").json()["items"] == []
    assert get("/api/entities").json()["items"] == []
    assert get("/api/entities").json()["withheld"] == 1
    assert get("/api/claims").json()["withheld"] == 2
    assert get("/api/links/naming", uri="https://a.org/1").json()["entity_ids"] == []
    for path in (f"/api/claims/{secret.second_hand}", f"/api/entities/{secret.entity}"):
        assert get(path).status_code in (403, 404)
    assert get("/api/staleness", audit_id=secret.changed).json().get("items", []) == []
    assert desk.get("/api/links/naming", uri="https://a.org/1")["entity_ids"] == [secret.entity]


def test_the_names_found_on_an_open_page_are_those_of_entities_that_are_seen(
    desk: Desk, secret: Secret
) -> None:
    """The longest name on a line counts, so a withheld one must not even take the place of a shorter one."""
    person = desk.entity("Person came")
    page = desk.page(["So the Secret Person came here"], name="Open")

    def names(**headers: str) -> list[tuple[str, str]]:
        answer = desk.client.get(f"/api/documents/{page.id}/known-names", headers=headers)
        return [(item["text"], item["entity_id"]) for item in answer.json()["items"]]

    assert names() == [("Secret Person", secret.entity)]
    assert names(**machine(desk)) == [("Person came", person)]


def test_neither_verdicts_nor_the_log_name_it(desk: Desk, secret: Secret) -> None:
    judged = {
        "layer": "entities",
        "target_id": secret.entity,
        "verdict": "confirm",
        "reasons": "She is the accused",
    }
    desk.do("check.verdict", judged)
    open_one = desk.entity("Open")
    desk.do(
        "prediction_review.create",
        {"source_entity_id": secret.entity, "relation": "aunt of", "target_entity_id": open_one, "score": 1},
    )
    who = machine(desk)
    verdicts = desk.client.get("/api/check/verdicts", headers=who).json()
    assert (verdicts["items"], verdicts["withheld"]) == ([], 1)
    log = desk.client.get("/api/actions/audit", params={"limit": 1000}, headers=who)
    for one in (secret.entity, secret.claim, "a.org", "accused", "aunt of"):
        assert one not in log.text, one
    assert open_one in log.text
    assert "aunt of" in str(desk.get("/api/actions/audit", limit=1000))


def test_what_is_counted_as_withheld_does_not_depend_on_what_is_asked(desk: Desk, secret: Secret) -> None:
    """Or the count would answer any question about what is withheld, letter by letter."""
    who = machine(desk)

    def count(path: str, **query: Any) -> Any:
        answer = desk.client.get(path, params=query, headers=who)
        assert answer.status_code == 200, answer.text
        return answer.json().get("withheld")

    for word in ("secret", "sec", "person", "nothing of the kind"):
        assert count("/api/claims", q=word) == 2
        assert count("/api/entities", q=word) == 1
        assert count("/api/kg/search", q=word) is None
    for uri in ("https://a.org/1", "https://a.org/2"):
        assert count("/api/links/naming", uri=uri) == 1
    assert count("/api/actions/audit", action="entity.update") == count("/api/actions/audit")
    assert desk.get("/api/claims")["withheld"] == 0


def test_what_was_merged_into_it_is_withheld_with_it(desk: Desk, secret: Secret) -> None:
    alias = desk.entity("The Secret One")
    desk.do("entity.merge", {"survivor_id": secret.entity, "ids": [alias]})
    who = machine(desk)
    answer = desk.client.get("/api/entities", params={"curation_state": "merged"}, headers=who).json()
    assert answer["items"] == []
    assert desk.client.get(f"/api/entities/{alias}", headers=who).status_code in (403, 404)
    assert desk.get(f"/api/entities/{alias}")["merged_into_id"] == secret.entity


def test_no_undo_by_others_touches_it(desk: Desk, secret: Secret) -> None:
    with pytest.raises(Forbidden):
        desk.engine.undo(desk.library, [secret.changed], EDITOR)
    assert desk.get(f"/api/entities/{secret.entity}")["authority_links"] != []
    desk.undo(secret.changed)


def test_no_event_of_it_reaches_others(desk: Desk, secret: Secret) -> None:
    visibility = desk.library.db.visibility
    assert visibility is not None
    ids = [secret.entity, secret.claim, secret.second_hand]
    assert visibility.find_hidden(EDITOR, [*ids, desk.entity("Open")]) == set(ids)
