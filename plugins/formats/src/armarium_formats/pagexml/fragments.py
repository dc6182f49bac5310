"""Parts of a PAGE file that the page model has no field for: kept as short XML without namespace, checked, put back."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from armarium_formats.pagexml import schema
from armarium_formats.pagexml.profile import NAMESPACE, elements

if TYPE_CHECKING:
    from lxml import etree

KEPT = "kept: has no place in PAGE 2019-07-15"
"""Description of a UserAttribute that carries what the schema knows no place for; read back as what it was."""

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_PAIR = re.compile(rf"({_NUMBER})\s*,\s*({_NUMBER})")
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_ATTRIBUTE_ESCAPES = {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}


def local_name(tag: str) -> str:
    """An element's or attribute's name without its namespace."""
    return tag.rpartition("}")[2]


def text_of(value: str) -> str:
    """Character data as XML; characters that XML cannot hold are left out."""
    if _ILLEGAL.search(value):
        value = _ILLEGAL.sub("", value)
    return escape(value, {"\r": "&#13;"})


def attribute_of(value: str) -> str:
    """An attribute's value as XML, line breaks kept."""
    if _ILLEGAL.search(value):
        value = _ILLEGAL.sub("", value)
    return escape(value, _ATTRIBUTE_ESCAPES)


def illegal_characters(value: str) -> int:
    """How many characters of *value* no XML document can hold."""
    return len(_ILLEGAL.findall(value))


def parse_points(value: str) -> list[tuple[float, float]] | None:
    """The points of a `points` attribute; whole numbers stay whole. None when some of it is no x,y pair."""
    try:
        numbers = list(map(int, value.replace(",", " ").split()))
    except ValueError:
        numbers = []
    if numbers and 2 * value.count(",") == len(numbers):
        return list(zip(numbers[::2], numbers[1::2], strict=True))
    if not value.strip():
        return []
    found = [(_number(x), _number(y)) for x, y in _PAIR.findall(value)]
    rest = _PAIR.sub("", value).strip(" ,;\t\r\n")
    return found if not rest else None


def _number(text: str) -> float:
    value = float(text)
    return int(value) if value.is_integer() else value


def points_of(element: etree._Element) -> list[tuple[float, float]] | None:
    """Points of a Coords, Baseline or the like: its `points` attribute, or the Point children of 2010. None: bad."""
    stated = element.get("points")
    if stated is not None:
        return parse_points(stated) if stated.strip() else []
    found: list[tuple[float, float]] = []
    for child in element:
        if local_name(str(child.tag)) == "Point":
            pair = parse_points(f"{child.get('x', '')},{child.get('y', '')}")
            if pair is None:
                return None
            found += pair
    return found


def keep(element: etree._Element) -> str:
    """An element and all in it as XML without namespace, its shapes in the way PAGE 2019 writes them."""
    name = local_name(str(element.tag))
    attributes = {local_name(str(key)): str(value) for key, value in element.attrib.items()}
    points = points_of(element) if "points" in attributes or _has_points(element) else None
    if points:
        attributes["points"] = " ".join(f"{x},{y}" for x, y in points)
    head = name + "".join(f' {key}="{attribute_of(value)}"' for key, value in attributes.items())
    inside = "".join(
        keep(child) + text_of((child.tail or "") if (child.tail or "").strip() else "")
        for child in element
        if isinstance(child.tag, str) and not (points and local_name(child.tag) == "Point")
    )
    text = element.text or ""
    if text.strip() or (text and not len(element)):
        inside = text_of(text) + inside
    return f"<{head}>{inside}</{name}>" if inside else f"<{head}/>"


def _has_points(element: etree._Element) -> bool:
    return len(element) > 0 and local_name(str(element[0].tag)) == "Point"


def name_of(fragment: str) -> str:
    """The name of a fragment's root element."""
    found = re.match(r"<([^\s/>]+)", fragment)
    return found.group(1) if found else ""


@cache
def _fragment_schema() -> etree.RelaxNG:
    from lxml import etree

    starts = "".join(f'<ref name="{name}"/>' for name in elements())
    return etree.RelaxNG(
        etree.fromstring(
            schema.relax_ng().replace(
                '<start><ref name="PcGts"/></start>', f"<start><choice>{starts}</choice></start>"
            )
        )
    )


@lru_cache(maxsize=20_000)
def is_valid(fragment: str) -> bool:
    """Whether a fragment is, as it stands, valid PAGE 2019-07-15 for an element of its name."""
    from lxml import etree

    name = name_of(fragment)
    if name not in elements():
        return False
    try:
        root = etree.fromstring(
            f'<{name} xmlns="{NAMESPACE}"{fragment[len(name) + 1 :]}',
            etree.XMLParser(resolve_entities=False, no_network=True),
        )
    except (etree.XMLSyntaxError, ValueError):
        return False
    if not _fragment_schema().validate(root):
        return False
    return all(schema.fits("points", points) for points in root.xpath("//@points"))  # type: ignore[union-attr, arg-type]


_ID = re.compile(r'(<[^<>]*?\s)(id|regionRef)="([^"]*)"')


def ids_in(fragment: str) -> list[str]:
    """The ids that a fragment gives to its elements."""
    return [found.group(3) for found in _ID.finditer(fragment) if found.group(2) == "id"]


def refs_in(fragment: str) -> list[str]:
    """The ids that a fragment points at."""
    return [found.group(3) for found in _ID.finditer(fragment) if found.group(2) == "regionRef"]


def rename(fragment: str, ids: dict[str, str], refs: dict[str, str]) -> str:
    """A fragment with its own ids and the ids it points at exchanged as told."""

    def change(found: re.Match[str]) -> str:
        head, key, value = found.groups()
        return f'{head}{key}="{(ids if key == "id" else refs).get(value, value)}"'

    return _ID.sub(change, fragment)


def user_attribute(name: str, value: str) -> str:
    """What has no place of its own, as a UserAttribute that `restore` understands."""
    return (
        f'<UserAttribute name="{attribute_of(name)}" description="{KEPT}" type="xsd:string" '
        f'value="{attribute_of(value)}"/>'
    )
