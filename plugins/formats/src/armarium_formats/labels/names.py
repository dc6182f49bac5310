"""The names of label classes, from the file beside the labels that lists them: classes.txt, obj.names, data.yaml, notes.json."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from armarium_formats.decoding import decode
from armarium_formats.numbers import parse_unsigned

MAX_CLASSES: Final = 10_000
_LISTS: Final = frozenset(
    {"classes.txt", "obj.names", "labels.txt", "predefined_classes.txt", "_darknet.labels"}
)
_YAML: Final = (".yaml", ".yml")
_OTHERS: Final = frozenset({"data.yaml", "data.yml", "dataset.yaml", "dataset.yml", "notes.json"})
_NAMES_KEY = re.compile(r"names\s*:\s*(.*)")
_ITEM = re.compile(r"\s*-\s*(.+)")
_PAIR = re.compile(r"""\s*["']?(\d{1,6})["']?\s*:\s*(.+)""")


def is_names_file(filename: str) -> bool:
    """Whether a file of this name, lying among others, lists the classes of label files; such a file is not a page."""
    name = _take_last_part(filename)
    return name in _LISTS or name in _OTHERS or name.endswith(".names")


def class_names(companions: Mapping[str, bytes]) -> dict[int, str]:
    """Class number -> name, from the first companion that lists any; YAML of any name is looked at. Empty when none does."""
    for filename in sorted(companions, key=_rank):
        name = _take_last_part(filename)
        if not is_names_file(filename) and not name.endswith(_YAML):
            continue
        text = decode(companions[filename]).text
        if name.endswith(_YAML):
            names = _of_yaml(text)
        elif name.endswith(".json"):
            names = _of_json(text)
        else:
            lines = [line.strip() for line in text.splitlines()]
            while lines and not lines[-1]:
                lines.pop()
            names = dict(enumerate(lines))
        names = {number: word for number, word in names.items() if word and number < MAX_CLASSES}
        if names:
            return names
    return {}


def _take_last_part(filename: str) -> str:
    return filename.replace("\\", "/").rpartition("/")[2].casefold()


def _rank(filename: str) -> tuple[int, str]:
    name = _take_last_part(filename)
    kinds = (name in _LISTS, name.endswith(".names"), name.endswith(_YAML), True)
    return kinds.index(True), name


def _of_json(text: str) -> dict[int, str]:
    """The `categories` of Label Studio's notes.json and of COCO, or `names` as a list or an object."""
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(parsed, dict):
        return {}
    names = parsed.get("categories", parsed.get("names"))
    if isinstance(names, dict):
        return {
            number: str(value) for key, value in names.items() if (number := parse_unsigned(key)) is not None
        }
    if not isinstance(names, list):
        return {}
    pairs: dict[int, str] = {}
    for number, entry in enumerate(names[:MAX_CLASSES]):
        if isinstance(entry, dict) and isinstance(entry.get("id"), int):
            pairs[entry["id"]] = str(entry.get("name", ""))
        elif isinstance(entry, str):
            pairs[number] = entry
    return pairs


def _of_yaml(text: str) -> dict[int, str]:
    """The `names` of a data.yaml: on its own line in brackets or braces, or below as a list or numbered. No other YAML."""
    lines = [line.rstrip() for line in text.splitlines()]
    for at, line in enumerate(lines):
        match = _NAMES_KEY.match(line)
        if match is None:
            continue
        inline = _without_comment(match.group(1)).strip()
        if inline[:1] in ("[", "{"):
            closing = "]" if inline[0] == "[" else "}"
            start = at + 1
            while not inline.endswith(closing) and start < len(lines) and start < at + MAX_CLASSES:
                inline += " " + _without_comment(lines[start]).strip()
                start += 1
            parts = [part.strip() for part in inline.strip("[]{} ").split(",")]
            if closing == "]":
                return {number: _unquote(part) for number, part in enumerate(parts)}
            pairs = [_PAIR.fullmatch(part) for part in parts]
            return {int(pair.group(1)): _unquote(pair.group(2)) for pair in pairs if pair}
        return _labels_below(lines[at + 1 :])
    return {}


def _labels_below(lines: list[str]) -> dict[int, str]:
    names: dict[int, str] = {}
    for line in lines:
        line = _without_comment(line)
        if not line.strip():
            continue
        if item := _ITEM.fullmatch(line):
            names[len(names)] = _unquote(item.group(1))
        elif line[:1].isspace() and (pair := _PAIR.fullmatch(line)):
            names[int(pair.group(1))] = _unquote(pair.group(2))
        else:
            break
    return names


def _without_comment(line: str) -> str:
    return line.partition(" #")[0].rstrip()


def _unquote(word: str) -> str:
    word = word.strip()
    return word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word
