"""Tokens: created, distinguished, renewed, revoked, expired; a secret is shown in one answer and nowhere else."""

from __future__ import annotations

import hmac
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from armarium.auth.secret_files import read_private, settle_owner_token
from armarium.auth.tokens import DAY
from armarium.engine import Engine
from armarium.errors import Conflict, Forbidden, Unavailable
from armarium.jobs.queue import NewJob, enqueue
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.store.database import raw_of
from armarium.web.app import create_app
from armarium_testing.fixtures import OWNER_TOKEN

from .conftest import AppClient


def code_of(ask: AppClient, token: str, path: str = "/api/registry") -> str | None:
    return ask("GET", path, token=token).json.get("code")


def later(engine: Engine, seconds: float) -> None:
    """Set the engine's clock forward."""
    clock = engine.auth.clock
    for place in (engine.auth, engine.auth.book):
        place.clock = lambda: clock() + seconds


def test_the_owner_token_is_made_once_in_a_private_file(tmp_path: Path) -> None:
    made = settle_owner_token(tmp_path, None, rotate=False)
    assert len(made) >= 43
    assert stat.S_IMODE((tmp_path / "owner-token").stat().st_mode) == 0o600
    assert settle_owner_token(tmp_path, None, rotate=False) == made
    assert settle_owner_token(tmp_path, None, rotate=True) != made
    assert (
        settle_owner_token(tmp_path, "a-token-of-my-own-choice", rotate=False) == "a-token-of-my-own-choice"
    )
    assert read_private(tmp_path / "owner-token") == "a-token-of-my-own-choice"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["owner-token"]


def test_a_short_owner_token_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="at least 16"):
        settle_owner_token(tmp_path, "short", rotate=False)


def test_a_token_file_open_to_others_is_closed(tmp_path: Path) -> None:
    (tmp_path / "owner-token").write_text("the-token-somebody-left-open")
    (tmp_path / "owner-token").chmod(0o644)
    assert read_private(tmp_path / "owner-token") == "the-token-somebody-left-open"
    assert stat.S_IMODE((tmp_path / "owner-token").stat().st_mode) == 0o600


def test_the_state_folder_is_private(core_engine: Engine) -> None:
    assert stat.S_IMODE(core_engine.settings.state_dir.stat().st_mode) == 0o700


def test_a_former_owner_token_is_called_stale_and_ends_its_sessions(
    make_engine: Callable[..., Engine],
) -> None:
    first = make_engine(plugins=[], state="same", owner_token="the-first-owner-token")
    ask = AppClient(create_app(engine=first))
    reply = ask("POST", "/api/auth/session", token="the-first-owner-token")
    session = reply.headers["set-cookie"].partition("=")[2].partition(";")[0]
    assert ask("GET", "/api/registry", token=session).status == 200
    first.close()
    second = AppClient(
        create_app(engine=make_engine(plugins=[], state="same", owner_token="the-second-owner-token"))
    )
    assert code_of(second, "the-first-owner-token") == "stale_owner_token"
    assert code_of(second, "the-second-owner-token") is None
    assert code_of(second, session) == "token_revoked"
    assert code_of(second, "some-other-token") == "invalid_token"


@pytest.mark.parametrize(
    "client", [("192.168.1.7", 1), ("8.8.8.8", 1), ("::ffff:10.0.0.1", 1), ("testclient", 1)]
)
def test_the_owner_token_is_taken_from_this_machine_only(ask: AppClient, client: tuple[str, int]) -> None:
    reply = ask("GET", "/api/registry", client=client)
    assert (reply.status, reply.code) == (403, "owner_token_local_only")


@pytest.mark.parametrize(
    "client", [None, ("127.0.0.1", 1), ("127.3.2.1", 1), ("::1", 1), ("::ffff:127.0.0.1", 1)]
)
def test_the_owner_token_is_taken_over_loopback_and_socket(ask: AppClient, client: Any) -> None:
    assert ask("GET", "/api/registry", client=client).status == 200


