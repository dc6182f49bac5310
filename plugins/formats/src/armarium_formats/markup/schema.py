"""XML formats as RELAX NG, against which every export is validated: by the grammar, and by what a grammar cannot say.

The profile of a format is a table in the format's own names. One line per element: its children in order (`?`
optional, `*` any number, `+` at least one, `(A|B)*` any mixture, `(A,B?)+` a repeated sequence, `=type` text of that
type, `ANY` any element), then its attributes after `@` as name:type, `!` marking required ones. An indented line
continues the row above. The grammar is made from it, and a writer looks up in it which attributes an element may have.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from armarium.api import Invalid, parse_xml
from armarium_formats.markup.fragments import name_of

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
_HINT_NAMES = ("schemaLocation", "noNamespaceSchemaLocation")
_HINTS = "".join(
    f'<optional><attribute name="{name}" ns="{_XSI}"><text/></attribute></optional>' for name in _HINT_NAMES
)
"""Where a file says its schema lies: lawful on every root, whatever the format."""

_WRAP = {"?": "optional", "*": "zeroOrMore", "+": "oneOrMore"}
_ANYTHING = (
    '<define name="ANY"><element><anyName/><zeroOrMore><choice><attribute><anyName/></attribute><text/>'
    '<ref name="ANY"/></choice></zeroOrMore></element></define>'
)


class PointsRule(NamedTuple):
    """How the points that an XPath finds must be written, as a pattern and in words."""

    path: str
    pattern: re.Pattern[str]
    words: str


class Pointers(NamedTuple):
    """Attributes (an XPath) that name ids of the file, and what they are called in words."""

    path: str
    name: str


class Grammar:
    """A RELAX NG schema, that of a *file*, with what it cannot say: how points are written, unique ids, and pointers that lead
    somewhere.

    The XPaths may use the prefix `t` for *namespace*.
    """

    def __init__(
        self,
        namespace: str,
        file: Path = Path(),
        *,
        points: Sequence[PointsRule],
        ids: str,
        pointers: Sequence[Pointers],
    ) -> None:
        self.namespace = namespace
        self._file = file
        self.points = points
        self._ids = ids
        self._pointers = pointers
        self._one_at_a_time = threading.Lock()
        """The validator keeps its messages on itself: another thread's must not be taken for one's own."""

    @cached_property
    def relax_ng(self) -> bytes:
        """Return the schema as RELAX NG, XML syntax."""
        return self._file.read_bytes()

    @cached_property
    def _validator(self) -> etree.RelaxNG:
        return _relax_ng(self.relax_ng)

    def problems_in(self, content: str) -> list[str]:
        """Return what makes a written file invalid, in words."""
        try:
            root = parse_xml(content.encode(), name="The export")
        except Invalid as refusal:
            return [refusal.detail]
        return self.problems_of(root)

    def problems_of(self, root: etree._Element, *, most: int = 20) -> list[str]:
        """Return what makes a document invalid, in words, at most *most* faults."""
        problems: list[str] = []
        with self._one_at_a_time:
            if not self._is_plainly_valid(root) and not self._validator.validate(root):
                log = self._validator.error_log
                problems += [f"line {entry.line}: {entry.message}" for entry in log][:most]
        for path, pattern, words in self.points:
            problems += [
                f"points {points[:40]!r} are not {words}"
                for points in self._strings(root, path)
                if not pattern.fullmatch(points)
            ]
        ids = Counter(self._strings(root, self._ids))
        problems += [f"the id {value} occurs {count} times" for value, count in ids.items() if count > 1]
        for path, name in self._pointers:
            for value in dict.fromkeys(self._strings(root, path)):
                dangling = [reference for reference in value.split() if reference.lstrip("#") not in ids]
                problems += [f"{name} {reference} does not exist" for reference in dangling]
        return problems[:most]

    def _is_plainly_valid(self, root: etree._Element) -> bool:
        """Return whether a quicker look than the validator's already shows that the elements are valid."""
        return False

    def _strings(self, root: etree._Element, path: str) -> list[str]:
        strings = root.xpath(path, namespaces={"t": self.namespace}, smart_strings=False)
        return cast("list[str]", strings)


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a format: its content in order and its attributes with their types."""

    name: str
    content: tuple[str, ...]
    attributes: dict[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()


class Profile(Grammar):
    """A format as a table. *words* are its types that are lists of words: rows `name: word word …`, and *more* of them.

    *macros*: words of the table that stand for several. *ids*, *references* and *points* name the attributes that give an id,
    refer to one, or contain points. *attributes_apart*: check attributes first by the table alone, and elements by a schema
    that accepts any attribute. The validator tracks every combination of optional attributes, which can take it a
    hundred times as long; faults found this way are judged again by the whole schema.
    """

    def __init__(
        self,
        namespace: str,
        root: str,
        table: str,
        macros: Mapping[str, str],
        words: str,
        more: Mapping[str, frozenset[str]],
        *,
        points: tuple[str, str, str],
        ids: str,
        references: str,
        foreign: Mapping[str, str] | None = None,
        attributes_apart: bool = False,
    ) -> None:
        names, pattern, wording = points
        super().__init__(
            namespace,
            points=[
                PointsRule(" | ".join(f"//@{name}" for name in names.split()), re.compile(pattern), wording)
            ],
            ids=ids,
            pointers=[Pointers(f"//@{name}", name) for name in references.split()],
        )
        self.root = root
        self.elements = dict(_read_element(row, macros) for row in _rows(table))
        self.words = {
            name: frozenset(listed.split())
            for name, _, listed in (row.partition(":") for row in _rows(words))
        } | dict(more)
        self._foreign = dict(foreign or {})
        self._apart = attributes_apart

    @cached_property
    def relax_ng(self) -> bytes:
        """Return the schema as RELAX NG, XML syntax."""
        return self._grammar(f'<ref name="{self.root}"/>').encode()

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
    def _elements_validator(self) -> etree.RelaxNG:
        free = "<zeroOrMore><attribute><anyName/></attribute></zeroOrMore>"
        pattern = r"((?:<optional>)?<attribute .*?</attribute>(?:</optional>)?)+"
        return _relax_ng(re.sub(pattern, free, self.relax_ng.decode()))

    @cached_property
    def _fragment_validator(self) -> etree.RelaxNG:
        starts = "".join(f'<ref name="{name}"/>' for name in self.elements)
        return _relax_ng(self._grammar(f"<choice>{starts}</choice>"))

    def _is_plainly_valid(self, root: etree._Element) -> bool:
        """Return whether all elements and attributes are where they may be, with fitting values."""
        if not self._apart or not self._elements_validator.validate(root):
            return False
        space = f"{{{self.namespace}}}"
        elements = {space + name: element for name, element in self.elements.items()}
        hints = {f"{{{_XSI}}}{name}" for name in _HINT_NAMES}
        fitting: set[tuple[str, str]] = set()
        for element in root.iter(f"{space}*"):
            declared = elements[str(element.tag)]
            attributes, required = declared.attributes, declared.required
            pairs = cast("list[tuple[str, str]]", element.items())
            for name, value in pairs:
                kind = attributes.get(name)
                if kind is None:
                    if element is root and name in hints:
                        continue
                    return False
                if kind == "string" or (kind == "float" and value.isdigit() and value.isascii()):
                    continue
                if (kind, value) not in fitting:
                    if kind != "points" and not self.fits(kind, value):
                        return False
                    fitting.add((kind, value))
            if required and not required <= {name for name, _ in pairs}:
                return False
        return True

    def is_valid(self, fragment: str) -> bool:
        """Return whether a fragment without namespace is valid as an element of its name."""
        return _is_valid(self, fragment)

    def fits(self, kind: str, value: str) -> bool:
        """Return whether *value* is of the profile's type *kind*; never true if the schema says no."""
        if kind in self.words:
            return value in self.words[kind]
        match kind:
            case "string":
                return True
            case "points":
                return self.points[0].pattern.fullmatch(value) is not None
            case "id" | "ref":
                return is_ncname(value)
            case "refs":
                return bool(value.split()) and all(map(is_ncname, value.split()))
            case _ if kind.startswith("list."):
                return bool(value.split()) and self.words[kind[5:]].issuperset(value.split())
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
            body = "".join(self._pattern(part) for part in bare[1:-1].split(","))
            return f"<{many}><group>{body}</group></{many}>" if many else body
        names = bare.strip("()").split("|")
        body = "".join(f'<ref name="{name}"/>' for name in names)
        if len(names) > 1:
            body = f"<choice>{body}</choice>"
        return f"<{many}>{body}</{many}>" if many else body


