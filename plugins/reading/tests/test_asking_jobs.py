"""Reading lines with a provider's model is a job like any other: killed and resumed, corrected, and undone as
one set.
"""

from __future__ import annotations

import base64
import io
import time
from typing import Any

import pytest
from gateway_helpers import episodes
from PIL import Image
from reading_project import ReadingProject

from armarium.api import Engine, ServiceError, shown_state
from armarium.jobs import waits
from armarium.principals import LOCAL_OWNER
from armarium_reading.api import standing_of
from armarium_reading.jobs import asking
from armarium_testing.model_provider import OWNER, Answer, LoopbackProvider


def found_page(project: ReadingProject, name: str = "1.png") -> str:
    """Create a page with the two lines that the fake reader finds."""
    page = project.page(name=name)
    project.job("reading.find_lines", scope_ids=[page])
    return page


def pause_jobs(engine: Engine, paused: bool) -> None:
    """Pause or resume the start of jobs."""
    engine.run(None, "background.pause", {"paused": paused}, OWNER)


def sent_image(asked: dict[str, Any]) -> Image.Image:
    url = asked["body"]["messages"][-1]["content"][0]["image_url"]["url"]
    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


def test_each_line_is_one_call(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = ["  Muy señor\nmío "]
    job_id, row = project.job("reading.read_lines", scope_ids=[page], provider="loopback", language="es")
    assert (row["state"], row["lane"], row["result"]["lines"]) == ("done", "local-model", 2)
    assert project.readings(page) == ["Muy señor mío", "Muy señor mío"]
    # Each line is 80 by 20 pixels, shown with a margin of 15% of its height.
    assert [sent_image(request).size for request in provider.asked] == [(86, 26), (86, 26)]
    assert "(BCP 47)" in provider.asked[0]["body"]["messages"][-1]["content"][1]["text"]
    calls = [episode for episode in episodes(project) if episode["provider"] == "Loopback"]
    assert len({call["segment_id"] for call in calls}) == 2
    rows = project.rows(
        "SELECT producer_tool, producer_model, producer_run_id, provenance_kind FROM content_representation "
        "WHERE content = 'Muy señor mío'"
    )
    assert rows == [("Loopback", "tiny", job_id, "workflow")] * 2


def test_lines_are_read_corrected_and_undone(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = ["Muy senor mio"]
    project.job("reading.read_lines", scope_ids=[page], provider="Loopback")
    first, second = (episode for episode in episodes(project) if episode["provider"] == "Loopback")
    step = project.engine.run(
        project.library,
        "representation.create",
        {"segment_id": first["segment_id"], "text": "Muy señor mío"},
        LOCAL_OWNER,
    )
    with project.library.db.read() as conn:
        assert standing_of(conn, first["id"]).corrections == {first["segment_id"]: "Muy señor mío"}
        assert standing_of(conn, second["id"]).corrections == {}
    project.engine.undo(project.library, [step.audit_id], LOCAL_OWNER)
    rows = project.rows("SELECT id FROM audit WHERE action_name = 'reading.take'")[0][0]
    project.engine.undo(project.library, [rows], LOCAL_OWNER)
    assert project.readings(page) == []
    with project.library.db.read() as conn:
        assert standing_of(conn, first["id"]).corrections == {}


def test_a_page_whose_provider_fails_is_named_and_the_others_go_on(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback", "local-server")
    pages = [found_page(project, "a.png"), found_page(project, "b.png")]
    broken = Answer(body=b"<html>")
    provider.answers = [broken, broken, "read"]
    _, row = project.job("reading.read_lines", scope_ids=pages, provider="Loopback")
    assert (row["state"], row["result"]["pages"]) == ("done", 1)
    (failed,) = row["result"]["failed"]
    assert (failed["name"], "not with JSON" in failed["why"]) == ("a.png", True)
    assert project.readings(pages[1]) == ["read", "read"]


def test_a_key_that_expires_stops_the_job_at_its_page_and_a_retry_goes_on_from_there(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "AT_ONCE", 1)
    provider.add_to(project.engine, "Loopback")
    pages = [found_page(project, f"{name}.png") for name in "abc"]
    provider.answers = ["read", "read", Answer(status=401, body=b"{}")]
    job_id, row = project.job("reading.read_lines", scope_ids=pages, provider="Loopback")
    assert (row["state"], row["reason_code"]) == ("failed", "provider_refused")
    assert "Loopback refused the key (401)." in row["reason"]
    assert "It stopped at b.png, page 2 of 3. What was done before stays" in row["reason"]
    assert [len(project.readings(page)) for page in pages] == [2, 0, 0]
    provider.answers = ["read again"]
    project.run("job.retry", {"job_id": job_id})
    assert project.engine.jobs.run_until_idle(project.library)
    assert project.job_row(job_id)["result"]["pages"] == 3
    assert [project.readings(page) for page in pages] == [
        ["read"] * 2,
        ["read again"] * 2,
        ["read again"] * 2,
    ]


def test_a_provider_that_was_never_reached_fails_the_job_and_one_that_goes_away_is_waited_for(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "AT_ONCE", 1)
    pages = [found_page(project, f"{name}.png") for name in "ab"]
    with LoopbackProvider() as gone:
        gone.add_to(project.engine, "Gone")
    _, row = project.job("reading.read_lines", scope_ids=pages, provider="Gone")
    assert (row["state"], row["reason_code"]) == ("failed", "provider_unreachable")
    assert "Check that it runs" in row["reason"]
    assert "It stopped at a.png, page 1 of 2." in row["reason"]

    provider.add_to(project.engine, "Loopback")

    def answer_first_page(_request: dict[str, Any]) -> Answer:
        if project.readings(pages[0]):
            raise ConnectionResetError
        return Answer("read")

    monkeypatch.setattr(provider, "next_answer", answer_first_page)
    started = {"scope_ids": pages, "provider": "Loopback"}
    job_id = str(project.run("reading.read_lines", started)["job_id"])
    project.engine.jobs.run_until_idle(project.library, timeout=10)
    row = project.job_row(job_id)
    assert (row["state"], row["reason_code"]) == ("waiting", "retry-later")
    assert "Loopback cannot be asked." in row["reason"]


def test_what_a_job_could_not_do_is_said_of_it_when_it_is_done(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback", "local-server")
    pages = [found_page(project, "a.png"), found_page(project, "b.png")]
    provider.answers = [Answer(body=b"<html>"), Answer(body=b"<html>"), "read"]
    _, row = project.job("reading.read_lines", scope_ids=pages, provider="Loopback")
    assert row["state"] == "done"
    assert row["reason"].startswith("Could not do 1 of 2 pages; the log says why. The first: a.png:")


def test_lines_that_came_back_empty_are_said_of_the_job(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = [""]
    _, row = project.job("reading.read_lines", scope_ids=[page], provider="Loopback")
    assert (row["state"], project.readings(page)) == ("done", [])
    assert row["reason"] == "2 of 2 lines came back empty and have no reading of it."


def test_a_job_says_for_whom_it_waits_and_how_long(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "TOLD_AFTER", 0.0)
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = [Answer("read", seconds=2.0)]
    job_id = str(project.run("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})["job_id"])
    said = set()
    deadline = time.monotonic() + 60
    while project.job_row(job_id)["state"] in ("waiting", "running") and time.monotonic() < deadline:
        project.engine.jobs.run_until_idle(project.library, timeout=0.1)
        with project.library.db.read() as conn:
            said.add(shown_state(project.engine, project.library, conn, job_id))
    reasons = [reason for state, reason in said if state == "running" and reason]
    assert reasons
    assert all("waiting for an answer from Loopback" in reason for reason in reasons)
    assert project.job_row(job_id)["reason"] is None


def test_a_busy_provider_postpones_the_job(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = [Answer(status=429, body=b"", headers={"retry-after": "900"})]
    job_id = str(project.run("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})["job_id"])
    project.engine.jobs.run_until_idle(project.library)
    row = project.job_row(job_id)
    assert (row["state"], row["reason_code"]) == ("waiting", "retry-later")


def test_a_line_that_was_answered_is_not_asked_again(
    project: ReadingProject, provider: LoopbackProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job interrupted within a page takes answers from the ledger when it resumes, so none is paid for
    twice.
    """
    monkeypatch.setattr(asking, "AT_ONCE", 1)
    provider.add_to(project.engine, "Loopback")
    page = found_page(project)
    provider.answers = ["first", Answer(status=429, body=b"", headers={"retry-after": "61"}), "second"]
    job_id = str(project.run("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})["job_id"])
    project.engine.jobs.run_until_idle(project.library)
    assert (len(provider.asked), project.readings(page)) == (2, [])
    with project.library.db.write() as conn:
        conn.exec_driver_sql("UPDATE job SET not_before = NULL WHERE id = ?", (job_id,))
    assert project.engine.jobs.run_until_idle(project.library)
    assert (project.job_row(job_id)["state"], len(provider.asked)) == ("done", 3)
    assert project.readings(page) == ["first", "second"]


def test_a_page_restricted_before_its_turn_is_skipped(
    project: ReadingProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Readers on this machine are models too."""
    first, second = project.page(name="a.png"), project.page(name="b.png")

    def withhold(_library: Any, _principal: Any, ids: list[str], use: str) -> dict[str, str]:
        return {first: "No model may have it."} if first in ids and use == "local-model" else {}

    pause_jobs(project.engine, True)
    started = {"scope_ids": [first, second], "reader": "fake"}
    job_id = str(project.run("reading.read_pages", started)["job_id"])
    monkeypatch.setattr("armarium_reading.permission.find_withheld", withhold)
    pause_jobs(project.engine, False)
    project.engine.jobs.run_until_idle(project.library)
    result = project.job_row(job_id)["result"]
    assert (result["skipped"], result["failed"]) == (1, [])
    assert (len(project.passes(first)), len(project.passes(second))) == (0, 1)
    assert [episode["document_id"] for episode in episodes(project)] == [second]


def test_a_provider_switched_off_before_a_page_is_asked_no_more(
    engine: Engine, project: ReadingProject, provider: LoopbackProvider
) -> None:
    identity = provider.add_to(engine, "Loopback")
    page = found_page(project)
    pause_jobs(engine, True)
    job_id = str(project.run("reading.read_lines", {"scope_ids": [page], "provider": "Loopback"})["job_id"])
    engine.run(None, "provider.update", {"provider_id": identity, "enabled": False}, OWNER)
    pause_jobs(engine, False)
    engine.jobs.run_until_idle(project.library)
    row = project.job_row(job_id)
    assert (row["state"], provider.asked) == ("failed", [])
    assert "switched off" in row["reason"]
    # A retry after the provider was enabled again reads what could not be read.
    engine.run(None, "provider.update", {"provider_id": identity, "enabled": True}, OWNER)
    provider.answers = ["read"]
    engine.run(project.library, "job.retry", {"job_id": job_id}, LOCAL_OWNER)
    assert engine.jobs.run_until_idle(project.library)
    assert (project.job_row(job_id)["state"], project.readings(page)) == ("done", ["read", "read"])


def test_a_job_none_of_whose_pages_could_be_read_reads_them_when_it_is_retried(
    project: ReadingProject, provider: LoopbackProvider
) -> None:
    provider.add_to(project.engine, "Loopback", "local-server")
    pages = [found_page(project, "a.png"), found_page(project, "b.png")]
    provider.answers = [Answer(body=b"<html>")]
    job_id = str(project.run("reading.read_lines", {"scope_ids": pages, "provider": "Loopback"})["job_id"])
    project.engine.jobs.run_until_idle(project.library)
    assert project.job_row(job_id)["state"] == "failed"
    provider.answers = ["read"]
    project.run("job.retry", {"job_id": job_id})
    assert project.engine.jobs.run_until_idle(project.library)
    assert project.job_row(job_id)["result"]["pages"] == 2
    assert [project.readings(page) for page in pages] == [["read", "read"]] * 2


def test_impossible_starts_are_refused(project: ReadingProject, provider: LoopbackProvider) -> None:
    provider.add_to(project.engine, "Cloud", host="http://203.0.113.9")
    provider.add_to(project.engine, "Keyless", "openai", key=None)
    provider.add_to(project.engine, "Idle", enabled=False)
    off = provider.add_to(project.engine, "Off")
    project.engine.run(None, "provider.update", {"provider_id": off, "enabled": False}, OWNER)
    page = found_page(project)
    pause_jobs(project.engine, True)
    for stated, status, code in (
        ({"provider": "Cloud"}, 403, "pages_may_not_leave"),
        ({"provider": "Nobody"}, 404, "unknown_provider"),
        ({"provider": "Cloud", "model": "huge"}, 404, "unknown_model"),
        ({"provider": "Keyless"}, 409, "key_needed"),
        ({"provider": "Idle"}, 403, "provider_off"),
        ({"provider": "Off"}, 403, "provider_off"),
    ):
        with pytest.raises(ServiceError) as caught:
            project.run("reading.read_lines", {"scope_ids": [page], **stated})
        assert (caught.value.status, caught.value.code) == (status, code)
    started = {"scope_ids": [page], "provider": "Cloud", "pages_may_leave": True}
    job_id = str(project.run("reading.read_lines", started)["job_id"])
    assert project.job_row(job_id)["lane"] == "network"
