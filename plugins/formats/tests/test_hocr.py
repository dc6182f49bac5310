"""hOCR: the output of each program is read completely, sloppy files are repaired with a note, hostile ones
refused.
"""

from __future__ import annotations

import contextlib

import pytest

from armarium.errors import Invalid
from armarium_formats.api import PageModel, PageSegment, ReadContext
from armarium_formats.hocr.driver import Hocr
from armarium_formats.hocr.titles import baseline_of, box_of, polygon_of, properties
from armarium_formats.markup.languages import language_and_script
from armarium_testing.formats import Sample, exercise_format

XHTML = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "x.dtd">\n'
TESSERACT = (
    XHTML + '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en" lang="en"><head><title></title>'
    "<meta name='ocr-system' content='tesseract 5.3.0'/>"
    "<meta name='ocr-capabilities' content='ocr_page ocr_carea ocr_par ocr_line ocrx_word'/></head><body>\n"
    "<div class='ocr_page' id='page_1' title='image \"scans/a;b.png\"; bbox 0 0 1000 1400; ppageno 0; scan_res 300 300'>\n"
    "<div class='ocr_carea' id='block_1_1' title='bbox 100 100 900 400'>\n"
    "<p class='ocr_par' id='par_1_1' lang='deu_frak' title='bbox 100 100 900 400'>\n"
    "<span class='ocr_header' id='line_1_1' title='bbox 100 100 900 160; baseline 0.01 -12; x_size 44'>\n"
    "<span class='ocrx_word' id='word_1_1' title='bbox 100 100 300 160; x_wconf 96'><strong>Dear</strong></span>\n"
    "<span class='ocrx_word' id='word_1_2' title='bbox 340 100 500 160; x_wconf 41' lang='lat' dir='ltr'>Sir &amp;c</span>\n"
    "</span></p></div>\n"
    "<div class='ocr_photo' id='block_1_2' title='bbox 100 500 900 800'></div>"
    "<div class='ocr_separator' id='block_1_3' title='bbox 100 850 900 852'/>"
    "</div></body></html>"
)


def read(text: str, size: tuple[int, int] | None = (1000, 1400)) -> list[PageModel]:
    return Hocr().read(text.encode(), ReadContext("page.html", size))


def page(inside: str, **attributes: str) -> PageModel:
    title = attributes.get("title", "bbox 0 0 1000 1400")
    return read(f"<html><body><div class='ocr_page' title='{title}'>{inside}</div></body></html>")[0]


def line(inside: str, title: str = "bbox 10 20 110 40") -> PageSegment:
    return page(f"<span class='ocr_line' title='{title}'>{inside}</span>").lines()[0]


def test_the_driver_passes_the_suite() -> None:
    exercise_format(
        Hocr, [Sample("tesseract.hocr", TESSERACT.encode(), lines=1, words=2, text="Dear Sir &c")]
    )


def test_output_of_tesseract_is_read_completely() -> None:
    found = read(TESSERACT)[0]
    assert (found.width, found.height, found.image) == (1000, 1400, "scans/a;b.png")
    assert [(segment.id, segment.kind, segment.kind_raw) for segment in found.walk()] == [
        ("block_1_1", "region", "ocr_carea"),
        ("par_1_1", "region", "ocr_par"),
        ("line_1_1", "line", "ocr_header"),
        ("word_1_1", "word", "ocrx_word"),
        ("word_1_2", "word", "ocrx_word"),
        ("block_1_2", "region", "ocr_photo"),
        ("block_1_3", "region", "ocr_separator"),
    ]
    first_line = found.lines()[0]
    assert first_line.points == [(100, 100), (900, 100), (900, 160), (100, 160)]
    assert first_line.baseline == [(100, 148), (900, 156)]
    words = found.of_kind("word")
    assert [(word.text, word.texts[0].confidence, word.language) for word in words] == [
        ("Dear", 0.96, None),
        ("Sir &c", 0.41, "la"),
    ]
    assert words[1].direction == "ltr"
    paragraph = found.segments[0].children[0]
    assert (paragraph.language, paragraph.script) == ("de", "Latf")
    assert found.extras["hocr"]["page"] == {"ppageno": "0", "scan_res": "300 300"}
    assert found.extras["hocr"]["meta"]["ocr-system"] == "tesseract 5.3.0"
    assert found.kept["property ocr_header/x_size"] == 1
    assert found.kept["element strong"] == 1
    (style,) = first_line.texts[0].marks
    assert (style.kind, first_line.text[style.start : style.end], style.stated) == (
        "style",
        "Dear",
        {"rend": "bold"},
    )
    assert found.notes == []


