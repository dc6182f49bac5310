"""Lines in the order in which a correction helps most, before anything is corrected."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, fold_letters, json_text, query, raw_of
from armarium_checking.misreadings import Experience, mendings_of, words_in
from armarium_checking.queries.checks import confirmed_by_persons
from armarium_checking.queries.pages_of_words import PagesOfWords
from armarium_checking.queries.proposals import SURE, UNDECIDED, newest_corrections
from armarium_checking.records.checks import verdicts
from armarium_checking.records.proposals import DisputedLines
from armarium_documents.api import documents, pages_under, representations
from armarium_source_model.api import (
    counting_of_segments,
    languages_of_segments,
    normalise,
    segments,
    stored_places,
)

CONSIDERED = 2_000
"""How many lines are weighed in full: those of which the reader was least sure for their length."""
RARE = 1
"""A word on no more pages than this is rare."""
UNKNOWN = 0.75
"""How sure a reader is taken to be that does not say."""
MOST_RARE = 4_000
"""How many different words are looked up."""

_LEAST_SURE = f"""
SELECT r.segment_id, r.document_id FROM {representations} r JOIN {segments} s ON s.id = r.segment_id
JOIN {documents} d ON d.id = r.document_id AND d.deleted_at IS NULL
WHERE r.kind = 'transcription' AND NOT r.retracted AND r.provenance_kind <> 'human' AND s.kind = 'line'
AND s.deleted_at IS NULL {{within}} GROUP BY r.segment_id
ORDER BY max((1 - coalesce(r.confidence, {UNKNOWN})) * length(r.content)) DESC, r.segment_id LIMIT {CONSIDERED}
"""
_OTHERS = f"""
SELECT r.segment_id, r.id, r.content, coalesce(r.producer_model, r.producer_tool, r.created_by)
FROM json_each(?) j JOIN {representations} r ON r.segment_id = j.value
WHERE r.kind = 'transcription' AND NOT r.retracted ORDER BY r.created_at, r.id
"""
_DISPUTED = f"""
SELECT v.target_id, v.verdict, v.correction FROM json_each(?) j JOIN {verdicts} v ON v.target_id = j.value
ORDER BY v.created_at, v.id
"""


@query("/api/disputed", summary="Lines in the order in which a correction helps most", answer=DisputedLines,
       counts_withheld=False)  # fmt: skip
def list_disputed(
    conn: Connection,
    engine: Engine,
    scope_id: Annotated[str | None, Query(description="A folder or page; default: the whole project")] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=CONSIDERED)] = 0,
) -> dict[str, Any]:
    """By how many characters are probably wrong: where the reader was not sure, where readers or a checker disagree, rare
    words one confusion from known ones; and more where other lines share these words, so that a correction finds them too.
    Lines that a person wrote, chose or confirmed are left out.
    """
    raw = raw_of(conn)
    within, unread_by = "", []
    if scope_id is not None:
        within, unread_by = (
            "AND r.document_id IN (SELECT value FROM json_each(?))",
            [json_text(pages_under(conn, [scope_id]))],
        )
    rows = raw.execute(_LEAST_SURE.format(within=within), unread_by).fetchall()
    counting = {
        line: counted
        for line, counted in counting_of_segments(conn, [line for line, _ in rows]).items()
        if counted.basis == UNDECIDED
    }
    confirmed = confirmed_by_persons(conn, [counted.representation_id for counted in counting.values()])
    lines = [
        {
            "document_id": page,
            "segment_id": line,
            "reading_id": counting[line].representation_id,
            "text": counting[line].text,
        }
        for line, page in rows
        if line in counting and counting[line].representation_id not in confirmed
    ]
    _add_expected(conn, lines)
    _add_disagreement(raw, lines)
    _add_rare_words(engine, conn, lines)
    ranked = sorted(lines, key=lambda line: (-_help(line), line["segment_id"]))
    part = [
        {**line, "picture": f"/api/segments/{line['segment_id']}/picture"}
        for line in ranked[offset : offset + limit]
    ]
    return {"items": part, "count": len(part), "limit": limit, "offset": offset}


def _help(line: dict[str, Any]) -> float:
    """Return how many wrong characters a correction probably mends, here and in lines like it."""
    return float(
        line["expected"] + 0.5 * line["disagreement"] + len(line["rare"]) + 0.2 * min(5, line["shared"])
    )


def _add_expected(conn: Connection, lines: Sequence[dict[str, Any]]) -> None:
    """Say of how many characters the reader expects to be wrong: by its confidence in the line, and where it said how probable
    each letter is, the mean of that and their sum, which is nearer the truth than either (`benchmarks.error_finding`).
    """
    ids = [line["reading_id"] for line in lines]
    sure: dict[str, float | None] = dict(raw_of(conn).execute(SURE, (json_text(ids),)).fetchall())
    placed = stored_places(conn, ids)
    for line in lines:
        line["confidence"] = confidence = sure.get(line["reading_id"])
        line["expected"] = (1 - (UNKNOWN if confidence is None else confidence)) * len(line["text"])
        letters = placed[line["reading_id"]].places.letters if line["reading_id"] in placed else ()
        doubts = [1 - letter.probability for letter in letters if letter.probability is not None]
        if doubts:
            line["expected"] = (line["expected"] + sum(doubts)) / 2


def _add_disagreement(raw: Any, lines: Sequence[dict[str, Any]]) -> None:
    from rapidfuzz.distance import Levenshtein

    read: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for segment_id, identity, content, maker in raw.execute(
        _OTHERS, (json_text([line["segment_id"] for line in lines]),)
    ):
        read[segment_id][maker] = (identity, content)
    verdict_by_reading = {
        target: (verdict, correction)
        for target, verdict, correction in raw.execute(
            _DISPUTED, (json_text([line["reading_id"] for line in lines]),)
        )
    }
    for line in lines:
        others, text = read[line["segment_id"]].values(), normalise(line["text"])
        distances = [
            Levenshtein.distance(text, normalise(other[1]))
            for other in others
            if other[0] != line["reading_id"]
        ]
        verdict, correction = verdict_by_reading.get(line["reading_id"], ("", None))
        if verdict == "correct" and correction is not None:
            distances.append(Levenshtein.distance(text, normalise(correction)))
        elif verdict == "reject":
            distances.append(len(line["text"]))
        line["disagreement"] = min(len(line["text"]), max(distances, default=0))


def _add_rare_words(engine: Engine, conn: Connection, lines: Sequence[dict[str, Any]]) -> None:
    """Name the words of each line that are rare, and one of the confusions that were corrected from one that is not; and
    count the other lines that have one of them.
    """
    pages = PagesOfWords(engine, conn)
    confusions = Experience((old, new) for _, old, new in newest_corrections(conn)).commonest
    words = {word.word: fold_letters(word.word) for line in lines for word in words_in(line["text"])}
    listed = sorted({folded for folded in words.values() if len(folded) > 2 and " " not in folded})[
        :MOST_RARE
    ]
    pages_with_word = pages.of(listed) if confusions else {}
    rare = {}
    for word, folded in words.items():
        if folded in pages_with_word and len(pages_with_word[folded]) <= RARE:
            others = {
                fold_letters(other) for confusion in confusions for other in mendings_of(word, confusion)
            } - {
                folded,
                "",
            }
            rare[word] = [mending for mending in others if " " not in mending]
    pages.of(sorted({other for others in rare.values() for other in others}))
    languages = languages_of_segments(conn, [line["segment_id"] for line in lines])
    for line in lines:
        language = languages[line["segment_id"]]
        line["rare"] = sorted(
            word
            for word in {word.word for word in words_in(line["text"])}
            if any(len(known) > RARE for known in pages.in_language(rare.get(word, ()), language).values())
        )
    in_lines = Counter(word for line in lines for word in line["rare"])
    for line in lines:
        line["shared"] = sum(in_lines[word] - 1 for word in line["rare"])
