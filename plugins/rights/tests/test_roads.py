"""Page material leaves by other ways than GETs too: events, datasets, exports, transfers, lines derived from
lines.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rights_ground import EDITOR, MACHINE, Ground

from armarium.actions.change_stream import Event
from armarium.api import Forbidden, Library, Principal, find_withheld
from armarium.principals import LOCAL_OWNER
from armarium.web.stream_routes import as_seen

Headers = dict[str, str]


@pytest.fixture
def stranger(ground: Ground) -> Headers:
    """The headers of an editor who may not read restricted pages."""
    return ground.token()[1]


def events_of(ground: Ground, work: Callable[[], Any]) -> list[Event]:
    after = ground.engine.events.seq
    work()
    return ground.engine.events.since(after) or []


def list_heard(ground: Ground, found: list[Event], who: Principal) -> list[str]:
    """Return the actions and jobs among *found* that a listener receives."""
    import asyncio

    async def sift() -> list[str]:
        return [
            str(one.data.get("type") or one.kind)
            for one in found
            if await as_seen(ground.engine, one, who) is not None
        ]

    return asyncio.run(sift())


def test_the_change_stream_tells_a_stranger_nothing_of_a_restricted_page(ground: Ground) -> None:
    page, other = ground.hidden_page, ground.open
    ground.restrict(ground.box)

    def work() -> None:
        for one in (page, other):
            ground.do("document.update", {"document_id": one.id, "is_starred": True})
            ground.do("representation.create", {"segment_id": one.lines[1], "text": "anew"})

    found = events_of(ground, work)
    told = list_heard(ground, found, EDITOR)
    assert told == ["document.update", "representation.create"]
    assert len(list_heard(ground, found, LOCAL_OWNER)) == 4
    path = str(ground.library.path)
    job = Event(1, "job", b'{"id":"%s"}' % _job_about(ground, page.id).encode(), path)
    assert (list_heard(ground, [job], EDITOR), len(list_heard(ground, [job], LOCAL_OWNER))) == ([], 1)


def _job_about(ground: Ground, document_id: str) -> str:
    ((job_id,),) = ground.rows(
        "SELECT DISTINCT j.id FROM job j, json_tree(j.args) t WHERE t.value = ? LIMIT 1", document_id
    )
    return str(job_id)


def test_jobs_and_logs_about_a_restricted_page_are_not_listed(ground: Ground, stranger: Headers) -> None:
    job_id = _job_about(ground, ground.hidden_page.id)
    assert ground.client.get(f"/api/activity/jobs/{job_id}", headers=stranger).status_code == 200
    ground.restrict(ground.hidden_page.id)
    for path in (f"/api/activity/jobs/{job_id}", f"/api/activity/jobs/{job_id}/log"):
        assert ground.client.get(path, headers=stranger).json()["code"] == "rights_restricted"
    activity = ground.client.get("/api/activity", headers=stranger)
    assert (ground.hidden_page.word in activity.text, ground.open.word in activity.text) == (False, True)
    assert activity.json()["withheld"] > 0


def test_the_columns_of_a_dataset_are_of_all_and_sifted_for_each(ground: Ground, stranger: Headers) -> None:
    query = {"recursive": True, "limit": 100}
    post = ground.client.post
    ground.restrict(ground.box)
    seen = post("/api/documents/dataset/query", json=query, headers=stranger).json()
    everything = post("/api/documents/dataset/query", json=query).json()
    assert ground.hidden_page.word not in str(seen)
    assert ground.hidden_page.word in str(everything)
    assert seen["total"] + seen["withheld"] == everything["total"]
    assert everything["withheld"] == 0


def test_an_export_leaves_a_restricted_line_out_and_counts_it(ground: Ground, stranger: Headers) -> None:
    page = ground.open
    ground.restrict(page.lines[0], "segment")
    for name in ("pagexml", "alto", "tei"):
        path = f"/api/documents/{page.id}/export/{name}"
        answer = ground.client.get(path, headers=stranger)
        assert (answer.status_code, "corrected" in answer.text) == (200, False), answer.text
        assert "second line" in answer.json()["content"]
        assert answer.json()["withheld"] > 0
        assert "corrected" in ground.client.get(path).json()["content"]


def test_a_stranger_takes_nothing_restricted_to_another_project(ground: Ground, tmp_path: Path) -> None:
    ground.engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = ground.engine.libraries.get(tmp_path / "To.library")
    ground.restrict(ground.hidden_page.id)

    def bring(who: Principal) -> dict[str, Any]:
        params = {"source_library": str(ground.library.path), "items": [ground.box], "mode": "copy"}
        return ground.engine.run(target, "document.transfer", params, who).result or {}

    for who in (EDITOR, MACHINE):
        with pytest.raises(Forbidden) as refused:
            bring(who)
        assert refused.value.code == "rights_restricted"
    bring(LOCAL_OWNER)
    assert _names_seen(target, ground, LOCAL_OWNER) > _names_seen(target, ground, EDITOR) == 0


def _names_seen(library: Library, ground: Ground, who: Principal) -> int:
    """Return how many nodes named after the hidden page *who* sees: its rights record is transferred with the
    page.
    """
    from armarium.api import raw_of
    from armarium.principals import asking

    with asking(who), library.db.read() as conn:
        (count,) = raw_of(conn).execute(
            "SELECT count(*) FROM document WHERE name LIKE ?", (f"%{ground.hidden_page.word}%",)
        ).fetchone()  # fmt: skip
    return int(count)


def test_what_is_made_of_a_restricted_line_is_restricted(ground: Ground, stranger: Headers) -> None:
    page = ground.open
    first = page.lines[0]
    ground.restrict(first, "segment")
    made = ground.do("segment.pass_create", {"document_id": page.id, "name": "Anew"})
    new_pass = made.get("id") or made["pass"]["id"]
    anchor = {"document_id": page.id, "rect": [0.12, 0.16, 0.7, 0.12]}
    again = ground.do(
        "segment.create", {"document_id": page.id, "pass_id": new_pass, "kind": "line", "anchor": anchor}
    )
    other_id = again.get("id") or again["segment"]["id"]
    assert ground.client.get(f"/api/segments/{other_id}", headers=stranger).status_code == 403
    assert ground.client.get(f"/api/segments/{page.lines[1]}", headers=stranger).status_code == 200
    left = {"document_id": page.id, "rect": [0.1, 0.15, 0.3, 0.15]}
    right = {"document_id": page.id, "rect": [0.5, 0.15, 0.4, 0.15]}
    ((version,),) = ground.rows("SELECT version FROM segment WHERE id = ?", first)
    ground.do(
        "segment.split",
        {
            "segment_id": first,
            "expected_version": version,
            "parts": [{"anchor": left}, {"anchor": right, "text": "line"}],
        },
    )
    ((new_ids,),) = ground.rows(
        "SELECT new_segment_ids FROM segment_forwarding WHERE old_segment_id = ?", first
    )
    import json

    for part in json.loads(new_ids):
        assert ground.client.get(f"/api/segments/{part}", headers=stranger).status_code == 403
        found = ground.client.get(f"/api/rights/effective?target_kind=segment&target_id={part}").json()
        assert found["restricted"] is True


def test_one_function_says_what_may_be_done(ground: Ground) -> None:
    page, line = ground.hidden_page.id, ground.hidden_page.lines[0]
    uses = ("show", "local-model", "cloud-model", "export")

    def list_barred(target: str, who: Principal = EDITOR) -> list[str]:
        return [use for use in uses if find_withheld(ground.library, who, [target], use)]

    assert list_barred(page) == []
    record = ground.do("rights.set", {"target_kind": "library", "target_id": "library", "model_use": "cloud"})
    assert list_barred(page) == []
    ground.do("rights.set", {"target_kind": "document", "target_id": ground.box, "model_use": "local"})
    assert list_barred(page) == list_barred(line) == ["cloud-model"]
    ground.do("rights.set", {"target_kind": "segment", "target_id": line, "model_use": "none"})
    assert list_barred(line) == list_barred(page) == ["local-model", "cloud-model", "export"]
    assert list_barred(ground.hidden_page.lines[1]) == ["cloud-model"]
    ground.restrict(page, readers=["a-reader"])
    assert list_barred(page) == list(uses)
    assert "show" not in list_barred(page, LOCAL_OWNER)
    assert "show" not in list_barred(page, Principal("person", "r", "viewer", token_id="a-reader"))
    assert "export" in list_barred(page, LOCAL_OWNER)
    assert list_barred(ground.open.id) == []
    ground.do("rights.withdraw", {"record_id": record["id"]})


def test_a_session_of_a_readers_device_reads(ground: Ground) -> None:
    ground.restrict(ground.hidden_page.id, readers=["device-1"])
    session = Principal(
        "person", "r", "viewer", token_id="session-9", device_id="device-1", token_kind="session"
    )
    assert find_withheld(ground.library, session, [ground.hidden_page.id], "show") == {}


def test_a_reader_and_a_stranger_at_once_see_each_what_is_theirs(ground: Ground, stranger: Headers) -> None:
    """Connections are pooled; none keeps the rights of its last user."""
    reader_id, reader = ground.token()
    ground.restrict(ground.hidden_page.id, readers=[reader_id])
    path = f"/api/documents/{ground.hidden_page.id}"
    wrong: list[tuple[int, int]] = []

    def ask(headers: Headers, status: int) -> None:
        for _ in range(25):
            found = ground.client.get(path, headers=headers).status_code
            if found != status:
                wrong.append((found, status))

    threads = [
        threading.Thread(target=ask, args=one) for one in ((reader, 200), (stranger, 403), ({}, 200)) * 2
    ]
    for thread in threads:
        thread.start()
    for number in range(20):
        ground.do("document.update", {"document_id": ground.open.id, "is_starred": number % 2 == 0})
    for thread in threads:
        thread.join()
    assert wrong == []


def test_artifacts_of_a_restricted_page_are_refused_by_their_own_ids(ground: Ground) -> None:
    """A gap named by the specification (A 5.2): a project token could read them whatever the page's rights."""
    reader_id, reader = ground.token()
    _, stranger = ground.token()
    found = {
        name: [row[0] for row in ground.rows("SELECT id FROM artifact WHERE document_id = ?", page.id)]
        for name, page in ground.pages.items()
    }
    assert all(found.values())
    ground.restrict(ground.hidden_page.id, readers=[reader_id])
    edit = {"op": "delete", "indices": [0]}
    for name, refused in (("hidden", True), ("open", False)):
        for one in found[name]:
            for path in (f"/api/artifacts/{one}", f"/api/artifacts/{one}/region"):
                answer = ground.client.get(path, headers=stranger)
                assert answer.status_code == (403 if refused else 200), (path, answer.text)
                assert not refused or answer.json()["code"] == "rights_restricted"
                assert ground.client.get(path, headers=reader).status_code == 200
    (hidden, *_) = found["hidden"]
    changed = ground.client.put(f"/api/artifacts/{hidden}/regions", json=edit, headers=stranger)
    assert (changed.status_code, changed.json()["code"]) == (403, "rights_restricted")
    with pytest.raises(Forbidden) as caught:
        ground.do("artifact.edit_regions", {"artifact_id": hidden, "edit": edit}, EDITOR)
    assert caught.value.code == "rights_restricted"
