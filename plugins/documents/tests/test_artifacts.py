"""Artifacts: where words are on the page, and edits of boxes as undoable steps with a log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from documents_fixtures import EDITOR, OWNER, Run, rows

from armarium.api import Conflict, Engine, Forbidden, Invalid, Library, NotFound, Principal
from armarium_documents.hookspecs import Writing, armarium_documents_writing

Make = Callable[..., str]

TEXT = "Muy señor mío\nle escribo"
WORDS = [
    {"bbox": [0.1, 0.1, 0.2, 0.05], "text": "Muy", "level": "word"},
    {"bbox": [0.35, 0.1, 0.3, 0.05], "text": "señor", "level": "word"},
    {"bbox": [0.7, 0.1, 0.2, 0.05], "text": "mío", "level": "word"},
    {"bbox": [0.1, 0.3, 0.7, 0.05], "text": "le escribo", "level": "line", "char_start": 14, "char_end": 24},
]


@pytest.fixture
def artifact(do: Run, folder: Make) -> Callable[..., str]:
    def make(boxes: list[dict[str, Any]] | None = WORDS, content: str | None = TEXT, **fields: Any) -> str:
        geometry = {"provider": "rapidocr", "boxes": boxes} if boxes is not None else None
        result = do(
            "artifact.create",
            {
                "document_id": folder("Page", doc_type="page"),
                "artifact_type": "transcription",
                "content": content,
                "ocr_geometry": geometry,
                **fields,
            },
        )
        return str(result["id"])

    return make


def test_an_artifact_is_read_with_its_geometry(client: Any, artifact: Make) -> None:
    identity = artifact()
    answer = client.get(f"/api/artifacts/{identity}").json()
    assert (answer["content"], answer["version"], answer["sequence"], answer["reviewed"]) == (
        TEXT,
        1,
        1,
        False,
    )
    assert len(answer["ocr_geometry"]["boxes"]) == 4
    listed = client.get(f"/api/documents/{answer['document_id']}/artifacts").json()
    assert [item["id"] for item in listed["items"]] == [identity]
    other_answer = client.get(
        f"/api/documents/{answer['document_id']}/artifacts", params={"artifact_type": "people"}
    ).json()
    assert (other_answer["items"], other_answer["total"]) == ([], 0)
    view = client.get(f"/api/documents/{answer['document_id']}/view").json()
    assert view["attachments"]["artifacts"][0]["has_geometry"] is True
    assert "content" not in view["attachments"]["artifacts"][0]


def region(client: Any, identity: str, **given: Any) -> dict[str, Any]:
    answer = client.get(f"/api/artifacts/{identity}/region", params=given)
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_words_are_pointed_at(client: Any, artifact: Make) -> None:
    identity = artifact()
    first_region = region(client, identity, char_start=5, char_end=6)
    assert first_region["geometry_status"] == "located"
    assert [box["index"] for box in first_region["region"]["boxes"]] == [1]
    second_region = region(client, identity, char_start=2, char_end=7)
    assert second_region["region"]["bbox"] == pytest.approx([0.1, 0.1, 0.55, 0.05])
    line = region(client, identity, line=1)
    assert ([box["index"] for box in line["region"]["boxes"]], line["char_start"]) == ([3], 14)
    whole = region(client, identity)
    assert len(whole["region"]["boxes"]) == 4
    assert (whole["char_start"], whole["line"]) == (None, None)


def test_why_nothing_is_pointed_at(client: Any, artifact: Make, library: Library, engine: Engine) -> None:
    for identity, status in (
        (artifact(boxes=None, content=None), "not-read"),
        (artifact(boxes=None), "engine-without-geometry"),
        (artifact(boxes=[], content=""), "blank-page"),
        (artifact(boxes=[], content="words"), "engine-without-geometry"),
    ):
        found_region = region(client, identity)
        assert (found_region["geometry_status"], found_region["region"]) == (status, None)
        assert found_region["geometry_reason"].endswith(".")
    found_region = region(client, artifact(), char_start=3, char_end=4)
    assert found_region["geometry_status"] == "no-match"


def freeze(engine: Engine, library: Library, identity: str) -> None:
    with library.db.write() as conn:
        ctx, before, raw = engine.bus.open_step(conn, "document.update", library, OWNER, None)
        raw.execute("UPDATE artifact SET geometry_superseded_by_pass_id = 'pass' WHERE id = ?", (identity,))
        engine.bus.close_step(ctx, before, raw, {}, undoable=True)


def test_boxes_that_became_segments_are_frozen(
    client: Any, artifact: Make, engine: Engine, library: Library
) -> None:
    identity = artifact()
    freeze(engine, library, identity)
    assert region(client, identity)["geometry_status"] == "superseded"
    answer = client.put(f"/api/artifacts/{identity}/regions", json={"op": "delete", "indices": [0]})
    assert (answer.status_code, answer.json()["code"]) == (409, "geometry_frozen")


@pytest.mark.parametrize(
    "given",
    [
        {"char_start": 1},
        {"char_end": 1},
        {"char_start": 3, "char_end": 3},
        {"char_start": 5, "char_end": 2},
        {"char_start": 0, "char_end": 99},
        {"line": 2},
        {"line": 0, "char_start": 0, "char_end": 1},
        {"line": -1},
    ],
)
def test_an_invalid_span_is_422(client: Any, artifact: Make, given: dict[str, int]) -> None:
    assert client.get(f"/api/artifacts/{artifact()}/region", params=given).status_code == 422


def edit(client: Any, identity: str, **given: Any) -> dict[str, Any]:
    answer = client.put(f"/api/artifacts/{identity}/regions", json=given)
    assert answer.status_code == 200, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_edits_are_logged_and_undone(client: Any, artifact: Make, engine: Engine, library: Library) -> None:
    identity = artifact()
    moved = edit(client, identity, op="move", index=0, bbox=[0, 0, 0.5, 0.5])
    assert moved["geometry"]["boxes"][0]["bbox"] == [0, 0, 0.5, 0.5]
    assert moved["geometry"]["boxes"][0]["source"] == "manual"
    assert moved["version"] == 2
    combined = edit(client, identity, op="combine", indices=[2, 1])
    box = combined["geometry"]["boxes"][1]
    assert (box["text"], box["level"]) == ("señor mío", "word")
    assert box["bbox"] == pytest.approx([0.35, 0.1, 0.55, 0.05])
    assert len(combined["geometry"]["boxes"]) == 3
    added = edit(client, identity, op="add", bbox=[0.5, 0.5, 0.1, 0.1], text="rúbrica", level="region")
    assert added["geometry"]["boxes"][3]["text"] == "rúbrica"
    gone = edit(client, identity, op="delete", indices=[3, 0])
    assert [box["text"] for box in gone["geometry"]["boxes"]] == ["señor mío", "le escribo"]
    log = gone["geometry"]["curation_log"]
    assert [(entry["op"], entry["indices"]) for entry in log] == [
        ("move", [0]),
        ("combine", [1, 2]),
        ("add", [3]),
        ("delete", [0, 3]),
    ]
    assert [entry["audit_id"] for entry in log] == [
        done["audit_id"] for done in (moved, combined, added, gone)
    ]
    for done in (gone, added, combined, moved):
        engine.undo(library, [done["audit_id"]], OWNER)
    back = client.get(f"/api/artifacts/{identity}").json()
    assert [box["text"] for box in back["ocr_geometry"]["boxes"]] == ["Muy", "señor", "mío", "le escribo"]
    assert back["ocr_geometry"]["curation_log"] == []


def test_texts_are_joined_line_by_line_where_no_order_is_stated(client: Any, artifact: Make) -> None:
    boxes = [
        {"bbox": [0.6, 0.11, 0.2, 0.05], "text": "dos"},
        {"bbox": [0.1, 0.3, 0.2, 0.05], "text": "tres"},
        {"bbox": [0.1, 0.1, 0.2, 0.05], "text": "uno"},
    ]
    done = edit(client, artifact(boxes=boxes), op="combine", indices=[0, 1, 2])
    assert done["geometry"]["boxes"][0]["text"] == "uno dos tres"


def test_a_united_box_ends_where_its_parts_end_without_noise(client: Any, artifact: Make) -> None:
    done = edit(client, artifact(), op="combine", indices=[0, 1, 2])
    assert done["geometry"]["boxes"][0]["bbox"] == [0.1, 0.1, 0.8, 0.05]


def test_every_box_has_the_keys_its_neighbours_have(client: Any, artifact: Make) -> None:
    identity = artifact()
    edit(client, identity, op="add", bbox=[0.5, 0.5, 0.1, 0.1])
    boxes = edit(client, identity, op="combine", indices=[0, 1])["geometry"]["boxes"]
    assert len({frozenset(box) for box in boxes}) == 1


@pytest.mark.parametrize(
    ("writing", "words"),
    [
        (("ltr", False), "A B C D"),
        (("rtl", False), "B A D C"),
        (("ttb", False), "B D A C"),
        (("ttb", True), "A C B D"),
        (("btt", False), "D B C A"),
    ],
)
def test_texts_are_joined_as_the_page_is_written(
    client: Any, artifact: Make, engine: Engine, monkeypatch: Any, writing: tuple[str, bool], words: str
) -> None:
    """Four boxes, A and B above C and D."""
    places = {"A": (0.1, 0.1), "B": (0.6, 0.1), "C": (0.1, 0.6), "D": (0.6, 0.6)}
    boxes = [{"bbox": [x, y, 0.1, 0.1], "text": name} for name, (x, y) in places.items()]
    identity = artifact(boxes=boxes)
    answers = {armarium_documents_writing: Writing(*writing)}
    monkeypatch.setattr(engine.points, "ask_first", lambda point, *_: answers.get(point))
    done = edit(client, identity, op="combine", indices=[3, 1, 0, 2])
    assert done["geometry"]["boxes"][0]["text"] == words


def test_nobody_can_send_the_marks_of_somebody_else(
    artifact: Make, engine: Engine, library: Library, folder: Make
) -> None:
    """Otherwise they would become a person's segments, whose words rank before every reader's."""
    machine = Principal("machine", "an agent", "editor", token_kind="agent")
    box = {"bbox": [0.1, 0.1, 0.2, 0.2], "text": "x"}
    page = folder("Page", doc_type="page")
    forged: tuple[dict[str, Any], ...] = (
        {"ocr_geometry": {"provider": "user", "boxes": [box]}},
        {"provider": "user", "ocr_geometry": {"provider": "reader", "boxes": [box]}},
        {"ocr_geometry": {"provider": "reader", "boxes": [{**box, "source": "manual"}]}},
    )
    for given in forged:
        params = {"document_id": page, "artifact_type": "transcription", **given}
        with pytest.raises(Invalid, match="cannot be a person's"):
            engine.run(library, "artifact.create", params, machine)
        result = engine.run(library, "artifact.create", params, OWNER)
        # A machine can neither revert what a person drew nor restore it.
        with pytest.raises(Invalid, match="cannot be a person's"):
            engine.undo(library, [result.audit_id], machine)
        back = engine.undo(library, [result.audit_id], OWNER)["audit_ids"]
        with pytest.raises(Invalid, match="cannot be a person's"):
            engine.undo(library, back, machine)
        assert engine.undo(library, back, OWNER)["audit_ids"]
    params = {"document_id": page, "artifact_type": "transcription", "provider": "text-layer"}
    for who in (machine, OWNER):
        with pytest.raises(Invalid, match="the file's own"):
            engine.run(library, "artifact.create", params, who)
    run = replace(machine, token_kind="run", run_id="a run")
    told = engine.run(library, "artifact.create", params, run)
    back = engine.undo(library, [told.audit_id], OWNER)["audit_ids"]
    assert engine.undo(library, back, OWNER)["audit_ids"]
    edit = {"op": "add", "bbox": [0.1, 0.1, 0.2, 0.2]}
    params = {"artifact_id": artifact(boxes=None), "edit": edit}
    result = engine.run(library, "artifact.edit_regions", params, machine).result
    assert result is not None
    assert result["geometry"]["provider"] == "agent"


def test_a_box_that_a_machine_moves_is_no_persons_any_more(
    artifact: Make, engine: Engine, library: Library
) -> None:
    boxes = [
        {"bbox": [0.1, 0.1, 0.2, 0.2], "source": "manual"},
        {"bbox": [0.5, 0.5, 0.2, 0.2], "source": "merged"},
    ]
    identity = artifact(boxes=boxes)
    for who, sources in (
        (Principal("machine", "an agent", "editor", token_kind="agent"), [None, "merged"]),
        (OWNER, ["manual", "manual"]),
    ):
        for index in range(2):
            edit = {"op": "move", "index": index, "bbox": [0.2, 0.2, 0.1, 0.1]}
            params = {"artifact_id": identity, "edit": edit}
            result = engine.run(library, "artifact.edit_regions", params, who).result
        assert result is not None
        assert [box["source"] for box in result["geometry"]["boxes"]] == sources


def test_the_first_box_makes_a_persons_geometry(client: Any, artifact: Make) -> None:
    identity = artifact(boxes=None)
    answer = client.put(f"/api/artifacts/{identity}/regions", json={"op": "delete", "indices": [0]})
    assert answer.status_code == 422
    done = edit(client, identity, op="add", bbox=[0.1, 0.1, 0.2, 0.2])
    assert (done["geometry"]["provider"], done["geometry"]["boxes"][0]["level"]) == ("user", "word")


@pytest.mark.parametrize(
    "given",
    [
        {"op": "move", "index": 4, "bbox": [0, 0, 1, 1]},
        {"op": "move", "index": -1, "bbox": [0, 0, 1, 1]},
        {"op": "move", "index": 0, "bbox": [0, 0, 0, 1]},
        {"op": "move", "index": 0, "bbox": [0.5, 0, 0.6, 1]},
        {"op": "move", "index": 0, "bbox": [0, 0, 1]},
        {"op": "move", "index": 0, "bbox": [0, 0, 1, 1e400]},
        {"op": "delete", "indices": []},
        {"op": "delete", "indices": [9]},
        {"op": "combine", "indices": [1]},
        {"op": "combine", "indices": [1, 1]},
        {"op": "combine", "indices": [1, 7]},
        {"op": "add", "bbox": [0, 0, 1, 1], "level": "letter"},
        {"op": "split", "index": 0},
        {},
    ],
)
def test_an_invalid_edit_is_422(client: Any, artifact: Make, given: dict[str, Any]) -> None:
    import json

    body = json.dumps(given).replace("Infinity", "1e400")
    identity = artifact()
    answer = client.put(
        f"/api/artifacts/{identity}/regions", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code == 422, answer.text
    assert client.get(f"/api/artifacts/{identity}").json()["version"] == 1


def test_an_artifact_needs_a_live_unlocked_document(
    do: Run, folder: Make, artifact: Make, library: Library
) -> None:
    page = folder("Page", doc_type="page")
    fields = {"document_id": page, "artifact_type": "keywords", "data": {"words": ["a"]}}
    with pytest.raises(NotFound):
        do("artifact.create", {**fields, "source_artifact_id": "f" * 32})
    with pytest.raises(Invalid):
        do("artifact.create", {**fields, "artifact_type": "Two Words"})
    with pytest.raises(NotFound):
        do("artifact.edit_regions", {"artifact_id": "f" * 32, "edit": {"op": "delete", "indices": [0]}})
    do("document.lock", {"document_id": page, "locked": True})
    with pytest.raises(Forbidden):
        do("artifact.create", fields, EDITOR)
    identity = artifact()
    ((document_id,),) = rows(library, "SELECT document_id FROM artifact WHERE id = ?", identity)
    do("document.delete", {"ids": [document_id]})
    with pytest.raises(Conflict):
        do("artifact.edit_regions", {"artifact_id": identity, "edit": {"op": "delete", "indices": [0]}})
