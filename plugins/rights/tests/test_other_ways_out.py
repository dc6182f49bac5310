"""Page material leaves by other ways than GETs too: events, datasets, exports, transfers, lines derived from
lines.
"""

from __future__ import annotations

import json
import threading
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from restricted_project import EDITOR, MACHINE, RestrictedProject
from sqlalchemy import select

from armarium.actions.change_stream import Event
from armarium.api import Forbidden, JobContext, JobKind, Library, NewJob, Principal, find_withheld, raw_of
from armarium.jobs.queue import enqueue
from armarium.principals import LOCAL_OWNER
from armarium.web.stream_routes import as_seen
from armarium_documents.api import documents
from armarium_rights.queries import applying, combine_records

Headers = dict[str, str]


@pytest.fixture
def outsider(project: RestrictedProject) -> Headers:
    """The headers of an editor who may not read restricted pages."""
    return project.token()[1]


def events_of(project: RestrictedProject, work: Callable[[], Any]) -> list[Event]:
    after = project.engine.events.seq
    work()
    return project.engine.events.since(after) or []


def list_heard(project: RestrictedProject, found: list[Event], who: Principal) -> list[str]:
    """Return the actions and jobs among *found* that a listener receives."""
    import asyncio

    async def sift() -> list[str]:
        return [
            str(item.data.get("type") or item.kind)
            for item in found
            if await as_seen(project.engine, item, who) is not None
        ]

    return asyncio.run(sift())


def test_the_change_stream_sends_an_outsider_nothing_of_a_restricted_page(project: RestrictedProject) -> None:
    page, open_page = project.hidden_page, project.open
    project.restrict(project.box)

    def work() -> None:
        for one in (page, open_page):
            project.do("document.update", {"document_id": one.id, "is_starred": True})
            project.do("representation.create", {"segment_id": one.lines[1], "text": "anew"})

    events = events_of(project, work)
    told = list_heard(project, events, EDITOR)
    assert told == ["document.update", "representation.create"]
    assert len(list_heard(project, events, LOCAL_OWNER)) == 4
    path = str(project.library.path)
    job = Event(1, "job", b'{"id":"%s"}' % _job_about(project, page.id).encode(), path)
    assert (list_heard(project, [job], EDITOR), len(list_heard(project, [job], LOCAL_OWNER))) == ([], 1)


def _job_about(project: RestrictedProject, document_id: str) -> str:
    ((job_id,),) = project.rows(
        "SELECT DISTINCT j.id FROM job j, json_tree(j.args) t WHERE t.value = ? LIMIT 1", document_id
    )
    return str(job_id)


def test_jobs_and_logs_about_a_restricted_page_are_not_listed(
    project: RestrictedProject, outsider: Headers
) -> None:
    job_id = _job_about(project, project.hidden_page.id)
    assert project.client.get(f"/api/activity/jobs/{job_id}", headers=outsider).status_code == 200
    project.restrict(project.hidden_page.id)
    for path in (f"/api/activity/jobs/{job_id}", f"/api/activity/jobs/{job_id}/log"):
        assert project.client.get(path, headers=outsider).json()["code"] == "rights_restricted"
    activity = project.client.get("/api/activity", headers=outsider)
    assert (project.hidden_page.word in activity.text, project.open.word in activity.text) == (False, True)
    assert activity.json()["withheld"] > 0


def test_the_result_of_a_job_about_many_pages_does_not_count_the_withheld_ones(
    project: RestrictedProject, outsider: Headers
) -> None:
    folder = project.do("document.create", {"name": "All"})["id"]
    pages = [project.hidden_page.id, project.open.id]
    project.do("document.move", {"ids": pages, "parent_id": folder})
    job_id = str(project.do("image.treat", {"scope_ids": [folder], "role": "binarised"})["job_id"])
    project.engine.jobs.run_until_idle(project.library, timeout=60)
    path = f"/api/activity/jobs/{job_id}"
    result = project.client.get(path).json()["result"]
    assert result["pictures"]
    assert project.client.get(path, headers=outsider).json()["result"] == result
    project.restrict(project.hidden_page.id)
    assert project.client.get(path, headers=outsider).json()["result"] is None
    assert project.client.get(path).json()["result"] == result


