"""Characters that an imported file places stand where it says, and are written back; judged with plain lxml."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import pytest
from lxml import etree
from PIL import Image

from armarium.api import Engine, Library, new_id
from armarium.principals import LOCAL_OWNER
from armarium_documents.plugin import armarium_plugin as documents
from armarium_formats.api import export_page
from armarium_formats.plugin import armarium_plugin as formats
from armarium_reading.evidence import evidence_of
from armarium_reading.plugin import armarium_plugin as reading
from armarium_source_model.plugin import armarium_plugin as source_model

SIZE = (1000, 800)
WORDS = {
    "e\u0301t": [("e\u0301", (100, 110, 130, 150), 0.5), ("t", (132, 100, 150, 150), 0.75)],
    "ab": [("a", (180, 112, 200, 150), 0.25), ("b", (201, 98, 220, 152), 1.0)],
}
GLYPHS = [glyph for word in WORDS.values() for glyph in word]
LINE = (90, 90, 230, 160)
Glyph = tuple[str, tuple[int, int, int, int], float]


def around(word: str) -> tuple[int, int, int, int]:
    lefts, tops, rights, bottoms = zip(*(box for _, box, _ in WORDS[word]), strict=True)
    return min(lefts), min(tops), max(rights), max(bottoms)


def alto() -> str:
    def at(box: tuple[int, int, int, int]) -> str:
        left, top, right, bottom = box
        return f'HPOS="{left}" VPOS="{top}" WIDTH="{right - left}" HEIGHT="{bottom - top}"'

    strings = [
        f'<String ID="w{number}" CONTENT="{word}" {at(around(word))}>'
        + "".join(
            f'<Glyph CONTENT="{one}" GC="{sure}" {at(box)}/>'
            for letter, box, sure in WORDS[word]
            for one in letter
        )
        + "</String>"
        for number, word in enumerate(WORDS)
    ]
    return (
        '<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Description><MeasurementUnit>pixel</MeasurementUnit>'
        f'</Description><Layout><Page ID="p" WIDTH="{SIZE[0]}" HEIGHT="{SIZE[1]}"><PrintSpace><TextBlock ID="b">'
        f'<TextLine ID="l" {at(LINE)}>{"<SP/>".join(strings)}</TextLine></TextBlock></PrintSpace></Page></Layout></alto>'
    )


def pagexml() -> str:
    def coords(box: tuple[int, int, int, int]) -> str:
        left, top, right, bottom = box
        return f'<Coords points="{left},{top} {right},{top} {right},{bottom} {left},{bottom}"/>'

    def equiv(text: str, sure: float = 1.0) -> str:
        return f'<TextEquiv conf="{sure}"><Unicode>{text}</Unicode></TextEquiv>'

    words = "".join(
        f'<Word id="w{number}">{coords(around(word))}'
        + "".join(
            f'<Glyph id="w{number}g{at}">{coords(box)}{equiv(letter, sure)}</Glyph>'
            for at, (letter, box, sure) in enumerate(WORDS[word])
        )
        + f"{equiv(word)}</Word>"
        for number, word in enumerate(WORDS)
    )
    return (
        '<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"><Metadata><Creator>c</Creator>'
        "<Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>"
        f'<Page imageFilename="1.png" imageWidth="{SIZE[0]}" imageHeight="{SIZE[1]}"><TextRegion id="r">{coords(LINE)}'
        f'<TextLine id="l">{coords(LINE)}{words}{equiv(" ".join(WORDS))}</TextLine></TextRegion></Page></PcGts>'
    )


def hocr(*, in_title: bool = False) -> str:
    def at(box: tuple[int, int, int, int]) -> str:
        return " ".join(map(str, box))

    words = []
    for word, glyphs in WORDS.items():
        inside = "".join(
            f'<span class="ocrx_cinfo" title="x_bboxes {at(box)}; x_conf {100 * sure:g}">{letter}</span>'
            for letter, box, sure in glyphs
        )
        title = f"bbox {at(around(word))}"
        if in_title:
            # One box for each code point, as the standard has it.
            codes = [(box, sure) for letter, box, sure in glyphs for _ in letter]
            title += f"; x_bboxes {' '.join(at(box) for box, _ in codes)}"
            title += f"; x_confs {' '.join(f'{100 * sure:g}' for _, sure in codes)}"
            inside = word
        words.append(f'<span class="ocrx_word" title="{title}">{inside}</span>')
    return (
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><meta name="ocr-system" content="x"/></head><body>'
        f'<div class="ocr_page" title="bbox 0 0 {SIZE[0]} {SIZE[1]}"><span class="ocr_line" title="bbox {at(LINE)}">'
        f"{' '.join(words)}</span></div></body></html>"
    )


def glyphs_in(content: str) -> list[tuple[str, tuple[int, ...], float]]:
    """Return the glyphs of a file of any of the formats, by lxml alone; code points of one place are one character."""
    found: list[tuple[str, tuple[int, ...], float]] = []
    for element in etree.fromstring(content.encode()).iter("{*}Glyph", "{*}span"):
        title = dict(
            part.strip().split(" ", 1) for part in element.get("title", "").split(";") if part.strip()
        )
        if element.get("class") == "ocrx_cinfo":
            box = tuple(map(int, (title.get("bbox") or title["x_bboxes"]).split()))
            read = ("".join(element.itertext()), box, float(title["x_conf"]) / 100)
        elif element.get("class"):
            continue
        elif element.get("HPOS") is not None:
            left, top, width, height = (
                float(element.get(key)) for key in ("HPOS", "VPOS", "WIDTH", "HEIGHT")
            )
            box = (round(left), round(top), round(left + width), round(top + height))
            read = (element.get("CONTENT"), box, float(element.get("GC")))
        else:
            points = [
                tuple(map(int, at.split(","))) for at in element.find("{*}Coords").get("points").split()
            ]
            xs, ys = zip(*points, strict=True)
            equiv = element.find("{*}TextEquiv")
            read = (
                equiv.findtext("{*}Unicode"), (min(xs), min(ys), max(xs), max(ys)), float(equiv.get("conf"))
            )  # fmt: skip
        if found and found[-1][1] == read[1]:
            read = (found.pop()[0] + read[0], *read[1:])
        found.append(read)
    return found


class Desk:
    """A project into whose pages files are imported."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.box = self.do("document.create", {"name": "Box", "doc_type": "folder"})["id"]

    def do(self, name: str, params: dict[str, Any]) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def take(self, content: str, filename: str) -> tuple[str, str, list[str]]:
        """Import a file; return the page, its line and its words."""
        picture = BytesIO()
        Image.new("L", SIZE, len(content) % 255).save(picture, "PNG")
        given = {
            "checksum": self.library.objects.put_bytes(picture.getvalue()),
            "mime_type": "image/png",
            "size_bytes": len(picture.getvalue()),
            "pixel_width": SIZE[0],
            "pixel_height": SIZE[1],
        }
        page = new_id()
        node = {"id": page, "parent_id": self.box, "doc_type": "file", "file_type": "image", "name": page}
        self.do("document.add_files", {"nodes": [{**node, "picture": given}]})
        self.do("format.import", {"document_id": page, "file": content, "filename": filename})
        with self.library.db.read() as conn:
            rows = conn.exec_driver_sql(
                "SELECT id, kind FROM segment WHERE document_id = ? ORDER BY bbox_x", (page,)
            ).fetchall()
        (line,) = [row.id for row in rows if row.kind == "line"]
        return page, line, [row.id for row in rows if row.kind == "word"]

    def evidence(self, segment: str) -> dict[str, Any]:
        return evidence_of(self.engine, self.library, LOCAL_OWNER, segment)

    def export(self, page: str, name: str) -> str:
        return str(export_page(self.engine, self.library, page, name)["content"])


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    return make_engine(plugins=[documents(), source_model(), formats(), reading()])


