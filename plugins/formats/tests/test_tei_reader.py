"""The TEI reader: what it takes from the dialects of real editions, and the sentences for what it refuses."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armarium.errors import Invalid
from armarium_formats.api import PageModel, PageSegment, ReadContext, WriteContext
from armarium_formats.tei.driver import Tei
from armarium_formats.tei.reader import without_doctype
from armarium_testing.formats import Sample, exercise_format

DRIVER = Tei()
NAMESPACE = "http://www.tei-c.org/ns/1.0"


def document(body: str, facsimile: str = "", more: str = "") -> bytes:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="{NAMESPACE}" {more}><teiHeader><fileDesc/></teiHeader>'
        f"{facsimile}<text><body>{body}</body></text></TEI>"
    ).encode()


def surface(
    zones: str, more: str = 'ulx="0" uly="0" lrx="1000" lry="800"', graphic: str = '<graphic url="a.jpg"/>'
) -> str:
    return f'<facsimile><surface xml:id="s" {more}>{graphic}{zones}</surface></facsimile>'


def pages(body: str, facsimile: str = "", more: str = "", **context: object) -> list[PageModel]:
    return DRIVER.read(document(body, facsimile, more), ReadContext("a.xml", **context))  # type: ignore[arg-type]


def page(body: str, facsimile: str = "", more: str = "") -> PageModel:
    found_pages = pages(body, facsimile, more)
    assert len(found_pages) == 1
    return found_pages[0]


def texts(one: PageModel) -> list[str]:
    return [line.text for line in one.lines()]


def by_id(one: PageModel, identity: str) -> PageSegment:
    return next(segment for segment in one.walk() if segment.id == identity)


ZONES = (
    '<zone xml:id="r1" type="TextRegion" points="0,0 900,0 900,700 0,700">'
    '<zone xml:id="l1" ulx="10" uly="20" lrx="300" lry="60"><path points="10,55 300,56"/></zone>'
    '<zone xml:id="l2" rendition="Line" points="10,70 300,70 300,110 10,110"/></zone>'
)
BODY = '<pb facs="#s" n="1r"/><p facs="#r1"><lb facs="#l1" n="N001"/>Querida <hi rend="bold">hermana</hi><lb facs="#l2"/>te escribo</p>'


def test_a_facsimile_with_its_text() -> None:
    first_page = page(BODY, surface(ZONES))
    assert (first_page.width, first_page.height, first_page.image) == (1000, 800, "a.jpg")
    assert texts(first_page) == ["Querida hermana", "te escribo"]
    assert by_id(first_page, "l1").baseline == [(10, 55), (300, 56)]
    assert by_id(first_page, "l1").points == [(10, 20), (300, 20), (300, 60), (10, 60)]
    assert by_id(first_page, "r1").kind_raw == "TextRegion"
    assert [(segment.id, segment.kind) for segment in first_page.walk()] == [
        ("r1", "region"),
        ("l1", "line"),
        ("l2", "line"),
    ]


def test_flat_zones_are_nested_as_the_text_is() -> None:
    flat = (
        ZONES.replace('700 0,700">', '700 0,700"/>')
        .replace("</zone></zone>", "</zone>")
        .replace('110"/></zone>', '110"/>')
    )
    first_page = page(BODY, surface(flat))
    assert [child.id for child in by_id(first_page, "r1").children] == ["l1", "l2"]


@pytest.mark.parametrize(
    ("more", "graphic", "size", "at"),
    [
        (
            'ulx="0" uly="0" lrx="100" lry="80"',
            '<graphic url="a" width="1000px" height="800px"/>',
            (1000, 800),
            (100, 200),
        ),
        (
            'ulx="5" uly="10" lrx="105" lry="90"',
            '<graphic url="a" width="1000" height="800"/>',
            (1000, 800),
            (50, 100),
        ),
        (
            'ulx="0" uly="0" lrx="100" lry="80"',
            '<graphic url="a" width="10cm" height="8cm"/>',
            (100, 80),
            (10, 20),
        ),
        ("", '<graphic url="a" width="640px" height="480px"/>', (640, 480), (10, 20)),
        ('ulx="0" uly="0" lrx="21.0" lry="29.7"', "", (707, 1000), (336.67, 673.4)),
        ("", "", (0, 0), (10, 20)),
        ('ulx="0" uly="0" lrx="0" lry="0"', "", (0, 0), (10, 20)),
    ],
)
def test_the_surface_s_units_become_pixels(
    more: str, graphic: str, size: tuple[int, int], at: tuple[float, float]
) -> None:
    first_page = page(
        "<ab/>", surface('<zone xml:id="z" ulx="10" uly="20" lrx="15" lry="24"/>', more, graphic)
    )
    assert (first_page.width, first_page.height) == size
    assert by_id(first_page, "z").points[0] == pytest.approx(at, abs=0.5)


def test_an_overlong_number_is_far_beyond_the_page() -> None:
    first_page = page(BODY, surface(ZONES.replace("10,55 300,56", "10,55 " + "9" * 400 + ",56")))
    assert by_id(first_page, "l1").baseline == [(10, 55), (1e30, 56)]


def test_units_of_its_own_are_scaled_to_the_picture_and_noted() -> None:
    found_pages = pages("<ab/>", surface("", 'ulx="0" uly="0" lrx="1" lry="0.5"', ""), page_size=(4000, 2000))
    assert (found_pages[0].width, found_pages[0].height) == (4000, 2000)
    assert any("units of its own" in note for note in found_pages[0].notes)


def test_a_source_document_needs_no_text() -> None:
    source = (
        f'<TEI xmlns="{NAMESPACE}"><sourceDoc><surface ulx="0" uly="0" lrx="100" lry="100"><zone xml:id="b" type="MainZone">'
        '<zone xml:id="z1" points="1,1 9,1 9,9"><path points="1,8 9,8"/><line n="1" xml:id="t1">one <hi>two</hi></line></zone>'
        '<line xml:id="own" ulx="1" uly="20" lrx="9" lry="30">three</line><line>four</line></zone>'
        '<zone xml:id="c">loose<lb/>words</zone></surface></sourceDoc></TEI>'
    )
    one = DRIVER.read(source.encode(), ReadContext("a"))[0]
    assert [(line.id, line.text) for line in one.lines()] == [
        ("z1", "one two"),
        ("own", "three"),
        ("line-1", "four"),
        ("line-2", "loose"),
        ("line-3", "words"),
    ]
    assert by_id(one, "own").points[0] == (1, 20)
    assert (by_id(one, "z1").extras or {})["tei"]["lb"] == {"n": "1", "xml:id": "t1"}


def test_pages_of_a_text_and_where_they_come_from() -> None:
    found_pages = pages(
        'front<pb n="1"/>a<lb/>b<pb n="2" facs="http://a.example/2.jpg"/>c<pb facs="#gone"/>d'
    )
    assert [texts(item) for item in found_pages] == [["front", "a", "b"], ["c"], ["d"]]
    assert [item.image for item in found_pages] == ["", "http://a.example/2.jpg", ""]
    assert "This is 2, page 2 of 3. The file has 3 pages: 1, 2, page 3." in found_pages[1].notes
    assert any("#gone, which does not exist" in note for note in found_pages[2].notes)


def test_breaks_that_point_nowhere_follow_the_surfaces() -> None:
    two = '<facsimile><surface xml:id="a"/><surface xml:id="b"/></facsimile>'
    found_pages = pages("<pb/>one<pb/>two", two)
    assert [texts(item) for item in found_pages] == [["one"], ["two"]]
    assert any("in sequence" in note for note in found_pages[0].notes)


def test_a_line_goes_across_inline_markup() -> None:
    first_page = page('<p>a <hi rend="it">b<lb n="2"/>c <add>d</add></hi> e</p>')
    assert texts(first_page) == ["a b", "c d e"]
    marked = [(line.texts[0].extras or {})["tei"]["xml"] for line in first_page.lines()]
    assert marked == ['a <hi rend="it">b</hi>', '<hi rend="it">c <add>d</add></hi> e']


@pytest.mark.parametrize(
    ("markup", "counts", "edited"),
    [
        ("a<choice><abbr>b</abbr><expan>bis</expan></choice>c", "abc", "abisc"),
        ("<choice><corr>right</corr><sic>rihgt</sic></choice>", "rihgt", "right"),
        ("<choice><orig>vniuersitie</orig><reg>university</reg></choice>", "vniuersitie", "university"),
        ("<expan><abbr>co</abbr><ex>n</ex></expan>tra", "cotra", "contra"),
        ("co<expan>n</expan>tra", "contra", None),
        ("<sic>x</sic> <corr>y</corr>", "x y", None),
        ("<subst><del>very</del><add>principally</add></subst> so", "principally so", None),
        ("a<del>b</del>c", "ac", None),
        ("a <gap reason='illegible'/> b", "a b", None),
        ("<unclear>a</unclear><supplied>b</supplied><space/>c", "ab c", None),
        ("<app><lem>a</lem><rdg>b</rdg></app>c", "ac", None),
        ("<app><rdg>a</rdg><rdg>b</rdg></app>c", "ac", None),
        ("<choice><unclear>a</unclear><unclear>b</unclear></choice>c", "ac", None),
    ],
)
def test_which_of_two_readings_counts(markup: str, counts: str, edited: str | None) -> None:
    line = page(f"<p>{markup}</p>").lines()[0]
    assert line.text == counts
    assert [text.text for text in line.texts if text.kind == "normalized_text"] == (
        [edited] if edited else []
    )


def test_hyphenation_is_preserved() -> None:
    first_page = page('<p>pyra<lb break="no"/>mides joint-<lb break="no" n="3"/>labourer</p>')
    assert texts(first_page) == ["pyra", "mides joint-", "labourer"]
    assert (first_page.lines()[2].extras or {})["tei"]["lb"] == {"break": "no", "n": "3"}


def test_notes_and_forme_work_are_separate_regions() -> None:
    first_page = page(
        '<fw type="header">CHAP. I</fw><head>On <lb/>bells</head>'
        '<p>the sound <note place="margin">vide<lb/>infra</note>of bells</p><note place="bottom">1. a note</note>'
        '<fw type="sig" place="bottom">B2</fw>'
    )
    found = [
        (region.kind_raw, region.is_furniture, [line.text for line in region.children])
        for region in first_page.of_kind("region")
    ]
    assert sorted(found, key=str) == sorted(
        [
            ("header", True, ["CHAP. I"]),
            ("heading", False, ["On", "bells"]),
            ("paragraph", False, ["the sound of bells"]),
            ("marginalia", False, ["vide", "infra"]),
            ("footnote", False, ["1. a note"]),
            ("signature-mark", True, ["B2"]),
        ],
        key=str,
    )


def test_tables_verse_and_lists() -> None:
    first_page = page(
        '<table><row><cell>a</cell><cell cols="2">b</cell></row><row><cell>c</cell><cell/><cell>d</cell></row></table>'
        "<lg><l>Singing</l><l>All day</l></lg><list><item>x</item><item>y<lb/>z</item></list>"
    )
    cells = {region.children[0].text: region.cell for region in first_page.walk() if region.cell}
    assert cells["b"] == {"row": 0, "column": 1, "row_span": 1, "column_span": 2}
    assert cells["d"] == {"row": 1, "column": 2, "row_span": 1, "column_span": 1}
    assert texts(first_page) == ["a", "b", "c", "d", "Singing", "All day", "x", "y", "z"]


def test_a_file_without_any_break_is_a_line_a_block() -> None:
    first_page = page("<head>Title</head><p>One\n   paragraph</p><p>Two</p>")
    assert texts(first_page) == ["Title", "One paragraph", "Two"]
    assert all(not segment.points for segment in first_page.walk())


def test_words_have_their_places() -> None:
    zones = surface('<zone xml:id="w1" ulx="1" uly="1" lrx="9" lry="9"/>')
    first_page = page('<p><lb/>sont <w facs="#w1">pendans</w> à</p>', zones)
    assert [(word.id, word.text) for word in first_page.lines()[0].children] == [("w1", "pendans")]
    assert texts(first_page) == ["sont pendans à"]


def test_languages_directions_and_hands() -> None:
    zones = surface(
        '<zone xml:id="z" xml:lang="ar-Arab" style="direction: rtl" ulx="1" uly="1" lrx="9" lry="9"/>'
    )
    first_page = page(
        '<p xml:lang="la"><lb facs="#z"/>x<handShift new="#b"/>y</p><p xml:lang="la">z</p>',
        zones,
        'xml:lang="grc-Latn"',
    )
    assert (first_page.language, first_page.script) == ("grc", "Latn")
    assert (
        by_id(first_page, "z").language,
        by_id(first_page, "z").script,
        by_id(first_page, "z").direction,
    ) == (
        "ar",
        "Arab",
        "rtl",
    )
    assert by_id(first_page, "p-1").language == "la"
    assert "<handShift" in (by_id(first_page, "z").texts[0].extras or {})["tei"]["xml"]


def test_text_beside_a_source_document_is_an_alternative() -> None:
    source = '<sourceDoc><surface xml:id="s"><zone xml:id="r"><zone xml:id="l"><line>as read</line></zone></zone></surface></sourceDoc>'
    first_page = page('<ab facs="#r"><lb facs="#l"/>as edited</ab>', source)
    assert [text.text for text in first_page.lines()[0].texts] == ["as read", "as edited"]
    assert any("beside the source document" in what for what in first_page.kept)


def test_zones_outside_negative_and_float() -> None:
    first_page = page(
        "<ab/>",
        surface(
            '<zone xml:id="a" points="-5,1.5 2000.25,1 3,9"/><zone xml:id="b" ulx="9" uly="9" lrx="1" lry="1"/>'
            '<zone xml:id="c" points="a,b"/><zone xml:id="d" ulx="x" uly="1" lrx="2" lry="3"/><zone xml:id="e" points=""/>'
            '<zone xml:id="f" ulx="-90" uly="0" lrx="2000" lry="9"><graphic url="other.jpg"/></zone>'
        ),
    )
    assert by_id(first_page, "a").points == [(-5, 1.5), (2000.25, 1), (3, 9)]
    assert by_id(first_page, "b").points == [(1, 1), (9, 1), (9, 9), (1, 9)]
    assert [by_id(first_page, which).points for which in "cdef"] == [[], [], [], []]
    assert [note[:22] for note in first_page.notes] == [
        "A zone states its lowe",
        "The points of a zone a",
        "A zone states coordina",
        "A zone with a picture ",
    ]


def test_duplicate_ids_and_ids_that_begin_with_digits() -> None:
    zones = surface(
        '<zone xml:id="1a" ulx="1" uly="1" lrx="9" lry="9"/><zone xml:id="1a" ulx="2" uly="2" lrx="9" lry="9"/>'
    )
    first_page = page('<ab><lb facs="#1a"/>x</ab>', zones)
    assert [segment.id for segment in first_page.walk()] == ["1a", "1a-1"]
    assert by_id(first_page, "1a").text == "x"
    assert any("more than once" in note for note in first_page.notes)


def test_prefixes_missing_namespaces_and_old_roots() -> None:
    prefixed = f'<t:TEI xmlns:t="{NAMESPACE}"><t:text><t:body><t:p>a<t:lb/>b</t:p></t:body></t:text></t:TEI>'
    bare = "<TEI.2><text><body><p>a<lb/>b</p></body></text></TEI.2>"
    corpus = f'<teiCorpus xmlns="{NAMESPACE}"><TEI><text><pb/>a</text></TEI><TEI><text><pb/>b</text></TEI></teiCorpus>'
    for text in (prefixed, bare):
        assert texts(DRIVER.read(text.encode(), ReadContext("a"))[0]) == ["a", "b"]
    assert [texts(one) for one in DRIVER.read(corpus.encode(), ReadContext("a"))] == [["a"], ["b"]]
    assert [DRIVER.sniff(one.encode()) for one in (prefixed, bare, corpus)] == [1.0, 0.8, 1.0]
    assert DRIVER.sniff(f'<!-- <TEI> --><mets><TEI xmlns="{NAMESPACE}"/></mets>'.encode()) == 0.0


def test_a_document_type_is_ignored_with_a_note() -> None:
    declared = (
        b'<!DOCTYPE TEI SYSTEM "tei.dtd" [<!ENTITY % x "INCLUDE"><!-- ]> -->]>\n' + document("<p>a</p>")[38:]
    )
    one = DRIVER.read(declared, ReadContext("a"))[0]
    assert texts(one) == ["a"]
    assert any("document type" in note for note in one.notes)


HOSTILE = {
    "an external entity": (
        b'<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + document("<p>&x;</p>")[38:],
        "not well-formed",
    ),
    "an entity bomb": (
        b'<!DOCTYPE TEI [<!ENTITY a "'
        + b"x" * 999
        + b'"><!ENTITY b "'
        + b"&a;" * 999
        + b'">]>'
        + document("&b;")[38:],
        "not well-formed",
    ),
    "a depth of 100,000": (document("<ab>" * 100_000 + "</ab>" * 100_000), "256 deep"),
    "a declared encoding that is wrong": (
        document("<p>\u00e9</p>").replace(b"UTF-8", b"US-ASCII"),
        "encoding",
    ),
    "an encoding that nobody knows": (document("<p>a</p>").replace(b"UTF-8", b"KLINGON"), "encoding|XML"),
    "half a file": (document(BODY, surface(ZONES))[:400], "not well-formed"),
    "two roots": (document("a") + document("b")[38:], "not well-formed"),
    "more than 64 MiB": (document("<p>" + " " * (65 << 20) + "</p>"), "at most"),
    "millions of tags": (document("<lb/>" * 1_000_000), "more than 900,000"),
    "another root": (b"<recipe/>", "not TEI"),
    "nothing at all": (f'<TEI xmlns="{NAMESPACE}"/>'.encode(), "without any page"),
    "pages without end": (document("<pb/>" * 10_001), "at most 10,000"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_file_is_refused_in_a_sentence(what: str) -> None:
    data, words = HOSTILE[what]
    with pytest.raises(Invalid, match=words):
        DRIVER.read(data, ReadContext("a.xml"))


@pytest.mark.parametrize(
    ("body", "zones", "words"),
    [
        (
            '<ab><lb facs="#z"/><seg type="reading" subtype="song" cert="7">a</seg></ab>',
            "",
            "not a kind of reading",
        ),
        ('<ab><lb facs="#z"/><seg type="reading" cert="7">a</seg></ab>', "", "outside 0 to 1"),
        ('<ab><lb facs="#z"/>a<lb facs="#z"/>b</ab>', "", "more than one line"),
        ('<ab><w facs="#z">a</w> <w facs="#z">b</w></ab>', "", "more than one word"),
        ("<ab/>", "<binaryObject>aGk=</binaryObject>", "inside the file itself"),
        ("<ab/>", "<surface/>", "inside another"),
        ("<ab/>", "astray", "text of its own outside its zones"),
        ("<ab/>", '<zone><path points="x"/></zone>', "of a path"),
    ],
)
def test_tolerated_irregularities_are_noted(body: str, zones: str, words: str) -> None:
    first_page = page(body, surface('<zone xml:id="z" ulx="1" uly="1" lrx="9" lry="9"/>' + zones))
    assert any(words in note for note in first_page.notes), first_page.notes


def test_zones_nested_too_deeply_become_siblings() -> None:
    deep = (
        "".join(f'<zone xml:id="z{n}" ulx="1" uly="1" lrx="9" lry="9">' for n in range(240)) + "</zone>" * 240
    )
    hung = "".join(f'<ab facs="#f{n}"><ab facs="#f{n + 1}"/></ab>' for n in range(999, 0, -1))
    flat = "".join(f'<zone xml:id="f{n}" ulx="1" uly="1" lrx="9" lry="9"/>' for n in range(1001))
    for one in (page("<ab/>", surface(deep)), page(hung, surface(flat))):
        written = DRIVER.write(one, WriteContext())
        assert DRIVER.validate(written.content) == []
        assert any("100 deep" in note for note in one.notes)


@pytest.mark.parametrize(
    "body",
    [
        "<table><row>" + "<cell>a</cell>" * 4_000 + "</row></table>",
        '<lb facs="#z"/>more' * 4_000,
        "<expan>" + "<ex>a</ex>" * 4_000 + "</expan>",
        "<hi>" * 200 + "<lb/>a" * 500 + "</hi>" * 200,
    ],
)
def test_long_repetitions_are_read_in_linear_time(body: str) -> None:
    assert page(body, surface('<zone xml:id="z" ulx="1" uly="1" lrx="9" lry="9"/>')).of_kind("line")


LONG = 3_000_000


@pytest.mark.parametrize(
    ("start", "again"),
    [
        ("<!DOCTYPE TEI [", "<!-- x --><?y z?>"),
        ("<!DOCTYPE TEI [", '<!ENTITY a "b">'),
        ("<!DOCTYPE TEI [", "<!--"),
        ("<!DOCTYPE TEI [", "<!---->"),
        ("<!DOCTYPE TEI [<!--", "- "),
        ("<!DOCTYPE TEI [<?", "? "),
        ("<!DOCTYPE TEI [", "%a;"),
        ("<!DOCTYPE TEI [%", "a"),
        ("<!DOCTYPE TEI [", " "),
        ("<!DOCTYPE TEI ", "'x'"),
        ('<!DOCTYPE TEI "', "'x'"),
        ("", "<??><!DOCTYPE TEI ["),
    ],
)
def test_an_unterminated_doctype_is_refused_in_linear_time(start: str, again: str) -> None:
    with pytest.raises(Invalid, match=r"DOCTYPE|not well-formed"):
        DRIVER.read((start + again * (LONG // len(again))).encode(), ReadContext("a"))


DECLARED = st.one_of(
    st.text("-> ]['\"?<", max_size=12)
    .filter(lambda one: "--" not in one and one[-1:] != "-")
    .map("<!--{}-->".format),
    st.text("?x ]['\"<-", max_size=12).filter(lambda one: "?>" not in one).map("<?y {}?>".format),
    st.text("> ]'[<%-", max_size=12).map('<!ENTITY a "{}">'.format),
    st.text('> ]"[<%-', max_size=12).map("<!ENTITY % b '{}'>".format),
    st.sampled_from(
        ["<!ELEMENT p (a|b)*>", "%b;", "%\u00fc.x-1;", " ", "\n", "<!ATTLIST p q CDATA #IMPLIED>"]
    ),
)


@given(st.lists(DECLARED, max_size=8), st.sampled_from(["", ' SYSTEM "a>b[.dtd"', " PUBLIC '-//X' \"y\""]))
def test_exactly_the_document_type_is_ignored(declared: list[str], outside: str) -> None:
    head, rest = '<?xml version="1.0"?>\n<!-- a > b -->', "<TEI>]></TEI>"
    data = f"{head}<!DOCTYPE TEI{outside} [{''.join(declared)}] >{rest}".encode()
    assert without_doctype(data) == ((head + rest).encode(), True)
    assert without_doctype((head + rest).encode()) == ((head + rest).encode(), False)


@pytest.mark.slow
def test_a_file_of_many_lines_is_read_in_bounded_memory() -> None:
    zones = "".join(f'<zone xml:id="z{n}" points="1,1 900,1 900,40 1,40"/>' for n in range(5_000))
    body = "".join(f'<lb facs="#z{n}"/>line {n}' for n in range(5_000))
    data = document(f'<pb facs="#s"/><ab>{body}</ab>', surface(zones))
    tracemalloc.start()
    one = DRIVER.read(data, ReadContext("a.xml"))[0]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(one.lines()) == 5_000
    assert most < 40 * len(data)


def test_the_driver_passes_the_suite() -> None:
    exercise_format(
        Tei,
        [
            Sample("facsimile.xml", document(BODY, surface(ZONES)), lines=2, words=0, text="Querida hermana"),
            Sample("text.xml", document("<p>a<lb/>b</p>"), lines=2, words=0, text="b"),
        ],
    )
