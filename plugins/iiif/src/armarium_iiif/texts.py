"""Texts in IIIF: writes language maps safely, and reads plain text from a foreign manifest."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

_TAGS = re.compile(r"<!--.*?(?:-->|$)|<(script|style)\b.*?(?:</\1\s*>|$)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
_BLANKS = re.compile(r"\s+")
_READ_AT_MOST = 20_000


def plain_value(text: str) -> str:
    """Return *text* so that no viewer takes it for HTML: a value that begins and ends like a tag is escaped."""
    stripped = text.strip()
    if stripped.startswith("<") and stripped.endswith(">"):
        return f"<span>{html.escape(text)}</span>"
    return text


def language_map(text: str, language: str | None = None) -> dict[str, list[str]]:
    """Return a value as a IIIF language map; without a language it is `none`."""
    return {language or "none": [plain_value(text)]}


def id_of(value: Any) -> Any:
    """Return the id that a resource states: `id`, in Presentation 2 `@id`; None for what is no resource."""
    return (value.get("id") or value.get("@id")) if isinstance(value, dict) else None


def type_of(value: Any) -> Any:
    """Return the type that a resource states: `type`, in Presentation 2 `@type`; None for what is no resource."""
    return (value.get("type") or value.get("@type")) if isinstance(value, dict) else None


def as_list(value: Any) -> list[Any]:
    """Return a value that may stand alone or in a list as a list."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def plain_text(value: Any, longest: int = 500) -> str:
    """Return a label or value of a manifest as one line of plain text; "" if it has none.

    Takes a string, a Presentation 2 value (`@value`, lists) and a Presentation 3 language map; of several
    languages the untagged one, else English, else the first. Tags and control characters are removed, and it
    is cut at *longest*.
    """
    text = _BLANKS.sub(" ", _words(value)[:_READ_AT_MOST])
    if "<" in text:
        text = _TAGS.sub(" ", text)
    text = html.unescape(text)
    text = "".join(
        " " if unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") else letter for letter in text
    )
    text = unicodedata.normalize("NFC", _BLANKS.sub(" ", text)).strip()
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return _of_list(value)
    if isinstance(value, dict):
        inner = value.get("@value", value.get("value"))
        if isinstance(inner, str):
            return inner
        for language in ("none", "@none", "en", *value):
            strings = value.get(language)
            if isinstance(strings, list):
                words = " ".join(part for part in strings[:50] if isinstance(part, str))
                if words:
                    return words
    return ""


def _of_list(values: list[Any]) -> str:
    """Join several strings of Presentation 2; of values with languages, take one language."""
    tagged = [
        value for value in values[:50] if isinstance(value, dict) and isinstance(value.get("@value"), str)
    ]
    if tagged:
        languages = {
            value.get("@language") for value in tagged if isinstance(value.get("@language"), str | None)
        }
        chosen = None if None in languages else "en" if "en" in languages else tagged[0].get("@language")
        return " ".join(value["@value"] for value in tagged if value.get("@language") == chosen)
    return " ".join(value for value in values[:50] if isinstance(value, str))
