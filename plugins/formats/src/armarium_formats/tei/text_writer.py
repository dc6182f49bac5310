"""Writes the texts of a segment as TEI: the counting text, other readings in an `app`, words, confidence,
stored markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from armarium_formats.markup.fragments import attributes_of, illegal_characters, lawful, text_of
from armarium_formats.numbers import share_text
from armarium_formats.page_model import PageSegment, PageText, kept_by
from armarium_formats.tei.facts import beyond_markup
from armarium_formats.tei.marking import Word, mark_up
from armarium_formats.tei.vocabulary import EDITED_KIND, language_tag

_BLANKS = re.compile(r"[ \t\r\n]+")
Lose = Callable[..., None]


def escape_text(text: str, lose: Lose) -> str:
    """Return a text as character data."""
    if bad := illegal_characters(text):
        lose("control characters in texts", "XML cannot contain them", bad)
    return text_of(text)


def stated_texts(segment: PageSegment, lose: Lose = lambda *_: None) -> list[PageText]:
    """Return the non-empty texts of a segment, without what XML cannot contain."""
    texts: list[PageText] = []
    for text in segment.texts:
        if bad := illegal_characters(text.text):
            lose("control characters in texts", "XML cannot contain them", bad)
            text = replace(text, text=lawful(text.text))
        if text.text or text.confidence is not None or text.marks:
            texts.append(text)
    if len(segment.texts) > 1 and (empty := len(segment.texts) - len(texts)):
        lose(
            "empty texts among readings",
            "the profile writes only readings with text; the next one moves up",
            empty,
        )
    return texts


def attributes_for(text: PageText) -> dict[str, str]:
    """Return confidence, and xml:space where spaces must not be collapsed."""
    attributes: dict[str, str] = {}
    if text.confidence is not None:
        attributes["cert"] = share_text(text.confidence)
    if _BLANKS.sub(" ", text.text).strip(" ") != text.text:
        attributes["xml:space"] = "preserve"
    return attributes


def write_segment(segment: PageSegment, words: Sequence[str], lose: Lose) -> str:
    """Write the texts of a line, word or region with its already written words, in sequence."""
    texts = stated_texts(segment, lose)
    tag = language_tag(segment.language, segment.script) if segment.kind == "line" else None
    if not texts:
        return f'<seg type="words">{" ".join(words)}</seg>' if words else ""
    first = texts[0]
    markup = kept_by("tei", first).get("xml") if not words else None
    placed = _place_words(segment, first.text, words) if words else []
    others = [text for text in texts[1:] if not (markup and text.kind == EDITED_KIND)]
    if markup and (unsaid := beyond_markup(first.marks, markup, first.text)):
        lose("marks of characters", "the line has the markup of the file it was read from", len(unsaid))
    body = markup or mark_up(first, lose, placed or ())
    attributes = attributes_for(first)
    kind = _word_of_kind(first, lose)
    if markup:
        attributes.pop("xml:space", None)
    if others or placed is None:
        rest = "".join(_reading(text, lose) for text in others)
        if placed is None:
            rest += f'<rdg type="words">{" ".join(words)}</rdg>'
        lemma = {**({"type": kind} if kind else {}), **attributes}
        return f'<app type="readings"><lem{attributes_of(lemma)}>{body}</lem>{rest}</app>'
    if kind:
        attributes["subtype"] = kind
    if segment.kind == "line" and (attributes or tag):
        language = {"xml:lang": tag} if tag else {}
        return f"<seg{attributes_of({'type': 'reading', **attributes, **language})}>{body}</seg>"
    if (segment.kind == "region" and attributes) or kind:
        return f"<seg{attributes_of({'type': 'reading', **attributes})}>{body}</seg>"
    return body


def _reading(text: PageText, lose: Lose) -> str:
    word = _word_of_kind(text, lose)
    kind = {"type": word} if word else {}
    return f"<rdg{attributes_of({**kind, **attributes_for(text)})}>{text_of(text.text)}</rdg>"


def _word_of_kind(text: PageText, lose: Lose) -> str | None:
    """Return the kind of a text if it is not a transcription; None also for one without a TEI word."""
    if text.kind == "transcription":
        return None
    if re.search(r"\s", text.kind) or text.kind in ("words", ""):
        lose("the kind of a text", "TEI does not have it")
        return None
    return text.kind


def _place_words(segment: PageSegment, text: str, written: Sequence[str]) -> list[Word] | None:
    """Return the words of a line, as they are *written*, at their characters; None if they do not make up its text."""
    readings = [stated_texts(child) for child in segment.children if child.kind == "word"]
    words = [texts[0].text if texts else "" for texts in readings]
    joint = next((joint for joint in (" ", "") if joint.join(words) == text), None) if all(words) else None
    if joint is None:
        return None
    placed: list[Word] = []
    at = 0
    for word, xml in zip(words, written, strict=True):
        placed.append(Word(at, at + len(word), xml))
        at += len(word) + len(joint)
    return placed
