"""Statements and entities before a model that checks: whose passages it is shown, and with which prompt."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from knowledge_desk import Desk, Page

from armarium_testing.model_provider import LoopbackProvider

MODEL = {"provider": "Loopback", "model": "tiny"}


@pytest.fixture
def provider(desk: Desk) -> Iterator[LoopbackProvider]:
    """A provider on this machine, which confirms whatever it is asked."""
    with LoopbackProvider() as running:
        running.add_to(desk.engine, "Loopback")
        running.answers = [json.dumps({"verdict": "confirm", "reasons": "It says so"})]
        yield running


def check(desk: Desk, page: Page, layer: str, **more: str) -> str:
    body = {"layer": layer, "scope_ids": [page.id], "checker": MODEL, **more}
    answer = desk.client.post("/api/check/runs", json=body)
    assert answer.status_code == 200, answer.text
    assert desk.engine.jobs.run_until_idle(desk.library, 60)
    return str(answer.json()["job_id"])


def test_a_passage_of_another_page_is_sent_only_where_that_pages_rights_allow(
    desk: Desk, provider: LoopbackProvider
) -> None:
    """A statement rests on two pages; the one that is checked may be sent, the other may not, until that is withdrawn."""
    closed, page = desk.page(name="Closed"), desk.page(("Another leaf",), name="Open")
    span = closed.at("Ana Lopez")
    statement = desk.claim(
        source_document_id=closed.id,
        source_char_start=span["char_start"],
        source_char_end=span["char_end"],
        source_ids=[page.id],
    )["id"]
    alone = desk.claim("A leaf is here", source_ids=[page.id])["id"]
    barred = desk.do("rights.set", {"target_kind": "document", "target_id": closed.id, "model_use": "none"})
    job_id = check(desk, page, "claims")
    assert [item["target_id"] for item in desk.get("/api/check/verdicts")["items"]] == [alone]
    assert "Ana Lopez" not in json.dumps([request["body"] for request in provider.asked])
    run = desk.get(f"/api/check/runs/{job_id}")
    assert (run["state"], run["total"], run["counts"]["unanswered"]) == ("done", 2, 1)
    assert statement in json.dumps(desk.get(f"/api/activity/jobs/{job_id}/log"))
    desk.client.post(f"/api/rights/{barred['id']}/withdraw")
    check(desk, page, "claims")
    assert "Ana Lopez" in json.dumps([request["body"] for request in provider.asked])


@pytest.mark.parametrize("layer", ["claims", "entities"])
def test_a_prompt_of_the_project_counts_for_statements_and_entities(
    desk: Desk, provider: LoopbackProvider, layer: str
) -> None:
    page = desk.page()
    desk.mention(page, desk.entity(), "Juan Garcia")
    desk.claim(source_ids=[page.id])
    folder = desk.library.path / "recipe"
    (folder / "strict.txt").write_text("Judge like a notary.", encoding="utf-8")
    check(desk, page, layer, prompt_file="strict.txt")
    (asked,) = provider.asked
    json_text = json.dumps(asked["body"], ensure_ascii=False)
    assert "Judge like a notary." in json_text
    assert "Juan Garcia" in json_text
    assert "Give your reasons in a sentence" not in json_text
