"""The registry of actions, invoke, the audit log, undo and the hash chain over HTTP."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fastapi import APIRouter, Request, UploadFile

from armarium.engine import Engine
from armarium.plugin import Plugin
from armarium.projects.libraries import Library
from armarium.web.app import create_app
from armarium.web.http import json_response, takes_upload

from .conftest import AppClient

AUDIT = "/api/actions/audit"


@pytest.fixture
def rename(ask: AppClient, project: Library) -> Callable[[str], str]:
    """Renames the project; returns the step's audit id."""

    def call(name: str, **headers: Any) -> str:
        reply = ask("PATCH", "/api/library/settings", library=project.path, json={"name": name}, **headers)
        return str(reply.json["audit_id"])

    return call


def test_every_action_is_described(ask: AppClient) -> None:
    items_by_name = {entry["name"]: entry for entry in ask("GET", "/api/actions/registry").json["items"]}
    for name in (
        "library.create",
        "library.release",
        "library.unregister",
        "pair.enroll",
        "pair.code",
        "pair.device",
    ):
        assert name in items_by_name
    for name in (
        "pair.rotate_secret",
        "token.create",
        "token.renew",
        "token.revoke",
        "token.session",
        "compute.set",
    ):
        assert name in items_by_name
    assert items_by_name["compute.set"]["undoable"] is True
    assert items_by_name["sandbox.grant"]["role"] == "owner"
    assert "priority" in items_by_name["compute.set"]["params"]["properties"]
    for name in ("pair.enroll", "token.create", "token.revoke", "library.release"):
        assert items_by_name[name]["undoable"] is False


def test_the_descriptions_are_made_once(engine: Engine) -> None:
    """Each description is two JSON Schemas, and agents request the list often."""
    found = engine.actions.describe()
    assert engine.actions.describe() is found
    known = engine.actions.get("library.create")
    engine.actions.add(replace(known, name="library.create_again"), "core")
    assert "library.create_again" in {entry["name"] for entry in engine.actions.describe()}


def test_any_action_is_invoked_by_name(ask: AppClient, project: Library) -> None:
    engine_wide = ask(
        "POST", "/api/actions/invoke", json={"name": "compute.set", "params": {"priority": "fast"}}
    )
    assert (engine_wide.json["ok"], engine_wide.json["result"]["priority"]) == (True, "fast")
    in_project = ask(
        "POST",
        "/api/actions/invoke",
        library=project.path,
        json={"name": "library.set", "params": {"name": "B"}},
    )
    assert in_project.json["result"]["name"] == "B"
    assert in_project.headers["x-service-audit-id"] == in_project.json["audit_id"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"name": "no.such", "params": {}}, 404, "unknown_action"),
        ({"name": "library.set", "params": {"nme": "x"}}, 422, "invalid_request"),
        (
            {"name": "library.set", "params": {"name": "x"}, "actor": {"kind": "person"}},
            422,
            "invalid_request",
        ),
        ({"name": "library.set", "params": {"name": "x", "created_by": "me"}}, 422, "invalid_request"),
        (
            {"name": "library.set", "params": {"name": "x", "provenance_kind": "human"}},
            422,
            "invalid_request",
        ),
        ({"name": "library.set", "params": []}, 422, "invalid_request"),
        ({"params": {}}, 422, "invalid_request"),
    ],
)
def test_what_cannot_be_invoked_is_refused(
    ask: AppClient, project: Library, body: dict[str, Any], status: int, code: str
) -> None:
    reply = ask("POST", "/api/actions/invoke", library=project.path, json=body)
    assert (reply.status, reply.code) == (status, code)