def test_jobs_that_name_a_page_only_through_what_is_on_it_are_not_listed(
    project: RestrictedProject, outsider: Headers
) -> None:
    page = project.hidden_page.id
    ((note,),) = project.rows("SELECT id FROM annotation WHERE document_id = ? LIMIT 1", page)
    job_id = _job_about(project, page)
    with project.library.db.write() as conn:
        args = json.dumps({"annotation_id": note})
        raw_of(conn).execute("UPDATE job SET args = ?, title = 'Its title' WHERE id = ?", (args, job_id))
    project.restrict(page)
    job = Event(1, "job", b'{"id":"%s"}' % job_id.encode(), str(project.library.path))
    assert list_heard(project, [job], EDITOR) == []
    answer = project.client.get(f"/api/activity/jobs/{job_id}", headers=outsider)
    assert answer.json()["code"] == "rights_restricted"
    assert "Its title" not in project.client.get("/api/activity/jobs", headers=outsider).text


def test_sizes_of_snapshots_are_not_told_where_something_is_withheld(
    project: RestrictedProject, outsider: Headers
) -> None:
    taken = [project.client.post("/api/snapshots", headers=who).json() for who in (outsider, None)]
    project.restrict(project.hidden_page.id)
    taken.append(project.client.post("/api/snapshots", headers=outsider).json())
    assert [item["bytes"] is None for item in taken] == [False, False, True]
    for who, told in ((outsider, False), (None, True)):
        listed = project.client.get("/api/snapshots", headers=who).json()["items"]
        assert [item["bytes"] is not None for item in listed] == [told] * 3


def test_where_a_withheld_page_lies_is_not_said(project: RestrictedProject, outsider: Headers) -> None:
    body = {"document_ids": [project.hidden_page.id, project.open.id]}
    post = project.client.post
    project.restrict(project.box)
    for who, seen in ((outsider, [project.open.id]), (None, body["document_ids"])):
        items = post("/api/documents/folders-above", json=body, headers=who).json()["items"]
        assert [item["document_id"] for item in items] == seen


def test_dataset_rows_are_filtered_for_each_caller(project: RestrictedProject, outsider: Headers) -> None:
    query = {"recursive": True, "limit": 100}
    post = project.client.post
    project.restrict(project.box)
    answer = post("/api/documents/dataset/query", json=query, headers=outsider).json()
    everything = post("/api/documents/dataset/query", json=query).json()
    assert project.hidden_page.word not in str(answer)
    assert project.hidden_page.word in str(everything)
    assert answer["total"] + answer["withheld"] == everything["total"]
    assert everything["withheld"] == 0


def test_a_table_of_descriptions_neither_shows_nor_reaches_what_is_withheld(
    project: RestrictedProject, outsider: Headers
) -> None:
    project.restrict(project.box)
    client, page = project.client, project.hidden_page.id
    for kind, path, body in (
        ("GET", "/api/documents/metadata", None), ("POST", "/api/documents/dataset/table", {"recursive": True}),
    ):  # fmt: skip
        everything, seen = (
            client.request(kind, path, json=body, headers=who).text for who in (None, outsider)
        )
        assert page in everything
        assert page not in seen
    name = client.get(f"/api/documents/{page}").json()["name"]
    for key, value in (("document.id", page), ("document.name", name)):
        table = b64encode(f"{key},place\n{value},Toledo\n".encode()).decode()
        for path in ("/plan", ""):
            answer = client.post(
                f"/api/documents/metadata{path}", json={"table": table}, headers=outsider
            ).json()
            assert (
                answer["counts"]["unmatched"],
                answer["counts"]["ambiguous"],
                answer["counts"]["new"],
            ) == (
                1,
                0,
                0,
            )
    assert "place" not in client.get(f"/api/documents/{page}").json()["attributes"]


def test_dataset_rows_withheld_are_counted_without_the_filters(
    project: RestrictedProject, outsider: Headers
) -> None:
    """Or the count would answer any question about the names and values of restricted documents."""
    project.restrict(project.box)
    told = set()
    for value in ("zyx", "zz", "abc", "note"):
        query = {"recursive": True, "filters": [{"attr": "document.name", "op": "contains", "value": value}]}
        answer = project.client.post("/api/documents/dataset/query", json=query, headers=outsider).json()
        told.add(answer["withheld"])
    ((withheld,),) = project.rows(
        "WITH RECURSIVE down(id) AS (SELECT ? UNION SELECT d.id FROM down JOIN document d"
        " ON d.parent_id = down.id OR d.alias_target_id = down.id) SELECT count(*) FROM down",
        project.box,
    )
    assert told == {withheld}
    beneath = {"recursive": False, "parent_id": None}
    top = project.client.post("/api/documents/dataset/query", json=beneath, headers=outsider).json()
    children = project.client.post("/api/documents/dataset/query", json=beneath).json()
    assert top["total"] + top["withheld"] == children["total"]


