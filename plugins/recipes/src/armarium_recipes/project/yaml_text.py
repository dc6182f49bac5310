"""The YAML of a recipe's files: plain values, with the line of each. No tags, no aliases, no duplicate keys.

Words are read as in YAML 1.2: `no` is the code of a language, and `12:30` is not a number.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

LONGEST = 1 << 20
"""The most bytes of a file."""
MOST_VALUES = 50_000
DEEPEST = 40

_INTEGER = re.compile(r"[-+]?[0-9]{1,18}\Z")
_NUMBER = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)([eE][-+]?[0-9]{1,3})?\Z")
_UNWRITTEN = re.compile("[^\\t\\n\\r\\x20-\\x7e\\x85\\xa0-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""Characters that YAML does not allow."""
_WORDS: dict[str, Any] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}

Path = tuple[str | int, ...]


class Unreadable(Exception):
    """A file that cannot be taken in: a sentence, and the line (from 1) if it is known."""

    def __init__(self, why: str, line: int | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.line = line


@dataclass
class Document:
    """The content of a file: its value, and the line of each part."""

    value: Any
    lines: dict[Path, int] = field(default_factory=dict)

    def line_of(self, path: Sequence[str | int]) -> int | None:
        """Return the line of the part at *path*, or of the nearest enclosing part that is in the file."""
        parts = tuple(path)
        while parts and parts not in self.lines:
            parts = parts[:-1]
        return self.lines.get(parts)

    def line_of_word(self, words: Collection[str]) -> int | None:
        """Return the line of the first part whose value or key is one of *words*."""
        return next(
            (
                line
                for path, line in self.lines.items()
                if self._at(path) in words or (path and path[-1] in words)
            ),
            None,
        )

    def _at(self, path: Path) -> str | None:
        value = self.value
        for part in path:
            value = value[part]
        return value if isinstance(value, str) else None


@dataclass
class _Open:
    """A list or mapping that has begun but not ended."""

    value: Any
    path: Path
    key: str | None = None

    @property
    def next_path(self) -> Path:
        return (*self.path, len(self.value) if isinstance(self.value, list) else self.key or "")


def parse(data: bytes) -> Document:
    """Parse *data*; raises Unreadable with a sentence."""
    if len(data) > LONGEST:
        raise Unreadable(f"It has {len(data):,} bytes; a recipe file has at most {LONGEST:,}.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unreadable("It is not UTF-8 text.", data[: error.start].count(b"\n") + 1) from None
    if unwritten := _UNWRITTEN.search(text):
        sign = f"U+{ord(unwritten[0]):04X}"
        raise Unreadable(
            f"It has the character {sign}, which YAML does not allow.",
            text[: unwritten.start()].count("\n") + 1,
        )
    import yaml

    try:
        return _Reader().read(yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it cannot be read"
        raise Unreadable(
            f"It is not valid YAML: {problem}.", mark.line + 1 if mark is not None else None
        ) from None


class _Reader:
    """Builds one document from its events."""

    def __init__(self) -> None:
        self.document = Document(None)
        self.open: list[_Open] = []
        self.values = 0
        self.documents = 0

    def read(self, events: Any) -> Document:
        import yaml

        for event in events:
            line = event.start_mark.line + 1
            if isinstance(event, yaml.AliasEvent):
                raise Unreadable("It uses an alias (*); write the value out instead.", line)
            if isinstance(event, yaml.DocumentStartEvent):
                self.documents += 1
                if self.documents > 1:
                    raise Unreadable("It has more than one document; a file must have one.", line)
            elif isinstance(event, yaml.NodeEvent):
                if getattr(event, "anchor", None):
                    raise Unreadable("It uses an anchor (&); write the value out instead.", line)
                if getattr(event, "tag", None):
                    raise Unreadable(
                        "It uses a tag (!); a recipe file has plain text, numbers, lists and mappings only.",
                        line,
                    )
                if isinstance(event, yaml.ScalarEvent):
                    self._scalar(event.value, plain=event.implicit[0], line=line)
                else:
                    self._begin([] if isinstance(event, yaml.SequenceStartEvent) else {}, line)
            elif isinstance(event, yaml.CollectionEndEvent):
                self.open.pop()
        return self.document

    def _scalar(self, text: str, *, plain: bool, line: int) -> None:
        inner = self.open[-1] if self.open else None
        if inner is not None and isinstance(inner.value, dict) and inner.key is None:
            if text in inner.value:
                raise Unreadable(f"The key {text[:80]!r} occurs twice in one place.", line)
            inner.key = text
            self.document.lines[inner.next_path] = line
            return
        self._add(_plain_value(text) if plain else text, line)

    def _begin(self, value: Any, line: int) -> None:
        inner = self.open[-1] if self.open else None
        if inner is not None and isinstance(inner.value, dict) and inner.key is None:
            raise Unreadable("A list or mapping cannot be a key.", line)
        if len(self.open) >= DEEPEST:
            raise Unreadable(f"It is nested more than {DEEPEST} deep.", line)
        path = inner.next_path if inner is not None else ()
        self._add(value, line)
        self.open.append(_Open(value, path))

    def _add(self, value: Any, line: int) -> None:
        self.values += 1
        if self.values > MOST_VALUES:
            raise Unreadable(f"It has more than {MOST_VALUES:,} values.", line)
        if not self.open:
            self.document.value = value
            return
        inner = self.open[-1]
        self.document.lines.setdefault(inner.next_path, line)
        if isinstance(inner.value, list):
            inner.value.append(value)
        else:
            inner.value[inner.key] = value
            inner.key = None


def _plain_value(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.match(text):
        return int(text)
    # A number beyond those of JSON, such as 1e999, stays text: it could not be written again as a number.
    if _NUMBER.match(text) and isfinite(number := float(text)):
        return number
    return text


def dump(value: Any, heading: str) -> bytes:
    """Return *value* as the content of a file, with *heading* as its first comment."""
    import yaml

    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=110)
    return f"# {heading}\n{text}".encode()