def test_the_log_is_paged_and_filtered(ask: AppClient, project: Library, rename: Callable[..., str]) -> None:
    first = rename("one", headers={"X-Service-Client": "desk", "X-Service-Origin-Window": "w1"})
    others = [rename(name) for name in ("two", "three", "four")]
    page = ask("GET", AUDIT, library=project.path, query="action=library.set&limit=3").json
    assert (page["count"], page["total"], page["limit"], page["offset"]) == (3, 4, 3, 0)
    assert [row["id"] for row in page["items"]] == others[::-1]
    answer = ask("GET", AUDIT, library=project.path, query="action=library.set&limit=3&offset=3").json
    (row,) = answer["items"]
    assert row["id"] == first
    assert (row["client"], row["origin_window"], row["actor"]) == (
        "desk",
        "w1",
        {"kind": "person", "name": "owner"},
    )
    ask("POST", f"{AUDIT}/{first}/undo", library=project.path)

    def total(query: str) -> int:
        return int(ask("GET", AUDIT, library=project.path, query=query).json["total"])

    assert total("actor=owner&action=library.set") == 4
    assert total("actor=nobody") == 0
    assert total("target_id=name&undone=true") == 0
    assert total("run_id=x") == total("set_id=x") == 0
    moment = row["created_at"]
    assert total(f"until={moment}&action=library.set") >= 1
    assert total("since=2099-01-01T00:00:00Z") == 0
    assert total("until=2000-01-01T00:00:00%2B02:00") == 0
    assert total("since=2000-01-01") > 0
    # What a bound states counts to its end: a day, a month, and a second.
    for stated in (moment[:19] + "Z", moment[:10], moment[:7], moment[:4]):
        assert total(f"since={stated}&until={stated}&action=library.set") >= 1, stated


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=1001", "offset=-1", "since=yesterday", "undone=maybe", "scope=x"]
)
def test_a_filter_out_of_range_is_422(ask: AppClient, project: Library, query: str) -> None:
    reply = ask("GET", AUDIT, library=project.path, query=query)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert reply.json["errors"][0]["loc"][0] == "query"


def test_the_engines_own_log_is_the_owners(
    ask: AppClient, project: Library, device: Callable[..., str]
) -> None:
    rows = ask("GET", AUDIT, query="scope=engine&action=library.create").json["items"]
    assert [row["action_name"] for row in rows] == ["library.create"]
    assert ask("GET", AUDIT, token=device("editor"), query="scope=engine").json["code"] == "owner_only"
    assert ask("GET", AUDIT).json["code"] == "library_required"
    answer = ask("GET", f"{AUDIT}/{rows[0]['id']}", query="scope=engine").json
    assert answer["changes_total"] == 1
    assert (answer["changes"][0]["table"], answer["changes"][0]["op"]) == ("library_known", "insert")


def test_one_step_lists_its_changes(ask: AppClient, project: Library, rename: Callable[..., str]) -> None:
    first, second = rename("one"), rename("two")
    cleared = ask("PATCH", "/api/library/settings", library=project.path, json={"name": None}).json[
        "audit_id"
    ]

    def change(audit_id: str) -> dict[str, Any]:
        row = ask("GET", f"{AUDIT}/{audit_id}", library=project.path).json
        assert row["changes_total"] == 1
        return dict(row["changes"][0])

    before_first = change(first)
    assert (before_first["table"], before_first["label"], before_first["op"]) == (
        "library_setting",
        "setting",
        "update",
    )
    assert (before_first["before"]["value"], before_first["after"]["value"]) == ("Proben", "one")
    assert (change(second)["before"]["value"], change(second)["after"]["value"]) == ("one", "two")
    gone = change(cleared)
    assert (gone["op"], gone["before"]["value"], gone["after"]) == ("delete", "two", None)
    answer = ask("PATCH", "/api/library/settings", library=project.path, json={"scripts": []}).json[
        "audit_id"
    ]
    assert (change(answer)["op"], change(answer)["before"], change(answer)["after"]["value"]) == (
        "insert",
        None,
        [],
    )


def test_a_large_step_is_shown_in_pages(ask: AppClient, project: Library) -> None:
    everything = {
        "name": "B",
        "reading_rule": "relaxed",
        "entity_types": ["guild"],
        "snapshot_interval_seconds": 5,
    }
    audit_id = ask("PATCH", "/api/library/settings", library=project.path, json=everything).json["audit_id"]
    pages = [
        ask("GET", f"{AUDIT}/{audit_id}", library=project.path, query=f"limit=3&offset={offset}").json
        for offset in (0, 3)
    ]
    assert [len(page["changes"]) for page in pages] == [3, 1]
    assert {page["changes_total"] for page in pages} == {4}
    keys = [change["key"]["key"] for page in pages for change in page["changes"]]
    assert sorted(keys) == sorted(everything)