@pytest.fixture
def desk(engine: Engine, library: Library) -> Desk:
    return Desk(engine, library)


def characters(found: dict[str, Any]) -> list[tuple[str, tuple[int, ...], float]]:
    boxes = []
    for character in found["characters"]:
        x, y, w, h = character["rect"]
        box = (x * SIZE[0], y * SIZE[1], (x + w) * SIZE[0], (y + h) * SIZE[1])
        boxes.append((character["text"], tuple(map(round, box)), character["probability"]))
    return boxes


@pytest.mark.parametrize(
    ("content", "filename"),
    [(alto(), "1.xml"), (pagexml(), "1.xml"), (hocr(), "1.hocr"), (hocr(in_title=True), "1.hocr")],
    ids=["alto", "page", "hocr", "hocr-titles"],
)
def test_the_characters_of_a_file_stand_where_it_says_and_go_into_every_format(
    desk: Desk, content: str, filename: str
) -> None:
    page, line, words = desk.take(content, filename)
    found = desk.evidence(line)
    assert found["source"] == "reader"
    assert characters(found) == GLYPHS
    assert [word["text"] for word in found["words"]] == list(WORDS)
    assert characters(desk.evidence(words[1])) == WORDS["ab"]
    for name in ("alto", "pagexml", "hocr"):
        if not (name == "hocr" and "x_confs" in content):  # written as it was: in the title
            assert glyphs_in(desk.export(page, name)) == GLYPHS, name
    # A corrected word stands nowhere any more, and no glyph of another text is written.
    desk.do("representation.create_many", {"corrections": [{"segment_id": words[0], "text": "x"}]})
    for name in ("alto", "pagexml", "hocr"):
        assert [one for one, _, _ in glyphs_in(desk.export(page, name))] in (["a", "b"], []), name


