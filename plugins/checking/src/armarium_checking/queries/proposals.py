"""Lines that probably contain an error that was corrected elsewhere: the confusion in its context, and the words of the
project.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import orjson
from fastapi import Query
from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, fold_letters, fold_lines, json_text, query, raw_of
from armarium_checking import errors
from armarium_checking.hookspecs import armarium_checking_ink_says
from armarium_checking.misreadings import (
    FEWEST_LETTERS,
    Confusion,
    Evidence,
    Experience,
    WordChange,
    as_probability,
    mendings_of,
    with_ink,
    word_changes,
    words_in,
)
from armarium_checking.queries.checks import confirmed_by_persons
from armarium_checking.queries.pages_of_words import PagesOfWords, may_be_one
from armarium_checking.records.proposals import Proposals, rejections
from armarium_documents.api import representations
from armarium_source_model.api import (
    counting_of_segments,
    languages_of_segments,
    page_texts,
    page_words,
)

UNDECIDED = "newest-machine-unchosen"
"""Why a text counts that no person wrote or chose."""
NEWEST = 300
"""How many corrections, the newest, are the experience by which proposals are weighed."""
LEAST = 0.5
"""How probable a proposal is, where nothing else is asked: below, most are wrong."""
TRIED = 2
"""Of how many places of one misreading a person is asked first; of as many more, for each that was accepted and not outweighed by
one that was rejected."""
ASKED = 12
"""How many of them are followed where no line is named."""
MOST_PAIRS = 200
"""How many pairs of words are weighed for one answer."""
LOOKED_AT = 120
"""How many pages are opened for one answer."""
INKED = 60
"""How many proposals, the likeliest by their letters and words, are weighed by the ink where that is asked for."""
INK_SECONDS = 5.0
"""After how long no further page is begun for it."""

_CORRECTIONS = f"""
SELECT c.segment_id, o.content, c.content FROM {representations} c
JOIN {representations} o ON o.id = c.corrects_representation_id
WHERE c.corrects_representation_id > '' AND c.kind = 'transcription' AND c.provenance_kind = 'human' AND NOT c.retracted AND c.segment_id IS NOT NULL
{{which}} ORDER BY c.created_at DESC, c.id DESC LIMIT {{most}}
"""
_PAIRS = f"""
SELECT w.word, x.word FROM {page_words} w JOIN {page_words} x ON x.word = trim(replace(' ' || w.word || ' ', ?1, ?2))
WHERE instr(w.word, ?3) AND instr(' ' || w.word || ' ', ?1) AND x.word <> w.word
"""
_TEXTS = (
    f"SELECT document_id, text, spans FROM {page_texts} WHERE document_id IN (SELECT value FROM json_each(?))"
)
SURE = f"SELECT id, confidence FROM {representations} WHERE id IN (SELECT value FROM json_each(?))"
_REJECTED = f"SELECT segment_id, read, proposed FROM {rejections}"


class _Place(NamedTuple):
    """A word in a line that may be misread, with what may stand there instead, the likeliest first."""

    document_id: str
    segment_id: str
    first: int
    last: int
    word: str
    instead: Sequence[tuple[str, _Pair]]


class _Pair(NamedTuple):
    """Folded words: one as it is read, and what it is if a confusion happened in it."""

    read: str
    meant: str
    confusion: Confusion | None
    is_word: bool
    """Whether it is the corrected word itself."""
    segment_id: str
    change: WordChange


@query("/api/check/proposals", summary="Lines that probably contain an error that was corrected elsewhere",
       answer=Proposals, counts_withheld=False)  # fmt: skip
def list_proposals(
    conn: Connection,
    engine: Engine,
    library: Library,
    principal: Principal,
    segment_id: Annotated[
        str | None, Query(description="The corrected line; default: the newest corrections")
    ] = None,
    least: Annotated[float, Query(ge=0, le=1, description="Only proposals at least as probable")] = LEAST,
    ink: Annotated[
        bool, Query(description="Weigh the likeliest by the ink too, which takes a reader some seconds")
    ] = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    offset: Annotated[int, Query(ge=0, le=10_000)] = 0,
) -> dict[str, Any]:
    """The best first. Lines that a person wrote or confirmed, and what was rejected, are not offered; of a misreading that was
    corrected once, a few are, and more for each of these that was accepted and none for those that were not. With `ink`, each says how much likelier the ink of the line is
    under the proposed text, as the hand reader sees it; those that no time was left for, or that it cannot tell, have null
    there and are weighed without.
    """
    raw = raw_of(conn)
    newest = newest_corrections(conn)
    followed = newest[:ASKED]
    if segment_id is not None:
        own = _CORRECTIONS.format(which="AND c.segment_id = ?", most=1)
        followed = raw.execute(own, (segment_id,)).fetchall()
        if not followed:
            raise errors.no_correction_there(segment_id)
    experience = Experience((old, new) for _, old, new in newest)
    pages = PagesOfWords(engine, conn)
    pairs = _weighed_pairs(raw, pages, followed, experience)
    proposals = _in_lines(conn, pages, pairs, experience, {line for line, *_ in followed})
    proposals.sort(key=_best_first)
    if ink and proposals:
        _weigh_by_ink(engine, library, conn, principal, proposals[:INKED])
    proposals = sorted(
        (proposal for proposal in proposals if proposal["probability"] >= least), key=_best_first
    )
    proposals = list(_tried_first(proposals, experience, times_rejected(conn)))
    part = proposals[offset : offset + limit]
    return {"items": part, "count": len(part), "more": len(proposals) > offset + len(part)}


def _best_first(proposal: Mapping[str, Any]) -> tuple[float, str, int]:
    return -proposal["probability"], proposal["segment_id"], proposal["char_start"]


def _tried_first(
    proposals: Sequence[dict[str, Any]], experience: Experience, rejected: Counter[tuple[str, str]]
) -> Iterator[dict[str, Any]]:
    """Yield the proposals, but of one misreading only a few, and more the more of these were accepted."""
    times_shown: Counter[WordChange] = Counter()
    for proposal in proposals:
        change = WordChange(proposal["read"], proposal["proposed"])
        times_shown[change] += 1
        accepted = max(0, experience.pairs[change] - 1)
        if times_shown[change] <= TRIED * (1 + accepted - rejected[change]):
            yield proposal


def newest_corrections(conn: Connection) -> list[Any]:
    """Return the newest corrections by persons: line, what was read, what they wrote."""
    return raw_of(conn).execute(_CORRECTIONS.format(which="", most=NEWEST)).fetchall()


def times_rejected(conn: Connection) -> Counter[tuple[str, str]]:
    """Return in how many lines each word, and what was proposed for it, was said to be right."""
    rejected = set(raw_of(conn).execute(_REJECTED).fetchall())
    return Counter((read, proposed) for _, read, proposed in rejected)


def _weighed_pairs(
    raw: Any, pages: PagesOfWords, followed: Sequence[Any], experience: Experience
) -> list[tuple[float, _Pair]]:
    """Return the pairs of words that the corrections lead to, the likeliest first: those that were corrected themselves, and
    words in which the same confusion leads to a word that stands elsewhere.
    """
    pairs: dict[tuple[str, str, Any], _Pair] = {}
    for line, old, new in followed:
        for change in word_changes(old, new):
            wrong, right = fold_letters(change.wrong), fold_letters(change.right)
            for pair in _pairs_of(raw, line, change, wrong, right):
                pairs.setdefault((pair.read, pair.meant, pair.confusion), pair)
    ordered = sorted(pairs.values(), key=lambda pair: (not pair.is_word, pair.read, pair.meant))
    weighed: list[tuple[float, _Pair]] = []
    for first in range(0, len(ordered), MOST_PAIRS):
        batch = ordered[first : first + MOST_PAIRS]
        pages_with_word = pages.of([word for pair in batch for word in (pair.read, pair.meant)])
        for pair in batch:
            if pages_with_word[pair.read] and (pair.is_word or pages_with_word[pair.meant]):
                change = pair.change
                evidence = _evidence(pair, pages_with_word, experience, change.wrong, change.right, None, 0)
                weighed.append((evidence.odds(), pair))
        if len(weighed) >= MOST_PAIRS:
            break
    return sorted(weighed[:MOST_PAIRS], key=lambda weighed_pair: -weighed_pair[0])


def _evidence(
    pair: _Pair,
    pages_with_word: Mapping[str, Sequence[str]],
    experience: Experience,
    word: str,
    proposed: str,
    confidence: float | None,
    rejected: int,
) -> Evidence:
    wrong, right = experience.times_seen(pair.confusion)
    return Evidence(
        wrong=wrong,
        right=right,
        same_word=experience.pairs[WordChange(word, proposed)] > 0,
        as_read=len(pages_with_word[pair.read]),
        as_meant=len(pages_with_word[pair.meant]),
        written_as_read=experience.written[word],
        written_as_meant=experience.written[proposed],
        confidence=confidence,
        rejected=rejected,
        raises=word.lower() == proposed.lower() and word[:1].islower(),
        is_plain=pair.read == pair.meant,
        length=len(word),
    )


def _pairs_of(raw: Any, line: str, change: WordChange, wrong: str, right: str) -> Iterator[_Pair]:
    confusions = change.confusions()
    if wrong and " " not in wrong:
        # The corrected word itself, more than any context.
        yield _Pair(wrong, right, confusions[0] if confusions else None, True, line, change)
    for confusion in confusions:
        read, meant = fold_letters(confusion.read), fold_letters(confusion.meant)
        if read == meant or " " in read or " " in meant:
            continue
        before, after = fold_letters(confusion.before) or " ", fold_letters(confusion.after) or " "
        sought = before + read + after
        for word, other in raw.execute(_PAIRS, (sought, before + meant + after, sought.strip())):
            yield _Pair(word, other, confusion, False, line, change)


def _in_lines(
    conn: Connection,
    pages: PagesOfWords,
    pairs: Sequence[tuple[float, _Pair]],
    experience: Experience,
    corrected: set[str],
) -> list[dict[str, Any]]:
    """Return the places of the pairs in lines whose text no person has decided."""
    by_word: dict[str, list[_Pair]] = defaultdict(list)
    wanted_pages: dict[str, None] = {}
    for _, pair in pairs:
        by_word[pair.read].append(pair)
        if len(wanted_pages) < LOOKED_AT:
            wanted_pages.update(dict.fromkeys(pages.of((pair.read,))[pair.read]))
    raw = raw_of(conn)
    places: list[_Place] = []
    folded: dict[str, str] = {}
    for document_id, text, spans in raw.execute(_TEXTS, (json_text(list(wanted_pages)),)):
        placed = orjson.loads(spans)
        # Most lines have none of the words: they are folded all at once, and not parted into words as they are written.
        plain = fold_lines([text[start:end] for _, start, end in placed])
        for (segment_id, start, end), words in zip(placed, plain, strict=True):
            if segment_id in corrected or by_word.keys().isdisjoint(words.split()):
                continue
            for word, first, last in words_in(text[start:end]):
                if len(word) < FEWEST_LETTERS:
                    continue
                spelling = folded.get(word)
                if spelling is None:
                    spelling = folded[word] = fold_letters(word)
                mended = ((_mend_word(word, pair, experience), pair) for pair in by_word.get(spelling, ()))
                instead = [(proposed, pair) for proposed, pair in mended if proposed not in (None, word)]
                if instead:
                    places.append(_Place(document_id, segment_id, first, last, word, instead))
    return _offers_of(conn, places, pages, experience)


def _mend_word(word: str, pair: _Pair, experience: Experience) -> str | None:
    """Return what stands there if *word*, as it is written, is the pair's misreading."""
    if word == pair.change.wrong:
        return pair.change.right
    if pair.confusion is None:
        return None
    mended = (other for other in mendings_of(word, pair.confusion) if fold_letters(other) == pair.meant)
    return next((experience.spell(other, pair.meant, fold_letters) for other in mended), None)