@pytest.mark.parametrize(
    "header", ["X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded", "Via", "X-Real-IP"]
)
def test_the_owner_token_is_never_taken_through_a_proxy(
    ask: AppClient, device: Callable[..., str], header: str
) -> None:
    reply = ask("GET", "/api/registry", headers={header: "127.0.0.1"})
    assert (reply.status, reply.code) == (403, "owner_token_local_only")
    assert ask("GET", "/api/registry", token=device(), headers={header: "127.0.0.1"}).status == 200


def test_a_device_lives_a_year_and_is_renewed(
    ask: AppClient, core_engine: Engine, device: Callable[..., str]
) -> None:
    token = device()
    (row,) = ask("GET", "/api/tokens").json["items"]
    assert (row["kind"], row["role"], row["libraries"], row["revoked"]) == ("device", "editor", "all", False)
    later(core_engine, 364 * DAY)
    assert code_of(ask, token) is None
    later(core_engine, 2 * DAY)
    assert code_of(ask, token) == "token_expired"
    renewed = ask("POST", f"/api/tokens/{row['id']}/renew")
    assert renewed.status == 200
    assert renewed.json["expires_at"] > row["expires_at"]
    assert code_of(ask, token) is None


def test_only_a_device_token_is_renewed(ask: AppClient) -> None:
    agent = ask("POST", "/api/tokens", json={"name": "night reader"}).json
    assert ask("POST", f"/api/tokens/{agent['id']}/renew").status == 409
    ask("DELETE", f"/api/tokens/{agent['id']}")
    assert ask("POST", "/api/tokens/none/renew").json["code"] == "unknown_token"
    assert ask("DELETE", "/api/tokens/none").status == 404


def test_a_revoked_token_is_refused_at_once_and_for_good(ask: AppClient, device: Callable[..., str]) -> None:
    token = device()
    (row,) = ask("GET", "/api/tokens").json["items"]
    answer = ask("DELETE", f"/api/tokens/{row['id']}")
    assert answer.json == {
        "status": "deleted",
        "id": row["id"],
        "sessions_ended": 0,
        "audit_id": answer.json["audit_id"],
    }
    assert code_of(ask, token) == "token_revoked"
    assert ask("POST", f"/api/tokens/{row['id']}/renew").json["code"] == "token_revoked"
    assert ask("DELETE", f"/api/tokens/{row['id']}").status == 200
    undo = ask("POST", f"/api/actions/audit/{answer.json['audit_id']}/undo")
    assert (undo.status, undo.json["reason"]) == (409, "not-undoable")


def test_an_agent_is_a_machine_for_ninety_days(ask: AppClient, core_engine: Engine) -> None:
    answer = ask("POST", "/api/tokens", json={"name": "night reader", "role": "viewer"})
    assert answer.headers["cache-control"] == "no-store"
    token = answer.json["token"]
    reply = ask("POST", "/api/actions/invoke", token=token, json={"name": "compute.set", "params": {}})
    assert reply.json["code"] == "owner_only"
    principal = core_engine.auth.book.find(token).principal(None, None, "tcp")
    assert (principal.kind, principal.name, principal.role) == ("machine", "night reader", "viewer")
    later(core_engine, 91 * DAY)
    assert code_of(ask, token) == "token_expired"


def test_an_agent_is_never_an_owner(ask: AppClient) -> None:
    assert ask("POST", "/api/tokens", json={"name": "x", "role": "owner"}).status == 422


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/api/tokens", None),
        ("POST", "/api/tokens", {"name": "x"}),
        ("POST", "/api/tokens/x/renew", None),
        ("DELETE", "/api/tokens/x", None),
        ("POST", "/api/pair/code", {"role": "viewer"}),
        ("GET", "/api/pair/enrollment", None),
        ("POST", "/api/pair/enrollment/rotate", None),
        ("PUT", "/api/settings/compute", {"priority": "fast"}),
        ("POST", "/api/sandbox/security-scoped-access", {"path": "/x", "bookmark": "eA=="}),
    ],
)
def test_what_is_the_owners_is_refused_to_an_editor(
    ask: AppClient, device: Callable[..., str], method: str, path: str, body: Any
) -> None:
    reply = ask(method, path, token=device("editor"), json=body)
    assert (reply.status, reply.code) == (403, "owner_only")


