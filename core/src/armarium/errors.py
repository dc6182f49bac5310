"""The refusals a caller can meet: each is a class with an HTTP status and carries one sentence."""

from __future__ import annotations

import errno
import os
import sqlite3
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from string import Formatter
from typing import Any, ClassVar, Generic, Self, TypeGuard, TypeVar


class ServiceError(Exception):
    """A refusal as a sentence. `detail` says what was wrong, what was expected and what to do.

    `code` is a snake_case word for programs; `fields` are added to the body beside `detail`.
    """

    status: ClassVar[int] = 500

    def __init__(self, detail: str, *, code: str | None = None, **fields: Any) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code
        self.fields = fields

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the refusal: `{detail, code?, ...fields}`."""
        body: dict[str, Any] = {"detail": self.detail}
        if self.code is not None:
            body["code"] = self.code
        body.update(self.fields)
        return body

    @classmethod
    def saying(cls, code: str | None, sentence: str, **fields: str) -> Refusal[Self]:
        """Return this refusal as data: its *code*, and its *sentence* with a name in braces for each thing it is told; of a
        list it names what is in it.

        *fields* are added to the body: the name of each, and which of the things it contains.
        """
        return Refusal(cls, code, sentence, fields)


E = TypeVar("E", bound=ServiceError)


class Refusal(Generic[E]):
    """Makes a refusal from what it is told, in the order in which the sentence names it; further fields come last."""

    def __init__(self, kind: type[E], code: str | None, sentence: str, fields: Mapping[str, str]) -> None:
        self.kind, self.code, self.sentence, self._fields = kind, code, sentence, fields
        field_names = [name for _, name, _, _ in Formatter().parse(sentence) if name is not None]
        self.told = tuple(dict.fromkeys([*field_names, *fields.values()]))
        frame = sys._getframe(1)
        while frame.f_code.co_filename == __file__ and frame.f_back is not None:
            frame = frame.f_back
        self.place = (frame.f_code.co_filename, frame.f_lineno)
        """Where it is declared: file and line."""

    def __call__(self, *given: object, **named: object) -> E:
        values = {**dict(zip(self.told, given, strict=False)), **named}
        if len(given) + len(named) != len(self.told) or len(values) != len(self.told):
            raise TypeError(f"the refusal {self.code} is told {', '.join(self.told) or 'nothing'}")
        # What can be gone through only once is kept; of a mapping the sentence names the keys.
        values = {
            name: list(value) if isinstance(value, Iterator) else value for name, value in values.items()
        }
        words = {
            name: ", ".join(map(str, value)) or "none" if _is_list(value) else value
            for name, value in values.items()
        }
        fields = {name: values[argument] for name, argument in self._fields.items()}
        return self.kind(self.sentence.format(**words), code=self.code, **fields)


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    return isinstance(value, Iterable) and not isinstance(value, str)


class BadRequest(ServiceError):
    """400: the request cannot be understood as it stands."""

    status = 400


class Unauthorized(ServiceError):
    """401: no token, or one that is no longer valid."""

    status = 401


class Forbidden(ServiceError):
    """403: the caller is known and may not do this."""

    status = 403


class NotFound(ServiceError):
    """404: an id names nothing here."""

    status = 404


def missing(noun: str, hint: str, *, code: str | None = None, key: str = "id") -> Refusal[NotFound]:
    """Return the refusal of ids that name no *noun* of the project, with the *hint* how to find the right one.

    *code* is `<noun>_not_found` by default; *key* names the field that contains the id.
    """
    code = code or f"{noun.lower().replace(' ', '_')}_not_found"
    return NotFound.saying(code, f"There is no {noun} {{{key}}} in this project. {hint}", **{key: key})


class Conflict(ServiceError):
    """409: the request conflicts with the current state."""

    status = 409


class NotUndoable(Conflict):
    """409: a step that cannot be undone, for the reason that the sentence gives."""

    def __init__(self, detail: str, *, code: str | None = "undo_refused", **fields: Any) -> None:
        super().__init__(detail, code=code, reason="not-undoable", **fields)


class TooLarge(ServiceError):
    """413: more bytes or ids than one request may carry."""

    status = 413


class Invalid(ServiceError):
    """422: the request is well formed but its values are not acceptable."""

    status = 422


not_a_file = Invalid.saying("not_a_file", "It is not an ordinary file.")


class FileUnreadable(Invalid):
    """422: the operating system does not allow a file to be read."""

    def __init__(self, error: OSError) -> None:
        super().__init__(f"It cannot be read: {error.strerror or error}.", code="bad_path")


class ProjectOutOfReach(Forbidden):
    """403: a token that is bound to some projects asks for another."""

    def __init__(self, package: str, *, required: str, role: str) -> None:
        super().__init__(
            "This token does not reach that project. Ask the owner for one that does.",
            code="library_access_denied",
            library_path=package,
            required=required,
            role=role,
        )


class RateLimited(ServiceError):
    """429: too many attempts; `retry_after` (seconds) says when to try again."""

    status = 429

    def __init__(self, detail: str, *, retry_after: int, code: str | None = "rate_limited", **fields: Any):
        super().__init__(detail, code=code, **fields)
        self.retry_after = retry_after


class Broken(ServiceError):
    """500: only where a part documents it (an export that fails its own schema, say)."""

    status = 500


class Unavailable(ServiceError):
    """503: it cannot be done now, and nothing was changed."""

    status = 503


def place_of(error: BaseException) -> str:
    """Return an exception's type and where it was raised; never its message, which may quote a source or a secret."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    chain = " < ".join(
        f"{frame.name} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})" for frame in reversed(frames)
    )
    return f"{type(error).__name__} at {chain or 'unknown'}"


