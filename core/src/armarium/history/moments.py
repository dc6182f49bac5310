"""A moment of a project, as callers name it: the id of a step, or a time, which stands for the last step until then."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from sqlalchemy import Connection

from armarium.errors import Invalid, NotFound
from armarium.history.as_of import Past
from armarium.history.audit import GENESIS
from armarium.ids import is_id, now, time_span
from armarium.store.database import Database, raw_of
from armarium.store.moments import past_of, reading

LONGEST = 40
"""Characters of the longest id or time."""

unknown_step = NotFound.saying(
    "unknown_step", "No step of this project has the id {step}. The log of its steps lists them.", step="step"
)
_not_a_moment = Invalid.saying(
    "bad_moment",
    "as_of names no step and no time: send the id of a step (32 hexadecimal digits), or a time such as "
    "2026-11-27T21:30:00Z; a date alone means its end.",
)
_in_the_future = Invalid.saying(
    "moment_in_future",
    "{asked} is in the future; leave as_of out to read the project as it is.",
    asked="asked",
)
_before_the_project = Invalid.saying(
    "moment_before_project",
    "The first step of this project is of {first}; it was not there at {asked}.",
    asked="asked",
)


@dataclass(frozen=True, slots=True)
class Moment:
    """A project after a step: the step's number, id and time, and the digest of the log up to and with it."""

    seq: int
    audit_id: str
    created_at: str
    digest: str

    def answer(self) -> dict[str, str]:
        """Return it as answers state it."""
        return {"step": self.audit_id, "at": self.created_at, "digest": self.digest}


_MOMENT = "SELECT seq, id, created_at, row_hash FROM audit"


def find_moment(conn: Connection, asked: str | None = None) -> Moment:
    """Return the moment that *asked* names, by default now: a step that *conn* shows. NotFound and Invalid in words."""
    raw = raw_of(conn)
    if asked is None:
        row = raw.execute(f"{_MOMENT} ORDER BY seq DESC LIMIT 1").fetchone()
        return Moment(0, "", now(), GENESIS) if row is None else Moment(*row)
    asked = asked.strip()
    if is_id(asked.replace("-", "").lower()):
        row = raw.execute(f"{_MOMENT} WHERE id = ?", (asked.replace("-", "").lower(),)).fetchone()
        if row is None:
            raise unknown_step(asked)
        return Moment(*row)
    until = _time(asked)
    row = raw.execute(f"{_MOMENT} WHERE created_at <= ? ORDER BY seq DESC LIMIT 1", (until,)).fetchone()
    if row is None:
        first = raw.execute("SELECT created_at FROM audit ORDER BY seq LIMIT 1").fetchone()
        raise _before_the_project(first=now() if first is None else first[0], asked=asked)
    return Moment(*row)


def _time(text: str) -> str:
    if text[:4].isdigit() and text[4:5] != "-":
        # ISO 8601 also has 20261127 and 2026-W48; a bare number is more likely a step's, which is not an id.
        raise _not_a_moment()
    try:
        # A day is asked for to its end, and so is a second.
        begins, last = time_span(text)
    except (ValueError, OverflowError):
        raise _not_a_moment() from None
    if begins > now():
        raise _in_the_future(text)
    return last


def moment_read(db: Database, conn: Connection) -> Moment:
    """Return the moment that *conn*, lent by *db*, shows: that of `reading_as_of`, else now."""
    past = past_of(db)
    moment = past.named if isinstance(past, Past) else None
    return moment if isinstance(moment, Moment) else find_moment(conn)


@contextmanager
def reading_as_of(
    db: Database, asked: str | Moment, documents: Collection[str] | None = None
) -> Iterator[Moment]:
    """Within the block, what `db.read()` lends shows the project as it was at *asked* (`armarium.history.as_of`)."""
    if isinstance(asked, Moment):
        moment = asked
    else:
        with db.read() as conn:
            moment = find_moment(conn, asked)
    with reading(Past(db, moment.seq, documents, moment)):
        yield moment
