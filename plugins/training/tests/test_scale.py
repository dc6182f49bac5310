"""Reading at scale: shards on this machine and at a place of the tests' own, whose workers die, hang and answer wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import training_readers
from training_desk import Desk

from armarium.api import Invalid
from armarium_reading.api import READERS
from armarium_source_model.api import list_passes
from armarium_training.compute import GROUP, Compute, FarState, LocalCompute, Shard
from armarium_training.jobs import scale as jobs

NOWHERE = "f" * 32


class Elsewhere(LocalCompute):
    """Another machine, as far as the engine knows; *faults* are met in turn, one for each shard that is asked for."""

    name, label, is_here = "elsewhere", "Elsewhere", False
    faults: list[str] = []
    asked: list[int] = []
    cancelled: list[str] = []

    def submit(self, shard: Shard, attempt: int) -> str:
        if self.faults and self.faults[0] == "full":
            self.faults.pop(0)
            raise Invalid("There is no room there.")
        return super().submit(shard, attempt)

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        self.asked.append(len(far_ids))
        answer = super().ask(far_ids)
        for far_id, state in list(answer.items()):
            if state.state != "done" or not self.faults:
                continue
            fault = self.faults.pop(0)
            assert state.result is not None
            if fault == "died":
                answer[far_id] = FarState("failed", "It ran out of memory.", ["a"] * 9)
            elif fault == "hangs":
                answer[far_id] = FarState("submitted")
            elif fault == "other shard":
                answer[far_id] = FarState("done", result={**state.result, "number": 99})
            elif fault == "nonsense":
                answer[far_id] = FarState("done", result={"pages": 3})
            elif fault == "silent":
                answer[far_id] = FarState("failed")
            elif fault == "half":
                pages = dict(list(state.result["pages"].items())[1:])
                answer[far_id] = FarState("done", result={**state.result, "pages": {**pages, NOWHERE: {}}})
        return answer

    def cancel(self, far_ids: Sequence[str]) -> None:
        self.cancelled.extend(far_ids)


@pytest.fixture(autouse=True)
def places(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    Elsewhere.faults, Elsewhere.asked, Elsewhere.cancelled = [], [], []
    desk.engine.drivers.give(GROUP, "elsewhere", Elsewhere)


def start(desk: Desk, scope: Sequence[str], **more: Any) -> str:
    body = {"scope_ids": list(scope), "card": "careful", "flavor": "local", **more}
    answer = desk.client.post("/api/reading-at-scale", json=body)
    assert answer.status_code == 200, answer.text
    return str(answer.json()["job_id"])


def look(desk: Desk, job_id: str) -> dict[str, Any]:
    desk.engine.jobs.run_until_idle(desk.library)
    answer: dict[str, Any] = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
    return answer


def passes(desk: Desk) -> list[tuple[Any, ...]]:
    return desk.rows(
        "SELECT document_id, name, provenance_kind, import_format FROM segment_pass WHERE import_checksum IS NOT NULL"
    )


def test_pages_are_read_in_shards_and_land_as_imports(desk: Desk) -> None:
    pages = [desk.picture(2) for _ in range(5)]
    told = look(desk, start(desk, pages, shard_size=2, pass_name="Far"))
    assert (told["state"], told["step"]) == ("done", "done"), told
    assert told["counts"] == {"pending": 0, "submitted": 0, "landed": 3, "failed": 0}
    assert told["package"] == {"sources": 5, "shards": 3, "skipped": []}
    assert told["landing"] == {"landed": 5, "already": 0, "unread": 0, "set_aside": 0}
    assert sorted(passes(desk)) == sorted((page, "Far", "external_import", "import") for page in pages)
    texts = desk.rows("SELECT content FROM content_representation ORDER BY content")
    assert [text for (text,) in texts] == ["line 0"] * 5 + ["line 1"] * 5
    again = look(desk, start(desk, pages, shard_size=3, pass_name="Far"))
    assert again["landing"] == {"landed": 0, "already": 5, "unread": 0, "set_aside": 0}
    assert len(passes(desk)) == 5


def test_what_lands_is_never_the_working_pass(desk: Desk) -> None:
    """Neither beside a machine's reading, however old, nor on a page that nobody else has read."""
    read_before, _ = desk.page(["one"])
    bare = desk.picture(2)
    told = look(desk, start(desk, [read_before, bare]))
    assert told["landing"]["landed"] == 2, told
    with desk.library.db.read() as conn:
        working = {
            page: {page_pass["name"]: page_pass["working"] for page_pass in list_passes(conn, page)}
            for page in (read_before, bare)
        }
    landed = "Read at scale by careful"
    assert working == {read_before: {"Read by teacher": True, landed: False}, bare: {landed: False}}
    assert desk.rows("SELECT count(*) FROM job WHERE kind = 'read-at-scale'") == [(1,)]


