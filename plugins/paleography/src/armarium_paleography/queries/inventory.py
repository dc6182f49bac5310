"""The letters of a project beyond those of every keyboard: which its text uses how often, and which are declared as signs."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from functools import cache, lru_cache
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import query
from armarium_documents.api import documents
from armarium_paleography.queries.live_segments import live
from armarium_paleography.queries.signs import SIGNS
from armarium_paleography.records.marks import Letters, signs
from armarium_source_model.api import page_texts


@query("/api/letterforms/letters", summary="The letters of the project that keyboards lack", answer=Letters)
def list_letters(
    conn: Connection, limit: Annotated[int, Query(ge=1, le=1_000, description="the most used ones")] = 200
) -> dict[str, Any]:
    """All that is not ASCII in the text that counts of each page, a letter with its combining marks as one, the most used
    first; then the code points of declared signs that are not in it.
    """
    uses: Counter[str] = Counter()
    on_pages = page_texts.join(documents, documents.c.id == page_texts.c.document_id)
    texts = select(page_texts.c.text).select_from(on_pages).where(documents.c.deleted_at.is_(None))
    for (text,) in conn.execute(texts).yield_per(500):
        if not text.isascii():
            _count(text, uses)
    names = {
        chr(int(sign["code_point"].removeprefix("U+"), 16)): sign
        for sign in SIGNS.all(conn, live(signs), signs.c.code_point.is_not(None), order=(signs.c.id.desc(),))
    }
    ranked = sorted((-count, letter) for letter, count in (+uses).items() if _is_letter(letter))
    letters = [letter for _, letter in ranked]
    letters += sorted(names.keys() - set(letters))
    items = [
        {
            "letter": letter,
            "uses": uses[letter],
            "sign_id": sign and sign["id"],
            "name": sign and sign["name"],
        }
        for letter in letters[:limit]
        for sign in (names.get(letter),)
    ]
    return {"items": items, "count": len(items)}


def _is_letter(letter: str) -> bool:
    """Return whether it can be seen, and no keyboard has it."""
    return not letter.isascii() and unicodedata.category(letter[0]) not in (
        "Cc",
        "Cf",
        "Cn",
        "Zs",
        "Zl",
        "Zp",
    )


def _count(text: str, uses: Counter[str]) -> None:
    """Count the characters of a text; those that combining marks belong to are counted with these."""
    uses.update(text)
    marks = "".join(
        sorted(character for character in set(text) if not character.isascii() and _is_mark(character))
    )
    if marks:
        marked = _pattern_of(marks).findall(text)
        uses.subtract("".join(marked))
        uses.update(marked)


@cache
def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


@lru_cache(maxsize=1_000)
def _pattern_of(marks: str) -> re.Pattern[str]:
    """Match a character with those of *marks* that follow it."""
    return re.compile(rf"[^\s{marks}][{marks}]+")
