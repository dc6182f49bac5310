"""HTML under the guard: tag soup is repaired, XHTML is read as XML, and every bomb gets a sentence."""

from __future__ import annotations

import pytest

from armarium.errors import Invalid
from armarium.guard import parse_html
from armarium.guard.hypertext import MAX_ATTRIBUTES, XHTML

PLAIN = (
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/x.dtd">'
)


def test_tag_soup_is_mended() -> None:
    root = parse_html("<meta charset=x><body><!-- no --><p class=a>one<p>two &auml; &nbsp;<br>three<?pi?>")
    assert [str(element.tag) for element in root.iter()] == ["html", "head", "meta", "body", "p", "p", "br"]
    assert "".join(root.itertext()) == "onetwo ä \xa0three"  # type: ignore[arg-type]


def test_xhtml_is_read_as_xml_with_the_named_characters_of_html() -> None:
    root = parse_html(
        f"<?xml version='1.0' encoding='latin1'?>\n{PLAIN}<html xmlns='{XHTML}'><p><div a='1'/>&auml;&amp;</p></html>"
    )
    assert [str(element.tag) for element in root.iter()] == [
        f"{{{XHTML}}}{tag}" for tag in ("html", "p", "div")
    ]
    assert "".join(root.itertext()) == "ä&"  # type: ignore[arg-type]


def test_xhtml_that_is_not_well_formed_is_read_as_html() -> None:
    root = parse_html(f"{PLAIN}<html xmlns='{XHTML}'><head><meta name='a'></head><body>x</body></html>")
    assert [str(element.tag) for element in root.iter()] == ["html", "head", "meta", "body"]


def test_nul_characters_and_lone_surrogates_do_no_harm() -> None:
    assert "".join(parse_html("\ufeff<p>a\0b\udc80</p>").itertext()) == "ab?"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        (" \n\0\ufeff", "is empty"),
        ('<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]><html>&x;</html>', "declares things"),
        ("<!doctype html <!ENTITY a 'b'><html>&a;</html>", "declares things"),
        ("<!DOCTYPE html", "declares things"),
        ("<div>" * 100_000, "256 deep"),
        (f"<html xmlns='{XHTML}'>" + "<span>" * 300 + "x", "256 deep"),
        ("<html>" + "x" * 11_000_000, "10 MB"),
        ("<p " + " ".join(f"a{number}" for number in range(200_000)) + ">", "200,000 attributes"),
        ("<p>" * 1_000_001, "tags and attributes"),
        (" " * 20_000_000 + "<p>", "cannot be read as HTML"),
        ("<!-- nothing -->", "holds no HTML element"),
    ],
    ids=lambda value: value[:24] if isinstance(value, str) else None,
)
def test_what_is_no_page_of_html_is_refused(text: str, words: str) -> None:
    with pytest.raises(Invalid, match=words) as refusal:
        parse_html(text, name="page.html")
    assert refusal.value.detail.startswith("page.html ")
    assert "passwd" not in refusal.value.detail


def test_more_bytes_than_allowed_are_refused_before_parsing() -> None:
    with pytest.raises(Invalid, match="at most 0 MB"):
        parse_html("<p>" + " " * 100, max_bytes=100)


def test_as_many_attributes_as_allowed_pass() -> None:
    many = " ".join(f"a{number}=1" for number in range(MAX_ATTRIBUTES))
    assert len(parse_html(f"<p {many}>")[0][0].attrib) == MAX_ATTRIBUTES


def test_an_entity_is_never_made() -> None:
    root = parse_html("<html><body>&x;<![CDATA[<b>]]></body></html>")
    assert "&x;" in "".join(root.itertext())  # type: ignore[arg-type]