KRAKEN = """<!DOCTYPE html>
<html><head><meta name="ocr-system" content="kraken"/></head><body>
  <div class="ocr_page" title="bbox 0 0 1000 1400, image page.png" style="writing-mode: horizontal-tb;">
    <span class="ocr_line" id="line_0" title="bbox 10 20 500 60; cuts [[1, 2]]">
      <span class="ocrx_word" id="segment_0" title="bbox 10 20 90 60, x_confs 0.9 0.7">Ad</span>
      <span class="ocrx_word" id="segment_1" title="bbox 95 20 190 60, x_confs 1.0">te</span>
    </span>
    <br/>
  </div></body></html>"""

VISION = (
    XHTML
    + """<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="unknown" lang="unknown">
  <head><title>x</title><meta name='ocr-system' content='gcv2hocr.py' /></head><body>
  <div class='ocr_page' lang='unknown' title='bbox 0 0 1000 1400'><div class='ocr_carea' lang='unknown' title='bbox 1 2 900 900'>
    <span class='ocr_line' id='line_0' title='bbox 10 20 110 60; baseline 0 -5'>
      <span class='ocrx_word' id='word_0_0' title='bbox 10 20 110 60'>古文</span>
    </span></div></div></body></html>"""
)

ARCHIVE = (
    XHTML
    + """<html xmlns="http://www.w3.org/1999/xhtml"><head><meta name="ocr-system" content="archive-hocr-tools"/></head><body>
<div class="ocr_page" id="page_000000" title="bbox 0 0 1000 1400; ppageno 0"><div class="ocr_carea" id="c" title="bbox 1 1 900 900">
<p class="ocr_par" id="p" lang="lat" title="bbox 1 1 900 900"><span class="ocr_line" id="l" title="bbox 10 20 500 60; baseline 0 40; x_size 30">
<span class="ocrx_word" id="w1" title="bbox 10 20 90 60; x_wconf 91"><span class="ocrx_cinfo" title="x_bboxes 1 2 3 4; x_conf 98.5">A</span><span
 class="ocrx_cinfo" title="x_bboxes 3 2 5 4; x_conf 70">d</span></span><span class="ocrx_word" id="w2" title="bbox 95 20 190 60; x_wconf 30">te</span>
</span></p></div></div>
<div class="ocr_page" id="page_000001" title="bbox 0 0 1000 1400; ppageno 1"></div></body></html>"""
)


def test_properties_separated_by_commas_as_in_kraken_are_read() -> None:
    found = read(KRAKEN)[0]
    assert (found.width, found.image, found.lines()[0].text) == (1000, "page.png", "Ad te")
    assert [word.texts[0].confidence for word in found.of_kind("word")] == [0.8, 1.0]
    assert found.of_kind("word")[0].points[0] == (10, 20)
    assert any("comma" in note for note in found.notes)


def test_a_language_that_is_unknown_is_none() -> None:
    found = read(VISION)[0]
    assert (found.language, found.segments[0].language, found.lines()[0].text) == (None, None, "古文")
    assert found.lines()[0].baseline == [(10, 55), (110, 55)]


def test_a_file_of_the_internet_archive_with_a_whole_book_is_read() -> None:
    one, two = read(ARCHIVE)
    assert (one.lines()[0].text, len(two.segments)) == ("Ad te", 0)
    assert one.lines()[0].baseline == [(10, 100), (500, 100)]
    assert one.segments[0].children[0].language == "la"
    assert one.of_kind("word")[0].texts[0].confidence == 0.91
    assert any("one was put between each" in note for note in one.notes)


