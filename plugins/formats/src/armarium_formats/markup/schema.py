"""The RELAX NG schema of a profile, against which every export is validated."""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, cast

from armarium_formats.markup.fragments import name_of
from armarium_formats.markup.profile import Element

if TYPE_CHECKING:
    from lxml import etree

_RNG = "http://relaxng.org/ns/structure/1.0"
_XSD = "http://www.w3.org/2001/XMLSchema-datatypes"
_RATIO = '<data type="float"><param name="minInclusive">0</param><param name="maxInclusive">1</param></data>'

_DATA = {
    "string": "<text/>",
    "id": '<data type="NCName"/>',
    "ref": '<data type="NCName"/>',
    "refs": '<list><oneOrMore><data type="NCName"/></oneOrMore></list>',
    "int": '<data type="int"/>',
    "integer": '<data type="integer"/>',
    "natural": '<data type="int"><param name="minInclusive">0</param></data>',
    "float": '<data type="float"/>',
    "boolean": '<data type="boolean"/>',
    "dateTime": '<data type="dateTime"/>',
    "date": '<choice><data type="date"/><data type="dateTime"/><data type="gYear"/><data type="gYearMonth"/></choice>',
    "tag": '<data type="language"/>',
    "uri": '<data type="anyURI"/>',
    "glyph": '<data type="string"><param name="length">1</param></data>',
    "hex": '<data type="hexBinary"/>',
    "conf": _RATIO,
    "points": "<text/>",
}
"""Points are text to RELAX NG and checked by a pattern, which is ten times as fast as the validator's own automaton."""

_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_HINTS = "".join(
    f'<optional><attribute name="{name}" ns="{_XSI}"><text/></attribute></optional>'
    for name in ("schemaLocation", "noNamespaceSchemaLocation")
)
"""Where a file says its schema lies: lawful on every root, whatever the format."""

_UNKNOWN: tuple[dict[str, str], frozenset[str]] = ({}, frozenset())
_WRAP = {"?": "optional", "*": "zeroOrMore", "+": "oneOrMore"}
_ANYTHING = (
    '<define name="ANY"><element><anyName/><zeroOrMore><choice><attribute><anyName/></attribute><text/>'
    '<ref name="ANY"/></choice></zeroOrMore></element></define>'
)


