"""The reconciliation service of the one project that the owner lets programs on this machine look at without a token."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from knowledge_desk import Desk
from test_reconciliation import Refine

TRUSTED = {"Origin": "http://127.0.0.1:3333"}


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, Any]:
    return {"open_project": tmp_path / "Test.library", "cors_origins": TRUSTED["Origin"]}


@pytest.fixture
def refine(desk: Desk) -> Refine:
    return Refine(desk, "/api/reconcile/open/0.2")


def test_the_open_project_answers_without_a_token_and_nothing_else_does(desk: Desk, refine: Refine) -> None:
    toledo = desk.entity("Toledo")
    assert [candidate["id"] for candidate in refine.candidates(query="Toledo")] == [toledo]
    assert "/api/reconcile/open/0.2/preview?id=" in refine.ask("GET").json()["preview"]["url"]
    for path in ("/api/entities", "/api/reconcile/openly/0.2"):
        assert Refine(desk, path).ask("GET").status_code == 401
    assert refine.ask("GET", "?library=/elsewhere/Other.library").status_code == 400


def test_it_shows_what_an_unnamed_viewer_sees(desk: Desk, refine: Refine) -> None:
    page, only = desk.page(["Secret Person came"], name="Hidden"), desk.entity("Secret Person")
    desk.mention(page, only, "Secret Person")
    assert [candidate["id"] for candidate in refine.candidates(query="Secret Person")] == [only]
    desk.do("rights.set", {"target_kind": "document", "target_id": page.id, "restricted": True})
    assert refine.candidates(query="Secret Person") == []
    assert refine.ask("GET", f"/preview?id={only}").status_code in (403, 404)


def test_a_page_of_another_origin_cannot_use_it_unless_the_owner_named_it(desk: Desk, refine: Refine) -> None:
    toledo = desk.entity("Toledo")
    form: dict[str, Any] = {"data": {"queries": json.dumps({"q": {"query": "Toledo"}})}}
    ways: tuple[tuple[str, dict[str, Any]], ...] = (("GET", {}), ("POST", form), ("OPTIONS", {}))
    for origin in ("http://evil.example", "null", "http://127.0.0.1:9999"):
        for method, more in ways:
            headers = {"Origin": origin, "Access-Control-Request-Method": "POST"}
            answer: Any = refine.ask(method, headers=headers, **more)
            if (method, origin) == ("OPTIONS", "null"):
                continue
            assert (answer.status_code, answer.json()["code"]) == (403, "origin_refused"), (method, origin)
            assert "access-control-allow-origin" not in answer.headers
    answer = refine.ask("GET", "/suggest/entity?prefix=tol", headers=TRUSTED)
    assert [one["id"] for one in answer.json()["result"]] == [toledo]
    assert answer.headers["access-control-allow-origin"] == TRUSTED["Origin"]


def test_nobody_elsewhere_is_answered_and_no_other_name_of_this_machine(refine: Refine) -> None:
    through_a_proxy = refine.ask("GET", headers={"X-Forwarded-For": "192.0.2.7"})
    assert through_a_proxy.status_code == 403
    assert "Put a viewer's token in the place of `open`" in through_a_proxy.json()["detail"]
    assert refine.ask("GET", headers={"Host": "rebound.example"}).json()["code"] == "host_refused"