def test_a_baseline_far_outside_its_line_is_preserved() -> None:
    found_page = page("<span class='ocr_line' title='bbox 10 20 500 60; baseline 0 99'>x</span>")
    assert found_page.lines()[0].baseline == []
    assert (found_page.lines()[0].extras or {})["hocr"]["title"] == {"baseline": "0 99"}
    assert "far outside" in found_page.notes[0]


def test_a_header_with_lines_in_it_is_a_region_and_furniture() -> None:
    found_page = page(
        "<div class='ocr_header' title='bbox 1 1 9 9'><span class='ocr_line'>Canto I</span></div>"
        "<span class='ocr_pageno'>12</span><div class='ocr_caption' title='bbox 1 1 9 9'></div>"
    )
    assert [(segment.kind, segment.kind_raw, segment.is_furniture) for segment in found_page.segments] == [
        ("region", "ocr_header", True),
        ("line", "ocr_pageno", True),
        ("region", "ocr_caption", False),
    ]


@pytest.mark.parametrize(
    ("stated", "drawn"),
    [
        ("0.1 -5", [(10, 35), (110, 45)]),
        ("-3", [(10, 37), (110, 37)]),
        ("12 35 60 36 108 37", [(12, 35), (60, 36), (108, 37)]),
        ("12,35 108,37", [(12, 35), (108, 37)]),
        ("flat", None),
        ("nan 1", None),
        ("inf -3", None),
        ("", None),
        ("1 2 3 4 5 6 7", None),
    ],
)
def test_a_baseline_is_a_polynomial_or_points(stated: str, drawn: list[tuple[float, float]] | None) -> None:
    assert baseline_of(stated, (10, 20, 110, 40)) == drawn


def test_a_baseline_of_higher_degree_becomes_a_curve() -> None:
    baseline = baseline_of("0.001 0 -5", (10, 20, 110, 40))
    assert baseline is not None
    assert (len(baseline), baseline[0], baseline[-1]) == (9, (10, 35), (110, 45))


def test_the_baseline_of_a_rotated_line_is_preserved() -> None:
    found_page = page("<span class='ocr_line' title='bbox 1 2 30 40; textangle 90; baseline 0 -3'>x</span>")
    first_line = found_page.lines()[0]
    assert first_line.baseline == []
    assert (first_line.extras or {})["hocr"]["title"] == {"textangle": "90", "baseline": "0 -3"}
    assert found_page.notes == ["The baseline of a rotated line is kept as stated."]


def test_properties_in_titles_are_parsed() -> None:
    assert properties('bbox 1 2 3 4;image "a;b.png" ; ;x_wconf 9;bbox 5') == {
        "bbox": "1 2 3 4",
        "image": '"a;b.png"',
        "x_wconf": "9",
    }
    assert box_of("30 40 10 20") == (10, 20, 30, 40)
    assert box_of("1 2 3") is None
    assert box_of("1 2 3 inf") is None
    assert box_of("1 2 3 " + "9" * 5000) is None
    assert box_of("1 2 3 " + "9" * 400) is None
    assert box_of("1 2 3 nan") is None
    assert polygon_of("1 2 3 4 5 6.5") == [(1, 2), (3, 4), (5, 6.5)]
    assert polygon_of("1 2 3 4 5") is None


def test_a_polygon_precedes_its_box() -> None:
    assert line("x", "bbox 1 1 9 9; poly 1 1 9 1 5 9").points == [(1, 1), (9, 1), (5, 9)]


def test_an_invalid_box_is_noted_and_preserved() -> None:
    found_page = page("<span class='ocr_line' title='bbox 1 2 3'>x</span>")
    assert found_page.lines()[0].points == []
    assert found_page.notes == ["The bbox of an ocr_line is not four numbers."]


