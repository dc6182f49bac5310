"""Which lines of pages are used for training or comparison: the same code counts them, builds training sets
and prepares evaluations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from armarium.api import Library, NotFound, Principal, Use, find_withheld, is_among
from armarium_checking.api import verdicts
from armarium_documents.api import primary_row, representations
from armarium_source_model.api import (
    counting_readings,
    list_passes,
    read_lines,
    reading_rule,
    segments,
    text_fingerprint,
)
from armarium_training.relatives import REPEATED, Relatives, second_shots, without_repeats
from armarium_training.teachers import BY_PERSON, made_by, newest_of, pass_of

FLAGS = ("empty_reading", "null_reading", "rejected_by_check")
PERSON = "human"
MODEL, PERSONS = "model", "person"
"""Whose verdict it is."""
NO_PICTURE = "It has no picture."
SAME_PICTURE = "It shows the same picture as a page that is held out, the whole of it, or a part."
SAME_TEXT = (
    "It says what a page that is held out says: another picture of it would make the figures too good."
)
MIN_LINES, MIN_PAGES = 100, 2
"""How many checked lines, on how many pages, a comparison of readers needs."""
FINGERPRINT = 16
"""How many characters of the fingerprint of a training text a card contains."""


class TaughtLine(NamedTuple):
    """A line with the reading that counts in it."""

    document_id: str
    segment_id: str
    text: str
    by_person: bool
    """Whether a person wrote, chose or confirmed it, or marked its pass as ground truth."""
    by_machine: bool = False
    """Whether a model read it, rather than a person or a file."""


@dataclass
class LineSet:
    """The lines of a training set, and what was left out and why."""

    teacher: str | None
    lines: list[TaughtLine] = field(default_factory=list)
    pages: dict[str, str] = field(default_factory=dict)
    """The pass of each page that has lines in the set."""
    checksums: dict[str, str | None] = field(default_factory=dict)
    left_out: list[dict[str, str]] = field(default_factory=list)
    with_verdict: int = 0
    checked_by_model: int = 0
    held_out_lines: dict[str, int] = field(default_factory=dict)
    """Of each page held out, how many of its lines a person checked."""
    held_out: list[dict[str, Any]] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)

    def manifest(self) -> dict[str, Any]:
        """Return what is shown of the set: counts, never words."""
        by_flag = {flag: sum(line["flag"] == flag for line in self.left_out) for flag in FLAGS}
        by_person = sum(line.by_person for line in self.lines)
        by_machine = sum(line.by_machine and not line.by_person for line in self.lines)
        return {
            "teacher": self.teacher,
            "pages": len(self.pages),
            "lines": len(self.lines),
            "lines_read_by_a_model": by_machine,
            "lines_from_files": len(self.lines) - by_person - by_machine,
            "lines_checked_by_a_person": by_person,
            "lines_left_out": len(self.left_out),
            "left_out": {flag: count for flag, count in by_flag.items() if count},
            "left_out_lines": self.left_out,
            "lines_with_a_verdict": self.with_verdict,
            "check_ran": self.checked_by_model > 0,
            "flags_checked": list(FLAGS),
            "held_out": self.held_out,
            "held_out_lines": sum(self.held_out_lines.values()),
            "comparable": self.why_not_comparable() or None,
            "missing": self.missing,
        }

    def why_not_comparable(self) -> str:
        """Return, in words, what is missing for the trained reader to be compared with others; empty if nothing is."""
        lines, pages = sum(self.held_out_lines.values()), sum(map(bool, self.held_out_lines.values()))
        if lines >= MIN_LINES and pages >= MIN_PAGES:
            return ""
        return (
            f"{lines} corrected lines on {pages} {'page' if pages == 1 else 'pages'} are held out. A bake-off compares the "
            f"trained reader with others only on pages held out of its training: hold out {MIN_LINES} corrected lines on "
            f"{MIN_PAGES} pages or more."
        )

    def card_entry(self) -> dict[str, Any]:
        """Return what a card contains of it: the counts, and which pages a model may have seen."""
        counts = {
            key: value for key, value in self.manifest().items() if key not in ("left_out_lines", "held_out")
        }
        taught: dict[str, dict[str, str]] = {}
        for line in self.lines:
            taught.setdefault(line.document_id, {})[line.segment_id] = text_fingerprint(line.text)[
                :FINGERPRINT
            ]
        pages = [
            {"document_id": page, "checksum": self.checksums.get(page), "texts": taught.get(page, {})}
            for page in self.pages
        ]
        return {**counts, "documents": pages}


def line_set(
    conn: Connection,
    library: Library,
    principal: Principal,
    *,
    teacher: str | None,
    page_ids: Sequence[str],
    held_out_ids: Sequence[str],
    use: Use = "local-model",
) -> LineSet:
    """Return the lines of *teacher*'s newest pass of each page as *teacher* read them, with a person's corrections.

    *held_out_ids* are pages. They are left out, and so is every page that shows the same writing: a copy, what was cut
    from it, what it was cut from, a second picture with the same words. A page that may not be put to *use* is listed as missing, with the reason, and one whose
    lines count already, as those of a picture it was cut from. Without a teacher, the working pass of each page is used.
    """
    training_set = LineSet(teacher)
    relatives = Relatives(conn)
    training_set.held_out = [
        {"document_id": page, "checksum": checksum_of(conn, page)} for page in held_out_ids
    ]
    counted = {page: len(checked_lines(conn, page, None)[0]) for page in dict.fromkeys(held_out_ids)}
    twice = relatives.find_repeats(counted)
    training_set.held_out_lines = {page: count for page, count in counted.items() if page not in twice}
    held_out = set(held_out_ids)
    relatives_of_held = relatives.of(held_out)
    others = [page for page in page_ids if page not in relatives_of_held]
    shots = second_shots(conn, others, _select_visible(library, principal, relatives_of_held))
    kept_back = find_withheld(library, principal, others, use)
    for page in page_ids:
        checksum = checksum_of(conn, page)
        if page in relatives_of_held or page in shots:
            if page not in held_out:
                training_set.missing.append(
                    {"document_id": page, "why": SAME_TEXT if page in shots else SAME_PICTURE}
                )
            continue
        if page in kept_back:
            training_set.missing.append({"document_id": page, "why": kept_back[page]})
            continue
        if checksum is None:
            training_set.missing.append({"document_id": page, "why": NO_PICTURE})
            continue
        pass_id = pass_of(conn, page, teacher)
        if pass_id is None:
            why = "Nobody has read its lines." if teacher is None else f"No line of it is of “{teacher}”."
            training_set.missing.append({"document_id": page, "why": why})
            continue
        before = len(training_set.lines)
        _add_page(conn, training_set, page, pass_id, teacher)
        if len(training_set.lines) > before:
            training_set.pages[page] = pass_id
            training_set.checksums[page] = checksum
    taught = Counter(line.document_id for line in training_set.lines)
    for page in sorted(relatives.find_repeats(taught)):
        training_set.missing.append({"document_id": page, "why": REPEATED})
        training_set.lines = [line for line in training_set.lines if line.document_id != page]
        training_set.left_out = [line for line in training_set.left_out if line["document_id"] != page]
        del training_set.pages[page], training_set.checksums[page]
    return training_set


def _select_visible(library: Library, principal: Principal, pages: Collection[str]) -> list[str]:
    """Return those of *pages* that the caller may see: nothing is said of the words of others."""
    hidden = find_withheld(library, principal, list(pages), "show")
    return [page for page in pages if page not in hidden]


def _add_page(conn: Connection, training_set: LineSet, page: str, pass_id: str, teacher: str | None) -> None:
    rule = reading_rule(conn)
    counting = counting_readings(conn, pass_id, rule=rule, words=False)
    row = next(row for row in list_passes(conn, page, rule) if row["id"] == pass_id)
    is_truth = bool(row["ground_truth"])
    counting |= newest_of(conn, counting, made_by(teacher, from_files=is_truth or row["name"] == teacher))
    reading_ids = [reading.representation_id for reading in counting.values()]
    verdict_on = newest_verdicts(conn, reading_ids)
    by_trust = {trust: newest_verdicts(conn, reading_ids, trust=trust) for trust in (MODEL, PERSONS)}
    training_set.checked_by_model += len(by_trust[MODEL])
    for segment_id in lines_in_order(conn, page, pass_id):
        reading = counting.get(segment_id)
        text = (reading.text or "") if reading is not None else ""
        verdict = verdict_on.get(reading.representation_id) if reading is not None else None
        training_set.with_verdict += verdict is not None
        flag = None
        if not text.strip():
            flag = "empty_reading"
        elif text.strip().casefold() == "null":
            flag = "null_reading"
        elif verdict == "reject":
            flag = "rejected_by_check"
        if flag is not None:
            training_set.left_out.append({"document_id": page, "segment_id": segment_id, "flag": flag})
            continue
        assert reading is not None
        confirmed = by_trust[PERSONS].get(reading.representation_id) == "confirm"
        by_person = is_truth or reading.basis in BY_PERSON or confirmed
        training_set.lines.append(TaughtLine(page, segment_id, text, by_person, reading.labelled_machine))


def checked_lines(
    conn: Connection, page: str, checked: str | None, *, with_unchecked: bool = False
) -> tuple[list[TaughtLine], str | None]:
    """Return the lines of a page that a person checked, and who did: in the pass of *checked*, else in the
    newest pass a person made.

    A line counts if a person wrote, chose or confirmed it; in a pass named as the checked one also if its text is
    that of an imported file, and in a ground truth whoever wrote it. What a reader wrote there later does not take
    the place of a file's text. *with_unchecked*: in a named pass every line with a reading counts. A line whose
    newest verdict rejects it never counts.
    """
    rule = reading_rule(conn)
    chosen = None
    for row in list_passes(conn, page, rule):
        if checked is not None:
            if row["id"] == pass_of(conn, page, checked):
                chosen = row
        elif row["provenance_kind"] == PERSON or row["ground_truth"] or _has_person_readings(conn, row["id"]):
            chosen = row
    if chosen is None:
        return [], None
    counting = counting_readings(conn, chosen["id"], rule=rule, words=False)
    if checked is not None or chosen["ground_truth"]:
        counting |= newest_of(conn, counting, made_by(None, from_files=True))
    readings = [reading.representation_id for reading in counting.values()]
    newest, of_persons = newest_verdicts(conn, readings), newest_verdicts(conn, readings, trust=PERSONS)
    lines = []
    for segment_id in lines_in_order(conn, page, chosen["id"]):
        reading = counting.get(segment_id)
        if reading is None or not (reading.text or "").strip():
            continue
        by_person = reading.basis in BY_PERSON
        confirmed = of_persons.get(reading.representation_id) == "confirm"
        is_named = checked is not None and (with_unchecked or not reading.labelled_machine)
        is_checked = is_named or chosen["ground_truth"] or by_person or confirmed
        if newest.get(reading.representation_id) != "reject" and is_checked:
            lines.append(TaughtLine(page, segment_id, reading.text, by_person))
    creator = conn.execute(
        select(representations.c.created_by)
        .where(
            representations.c.document_id == page,
            representations.c.provenance_kind == PERSON,
            is_among(representations.c.segment_id, [line.segment_id for line in lines]),
        )
        .order_by(representations.c.created_at.desc(), representations.c.id.desc())
    ).scalar()
    return lines, creator or chosen["created_by"] or chosen["name"]


def checked_pages(
    conn: Connection,
    library: Library,
    principal: Principal,
    page_ids: Sequence[str],
    checked: str,
    *,
    use: Use,
    held_out_ids: Sequence[str] = (),
    with_unchecked: bool = False,
) -> tuple[dict[str, list[TaughtLine]], list[dict[str, str]]]:
    """Return page to its checked lines, and the pages that are left out, with the reasons: those held out, by id or by
    picture, those that may not be put to *use*, and those without a checked line.
    """
    relatives_of_held = Relatives(conn).of(held_out_ids)
    others = [page for page in page_ids if page not in relatives_of_held]
    shots = second_shots(conn, others, _select_visible(library, principal, relatives_of_held))
    kept_back = find_withheld(library, principal, page_ids, use)
    lines_by_page: dict[str, list[TaughtLine]] = {}
    missing: list[dict[str, str]] = []
    for page in page_ids:
        why = (
            "It is held out."
            if page in relatives_of_held
            else SAME_TEXT
            if page in shots
            else kept_back.get(page)
        )
        lines = (
            [] if why is not None else checked_lines(conn, page, checked, with_unchecked=with_unchecked)[0]
        )
        if lines:
            lines_by_page[page] = lines
        else:
            missing.append({"document_id": page, "why": why or "No line of it was checked."})
    for page in sorted(without_repeats(conn, lines_by_page)):
        del lines_by_page[page]
        missing.append({"document_id": page, "why": REPEATED})
    return lines_by_page, missing


def _has_person_readings(conn: Connection, pass_id: str) -> bool:
    query = (
        select(representations.c.id)
        .join(segments, segments.c.id == representations.c.segment_id)
        .where(
            segments.c.pass_id == pass_id,
            segments.c.deleted_at.is_(None),
            representations.c.provenance_kind == PERSON,
            representations.c.kind == "transcription",
            representations.c.retracted.is_(False),
        )
    )
    return conn.execute(query.limit(1)).first() is not None


def lines_in_order(conn: Connection, page: str, pass_id: str) -> list[str]:
    """Return the ids of a pass's live lines, in reading order."""
    read = read_lines(conn, page, pass_id, reading_rule(conn))
    return [line.id for line in read.in_order("line")]


def newest_verdicts(
    conn: Connection, reading_ids: Iterable[str], *, trust: str | None = None
) -> dict[str, str]:
    """Return the newest verdict on each reading, a person's before a model's, if there is any; only those of one level of
    *trust*, if named.
    """
    query = select(verdicts.c.target_id, verdicts.c.verdict).where(
        is_among(verdicts.c.target_id, reading_ids)
    )
    if trust is not None:
        query = query.where(verdicts.c.trust == trust)
    rows = conn.execute(query.order_by(verdicts.c.trust == PERSONS, verdicts.c.created_at, verdicts.c.id))
    return {row.target_id: row.verdict for row in rows}


def checksum_of(conn: Connection, page: str) -> str | None:
    """Return the digest of a page's picture; None if it has none."""
    try:
        return primary_row(conn, page).checksum
    except NotFound:
        return None
