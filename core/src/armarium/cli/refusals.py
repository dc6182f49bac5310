"""How a command ends that could not do its work: one sentence on stderr (a JSON value under `--json`), never a traceback."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import typer

from armarium.cli.options import asked

DEBUG_VARIABLE = "ARMARIUM_DEBUG"
STOPPED = 130
"""Exit code of a command that was stopped from the keyboard, as shells count it."""


class Refused(Exception):
    """The engine (or this command) said no; `body` is the refusal as the API gives it."""

    def __init__(
        self, body: Mapping[str, Any] | str, *, ends_with: int = 1, status: int | None = None
    ) -> None:
        self.body = dict(body) if isinstance(body, Mapping) else {"detail": body}
        self.ends_with = ends_with
        self.status = status
        super().__init__(str(self.body.get("detail")))

    def show(self) -> None:
        """Print it: one sentence, or JSON where the command was asked for JSON."""
        said = json.dumps(self.body, ensure_ascii=False) if asked().json else " ".join(str(self).split())
        print(said, file=sys.stderr)


@contextmanager
def shown() -> Iterator[None]:
    """Show what ends the block before its time, and end the program with its exit code."""
    try:
        yield
    except KeyboardInterrupt:
        _end(Refused("Stopped.", ends_with=STOPPED))
    except Exception as error:
        # Usage errors and exits are the command line library's own; a closed pipe is its reader's wish.
        broken_pipe = isinstance(error, OSError) and error.errno == errno.EPIPE
        if hasattr(error, "exit_code") or isinstance(error, typer.Abort) or broken_pipe:
            raise
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        _end(as_refusal(error))


def _end(refused: Refused) -> None:
    refused.show()
    raise typer.Exit(refused.ends_with)


def as_refusal(error: BaseException) -> Refused:
    """Any error in words a person can act on."""
    from armarium.errors import ServiceError

    if isinstance(error, Refused):
        return error
    if isinstance(error, ServiceError):
        return Refused(error.body())
    if isinstance(error, OSError) and error.strerror:
        where = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return Refused(f"{error.strerror}{where}.")
    return Refused(
        f"Armarium met something it did not expect ({type(error).__name__}: {error}). "
        f"Run the command again with {DEBUG_VARIABLE}=1 to see where, and report it."
    )
