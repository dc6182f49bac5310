"""Files imported as the truth, into whose passes a reader writes later: the file's text stays what is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import training_readers
from training_desk import Desk

from armarium.api import Engine
from armarium.principals import LOCAL_OWNER
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_formats.plugin import armarium_plugin as formats
from armarium_images.plugin import armarium_plugin as images
from armarium_layout.plugin import armarium_plugin as layout
from armarium_reading.api import READERS
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_training.line_sets import checked_lines, line_set
from armarium_training.plugin import armarium_plugin as training

ALTO = """<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="400" HEIGHT="120"><PrintSpace>
<TextBlock ID="b"><TextLine ID="l" HPOS="10" VPOS="10" WIDTH="100" HEIGHT="20"><String CONTENT="the truth"/></TextLine>
</TextBlock></PrintSpace></Page></Layout></alto>"""


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine that imports files too."""
    stands_on = [documents(), source_model(), formats(), images(), layout(), reading(), rights(), checking()]
    return make_engine(plugins=[*stands_on, training()])


@pytest.mark.parametrize("named", [False, True])
def test_what_a_reader_writes_there_later_does_not_become_the_truth(desk: Desk, named: bool) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)
    page = desk.picture(2)
    desk.do("format.import", {"document_id": page, "file": ALTO, "filename": "p.xml"})
    ((pass_id, name),) = desk.rows("SELECT id, name FROM segment_pass WHERE document_id = ?", page)
    ((line,),) = desk.rows("SELECT id FROM segment WHERE pass_id = ? AND kind = 'line'", pass_id)
    if not named:
        desk.do("segment.pass_ground_truth", {"pass_id": pass_id, "ground_truth": True})
    desk.read(page, pass_id, {str(line): "line 0"}, "careful")
    given: dict[str, Any] = {
        "candidates": [{"model": "careful", "reader": "linereader"}],
        "held_out_ids": [page],
    }
    given |= {"add_out_of_the_box": False} | ({"pass": name} if named else {})
    job_id = desk.client.post("/api/evaluation/runs", json=given).json()["job_id"]
    desk.engine.jobs.run_until_idle(desk.library)
    answer = desk.client.get(f"/api/evaluation/runs/{job_id}").json()
    assert answer["state"] == "done", answer
    diplomatic = answer["result"]["models"][0]["totals"]["diplomatic"]
    assert diplomatic["reference_chars"] == len("the truth")
    assert diplomatic["distance"] > 0
    with desk.library.db.read() as conn:
        (checked,), _ = checked_lines(conn, page, name)
    assert checked.text == "the truth"


@pytest.mark.parametrize("teacher", ["alto", "ALTO: p.xml"])
def test_files_teach_their_own_texts_also_where_a_reader_read_the_lines_later(
    desk: Desk, teacher: str
) -> None:
    page = desk.picture(2)
    desk.do("format.import", {"document_id": page, "file": ALTO, "filename": "p.xml"})
    ((pass_id,),) = desk.rows("SELECT id FROM segment_pass WHERE document_id = ?", page)
    ((line,),) = desk.rows("SELECT id FROM segment WHERE pass_id = ? AND kind = 'line'", pass_id)
    desk.read(page, pass_id, {str(line): "the tooth"}, "careful")
    found = desk.set([page], teacher)
    assert (found["lines_from_files"], found["lines_read_by_a_model"]) == (1, 0)
    assert _texts_to_teach(desk, page, teacher) == ["the truth"]
    assert _texts_to_teach(desk, page, "careful") == ["the tooth"]
    desk.correct(line, "the truth.")
    assert _texts_to_teach(desk, page, teacher) == ["the truth."]


def test_a_ground_truth_that_a_reader_read_later_is_taught_as_it_was_imported(desk: Desk) -> None:
    page = desk.picture(2)
    desk.do("format.import", {"document_id": page, "file": ALTO, "filename": "p.xml"})
    ((pass_id,),) = desk.rows("SELECT id FROM segment_pass WHERE document_id = ?", page)
    ((line,),) = desk.rows("SELECT id FROM segment WHERE pass_id = ? AND kind = 'line'", pass_id)
    desk.do("segment.pass_ground_truth", {"pass_id": pass_id, "ground_truth": True})
    desk.read(page, pass_id, {str(line): "the tooth"}, "careful")
    assert _texts_to_teach(desk, page, None) == ["the truth"]


def test_a_reader_is_taught_its_own_readings_also_where_another_read_the_lines_later(desk: Desk) -> None:
    page, lines = desk.page(["one", "two"])
    ((pass_id,),) = desk.rows("SELECT id FROM segment_pass WHERE document_id = ?", page)
    desk.read(page, pass_id, dict(zip(lines, ("ohe", "tvo"), strict=True)), "somebody else")
    assert _texts_to_teach(desk, page, "teacher") == ["one", "two"]


def _texts_to_teach(desk: Desk, page: str, teacher: str | None) -> list[str]:
    """Return the texts on which a reader would be trained."""
    with desk.library.db.read() as conn:
        found = line_set(conn, desk.library, LOCAL_OWNER, teacher=teacher, page_ids=[page], held_out_ids=[])
    return [line.text for line in found.lines]
