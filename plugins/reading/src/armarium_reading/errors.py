"""The refusals of reading, each one sentence: what was wrong, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import BadRequest, Conflict, Invalid, NotFound

MAX_NAMED = 8


def no_pages(scope: Sequence[str]) -> Invalid:
    """Nothing to read at or beneath what was named."""
    return Invalid(
        f"There is no page outside the Trash at or beneath {', '.join(scope[:MAX_NAMED])}. "
        "Name page images, or folders that hold some.",
        code="no_pages",
    )


def cannot(label: str, what: str, able: Sequence[str]) -> Invalid:
    """A reader was asked for what it does not do."""
    others = f" These do: {', '.join(able)}." if able else ""
    return Invalid(f"{label} does not {what}.{others}", code="reader_cannot")


def not_for_language(why: str) -> Invalid:
    """A reader does not read a language."""
    return Invalid(why, code="language_not_read")


def model_needed(why: str) -> Invalid:
    """A reader needs a model that is not here or was not named."""
    return Invalid(why, code="model_needed")


def takes_no_model(label: str) -> Invalid:
    """A model was named for a reader that has its own."""
    return Invalid(f"{label} takes no model files; leave the model out.", code="model_not_taken")


def no_such_model(name: str, kind: str, here: Sequence[str]) -> NotFound:
    """A model is named that is not on this machine."""
    known = f"Here are: {', '.join(here[:MAX_NAMED])}." if here else "There is none yet."
    return NotFound(
        f"There is no {kind} model called {name} on this machine. {known}",
        code="unknown_model",
    )


def other_pages_pass(pass_id: str) -> Invalid:
    """A pass is named that belongs to none of the pages."""
    return Invalid(f"The pass {pass_id} belongs to none of the named pages.", code="other_document")


def no_lines() -> Invalid:
    """None of the pages has lines."""
    return Invalid("None of the pages has lines yet. Find their lines first, then read.", code="no_lines")


def unknown_kind(kind: str, known: Sequence[str]) -> BadRequest:
    """400 of the download route."""
    return BadRequest(
        f"There is no runtime called {kind}. Known: {', '.join(known)}.", code="unknown_runtime"
    )


def no_runner(kind: str, runtime: str | None) -> Conflict:
    """409 of the download route: nothing on this machine could use the model."""
    words = (
        f"Install it with `armarium runtime install {runtime}`."
        if runtime
        else "Install a reader that takes such models."
    )
    return Conflict(f"Nothing on this machine runs {kind} models. {words}", code="no_runner")


def offline() -> Conflict:
    """409 of the download route."""
    return Conflict(
        "The engine works offline (SERVICE_LOCAL_ONLY), so no model can be downloaded. Put the file among the "
        "engine's models by hand, or start the engine without that setting.",
        code="offline",
    )


def in_use(model: str) -> Conflict:
    """409 of deleting a model."""
    return Conflict(
        f"The model {model} is at work. Wait for its jobs, or cancel them, and try again.", code="in_use"
    )


def shipped(model: str) -> Conflict:
    """409 of deleting a model that is part of a package."""
    return Conflict(
        f"The model {model} is part of the reader's package; remove the package or its runtime instead.",
        code="shipped",
    )
