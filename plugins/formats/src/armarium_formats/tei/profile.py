"""Our profile of TEI P5 as RELAX NG, against which every export is validated.

Strict where we write (surface, zones, the lines that point at them), open where a file's own content is given
back: the header, what was in zones besides zones, markup inside lines. `docs/tei-profile.md` describes it.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, cast

from armarium_formats.tei.vocabulary import KEPT_IN_ZONES, NAMESPACE

if TYPE_CHECKING:
    from lxml import etree

_STRICT = "TEI teiHeader facsimile surface zone text body pb lb ab p fw table row cell"
_POINT = r"-?[0-9]+(?:\.[0-9]+)?,-?[0-9]+(?:\.[0-9]+)?"
_OUTLINE = re.compile(rf"{_POINT}(?: {_POINT}){{2,}}")
_PATH = re.compile(rf"{_POINT}(?: {_POINT})+")
_WORD = r"[^\s]+"

_one_at_a_time = threading.Lock()
"""The validator keeps its messages on itself: another thread's must not be taken for one's own."""


def _attribute(name: str, kind: str = "<text/>", *, required: bool = False) -> str:
    body = f'<attribute name="{name}">{kind}</attribute>'
    return body if required else f"<optional>{body}</optional>"


_NCNAME = '<data type="NCName"/>'
_NUMBER = '<data type="decimal"/>'
_SIZE = '<data type="positiveInteger"/>'
_NATURAL = '<data type="nonNegativeInteger"/>'
_CERT = '<data type="double"><param name="minInclusive">0</param><param name="maxInclusive">1</param></data>'
_KIND = f'<data type="string"><param name="pattern">{_WORD}</param></data>'
_POINTER = '<data type="string"><param name="pattern">#.+</param></data>'
_LANGUAGE = '<data type="language"/>'


def _other_attributes(*known: str) -> str:
    """Return any further attribute of TEI or XML, for what a file stated."""
    plain = "".join(f"<name>{one}</name>" for one in known if not one.startswith("xml:"))
    xml = "".join(f"<name>{one}</name>" for one in ("xml:id", "xml:lang", "xml:space") if one in known)
    return (
        "<zeroOrMore><attribute><choice>"
        f'<nsName ns="">{f"<except>{plain}</except>" if plain else ""}</nsName>'
        f'<nsName ns="http://www.w3.org/XML/1998/namespace">{f"<except>{xml}</except>" if xml else ""}</nsName>'
        "</choice><text/></attribute></zeroOrMore>"
    )


_FACTS = _attribute("xml:lang", _LANGUAGE) + _attribute("style") + _attribute("cert", _CERT)
_BOX = "".join(_attribute(one, _NUMBER, required=True) for one in ("ulx", "uly", "lrx", "lry"))
_BLOCK_KNOWN = ("facs", "xml:lang")


def _element(name: str, *inside: str) -> str:
    return f'<element name="{name}">{"".join(inside)}</element>'


@cache
def relax_ng() -> str:
    """Return the profile as RELAX NG, XML syntax."""
    strict = "".join(f"<name>{one}</name>" for one in _STRICT.split())
    block = (
        _attribute("facs", _POINTER) + _attribute("xml:lang", _LANGUAGE) + _other_attributes(*_BLOCK_KNOWN)
    )
    # `mixed` instead of text as one choice: twelve times as fast on a block of 20,000 lines.
    flow = '<mixed><zeroOrMore><choice><ref name="lb"/><ref name="block"/><ref name="any"/></choice></zeroOrMore></mixed>'
    defines = {
        "TEI": _element(
            "TEI",
            _other_attributes(),
            _element("teiHeader", _other_attributes(), '<ref name="anything"/>'),
            '<zeroOrMore><ref name="any"/></zeroOrMore>',
            _element("facsimile", '<ref name="surface"/>'),
            _element(
                "text",
                _attribute("xml:lang", _LANGUAGE),
                _element(
                    "body",
                    _element("pb", _attribute("facs", _POINTER, required=True), _other_attributes("facs")),
                    '<oneOrMore><ref name="block"/></oneOrMore>',
                ),
            ),
        ),
        "surface": _element(
            "surface",
            _attribute("xml:id", _NCNAME, required=True),
            "<optional><group>",
            _attribute("ulx", "<value>0</value>", required=True),
            _attribute("uly", "<value>0</value>", required=True),
            _attribute("lrx", _SIZE, required=True),
            _attribute("lry", _SIZE, required=True),
            "</group></optional>",
            _FACTS,
            _other_attributes("xml:id", "xml:lang", "style", "cert", "ulx", "uly", "lrx", "lry"),
            '<zeroOrMore><ref name="kept"/></zeroOrMore><zeroOrMore><ref name="zone"/></zeroOrMore>',
        ),
        "zone": _element(
            "zone",
            _attribute("xml:id", _NCNAME, required=True),
            _attribute("type", _KIND) + _attribute("subtype", _KIND),
            f"<optional><choice>{_attribute('points', required=True)}<group>{_BOX}</group></choice></optional>",
            _FACTS,
            _other_attributes(
                "xml:id", "xml:lang", "style", "cert", "type", "subtype", "points", "ulx", "uly", "lrx", "lry"
            ),
            '<zeroOrMore><ref name="kept"/></zeroOrMore><zeroOrMore><ref name="zone"/></zeroOrMore>',
        ),
        "kept": "<choice>"
        + "".join(
            f'<element name="{name}"><zeroOrMore><attribute><anyName/></attribute></zeroOrMore>'
            '<ref name="anything"/></element>'
            for name in sorted(KEPT_IN_ZONES)
        )
        + "</choice>",
        "lb": _element("lb", _attribute("facs", _POINTER, required=True), _other_attributes("facs")),
        "block": "<choice>"
        + "".join(_element(name, block, flow) for name in ("ab", "p", "fw", "note"))
        + '<ref name="table"/></choice>',
        "table": _element(
            "table",
            "<oneOrMore>"
            + _element(
                "row",
                _attribute("n", _NATURAL, required=True),
                "<oneOrMore>"
                + _element(
                    "cell",
                    _attribute("facs", _POINTER, required=True),
                    _attribute("n", _NATURAL, required=True),
                    _attribute("rows", _SIZE) + _attribute("cols", _SIZE) + _attribute("xml:lang", _LANGUAGE),
                    _attribute("subtype", _KIND),
                    flow,
                )
                + "</oneOrMore>",
            )
            + "</oneOrMore>",
        ),
        "any": f"<element><anyName><except>{strict}</except></anyName>"
        '<zeroOrMore><attribute><anyName/></attribute></zeroOrMore><ref name="anything"/></element>',
        "anything": '<mixed><zeroOrMore><ref name="free"/></zeroOrMore></mixed>',
        "free": "<element><anyName/><zeroOrMore><attribute><anyName/></attribute></zeroOrMore>"
        '<ref name="anything"/></element>',
    }
    body = "".join(f'<define name="{name}">{pattern}</define>' for name, pattern in defines.items())
    return (
        f'<grammar xmlns="http://relaxng.org/ns/structure/1.0" ns="{NAMESPACE}" '
        'datatypeLibrary="http://www.w3.org/2001/XMLSchema-datatypes">'
        f'<start><ref name="TEI"/></start>{body}</grammar>'
    )


@cache
def _validator() -> etree.RelaxNG:
    from lxml import etree

    return etree.RelaxNG(etree.fromstring(relax_ng()))


def problems_of(root: etree._Element, *, most: int = 20) -> list[str]:
    """Return what violates our profile, in words, at most *most* faults."""
    found: list[str] = []
    with _one_at_a_time:
        validator = _validator()
        if not validator.validate(root):
            found += [f"line {entry.line}: {entry.message}" for entry in validator.error_log][:most]
    for path, rule, words in (
        ("//t:facsimile//t:zone/@points", _OUTLINE, "three or more x,y pairs of numbers"),
        ("//t:facsimile//t:path/@points", _PATH, "two or more x,y pairs of numbers"),
    ):
        for points in _strings(root, path):
            if not rule.fullmatch(points):
                found.append(f"points {points[:40]!r} are not {words}")
    counts = Counter(_strings(root, "//@xml:id"))
    found += [f"the id {one} occurs {count} times" for one, count in counts.items() if count > 1]
    pointed = (
        "//t:body//*[self::t:pb or self::t:lb or self::t:ab or self::t:p or self::t:fw or self::t:cell]/@facs"
    )
    found += [
        f"facs {one} does not exist" for one in _strings(root, pointed) if one.removeprefix("#") not in counts
    ]
    return found[:most]


def _strings(root: etree._Element, path: str) -> list[str]:
    return cast("list[str]", root.xpath(path, namespaces={"t": NAMESPACE}))
