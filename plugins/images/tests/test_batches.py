"""Crops and splits of a folder: item by item, across kills, and undone except where work was based on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from images_helpers import EDITOR, NOWHERE, OWNER, add_page, live_names, make_stored, rows

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound, open_image
from armarium_images import cutting, jobs
from armarium_images.queries import batch_answer
from armarium_testing.kills import Killed, KilledContext

Run = Any
SPLIT = {"kind": "split", "regions": [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]}
CROP = {"kind": "crop", "region": {"left": 0.1, "top": 0.1, "width": 0.5, "height": 0.5}}


def batch_state(library: Library, batch_id: str) -> dict[str, Any]:
    with library.db.read() as conn:
        return batch_answer(conn, batch_id)


def states(library: Library, batch_id: str) -> list[str]:
    return [item["state"] for item in batch_state(library, batch_id)["items"]]


def fill(engine: Engine, library: Library, folder: str, count: int) -> list[str]:
    return [add_page(engine, library, folder, name=f"{n:02}.png") for n in range(count)]


def test_a_folder_is_split_and_the_split_undone(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    pages = fill(engine, library, folder, 3)
    started = do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})
    assert (started["state"], started["total"], states(library, started["batch_id"])) == (
        "waiting",
        3,
        ["waiting"] * 3,
    )
    assert rows(library, "SELECT done, total FROM job WHERE id = ?", started["job_id"]) == [(0, 3)]
    engine.jobs.run_until_idle(library)
    done = batch_state(library, started["batch_id"])
    assert (done["state"], done["done"], done["failed"]) == ("done", 3, 0)
    assert [item["document_id"] for item in done["items"]] == pages
    assert all(len(item["child_ids"]) == 2 for item in done["items"])
    assert len(live_names(library, pages[0])) == 2
    ((result,),) = rows(library, "SELECT result ->> '$.done' FROM job WHERE id = ?", started["job_id"])
    assert result == 3
    undone = do("image.batch_undo", {"batch_id": started["batch_id"]})
    assert (undone["undone"], len(undone["removed_ids"]), undone["kept"]) == (3, 6, [])
    assert states(library, started["batch_id"]) == ["undone"] * 3
    assert [live_names(library, page) for page in pages] == [[], [], []]
    with pytest.raises(Conflict) as refusal:
        do("image.batch_undo", {"batch_id": started["batch_id"]})
    assert refusal.value.code == "nothing_to_take_back"


def test_one_bad_picture_does_not_stop_the_others_and_is_decoded_once(
    engine: Engine, library: Library, folder: str, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def count_decoding(path: Path, **given: Any) -> Any:
        opened.append(path.name)
        return open_image(path, **given)

    monkeypatch.setattr(cutting, "open_image", count_decoding)
    good, bad, page = (
        add_page(engine, library, folder),
        add_page(engine, library, folder, make_stored()[:100], name="2.png"),
        add_page(engine, library, folder, name="3.png"),
    )
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP})["batch_id"]
    do("document.delete", {"ids": [page]})
    engine.jobs.run_until_idle(library)
    answer = batch_state(library, batch)
    assert [(i["document_id"], i["state"]) for i in answer["items"]] == [
        (good, "done"),
        (bad, "failed"),
        (page, "skipped"),
    ]
    assert "damaged" in answer["items"][1]["reason"]
    assert "Trash" in answer["items"][2]["reason"]
    assert len(opened) == len(set(opened)) == 2
    # A new request examines it again, since the file may have been repaired.
    second_batch_id = do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})["batch_id"]
    engine.jobs.run_until_idle(library)
    assert states(library, second_batch_id) == ["done", "failed"]
    assert len(opened) == 4


def test_repeating_the_same_cut_skips_pictures_already_cut(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    fill(engine, library, folder, 2)
    do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})
    engine.jobs.run_until_idle(library)
    second_batch_id = do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})["batch_id"]
    engine.jobs.run_until_idle(library)
    assert states(library, second_batch_id) == ["skipped", "skipped"]


def test_folders_inside_are_looked_into_when_asked(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    inner = str(do("document.create", {"name": "Inner", "parent_id": folder})["id"])
    deep = add_page(engine, library, inner)
    with pytest.raises(Invalid) as refusal:
        do("image.batch_apply", {"folder_id": folder, "spec": CROP})
    assert refusal.value.code == "no_images"
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP, "recursive": True})
    assert [item["document_id"] for item in batch["items"]] == [deep]


def test_children_with_later_work_are_not_undone(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    pages = fill(engine, library, folder, 4)
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP})["batch_id"]
    engine.jobs.run_until_idle(library)
    children = [item["child_ids"][0] for item in batch_state(library, batch)["items"]]
    do("artifact.create", {"document_id": children[0], "artifact_type": "transcription", "content": "x"})
    do("document.update", {"document_id": children[1], "is_starred": True})
    do("image.crop", {"document_id": children[2], "left": 0, "top": 0, "width": 5, "height": 5})
    undone = do("image.batch_undo", {"batch_id": batch})
    assert (undone["undone"], undone["removed_ids"]) == (1, [children[3]])
    assert [entry["document_id"] for entry in undone["kept"]] == children[:3]
    assert "artifact" in undone["kept"][0]["why"]
    assert states(library, batch) == ["done", "done", "done", "undone"]
    assert [len(live_names(library, page)) for page in pages] == [1, 1, 1, 0]


def test_what_the_trash_and_undo_gave_back_is_no_later_work(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    fill(engine, library, folder, 3)
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP})["batch_id"]
    engine.jobs.run_until_idle(library)
    children = [item["child_ids"][0] for item in batch_state(library, batch)["items"]]
    first = engine.run(library, "image.batch_undo", {"batch_id": batch}, OWNER)
    engine.undo(library, [first.audit_id], OWNER)
    do("document.delete", {"ids": [children[0]]})
    do("document.restore", {"document_id": children[0]})
    starred = engine.run(library, "document.update", {"document_id": children[1], "is_starred": True}, OWNER)
    engine.undo(library, [starred.audit_id], OWNER)
    do("document.update", {"document_id": children[2], "is_starred": True})
    undone = do("image.batch_undo", {"batch_id": batch})
    assert sorted(undone["removed_ids"]) == sorted(children[:2])
    assert [entry["document_id"] for entry in undone["kept"]] == children[2:]


def test_a_batch_undone_while_it_runs_stops(engine: Engine, library: Library, folder: str, do: Run) -> None:
    pages = fill(engine, library, folder, 3)
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP})["batch_id"]
    do("image.batch_item", {"batch_id": batch, "document_id": pages[0]})
    assert do("image.batch_undo", {"batch_id": batch})["undone"] == 1
    engine.jobs.run_until_idle(library)
    assert states(library, batch) == ["undone", "skipped", "skipped"]
    assert [live_names(library, page) for page in pages] == [[], [], []]


def test_undoing_the_steps_of_the_job_as_a_set(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    pages = fill(engine, library, folder, 2)
    started = do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})
    engine.jobs.run_until_idle(library)
    steps = [row[0] for row in rows(library, "SELECT id FROM audit WHERE set_id = ?", started["job_id"])]
    assert len(steps) == 2
    engine.undo(library, steps, OWNER)
    assert states(library, started["batch_id"]) == ["undone", "undone"]
    assert [live_names(library, page) for page in pages] == [[], []]


def test_a_batch_whose_job_is_no_longer_there_says_what_was_cut_and_what_was_not(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    """The queue keeps ended jobs for 30 days, and a branch begins without any."""
    fill(engine, library, folder, 2)
    cut = do("image.batch_apply", {"folder_id": folder, "spec": SPLIT})
    engine.jobs.run_until_idle(library)
    first = rows(library, "SELECT id FROM audit WHERE set_id = ? ORDER BY seq", cut["job_id"])[0][0]
    engine.undo(library, [first], OWNER)
    other = do("document.create", {"name": "Other", "doc_type": "folder"})["id"]
    fill(engine, library, other, 2)
    waiting = do("image.batch_apply", {"folder_id": other, "spec": SPLIT})
    with library.db.write() as conn:
        conn.exec_driver_sql("DELETE FROM job")
    ended = batch_state(library, cut["batch_id"])
    assert (ended["state"], [item["state"] for item in ended["items"]]) == ("done", ["undone", "done"])
    never_begun = batch_state(library, waiting["batch_id"])
    assert (never_begun["state"], {item["state"] for item in never_begun["items"]}) == (
        "cancelled",
        {"skipped"},
    )
    assert "no longer there" in never_begun["items"][0]["reason"]


def test_unknown_batches_and_folders_are_refused(
    engine: Engine, library: Library, folder: str, page: str, do: Run
) -> None:
    for name, params in (
        ("image.batch_undo", {"batch_id": NOWHERE}),
        ("image.batch_item", {"batch_id": NOWHERE, "document_id": page}),
    ):
        with pytest.raises(NotFound) as missing:
            do(name, params)
        assert missing.value.code == "batch_not_found"
    with pytest.raises(Invalid) as refusal:
        do("image.batch_apply", {"folder_id": page, "spec": CROP})
    assert refusal.value.code == "not_a_folder"
    with pytest.raises(NotFound):
        do("image.batch_apply", {"folder_id": NOWHERE, "spec": CROP})
    overlap = {"kind": "split", "regions": [{"bbox": [0, 0, 1, 1]}, {"bbox": [0, 0, 1, 1]}]}
    with pytest.raises(Invalid) as refusal:
        do("image.batch_apply", {"folder_id": folder, "spec": overlap})
    assert refusal.value.code == "overlapping_regions"
    batch = do("image.batch_apply", {"folder_id": folder, "spec": CROP})["batch_id"]
    with pytest.raises(NotFound):
        do("image.batch_item", {"batch_id": batch, "document_id": NOWHERE})
    stranger = add_page(engine, library, str(do("document.create", {"name": "Other"})["id"]))
    step = do("image.batch_item", {"batch_id": batch, "document_id": stranger})
    assert (step["state"], live_names(library, stranger)) == ("skipped", [])
    do("document.lock", {"document_id": folder, "locked": True})
    with pytest.raises(Forbidden):
        do("image.batch_apply", {"folder_id": folder, "spec": CROP}, EDITOR)


def test_a_batch_is_bounded(
    engine: Engine, library: Library, folder: str, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(engine, library, folder, 3)
    monkeypatch.setattr("armarium_images.actions.batches.MAX_IMAGES", 2)
    with pytest.raises(Invalid) as refusal:
        do("image.batch_apply", {"folder_id": folder, "spec": CROP})
    assert refusal.value.code == "too_many_images"


def test_killed_at_every_call_each_picture_is_cut_once(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    for calls in range(14):
        box = str(do("document.create", {"name": f"killed {calls}", "parent_id": folder})["id"])
        pages = fill(engine, library, box, 4)
        batch = do("image.batch_apply", {"folder_id": box, "spec": SPLIT})["batch_id"]
        allowed = calls
        while True:
            try:
                result = jobs.run_batch(
                    KilledContext(engine, library, jobs.BatchJobArgs(batch_id=batch), allowed)
                )  # type: ignore[arg-type]
                break
            except Killed:
                allowed += 1
        assert (result["done"], result["failed"]) == (4, [])
        assert [len(live_names(library, page)) for page in pages] == [2, 2, 2, 2]
        assert rows(library, "SELECT count(*) FROM image_cut WHERE batch_id = ?", batch) == [(8,)]


def test_a_job_whose_batch_was_never_written_ends(engine: Engine, library: Library) -> None:
    assert (
        jobs.run_batch(KilledContext(engine, library, jobs.BatchJobArgs(batch_id=NOWHERE), 99))["done"] == 0
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("start", "rest"),
    [
        ("image.batch_apply", lambda folder: {"folder_id": folder, "spec": SPLIT}),
        ("image.treat", lambda folder: {"scope_ids": [folder], "role": "enhanced"}),
    ],
)
def test_undoing_the_start_cancels_what_has_not_begun_and_a_redo_queues_it_again(
    engine: Engine, library: Library, folder: str, start: str, rest: Any
) -> None:
    (page,) = fill(engine, library, folder, 1)
    begun = engine.run(library, start, rest(folder), OWNER)
    job_id = (begun.result or {})["job_id"]

    def state() -> str:
        ((found,),) = rows(library, "SELECT state FROM job WHERE id = ?", job_id)
        return str(found)

    undone = engine.undo(library, [begun.audit_id], OWNER)
    assert (state(), rows(library, "SELECT id FROM image_batch")) == ("cancelled", [])
    engine.undo(library, undone["audit_ids"], OWNER)
    assert state() == "waiting"
    engine.jobs.run_until_idle(library)
    assert state() == "done"
    made = (
        live_names(library, page)
        if start == "image.batch_apply"
        else rows(library, "SELECT 1 FROM rendition WHERE document_id = ? AND role = 'enhanced'", page)
    )
    assert len(made) == (2 if start == "image.batch_apply" else 1)


def test_a_batch_whose_start_is_undone_while_it_runs_ends_as_cancelled(
    engine: Engine, library: Library, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The undo comes between the job's check of the batch and its next picture."""
    from armarium.api import JobContext

    fill(engine, library, folder, 2)
    begun = engine.run(library, "image.batch_apply", {"folder_id": folder, "spec": SPLIT}, OWNER)
    act, undone = JobContext.act, []

    def undo_first(self: Any, *given: Any, **more: Any) -> Any:
        if not undone:
            undone.append(engine.undo(library, [begun.audit_id], OWNER))
        return act(self, *given, **more)

    monkeypatch.setattr(JobContext, "act", undo_first)
    engine.jobs.run_until_idle(library)
    ((state, reason),) = rows(
        library, "SELECT state, reason FROM job WHERE id = ?", (begun.result or {})["job_id"]
    )
    assert (bool(undone), state, reason) == (True, "cancelled", "Cancelled by a person.")


def test_the_start_of_a_batch_that_has_cut_is_not_undone_and_the_batch_is(
    engine: Engine, library: Library, folder: str, do: Run
) -> None:
    fill(engine, library, folder, 1)
    begun = engine.run(library, "image.batch_apply", {"folder_id": folder, "spec": SPLIT}, OWNER)
    engine.jobs.run_until_idle(library)
    with pytest.raises(Conflict) as refused:
        engine.undo(library, [begun.audit_id], OWNER)
    assert refused.value.fields["reason"] == "changed"
    assert do("image.batch_undo", {"batch_id": (begun.result or {})["batch_id"]})["undone"] == 1
