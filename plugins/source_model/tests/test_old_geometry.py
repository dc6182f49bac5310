"""Old geometry: boxes of an artifact are listed as segments, cannot be written to, and can be converted for good."""

from __future__ import annotations

from typing import Any

import pytest
from source_model_fixtures import AGENT, RUN, anchor

from armarium.api import Conflict
from armarium_documents.api import artifacts
from armarium_source_model.boxes import read_box
from armarium_source_model.queries.text import page_text
from armarium_source_model.schemas.lines import PageLines, PageShapes
from armarium_source_model.schemas.readings import ReadingList
from armarium_source_model.schemas.segments import SegmentListResponse, SegmentView

BOXES = [
    {
        "bbox": [0.1, 0.1, 0.8, 0.05],
        "text": "Dear Sir",
        "level": "line",
        "confidence": 0.9,
        "char_start": 0,
        "char_end": 8,
        "metadata": {
            "polygon_px": [[100, 100], [900, 100], [900, 150], [100, 150]],
            "baseline_px": [[100, 140], [900, 140]],
            "pixel_frame": [1000, 1000],
        },
    },
    {"bbox": [0.1, 0.2, 0.8, 0.05], "text": "your letter", "level": "line"},
    {"bbox": [5, 5, 1, 1], "text": "nowhere", "level": "line"},
    {"bbox": [0.1, 0.3, 0.8, 0.05], "level": "block", "metadata": {"polygon_px": [[1, 2], [3, 4], [5, 6]]}},
]


@pytest.fixture
def old(desk: Any) -> dict[str, str]:
    """A page with a reader's artifact of four boxes, one of them off the page."""
    page = desk.page()

    def write(ctx: Any) -> None:
        ctx.conn.execute(
            artifacts.insert().values(
                id="blob",
                document_id=page,
                artifact_type="transcription",
                data={},
                ocr_geometry={"provider": "reader", "model": "m0", "boxes": BOXES},
                version=1,
                sequence=1,
                reviewed=False,
                run_id="run-0",
                created_at=ctx.now,
            )
        )

    other = {"name": "x", "doc_type": "page"}
    desk.engine.run(desk.library, "document.create", other, desk.principal, in_transaction=write)
    return {"page": page, "pass": "legacy:blob", "line": "legacy:blob:0"}


def test_boxes_are_listed_as_segments_that_say_provisional(
    client: Any, desk: Any, old: dict[str, str]
) -> None:
    listed = SegmentListResponse.model_validate(client.get(f"/api/segments/document/{old['page']}").json())
    (page_pass,) = listed.passes
    assert (page_pass.id, page_pass.provisional, page_pass.segment_count, page_pass.working) == (
        "legacy:blob",
        True,
        3,
        False,
    )
    assert [segment.id for segment in listed.segments] == ["legacy:blob:0", "legacy:blob:1", "legacy:blob:3"]
    line, _, block = listed.segments
    assert (line.kind, line.text, line.confidence, line.version) == ("line", "Dear Sir", 0.9, None)
    assert line.anchor["polygon"][0] == [0.1, 0.1]
    assert line.baseline == [[0.1, 0.14], [0.9, 0.14]]
    assert block.kind == "region"
    assert "no frame" in block.metadata["geometry_problem"]
    assert block.metadata["raw_polygon_px"] == [[1, 2], [3, 4], [5, 6]]


def test_provisional_segments_are_narrowed_like_real_ones(
    client: Any, desk: Any, old: dict[str, str]
) -> None:
    real = desk.lines(old["page"], desk.new_pass(old["page"]), 1)[0]

    def ids(**query: str) -> list[str]:
        answer = client.get(f"/api/segments/document/{old['page']}", params=query)
        return [segment["id"] for segment in answer.json()["segments"]]

    assert ids() == ["legacy:blob:0", "legacy:blob:1", "legacy:blob:3", real]
    assert ids(kind="region") == ["legacy:blob:3"]
    assert ids(pass_id="legacy:blob", kind="line") == ["legacy:blob:0", "legacy:blob:1"]
    assert ids(artifact_id="blob") == ["legacy:blob:0", "legacy:blob:1", "legacy:blob:3"]
    assert ids(area="0,0,1,1") == [real]
    place = f"/api/segments/document/{old['page']}"
    assert client.get(place, params={"pass_id": "legacy:none"}).status_code == 404
    elsewhere = f"/api/segments/document/{desk.page()}"
    assert client.get(elsewhere, params={"pass_id": "legacy:blob"}).status_code == 404