def test_characters_form_words_whatever_white_space_separates_them() -> None:
    one = line(
        "\n <span class='ocrx_word' title='x_confs 90 80'>\n  <span class='ocrx_cinfo' title='x_bboxes 1 2 3 4'>a</span>\n"
        "  <span class='ocrx_cinfo'>b</span>\n </span>\n <span class='ocrx_word'><span class='ocrx_cinfo'>c</span></span>"
    )
    assert one.text == "ab c"
    assert [word.text for word in one.children] == ["ab", "c"]
    assert one.children[0].texts[0].confidence == 0.85
    assert (one.children[0].extras or {})["hocr"]["characters"] == ["a\tx_bboxes 1 2 3 4", "b\t"]


def test_alternatives_are_other_readings() -> None:
    one = line(
        "<span class='ocrx_word'><span class='alternatives'><ins class='alt' title='nlp 0.1'>hello</ins>"
        "<del class='alt' title='nlp 1.2'>hallo</del></span></span> you"
    )
    assert one.text == "hello you"
    assert [(text.text, text.confidence) for text in one.children[0].texts] == [
        ("hello", 0.9048),
        ("hallo", 0.3012),
    ]
    loose = line("a <span class='alternatives'><del>b</del><ins>c</ins><del>d</del></span> e")
    assert [text.text for text in loose.texts] == ["a c e", "a b e", "a d e"]


def test_words_are_joined_with_spaces_where_the_script_requires_them() -> None:
    word = "<span class='ocrx_word'>{}</span>"
    assert line(word.format("Dear") + word.format("Sir")).text == "Dear Sir"
    assert line(word.format("古") + word.format("文")).text == "古文"
    assert line(word.format("Dear") + " " + word.format("Sir")).text == "Dear Sir"


def test_soft_hyphens_and_no_break_spaces_are_preserved() -> None:
    assert line("mo&shy;\n  <br> a&nbsp;b").text == "mo\u00ad a\xa0b"


def test_confidences_from_0_to_1_and_in_percent_are_distinguished() -> None:
    words = "<span class='ocr_line'><span class='ocrx_word' title='x_wconf {}'>a</span> <span class='ocrx_word' title='x_wconf {}'>b</span></span>"
    whole = page(words.format("0.5", "1"))
    assert [word.texts[0].confidence for word in whole.of_kind("word")] == [0.5, 1]
    assert whole.notes == ["Confidences are given from 0 to 1, not from 0 to 100."]
    assert [word.texts[0].confidence for word in page(words.format("1", "1")).of_kind("word")] == [0.01, 0.01]
    outside = page(words.format("-1", "300"))
    assert [word.texts[0].confidence for word in outside.of_kind("word")] == [None, None]
    assert outside.notes == ["2 confidences of the file are outside 0 to 100."]


def test_several_pages_each_have_their_own() -> None:
    one, two = read(
        "<body><div class='ocr_page' title='image a.png; bbox 0 0 10 20'><span class='ocr_line'>x</span></div>"
        "<div class='ocr_page' title='image b.png; bbox 0 0 30 40'><span class='ocr_line' id='l'>y</span>"
        "<span class='ocr_line' id='l'>z</span></div></body>"
    )
    assert (one.image, one.width, [line.text for line in one.lines()], one.notes) == ("a.png", 10, ["x"], [])
    assert (two.image, two.height, [line.text for line in two.lines()]) == ("b.png", 40, ["y", "z"])
    assert two.notes == ["The id l occurs twice."]


def test_lines_beside_the_page_are_on_it_and_text_without_a_line_is_not_lost() -> None:
    after = read("<body><span class='ocr_page'></span><span class='ocr_line'>x</span></body>")[0]
    assert [one.text for one in after.lines()] == ["x"]
    alone = read("<body><span class='ocr_line' title='bbox 1 2 3 4'>x</span></body>")[0]
    assert alone.notes == ["Lines are outside of any ocr_page; they were put on a page of their own."]
    text = read("<body><div class='ocr_page'>Page 1</div></body>")[0]
    assert [(segment.kind, segment.text) for segment in text.segments] == [("region", "Page 1")]
    beside = page("before <span class='ocr_line'>x</span> after")
    assert beside.extras["hocr"]["loose_text"] == "before after"
    assert beside.kept["text outside of lines"] == 1
    paragraph = page("<p class='ocr_par' title='bbox 1 2 3 4'>whole <b>text</b></p>")
    assert [(segment.kind_raw, segment.text) for segment in paragraph.segments] == [("ocr_par", "whole text")]