def test_an_item_of_a_canvas_that_names_a_restricted_page_is_not_shown(
    project: RestrictedProject, outsider: Headers
) -> None:
    folder = str(project.do("document.create", {"name": "Open folder"})["id"])
    for name, page in project.pages.items():
        item = {
            "folder_id": folder,
            "kind": "note",
            "text": f"{name} said",
            "payload": {"segment_id": page.lines[0]},
        }
        project.do("canvas.item_create", item)
    project.restrict(project.hidden_page.id)
    path = f"/api/canvas/folders/{folder}/layout"
    assert [item["text"] for item in project.client.get(path, headers=outsider).json()["items"]] == [
        "open said"
    ]
    assert len(project.client.get(path).json()["items"]) == 2
    assert "hidden said" not in project.client.get("/api/actions/audit", headers=outsider).text


def test_numbers_of_the_project_leave_out_what_is_withheld_and_the_trash(
    project: RestrictedProject, outsider: Headers
) -> None:
    path = "/api/library/stats"
    before = project.client.get(path).json()
    project.restrict(project.hidden_page.id)
    answer = project.client.get(path, headers=outsider).json()
    assert answer["bytes"] is None
    assert 0 < answer["segments"] < before["segments"]
    assert 0 < answer["readings"] < before["readings"]
    project.do("document.delete", {"ids": [project.hidden_page.id]})
    after = project.client.get(path).json()
    assert (after["segments"], after["readings"]) == (answer["segments"], answer["readings"])
    assert after["bytes"] > 0


def test_an_export_leaves_a_restricted_line_out_and_counts_it(
    project: RestrictedProject, outsider: Headers
) -> None:
    page = project.open
    project.restrict(page.lines[0], "segment")
    for name in ("pagexml", "alto", "tei"):
        path = f"/api/documents/{page.id}/export/{name}"
        answer = project.client.get(path, headers=outsider)
        assert (answer.status_code, "corrected" in answer.text) == (200, False), answer.text
        assert "second line" in answer.json()["content"]
        assert answer.json()["withheld"] > 0
        assert "corrected" in project.client.get(path).json()["content"]


def test_an_outsider_cannot_transfer_restricted_pages(project: RestrictedProject, tmp_path: Path) -> None:
    project.engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = project.engine.libraries.get(tmp_path / "To.library")
    project.restrict(project.hidden_page.id)

    def bring(who: Principal) -> dict[str, Any]:
        params = {"source_library": str(project.library.path), "items": [project.box], "mode": "copy"}
        return project.engine.run(target, "document.transfer", params, who).result or {}

    for who in (EDITOR, MACHINE):
        with pytest.raises(Forbidden) as refused:
            bring(who)
        assert refused.value.code == "rights_restricted"
    bring(LOCAL_OWNER)
    assert _names_seen(target, project, LOCAL_OWNER) > _names_seen(target, project, EDITOR) == 0


def test_what_holds_for_an_item_from_above_holds_for_its_copy(
    project: RestrictedProject, tmp_path: Path
) -> None:
    project.engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = project.engine.libraries.get(tmp_path / "To.library")
    page = project.hidden_page
    cut = {"left": 50, "top": 50, "width": 500, "height": 80}
    part = project.do("image.crop", {"document_id": page.id, **cut})["child"]["id"]
    elsewhere = project.do("document.create", {"name": "Elsewhere"})["id"]
    project.do("document.move", {"ids": [part], "parent_id": elsewhere})

    def limits_of_copy(item: str) -> tuple[bool, Any, list[str], Any]:
        params = {"source_library": str(project.library.path), "items": [item], "mode": "copy"}
        outcome = project.engine.run(target, "document.transfer", params, LOCAL_OWNER)
        (copy,) = (outcome.result or {})["new_items"]
        with target.db.read() as conn:
            below = select(documents.c.id).where(documents.c.parent_id == copy["id"])
            copied = conn.execute(below).scalar() if item == elsewhere else copy["id"]
            rules = combine_records(applying(conn, [copied]))
        project.engine.undo(target, [outcome.audit_id], LOCAL_OWNER)
        return rules["restricted"], rules["readers"], rules["holders"], rules["model_use"]

    free = (False, None, [], None)
    assert limits_of_copy(page.id) == free
    line = project.restrict(page.lines[0], "segment", readers=["reader"])
    assert limits_of_copy(part)[:2] == (True, ["reader"])
    project.do("rights.withdraw", {"record_id": line["id"]})
    project.restrict(project.box, readers=["reader"], holders=["The archive"])
    project.do("rights.set", {"target_kind": "library", "target_id": "library", "model_use": "local"})
    for item in (page.id, part):
        assert limits_of_copy(item) == (True, ["reader"], ["The archive"], "local")
    # The folder is free, and the part in it is not.
    assert limits_of_copy(elsewhere) == (True, ["reader"], ["The archive"], "local")