def test_the_lines_and_outlines_of_a_provisional_pass_are_its_boxes(
    client: Any, desk: Any, old: dict[str, str]
) -> None:
    place = f"/api/segments/document/{old['page']}"
    lines = PageLines.model_validate(client.get(f"{place}/lines", params={"pass_id": old["pass"]}).json())
    assert [(line.segment_id, line.text) for line in lines.lines] == [
        ("legacy:blob:0", "Dear Sir"),
        ("legacy:blob:1", "your letter"),
    ]
    assert lines.lines[0].made is not None
    assert (lines.lines[0].made.by, lines.lines[0].made.name) == ("machine", "m0")
    assert [page_pass.id for page_pass in lines.passes] == ["legacy:blob"]
    shapes = PageShapes.model_validate(client.get(f"{place}/shapes", params={"pass_id": old["pass"]}).json())
    assert {shape.id: shape.version for shape in shapes.shapes} == dict.fromkeys(
        ("legacy:blob:0", "legacy:blob:1", "legacy:blob:3")
    )
    elsewhere = f"/api/segments/document/{desk.page()}"
    for kind in ("lines", "shapes"):
        assert client.get(f"{elsewhere}/{kind}", params={"pass_id": old["pass"]}).status_code == 404


def test_a_provisional_segment_and_its_reading_can_be_read(client: Any, old: dict[str, str]) -> None:
    view = SegmentView.model_validate(client.get(f"/api/segments/{old['line']}").json())
    assert view.segment is not None
    assert (view.segment.provisional, view.live_segment_ids, view.deleted) == (True, [old["line"]], False)
    readings = ReadingList.model_validate(client.get(f"/api/segments/{old['line']}/readings").json())
    assert (readings.items[0].content, readings.counting["transcription"].labelled_machine) == (
        "Dear Sir",
        True,
    )
    other_answer = client.get(f"/api/segments/{old['line']}/readings", params={"kind": "translation"})
    assert other_answer.json()["count"] == 0
    versions = client.get(f"/api/segments/{old['line']}/versions")
    assert versions.json() == {"segment_id": old["line"], "items": [], "count": 0, "withheld": 0}
    cited = client.get(f"/api/segments/{old['line']}/reference")
    assert (cited.status_code, cited.json()["code"]) == (422, "provisional_id")
    assert "segment.convert_page" in cited.json()["detail"]
    for missing in ("legacy:blob:2", "legacy:blob:9", "legacy:none:0", "legacy:blob", "legacy:"):
        assert client.get(f"/api/segments/{missing}").status_code == 404
        assert client.get(f"/api/segments/{missing}/versions").status_code == 404
        assert client.get(f"/api/segments/{missing}/readings").status_code == 404