def _rows(table: str) -> list[str]:
    """Return the rows of a table; an indented line continues the row above."""
    return table.replace("\n  ", " ").strip().splitlines()


def _read_element(row: str, macros: Mapping[str, str]) -> tuple[str, Element]:
    children, _, attributes = row.partition("@")
    name, *content = _expand(children, macros)
    pairs = [pair.rsplit(":", 1) for pair in _expand(attributes, macros)]
    required = frozenset(key for key, kind in pairs if kind.endswith("!"))
    return name, Element(name, tuple(content), {key: kind.rstrip("!") for key, kind in pairs}, required)


def _expand(text: str, macros: Mapping[str, str]) -> list[str]:
    """Return the tokens of a row with its macros expanded."""
    return [
        word
        for token in text.split()
        for word in (_expand(macros[token], macros) if token in macros else [token])
    ]


def _relax_ng(schema: str | bytes) -> etree.RelaxNG:
    from lxml import etree

    return etree.RelaxNG(etree.fromstring(schema))


@lru_cache(maxsize=20_000)
def _is_valid(schema: Profile, fragment: str) -> bool:
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
    return all(schema.fits("points", points) for points in schema._strings(root, schema.points[0].path))


_NCNAME = re.compile(r"[^\W\d][\w.\-\u00b7]*")


def is_ncname(value: str) -> bool:
    """Return whether *value* may be an id: a letter or underscore, then letters, digits, `.`, `-`, `_`."""
    if _NCNAME.fullmatch(value) is None:
        return False
    return value.isascii() or _is_datum("id", value)


@lru_cache(maxsize=20_000)
def _is_datum(kind: str, value: str) -> bool:
    """Return the validator's own verdict on a value: for ids it uses an older Unicode than we do."""
    from lxml import etree

    element = etree.Element("value")
    try:
        element.text = value
    except ValueError:
        return False
    return bool(_datum(kind).validate(element))


@cache
def _datum(kind: str) -> etree.RelaxNG:
    return _relax_ng(f'<element name="value" xmlns="{_RNG}" datatypeLibrary="{_XSD}">{_type(kind)}</element>')


def _type(kind: str) -> str:
    if kind.startswith("length."):
        return f'<data type="string"><param name="maxLength">{kind[7:]}</param></data>'
    if kind.startswith("list."):
        return f'<list><oneOrMore><ref name="t-{kind[5:]}"/></oneOrMore></list>'
    return _DATA.get(kind) or f'<ref name="t-{kind}"/>'


def _text(word: str) -> str:
    return word.replace("&", "&amp;").replace("<", "&lt;")