class Schema:
    """A format's schema. `words` are its types that are lists of words, computed on first use.

    ids, references and points name the attributes that give an id, refer to one, or contain points.
    attributes_apart: check attributes first by the profile alone, and elements by a RELAX NG schema that
    accepts any attribute. The validator tracks every combination of optional attributes, which triples its
    time; faults found this way are judged again by the whole schema.
    """

    def __init__(
        self,
        namespace: str,
        root: str,
        elements: Mapping[str, Element],
        words: Mapping[str, frozenset[str]],
        *,
        points: str,
        ids: str = "id",
        references: tuple[str, ...] = (),
        points_rule: re.Pattern[str],
        points_words: str,
        foreign: Mapping[str, str] | None = None,
        attributes_apart: bool = False,
    ) -> None:
        self.namespace = namespace
        self.root = root
        self.elements = elements
        self.words = words
        self._points_path = " | ".join(f"//@{name}" for name in points.split())
        self._points = points_rule
        self._points_words = points_words
        self._ids_path = f"//@{ids}" if "@" not in ids else ids
        self._references = references
        self._foreign = dict(foreign or {})
        self._apart = attributes_apart
        self._one_at_a_time = threading.Lock()
        """The validator keeps its messages on itself: another thread's must not be taken for one's own."""

    @cached_property
    def relax_ng(self) -> str:
        """Return the schema as RELAX NG, XML syntax."""
        return self._grammar(f'<ref name="{self.root}"/>')

    def _grammar(self, start: str) -> str:
        types = "".join(
            f'<define name="t-{name}"><choice>'
            + "".join(f'<value type="string">{_text(word)}</value>' for word in sorted(values))
            + "</choice></define>"
            for name, values in self.words.items()
        )
        body = "".join(self._define(element) for element in self.elements.values())
        anything = _ANYTHING if '<ref name="ANY"/>' in body else ""
        return (
            f'<grammar xmlns="{_RNG}" datatypeLibrary="{_XSD}" ns="{self.namespace}">'
            f"<start>{start}</start>{types}{anything}{body}</grammar>"
        )

    @cached_property
    def _validator(self) -> etree.RelaxNG:
        from lxml import etree

        return etree.RelaxNG(etree.fromstring(self.relax_ng))

    @cached_property
    def _elements_validator(self) -> etree.RelaxNG:
        from lxml import etree

        free = "<zeroOrMore><attribute><anyName/></attribute></zeroOrMore>"
        bare = re.sub(
            r"((?:<optional>)?<attribute .*?</attribute>(?:</optional>)?)+",
            free,
            self._grammar(f'<ref name="{self.root}"/>'),
        )
        return etree.RelaxNG(etree.fromstring(bare))

    def _is_plainly_valid(self, root: etree._Element) -> bool:
        """Return whether elements are where they may be and every attribute is allowed and has a fitting
        value.
        """
        if not self._elements_validator.validate(root):
            return False
        space = f"{{{self.namespace}}}"
        known = {space + name: (one.attributes, one.required) for name, one in self.elements.items()}
        hints = {f"{{{_XSI}}}schemaLocation", f"{{{_XSI}}}noNamespaceSchemaLocation"}
        seen: set[tuple[str, str]] = set()
        fits = self.fits
        for element in root.iter(f"{space}*"):
            attributes, required = known.get(str(element.tag), _UNKNOWN)
            stated = cast("list[tuple[str, str]]", element.items())
            for name, value in stated:
                kind = attributes.get(name)
                if kind is None:
                    if element is root and name in hints:
                        continue
                    return False
                if kind == "string" or (kind == "float" and value.isdigit() and value.isascii()):
                    continue
                if (kind, value) not in seen:
                    if not fits("string" if kind == "points" else kind, value):
                        return False
                    seen.add((kind, value))
            if required and not required <= {name for name, _ in stated}:
                return False
        return True

    @cached_property
    def _fragment_validator(self) -> etree.RelaxNG:
        from lxml import etree

        starts = "".join(f'<ref name="{name}"/>' for name in self.elements)
        return etree.RelaxNG(etree.fromstring(self._grammar(f"<choice>{starts}</choice>")))

    def problems_of(self, root: etree._Element, *, most: int = 20) -> list[str]:
        """Return what makes a document invalid, in words, at most *most* faults."""
        found: list[str] = []
        with self._one_at_a_time:
            if not (self._apart and self._is_plainly_valid(root)):
                validator = self._validator
                if not validator.validate(root):
                    found += [f"line {entry.line}: {entry.message}" for entry in validator.error_log][:most]
        for points in _strings(root, self._points_path):
            if not self._points.fullmatch(points):
                found.append(f"points {points[:40]!r} are not {self._points_words}")
        ids = _strings(root, self._ids_path)
        counts = Counter(ids)
        if len(counts) != len(ids):
            found += [f"the id {one} occurs {count} times" for one, count in counts.items() if count > 1]
        for name in self._references:
            for stated in set(_strings(root, f"//@{name}")):
                found += [f"{name} {ref} does not exist" for ref in stated.split() if ref not in counts]
        return found[:most]

    def is_valid(self, fragment: str) -> bool:
        """Return whether a fragment without namespace is valid as an element of its name."""
        return _is_valid(self, fragment)

    def fits(self, kind: str, value: str) -> bool:
        """Return whether *value* is of the profile's type *kind*; never true if the schema says no."""
        match kind:
            case "string":
                return True
            case "boolean":
                return value in _BOOLEAN
            case "int" | "integer":
                return _INT.fullmatch(value) is not None
            case "natural":
                return _INT.fullmatch(value) is not None and int(value) >= 0
            case "float":
                return _FLOAT.fullmatch(value) is not None
            case "conf":
                return _FLOAT.fullmatch(value) is not None and 0 <= float(value) <= 1
            case "dateTime":
                return _DATE_TIME.fullmatch(value) is not None and _real_day(value)
            case "points":
                return self._points.fullmatch(value) is not None
            case "id" | "ref":
                return is_ncname(value)
            case "refs":
                return bool(value.split()) and all(is_ncname(one) for one in value.split())
            case "tag":
                return _TAG.fullmatch(value) is not None
            case _ if kind.startswith("list."):
                known = self.words[kind[5:]]
                return bool(value.split()) and all(one in known for one in value.split())
            case _ if kind in self.words:
                return value in self.words[kind]
            case _:
                return _is_datum(kind, value)

    def _define(self, element: Element) -> str:
        content = "".join(self._pattern(token) for token in element.content)
        attributes = "".join(
            self._attribute(name, kind, name in element.required) for name, kind in element.attributes.items()
        )
        if element.name == self.root:
            attributes += _HINTS
        return (
            f'<define name="{element.name}"><element name="{element.name}">{attributes}'
            f"{content or '<empty/>'}</element></define>"
        )

    def _attribute(self, name: str, kind: str, required: bool) -> str:
        prefix, _, local = name.rpartition(":")
        space = self._foreign.get(prefix, "")
        body = f'<attribute name="{local}" ns="{space}">{_type(kind)}</attribute>'
        return body if required else f"<optional>{body}</optional>"

    def _pattern(self, token: str) -> str:
        if token.startswith("="):
            return _type(token[1:])
        many = _WRAP.get(token[-1])
        bare = token[:-1] if many else token
        if bare.startswith("(") and "," in bare:
            body = "".join(self._pattern(one) for one in bare[1:-1].split(","))
            return f"<{many}><group>{body}</group></{many}>" if many else body
        names = bare.strip("()").split("|")
        body = "".join(f'<ref name="{name}"/>' for name in names)
        if len(names) > 1:
            body = f"<choice>{body}</choice>"
        return f"<{many}>{body}</{many}>" if many else body


