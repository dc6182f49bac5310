"""TEI files whose pages are only pictures, or whose root is a single surface."""

from __future__ import annotations

import pytest
from driver_case import CONTEXT
from test_tei_reader import DRIVER, NAMESPACE, document, pages, texts

from armarium_formats.api import PageModel, ReadContext

PICTURES = (
    '<facsimile><graphic xml:id="g1" url="1.jpg" width="800px" height="600px"/><graphic xml:id="g2" url="2.jpg"/>'
    '<desc>two leaves</desc><graphic xml:id="g3"/></facsimile>'
)


def test_each_picture_of_a_facsimile_is_a_page_that_pb_points_at() -> None:
    one, other = pages('<pb facs="#g2"/><p>two</p><pb facs="#g1"/><p>one</p>', PICTURES)
    assert [(page.image, page.width, page.height) for page in (one, other)] == [
        ("1.jpg", 800, 600),
        ("2.jpg", 0, 0),
    ]
    assert [texts(page) for page in (one, other)] == [["one"], ["two"]]
    assert not any("does not exist" in note for page in (one, other) for note in page.notes)


def test_breaks_that_point_nowhere_follow_the_pictures() -> None:
    one, other = pages('<pb n="1"/><p>one</p><pb n="2"/><p>two</p>', PICTURES)
    assert [(page.image, texts(page)) for page in (one, other)] == [("1.jpg", ["one"]), ("2.jpg", ["two"])]


def test_pictures_in_the_text_are_no_pages() -> None:
    (page,) = pages('<pb/><figure><graphic url="fig.png"/></figure><p>one</p>')
    assert (page.image, texts(page)) == ("", ["one"])


def test_a_page_of_a_picture_is_written_and_read_again() -> None:
    page = pages('<pb facs="#g1"/><p>one</p>', PICTURES)[0]
    written = DRIVER.write(page, CONTEXT)
    assert DRIVER.validate(written.content) == []
    back = DRIVER.read(written.content.encode(), ReadContext("b.xml"))[0]
    assert (back.image, back.width, texts(back)) == ("1.jpg", 800, ["one"])


def test_a_surface_may_be_the_root() -> None:
    data = (
        f'<?xml version="1.0"?><surface xmlns="{NAMESPACE}" xml:id="f1r" ulx="0" uly="0" lrx="500" lry="600">'
        '<graphic url="1r.jp2"/><zone type="main"><line>a <del>b</del><add>c</add></line><line>d</line></zone></surface>'
    ).encode()
    assert DRIVER.sniff(data) == 0.9
    (one,) = DRIVER.read(data, ReadContext("f1r.xml"))
    assert (one.width, one.height, one.image, texts(one)) == (500, 600, "1r.jp2", ["a c", "d"])
    unplaced, rootless = one.notes
    assert "do not become editorial facts" in unplaced
    assert rootless == "The root is surface; the file has no header."


def test_a_facsimile_of_pictures_alone_has_its_pages() -> None:
    assert [len(page.segments) for page in DRIVER.read(document("", PICTURES), ReadContext("a.xml"))] == [
        0,
        0,
    ]


def test_a_zone_inside_a_line_is_of_its_text() -> None:
    data = (
        f'<TEI xmlns="{NAMESPACE}"><teiHeader/><sourceDoc><surface ulx="0" uly="0" lrx="500" lry="600"><zone>'
        "<line>one <zone>inserted</zone> two</line><line><zone>alone</zone></line></zone></surface></sourceDoc></TEI>"
    ).encode()
    (one,) = DRIVER.read(data, ReadContext("a.xml"))
    assert texts(one) == ["one inserted two", "alone"]
    assert len(one.of_kind("region")) == 1


def test_a_surface_may_name_its_picture_by_facs() -> None:
    facsimile = (
        '<facsimile><surface xml:id="s1" facs="img/1.jpg"><zone xml:id="z" points="1,1 9,1 9,9"/></surface>'
        '<surface xml:id="s2" facs="#s1"/></facsimile>'
    )
    one, other = pages('<pb corresp="#s1"/><p><lb corresp="#z"/>one</p><pb facs="#s2"/><p>two</p>', facsimile)
    assert (one.image, other.image) == ("img/1.jpg", "")
    assert [texts(page) for page in (one, other)] == [["one"], ["two"]]


def test_a_pb_names_the_picture_of_the_surface_that_it_points_at() -> None:
    """As TEITOK converts PAGE: `corresp` points at the surface, `facs` names the picture."""
    facsimile = '<facsimile><surface id="s1"><zone id="z" rendition="Line" points="1,1 9,1 9,9"/></surface></facsimile>'
    (page,) = pages('<pb corresp="#s1" facs="book/1.jpg"/><div><lb corresp="#z"/>one</div>', facsimile)
    assert (page.image, texts(page)) == ("book/1.jpg", ["one"])
    (page,) = pages('<pb corresp="#s1" facs="other.xml#s1"/><p>one</p>', facsimile)
    assert page.image == ""


def test_a_picture_named_by_its_surface_is_used() -> None:
    (page,) = pages('<pb corresp="#g1" facs="else.jpg"/><p>one</p>', PICTURES.replace('xml:id="g2"', ""))[:1]
    assert page.image == "1.jpg"


@pytest.mark.parametrize(
    ("image", "url"),
    [
        ("Delirio I, 18 jun 1816.jpg", "Delirio%20I,%2018%20jun%201816.jpg"),
        ("50% scan.jpg", "50%25%20scan.jpg"),
        ("a%20b.jpg", "a%2520b.jpg"),
        ("Straße é.jpg", "Straße%20é.jpg"),
        ("https://images.example/a%2Fb/full/max/0/default.jpg", "https://images.example/a%2Fb/full/max/0/default.jpg"),
    ],
)  # fmt: skip
def test_the_name_of_a_picture_is_written_as_an_address_and_read_as_a_name(image: str, url: str) -> None:
    written = DRIVER.write(PageModel(100, 100, image=image), CONTEXT)
    assert f'<graphic url="{url}"' in written.content
    assert not [loss for loss in written.losses if "picture" in loss.what]
    assert DRIVER.read(written.content.encode(), ReadContext("a.xml"))[0].image == image


def test_a_url_with_blanks_is_repaired_with_a_note() -> None:
    written = DRIVER.write(PageModel(100, 100, image="https://images.example/a b.jpg"), CONTEXT)
    assert 'url="https://images.example/a%20b.jpg"' in written.content
    assert [loss.what for loss in written.losses] == ["the address of the picture"]
