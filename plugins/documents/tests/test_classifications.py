"""Prototypes: inheritance, circles, defaults behind the node's own values; proposals accepted, rejected, undone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from documents_fixtures import OWNER, Run

from armarium.api import Conflict, Engine, Invalid, Library, NotFound, Outcome

Make = Callable[..., str]


def declare(client: Any, key: str, **fields: Any) -> dict[str, Any]:
    answer = client.post("/api/classifications", json={"key": key, "label": key.title(), **fields})
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_a_project_starts_with_some(client: Any) -> None:
    listed = client.get("/api/classifications").json()
    assert listed["count"] == len(listed["items"])
    assert {"bookmark", "source", "letter"} <= {item["key"] for item in listed["items"]}
    assert all(item["builtin"] for item in listed["items"])


def test_a_chain_is_merged_root_first_and_nearer_wins(client: Any) -> None:
    declare(
        client,
        "base",
        declarations=[
            {"key": "title", "label": "Title", "renderer": "title", "order": 2},
            {"key": "folio", "label": "Folio", "type": "number", "default": 1, "order": 1},
        ],
        defaults={"place": "Toledo"},
    )
    declare(
        client,
        "deed",
        parent_key="base",
        declarations=[{"key": "title", "label": "Heading", "required": True, "order": 5}],
        defaults={"place": "Madrid"},
    )
    answer = client.get("/api/classifications/resolved/deed").json()
    assert answer["chain"] == ["base", "deed"]
    assert [
        (declaration["key"], declaration["label"], declaration["from_key"])
        for declaration in answer["declarations"]
    ] == [
        ("folio", "Folio", "base"),
        ("title", "Heading", "deed"),
    ]
    assert answer["defaults"] == {"folio": 1, "place": "Madrid"}
    stored = client.get("/api/classifications/deed").json()
    assert [declaration["key"] for declaration in stored["declarations"]] == ["title"]


def test_a_documents_own_attributes_override_the_defaults(client: Any, folder: Make) -> None:
    declare(client, "deed", defaults={"place": "Toledo", "seal": False})
    box = folder("Box", prototype_key="deed", attributes={"place": "Cuenca", "extra": 1})
    answer = client.get(f"/api/documents/{box}/effective-attributes").json()
    assert answer["values"] == {"place": "Cuenca", "seal": False, "extra": 1}
    assert (answer["own_keys"], answer["chain"], answer["prototype_key"]) == (
        ["place", "extra"],
        ["deed"],
        "deed",
    )
    plain = client.get(f"/api/documents/{folder('Plain')}/effective-attributes").json()
    assert (plain["chain"], plain["values"], plain["prototype_key"]) == ([], {}, None)
    assert client.get(f"/api/documents/{'f' * 32}/effective-attributes").status_code == 404


def test_a_prototype_that_does_not_resolve_is_422_never_partial_data(
    client: Any, engine: Engine, library: Library, folder: Make
) -> None:
    declare(client, "deed")
    declare(client, "will", parent_key="deed")
    box = folder("Box", prototype_key="will")
    # No action and no undo leaves a project like this, but one from elsewhere may be so.
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(conn, "classification.delete", library, OWNER, None)
        raw.execute("DELETE FROM classification WHERE key = 'deed'")
        engine.bus.close_step(ctx, before, raw, {}, undoable=False)
    for path in (f"/api/documents/{box}/effective-attributes", "/api/classifications/resolved/will"):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_prototype")
        assert "will" in answer.json()["detail"]
    assert client.get("/api/classifications/resolved/nothing").status_code == 422


def test_circles_are_refused(client: Any, do: Run) -> None:
    declare(client, "a")
    declare(client, "b", parent_key="a")
    declare(client, "c", parent_key="b")
    answer = client.patch("/api/classifications/a", json={"parent_key": "c"})
    assert (answer.status_code, answer.json()["code"]) == (422, "prototype_cycle")
    assert client.patch("/api/classifications/a", json={"parent_key": "a"}).status_code == 422
    assert client.get("/api/classifications/a").json()["parent_key"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"key": "Capital"},
        {"key": "a b"},
        {"key": "x" * 101},
        {"label": " "},
        {"parent_key": "nothing"},
        {"color": "red"},
        {"applies_to": ["box"]},
        {"declarations": [{"key": "a", "label": "A"}, {"key": "a", "label": "B"}]},
        {"declarations": [{"key": "a", "label": "A", "type": "choice"}]},
        {"declarations": [{"key": "a", "label": "A", "options": ["x"]}]},
        {"declarations": [{"key": "a", "label": "A", "type": "number", "default": "one"}]},
        {"declarations": [{"key": "a", "label": "A", "type": "checkbox", "default": 1}]},
        {"declarations": [{"key": 'a"b', "label": "A"}]},
        {"declarations": [{"key": "a", "label": "A", "from_key": "b"}]},
        {"builtin": True},
    ],
)
def test_a_prototype_that_does_not_hold_is_refused(shared_client: Any, fields: dict[str, Any]) -> None:
    answer = shared_client.post("/api/classifications", json={"key": "deed", "label": "Deed", **fields})
    assert answer.status_code == 422


def test_keys_are_never_overwritten(client: Any) -> None:
    declare(client, "deed")
    answer = client.post("/api/classifications", json={"key": "deed", "label": "Other"})
    assert (answer.status_code, answer.json()["code"]) == (409, "already_exists")


def test_changes_keep_what_is_not_named(client: Any) -> None:
    declare(client, "deed", color="#102030", defaults={"a": 1})
    changed = client.patch("/api/classifications/deed", json={"label": "Act", "color": None}).json()
    assert (changed["label"], changed["color"], changed["defaults"]) == ("Act", None, {"a": 1})
    cleared = client.patch("/api/classifications/deed", json={"defaults": None}).json()
    assert cleared["defaults"] == {}
    assert client.patch("/api/classifications/deed", json={"label": None}).status_code == 422
    assert client.patch("/api/classifications/nothing", json={"label": "A"}).status_code == 404


def test_declarations_are_stored_the_same_on_creation_and_on_change(client: Any, folder: Make) -> None:
    said = [{"key": "place", "label": "Place"}]
    (declaration,) = declare(client, "deed", declarations=said)["declarations"]
    declare(client, "will")
    changed = client.patch("/api/classifications/will", json={"declarations": said}).json()
    assert changed["declarations"] == [{**declaration, "from_key": "will"}]
    box = folder("Box", prototype_key="will")
    response = client.get(f"/api/documents/{box}/effective-attributes")
    assert (response.status_code, response.json()["declarations"]) == (200, changed["declarations"])


def test_a_prototype_in_use_stays(client: Any, folder: Make) -> None:
    declare(client, "deed")
    declare(client, "will", parent_key="deed")
    folder("Box", prototype_key="will")
    for key, code in (("deed", "in_use"), ("will", "in_use"), ("letter", "builtin")):
        answer = client.delete(f"/api/classifications/{key}")
        assert (answer.status_code, answer.json()["code"]) == (409, code)
    declare(client, "free")
    assert client.delete("/api/classifications/free").json()["status"] == "deleted"
    assert client.get("/api/classifications/free").status_code == 404
    assert client.delete("/api/classifications/free").status_code == 404


def test_a_prototype_in_use_stays_when_its_making_is_undone(
    act: Callable[..., Outcome], engine: Engine, library: Library, folder: Make
) -> None:
    deed = act("classification.create", {"key": "deed", "label": "Deed"})
    will = act("classification.create", {"key": "will", "label": "Will", "parent_key": "deed"})
    box = folder("Box", prototype_key="will")
    for made, later in ((deed, will.audit_id), (will, None)):
        with pytest.raises(Conflict) as refused:
            engine.undo(library, [made.audit_id], OWNER)
        assert refused.value.fields["reason"] == "changed"
        assert later is None or refused.value.fields["later_audit_id"] == later
    freed = act("document.update", {"document_id": box, "prototype_key": None})
    (audit_id,) = engine.undo(library, [will.audit_id], OWNER)["audit_ids"]
    # A document cannot get a prototype back that no longer exists.
    with pytest.raises(Conflict) as refused:
        engine.undo(library, [freed.audit_id], OWNER)
    assert refused.value.fields["later_audit_id"] == audit_id
    engine.undo(library, [audit_id], OWNER)
    engine.undo(library, [freed.audit_id], OWNER)


def test_prototypes_are_in_no_circle_after_undo_and_redo(
    act: Callable[..., Outcome], engine: Engine, library: Library
) -> None:
    for key in ("a", "b"):
        act("classification.create", {"key": key, "label": key})
    under = act("classification.update", {"key": "a", "parent_key": "b"})
    (back,) = engine.undo(library, [under.audit_id], OWNER)["audit_ids"]
    act("classification.update", {"key": "b", "parent_key": "a"})
    with pytest.raises(Conflict, match="beneath itself"):
        engine.undo(library, [back], OWNER)


def test_an_unknown_prototype_is_not_assigned(do: Run, folder: Make) -> None:
    with pytest.raises(Invalid) as refused:
        folder("Box", prototype_key="nothing")
    assert refused.value.code == "unknown_prototype"
    with pytest.raises(Invalid):
        do("document.update", {"document_id": folder("Box"), "prototype_key": "nothing"})


def propose(do: Run, box: str, value: str = "letter") -> None:
    do("document.propose_kind", {"document_id": box, "value": value, "said": "It opens with a greeting."})


def test_a_proposed_kind_is_shown_with_its_evidence(client: Any, do: Run, folder: Make) -> None:
    box = folder("Box")
    propose(do, box)
    response = client.get(f"/api/documents/{box}").json()["metadata"]["proposed_attributes"]["prototype"]
    assert (response["value"], response["state"], response["said"]) == (
        "letter",
        "pending",
        "It opens with a greeting.",
    )
    assert client.get(f"/api/documents/{box}").json()["prototype_key"] is None


def test_accepting_assigns_the_kind_and_undo_puts_the_proposal_back(
    client: Any, do: Run, engine: Engine, library: Library, folder: Make
) -> None:
    box = folder("Box")
    propose(do, box)
    answer = client.post(f"/api/documents/{box}/proposed-kind/accept").json()
    assert (answer["document_id"], answer["prototype_key"], answer["state"]) == (box, "letter", "accepted")
    found_answer = client.get(f"/api/documents/{box}").json()
    assert found_answer["prototype_key"] == "letter"
    assert found_answer["metadata"]["proposed_attributes"]["prototype"]["accepted_by"] == "owner"
    second_answer = client.post(f"/api/documents/{box}/proposed-kind/reject")
    assert (second_answer.status_code, second_answer.json()["code"]) == (409, "already_decided")
    engine.undo(library, [answer["audit_id"]], OWNER)
    found_answer = client.get(f"/api/documents/{box}").json()
    assert found_answer["prototype_key"] is None
    assert found_answer["metadata"]["proposed_attributes"]["prototype"]["state"] == "pending"


def test_a_rejected_kind_is_never_proposed_again(
    client: Any, do: Run, engine: Engine, library: Library, folder: Make
) -> None:
    box = folder("Box")
    propose(do, box)
    answer = client.post(f"/api/documents/{box}/proposed-kind/reject").json()
    assert (answer["state"], answer["prototype_key"]) == ("rejected", None)
    with pytest.raises(Conflict) as refused:
        propose(do, box)
    assert refused.value.code == "kind_rejected"
    propose(do, box, "source")
    do("document.reject_kind", {"document_id": box})
    with pytest.raises(Conflict):
        propose(do, box)
    other_folder = folder("Other")
    propose(do, other_folder)


def test_without_a_proposal_there_is_nothing_to_decide(client: Any, do: Run, folder: Make) -> None:
    box = folder("Box")
    for verb in ("accept", "reject"):
        answer = client.post(f"/api/documents/{box}/proposed-kind/{verb}")
        assert (answer.status_code, answer.json()["code"]) == (404, "proposal_not_found")
        assert client.post(f"/api/documents/{'f' * 32}/proposed-kind/{verb}").status_code == 404
    with pytest.raises(Invalid):
        propose(do, box, "nothing")
    with pytest.raises(NotFound):
        propose(do, "f" * 32)
