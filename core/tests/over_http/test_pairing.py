"""Pairing, enrolment, sessions and the limit on failed attempts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from armarium.auth.attempts import FailedAttempts
from armarium.auth.tokens import DAY
from armarium.engine import Engine
from armarium.errors import RateLimited
from armarium.web.app import create_app

from .conftest import AppClient
from .test_tokens import code_of, later

OWN = {"Origin": "http://127.0.0.1:8765"}


def test_a_code_pairs_one_device_once(ask: AppClient) -> None:
    answer = ask("POST", "/api/pair/code", json={"role": "viewer"})
    code = answer.json["code"]
    assert re.fullmatch("[A-Z]{4}-[A-Z]{4}", code)
    assert (answer.json["role"], answer.json["libraries"]) == ("viewer", "all")
    paired = ask("POST", "/api/pair", token=None, json={"code": f" {code.lower()} ", "device_name": "tablet"})
    assert set(paired.json) == {"device_id", "device_token", "expires_at", "audit_id"}
    assert paired.headers["x-service-audit-id"] == paired.json["audit_id"]
    assert paired.headers["cache-control"] == "no-store"
    assert code_of(ask, paired.json["device_token"]) is None
    (row,) = ask("GET", "/api/tokens").json["items"]
    assert (row["id"], row["name"], row["role"]) == (paired.json["device_id"], "tablet", "viewer")
    second_answer = ask("POST", "/api/pair", token=None, json={"code": code})
    assert (second_answer.status, second_answer.code) == (403, "wrong_code")


def test_a_code_is_good_for_ten_minutes(ask: AppClient, monkeypatch: pytest.MonkeyPatch) -> None:
    import armarium.auth.pairing as pairing

    time = pairing.time.time
    code = ask("POST", "/api/pair/code").json["code"]
    monkeypatch.setattr(pairing.time, "time", lambda: time() + 601)
    assert ask("POST", "/api/pair", token=None, json={"code": code}).json["code"] == "wrong_code"


def test_the_enrollment_secret_makes_owner_devices_and_outlives_none(ask: AppClient) -> None:
    secret = ask("GET", "/api/pair/enrollment").json["enrollment_secret"]
    assert code_of(ask, secret) == "invalid_token"
    answer = ask("POST", "/api/pair/enroll", token=None, json={"enrollment_secret": secret}).json
    second_answer = ask(
        "POST", "/api/pair/enroll", token=None, json={"enrollment_secret": secret, "device_name": "two"}
    ).json
    assert answer["device_token"] != second_answer["device_token"]
    rows = {row["id"]: row for row in ask("GET", "/api/tokens", token=answer["device_token"]).json["items"]}
    assert (rows[answer["device_id"]]["name"], rows[answer["device_id"]]["role"]) == ("device", "owner")
    assert ask("POST", "/api/pair/enrollment/rotate").json["rotated"] is True
    refused = ask("POST", "/api/pair/enroll", token=None, json={"enrollment_secret": secret})
    assert (refused.status, refused.code) == (403, "wrong_secret")
    assert code_of(ask, answer["device_token"]) is None
    ask("DELETE", f"/api/tokens/{answer['device_id']}")
    assert code_of(ask, answer["device_token"]) == "token_revoked"
    assert code_of(ask, second_answer["device_token"]) is None


def test_five_failures_a_minute_then_wait(ask: AppClient, core_engine: Engine) -> None:
    code = ask("POST", "/api/pair/code").json["code"]
    for _ in range(5):
        assert ask("POST", "/api/pair", token=None, json={"code": "AAAA-AAAA"}).status == 403
    for path, body in (
        ("/api/pair", {"code": code}),
        ("/api/pair/enroll", {"enrollment_secret": "x"}),
        ("/api/auth/session", {"code": code}),
    ):
        reply = ask("POST", path, token=None, json=body)
        assert (reply.status, reply.code) == (429, "rate_limited")
        assert 1 <= int(reply.headers["retry-after"]) <= 60
    assert ask("GET", "/api/registry", token="wrong").status == 429
    other_answer = ask("POST", "/api/pair", token=None, json={"code": code}, client=("127.0.0.9", 1))
    assert other_answer.status == 200


def test_wrong_tokens_count_and_a_right_one_is_never_held_up(ask: AppClient) -> None:
    replies = [ask("GET", "/api/registry", token=f"wrong-{n}").status for n in range(7)]
    assert replies == [401] * 5 + [429] * 2
    assert ask("GET", "/api/registry").status == 200


def test_failures_are_forgotten_after_a_minute_and_callers_are_bounded() -> None:
    now = [0.0]
    attempts = FailedAttempts(clock=lambda: now[0])
    for _ in range(5):
        attempts.check("a")
        attempts.note_failure("a")
    with pytest.raises(RateLimited) as refused:
        attempts.check("a")
    assert refused.value.retry_after == 60
    now[0] = 59.5
    with pytest.raises(RateLimited) as refused:
        attempts.check("a")
    assert refused.value.retry_after == 1
    now[0] = 60.0
    attempts.check("a")
    for number in range(10_000):
        attempts.note_failure(str(number))
    assert len(attempts._failures) <= 4096


def cookie_of(ask: AppClient, **asked: object) -> str:
    reply = ask("POST", "/api/auth/session", **asked)  # type: ignore[arg-type]
    assert reply.status == 200, reply.body
    assert "session_token" not in reply.json
    header = reply.headers["set-cookie"]
    for word in ("HttpOnly", "SameSite=strict", "Path=/", "Max-Age=34560000"):
        assert word.lower() in header.lower()
    return header.partition(";")[0]


def test_a_session_comes_from_a_token_or_a_code_and_has_its_role(
    ask: AppClient, device: Callable[..., str]
) -> None:
    viewer = device("viewer")
    by_header = cookie_of(ask, token=viewer)
    by_body = cookie_of(ask, token=None, json={"token": viewer})
    code = ask("POST", "/api/pair/code", json={"role": "viewer"}).json["code"]
    by_code = cookie_of(ask, token=None, json={"code": code, "name": "reading room"})
    for cookie in (by_header, by_body, by_code):
        assert (
            ask("GET", "/api/registry", token=None, headers={"Cookie": f"a=b; {cookie}; c=d"}).status == 200
        )
        assert ask("GET", "/api/tokens", token=None, headers={"Cookie": cookie}).json["code"] == "owner_only"
    kinds = [row["kind"] for row in ask("GET", "/api/tokens").json["items"]]
    assert sorted(kinds) == ["device", "session", "session", "session"]


@pytest.mark.parametrize("asked", [{}, {"json": {}}])
def test_a_session_from_nothing_is_refused(ask: AppClient, asked: dict[str, object]) -> None:
    reply = ask("POST", "/api/auth/session", token=None, **asked)  # type: ignore[arg-type]
    assert (reply.status, reply.code) == (401, "missing_token")


def test_a_session_from_a_wrong_token_or_code_is_refused(ask: AppClient) -> None:
    assert ask("POST", "/api/auth/session", token="wrong").json["code"] == "invalid_token"
    assert (
        ask("POST", "/api/auth/session", token=None, json={"token": "wrong"}).json["code"] == "invalid_token"
    )
    assert (
        ask("POST", "/api/auth/session", token=None, json={"code": "AAAA-AAAA"}).json["code"] == "wrong_code"
    )


def test_a_cookie_write_needs_the_engines_own_origin(ask: AppClient) -> None:
    cookie = {"Cookie": cookie_of(ask)}
    write = {"token": None, "json": {"priority": "fast"}}
    for headers in (cookie, {**cookie, "Origin": "http://localhost:8765"}, {**cookie, "Origin": "null"}):
        reply = ask("PUT", "/api/settings/compute", headers=headers, **write)  # type: ignore[arg-type]
        assert (reply.status, reply.code) == (403, "origin_refused")
    assert ask("PUT", "/api/settings/compute", headers={**cookie, **OWN}, **write).status == 200  # type: ignore[arg-type]
    assert ask("GET", "/api/settings/compute", token=None, headers=cookie).status == 200


def test_a_cookie_holds_a_session_and_no_other_token(ask: AppClient, device: Callable[..., str]) -> None:
    reply = ask("GET", "/api/registry", token=None, headers={"Cookie": f"service_session={device()}"})
    assert (reply.status, reply.code) == (401, "invalid_token")


def test_a_session_lives_thirty_days_from_its_last_use(ask: AppClient, core_engine: Engine) -> None:
    session = cookie_of(ask).partition("=")[2]
    for _ in range(3):
        later(core_engine, 29 * DAY)
        assert code_of(ask, session) is None
    core_engine.auth.book.reload()
    assert code_of(ask, session) is None
    later(core_engine, 31 * DAY)
    assert code_of(ask, session) == "token_expired"


def test_a_session_ends_with_the_token_it_came_from(ask: AppClient, device: Callable[..., str]) -> None:
    token = device()
    (row,) = ask("GET", "/api/tokens").json["items"]
    session = cookie_of(ask, token=token).partition("=")[2]
    second = cookie_of(ask, token=session).partition("=")[2]
    assert ask("DELETE", f"/api/tokens/{row['id']}").json["sessions_ended"] == 2
    assert code_of(ask, session) == "token_revoked"
    assert code_of(ask, second) == "token_revoked"


def browser_code(ask: AppClient, **asked: object) -> str:
    reply = ask("POST", "/api/pair/code", json={"role": "owner", "browser": True}, **asked)  # type: ignore[arg-type]
    return str(reply.json["code"])


def test_a_code_for_a_browser_opens_one_session_with_all_that_its_maker_may(
    ask: AppClient, tmp_path: Path
) -> None:
    code = browser_code(ask)
    cookie = {"Cookie": cookie_of(ask, token=None, json={"code": code})}
    answer = ask("GET", "/api/auth/session", token=None, headers=cookie).json
    assert (answer["kind"], answer["role"], answer["libraries"]) == ("session", "owner", "all")
    assert answer["expires_at"]
    (row,) = ask("GET", "/api/tokens").json["items"]
    assert (row["id"], row["folders"]) == (answer["token_id"], None)
    place = {"path": str(tmp_path / "New.library")}
    new_answer = ask("POST", "/api/library", token=None, headers={**cookie, **OWN}, json=place)
    assert new_answer.status == 200, new_answer.body
    second_answer = ask("POST", "/api/auth/session", token=None, json={"code": code})
    assert (second_answer.status, second_answer.code) == (403, "wrong_code")


def test_a_code_for_a_browser_pairs_no_device(ask: AppClient) -> None:
    code = browser_code(ask)
    refused = ask("POST", "/api/pair", token=None, json={"code": code})
    assert (refused.status, refused.code) == (403, "wrong_code")
    assert cookie_of(ask, token=None, json={"code": code})


def test_a_session_of_a_link_ends_with_the_device_that_made_the_link(
    ask: AppClient, device: Callable[..., str]
) -> None:
    token = device("owner")
    (row,) = ask("GET", "/api/tokens").json["items"]
    session = cookie_of(ask, token=None, json={"code": browser_code(ask, token=token)}).partition("=")[2]
    code = browser_code(ask, token=token)
    ask("DELETE", f"/api/tokens/{row['id']}")
    assert code_of(ask, session) == "token_revoked"
    refused = ask("POST", "/api/auth/session", token=None, json={"code": code})
    assert (refused.status, refused.code) == (403, "wrong_code")


def test_a_browser_with_the_cookie_of_a_former_session_signs_in_again(ask: AppClient) -> None:
    stale = {"Cookie": "service_session=of-another-engine"}
    for _ in range(8):
        reply = ask("GET", "/api/registry", token=None, headers=stale)
        assert (reply.status, reply.code) == (401, "invalid_token")
    assert ask("POST", "/api/auth/session", token=None, headers=stale).status == 401
    assert cookie_of(ask, token=None, headers={**stale, **OWN}, json={"code": browser_code(ask)})


def test_signing_out_ends_the_session_and_no_other_token(ask: AppClient, device: Callable[..., str]) -> None:
    cookie = {"Cookie": cookie_of(ask), **OWN}
    out = ask("DELETE", "/api/auth/session", token=None, headers=cookie)
    assert (out.status, out.json["status"]) == (200, "ended")
    assert 'service_session="";' in out.headers["set-cookie"]
    answer = ask("GET", "/api/auth/session", token=None, headers=cookie)
    assert (answer.status, answer.code) == (401, "token_revoked")
    viewer = device("viewer")
    assert ask("DELETE", "/api/auth/session", token=viewer).status == 200
    assert ask("GET", "/api/auth/session", token=viewer).json["role"] == "viewer"


def test_who_is_signed_in_is_told_to_nobody_without_a_token(ask: AppClient) -> None:
    assert ask("GET", "/api/auth/session", token=None).code == "missing_token"
    assert ask("GET", "/api/auth/session").json["kind"] == "owner"


def test_a_state_folder_from_before_codes_for_browsers_and_terms_of_agents_still_opens(
    make_engine: Callable[..., Engine],
) -> None:
    before = make_engine(plugins=[], state="kept")
    with before.state.write() as conn:
        conn.exec_driver_sql("ALTER TABLE pair_code DROP COLUMN session_of")
        # Triggers name every column; they are made again when the state is opened.
        of_tokens = "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'token'"
        for (name,) in conn.exec_driver_sql(of_tokens).fetchall():
            conn.exec_driver_sql(f"DROP TRIGGER {name}")
        for column in ("model", "writes_to", "budget"):
            for table in ("token", "token__history"):
                conn.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
        conn.exec_driver_sql("UPDATE schema_version SET version = 1 WHERE family = 'auth'")
    before.close()
    client = AppClient(create_app(engine=make_engine(plugins=[], state="kept")))
    assert cookie_of(client, token=None, json={"code": browser_code(client)})