def test_a_machine_makes_no_tokens_even_for_the_owner(core_engine: Engine) -> None:
    machine = replace(LOCAL_OWNER, kind="machine")
    for name, params in (("token.create", {"name": "x"}), ("pair.code", {"role": "editor"})):
        with pytest.raises(Forbidden) as refused:
            core_engine.run(None, name, params, machine)
        assert refused.value.code == "person_only"


def test_a_bound_token_reaches_its_project_and_no_other(
    ask: AppClient, core_engine: Engine, project: Library, device: Callable[..., str], tmp_path: Path
) -> None:
    other_path = tmp_path / "Other.library"
    core_engine.run(None, "library.create", {"path": str(other_path)}, LOCAL_OWNER)
    token = device("editor", [str(project.path)])
    (row,) = ask("GET", "/api/tokens").json["items"]
    assert row["libraries"] == [str(project.path)]
    assert ask("GET", "/api/library/settings", token=token, library=project.path).status == 200
    for library in (other_path, tmp_path / "None.library"):
        reply = ask("GET", "/api/library/settings", token=token, library=library)
        assert (reply.status, reply.code) == (403, "library_access_denied")
        assert (reply.json["required"], reply.json["role"]) == ("read", "editor")
    write = ask("PATCH", "/api/library/settings", token=token, library=other_path, json={"name": "x"})
    assert write.json["required"] == "write"
    for name in ("library.open", "library.release", "library.create"):
        reply = ask(
            "POST",
            "/api/actions/invoke",
            token=token,
            json={"name": name, "params": {"path": str(other_path)}},
        )
        assert reply.json["code"] == "library_access_denied", name
    assert [entry["path"] for entry in ask("GET", "/api/registry", token=token).json["libraries"]] == [
        str(project.path)
    ]
    assert ask("GET", "/api/registry/resolve", token=token, query="name=nobody").json["known"] == []
    assert ask("GET", "/api/registry/resolve", token=token, query=f"name={other_path}").json["code"] == (
        "library_access_denied"
    )


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/activity/jobs/paused", {"paused": True}),
        ("PUT", "/api/activity/jobs/mode", {"mode": "started"}),
        ("GET", "/api/pair/enrollment", None),
        ("POST", "/api/pair/enrollment/rotate", None),
        ("POST", "/api/pair/code", {"role": "owner"}),
        ("GET", "/api/tokens", None),
        ("POST", "/api/tokens", {"name": "all"}),
        ("PUT", "/api/settings/compute", {"priority": "background"}),
        ("POST", "/api/sandbox/security-scoped-access", {"path": "/tmp", "bookmark": "eA=="}),
        ("GET", "/api/actions/audit?scope=engine", None),
    ],
)
def test_who_owns_some_projects_does_not_own_the_engine(
    ask: AppClient, project: Library, device: Callable[..., str], method: str, path: str, body: Any
) -> None:
    token = device("owner", [str(project.path)])
    place, _, query = path.partition("?")
    reply = ask(method, place, query=query, token=token, json=body)
    assert (reply.status, reply.code) == (403, "library_access_denied")
    assert "concerns the whole engine" in reply.json["detail"]
    assert (
        ask("PATCH", "/api/library/settings", token=token, library=project.path, json={"name": "Mine"}).status
        == 200
    )


def test_a_bound_token_undoes_no_step_of_the_engine(
    ask: AppClient, project: Library, device: Callable[..., str]
) -> None:
    paused = ask("PUT", "/api/activity/jobs/paused", json={"paused": True}).json["audit_id"]
    undo = f"/api/actions/audit/{paused}/undo"
    for role in ("owner", "editor"):
        reply = ask("POST", undo, token=device(role, [str(project.path)]))
        assert (reply.status, reply.code) == (403, "library_access_denied")
    assert ask("GET", "/api/activity/jobs").json["paused"] is True
    assert ask("POST", undo, token=device("editor")).status == 200
    assert ask("GET", "/api/activity/jobs").json["paused"] is False


