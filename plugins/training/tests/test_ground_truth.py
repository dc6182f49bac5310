"""Files imported as the truth, into whose passes a reader writes later: the file's text stays what is compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import training_readers
from training_desk import Desk

from armarium.api import Engine
from armarium_checking.plugin import armarium_plugin as checking
from armarium_documents.plugin import armarium_plugin as documents
from armarium_formats.plugin import armarium_plugin as formats
from armarium_images.plugin import armarium_plugin as images
from armarium_layout.plugin import armarium_plugin as layout
from armarium_reading.api import READERS
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_training.line_sets import checked_lines
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
    for one in training_readers.ALL:
        desk.engine.drivers.give(READERS, one.name, one)
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