def test_the_projects_setting_says_where_pages_are_read_unless_the_request_does(desk: Desk) -> None:
    page = desk.picture(2)
    desk.do("library.set", {"compute_place": "local"})
    body = {"scope_ids": [page], "card": "careful"}
    answer = desk.client.post("/api/reading-at-scale", json=body)
    assert look(desk, answer.json()["job_id"])["flavor"] == "local"
    refused = desk.client.post("/api/reading-at-scale", json={**body, "flavor": "elsewhere:big"})
    assert refused.status_code == 403
    desk.do("library.set", {"compute_place": "elsewhere:big"})
    assert desk.client.post("/api/reading-at-scale", json=body).status_code == 403
    desk.do("library.set", {"compute_place": None})
    assert (
        desk.client.post("/api/reading-at-scale", json={**body, "pages_may_leave": True}).status_code == 412
    )


def test_a_reader_of_lines_reads_those_that_are_there(desk: Desk) -> None:
    page, _ = desk.page(["one", "two"])
    bare = desk.picture(1)
    told = look(desk, start(desk, [page, bare], card="hand", longest=300))
    assert told["landing"]["landed"] == 1
    assert [entry["document_id"] for entry in told["package"]["skipped"]] == [bare]
    (rect,) = {
        row[0] for row in desk.rows("SELECT count(*) FROM segment WHERE kind = 'line' GROUP BY pass_id")
    }
    assert rect == 2


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("died", "memory"),
        ("other shard", "99"),
        ("nonsense", "not a result"),
        ("silent", "without a reason"),
        ("full", "no room"),
    ],
)
def test_a_shard_that_fails_is_named_and_sent_again_alone(desk: Desk, fault: str, why: str) -> None:
    Elsewhere.seconds_between = 0.0
    Elsewhere.faults = [fault]
    pages = [desk.picture(2) for _ in range(2)]
    job_id = start(desk, pages, shard_size=1, flavor="elsewhere:big", pages_may_leave=True)
    going = desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    assert (going.status_code, going.json()["code"]) == (409, "still_going")
    told = look(desk, job_id)
    assert (told["state"], told["counts"]["failed"], told["landing"]["landed"]) == ("failed", 1, 1), told
    (shard,) = told["failed_shards"].values()
    assert why in shard["why"]
    assert shard["tries"] == 1
    assert len(shard["last_lines"]) <= 5
    second_answer = desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    assert second_answer.status_code == 200, second_answer.text
    told = look(desk, job_id)
    assert (told["state"], told["landing"]["landed"], told["counts"]["landed"]) == ("done", 2, 2), told
    none = desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    assert (none.status_code, none.json()["code"]) == (409, "none_failed")


def test_a_shard_that_hangs_is_asked_again_and_half_a_result_lands_half(desk: Desk) -> None:
    Elsewhere.seconds_between = 0.0
    Elsewhere.faults = ["hangs", "half"]
    pages = [desk.picture(2) for _ in range(3)]
    job_id = start(desk, pages, flavor="elsewhere:big", pages_may_leave=True)
    told = look(desk, job_id)
    assert told["landing"] == {"landed": 2, "already": 0, "unread": 1, "set_aside": 0}
    assert Elsewhere.asked == [1, 1]
    # What came back without a result can be sent again.
    assert (told["state"], told["failed_shards"]["0"]["why"]) == (
        "failed",
        "1 of 3 pages came back without a result; the others were added.",
    )
    desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    told = look(desk, job_id)
    assert (told["state"], told["landing"]["landed"], told["landing"]["unread"]) == ("done", 3, 0)
    assert len(passes(desk)) == 3