def _offers_of(
    conn: Connection,
    places: Sequence[_Place],
    pages: PagesOfWords,
    experience: Experience,
) -> list[dict[str, Any]]:
    counting = counting_of_segments(conn, {place.segment_id for place in places})
    open_ones = {line: counted for line, counted in counting.items() if counted.basis == UNDECIDED}
    confirmed = confirmed_by_persons(conn, [reading.representation_id for reading in open_ones.values()])
    raw = raw_of(conn)
    ids = json_text([reading.representation_id for reading in open_ones.values()])
    sure: dict[str, float | None] = dict(raw.execute(SURE, (ids,)).fetchall())
    rejected = set(raw.execute(_REJECTED).fetchall())
    times = times_rejected(conn)
    corrected = {pair.segment_id for place in places for _, pair in place.instead}
    languages = languages_of_segments(conn, open_ones.keys() | corrected)
    offers = []
    for document_id, segment_id, first, last, word, instead in places:
        open_reading = open_ones.get(segment_id)
        if (
            open_reading is None
            or open_reading.representation_id in confirmed
            or open_reading.text[first:last] != word
        ):
            continue
        language = languages[segment_id]
        choice = next(
            (
                (proposed, pair, pages_with_word)
                for proposed, pair in instead
                if may_be_one(language, languages.get(pair.segment_id))
                and (pages_with_word := pages.in_language((pair.read, pair.meant), language))
                and (pair.is_word or pages_with_word[pair.meant])
            ),
            None,
        )
        if choice is None or (segment_id, word, choice[0]) in rejected:
            continue
        proposed, pair, pages_with_word = choice
        evidence = _evidence(
            pair,
            pages_with_word,
            experience,
            word,
            proposed,
            sure.get(open_reading.representation_id),
            times[word, proposed],
        )
        offers.append(
            {
                "document_id": document_id,
                "segment_id": segment_id,
                "reading_id": open_reading.representation_id,
                "char_start": first,
                "char_end": last,
                "read": word,
                "proposed": proposed,
                "text": open_reading.text,
                "probability": as_probability(evidence.odds()),
                "ink": None,
                "picture": f"/api/segments/{segment_id}/picture",
                "corrected_segment_id": pair.segment_id,
                "wrong": pair.change.wrong,
                "right": pair.change.right,
            }
        )
    return offers


def _weigh_by_ink(
    engine: Engine, library: Library, conn: Connection, principal: Principal, items: Sequence[dict[str, Any]]
) -> None:
    """Weigh proposals by what the ink says, where a family can tell, and note in each what it said."""
    lines = [
        (
            item["segment_id"],
            item["text"],
            item["text"][: item["char_start"]] + item["proposed"] + item["text"][item["char_end"] :],
        )
        for item in items
    ]
    verdicts_of_ink = engine.points.ask_first(
        armarium_checking_ink_says, engine, library, conn, principal, lines, INK_SECONDS
    )
    for number, likelier in (verdicts_of_ink or {}).items():
        proposal = items[number]
        proposal["ink"], proposal["probability"] = likelier, with_ink(proposal["probability"], likelier)
