"""Lines in the order in which a correction helps most, before anything is corrected."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, json_text, query, raw_of
from armarium_checking.misreadings import Experience, mendings_of, words_in
from armarium_checking.queries.checks import confirmed_by_persons
from armarium_checking.queries.proposals import UNDECIDED, PagesOfWords, newest_corrections
from armarium_checking.records.checks import verdicts
from armarium_checking.records.proposals import DisputedLines
from armarium_documents.api import documents, pages_under, representations
from armarium_source_model.api import counting_of_segments, fold_letters, segments

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
SELECT r.segment_id, r.id, r.content, r.confidence, coalesce(r.producer_model, r.producer_tool, r.created_by)
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
    within, given = "", []
    if scope_id is not None:
        within, given = (
            "AND r.document_id IN (SELECT value FROM json_each(?))",
            [json_text(pages_under(conn, [scope_id]))],
        )
    rows = raw.execute(_LEAST_SURE.format(within=within), given).fetchall()
    counting = {
        line: one
        for line, one in counting_of_segments(conn, [line for line, _ in rows]).items()
        if one.basis == UNDECIDED
    }
    confirmed = confirmed_by_persons(conn, [one.representation_id for one in counting.values()])
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
    _add_disagreement(raw, lines)
    _add_rare_words(engine, conn, lines)
    ranked = sorted(lines, key=lambda one: (-_help(one), one["segment_id"]))
    part = [
        {**one, "picture": f"/api/segments/{one['segment_id']}/picture"}
        for one in ranked[offset : offset + limit]
    ]
    return {"items": part, "count": len(part), "limit": limit, "offset": offset}


def _help(line: dict[str, Any]) -> float:
    """Return how many wrong characters a correction probably mends, here and in lines like it."""
    return float(
        line["expected"] + 0.5 * line["disagreement"] + len(line["rare"]) + 0.2 * min(5, line["shared"])
    )


def _add_disagreement(raw: Any, lines: Sequence[dict[str, Any]]) -> None:
    from rapidfuzz.distance import Levenshtein

    read: dict[str, dict[str, tuple[str, str, float | None]]] = defaultdict(dict)
    for segment_id, identity, content, confidence, maker in raw.execute(
        _OTHERS, (json_text([one["segment_id"] for one in lines]),)
    ):
        read[segment_id][maker] = (identity, content, confidence)
    said = {
        target: (verdict, correction)
        for target, verdict, correction in raw.execute(
            _DISPUTED, (json_text([one["reading_id"] for one in lines]),)
        )
    }
    for line in lines:
        others = read[line["segment_id"]].values()
        own = next((one for one in others if one[0] == line["reading_id"]), None)
        line["confidence"] = None if own is None else own[2]
        sure = UNKNOWN if line["confidence"] is None else line["confidence"]
        line["expected"] = (1 - sure) * len(line["text"])
        distances = [
            Levenshtein.distance(line["text"], one[1]) for one in others if one[0] != line["reading_id"]
        ]
        verdict, correction = said.get(line["reading_id"], ("", None))
        if verdict == "correct" and correction is not None:
            distances.append(Levenshtein.distance(line["text"], correction))
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
    there = pages.of(listed) if confusions else {}
    rare = {}
    for word, folded in words.items():
        if folded in there and len(there[folded]) <= RARE:
            others = {fold_letters(other) for one in confusions for other in mendings_of(word, one)} - {
                folded,
                "",
            }
            rare[word] = [one for one in others if " " not in one]
    known = pages.of(sorted({other for others in rare.values() for other in others}))
    doubtful = {word for word, others in rare.items() if any(len(known[other]) > RARE for other in others)}
    in_lines = Counter(
        word for line in lines for word in {one.word for one in words_in(line["text"])} if word in doubtful
    )
    for line in lines:
        line["rare"] = sorted({one.word for one in words_in(line["text"])} & doubtful)
        line["shared"] = sum(in_lines[word] - 1 for word in line["rare"])