def test_a_page_deleted_meanwhile_is_set_aside(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [desk.picture(2) for _ in range(2)]
    land = jobs.Scale._land

    def deleting(self: Any, row: Any, results: dict[str, Any]) -> None:
        desk.do("document.delete", {"ids": [pages[0]]})
        land(self, row, results)

    monkeypatch.setattr(jobs.Scale, "_land", deleting)
    told = look(desk, start(desk, pages))
    assert told["landing"] == {"landed": 1, "already": 0, "unread": 0, "set_aside": 1}


def test_killed_in_the_middle_of_landing_nothing_lands_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = [desk.picture(2) for _ in range(4)]
    job_id = start(desk, pages, shard_size=4)
    act = jobs.JobContext.act
    done: list[int] = []

    def dying(self: Any, *given: Any, **more: Any) -> Any:
        outcome = act(self, *given, **more)
        done.append(1)
        if len(done) == 2:
            raise RuntimeError("killed")
        return outcome

    with monkeypatch.context() as patched:
        patched.setattr(jobs.JobContext, "act", dying)
        assert look(desk, job_id)["state"] == "failed"
    desk.client.post(f"/api/activity/jobs/{job_id}/retry")
    told = look(desk, job_id)
    assert (told["state"], told["landing"]["landed"], len(passes(desk))) == ("done", 4, 4), told


def test_cancelled_it_is_cancelled_there_too(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    Elsewhere.seconds_between = 0.0
    Elsewhere.faults = ["hangs"]
    page = desk.picture(2)
    job_id = start(desk, [page], flavor="elsewhere:big", pages_may_leave=True)

    def cancelling(self: Any) -> None:
        desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/cancel")
        self.job.check()

    monkeypatch.setattr(jobs.Compute, "wait", cancelling)
    told = look(desk, job_id)
    assert told["state"] == "cancelled"
    assert Elsewhere.cancelled == ["local-0-1"]


def test_pages_leave_only_where_that_was_said_and_rights_allow_it(desk: Desk) -> None:
    page, local = desk.picture(2), desk.picture(2)
    desk.do("rights.set", {"target_kind": "document", "target_id": local, "model_use": "local"})
    body: dict[str, Any] = {"scope_ids": [page, local], "card": "careful"}
    for more, status, code in (
        ({"scope_ids": []}, 422, "invalid_request"),
        ({"scope_ids": [NOWHERE]}, 404, None),
        ({"card": "nobody"}, 422, "cannot_run_there"),
        ({"reader": "vlm", "card": "careful"}, 422, "cannot_run_there"),
        ({"timeout": "soon"}, 422, "bad_timeout"),
        ({}, 403, "pages_may_leave"),
        ({"flavor": "elsewhere:big"}, 403, "pages_may_leave"),
        ({"flavor": "nowhere:big"}, 422, "cannot_run_there"),
        ({"pages_may_leave": True}, 412, "no_hub_token"),
        ({"pages_may_leave": True, "flavor": "local", "shard_size": 0}, 422, "invalid_request"),
    ):
        answer = desk.client.post("/api/reading-at-scale", json={**body, **more})
        assert answer.status_code == status, (more, answer.text)
        assert code is None or answer.json()["code"] == code
    assert desk.rows("SELECT 1 FROM job WHERE kind = 'read-at-scale'") == []
    Elsewhere.seconds_between = 0.0
    told = look(desk, start(desk, [page, local], flavor="elsewhere:big", pages_may_leave=True))
    assert [entry["document_id"] for entry in told["package"]["skipped"]] == [local]
    assert told["landing"]["landed"] == 1
    for path in ("", "/cancel", "/resend-failed"):
        ask = desk.client.post if path else desk.client.get
        assert ask(f"/api/reading-at-scale/jobs/{NOWHERE}{path}").json()["code"] == "unknown_reading"


def test_a_worker_that_dies_fails_its_shard(
    desk: Desk, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARMARIUM_TEST_MARK", str(tmp_path / "mark"))
    page = desk.picture(2)
    job_id = start(desk, [page], card="dying")
    told = look(desk, job_id)
    assert told["counts"]["failed"] == 1
    assert "ended unexpectedly" in told["failed_shards"]["0"]["why"]
    desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed")
    assert look(desk, job_id)["landing"]["landed"] == 1


def test_a_page_that_is_refused_is_unread(desk: Desk) -> None:
    told = look(desk, start(desk, [desk.picture(2)], card="refusing"))
    assert (told["state"], told["landing"]["unread"]) == ("failed", 1)
    assert told["failed_shards"]["0"]["why"].startswith("1 of 1 pages came back without a result")


def test_the_base_of_places_of_compute_does_nothing_by_itself() -> None:
    assert Compute.price_per_hour_usd("t4-small") is None
    assert Compute.why_not("t4-small") is None
    assert Compute.stays_here("t4-small") is False


def test_a_reading_of_which_no_page_could_be_sent_says_so(desk: Desk) -> None:
    box = desk.do("document.create", {"name": "Bare"})["id"]
    bare = str(desk.do("document.create", {"name": "2.png", "doc_type": "page", "parent_id": box})["id"])
    told = look(desk, start(desk, [bare]))
    assert (told["state"], told["counts"]["landed"], told["counts"]["failed"]) == ("failed", 0, 1)
    assert told["failed_shards"]["0"]["why"].startswith("None of its pages could be sent. ")
    assert told["reason"]