def test_words_without_a_line_belong_to_their_region() -> None:
    found_page = page(
        "<p class='ocr_par'><span class='ocrx_word'>a</span> <span class='ocrx_word'>b</span></p>"
    )
    assert [(child.kind, child.text) for child in found_page.segments[0].children] == [
        ("word", "a"),
        ("word", "b"),
    ]


def test_a_page_whose_box_begins_inside_the_image_has_the_size_of_the_image() -> None:
    stated = "<div class='ocr_page' title='bbox 10 20 500 600'></div>"
    assert (read(stated)[0].width, read(stated)[0].height) == (1000, 1400)
    assert (read(stated, None)[0].width, read(stated, None)[0].height) == (500, 600)
    empty = read("<div class='ocr_page' title='bbox 0 0 0 0'></div>")[0]
    assert (empty.width, empty.height) == (0, 0)


def test_prefixes_and_capitals_are_accepted() -> None:
    found = Hocr().read(
        b'<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:div class="ocr_page" title="bbox 0 0 9 9">'
        b'<h:span class="ocr_line">x</h:span></h:div></h:html>',
        ReadContext("a"),
    )
    assert [one.text for one in found[0].lines()] == ["x"]
    assert read("<HTML><DIV CLASS=ocr_page TITLE='bbox 0 0 9 9'><SPAN CLASS=ocr_line>x</SPAN></DIV>")[
        0
    ].lines()


# -------------------------------------------------------------------------------------------- hostile


def test_unclosed_tags_are_mended_without_losing_a_line() -> None:
    found_page = page("<span class='ocr_line' title='bbox 1 2 30 40'>ab " * 200)
    assert [one.text for one in found_page.lines()] == ["ab"] * 200
    words = page("<span class='ocr_line'>" + "<span class='ocrx_word' title='bbox 1 2 30 40'>ab " * 200)
    assert [segment.text for segment in words.of_kind("word")] == ["ab"] * 200
    assert words.lines()[0].text == " ".join(["ab"] * 200)
    paragraphs = page("<span class='ocr_par' title='bbox 1 2 30 40'>" * 200)
    assert len(paragraphs.segments) == 200
    pages = read(
        "<div class='ocr_page' title='bbox 0 0 9 9'><p class='ocr_par'><span class='ocr_line'>x" * 50
    )
    assert [len(one.lines()) for one in pages] == [1] * 50


