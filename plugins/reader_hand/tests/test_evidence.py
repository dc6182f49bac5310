"""Evidence from end to end: read by the hand reader, stored, answered, worked out anew, and written into files."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from armarium.api import Engine, Forbidden, Library, NotFound, new_id, raw_of, steps
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_formats.api import export_page
from armarium_formats.plugin import armarium_plugin as formats
from armarium_iiif.plugin import armarium_plugin as iiif
from armarium_reader_hand.reader import HandReader
from armarium_reading.evidence import evidence_of
from armarium_reading.ink import ink_says
from armarium_reading.plugin import armarium_plugin as reading
from armarium_rights.plugin import armarium_plugin as rights
from armarium_source_model.plugin import armarium_plugin as source_model
from armarium_testing.drawn_lines import draw_line, overlap, save
from armarium_worker import graphemes

WORDS = ["The", "quick", "brown", "fox", "jumps"]
TEXT = " ".join(WORDS)


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    if why := HandReader.why_not(None):
        pytest.skip(why)
    return make_engine(plugins=[documents(), source_model(), formats(), reading(), rights(), iiif()])


class Page:
    """A page with one drawn line, in a project."""

    def __init__(self, engine: Engine, library: Library, folder: Path, client: Any) -> None:
        self.engine, self.library, self.client = engine, library, client
        picture, self.boxes = draw_line(WORDS)
        path = save(picture, folder)
        self.size = picture.size
        given = {
            "checksum": library.objects.put_bytes(path.read_bytes()),
            "mime_type": "image/png",
            "size_bytes": path.stat().st_size,
            "pixel_width": self.size[0],
            "pixel_height": self.size[1],
        }
        box = self.do("document.create", {"name": "Box", "doc_type": "folder"})["id"]
        self.id = new_id()
        node = {"id": self.id, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.png"}
        self.do("document.add_files", {"nodes": [{**node, "picture": given}]})
        self.pass_id = self.do("segment.pass_create", {"document_id": self.id, "name": "Lines"})["id"]
        self.rect = [0.05, 185 / 500, (self.boxes[-1][2] - 60) / 1600, 90 / 500]
        made = {
            "document_id": self.id,
            "pass_id": self.pass_id,
            "kind": "line",
            "anchor": {"rect": self.rect},
        }
        self.line = self.do("segment.create_many", {"segments": [made]})["items"][0]["id"]

    def do(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def read(self) -> None:
        self.do("reading.read_lines", {"scope_ids": [self.id], "reader": "hand"})
        assert self.engine.jobs.run_until_idle(self.library)

    def evidence(self, **more: Any) -> dict[str, Any]:
        return evidence_of(self.engine, self.library, LOCAL_OWNER, self.line, **more)

    def boxes_of(self, words: list[dict[str, Any]]) -> list[tuple[float, float, float, float]]:
        w, h = self.size
        return [(x * w, y * h, (x + a) * w, (y + b) * h) for x, y, a, b in (word["rect"] for word in words)]


@pytest.fixture
def page(engine: Engine, library: Library, tmp_path: Path, client: Any) -> Page:
    return Page(engine, library, tmp_path, client)


def test_a_reading_keeps_where_its_letters_stand_and_answers_it_without_a_model(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    page.read()
    monkeypatch.setattr(page.engine.workers, "call", None)
    answer = page.client.get(f"/api/segments/{page.line}/evidence").json()
    assert answer["source"] == "reader"
    assert answer["notice"] is None
    assert "".join(character["text"] for character in answer["characters"]) == answer["text"].replace(" ", "")
    assert [word["text"] for word in answer["words"]] == answer["text"].split()
    assert all(0 <= character["probability"] <= 1 for character in answer["characters"])
    assert len(answer["frame"]) == 4
    starts = [character["rect"][0] for character in answer["characters"]]
    assert starts == sorted(starts)


def test_a_correction_is_aligned_and_its_words_are_where_they_were_drawn(page: Page) -> None:
    page.read()
    page.do("representation.create", {"segment_id": page.line, "text": TEXT})
    found = page.evidence()
    assert found["source"] == "aligned"
    assert found["fit"] > 0.1
    scores = [
        overlap(box, other_box)
        for box, other_box in zip(page.boxes_of(found["words"]), page.boxes, strict=True)
    ]
    assert min(scores) > 0.6
    second_answer = page.client.post(
        f"/api/segments/{page.line}/evidence", json={"text": "The quick brewn fox jumps"}
    ).json()
    letter = second_answer["characters"]["Thequickbr".__len__()]
    assert letter["text"] == "e"
    assert letter["probability"] < 0.5
    assert "o" in {one["text"] for one in letter["others"]}


def test_a_line_reshaped_since_its_reading_is_placed_anew_and_says_so(page: Page) -> None:
    page.read()
    wider = [page.rect[0] - 0.01, *page.rect[1:]]
    page.do("segment.update", {"segment_id": page.line, "expected_version": 1, "anchor": {"rect": wider}})
    found = page.evidence()
    assert found["source"] == "aligned"
    assert "another shape" in found["notice"]


def test_words_with_places_of_their_own_say_nothing_of_their_letters(page: Page) -> None:
    page.do("representation.create", {"segment_id": page.line, "text": TEXT})
    for word, box in zip(WORDS, page.boxes, strict=True):
        rect = [box[0] / 1600, box[1] / 500, (box[2] - box[0]) / 1600, (box[3] - box[1]) / 500]
        made = {"document_id": page.id, "pass_id": page.pass_id, "kind": "word", "anchor": {"rect": rect}}
        given = {"segments": [{**made, "parent_segment_id": page.line}]}
        segment = page.do("segment.create_many", given)["items"][0]["id"]
        page.do("representation.create", {"segment_id": segment, "text": word})
    found = page.evidence()
    assert found["source"] == "words"
    assert found["characters"] == []
    assert [word["text"] for word in found["words"]] == WORDS
    scores = [
        overlap(one, other_box)
        for one, other_box in zip(page.boxes_of(found["words"]), page.boxes, strict=True)
    ]
    assert min(scores) > 0.99


@pytest.mark.parametrize(
    ("text", "source", "says"),
    [
        ("", "none", "no text"),
        ("שלום עולם", "estimate", "does not know"),
        ("word " * 400, "estimate", "room for at most"),
        ("e\u0301te\u0301 ça", "aligned", None),
        ("dn\u0304s ꝑ ⁊ ﬁnis", "aligned", None),
        (" \u00a0  ", "none", "no text"),
    ],
)
def test_what_cannot_be_placed_says_why(page: Page, text: str, source: str, says: str | None) -> None:
    found = page.evidence(text=text)
    assert found["source"] == source
    assert says is None or says in found["notice"]
    assert [character["text"] for character in found["characters"]] == [
        grapheme for grapheme in graphemes(text) if not grapheme.isspace()
    ]
    assert all(
        0 <= value <= 1
        for character in found["characters"]
        for point in character["corners"]
        for value in point
    )
    if source == "estimate" and "ש" in text:
        assert found["words"][0]["rect"][0] > found["words"][1]["rect"][0], "it begins on the right"


def test_a_region_a_strange_reading_and_a_page_no_model_may_see_are_refused(page: Page) -> None:
    made = {
        "document_id": page.id,
        "pass_id": page.pass_id,
        "kind": "region",
        "anchor": {"rect": [0, 0, 1, 1]},
    }
    region = page.do("segment.create_many", {"segments": [made]})["items"][0]["id"]
    assert page.client.get(f"/api/segments/{region}/evidence").json()["code"] == "evidence_needs_line"
    with pytest.raises(NotFound) as refused:
        page.evidence(representation_id="nobody")
    assert refused.value.code == "no_such_reading"
    page.do("representation.create", {"segment_id": page.line, "text": TEXT})
    page.do("rights.set", {"target_kind": "document", "target_id": page.id, "restricted": True})
    with pytest.raises(Forbidden) as withheld:
        evidence_of(page.engine, page.library, replace(LOCAL_OWNER, kind="machine", role="editor"), page.line)
    assert withheld.value.code in ("evidence_withheld", "rights_restricted")


def test_places_that_are_not_of_the_text_are_refused(page: Page) -> None:
    given = {"frame": [0, 0, 1, 0, 0, 1], "letters": [0, 1, 2, 3, 4]}
    reading_ = {"segment_id": page.line, "text": "ab", "places": given}
    body = {
        "name": "reading.take",
        "params": {"document_id": page.id, "pass_id": page.pass_id, "provider": "x", "readings": [reading_]},
    }
    assert page.client.post("/api/actions/invoke", json=body).json()["code"] == "places_of_other_text"


def test_undo_takes_the_places_back_with_the_reading(page: Page) -> None:
    page.read()

    def count() -> int:
        with page.library.db.read() as conn:
            return int(raw_of(conn).execute("SELECT count(*) FROM segment_letter_places").fetchone()[0])

    assert count() == 1
    with page.library.db.read() as conn:
        step = conn.execute(select(steps.c.id).where(steps.c.action_name == "reading.take")).scalar_one()
    undone = page.engine.undo(page.library, [step], LOCAL_OWNER)["audit_ids"]
    assert count() == 0
    page.engine.undo(page.library, undone, LOCAL_OWNER)
    assert count() == 1


@pytest.mark.parametrize("name", ["hocr", "alto", "pagexml"])
def test_words_that_the_reader_placed_are_in_the_files(page: Page, name: str) -> None:
    page.read()
    found = page.evidence()
    content = export_page(page.engine, page.library, page.id, name)["content"]
    word = page.boxes_of(found["words"])[0]
    left, top = round(word[0]), round(word[1])
    pattern = {
        "hocr": rf'ocrx_word" title="bbox {left} {top} ',
        "alto": rf'HPOS="{left}" VPOS="{top}"',
        "pagexml": rf"<Word .*?<Coords points=\"{left},{top} ",
    }[name]
    assert re.search(pattern, content, re.DOTALL), content
    if name == "hocr":
        assert "x_estimated" not in content


def test_the_ink_says_which_of_two_texts_is_likelier(page: Page) -> None:
    wrong = "The quick brewn fox jumps"
    asked = [(page.line, wrong, TEXT), (page.line, TEXT, wrong), (page.line, TEXT, "word " * 400)]
    with page.library.db.read() as conn:
        said = ink_says(page.engine, page.library, conn, LOCAL_OWNER, asked, 60.0)
        late = ink_says(page.engine, page.library, conn, LOCAL_OWNER, asked, -1.0)
    assert said[0] > 0 > said[1]
    assert said[0] == pytest.approx(-said[1])
    # What has no room on the line has no likelihood, and no page is begun when the time is over.
    assert set(said) == {0, 1}
    assert late == {}


def test_the_ink_of_a_page_that_models_may_not_see_says_nothing(page: Page) -> None:
    page.do("rights.set", {"target_kind": "document", "target_id": page.id, "model_use": "none"})
    with page.library.db.read() as conn:
        asked = [(page.line, TEXT, "The quick brewn fox jumps")]
        assert ink_says(page.engine, page.library, conn, LOCAL_OWNER, asked, 60.0) == {}


def test_the_words_of_a_page_stand_where_its_reader_placed_them(page: Page) -> None:
    page.read()
    found, asked = page.evidence(), f"/api/segments/document/{page.id}/words"
    words = page.client.get(asked).json()["words"]
    names = ("text", "char_start", "char_end", "probability")
    assert [[word[name] for name in names] for word in words] == [
        [word[name] for name in names] for word in found["words"]
    ]
    assert {(word["line_id"], word["segment_id"]) for word in words} == {(page.line, None)}
    for at in (0, 2):
        assert words[0]["corners"][at] == pytest.approx(found["words"][0]["corners"][at], abs=0.01)
    hits = page.client.get(f"/api/iiif/iiif/lines/{page.id}", params={"q": words[1]["text"]}).json()["items"]
    assert [hit["textGranularity"] for hit in hits] == ["word"]
    page.do("representation.create", {"segment_id": page.line, "text": TEXT})
    assert page.client.get(asked).json()["words"] == []


def test_a_page_that_a_reader_found_and_read_keeps_where_its_letters_stand(page: Page) -> None:
    page.do("reading.read_pages", {"scope_ids": [page.id], "reader": "rapidocr"})
    assert page.engine.jobs.run_until_idle(page.library)
    passes = page.client.get(f"/api/segments/document/{page.id}/lines").json()["passes"]
    (read,) = [page_pass["id"] for page_pass in passes if page_pass["id"] != page.pass_id]
    shapes = page.client.get(f"/api/segments/document/{page.id}/shapes", params={"pass_id": read})
    (page.line,) = [shape["id"] for shape in shapes.json()["shapes"]]
    found = page.evidence()
    assert (found["source"], found["notice"]) == ("reader", None)
    assert [word["text"] for word in found["words"]] == WORDS
    scores = [
        overlap((a, 0, c, 1), (x, 0, z, 1))
        for (a, _, c, _), (x, _, z, _) in zip(page.boxes_of(found["words"]), page.boxes, strict=True)
    ]
    assert min(scores) > 0.7
