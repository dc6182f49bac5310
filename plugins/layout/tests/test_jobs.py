"""The jobs of layout on pages of a project: what they write, what they leave unchanged, and that a second run
writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson
import pytest
from layout_pages import real_image

from armarium.api import Engine, Example, Invalid, Library, NotFound, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_testing import sample_layouts as samples
from armarium_testing.digest import table_digests
from armarium_testing.sample_pages import sample_picture

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def example(engine: Engine, library: Library, tmp_path: Any) -> Example:
    """Adds sample pages to the project."""
    return Example(engine, library, LOCAL_OWNER, tmp_path)


def rows(library: Library, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    with library.db.read() as conn:
        return raw_of(conn).execute(statement, given).fetchall()


def work(engine: Engine, library: Library, job: str, page: str, **settings: Any) -> dict[str, Any]:
    """Enqueue a job for a page through its action, let it end, and return its result with its id."""
    name = f"layout.{job.replace('-', '_')}"
    queued = engine.run(library, name, {"scope_ids": [page], **settings}, LOCAL_OWNER).result or {}
    engine.jobs.run_until_idle(library, 60)
    ((state, reason, result),) = rows(
        library, "SELECT state, reason, result FROM job WHERE id = ?", queued["job_id"]
    )
    assert state == "done", reason
    return {**orjson.loads(result), "job_id": queued["job_id"]}


def lines_by_a_machine(example: Example, page: str) -> list[str]:
    """Add the sample letter's lines as a reader would find them; return their ids."""
    width, height = samples.WIDTH, samples.HEIGHT
    lines = [
        {
            "key": str(y),
            "rect": [80 / width, (y - 22) / height, 440 / width, 26 / height],
            "baseline": [[80 / width, y / height], [520 / width, y / height]],
            "text": f"line at {y}",
        }
        for y in (100, 140, 180, 420, 460, 500)
    ]
    result = example.run(
        "segment.take_lines",
        {"document_id": page, "name": "Lines", "provider": "sample-reader", "lines": lines},
    )
    return list(result["segment_ids"])