@pytest.mark.parametrize(
    ("content", "filename"),
    [(alto(), "1.xml"), (pagexml(), "1.xml"), (hocr(), "1.hocr"), (hocr(in_title=True), "1.hocr")],
    ids=["alto", "page", "hocr", "hocr-titles"],
)
def test_a_word_that_was_reshaped_leaves_its_glyphs_behind(desk: Desk, content: str, filename: str) -> None:
    page, _, words = desk.take(content, filename)
    moved = {"document_id": page, "rect": [0.5, 0.5, 0.1, 0.1]}
    desk.do("segment.update", {"segment_id": words[0], "expected_version": 1, "anchor": moved})
    for name in ("alto", "pagexml", "hocr"):
        exported = export_page(desk.engine, desk.library, page, name)
        if not (name == "hocr" and "x_confs" in content):
            assert glyphs_in(str(exported["content"])) == WORDS["ab"], name
        assert any(loss["what"] == "places of characters" for loss in exported["losses"]), name
        assert "100 110 130 150" not in str(exported["content"])


@pytest.mark.parametrize("content", [alto(), pagexml()], ids=["alto", "page"])
def test_glyphs_of_a_picture_of_another_size_are_written_where_they_stand_on_this_one(
    desk: Desk, content: str
) -> None:
    half = content.replace(f'WIDTH="{SIZE[0]}" HEIGHT="{SIZE[1]}"', 'WIDTH="2000" HEIGHT="1600"')
    half = half.replace('imageWidth="1000" imageHeight="800"', 'imageWidth="2000" imageHeight="1600"')
    page, line, _ = desk.take(half, "1.xml")
    smaller = [(text, tuple(round(one / 2) for one in box), sure) for text, box, sure in GLYPHS]
    assert characters(desk.evidence(line)) == smaller
    for name in ("alto", "pagexml", "hocr"):
        assert glyphs_in(desk.export(page, name)) == smaller, name


def test_what_else_a_file_says_a_character_or_a_word_may_be_is_among_the_others(desk: Desk) -> None:
    in_alto = alto().replace("</String>", "<ALTERNATIVE>oh</ALTERNATIVE></String>", 1)
    last = 'CONTENT="t" GC="0.75" HPOS="132" VPOS="100" WIDTH="18" HEIGHT="50"'
    in_alto = in_alto.replace(
        f"<Glyph {last}/>", f'<Glyph {last}><Variant CONTENT="l" VC="0.25"/><Variant CONTENT="f"/></Glyph>'
    )
    second = '<TextEquiv index="1" conf="0.25"><Unicode>l</Unicode></TextEquiv>'
    third = '<TextEquiv index="2"><Unicode>f</Unicode></TextEquiv>'
    of_letter = '<TextEquiv conf="0.75"><Unicode>t</Unicode></TextEquiv>'
    of_word = '<TextEquiv conf="1.0"><Unicode>e\u0301t</Unicode></TextEquiv>'
    in_page = pagexml().replace(of_letter, of_letter.replace(" ", ' index="0" ', 1) + third + second)
    in_page = in_page.replace(
        of_word,
        of_word.replace(" ", ' index="0" ', 1) + '<TextEquiv index="1"><Unicode>oh</Unicode></TextEquiv>',
    )
    for content in (in_alto, in_page):
        page, line, words = desk.take(content, "1.xml")
        told = desk.evidence(line)
        assert [character["others"] for character in told["characters"]] == [
            [], [{"text": "l", "probability": 0.25}, {"text": "f", "probability": None}], [], []
        ]  # fmt: skip
        assert [word["others"] for word in told["words"]] == [[{"text": "oh", "probability": None}], []]
        assert desk.evidence(words[0])["words"][0]["others"] == [{"text": "oh", "probability": None}]
        again = desk.take(desk.export(page, "pagexml"), "1.xml")[1]
        assert [character["others"] for character in desk.evidence(again)["characters"]] == [
            character["others"] for character in told["characters"]
        ]


def test_glyphs_that_are_not_the_text_say_nothing_and_words_are_enough(desk: Desk) -> None:
    _, line, _ = desk.take(alto().replace('<Glyph CONTENT="b"', '<Glyph CONTENT="c"'), "1.xml")
    found = desk.evidence(line)
    assert (found["source"], found["characters"]) == ("words", [])
    assert [round(word["rect"][0] * SIZE[0]) for word in found["words"]] == [100, 180]