def _strings(root: etree._Element, path: str) -> list[str]:
    return cast("list[str]", root.xpath(path, smart_strings=False))


@lru_cache(maxsize=20_000)
def _is_valid(schema: Schema, fragment: str) -> bool:
    from lxml import etree

    name = name_of(fragment)
    if name not in schema.elements:
        return False
    try:
        root = etree.fromstring(
            f'<{name} xmlns="{schema.namespace}"{fragment[len(name) + 1 :]}',
            etree.XMLParser(resolve_entities=False, no_network=True),
        )
    except (etree.XMLSyntaxError, ValueError):
        return False
    if not schema._fragment_validator.validate(root):
        return False
    return all(schema.fits("points", points) for points in _strings(root, schema._points_path))


_BOOLEAN = frozenset({"true", "false", "1", "0"})
_INT = re.compile(r"\s*[+-]?[0-9]{1,9}\s*")
_FLOAT = re.compile(r"\s*+(?:[+-]?+(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?|-?INF|NaN)\s*+")
_NCNAME = re.compile(r"[^\W\d][\w.\-\u00b7]*")
_TAG = re.compile(r"[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*")
_DATE_TIME = re.compile(
    r"-?[0-9]{4,}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?"
    r"(Z|[+-](0[0-9]|1[0-3]):[0-5][0-9])?"
)


def is_ncname(value: str) -> bool:
    """Return whether *value* may be an id: a letter or underscore, then letters, digits, `.`, `-`, `_`."""
    if _NCNAME.fullmatch(value) is None:
        return False
    return value.isascii() or _is_datum("id", value)


@lru_cache(maxsize=20_000)
def _is_datum(kind: str, value: str) -> bool:
    """Return the validator's own verdict on a value: for non-ASCII ids it uses an older Unicode than we
    do.
    """
    from lxml import etree

    element = etree.Element("value")
    try:
        element.text = value
    except ValueError:
        return False
    return bool(_datum(kind).validate(element))


@cache
def _datum(kind: str) -> etree.RelaxNG:
    from lxml import etree

    return etree.RelaxNG(
        etree.fromstring(
            f'<element name="value" xmlns="{_RNG}" datatypeLibrary="{_XSD}">{_type(kind)}</element>'
        )
    )


def _real_day(value: str) -> bool:
    from datetime import date

    try:
        date.fromisoformat(value[:10])
    except ValueError:
        return False
    return True


def _type(kind: str) -> str:
    if kind.startswith("length."):
        return f'<data type="string"><param name="maxLength">{kind[7:]}</param></data>'
    if kind.startswith("list."):
        return f'<list><oneOrMore><ref name="t-{kind[5:]}"/></oneOrMore></list>'
    return _DATA.get(kind) or f'<ref name="t-{kind}"/>'


def _text(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;")