def test_only_the_owner_undoes_steps_on_the_registry(
    ask: AppClient, project: Library, device: Callable[..., str], tmp_path: Path
) -> None:
    answer = ask("POST", "/api/library", json={"path": str(tmp_path / "New.library")}).json["audit_id"]
    undo = f"/api/actions/audit/{answer}/undo"
    for token, code in (
        (device("owner", [str(project.path)]), "library_access_denied"),
        (device("viewer"), "library_access_denied"),
    ):
        reply = ask("POST", undo, token=token)
        assert (reply.status, reply.code) == (403, code)
    audit_id = ask("DELETE", f"/api/registry/{tmp_path / 'New.library'}").json["audit_id"]
    reply = ask("POST", f"/api/actions/audit/{audit_id}/undo", token=device("owner", [str(project.path)]))
    assert (reply.status, reply.code) == (403, "library_access_denied")
    assert ask("POST", f"/api/actions/audit/{audit_id}/undo").status == 200
    assert ask("POST", undo).status == 200


def test_a_bound_token_has_nothing_to_do_with_the_engines_own_work(
    ask: AppClient, core_engine: Engine, project: Library, device: Callable[..., str]
) -> None:
    with core_engine.state.write() as conn:
        job_id = enqueue(conn, NewJob("job-example", {}, "The engine's own"), started_by=LOCAL_OWNER)
    bound = device("owner", [str(project.path)])
    jobs = "/api/activity/jobs"
    for library in (None, project.path):
        for method, path, body in (
            ("GET", f"{jobs}/{job_id}", None),
            ("GET", f"{jobs}/{job_id}/log", None),
            ("PUT", f"{jobs}/{job_id}/paused", {"paused": True}),
            ("POST", f"{jobs}/{job_id}/cancel", None),
            ("POST", f"{jobs}/{job_id}/retry", None),
            ("POST", f"{jobs}/waiting:job-example/cancel", None),
        ):
            assert (ask(method, path, token=bound, library=library, json=body).status, path) == (404, path)
        assert ask("GET", jobs, token=bound, library=library).json["items"] == []
    invoke = {"name": "job.cancel", "params": {"job_id": job_id}}
    assert ask("POST", "/api/actions/invoke", token=bound, json=invoke).code == "library_access_denied"
    assert ask("POST", f"{jobs}/clear-failed", token=bound).json["cleared"] == 0
    ask("POST", "/api/registry/release", json={"path": str(project.path)})
    assert ask("POST", f"{jobs}/clear-failed", token=bound).code == "library_required"
    assert ask("GET", f"{jobs}/derivatives", token=bound).json["total"] == 0
    assert ask("GET", f"{jobs}/{job_id}").json["state"] == "waiting"


def test_a_viewer_reads_and_does_not_write(
    ask: AppClient, project: Library, device: Callable[..., str]
) -> None:
    token = device("viewer")
    assert ask("GET", "/api/library/stats", token=token, library=project.path).status == 200
    reply = ask("POST", "/api/snapshots", token=token, library=project.path)
    assert (reply.status, reply.code) == (403, "library_access_denied")
    assert (reply.json["required"], reply.json["role"]) == ("write", "viewer")


