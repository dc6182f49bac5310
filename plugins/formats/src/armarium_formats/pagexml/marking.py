"""Editorial facts in a PAGE file: in the `custom` of their line, where other programs write tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from armarium_formats.page_model import PageSegment, TextMark
from armarium_formats.pagexml.vocabulary import brace_free

TAGS = {
    "unclear": "unclear",
    "lost": "gap",
    "restored": "restored",
    "supplied": "supplied",
    "superfluous": "surplus",
    "deleted": "deleted",
    "added": "add",
}
KINDS = {tag: kind for kind, tag in TAGS.items()}
CUSTOM = re.compile(r"(?<![\w-])([\w-]++)\s*+\{([^{}]*+)\}")
READINGS = "readings"
"""The name of the MetadataItem that sums up who made the texts; like MADE, stated anew by each export."""
MADE = re.compile(r"(?<![\w-])made\s*+\{[^{}]*+\}")
"""The tag by which an export says who stands behind a text; stated anew by the next one."""
_SAID = ("reason", "place", "extent", "source")
_READ = frozenset({"offset", "length", "certainty", "quantity", "unit", "continued", *_SAID})


def with_marks(
    custom: str | None, segment: PageSegment, lose: Callable[..., None], *, taken: bool = False
) -> str:
    """Return *custom* with a tag for each fact of the text that counts: offset and length in characters, and
    details; and with one that says who stands behind the text, if that is known.

    The file's own tags are left out where they are written again, and all of them where they were *taken* as
    facts of the project, which may have changed since.
    """
    text = segment.texts[0] if segment.texts else None
    marks = [
        (mark, mark.start or 0, len(text.text) if mark.end is None else mark.end)
        for mark in (text.marks if text else ())
        if text
    ]
    places = {(mark.kind, start, end) for mark, start, end in marks}

    def keep_unless_taken(found: re.Match[str]) -> str:
        mark = _mark(found.group(1), said_in(found.group(2)))
        gone = mark is not None and (taken or (mark.kind, mark.start, mark.end) in places)
        return "" if gone else found.group(0)

    rest = " ".join(CUSTOM.sub(keep_unless_taken, custom).split()) if custom and (taken or places) else custom
    tags = [rest] if rest else []
    for mark, start, end in marks:
        said = {"offset": str(start), "length": str(end - start)} | dict(mark.stated)
        clean = {key: brace_free(value) for key, value in said.items()}
        if clean != said:
            lose(
                "marks in editorial facts",
                "a `custom` allows no braces and semicolons; they became blanks",
            )
        tags.append(f"{TAGS[mark.kind]} {{{' '.join(f'{key}:{value};' for key, value in clean.items())}}}")
    if text is not None and text.maker is not None:
        by, name = text.maker
        named = f" name:{brace_free(name)};" if name else ""
        tags.append(f"made {{by:{by};{named}}}")
    return " ".join(tags)


def said_in(body: str) -> dict[str, str]:
    """Parse what is between the braces of a tag."""
    parts = (part.split(":", 1) for part in body.split(";") if ":" in part)
    return {key.strip(): value.strip() for key, value in parts}


def read_marks(custom: str, segment: PageSegment, note: Callable[[str], None]) -> None:
    """Set the editorial facts of *custom* on the text that counts; what has no place there is noted."""
    if segment.kind == "region":
        if any(word in KINDS for word, _ in CUSTOM.findall(custom)):
            note("An editorial fact of a region refers to no characters; it is kept as the file writes it")
        return
    found = []
    length = len(segment.texts[0].text) if segment.texts else 0
    for word, body in CUSTOM.findall(custom):
        if word not in KINDS:
            continue
        said = said_in(body)
        mark = _mark(word, said)
        if (
            mark is None
            or mark.end is None
            or mark.end > length
            or (mark.start == mark.end and word != "gap")
        ):
            note(
                f"The tag {word} refers to characters that its text does not have; it is kept as the file "
                "writes it"
            )
            continue
        if said.get("continued") == "true":
            note(f"A tag {word} extends over several lines; its part in each line is a fact of its own")
        if left := sorted(set(said) - _READ):
            note(f"A tag {word} states {', '.join(left)}, for which an editorial fact has no place")
        found.append(mark)
    if found:
        segment.texts[0].marks = [*segment.texts[0].marks, *found]


def _mark(word: str, said: Mapping[str, str]) -> TextMark | None:
    """Return the fact that a tag states; None for other tags, and if it names no characters."""
    if word not in KINDS or not said.get("offset", "").isdecimal() or not said.get("length", "").isdecimal():
        return None
    start = int(said["offset"][:9])
    stated = {key: said[key] for key in _SAID if said.get(key)}
    if (certainty := _number(said.get("certainty"))) is not None and certainty <= 1:
        stated["certainty"] = repr(certainty)
    if _number(said.get("quantity")) is not None and said.get("unit"):
        stated |= {"quantity": said["quantity"], "unit": said["unit"]}
    return TextMark(KINDS[word], start, start + int(said["length"][:9]), stated)


def _number(stated: str | None) -> float | None:
    return float(stated) if stated and re.fullmatch(r"\d{1,9}(\.\d{1,12})?", stated) else None