def test_regions_take_the_lines_that_stand_in_them_and_the_text_stays(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.letter_page(example)
    ids = lines_by_a_machine(example, page)
    done = work(engine, library, "find-regions", page)
    regions = rows(library, "SELECT id, run_id FROM segment WHERE kind = 'region' ORDER BY bbox_y")
    assert len(regions) == 2
    assert {run for _, run in regions} == {done["job_id"]}
    held_rows = dict(rows(library, "SELECT id, parent_segment_id FROM segment WHERE kind = 'line'"))
    assert [held_rows[identity] for identity in ids] == [regions[0][0]] * 3 + [regions[1][0]] * 3
    from armarium_source_model.api import page_text

    with library.db.read() as conn:
        text = page_text(conn, page).text
    assert [word for word in text.split("\n") if word] == [
        f"line at {y}" for y in (100, 140, 180, 420, 460, 500)
    ]


def test_regions_of_a_page_without_lines_come_from_its_ink(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.letter_page(example)
    assert work(engine, library, "find-regions", page)["pages"] == 1
    tops = [row[0] * samples.HEIGHT for row in rows(library, "SELECT bbox_y FROM segment ORDER BY bbox_y")]
    assert tops == pytest.approx([80, 400], abs=12)


def test_the_order_names_each_line_once_and_is_recomputed_only_when_lines_change(
    engine: Engine, library: Library, example: Example, do: Run
) -> None:
    page = samples.letter_page(example)
    ids = lines_by_a_machine(example, page)
    work(engine, library, "put-in-order", page)
    statement = (
        "SELECT e.segment_id FROM reading_order_entry e JOIN reading_order o ON o.id = e.order_id"
        " WHERE o.deleted_at IS NULL ORDER BY e.position"
    )
    assert [row[0] for row in rows(library, statement)] == ids
    assert work(engine, library, "put-in-order", page)["skipped"] == 1
    do("segment.delete", {"segment_ids": [ids[2]], "expected_versions": [1]})
    assert work(engine, library, "put-in-order", page)["pages"] == 1
    assert [row[0] for row in rows(library, statement)] == [*ids[:2], *ids[3:]]


def test_outlines_are_written_once_and_never_replace_a_persons(
    engine: Engine, library: Library, example: Example, do: Run
) -> None:
    page = samples.letter_page(example)
    ids = lines_by_a_machine(example, page)
    do(
        "segment.update",
        {"segment_id": ids[0], "expected_version": 1, "anchor": {"rect": [0.13, 0.1, 0.74, 0.03]}},
    )
    assert work(engine, library, "refine-shapes", page)["pages"] == 1
    anchors = {
        one: orjson.loads(anchor)
        for one, anchor in rows(library, "SELECT id, anchor FROM segment WHERE kind = 'line'")
    }
    assert "polygon" not in anchors[ids[0]]
    assert all(len(anchors[identity]["polygon"]) >= 4 for identity in ids[1:])
    assert work(engine, library, "refine-shapes", page)["skipped"] == 1
    before = table_digests(library.db, engine.library_schema)
    assert work(engine, library, "refine-shapes", page, lines="all")["skipped"] == 1
    assert table_digests(library.db, engine.library_schema) == before


def test_cells_belong_to_their_table_with_row_and_column(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.table_page(example)
    work(engine, library, "find-a-tables-cells", page)
    ((table,),) = rows(library, "SELECT id FROM segment WHERE kind_raw = 'table'")
    cells = rows(library, "SELECT cell, parent_segment_id FROM segment WHERE kind_raw = 'table-cell'")
    assert {parent for _, parent in cells} == {table}
    places = sorted((cell["row"], cell["column"]) for cell in (orjson.loads(cell) for cell, _ in cells))
    assert places == [(r, c) for r in range(3) for c in range(2)]
    assert work(engine, library, "find-a-tables-cells", page)["skipped"] == 1


def test_a_spread_becomes_two_pages_once_and_its_halves_are_not_cut_again(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.spread_page(example)
    work(engine, library, "split-pages", page)
    halves = rows(
        library,
        "SELECT d.id, json_extract(region, '$.rect') FROM document d WHERE parent_id = ? ORDER BY sort_order",
        page,
    )
    assert len(halves) == 2
    left, right = (orjson.loads(rect) for _, rect in halves)
    assert left[2] == pytest.approx(0.5, abs=0.01)
    assert left[2] + right[2] == pytest.approx(1.0)
    assert work(engine, library, "split-pages", page)["skipped"] == 2
    assert len(rows(library, "SELECT 1 FROM document WHERE parent_id = ?", page)) == 2


def test_a_spread_that_was_transcribed_as_it_is_stays_whole(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.spread_page(example)
    pass_id = example.run("segment.pass_create", {"document_id": page, "name": "By hand"})["id"]
    line = {
        "document_id": page,
        "pass_id": pass_id,
        "kind": "line",
        "anchor": {"rect": [0.1, 0.1, 0.3, 0.05]},
    }
    example.run("segment.create_many", {"segments": [line]})
    assert work(engine, library, "split-pages", page)["skipped"] == 1
    assert rows(library, "SELECT 1 FROM document WHERE parent_id = ?", page) == []
    ((reason,),) = rows(library, "SELECT reason FROM job WHERE kind = 'split-pages'")
    assert reason.startswith("Nothing was done. The picture was transcribed as it is, so it stays whole")


def test_a_picture_whose_split_was_taken_back_is_not_split_again(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.spread_page(example)
    work(engine, library, "split-pages", page)
    example.run("image.unsplit", {"document_id": page})
    assert work(engine, library, "split-pages", page)["skipped"] == 1
    live = rows(library, "SELECT 1 FROM document WHERE parent_id = ? AND deleted_at IS NULL", page)
    assert live == []


def test_a_prepared_picture_is_a_rendition_with_its_transform_and_is_made_once(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.leaning_page(example)
    work(engine, library, "prepare-the-image", page, background=True)
    found_rows = rows(
        library,
        "SELECT role, is_primary, json_extract(transform, '$[1]'), json_extract(params, '$.degrees') FROM rendition"
        " WHERE document_id = ? ORDER BY is_primary DESC, role",
        page,
    )
    assert [(role, primary) for role, primary, _, _ in found_rows] == [
        ("archival-original", 1),
        ("background-removed", 0),
        ("deskewed", 0),
    ]
    assert found_rows[2][3] == pytest.approx(3.0, abs=0.3)
    again = work(engine, library, "prepare-the-image", page, background=True)
    assert again["output"] == {"renditions": []}
    assert len(rows(library, "SELECT 1 FROM rendition WHERE document_id = ?", page)) == 3


@pytest.mark.parametrize("job", ["find-regions", "refine-shapes", "find-a-tables-cells"])
def test_results_confirmed_by_a_person_are_not_changed(
    engine: Engine, library: Library, example: Example, do: Run, job: str
) -> None:
    page = samples.lined_page(example)
    do("segment.pass_ground_truth", {"pass_id": page["pass_id"], "ground_truth": True})
    before = table_digests(library.db, engine.library_schema)
    assert work(engine, library, job, page["document_id"])["skipped"] == 1
    assert table_digests(library.db, engine.library_schema) == before


def test_everything_a_job_wrote_on_many_pages_is_undone_as_one_set(
    engine: Engine, library: Library, example: Example
) -> None:
    pages = [samples.letter_page(example) for _ in range(3)]
    before = table_digests(library.db, engine.library_schema)
    queued = engine.run(library, "layout.find_regions", {"scope_ids": pages}, LOCAL_OWNER).result or {}
    engine.jobs.run_until_idle(library, 60)
    steps = [
        row[0]
        for row in rows(library, "SELECT id FROM audit WHERE set_id = ? ORDER BY seq", queued["job_id"])
    ]
    assert len(steps) == 3
    engine.undo(library, steps, LOCAL_OWNER)
    assert table_digests(library.db, engine.library_schema) == before


@pytest.mark.parametrize("job", ["find-regions", "find-a-tables-cells", "split-pages", "prepare-the-image"])
def test_a_page_without_a_picture_is_named_and_the_others_are_done(
    engine: Engine, library: Library, example: Example, do: Run, job: str
) -> None:
    bare = do("document.create", {"name": "No picture", "doc_type": "page"})["id"]
    whole = {"split-pages": samples.spread_page, "find-a-tables-cells": samples.table_page}.get(
        job, samples.leaning_page
    )(example)
    name = f"layout.{job.replace('-', '_')}"
    queued = engine.run(library, name, {"scope_ids": [bare, whole]}, LOCAL_OWNER).result or {}
    engine.jobs.run_until_idle(library, 60)
    ((state, result),) = rows(library, "SELECT state, result FROM job WHERE id = ?", queued["job_id"])
    assert state == "done"
    told = orjson.loads(result)
    assert told["pages"] == 1
    assert [entry["document_id"] for entry in told["failed"]] == [bare]
    assert "picture" in told["failed"][0]["why"]


def test_tied_words_become_readings_of_the_lines_once(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.text_page(example)
    done = work(engine, library, "tie-text-to-lines", page)
    found_rows = rows(
        library,
        "SELECT r.content, r.producer_run_id, r.producer_tool, r.producer_model FROM content_representation r"
        " JOIN segment s ON s.id = r.segment_id ORDER BY s.bbox_y",
    )
    assert " ".join(row[0] for row in found_rows).split() == samples.SAMPLE_TEXT.split()
    assert {row[1:] for row in found_rows} == {(done["job_id"], "builtin", "tied-text")}
    assert work(engine, library, "tie-text-to-lines", page)["skipped"] == 1


def test_a_drawing_is_a_reading_of_its_region_and_is_traced_once(
    engine: Engine, library: Library, example: Example
) -> None:
    page = samples.drawing_page(example)
    work(engine, library, "trace-a-drawing", page)
    ((content, kind),) = rows(library, "SELECT content, kind FROM content_representation")
    assert kind == "drawing"
    assert content.startswith("<svg ")
    assert work(engine, library, "trace-a-drawing", page)["skipped"] == 1


def test_signs_are_drawn_once_and_the_example_is_none_of_them(
    engine: Engine, library: Library, example: Example
) -> None:
    sample = samples.sign_page(example)
    page, settings = sample["page_id"], sample["settings"]
    work(engine, library, "find-signs", page, **settings)
    found_rows = rows(
        library,
        "SELECT bbox_y + bbox_h / 2, parent_segment_id FROM segment WHERE kind_raw = 'sign' ORDER BY bbox_y",
    )
    middles = [y * samples.HEIGHT for y, _ in found_rows]
    assert middles == pytest.approx([y - 10 for y in samples.SIGN_ROWS[1:]], abs=4)
    assert work(engine, library, "find-signs", page, **settings)["skipped"] == 1
    gone = work_result(engine, library, "find-signs", page, examples=["f" * 32])
    assert gone == (
        "failed",
        "There is no segment "
        + "f" * 32
        + " to use as the example of a sign; name one that is drawn around the sign.",
    )


def work_result(engine: Engine, library: Library, job: str, page: str, **settings: Any) -> tuple[str, str]:
    """Run a job that must fail; return its state and reason."""
    name = f"layout.{job.replace('-', '_')}"
    queued = engine.run(library, name, {"scope_ids": [page], **settings}, LOCAL_OWNER).result or {}
    engine.jobs.run_until_idle(library, 60)
    ((state, reason),) = rows(library, "SELECT state, reason FROM job WHERE id = ?", queued["job_id"])
    return state, reason


def test_a_start_refuses_missing_documents_and_those_without_pages(
    engine: Engine, library: Library, do: Run
) -> None:
    folder = do("document.create", {"name": "Empty"})["id"]
    with pytest.raises(Invalid, match="contains no page"):
        do("layout.split_pages", {"scope_ids": [folder]})
    with pytest.raises(NotFound):
        do("layout.split_pages", {"scope_ids": ["f" * 32]})
    with pytest.raises(Invalid, match="lines"):
        do("layout.refine_shapes", {"scope_ids": [folder], "lines": "some"})


def test_a_picture_is_made_level_by_the_lines_that_are_known(
    engine: Engine, library: Library, example: Example
) -> None:
    """The ink of the sample letter is level, but the known lines fall by two degrees, and they take
    precedence.
    """
    page = samples.letter_page(example)
    lines = [
        {
            "key": str(number),
            "rect": [0.1, 0.1 * number, 0.8, 0.05],
            "baseline": [[0.1, 0.1 * number], [0.9, 0.1 * number + 0.8 * 600 / 800 * 0.0349]],
        }
        for number in range(1, 5)
    ]
    about = {"document_id": page, "name": "Lines", "provider": "sample-reader", "lines": lines}
    example.run("segment.take_lines", about)
    work(engine, library, "prepare-the-image", page)
    ((params,),) = rows(library, "SELECT params FROM rendition WHERE role = 'deskewed'")
    assert orjson.loads(params)["degrees"] == pytest.approx(2.0, abs=0.01)


def test_a_small_drawing_is_traced_as_finely_as_its_picture_is(
    engine: Engine, library: Library, example: Example
) -> None:
    """A ring of 300 pixels in a picture of 4,000: the drawing is traced in the picture's own pixels."""
    page = sample_picture(
        example,
        samples.sheet_with(
            lambda pen: pen.ellipse((2010, 1010, 2290, 1290), outline=20, width=9), (4000, 3000)
        ),
    )
    pass_id = example.run("segment.pass_create", {"document_id": page, "name": "Regions"})["id"]
    region = {"document_id": page, "pass_id": pass_id, "kind": "region", "kind_raw": "seal"}
    rect = [2000 / 4000, 1000 / 3000, 300 / 4000, 300 / 3000]
    example.run("segment.create_many", {"segments": [{**region, "anchor": {"rect": rect}}]})
    work(engine, library, "trace-a-drawing", page)
    ((svg,),) = rows(library, "SELECT content FROM content_representation WHERE kind = 'drawing'")
    assert 'viewBox="0 0 300 300"' in svg


@pytest.mark.parametrize("name", ["series-wills/0007.jpg", "onehand-peraire/D.2.eurasie-3-4_0016.jpg"])
def test_fragments_of_handwriting_are_no_regions_and_the_reason_says_what_to_do(
    engine: Engine, library: Library, example: Example, name: str
) -> None:
    page = sample_picture(example, real_image(name, 2000))
    assert work(engine, library, "find-regions", page)["skipped"] == 1
    ((log,),) = rows(library, "SELECT group_concat(message) FROM job_log")
    assert "find its lines first" in log
    assert rows(library, "SELECT count(*) FROM segment") == [(0,)]
