"""Which reads of a block are of a past moment of a project rather than of now; what a moment is, `armarium.history.as_of`
knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from armarium.store.database import Database


class Past(Protocol):
    """What makes a connection show the rows of a past moment."""

    @property
    def db(self) -> Database:
        """Return the database whose past it is."""

    def lay(self, conn: Connection) -> AbstractContextManager[None]:
        """Let *conn*, lent for reading and within its transaction, show the past until that ends."""


_past: ContextVar[Past | None] = ContextVar("armarium_past", default=None)


def past_of(db: Database) -> Past | None:
    """Return the moment of which *db* is read in this block; None: it is read as it is."""
    past = _past.get()
    return past if past is not None and past.db is db else None


@contextmanager
def reading(past: Past) -> Iterator[None]:
    """Within the block, what `Database.read` lends for the database of *past* shows that moment."""
    token = _past.set(past)
    try:
        yield
    finally:
        _past.reset(token)
