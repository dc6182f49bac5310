"""Likeness: similar segments are found, and a proposal based on it is no attribution until a person accepts
it.
"""

from __future__ import annotations

import base64
import importlib
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoints
from typing import Any

import numpy as np
import pytest
from paleography_project import EDITOR, FAMILIES, MACHINE, PaleographyProject, store_vectors

from armarium.api import Engine, Forbidden, ServiceError
from armarium.principals import LOCAL_OWNER
from armarium_paleography import jobs
from armarium_paleography.queries import likeness
from armarium_paleography.records.likeness import LookArgs, vectors
from armarium_testing.kills import Killed, KilledContext


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with paleography and rights."""
    names = (*FAMILIES, "rights")
    return make_engine(
        plugins=[importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in names]
    )


def find_similar(project: PaleographyProject, line: str, **query: Any) -> list[str]:
    return [item["segment_id"] for item in project.get("/likeness", segment_id=line, **query)["items"]]


def test_similar_segments_are_ordered_as_a_plain_computation_orders_them(project: PaleographyProject) -> None:
    pages = [project.page(lines=4) for _ in range(3)]
    lines = [line for page in pages for line in page.lines]
    chance = np.random.default_rng(5)
    looks = {line: chance.normal(size=8).tolist() for line in lines}
    store_vectors(project, looks)
    rounded = np.array([np.array(looks[line], dtype=np.float16) for line in lines], dtype=np.float64)
    rounded -= rounded.mean(axis=0)
    own = rounded[0] / np.linalg.norm(rounded[0])
    scores = [float(own @ one / np.linalg.norm(one)) for one in rounded]
    elsewhere = sorted(range(4, 12), key=lambda number: -scores[number])
    assert find_similar(project, lines[0]) == [lines[number] for number in elsewhere]
    assert find_similar(project, lines[0], limit=2) == [lines[number] for number in elsewhere[:2]]
    everywhere = sorted(range(1, 12), key=lambda number: -scores[number])
    assert find_similar(project, lines[0], same_page=True) == [lines[number] for number in everywhere]


def test_segments_without_a_vector_are_refused(project: PaleographyProject) -> None:
    line = project.page().lines[0]
    assert project.get("/likeness", 409, segment_id=line)["code"] == "not_looked_at"
    project.get("/likeness", 404, segment_id="no")
    project.get("/likeness", 422)
    body = {"kind": "hand", "segment_ids": [line]}
    assert project.post("/likeness/proposals", body, 409)["code"] == "not_looked_at"
    box = project.do("document.create", {"name": "Empty"})["id"]
    assert project.post("/likeness/look", {"scope_ids": [box]}, 422)["code"] == "no_pages"


def test_vectors_of_an_earlier_model_are_not_compared_with_those_of_the_present(
    project: PaleographyProject,
) -> None:
    """They have another length; their lines are as if nobody had looked at them, and the others are found."""
    pages = [project.page(lines=1) for _ in range(3)]
    before, first, second = (page.lines[0] for page in pages)
    store_vectors(project, {before: [1, 0]})
    store_vectors(project, {first: [1, 0, 2], second: [0, 1, 2]})
    assert find_similar(project, first) == [second]
    assert project.get("/likeness", 409, segment_id=before)["code"] == "not_looked_at"


def test_deleted_and_restricted_segments_are_not_found(project: PaleographyProject) -> None:
    first, second, third = project.page(lines=1), project.page(lines=1), project.page(lines=2)
    store_vectors(
        project, {line: [1, n] for n, page in enumerate((first, second, third)) for line in page.lines}
    )
    project.post("/segments/delete", {"segment_ids": [third.lines[0]], "expected_versions": [1]})
    line = first.lines[0]
    assert set(find_similar(project, line)) == {second.lines[0], third.lines[1]}
    made = project.client.post("/api/tokens", json={"name": "a reader", "role": "viewer"}).json()
    secret = next(value for name, value in made.items() if name == "token" or name.endswith("_token"))
    project.do("rights.set", {"target_kind": "document", "target_id": second.id, "restricted": True})
    answer = project.client.get(
        "/api/likeness", params={"segment_id": line}, headers={"Authorization": f"Bearer {secret}"}
    )
    assert [item["segment_id"] for item in answer.json()["items"]] == [third.lines[1]]
    assert answer.json()["withheld"] == 1
    # Whatever the withheld segment looks like, the answer is the same.
    query = {"segment_id": line, "limit": 1}
    seen = []
    for hidden in ([1, 1, 0], [-1, 5, 2]):
        store_vectors(
            project,
            {
                line: [1, 1, 0],
                second.lines[0]: hidden,
                third.lines[1]: [1, 0.5, 0],
                third.lines[0]: [-3, 0, 1],
            },
        )
        answer = project.client.get(
            "/api/likeness", params=query, headers={"Authorization": f"Bearer {secret}"}
        )
        seen.append(answer.json())
    assert seen[0] == seen[1]
    assert (seen[0]["count"], seen[0]["withheld"], seen[0]["looked_at"]) == (1, 1, 3)
    assert project.get("/likeness", **query)["withheld"] == 0
    for label, line_of in (("Hidden", second.lines[0]), ("Open", third.lines[1])):
        project.post("/hands/attributions", {"hand_id": project.hand(label), "segment_id": line_of})
    store_vectors(
        project,
        {
            line: [1, 1, 0],
            second.lines[0]: [1, 1, 0],
            third.lines[1]: [1, 0.5, 0],
            third.lines[0]: [-3, 0, 1],
        },
    )
    made = project.do("likeness.propose", {"kind": "hand", "segment_ids": [line]}, EDITOR)["items"]
    assert [item["like_segment_id"] for item in made] == [third.lines[1]]


def test_vectors_computed_after_a_purge_are_found(project: PaleographyProject) -> None:
    """There are as many vectors as before, with the same numbers, but those of the purged page must not be
    used for them.
    """
    stays, goes = project.page(lines=1), project.page(lines=2)
    store_vectors(project, {stays.lines[0]: [1, 0, 0], goes.lines[0]: [1, 1, 0], goes.lines[1]: [0, 1, 1]})
    assert find_similar(project, stays.lines[0]) == goes.lines
    project.do("document.delete", {"ids": [goes.id]})
    project.post("/documents/trash/empty")
    comes = project.page(lines=2)
    store_vectors(project, {comes.lines[0]: [0, 1, 1], comes.lines[1]: [1, 1, 0]})
    assert find_similar(project, stays.lines[0]) == comes.lines[::-1]
    assert find_similar(project, comes.lines[0]) == stays.lines


def test_a_proposal_is_no_attribution_until_a_person_accepts_it(project: PaleographyProject) -> None:
    page, new = project.page(lines=2), project.page(lines=2)
    a, b = project.hand("A"), project.hand("B")
    for hand, line in ((a, page.lines[0]), (b, page.lines[1])):
        project.post("/hands/attributions", {"hand_id": hand, "segment_id": line})
    store_vectors(project, {page.lines[0]: [1, 0, 0], page.lines[1]: [0, 1, 0],
                new.lines[0]: [0.9, 0.1, 0], new.lines[1]: [0.1, 0.9, 0]})  # fmt: skip
    result = project.do("likeness.propose", {"kind": "hand", "segment_ids": new.lines}, MACHINE)["items"]
    assert [(item["hand_id"], item["like_segment_id"]) for item in result] == [
        (a, page.lines[0]),
        (b, page.lines[1]),
    ]
    assert project.get(f"/hands/segment/{new.lines[0]}")["items"] == []
    assert project.get("/likeness/proposals", state="pending", kind="hand")["count"] == 2
    first, second = (item["id"] for item in result)
    with pytest.raises(Forbidden):
        project.do("likeness.accept", {"proposal_id": first}, MACHINE)
    answer = project.post(f"/likeness/proposals/{first}/accept")
    (judged,) = project.get(f"/hands/segment/{new.lines[0]}")["items"]
    assert (answer["state"], answer["resulting_id"], judged["provenance_kind"]) == (
        "accepted",
        judged["id"],
        "human",
    )
    assert project.post(f"/likeness/proposals/{first}/accept", None, 409)["code"] == "already_decided"
    rejected = project.post(f"/likeness/proposals/{second}/reject")
    assert rejected["state"] == "rejected"
    with pytest.raises(ServiceError) as refusal:
        project.engine.undo(project.library, [rejected["audit_id"]], MACHINE)
    assert refusal.value.code == "person_only"
    project.post(f"/likeness/proposals/{second}/reject", None, 409)
    project.post("/likeness/proposals/no/accept", None, 404)
    # What was rejected is not proposed again; the next most similar hand is.
    second_items = project.post("/likeness/proposals", {"kind": "hand", "segment_ids": [new.lines[1]]})[
        "items"
    ]
    assert b not in [item["hand_id"] for item in second_items]
    project.undo(answer["audit_id"])
    assert project.get(f"/hands/segment/{new.lines[0]}")["items"] == []
    assert project.get("/likeness/proposals", state="pending")["items"][0]["id"] == first


def test_signs_are_proposed_too(project: PaleographyProject) -> None:
    page = project.page(lines=3)
    one, two, three = page.lines
    sign = project.post("/signs", {"name": "et", "picture_segment_id": one})["id"]
    project.post(f"/signs/{sign}/instances", {"segment_id": one})
    store_vectors(project, {one: [1, 0, 0], two: [0.9, 0.1, 0], three: [-1, 0, 1]})
    (item,) = project.post("/likeness/proposals", {"kind": "sign", "segment_ids": [two, three]})["items"]
    assert (item["sign_id"], item["segment_id"]) == (sign, two)
    project.post(f"/likeness/proposals/{item['id']}/accept")
    assert project.get(f"/signs/{sign}/instances")["count"] == 2


def test_without_an_installed_embedder_the_job_is_refused(
    project: PaleographyProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(likeness, "entry_points", lambda group: EntryPoints())
    assert project.post("/likeness/look", {"scope_ids": [project.page().id]}, 503)["code"] == "no_eyes"


@pytest.mark.slow
def test_vectors_are_computed_once_and_again_after_a_line_moved(project: PaleographyProject) -> None:
    page, restricted = project.page(lines=3, picture=True), project.page(lines=1, picture=True)
    bare = project.page(lines=1)
    project.do("rights.set", {"target_kind": "document", "target_id": restricted.id, "model_use": "none"})
    pages = [page.id, restricted.id, bare.id]

    def look() -> dict[str, Any]:
        job_id = project.post("/likeness/look", {"scope_ids": pages}, 202)["job_id"]
        project.engine.jobs.run_until_idle(project.library, timeout=120)
        ((result,),) = project.rows("SELECT result FROM job WHERE id = ?", job_id)
        import json

        found: dict[str, Any] = json.loads(result)
        return found

    assert look() == {"looked_at": 3, "left_out": 2}
    assert look() == {"looked_at": 0, "left_out": 2}
    body = {"segment_id": page.lines[0], "expected_version": 1, "anchor": {"rect": [0.1, 0.02, 0.5, 0.06]}}
    project.send("PUT", f"/segments/{page.lines[0]}", body)
    assert look() == {"looked_at": 1, "left_out": 2}
    assert len(find_similar(project, page.lines[0], same_page=True)) == 2


class KilledVectorJob(KilledContext):
    """A killed job context with a worker of the test; rows written with a checkpoint are in its transaction."""

    principal = LOCAL_OWNER
    asked: list[int]

    def call_worker(self, _: Any, target: str, what: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._tick()
        count = len(params["lines"])
        self.asked.append(count)
        made = np.arange(4 * count, dtype=np.float16)
        self._tick()
        return {"vectors": base64.b64encode(made.tobytes()).decode(), "length": 4}

    def save(self, checkpoint: dict[str, Any], *, along: Any = None, **counts: Any) -> None:
        self._tick()
        with self.library.db.write() as conn:
            along(conn)
        self._keep(checkpoint)
        self._tick()


def test_a_vector_job_killed_anywhere_computes_only_the_rest(
    project: PaleographyProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "worker_target", lambda: "made:Eyes")
    pages = [project.page(lines=2, picture=True) for _ in range(3)]
    lines = {line for page in pages for line in page.lines}
    args = LookArgs(page_ids=[page.id for page in pages])
    for calls in range(17):
        with project.library.db.write() as conn:
            conn.execute(vectors.delete())
        kept: dict[str, Any] = {}
        asked: list[int] = []
        allowed = calls
        while True:
            job = KilledVectorJob(project.engine, project.library, args, allowed, checkpoint=kept)
            job.asked = asked
            try:
                result = jobs.look_at(job)  # type: ignore[arg-type]
                break
            except Killed:
                kept, allowed = job.kept, 99
        assert result == {"looked_at": 6, "left_out": 0}, calls
        assert {one for (one,) in project.rows("SELECT segment_id FROM likeness_vector")} == lines
        # Only the page being processed at the kill is processed again.
        assert asked in ([2, 2, 2], [2, 2, 2, 2]), calls
