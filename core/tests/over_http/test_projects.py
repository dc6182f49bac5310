"""Projects over HTTP: how a request names one, the registry, settings, statistics, snapshots."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library

from .conftest import AppClient

SETTINGS = "/api/library/settings"


def test_a_project_is_named_by_header_or_query(ask: AppClient, project: Library) -> None:
    by_header = ask("GET", SETTINGS, library=project.path)
    by_query = ask("GET", SETTINGS, query=f"library={quote(str(project.path), safe='')}")
    both = ask("GET", SETTINGS, library=project.path, query=f"library={quote(str(project.path))}")
    twice_encoded = ask("GET", SETTINGS, query=f"library={quote(quote(str(project.path)))}")
    for reply in (by_header, by_query, both, twice_encoded):
        assert reply.json["name"] == "Proben"


def test_a_decomposed_name_is_the_same_project(ask: AppClient, project: Library) -> None:
    decomposed = unicodedata.normalize("NFD", str(project.path))
    assert decomposed != str(project.path)
    assert ask("GET", SETTINGS, library=decomposed).json["name"] == "Proben"
    assert ask("GET", SETTINGS, library=decomposed, query=f"library={quote(str(project.path))}").status == 200


def test_naming_none_or_two_is_400(ask: AppClient, project: Library, tmp_path: Path) -> None:
    for reply in (
        ask("GET", SETTINGS),
        ask("GET", SETTINGS, library=project.path, query=f"library={quote(str(tmp_path / 'B.library'))}"),
        ask("GET", SETTINGS, query="library=/a.library&library=/b.library"),
        ask("GET", SETTINGS, headers={"X-Service-Library-Path": "%ff%fe"}),
        ask("POST", "/api/actions/invoke", json={"name": "library.set", "params": {"name": "x"}}),
    ):
        assert (reply.status, reply.code) == (400, "library_required")
    assert ask("GET", SETTINGS, query="library=%ff").status == 400


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/etc/passwd",
            "/usr/x.library",
            "relative.library",
            "/tmp/../etc/x.library",
            "/proc/self/root/x.library",
        ),
        *("/", "~/x.library", "/nowhere/x.library", "/tmp/x.librar", "/tmp/x.library/.."),
    ],
)
def test_a_path_that_is_no_project_or_outside_the_roots_is_403(ask: AppClient, path: str) -> None:
    reply = ask("GET", SETTINGS, library=path)
    assert (reply.status, reply.code) == (403, "library_access_denied")


def test_a_null_character_in_the_path_is_400(ask: AppClient) -> None:
    assert ask("GET", SETTINGS, library="/tmp/x\0.library").status == 400


def test_a_link_out_of_the_roots_is_403(ask: AppClient, tmp_path: Path) -> None:
    (tmp_path / "link.library").symlink_to("/etc")
    assert ask("GET", SETTINGS, library=tmp_path / "link.library").status == 403


def test_no_package_is_404_and_is_never_made(ask: AppClient, tmp_path: Path) -> None:
    reply = ask("GET", SETTINGS, library=tmp_path / "None.library")
    assert (reply.status, reply.code) == (404, "library_not_found")
    assert not (tmp_path / "None.library").exists()


def test_a_held_or_newer_package_is_409(
    ask: AppClient, make_engine: Callable[..., Engine], core_engine: Engine, tmp_path: Path
) -> None:
    other_engine = make_engine(plugins=[])
    place = tmp_path / "Held.library"
    other_engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    reply = ask("GET", SETTINGS, library=place)
    assert (reply.status, reply.code) == (409, "library_locked")
    other_engine.close()
    card = json.loads((place / "library.json").read_text())
    (place / "library.json").write_text(json.dumps({**card, "format": 999}))
    reply = ask("GET", SETTINGS, library=place)
    assert (reply.status, reply.code) == (409, "library_too_new")
    (place / "library.json").write_text(json.dumps(card))
    assert ask("GET", SETTINGS, library=place).status == 200


def test_a_project_is_made_opened_and_listed(ask: AppClient, tmp_path: Path) -> None:
    place = tmp_path / "New.library"
    answer = ask("POST", "/api/library", json={"path": str(place), "name": "New"})
    assert answer.status == 200
    assert (answer.json["created"], answer.json["tables_initialized"]) == (True, True)
    assert answer.headers["x-service-audit-id"] == answer.json["audit_id"]
    second_answer = ask("POST", "/api/library", json={"path": str(place)})
    assert (second_answer.status, second_answer.code) == (409, "already_exists")
    assert ask("POST", "/api/library/open", json={"path": str(tmp_path / "No.library")}).status == 404
    opened = ask("POST", "/api/library/open", json={"path": str(place)})
    assert (opened.json["is_open"], opened.json["name"]) == (True, "New")
    (entry,) = ask("GET", "/api/registry").json["libraries"]
    assert (entry["path"], entry["is_open"], entry["snapshot_retention_count"]) == (str(place), True, 10)
    (handle,) = ask("GET", "/api/registry/open").json["items"]
    assert handle == {"id": entry["id"], "path": str(place), "is_open": True}


def test_a_new_project_may_be_made_in_the_home_without_knowing_where_that_is(
    ask: AppClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = ask("POST", "/api/library", json={"path": "~/Letters.library"})
    assert (answer.status, answer.json["path"]) == (200, str(tmp_path / "Letters.library"))


def test_projects_are_resolved_by_path_then_by_name(ask: AppClient, tmp_path: Path) -> None:
    for folder, name in (("a", "Letters"), ("b", "letters"), ("c", None)):
        (tmp_path / folder).mkdir()
        ask("POST", "/api/library", json={"path": str(tmp_path / folder / "Wills.library"), "name": name})
    path = str(tmp_path / "a" / "Wills.library")
    assert ask("GET", "/api/registry/resolve", query=f"name={quote(path)}").json["path"] == path
    assert ask("GET", "/api/registry/resolve", query="name=WILLS").json["path"].endswith("c/Wills.library")
    second_answer = ask("GET", "/api/registry/resolve", query="name=LETTERS")
    assert (second_answer.status, len(second_answer.json["paths"])) == (409, 2)
    none = ask("GET", "/api/registry/resolve", query="name=nobody")
    assert none.status == 404
    assert {entry["name"] for entry in none.json["known"]} == {"Letters", "letters", "Wills"}
    assert "Wills" in none.json["detail"]
    assert ask("GET", "/api/registry/resolve").status == 422


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ({"entity_types": ["ship", "ship"]}, "ship is listed twice"),
        ({"entity_types": [" "]}, "not a blank"),
        ({"entity_types": ["s" * 81]}, "at most 80 characters"),
        ({"scripts": [{"code": "Latn", "name": n} for n in "ab"]}, "Latn is listed twice"),
    ],
)
def test_a_list_of_settings_names_each_thing_once(
    ask: AppClient, project: Library, sent: dict[str, Any], said: str
) -> None:
    before = ask("GET", SETTINGS, library=project.path).json
    refused = ask("PATCH", SETTINGS, library=project.path, json=sent)
    assert refused.status == 422
    assert said in refused.json["detail"]
    assert ask("GET", SETTINGS, library=project.path).json == before


def test_a_released_project_opens_again_at_the_next_request(ask: AppClient, project: Library) -> None:
    released = ask("POST", "/api/registry/release", json={"path": str(project.path)})
    assert released.status == 200
    assert {k: released.json[k] for k in ("status", "registered", "jobs_stopped", "conversion_stopped")} == {
        "status": "released",
        "registered": True,
        "jobs_stopped": 0,
        "conversion_stopped": False,
    }
    assert ask("GET", "/api/registry/open").json["items"] == []
    assert ask("POST", "/api/registry/release", json={"path": str(project.path)}).json["status"] == "not_open"
    assert ask("GET", SETTINGS, library=project.path).json["name"] == "Proben"
    assert len(ask("GET", "/api/registry/open").json["items"]) == 1


def test_unregistering_releases_and_leaves_the_package(ask: AppClient, project: Library) -> None:
    path = str(project.path)
    answer = ask("DELETE", f"/api/registry/{path}")
    assert answer.json == {"status": "unregistered", "path": path, "audit_id": answer.json["audit_id"]}
    assert ask("GET", "/api/registry").json["count"] == 0
    assert project.path.is_dir()
    assert ask("DELETE", f"/api/registry/{path}").status == 404
    undone = ask("POST", f"/api/actions/audit/{answer.json['audit_id']}/undo")
    assert undone.status == 200
    assert ask("GET", "/api/registry").json["count"] == 1


def test_settings_are_set_cleared_and_undone(ask: AppClient, project: Library) -> None:
    answer = ask("PATCH", SETTINGS, library=project.path, json={"reading_rule": "relaxed", "name": None})
    assert (answer.json["reading_rule"], answer.json["name"]) == ("relaxed", None)
    assert ask("GET", SETTINGS, library=project.path).json["reading_rule"] == "relaxed"
    assert ask("PATCH", SETTINGS, library=project.path, json={"reading_rule": "loose"}).status == 422
    assert ask("PATCH", SETTINGS, library=project.path, json={"unknown": 1}).status == 422
    assert ask("PATCH", SETTINGS, library=project.path, json={}).status == 422
    ask("POST", f"/api/actions/audit/{answer.json['audit_id']}/undo", library=project.path)
    after = ask("GET", SETTINGS, library=project.path).json
    assert (after["reading_rule"], after["name"]) == ("strict", "Proben")


def test_statistics_count_what_is_there(ask: AppClient, project: Library) -> None:
    stats = ask("GET", "/api/library/stats", library=project.path).json
    assert stats["documents"] == stats["segments"] == stats["claims"] == 0
    assert stats["bytes"] > 10_000
    assert set(stats["jobs"]) == {"waiting", "running", "paused", "done", "failed", "cancelled"}


def test_a_snapshot_is_taken_and_listed(ask: AppClient, project: Library) -> None:
    answer = ask("POST", "/api/snapshots", library=project.path, json={"reason": "before the move"})
    assert answer.status == 200
    (listed,) = ask("GET", "/api/snapshots", library=project.path).json["items"]
    assert (listed["id"], listed["reason"]) == (answer.json["id"], "before the move")
    assert ask("POST", "/api/snapshots", library=project.path).status == 200
    undo = ask("POST", f"/api/actions/audit/{answer.json['audit_id']}/undo", library=project.path)
    assert undo.json["reason"] == "not-undoable"


def test_compute_is_read_by_all_and_set_within_the_machine(
    ask: AppClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium.runtimes.compute as compute

    monkeypatch.setattr(compute, "gpu_name", lambda: None)
    before = ask("GET", "/api/settings/compute").json
    assert (before["priority"], before["device"]) == ("balanced", "auto")
    assert before["effective"] == {
        **before["effective"],
        "priority": "balanced",
        "device": "cpu",
        "priority_from": "default",
        "device_from": "default",
    }
    refused = ask("PUT", "/api/settings/compute", json={"device": "gpu"})
    assert (refused.status, refused.code) == (422, "no_gpu")
    assert ask("PUT", "/api/settings/compute", json={}).status == 422
    assert ask("PUT", "/api/settings/compute", json={"priority": "slow"}).status == 422
    done = ask("PUT", "/api/settings/compute", json={"priority": "background"})
    assert (done.json["priority"], done.json["effective"]["threads"]) == ("background", 1)
    assert (done.json["effective"]["priority_from"], done.json["effective"]["device_from"]) == (
        "setting",
        "default",
    )
    monkeypatch.setattr(compute, "gpu_name", lambda: "A Test GPU")
    answer = ask("GET", "/api/settings/compute").json["effective"]
    assert (answer["device"], answer["device_name"]) == ("gpu", "A Test GPU")
    assert ask("POST", f"/api/actions/audit/{done.json['audit_id']}/undo").status == 200
    assert ask("GET", "/api/settings/compute").json["priority"] == "balanced"


def test_the_environment_overrides_the_saved_choice(make_engine: Callable[..., Engine]) -> None:
    from armarium.runtimes.compute import state_of

    engine = make_engine(plugins=[], compute_priority="fast", compute_device="cpu")
    engine.run(None, "compute.set", {"priority": "background"}, LOCAL_OWNER)
    state = state_of(engine)
    applies = state.effective
    assert (state.priority, applies.priority, applies.priority_from) == (
        "background",
        "fast",
        "environment",
    )
    assert (applies.device, applies.device_from) == ("cpu", "environment")


GRANT = "/api/sandbox/security-scoped-access"


def test_a_granted_folder_may_hold_projects_until_the_grant_is_undone(
    make_engine: Callable[..., Engine], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import armarium.engine as engine_module
    from armarium.web.app import create_app

    monkeypatch.setattr(engine_module, "allowed_roots", lambda extra: list(extra))
    engine = make_engine(plugins=[], library_roots=[tmp_path / "roots"])
    ask = AppClient(create_app(engine=engine))
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    place = {"path": str(chosen / "A.library")}
    assert ask("POST", "/api/library", json=place).status == 403
    grant = ask("POST", GRANT, json={"path": str(chosen), "bookmark": "Ym9v"})
    assert (grant.json["granted"], grant.json["already_held"]) == (True, False)
    assert ask("POST", GRANT, json={"path": str(chosen), "bookmark": "Ym9v"}).json["already_held"] is True
    assert ask("POST", "/api/library", json=place).status == 200
    assert ask("POST", f"/api/actions/audit/{grant.json['audit_id']}/undo").status == 200
    assert ask("POST", "/api/library", json={"path": str(chosen / "B.library")}).status == 403


@pytest.mark.parametrize(
    "path", ["/etc", "/", "/usr/share", "relative", "/tmp/../etc", "/tmp/not there", "/tmp\0x"]
)
def test_a_system_or_missing_folder_is_not_granted(ask: AppClient, path: str) -> None:
    assert ask("POST", GRANT, json={"path": path, "bookmark": "Ym9v"}).json["code"] == "grant_refused"


@pytest.mark.parametrize("bookmark", ["", "not base64!", "YQ", "é"])
def test_a_malformed_bookmark_is_400(ask: AppClient, tmp_path: Path, bookmark: str) -> None:
    reply = ask("POST", GRANT, json={"path": str(tmp_path), "bookmark": bookmark})
    assert (reply.status, reply.code) == (400, "malformed_bookmark")


def test_inside_an_app_sandbox_the_engine_states_its_limits(
    ask: AppClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APP_SANDBOX_CONTAINER_ID", "x")
    reply = ask("POST", GRANT, json={"path": str(tmp_path), "bookmark": "Ym9v"})
    assert (reply.status, reply.code) == (400, "grant_refused")


def test_health_and_plugins_say_what_the_engine_is(ask: AppClient, make_engine: Callable[..., Any]) -> None:
    from armarium.plugin import Plugin
    from armarium.web.app import create_app

    health = ask("GET", "/api/health", token=None).json
    assert (health["status"], health["offline"]) == ("ok", False)
    assert health["uptime_seconds"] >= 0
    names = [plugin["name"] for plugin in ask("GET", "/api/plugins").json["items"]]
    assert {"library", "auth", "jobs"} <= set(names)
    clash = Plugin(name="auth", summary="a second one")
    client = AppClient(create_app(engine=make_engine(plugins=[clash], local_only=True)))
    assert client("GET", "/api/health").json["offline"] is True
    (refused,) = client("GET", "/api/plugins").json["refused"]
    assert refused["name"] == "auth"
    assert refused["why"]