def _names_seen(library: Library, project: RestrictedProject, who: Principal) -> int:
    """Return how many nodes named after the hidden page *who* sees: its rights record is transferred with the
    page.
    """
    from armarium.api import raw_of
    from armarium.principals import asking

    with asking(who), library.db.read() as conn:
        (count,) = raw_of(conn).execute(
            "SELECT count(*) FROM document WHERE name LIKE ?", (f"%{project.hidden_page.word}%",)
        ).fetchone()  # fmt: skip
    return int(count)


def test_segments_derived_from_a_restricted_line_are_restricted(
    project: RestrictedProject, outsider: Headers
) -> None:
    page = project.open
    first = page.lines[0]
    project.restrict(first, "segment")
    result = project.do("segment.pass_create", {"document_id": page.id, "name": "Anew"})
    new_pass = result.get("id") or result["pass"]["id"]
    anchor = {"document_id": page.id, "rect": [0.12, 0.16, 0.7, 0.12]}
    second_segment = project.do(
        "segment.create", {"document_id": page.id, "pass_id": new_pass, "kind": "line", "anchor": anchor}
    )
    other_id = second_segment.get("id") or second_segment["segment"]["id"]
    assert project.client.get(f"/api/segments/{other_id}", headers=outsider).status_code == 403
    assert project.client.get(f"/api/segments/{page.lines[1]}", headers=outsider).status_code == 200
    left = {"document_id": page.id, "rect": [0.1, 0.15, 0.3, 0.15]}
    right = {"document_id": page.id, "rect": [0.5, 0.15, 0.4, 0.15]}
    ((version,),) = project.rows("SELECT version FROM segment WHERE id = ?", first)
    project.do(
        "segment.split",
        {
            "segment_id": first,
            "expected_version": version,
            "parts": [{"anchor": left}, {"anchor": right, "text": "line"}],
        },
    )
    ((new_ids,),) = project.rows(
        "SELECT new_segment_ids FROM segment_forwarding WHERE old_segment_id = ?", first
    )
    import json

    for part in json.loads(new_ids):
        assert project.client.get(f"/api/segments/{part}", headers=outsider).status_code == 403
        answer = project.client.get(f"/api/rights/effective?target_kind=segment&target_id={part}").json()
        assert answer["restricted"] is True


def test_find_withheld_answers_for_each_use(project: RestrictedProject) -> None:
    page, line = project.hidden_page.id, project.hidden_page.lines[0]
    uses = ("show", "local-model", "cloud-model", "export")

    def list_barred(target: str, who: Principal = EDITOR) -> list[str]:
        return [use for use in uses if find_withheld(project.library, who, [target], use)]

    assert list_barred(page) == []
    record = project.do(
        "rights.set", {"target_kind": "library", "target_id": "library", "model_use": "cloud"}
    )
    assert list_barred(page) == []
    project.do("rights.set", {"target_kind": "document", "target_id": project.box, "model_use": "local"})
    assert list_barred(page) == list_barred(line) == ["cloud-model"]
    project.do("rights.set", {"target_kind": "segment", "target_id": line, "model_use": "none"})
    assert list_barred(line) == list_barred(page) == ["local-model", "cloud-model", "export"]
    assert list_barred(project.hidden_page.lines[1]) == ["cloud-model"]
    project.restrict(page, readers=["a-reader"])
    assert list_barred(page) == list(uses)
    assert "show" not in list_barred(page, LOCAL_OWNER)
    assert "show" not in list_barred(page, Principal("person", "r", "viewer", token_id="a-reader"))
    assert "export" in list_barred(page, LOCAL_OWNER)
    assert list_barred(project.open.id) == []
    project.do("rights.withdraw", {"record_id": record["id"]})


def test_a_session_of_a_readers_device_reads(project: RestrictedProject) -> None:
    project.restrict(project.hidden_page.id, readers=["device-1"])
    session = Principal(
        "person", "r", "viewer", token_id="session-9", device_id="device-1", token_kind="session"
    )
    assert find_withheld(project.library, session, [project.hidden_page.id], "show") == {}


