"""How a command ends that could not do its work: one sentence on stderr (a JSON value under `--json`), never a traceback."""

from __future__ import annotations

import errno
import json
import os
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import typer

from armarium.cli.options import global_options
from armarium.cli.output import legible
from armarium.errors import ServiceError

DEBUG_VARIABLE = "ARMARIUM_DEBUG"
STOPPED = 130
"""Exit code of a command that was stopped from the keyboard, as shells count it."""

UNHEARD = 141
"""Exit code of a command whose reader closed the pipe (`armarium ls | head -1`), as of one that SIGPIPE ended."""


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
        said = (
            json.dumps(self.body, ensure_ascii=False)
            if global_options().json
            else legible(" ".join(str(self).split()))
        )
        print(said, file=sys.stderr)


@contextmanager
def report_failures() -> Iterator[None]:
    """Show what ends the block before its time, and end the program with its exit code."""
    try:
        yield
    except KeyboardInterrupt:
        _end(Refused("Stopped.", ends_with=STOPPED))
    except SystemExit as error:
        # Tables and help pages end the program themselves when nobody reads them any more.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _end_unheard()
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            _end_unheard()
        # Usage errors and exits are the command line library's own.
        if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
            raise
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        _end(as_refusal(error))


@contextmanager
def misuse_shown(as_json: bool) -> Iterator[None]:
    """Show in one sentence that a command was called wrongly, and end the program."""
    try:
        yield
    except typer.Abort:
        sys.exit(1)
    except Exception as error:
        ends_with = getattr(error, "exit_code", None)
        if ends_with is None:
            raise
        # Called without anything, a group of commands has shown its help instead.
        if type(error).__name__ != "NoArgsIsHelpError":
            global_options().json = global_options().json or as_json
            Refused({"detail": _describe_misuse(error), "code": "wrong_usage"}).show()
        sys.exit(ends_with)


def _describe_misuse(error: Any) -> str:
    """What was wrong with how a command was called, and where it says how it is."""
    said = " ".join(error.format_message().split()).replace("Value error, ", "").removesuffix(".")
    context = getattr(error, "ctx", None)
    # A question to the user ends as it is.
    ending = said if said.endswith("?") else f"{said}."
    return f"{ending} See {context.command_path} --help." if context is not None else ending


def _end(refused: Refused) -> None:
    refused.show()
    raise typer.Exit(refused.ends_with)


def _end_unheard() -> None:
    """End silently: what is still to be written goes nowhere, so that nothing stumbles over it on the way out."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    raise typer.Exit(UNHEARD)


def as_refusal(error: BaseException) -> Refused:
    """Any error in words a person can act on."""
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
