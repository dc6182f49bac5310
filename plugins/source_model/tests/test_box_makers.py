"""When boxes become segments, a person's boxes among a machine's stay the person's, and the other way round."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from source_model_fixtures import AGENT, RUN

from armarium_source_model.queries.legacy import BoxMaker, box_makers

PERSON, MACHINE = {"kind": "person", "name": "Ana"}, {"kind": "machine", "name": "a run"}


def read_page(desk: Any) -> tuple[str, str]:
    """Create a page with a reader's artifact of four lines; return page and artifact."""
    page = desk.page()
    boxes = [
        {"bbox": [0.1, 0.1 * n, 0.8, 0.05], "text": f"line {n}", "level": "line", "confidence": 0.9}
        for n in range(1, 5)
    ]
    artifact = desk.as_(RUN).run(
        "artifact.create",
        document_id=page,
        artifact_type="transcription",
        ocr_geometry={"provider": "reader", "model": "m0", "boxes": boxes},
    )
    return page, str(artifact["id"])


def edit(desk: Any, artifact: str, **edit: Any) -> None:
    desk.run("artifact.edit_regions", artifact_id=artifact, edit=edit)


def rows(desk: Any) -> list[tuple[str | None, str, str | None]]:
    """Return the text of each segment, who made the segment, and who made its text."""
    with desk.library.db.read() as conn:
        return [
            tuple(row)
            for row in conn.exec_driver_sql(
                "SELECT r.content, s.provenance_kind, r.provenance_kind FROM segment s"
                " LEFT JOIN content_representation r ON r.segment_id = s.id ORDER BY s.box_index"
            )
        ]


@pytest.mark.parametrize("who", [None, RUN])
def test_a_box_that_a_person_moved_stays_a_persons(client: Any, desk: Any, who: Any) -> None:
    page, artifact = read_page(desk)
    edit(desk, artifact, op="move", index=1, bbox=[0.2, 0.2, 0.5, 0.05])
    edit(desk, artifact, op="add", bbox=[0.1, 0.8, 0.5, 0.05], text="by Ana", level="line")
    edit(desk.as_(AGENT), artifact, op="add", bbox=[0.1, 0.9, 0.5, 0.05], text="by an agent", level="line")
    response = client.get(f"/api/segments/document/{page}").json()["segments"]
    assert [item["provenance_kind"] for item in response] == [
        "workflow",
        "human",
        "workflow",
        "workflow",
        "human",
        "workflow",
    ]
    heard = [client.get(f"/api/segments/{item['id']}/readings").json()["items"][0] for item in response]
    assert [one["provenance_kind"] for one in heard] == ["workflow"] * 4 + ["human", "workflow"]
    # A run on nobody's behalf cannot write a person's rows; their makers become unknown, never a machine.
    human = "human" if who is None else "unknown"
    (desk if who is None else desk.as_(who)).run("segment.convert_page", document_id=page)
    assert rows(desk) == [
        ("line 1", "workflow", "workflow"),
        ("line 2", human, "workflow"),
        ("line 3", "workflow", "workflow"),
        ("line 4", "workflow", "workflow"),
        ("by Ana", human, human),
        ("by an agent", "workflow", "workflow"),
    ]


def test_what_a_machine_added_among_a_persons_boxes_is_not_the_persons(desk: Any) -> None:
    page = desk.page()
    result = desk.run(
        "artifact.create",
        document_id=page,
        artifact_type="transcription",
        ocr_geometry={
            "provider": "user",
            "boxes": [{"bbox": [0.1, 0.1, 0.5, 0.1], "text": "Ana's", "level": "line"}],
        },
    )
    edit(
        desk.as_(AGENT), str(result["id"]), op="add", bbox=[0.1, 0.5, 0.5, 0.1], text="not hers", level="line"
    )
    desk.run("segment.convert_page", document_id=page)
    assert rows(desk) == [("Ana's", "human", "human"), ("not hers", "workflow", "workflow")]


def test_the_page_is_read_by_the_pass_that_a_person_worked_on(desk: Any) -> None:
    page, artifact = read_page(desk)
    edit(desk, artifact, op="move", index=0, bbox=[0.2, 0.1, 0.5, 0.05])
    desk.run("segment.convert_page", document_id=page)
    desk.machine_lines(page, ["a newer reading"])
    with desk.library.db.read() as conn:
        from armarium_source_model.api import working_pass

        assert working_pass(conn, page)[1] == "human-touched"


@pytest.mark.parametrize("seed", range(60))
def test_whatever_was_edited_each_box_keeps_its_maker(seed: int) -> None:
    """Random logs of edits, on top of boxes with a given maker."""
    dice = Random(seed)
    whose = dice.choice(["human", "workflow"])
    boxes: list[dict[str, Any]] = [{"shape": whose, "words": whose} for _ in range(dice.randint(0, 5))]
    log: list[dict[str, Any]] = []
    for _ in range(dice.randint(0, 12)):
        actor, by = dice.choice([(PERSON, "human"), (MACHINE, "workflow")])
        op = dice.choice(["add", "move", "delete", "combine"])
        if op == "add":
            boxes.append({"shape": by, "words": by})
            indices = [len(boxes) - 1]
        elif op == "move" and boxes:
            indices = [dice.randrange(len(boxes))]
            boxes[indices[0]]["shape"] = by
        elif op == "delete" and boxes:
            indices = sorted(dice.sample(range(len(boxes)), dice.randint(1, len(boxes))))
            boxes = [box for number, box in enumerate(boxes) if number not in indices]
        elif op == "combine" and len(boxes) > 1:
            indices = sorted(dice.sample(range(len(boxes)), dice.randint(2, len(boxes))))
            words = {boxes[number]["words"] for number in indices}
            boxes[indices[0]] = {"shape": by, "words": "human" if words == {"human"} else "workflow"}
            boxes = [box for number, box in enumerate(boxes) if number not in indices[1:]]
        else:
            continue
        log.append({"actor": actor, "op": op, "indices": indices})
    assert box_makers([{}] * len(boxes), log, whose) == [
        BoxMaker(box["shape"], box["words"]) for box in boxes
    ]


@pytest.mark.parametrize(
    "log",
    [
        ["x"],
        [{"op": "move", "actor": {"kind": "person"}, "indices": [9]}],
        [{"op": "move", "actor": {"kind": "person"}, "indices": "0"}],
        [{"op": "turn", "actor": {"kind": "person"}, "indices": [0]}],
        [{"op": "add", "actor": {"kind": "person"}, "indices": [0]}] * 3,
    ],
)
def test_a_log_that_does_not_fit_changes_no_box(log: list[Any]) -> None:
    made = box_makers([{"source": "manual"}, {}], log, "workflow")
    assert made == [BoxMaker("human", "human"), BoxMaker("workflow", "workflow")]