def test_concurrent_requests_of_readers_and_outsiders_do_not_mix(
    project: RestrictedProject, outsider: Headers
) -> None:
    """Connections are pooled; none keeps the rights of its last user."""
    reader_id, reader = project.token()
    project.restrict(project.hidden_page.id, readers=[reader_id])
    path = f"/api/documents/{project.hidden_page.id}"
    wrong: list[tuple[int, int]] = []

    def ask(headers: Headers, status: int) -> None:
        for _ in range(25):
            response = project.client.get(path, headers=headers).status_code
            if response != status:
                wrong.append((response, status))

    threads = [
        threading.Thread(target=ask, args=one) for one in ((reader, 200), (outsider, 403), ({}, 200)) * 2
    ]
    for thread in threads:
        thread.start()
    for number in range(20):
        project.do("document.update", {"document_id": project.open.id, "is_starred": number % 2 == 0})
    for thread in threads:
        thread.join()
    assert wrong == []


def test_artifacts_of_a_restricted_page_are_refused_by_their_own_ids(project: RestrictedProject) -> None:
    """A gap that the specification itself names: a project token could read them whatever the page's rights."""
    reader_id, reader = project.token()
    _, outsider = project.token()
    found = {
        name: [row[0] for row in project.rows("SELECT id FROM artifact WHERE document_id = ?", page.id)]
        for name, page in project.pages.items()
    }
    assert all(found.values())
    project.restrict(project.hidden_page.id, readers=[reader_id])
    edit = {"op": "delete", "indices": [0]}
    for name, refused in (("hidden", True), ("open", False)):
        for one in found[name]:
            for path in (f"/api/artifacts/{one}", f"/api/artifacts/{one}/region"):
                answer = project.client.get(path, headers=outsider)
                assert answer.status_code == (403 if refused else 200), (path, answer.text)
                assert not refused or answer.json()["code"] == "rights_restricted"
                assert project.client.get(path, headers=reader).status_code == 200
    (hidden, *_) = found["hidden"]
    changed = project.client.put(f"/api/artifacts/{hidden}/regions", json=edit, headers=outsider)
    assert (changed.status_code, changed.json()["code"]) == (403, "rights_restricted")
    with pytest.raises(Forbidden) as caught:
        project.do("artifact.edit_regions", {"artifact_id": hidden, "edit": edit}, EDITOR)
    assert caught.value.code == "rights_restricted"


def test_what_names_a_restricted_page_stays_withheld_when_the_trash_was_emptied(
    project: RestrictedProject,
) -> None:
    project.restrict(project.box)
    page = project.hidden_page
    _, viewer = project.token("viewer")
    secrets = {page.word, page.id, page.pass_id, *page.lines, project.box}

    def secrets_in(address: str, headers: dict[str, str] | None = None) -> set[str]:
        answer = project.client.get(address, headers=headers)
        assert answer.status_code == 200, answer.text
        return {secret for secret in secrets if secret in answer.text}

    addresses = ("/api/actions/audit?limit=200", "/api/activity/jobs?limit=200", "/api/activity")
    before = project.client.get(addresses[0], headers=viewer).json()["items"]
    project.do("document.delete", {"ids": [project.box]})
    project.do("document.empty_trash", {})
    assert [secrets_in(address, viewer) for address in addresses] == [set(), set(), set()]
    assert project.client.get(addresses[0], headers=viewer).json()["items"] == before
    assert secrets_in(addresses[0]) >= {page.word, page.id}


def test_how_many_jobs_run_does_not_count_those_about_what_is_restricted(project: RestrictedProject) -> None:
    _, viewer = project.token("viewer")
    reached, opened = threading.Event(), threading.Event()

    def run(job: JobContext) -> None:
        reached.set()
        opened.wait(60)

    jobs = project.engine.jobs
    project.engine.kinds.add(JobKind("gated", "cpu", "Gated", run))
    project.restrict(project.hidden_page.id)
    with project.library.db.write() as conn:
        enqueue(conn, NewJob("gated", {"document_id": project.hidden_page.id}, "Gated"))
    jobs.start()
    try:
        jobs.wake(project.library)
        assert reached.wait(60)
        for headers, running in ((None, 1), (viewer, 0)):
            lanes = project.client.get("/api/activity/jobs", headers=headers).json()["lanes"]
            assert sum(lane["running"] for lane in lanes) == running
    finally:
        opened.set()
        jobs.run_until_idle(project.library, 60)
