"""What a PAGE file says of characters, in the `custom` of their line or word, where other programs write tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from armarium_formats.driver import MarkWords
from armarium_formats.page_model import FACT_KINDS, PageSegment, PageText, TextMark
from armarium_formats.pagexml.vocabulary import brace_free

TAGS = {
    "unclear": "unclear", "lost": "gap", "restored": "restored", "supplied": "supplied",
    "superfluous": "surplus", "deleted": "deleted", "added": "add", "person": "person", "place": "place",
    "organization": "organization", "date": "date", "abbreviation": "abbrev", "style": "textStyle",
}  # fmt: skip
"""How each kind of mark is called; editorial facts and the tags of Transkribus."""
KINDS = {tag: kind for kind, tag in TAGS.items()} | {"organisation": "organization"}
TAG = "tag"
"""The kind of a mark that is none of these; `name` is its own word."""
CUSTOM = re.compile(r"(?<![\w-])([\w-]++)\s*+\{([^{}]*+)\}")
READINGS = "readings"
"""The name of the MetadataItem that sums up who made the texts; like MADE, stated anew by each export."""
STATED = "statement: "
"""What the name of an item of the metadata begins with that a family states of the text."""
MADE = re.compile(r"(?<![\w-])made\s*+\{[^{}]*+\}")
"""The tag by which an export says who stands behind a text; stated anew by the next one."""
_PLACE = re.compile(r"((?:offset|length)\s*:\s*)[^;{}]*")
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_SAID = ("reason", "place", "extent", "source")
_READ = frozenset({"offset", "length", "certainty", "quantity", "unit", "continued", *_SAID})
_STYLES = {
    "bold": "bold", "italic": "italic", "underlined": "underline", "strikethrough": "strikethrough",
    "superscript": "superscript", "subscript": "subscript", "letterSpaced": "letterspaced",
    "smallCaps": "smallcaps",
}  # fmt: skip
"""The styles of a textStyle and the words of `rend` for them."""


def with_marks(custom: str | None, segment: PageSegment, lose: Callable[..., None]) -> str:
    """Return *custom* with a tag for each mark of the text that counts: offset and length in characters, and
    details; and with one that says who stands behind the text, if that is known. A tag stands as the file wrote
    it, where its words are now.
    """
    custom_left = CUSTOM.sub(_without_marks, custom) if custom and "offset" in custom else custom
    tags = (
        [" ".join(custom_left.split()) if custom_left != custom else custom_left]
        if custom_left and custom_left.strip()
        else []
    )
    text = segment.texts[0] if segment.texts else None
    for mark in text.marks if text else ():
        if text and (tag := _tag(mark, text, lose)):
            tags.append(tag)
    if text is not None and text.maker is not None:
        by, name = text.maker
        name_field = f" name:{brace_free(name)};" if name else ""
        tags.append(f"made {{by:{by};{name_field}}}")
    return " ".join(tags)


def _without_marks(match: re.Match[str]) -> str:
    """Leave out tags that older imports kept in place: they are marks, whose places are known."""
    values = said_in(match.group(2))
    is_fact = KINDS.get(match.group(1)) in FACT_KINDS
    return "" if is_fact and _span(values) is not None else match.group(0)


def _tag(mark: TextMark, text: PageText, lose: Callable[..., None]) -> str:
    start, end = mark.span_in(text.text)
    if source := mark.source.get("pagexml"):
        numbers = iter(
            (start, end - start) if source.find("offset") < source.find("length") else (end - start, start)
        )
        return _PLACE.sub(lambda match: f"{match.group(1)}{next(numbers)}", source, count=2)
    name, properties = _describe_tag(mark)
    if name is None or (start == end and mark.kind not in FACT_KINDS):
        words = text.text[start:end] or mark.stated.get("text", "")
        lose(MarkWords(mark.kind, words), "PAGE has no tag for them, or no characters that they are of")
        return ""
    values = {"offset": str(start), "length": str(end - start)} | properties
    clean = {key: brace_free(value) for key, value in values.items()}
    if clean != values:
        what = "editorial facts" if mark.kind in FACT_KINDS else "tags"
        lose(f"marks in {what}", "a `custom` allows no braces and semicolons; they became blanks")
    return f"{name} {{{' '.join(f'{key}:{value};' for key, value in clean.items())}}}"


def _describe_tag(mark: TextMark) -> tuple[str | None, dict[str, str]]:
    """Return the tag of a mark that another format, or the project, states; None if PAGE has none."""
    properties = {re.sub(r"[^\w-]", "_", key): value for key, value in mark.stated.items() if key != "text"}
    if mark.kind == "style":
        styles = {word: tag for tag, word in _STYLES.items()}
        words = properties.pop("rend", "").split()
        return TAGS["style"], {**{styles[word]: "true" for word in words if word in styles}, **properties}
    if mark.kind == "date" and (
        day := re.fullmatch(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?", properties.get("when", ""))
    ):
        numbers = zip(("year", "month", "day"), day.groups(), strict=True)
        properties |= {key: str(int(value)) for key, value in numbers if value is not None}
    if mark.kind == "divided":
        return None, {}
    name = TAGS.get(mark.kind) or re.sub(r"[^\w-]", "_", properties.pop("name", ""))
    return name or None, properties


def said_in(body: str) -> dict[str, str]:
    """Parse what is between the braces of a tag."""
    parts = (part.split(":", 1) for part in body.split(";") if ":" in part)
    return {key.strip(): value.strip() for key, value in parts}


def read_marks(custom: str, segment: PageSegment, note: Callable[[str], None]) -> str:
    """Set the marks of *custom* on the text that counts; return what is left of it, tags without a place there
    among it, which are noted.
    """
    text = segment.texts[0] if segment.texts else None
    marks: list[TextMark] = []

    def take(tag: re.Match[str]) -> str:
        word, values = tag.group(1), said_in(tag.group(2))
        is_fact = KINDS.get(word) in FACT_KINDS
        if not is_fact and _span(values) is None:
            return tag.group(0)
        if segment.kind == "region" and (is_fact or text is None):
            if is_fact:
                note(
                    "An editorial fact of a region refers to no characters; it is kept as the file writes it"
                )
            return tag.group(0)
        mark = _mark(word, values, tag.group(0))
        if (
            mark is None
            or mark.end is None
            or mark.end > len(text.text if text else "")
            or (mark.start == mark.end and word != "gap")
        ):
            note(
                f"The tag {word} refers to characters that its text does not have; it is kept as the file "
                "writes it"
            )
            return tag.group(0)
        if is_fact and values.get("continued") == "true":
            note(f"A tag {word} extends over several lines; its part in each line is a fact of its own")
        if is_fact and (others := sorted(set(values) - _READ)):
            note(f"A tag {word} states {', '.join(others)}, for which an editorial fact has no place")
        marks.append(mark)
        return ""

    custom_left = CUSTOM.sub(take, custom)
    if marks and text:
        text.marks = [*text.marks, *marks]
        return " ".join(custom_left.split())
    return custom


def _span(values: Mapping[str, str]) -> tuple[int, int] | None:
    if not values.get("offset", "").isdecimal() or not values.get("length", "").isdecimal():
        return None
    start = int(values["offset"][:9])
    return start, start + int(values["length"][:9])


def _mark(word: str, values: Mapping[str, str], source: str) -> TextMark | None:
    """Return the mark that a tag states; None if it names no characters."""
    span = _span(values)
    if span is None:
        return None
    kind = KINDS.get(word, TAG)
    if kind in FACT_KINDS:
        properties = {key: values[key] for key in _SAID if values.get(key)}
        if (certainty := _number(values.get("certainty"))) is not None and certainty <= 1:
            properties["certainty"] = repr(certainty)
        if _number(values.get("quantity")) is not None and values.get("unit"):
            properties |= {"quantity": values["quantity"], "unit": values["unit"]}
        return TextMark(kind, *span, properties)
    properties = {
        key: _ESCAPED.sub(lambda code: chr(int(code.group(1), 16)), value)
        for key, value in values.items()
        if key not in ("offset", "length") and value
    }
    if kind == TAG:
        properties["name"] = word
    elif kind == "style":
        properties = {
            "rend": " ".join(_STYLES[style] for style in _STYLES if properties.pop(style, "") == "true"),
            **properties,
        }
    elif kind == "date" and properties.get("year", "").isdecimal():
        parts = [properties[key] for key in ("year", "month", "day") if properties.get(key, "").isdecimal()]
        properties["when"] = "-".join(
            f"{int(part):0{4 if number == 0 else 2}d}" for number, part in enumerate(parts)
        )
    return TextMark(kind, *span, properties, {"pagexml": source})


def _number(text: str | None) -> float | None:
    return float(text) if text and re.fullmatch(r"\d{1,9}(\.\d{1,12})?", text) else None
