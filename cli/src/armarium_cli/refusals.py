"""How a failed command ends: with one sentence on stderr (a JSON value under `--json`), never a traceback."""

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

from armarium.client import ServiceError
from armarium_cli.options import global_options
from armarium_cli.output import legible

DEBUG_VARIABLE = "ARMARIUM_DEBUG"
STOPPED = 130
"""Exit code of a command interrupted from the keyboard, by the shells' convention."""

UNHEARD = 141
"""Exit code of a command whose reader closed the pipe (`armarium ls | head -1`), as after SIGPIPE."""


class Refused(Exception):
    """A refusal of the engine or the command; `body` is the refusal as the API returns it."""

    def __init__(
        self, body: Mapping[str, Any] | str, *, ends_with: int = 1, status: int | None = None
    ) -> None:
        self.body = dict(body) if isinstance(body, Mapping) else {"detail": body}
        self.ends_with = ends_with
        self.status = status
        super().__init__(str(self.body.get("detail")))

    def show(self) -> None:
        """Print the refusal: one sentence, or JSON under `--json`."""
        sentence = (
            json.dumps(self.body, ensure_ascii=False)
            if global_options().json
            else legible(" ".join(str(self).split()))
        )
        print(sentence, file=sys.stderr)


@contextmanager
def report_failures() -> Iterator[None]:
    """Report a failure of the block, and exit with its code."""
    try:
        yield
    except KeyboardInterrupt:
        _end(Refused("Stopped.", ends_with=STOPPED))
    except SystemExit as error:
        # The table and help libraries exit by themselves when the reader closes the pipe.
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        _end_unheard()
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.EPIPE:
            _end_unheard()
        # Usage errors and exits belong to the command line library.
        if hasattr(error, "exit_code") or isinstance(error, typer.Abort):
            raise
        if os.environ.get(DEBUG_VARIABLE):
            traceback.print_exc()
        _end(as_refusal(error))


@contextmanager
def misuse_shown(as_json: bool) -> Iterator[None]:
    """Report wrong usage in one sentence, and exit."""
    try:
        yield
    except typer.Abort:
        sys.exit(1)
    except Exception as error:
        ends_with = getattr(error, "exit_code", None)
        if ends_with is None:
            raise
        # A group called without arguments has shown its help instead.
        if type(error).__name__ != "NoArgsIsHelpError":
            global_options().json = global_options().json or as_json
            Refused({"detail": _describe_misuse(error), "code": "wrong_usage"}).show()
        sys.exit(ends_with)


def _describe_misuse(error: Any) -> str:
    """Return what was wrong with the usage, and where its help is."""
    fault = " ".join(error.format_message().split()).replace("Value error, ", "").removesuffix(".")
    context = getattr(error, "ctx", None)
    # A prompt's question stays as it is.
    ending = fault if fault.endswith("?") else f"{fault}."
    return f"{ending} See {context.command_path} --help." if context is not None else ending


def _end(refused: Refused) -> None:
    refused.show()
    raise typer.Exit(refused.ends_with)


def _end_unheard() -> None:
    """Exit silently and discard pending output, so that flushing it on exit raises no error."""
    with suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    raise typer.Exit(UNHEARD)


def as_refusal(error: BaseException) -> Refused:
    """Return any error as a sentence a person can act on."""
    if isinstance(error, Refused):
        return error
    if isinstance(error, ServiceError):
        return Refused(error.body())
    if isinstance(error, OSError) and error.strerror:
        at_path = f": {os.fsdecode(error.filename)}" if error.filename else ""
        return Refused(f"{error.strerror}{at_path}.")
    return Refused(
        f"Armarium failed unexpectedly ({type(error).__name__}: {error}). "
        f"Run the command again with {DEBUG_VARIABLE}=1 to see where, and report it."
    )