def test_every_write_refuses_a_provisional_id(client: Any, desk: Any, old: dict[str, str]) -> None:
    page, legacy_pass, legacy = old["page"], old["pass"], old["line"]
    pass_id = desk.new_pass(page)
    real = desk.lines(page, pass_id, 1)[0]
    new = {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": anchor()}
    order = desk.run("reading_order.create", document_id=page, pass_id=pass_id, name="o", kind="imposed")[
        "id"
    ]
    parts = [{"anchor": anchor()}, {"anchor": anchor()}]
    writes: list[tuple[str, str, dict[str, Any] | None]] = [
        ("DELETE", f"/api/segments/passes/{legacy_pass}", None),
        ("POST", f"/api/segments/passes/{legacy_pass}/restore", None),
        ("PUT", f"/api/segments/passes/{legacy_pass}/ground-truth", {"ground_truth": True}),
        ("PUT", f"/api/segments/passes/{legacy_pass}/working", {"working": True}),
        ("POST", "/api/segments", {**new, "pass_id": legacy_pass}),
        ("POST", "/api/segments", {**new, "parent_segment_id": legacy}),
        ("POST", "/api/segments/bulk", {"segments": [{**new, "pass_id": legacy_pass}]}),
        ("PUT", f"/api/segments/{legacy}", {"segment_id": legacy, "expected_version": 1}),
        (
            "PUT",
            f"/api/segments/{real}",
            {"segment_id": real, "expected_version": 1, "parent_segment_id": legacy},
        ),
        ("POST", "/api/segments/delete", {"segment_ids": [legacy], "expected_versions": [1]}),
        ("POST", "/api/segments/undelete", {"segment_ids": [legacy]}),
        ("POST", f"/api/segments/{legacy}/restore-version", {"version": 1, "expected_version": 1}),
        ("POST", "/api/segments/merge", {"segment_ids": [legacy], "keep_id": real}),
        ("POST", "/api/segments/merge", {"segment_ids": [real], "keep_id": legacy}),
        ("POST", "/api/segments/split", {"segment_id": legacy, "expected_version": 1, "parts": parts}),
        ("POST", "/api/segments/matches", {"from_segment_id": legacy, "to_segment_id": real}),
        ("POST", "/api/segments/matches", {"from_segment_id": real, "to_segment_id": legacy}),
        ("POST", f"/api/segments/matches/{legacy}/accept", None),
        ("POST", f"/api/segments/matches/{legacy}/reject", None),
        ("POST", f"/api/segments/matches/{legacy}/withdraw", None),
        ("POST", "/api/segments/carry", {"match_id": legacy}),
        ("POST", f"/api/segments/{legacy}/correct", {"text": "x"}),
        ("POST", f"/api/segments/{real}/correct", {"text": "x", "expected_counting_id": legacy}),
        ("POST", f"/api/segments/{legacy}/readings/choice", {"representation_id": None}),
        ("POST", f"/api/segments/{real}/readings/choice", {"representation_id": legacy}),
        ("POST", f"/api/segments/readings/{legacy}/retract", None),
        (
            "POST",
            "/api/reading-orders",
            {"document_id": page, "pass_id": legacy_pass, "name": "x", "kind": "flow"},
        ),
        ("POST", f"/api/reading-orders/{order}/place", {"segment_id": legacy}),
        ("DELETE", f"/api/reading-orders/{order}/entries/{legacy}", None),
        ("POST", "/api/links", {"from_id": legacy, "to_id": real, "link_type": "free"}),
        (
            "PUT",
            "/api/source-settings",
            {"level": "node", "key": "language", "value": "fr", "target_id": legacy},
        ),
    ]
    for method, path, body in writes:
        answer = client.request(method, path, json=body)
        assert (answer.status_code, answer.json().get("code")) == (422, "provisional_id"), (method, path)


@pytest.mark.parametrize("who", [None, RUN])
def test_a_page_is_converted_for_good_and_the_conversion_can_be_undone(
    client: Any, desk: Any, old: dict[str, str], who: Any
) -> None:
    before = client.get(f"/api/segments/document/{old['page']}").json()
    worker = desk if who is None else desk.as_(who)
    result = worker.run("segment.convert_page", document_id=old["page"])["passes"]
    assert [(item["segments"], item["readings"], item["left_out"]) for item in result] == [(3, 2, 1)]
    listed = client.get(f"/api/segments/document/{old['page']}").json()
    assert [segment["provisional"] for segment in listed["segments"]] == [False, False, False]
    assert [segment["text"] for segment in listed["segments"]] == ["Dear Sir", "your letter", None]
    assert (listed["passes"][0]["source_artifact_id"], listed["passes"][0]["provenance_kind"]) == (
        "blob",
        "workflow",
    )
    assert client.get(f"/api/segments/{old['line']}").status_code == 404
    with desk.library.db.read() as conn:
        assert page_text(conn, old["page"]).text == "Dear Sir\nyour letter"
    with pytest.raises(Conflict, match="nothing to convert"):
        desk.run("segment.convert_page", document_id=old["page"])
    desk.undo(worker.audit_id)
    assert client.get(f"/api/segments/document/{old['page']}").json() == before


def test_a_machine_that_converts_a_persons_boxes_does_not_become_that_person(desk: Any) -> None:
    page = desk.page()

    def write(ctx: Any) -> None:
        geometry = {
            "provider": "user",
            "boxes": [{"bbox": [0.1, 0.1, 0.5, 0.1], "level": "line", "text": "x"}],
        }
        ctx.conn.execute(
            artifacts.insert().values(
                id="hand", document_id=page, artifact_type="transcription", data={}, ocr_geometry=geometry,
                version=1, sequence=1, reviewed=False, created_at=ctx.now,
            )
        )  # fmt: skip

    other = {"name": "x", "doc_type": "page"}
    desk.engine.run(desk.library, "document.create", other, desk.principal, in_transaction=write)
    agent = desk.as_(AGENT)
    agent.run("segment.convert_page", document_id=page)

    def makers() -> set[str]:
        with desk.library.db.read() as conn:
            return {
                row[0]
                for table in ("segment_pass", "segment", "content_representation")
                for row in conn.exec_driver_sql(f"SELECT provenance_kind FROM {table}")
            }

    assert makers() == {"unknown"}
    desk.undo(agent.audit_id)
    desk.run("segment.convert_page", document_id=page)
    assert makers() == {"human"}


@pytest.mark.parametrize(
    "box",
    [
        {},
        {"bbox": "x"},
        {"bbox": [1, 2, 3]},
        {"bbox": [float("nan"), 0, 1, 1]},
        {"bbox": None, "metadata": {"polygon_px": "x", "pixel_frame": [10, 10]}},
        {"bbox": [0.1, 0.1, 0.1, True]},
        {"metadata": {"polygon_px": [[1, 2]], "pixel_frame": [0, 0]}},
    ],
)
def test_a_box_of_which_nothing_can_be_held_is_left_out(box: dict[str, Any]) -> None:
    assert read_box(box) is None


def test_a_box_keeps_what_it_can() -> None:
    shape = read_box(
        {
            "bbox": [0.1, 0.1, 0.2, 0.2],
            "level": "glyph",
            "text": 3,
            "confidence": 7,
            "char_start": True,
            "page_index": -1,
            "metadata": {"pixel_frame": {"width": 100, "height": 100}, "baseline_px": [[10, 20]]},
        }
    )
    assert shape is not None
    assert (shape.kind, shape.text, shape.confidence, shape.char_start, shape.page_index) == (
        "region",
        None,
        None,
        None,
        None,
    )
    assert shape.metadata["raw_baseline_px"] == [[10, 20]]
    assert "at least 2" in shape.metadata["geometry_problem"]
