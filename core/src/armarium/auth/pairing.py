"""Pairing codes: two groups of four letters, valid once and for ten minutes; only the digest is stored."""

from __future__ import annotations

import hmac
import secrets
import time

from sqlalchemy import Connection, Row

from armarium.auth.models import pairing_codes
from armarium.auth.presence import moment, seconds_of
from armarium.auth.secret_files import digest_of
from armarium.errors import Forbidden
from armarium.ids import new_id

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ"
"""Without I, L and O, which are mistaken for digits and for each other."""

LIFETIME = 600.0


def new_code() -> str:
    """Return a new code such as `KQRA-ZTEM`."""
    groups = ("".join(secrets.choice(LETTERS) for _ in range(4)) for _ in range(2))
    return "-".join(groups)


def plain(code: str) -> str:
    """Return a typed code in the form that is hashed: capitals, without spaces and hyphens."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def keep_code(
    conn: Connection,
    code: str,
    *,
    role: str,
    libraries: list[str] | None,
    by: str,
    session_of: str | None = None,
) -> str:
    """Store *code*'s digest, delete expired codes, and return when it expires."""
    now = time.time()
    conn.execute(pairing_codes.delete().where(pairing_codes.c.expires_at < moment(now - LIFETIME)))
    expires_at = moment(now + LIFETIME)
    conn.execute(
        pairing_codes.insert().values(
            id=new_id(),
            digest=digest_of(plain(code)),
            role=role,
            libraries=libraries,
            created_at=moment(now),
            created_by=by,
            expires_at=expires_at,
            used_at=None,
            session_of=session_of,
        )
    )
    return expires_at


def use_code(conn: Connection, code: str, *, by_browser: bool = False) -> Row[tuple[object, ...]]:
    """Use *code* up and return its row. Raises Forbidden when it is wrong, used or older than ten minutes, or made for a
    browser where none asks.
    """
    digest = digest_of(plain(code))
    now = time.time()
    row = conn.execute(
        pairing_codes.select().where(pairing_codes.c.digest == digest, pairing_codes.c.used_at.is_(None))
    ).first()
    if (
        row is None
        or not hmac.compare_digest(row.digest, digest)
        or seconds_of(row.expires_at) <= now
        or not (by_browser or row.session_of is None)
    ):
        raise Forbidden(
            "This pairing code is wrong, used or older than ten minutes. Ask the owner for a new one: "
            "from a paired device, or with `armarium token pair`.",
            code="wrong_code",
        )
    conn.execute(pairing_codes.update().where(pairing_codes.c.id == row.id).values(used_at=moment(now)))
    return row