def test_a_page_opened_inside_a_region_takes_what_follows() -> None:
    one, two = read(
        "<div class='ocr_page'><div class='ocr_carea'><div class='ocr_page'><span class='ocr_line'>x</span></div></div>"
        "<span class='ocr_line'>y</span></div>"
    )
    assert (len(one.lines()), [line.text for line in two.lines()]) == (0, ["x", "y"])


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        ("é".encode("latin-1"), "é", "not in UTF-8"),
        (b"<meta charset=iso-8859-2>\xb3", "ł", None),
        ("<meta charset=koi8-r>ж".encode(), "ж", "is in UTF-8"),
        (b"<meta charset=utf-8>\xe9", "é", "not in utf-8 as it states"),
        (b"<meta charset=klingon>\xe9", "é", "not in klingon"),
        (b"<meta charset=rot13>\xe9", "é", "not in rot13"),
    ],
)
def test_wrong_and_missing_encodings_are_detected(data: bytes, text: str, note: str | None) -> None:
    pages = Hocr().read(
        b"<div class='ocr_page' title='bbox 0 0 9 9'><span class='ocr_line'>" + data + b"</span></div>",
        ReadContext("a"),
    )
    assert pages[0].lines()[0].text == text
    assert (not pages[0].notes) if note is None else (note in pages[0].notes[0])


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_wide_encodings_are_known_with_and_without_a_mark(encoding: str) -> None:
    data = TESSERACT.encode(encoding)
    assert Hocr().sniff(data) == 1.0
    assert Hocr().read(data, ReadContext("a"))[0].lines()[0].text == "Dear Sir &c"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<html><body>Dear Sir</body></html>", "not hOCR"),
        ("", "is empty"),
        (
            '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/hostname">]><div class="ocr_page">&x;</div>',
            "declares things",
        ),
        ("<div class='ocr_page'>" + "<span class='ocr_line'>" * 100_000, "256 deep"),
        ("<div class='ocr_page'>" + "x" * 11_000_000, "10 MB"),
    ],
    ids=["no hocr", "empty", "entity", "deep", "long"],
)
def test_what_is_no_hocr_is_refused_in_words(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        read(text)


def test_a_title_longer_than_any_outline_is_left_out_and_noted() -> None:
    found_page = page("<span class='ocr_line' title='bbox 1 2 3 4" + ";" * 1_000_001 + "'>x</span>")
    assert (found_page.lines()[0].text, found_page.lines()[0].points) == ("x", [])
    assert found_page.notes == ["A title of more than 1,000,000 characters was left out."]


def test_truncated_files_are_read_as_far_as_possible_or_refused() -> None:
    for end in range(0, len(TESSERACT), 37):
        with contextlib.suppress(Invalid):
            assert read(TESSERACT[:end])


def test_text_in_an_iframe_is_read_from_there() -> None:
    found = read(f"<html><body><br><iframe>{TESSERACT.partition('?>')[2]}</iframe></body></html>")
    assert [one.text for one in found[0].lines()] == ["Dear Sir &c"]
    assert "inside another element" in found[0].notes[0]


def test_the_order_that_elements_state_is_their_order() -> None:
    line = "<span class='ocr_line' title='bbox 0 {0} 60 {0}9; order {1}'>{1}</span>"
    found_page = page(line.format(1, 2) + line.format(3, 1))
    assert [one.text for one in found_page.lines()] == ["1", "2"]
    assert [segment.text for segment in found_page.walk()] == ["2", "1"]
    strange = page(line.format(1, "x"))
    assert strange.kept["property ocr_line/order"] == 1


def test_hocr_in_a_template_is_read_from_there() -> None:
    found = read(
        f"<html><body><template></template><template>{TESSERACT.partition('?>')[2]}</template></body></html>"
    )
    assert [one.text for one in found[0].lines()] == ["Dear Sir &c"]
    assert found[0].notes[0] == "The hOCR is in a template of the HTML; it was read from there."


@pytest.mark.slow
def test_twenty_thousand_lines_are_read() -> None:
    found_page = page(
        "<span class='ocr_line' title='bbox 1 2 30 40'><span class='ocrx_word' title='x_wconf 9'>a</span></span>\n"
        * 20_000
    )
    assert (len(found_page.of_kind("line")), len(found_page.of_kind("word"))) == (20_000, 20_000)


def test_it_is_recognised_by_its_classes() -> None:
    sniff = Hocr().sniff
    assert sniff(TESSERACT.encode()) == 1.0
    assert sniff(b"<p class=ocr_par>") == 0.9
    assert sniff(b"<html><meta content='x' name='ocr-system'>") == 0.7
    assert sniff(b"ocr_page is a class of hOCR") == 0.0
    assert sniff(b"<p>the class ocr_page</p>") == 0.0


def test_languages_become_tags() -> None:
    assert language_and_script("deu_frak") == ("de", "Latf")
    assert language_and_script("chi_tra_vert") == ("zh", "Hant")
    assert language_and_script("spa_old") == ("es", None)
    assert language_and_script("en-GB") == ("en-GB", None)
    assert language_and_script("chu") == ("chu", None)
    assert language_and_script("eng+deu") == (None, None)
    assert language_and_script("script/Latin") == (None, None)