_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
"""SQLite's error codes for a file whose bytes are not what it wrote."""


def is_damage(error: BaseException) -> bool:
    """Return whether SQLite met bytes that it did not write, or text that is not UTF-8."""
    # The low byte is the primary code; the rest distinguishes kinds of damage.
    kind = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return isinstance(error, sqlite3.DatabaseError) and (kind in _DAMAGED or "Could not decode" in str(error))


_NO_MORE_FILES = (errno.EMFILE, errno.ENFILE)


def is_out_of_files(error: BaseException) -> bool:
    """Return whether *error* occurred because this process may open no more files."""
    if isinstance(error, OSError):
        return error.errno in _NO_MORE_FILES
    kind = getattr(getattr(error, "orig", error), "sqlite_errorcode", 0) & 0xFF
    if kind != sqlite3.SQLITE_CANTOPEN:
        return False
    # SQLite does not say why it could not open a file. Eight are tried: a database with its log takes three.
    opened: list[int] = []
    try:
        for _ in range(8):
            opened.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as refused:
        return refused.errno in _NO_MORE_FILES
    finally:
        for number in opened:
            os.close(number)
    return False


def left_out(plugin: str, why: str) -> Conflict:
    """Return the refusal of what a plugin does in a project that its tables do not fit."""
    return Conflict(
        f"The plugin {plugin} does not work in this project: {why.rstrip('.')}. Its tables were left alone, and everything "
        "else works. Update the plugin, or remove it.",
        code="plugin_left_out",
    )


moved_away = Conflict.saying(
    "library_moved",
    "{package} is not where it was opened any more: it was moved, renamed or removed in the meantime. Open it where it is "
    "now.",
)


too_many_files = Unavailable.saying(
    "too_many_files",
    "The engine has as many files open as this computer allows; nothing was changed. Close projects that are not in "
    "use (library.release), or start the engine with a higher limit (ulimit -n).",
)


def refused_by_disk(error: BaseException) -> ServiceError | None:
    """Return *error* as a refusal where a disk is full, read-only or broken, or damaged a database; else None."""
    if is_damage(error):
        return Conflict(
            "The database is damaged. Run `armarium doctor` and restore a snapshot.", code="library_damaged"
        )
    number = error.errno if isinstance(error, OSError) else None
    if is_out_of_files(error):
        return too_many_files()
    if number in (errno.ENOSPC, errno.EDQUOT):
        return Unavailable(
            "The disk is full; the file was not kept. Free some space and try again.", code="disk_full"
        )
    if number in (errno.EROFS, errno.EACCES, errno.EPERM):
        return Unavailable(
            "The disk or folder is read-only, or closed to the engine; the file was not kept. Open it and try again.",
            code="read_only",
        )
    if number == errno.EIO:
        return Unavailable(
            "The disk answered with an error; the file was not kept. Check the disk and try again.",
            code="disk_error",
        )
    return None