def test_an_unknown_step_is_404(ask: AppClient, project: Library) -> None:
    assert ask("GET", f"{AUDIT}/none", library=project.path).json["code"] == "unknown_step"
    reply = ask("POST", f"{AUDIT}/none/undo", library=project.path)
    assert (reply.status, reply.code, reply.json["reason"], reply.json["audit_id"]) == (
        404,
        "undo_refused",
        "gone",
        "none",
    )
    assert ask("POST", f"{AUDIT}/none/undo").json["code"] == "library_required"


def test_undo_redo_and_their_refusals(ask: AppClient, project: Library, rename: Callable[..., str]) -> None:
    first, second = rename("one"), rename("two")

    def name() -> str:
        return str(ask("GET", "/api/library/settings", library=project.path).json["name"])

    refused = ask("POST", f"{AUDIT}/{first}/undo", library=project.path)
    assert (refused.status, refused.json["reason"]) == (409, "changed")
    assert (refused.json["audit_id"], refused.json["later_audit_id"]) == (first, second)
    assert name() == "two"
    undone = ask("POST", f"{AUDIT}/undo", library=project.path, json={"audit_ids": [first, second]})
    assert undone.json["undone"] == [second, first]
    assert undone.headers["x-service-audit-id"] == undone.json["audit_id"] == undone.json["audit_ids"][0]
    assert name() == "Proben"
    assert ask("POST", f"{AUDIT}/{first}/undo", library=project.path).json["reason"] == "already-undone"
    redone = ask("POST", f"{AUDIT}/undo", library=project.path, json={"audit_ids": undone.json["audit_ids"]})
    assert redone.status == 200
    assert name() == "two"
    row = ask("GET", f"{AUDIT}/{undone.json['audit_ids'][0]}", library=project.path).json
    assert row["inverse_of"] in (first, second)


@pytest.mark.parametrize("ids", [[], ["x"] * 10_001, "x", [1], [None]])
def test_a_set_names_one_to_ten_thousand_steps(ask: AppClient, project: Library, ids: Any) -> None:
    assert ask("POST", f"{AUDIT}/undo", library=project.path, json={"audit_ids": ids}).status == 422


def test_an_engine_wide_step_is_undone_with_or_without_a_project(ask: AppClient, project: Library) -> None:
    for library in (None, project.path):
        step = ask("PUT", "/api/settings/compute", json={"priority": "fast"}).json["audit_id"]
        assert ask("POST", f"{AUDIT}/{step}/undo", library=library).status == 200


def test_a_viewer_undoes_nothing(
    ask: AppClient, project: Library, rename: Callable[..., str], device: Any
) -> None:
    step = rename("one")
    reply = ask("POST", f"{AUDIT}/{step}/undo", token=device("viewer"), library=project.path)
    assert reply.status == 403


@pytest.mark.parametrize("undone", [0, 1])
def test_the_log_reveals_a_mark_changed_outside_the_engine(
    ask: AppClient, project: Library, rename: Callable[..., str], undone: int
) -> None:
    stands, taken_back = rename("one"), rename("two")
    undo = ask("POST", f"{AUDIT}/{taken_back}/undo", library=project.path).json["audit_id"]
    redo = ask("POST", f"{AUDIT}/{undo}/undo", library=project.path).json["audit_id"]
    assert ask("GET", f"{AUDIT}/verify", library=project.path).json["ok"] is True
    ask("POST", f"{AUDIT}/{redo}/undo", library=project.path)
    assert ask("GET", f"{AUDIT}/verify", library=project.path).json["ok"] is True
    touched = stands if undone else taken_back
    with sqlite3.connect(project.path / "library.sqlite") as raw:
        raw.execute("UPDATE audit SET undone = ? WHERE id = ?", (undone, touched))
    broken = ask("GET", f"{AUDIT}/verify", library=project.path).json
    assert broken["ok"] is False
    assert touched in broken["detail"]
    assert ("no step undid it" if undone else "a later step undid it") in broken["detail"]


