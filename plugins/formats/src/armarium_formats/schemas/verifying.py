"""Shapes of the answer whether exported files are what the project said."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from armarium.api import MaterialPath, Message, Params


class VerifyFile(Params):
    """An exported file on the engine's own machine, or a ZIP of several. A file that names neither its page nor its step
    (plain text) is compared with `document_id`, as of `as_of`; by default as it is now. One that names them is compared as of
    `as_of` where that is sent, and one of another page than `document_id` differs.
    """

    path: MaterialPath
    document_id: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    as_of: Annotated[str, Field(min_length=1, max_length=40)] | None = None


class Difference(Message):
    """A value of the file that is not the project's: on which page of the file, in which line."""

    page: int
    line: int | None
    what: str
    then: str
    in_file: str


class VerifiedPart(Message):
    """One file: `same` to the byte, `same meaning`, or `differs`; else why it cannot be compared."""

    name: str
    verdict: Literal[
        "same",
        "same meaning",
        "differs",
        "other history",
        "other project",
        "not there",
        "unnamed",
        "unreadable",
    ]
    sentence: str
    document_id: str | None
    step: str | None
    digest: str | None
    format: str | None
    differences: list[Difference]


class VerifiedFile(Message):
    """Whether all that a file contains is what the project said; `log_fault` says where the log of steps was changed."""

    filename: str
    items: list[VerifiedPart]
    count: int
    is_same: bool
    log_fault: str | None