def test_last_seen_is_written_at_most_once_a_minute(
    ask: AppClient, core_engine: Engine, device: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = device()
    written: list[str] = []
    write = core_engine.auth.book.write_seen
    monkeypatch.setattr(
        core_engine.auth.book, "write_seen", lambda entry: (written.append(entry.id), write(entry))
    )
    for _ in range(20):
        ask("GET", "/api/registry", token=token)
    later(core_engine, 61)
    ask("GET", "/api/registry", token=token)
    writer = core_engine.auth._writer
    assert writer is not None
    writer.submit(lambda: None).result()
    assert len(written) == 2
    with core_engine.state.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM token_use").fetchone() == (1,)
    assert ask("GET", "/api/tokens").json["items"][0]["last_seen"] is not None


def test_a_full_disk_loses_a_last_seen_but_fails_no_request(
    ask: AppClient, core_engine: Engine, device: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = device()

    def full(entry: object) -> None:
        raise Unavailable("The disk is full.")

    monkeypatch.setattr(core_engine.auth.book, "write_seen", full)
    assert ask("GET", "/api/registry", token=token).status == 200


def test_digests_are_compared_in_constant_time(
    ask: AppClient, device: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    token = device()
    compared: list[object] = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: (compared.append(a), real(a, b))[1])
    ask("GET", "/api/registry", token=token)
    ask("POST", "/api/pair/enroll", token=None, json={"enrollment_secret": "wrong"})
    assert len(compared) == 2


def test_no_secret_is_in_the_database_or_the_log(
    ask: AppClient, core_engine: Engine, device: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    code = ask("POST", "/api/pair/code", json={}).json["code"]
    secret = ask("GET", "/api/pair/enrollment").json["enrollment_secret"]
    agent = ask("POST", "/api/tokens", json={"name": "x"}).json["token"]
    enrolled = ask("POST", "/api/pair/enroll", token=None, json={"enrollment_secret": secret}).json[
        "device_token"
    ]
    cookie = ask("POST", "/api/auth/session", token=OWNER_TOKEN).headers["set-cookie"]
    session = cookie.partition("=")[2].partition(";")[0]
    invoked = ask("POST", "/api/actions/invoke", json={"name": "token.create", "params": {"name": "y"}})
    secrets = [code, code.replace("-", ""), secret, agent, enrolled, session, device(), OWNER_TOKEN]
    secrets.append(invoked.json["result"]["token"])
    for secret_ in (*secrets, "wrong-secret-canary"):
        ask("GET", "/api/registry", token=secret_)
        ask("POST", "/api/pair", token=None, json={"code": secret_[:40], "nonsense": secret_})
        ask("POST", "/api/pair/enroll", token=None, json={"enrollment_secret": secret_})
    folder = core_engine.settings.state_dir
    core_engine.close()
    for path in folder.rglob("*"):
        if path.is_file() and path.name not in ("owner-token", "enrollment-secret"):
            content = path.read_bytes()
            assert not [s for s in secrets if s.encode() in content], path.name
    assert not [s for s in secrets if s in caplog.text]


def test_a_refusal_never_echoes_a_secret(ask: AppClient) -> None:
    for body in ({"enrollment_secret": "canary-1", "x": "canary-2"}, {"enrollment_secret": ["canary-3"]}):
        reply = ask("POST", "/api/pair/enroll", token=None, json=body)
        assert reply.status == 422
        assert b"canary" not in reply.body
    assert b"canary" not in ask("GET", "/api/registry", token="canary").body


def test_a_token_has_a_name_and_reaches_something(ask: AppClient) -> None:
    for path, body in (
        ("/api/tokens", {"name": "  "}),
        ("/api/tokens", {"name": "a\x1bb"}),
        ("/api/tokens", {"name": "bot", "libraries": []}),
        ("/api/pair/code", {"libraries": []}),
        ("/api/pair", {"code": "AAAA-BBBB", "device_name": " "}),
    ):
        assert (ask("POST", path, json=body).status, path) == (422, path)
    assert ask("GET", "/api/tokens").json["total"] == 0


def test_tokens_come_in_pages(ask: AppClient) -> None:
    ids = [ask("POST", "/api/tokens", json={"name": f"agent {number}"}).json["id"] for number in range(5)]
    whole = ask("GET", "/api/tokens").json
    assert (whole["count"], whole["total"], whole["limit"], whole["offset"]) == (5, 5, 100, 0)
    assert {row["id"] for row in whole["items"]} == set(ids)
    pages = [ask("GET", "/api/tokens", query=f"limit=2&offset={offset}").json for offset in (0, 2, 4, 6)]
    assert [page["count"] for page in pages] == [2, 2, 1, 0]
    assert [row for page in pages for row in page["items"]] == whole["items"]
    for wrong in ("limit=0", "limit=1001", "offset=-1", "limit=x"):
        assert ask("GET", "/api/tokens", query=wrong).status == 422


def test_a_session_has_the_folders_of_the_token_it_came_from(
    core_engine: Engine, device: Callable[..., str], tmp_path: Path
) -> None:
    auth = core_engine.auth
    parent = auth.book.find(device("editor"))
    caller = parent.principal(None, None, "tcp")
    result = core_engine.run(None, "token.session", {}, caller).result
    assert result is not None
    assert auth.book.find(result["session_token"]).folders == frozenset()
    granted = {"token_id": parent.id, "folders": [str(tmp_path)]}
    core_engine.run(None, "token.update", granted, LOCAL_OWNER)
    assert auth.book.find(result["session_token"]).folders == {str(tmp_path.resolve())}
    with pytest.raises(Conflict, match="folders of the token it came from"):
        core_engine.run(None, "token.update", {**granted, "token_id": result["token_id"]}, LOCAL_OWNER)
    owners = core_engine.run(None, "token.session", {}, LOCAL_OWNER).result
    assert owners is not None
    assert auth.book.find(owners["session_token"]).folders is None


def test_an_agent_has_a_model_and_a_budget_that_the_owner_sets(ask: AppClient) -> None:
    answer = ask(
        "POST", "/api/tokens", json={"name": "reader", "model": "tiny-7b", "budget": {"writes": 2}}
    ).json
    assert (answer["model"], answer["writes_to"], answer["spent"]["writes"]) == ("tiny-7b", "branch", 0)
    mine = ask("GET", "/api/auth/session", token=answer["token"]).json
    assert mine["budget"] == {"calls": None, "writes": 2, "pages": None, "minutes": None, "cost_usd": None}
    changed = ask(
        "PATCH", f"/api/tokens/{answer['id']}", json={"writes_to": "project", "budget": {"calls": 9}}
    ).json
    assert (changed["writes_to"], changed["budget"]["calls"], changed["budget"]["writes"]) == (
        "project",
        9,
        None,
    )
    lifted = ask("PATCH", f"/api/tokens/{answer['id']}", json={"budget": None}).json
    assert lifted["budget"] is None
    assert lifted["model"] == "tiny-7b"
    for wrong in ({"writes": -1}, {"writes": 1.5}, {"steps": 3}, {"cost_usd": "ten"}):
        assert ask("POST", "/api/tokens", json={"name": "x", "budget": wrong}).status == 422, wrong


def test_a_device_has_no_budget(ask: AppClient) -> None:
    code = ask("POST", "/api/pair/code", json={}).json["code"]
    device = ask("POST", "/api/pair", token=None, json={"code": code, "device_name": "tablet"}).json[
        "device_id"
    ]
    refused = ask("PATCH", f"/api/tokens/{device}", json={"budget": {"writes": 2}})
    assert (refused.status, refused.code) == (409, "agents_only")


def test_a_budget_of_requests_is_refused_in_a_sentence_when_it_is_used_up(ask: AppClient) -> None:
    answer = ask("POST", "/api/tokens", json={"name": "reader", "budget": {"calls": 2}}).json
    said = [ask("GET", "/api/registry", token=answer["token"]) for _ in range(4)]
    assert [item.status for item in said] == [200, 200, 403, 403]
    assert said[-1].json["detail"] == (
        "The budget of the agent “reader” is used up: 2 of 2 requests. The owner can raise it: "
        f"armarium token budget {answer['id']}."
    )
    assert (said[-1].json["code"], said[-1].json["budget"]) == ("budget_used_up", "calls")


def test_what_an_agent_has_used_is_known_after_a_restart(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    first = make_engine(plugins=[], state="kept")
    asking = AppClient(create_app(engine=first))
    answer = asking("POST", "/api/tokens", json={"name": "reader", "budget": {"calls": 3}}).json
    for _ in range(3):
        asking("GET", "/api/registry", token=answer["token"])
    first.close()
    second_client = AppClient(create_app(engine=make_engine(plugins=[], state="kept")))
    assert second_client("GET", "/api/registry", token=answer["token"]).code == "budget_used_up"


def test_an_agent_is_shown_among_the_clients_by_the_name_of_its_token(ask: AppClient) -> None:
    answer = ask("POST", "/api/tokens", json={"name": "reader", "model": "tiny-7b"}).json
    ask("GET", "/api/registry", token=answer["token"], headers={"X-Service-Client": "Notebook 2"})
    (client,) = [
        client for client in ask("GET", "/api/clients").json["clients"] if client["agent"] == "reader"
    ]
    assert client["client"] == "Notebook 2 (tiny-7b)"
