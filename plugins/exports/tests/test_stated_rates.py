"""The error rate of a selection goes with each file that is written of it, and says so when it no longer holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from exports_desk import Desk
from lxml import etree

TEXTS = [f"Anno domini millesimo {number}" for number in range(8)]


@pytest.fixture
def page(desk: Desk) -> str:
    """A page whose error rate was stated: eleven of its twenty lines answered, one letter wrong in the first."""
    box = desk.box()
    first, second = (desk.page(box, f"{number}.jpg", TEXTS) for number in (1, 2))
    sample = desk.do("quality.sample", {"scope_ids": [first, second], "lines": 12, "seed": 9})
    texts = dict(
        desk.rows("SELECT segment_id, content FROM content_representation WHERE segment_id IS NOT NULL")
    )
    while (line := desk.client.get(f"/api/quality/samples/{sample['id']}/next").json()["line"]) is not None:
        desk.do("quality.answer", {"line_id": line["line_id"], "text": texts[line["segment_id"]]})
    return first


def written(desk: Desk, page: str, name: str) -> str:
    answer = desk.client.get(f"/api/documents/{page}/export/{name}")
    assert answer.status_code == 200, answer.text
    content: str = answer.json()["content"]
    return content


@pytest.mark.parametrize(
    ("name", "within"),
    [("pagexml", "MetadataItem"), ("alto", "processingStepDescription"), ("tei", "editorialDecl")],
)
def test_a_written_page_carries_the_statement_once_however_often_it_goes_round(
    desk: Desk, page: str, name: str, within: str
) -> None:
    content = written(desk, page, name)
    assert content.count("Character error rate 0.00 % (95 % interval 0.00 to") == 1
    assert "12 of 16 lines, drawn at random with the seed 9" in content
    assert within in content.split("Character error rate")[0][-200:]
    assert "no longer holds" not in content
    # Read again and written again, it is stated anew and not carried along.
    files = [("file", (f"again.{name}.xml", content.encode()))]
    read = desk.client.post(f"/api/documents/{page}/import", files=files)
    assert read.status_code == 200, read.text
    desk.do("segment.pass_choose", {"pass_id": read.json()["pass_id"]})
    again = written(desk, page, name)
    assert again.count("Character error rate") == 1


def test_after_a_correction_the_statement_says_that_it_no_longer_holds(desk: Desk, page: str) -> None:
    ((line,), *_) = desk.rows("SELECT id FROM segment WHERE document_id = ?", page)
    desk.client.post(f"/api/segments/{line}/correct", json={"text": "Anno domini"})
    content = written(desk, page, "pagexml")
    assert "It no longer holds: the text of 1 of its pages has been read again or corrected since" in content
    stale = desk.client.get("/api/staleness")
    if stale.status_code == 200:
        assert "error rate" in {item["kind"] for item in stale.json()["items"]}


def test_records_contain_the_rate_with_seed_size_and_persons(desk: Desk, page: str) -> None:
    place = desk.folder / "records.jsonl"
    assert desk.client.post("/api/export/jsonl", json={"output_path": str(place)}).status_code == 200
    (rate,) = desk.records(place)["quality_sample"]
    assert (rate["seed"], rate["answered"], rate["population"]) == (9, 12, 16)
    assert rate["cer"]["low"] == 0 < rate["cer"]["high"]
    assert rate["persons"]


def test_the_searchable_pdf_carries_it_once_in_its_metadata(desk: Desk, page: str) -> None:
    def description_of(target: str) -> str:
        place = str(desk.folder / "out.pdf")
        answer = desk.post("/api/export/pdf", output_path=place, target_id=target, overwrite=True)
        data = Path(answer["output_path"]).read_bytes()
        start = data.index(b"<x:xmpmeta")
        packet = etree.fromstring(data[start : data.index(b"</x:xmpmeta>") + len(b"</x:xmpmeta>")])
        return "".join(next(packet.iter("{http://purl.org/dc/elements/1.1/}description")).itertext())

    ((folder,),) = desk.rows("SELECT parent_id FROM document WHERE id = ?", page)
    description = description_of(folder)
    assert description.startswith("Text of 16 lines: ")
    assert description.count("Character error rate 0.00 % (95 % interval 0.00 to") == 1
    assert "12 of 16 lines, drawn at random with the seed 9" in description
    assert "no longer holds" not in description
    ((line,), *_) = desk.rows("SELECT id FROM segment WHERE document_id = ?", page)
    desk.client.post(f"/api/segments/{line}/correct", json={"text": "Anno domini"})
    second_description = description_of(page)
    assert second_description.count("Character error rate") == 1
    assert (
        "It no longer holds: the text of 1 of its pages has been read again or corrected since"
        in second_description
    )


def test_each_page_of_the_website_says_it_in_whole_sentences(desk: Desk, page: str) -> None:
    desk.post("/api/export/eleventy-site", output_path=str(desk.folder / "site"))
    shown: list[dict[str, Any]] = orjson.loads(
        (desk.folder / "site" / "content" / "_data" / "pages.json").read_bytes()
    )
    assert len(shown) == 2
    for one in shown:
        makers, _, said = one["made"].partition(". ")
        assert makers.startswith("8 lines: ")
        assert said.startswith("Character error rate 0.00 % (95 % interval 0.00 to")
        # The page that shows it ends the last sentence.
        assert not said.endswith(".")