def test_the_chain_reveals_a_row_changed_outside_the_engine(
    ask: AppClient, project: Library, rename: Callable[..., str]
) -> None:
    step = rename("one")
    whole = ask("GET", f"{AUDIT}/verify", library=project.path).json
    assert (whole["ok"], whole["detail"]) == (True, None)
    assert ask("GET", f"{AUDIT}/verify", query="scope=engine").json["ok"] is True
    with sqlite3.connect(project.path / "library.sqlite") as raw:
        with pytest.raises(sqlite3.Error):
            raw.execute("UPDATE audit SET actor_name = 'somebody' WHERE id = ?", (step,))
        for (name,) in raw.execute(
            "SELECT name FROM sqlite_master WHERE type='trigger' AND tbl_name='audit'"
        ):
            raw.execute(f'DROP TRIGGER "{name}"')
        raw.execute("UPDATE audit SET actor_name = 'somebody' WHERE id = ?", (step,))
    broken = ask("GET", f"{AUDIT}/verify", library=project.path).json
    assert broken["ok"] is False
    assert step in broken["detail"]


def test_bodies_have_a_limit(make_engine: Callable[..., Engine]) -> None:
    ask = AppClient(create_app(engine=make_engine(plugins=[], max_body_bytes=2000, max_upload_bytes=4000)))
    large = b'{"name": "' + b"x" * 3000 + b'"}'
    whole = ask("POST", "/api/actions/invoke", body=large, content_type="application/json")
    assert (whole.status, whole.code, whole.json["limit"]) == (413, "too_large", 2000)
    for kind in ("application/json", "application/octet-stream", "multipart/form-data; boundary=x"):
        chunked = ask("POST", "/api/actions/invoke", body=[large[:1500], large[1500:]], content_type=kind)
        assert (chunked.status, chunked.code) == (413, "too_large"), kind
    lying = ask(
        "POST",
        "/api/actions/invoke",
        body=b"",
        content_type="application/json",
        headers={"Content-Length": "99999999999999"},
    )
    assert lying.status == 413
    nonsense = ask(
        "POST", "/api/actions/invoke", content_type="application/json", headers={"Content-Length": "many"}
    )
    assert nonsense.status == 413


def test_an_upload_route_takes_what_json_may_not(make_engine: Callable[..., Engine]) -> None:
    router = APIRouter()

    @router.post("/api/raw")
    @takes_upload
    async def raw(request: Request) -> Any:
        return json_response({"bytes": len(await request.body())})

    @router.post("/api/form/{name}")
    async def form(name: str, file: UploadFile) -> Any:
        return json_response({"bytes": len(await file.read())})

    engine = make_engine(
        plugins=[Plugin(name="up", summary="uploads", routers=(router,))],
        max_body_bytes=2000,
        max_upload_bytes=4000,
    )
    ask = AppClient(create_app(engine=engine))
    kind = "application/octet-stream"
    assert ask("POST", "/api/raw", body=b"x" * 3000, content_type=kind).json == {"bytes": 3000}
    assert ask("POST", "/api/raw", body=[b"x" * 1500] * 2, content_type=kind).json == {"bytes": 3000}
    assert ask("POST", "/api/raw", body=[b"x" * 1500] * 3, content_type=kind).status == 413
    assert ask("POST", "/api/raw", body=b"x" * 3000, content_type="application/json").status == 413
    part = (
        b'--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
        + b"x" * 3000
        + b"\r\n--b--\r\n"
    )
    kind = "multipart/form-data; boundary=b"
    assert ask("POST", "/api/form/a", body=part, content_type=kind).json == {"bytes": 3000}
    assert ask("POST", "/api/form/a", body=part.replace(b"xx", b"xxxx"), content_type=kind).status == 413
